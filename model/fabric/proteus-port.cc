/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-port.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

void
PortState::SetRate(const LinkFraming& framing, double bytesPerSecond)
{
    psPerByte =
        static_cast<uint64_t>(std::llround(std::ldexp(1e12 / bytesPerSecond, TIME_FRACTION_BITS)));
    SetFraming(framing);
}

void
PortState::SetFraming(const LinkFraming& framing)
{
    fullPayload = framing.unitBytes;
    controlWire = framing.controlBytes;
    mostWire = 0;
    reverses = false;
    for (std::size_t i = 0; i < COPY_METHODS; ++i)
    {
        const LinkFraming used = framing.For(static_cast<CopyMethod>(i));
        const auto wireBytes = static_cast<uint32_t>(used.WireBytes(fullPayload));
        if (i < 2)
        {
            fullWire[i] = wireBytes;
            fullReverse[i] = static_cast<uint32_t>(used.ReverseBytes(fullPayload));
        }
        mostWire = std::max(mostWire, wireBytes);
        packetPayload[i] = used.packetBytes;
        packetHeader[i] = used.packetHeaderBytes;
        packetReverse[i] = used.reverseBytes;
        reverses = reverses || used.reverseBytes > 0;
    }
    unitHeader = framing.unitHeaderBytes;
}

} // namespace proteus
} // namespace ns3
