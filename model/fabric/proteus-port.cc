/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-port.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ns3
{
namespace proteus
{

UnitSizes::UnitSizes(const LinkFraming& framing)
    : fullPayload(framing.unitBytes),
      controlWire(framing.controlBytes),
      unitHeader(framing.unitHeaderBytes)
{
    for (std::size_t i = 0; i < COPY_METHODS; ++i)
    {
        const LinkFraming used = framing.For(static_cast<CopyMethod>(i));
        const auto wireBytes = static_cast<uint32_t>(used.WireBytes(fullPayload));
        fullWire[i] = wireBytes;
        fullReverse[i] = static_cast<uint32_t>(used.ReverseBytes(fullPayload));
        mostWire = std::max(mostWire, wireBytes);
        packetPayload[i] = used.packetBytes;
        packetHeader[i] = used.packetHeaderBytes;
        packetReverse[i] = used.reverseBytes;
    }
}

bool
UnitSizes::operator==(const UnitSizes& other) const
{
    const auto same = [](const auto& a, const auto& b) {
        return std::equal(std::begin(a), std::end(a), std::begin(b));
    };
    return fullPayload == other.fullPayload && controlWire == other.controlWire &&
           mostWire == other.mostWire && unitHeader == other.unitHeader &&
           same(fullWire, other.fullWire) && same(fullReverse, other.fullReverse) &&
           same(packetPayload, other.packetPayload) && same(packetHeader, other.packetHeader) &&
           same(packetReverse, other.packetReverse);
}

bool
UnitSizes::Reverses() const
{
    return std::any_of(std::begin(packetReverse), std::end(packetReverse), [](uint32_t bytes) {
        return bytes > 0;
    });
}

void
PortTable::SetFraming(PortId port, const LinkFraming& framing)
{
    const UnitSizes sizes(framing);
    auto place = std::find(m_sizes.begin(), m_sizes.end(), sizes);
    if (place == m_sizes.end())
    {
        place = m_sizes.insert(place, sizes); // at the end: the others stay where they are
    }
    m_ports[port].sizes = &*place;
    m_ports[port].reverses = sizes.Reverses();
}

void
PortTable::SetRate(PortId port, const LinkFraming& framing, double bytesPerSecond)
{
    m_ports[port].psPerByte =
        static_cast<uint64_t>(std::llround(std::ldexp(1e12 / bytesPerSecond, TIME_FRACTION_BITS)));
    SetFraming(port, framing);
}

} // namespace proteus
} // namespace ns3
