/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-state.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

bool
FabricState::HasSimulatorEvents() const
{
    const Ptr<EventHorizon> horizon = GetHorizon();
    return horizon->IsFed() && horizon->GetNext() != UINT64_MAX;
}

double
FabricState::GetLinkRate(LinkId link) const
{
    // The cluster's figure, which has no rounding, unless SetLinkRate() has replaced it.
    const double original = m_cluster->GetLinks()[link].bytesPerSecond;
    const uint64_t present = m_ports[2 * link].psPerByte;
    const double fixed = std::ldexp(1e12 / original, TIME_FRACTION_BITS);
    return static_cast<uint64_t>(std::llround(fixed)) == present
               ? original
               : std::ldexp(1e12, TIME_FRACTION_BITS) / static_cast<double>(present);
}

double
FabricState::GetLossProbability(LinkId link) const
{
    return m_ports[2 * link].lossProbability;
}

double
FabricState::GetBitErrorRate(LinkId link) const
{
    return m_ports[2 * link].bitErrorRate;
}

void
FabricState::AddTotals(NetworkStatistics& statistics) const
{
    statistics.packetHops += m_packetHops;
    statistics.events += GetEventCount();
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        const LinkStatistics& link = m_ports[id].statistics;
        statistics.dropped += link.droppedPackets + link.lostPackets;
        statistics.pauses += link.pauses;
        statistics.marked += link.markedPackets;
    }
}

LinkStatistics
FabricState::GetStatisticsNow(PortId id) const
{
    const PortState& port = m_ports[id];
    const int64_t now = GetTimePs();
    LinkStatistics statistics = port.statistics;
    statistics.busyPs -= std::clamp<int64_t>(port.freeAtPs - now, 0, statistics.busyPs);
    if (port.stalledSincePs >= 0)
    {
        statistics.creditStallPs += now - port.stalledSincePs;
    }
    if (port.pausedSincePs >= 0)
    {
        statistics.pausedPs += now - port.pausedSincePs;
    }
    return statistics;
}

std::vector<uint64_t>
FabricState::DescribePort(PortId id) const
{
    const PortState& port = m_ports[id];
    std::vector<uint64_t> words{port.psPerByte,
                                static_cast<uint64_t>(port.delayPs),
                                port.sizes->fullPayload,
                                port.sizes->fullWire[0],
                                port.sizes->fullWire[1],
                                port.sizes->fullReverse[0],
                                port.sizes->fullReverse[1],
                                port.sizes->controlWire,
                                port.cutBytes,
                                static_cast<uint64_t>(port.bufferBytes),
                                uint64_t{port.credited} | uint64_t{port.inputQueued} << 1 |
                                    uint64_t{port.reverses} << 2,
                                port.sizes->mostWire,
                                port.sizes->unitHeader,
                                uint64_t{port.markBytes} << 32 | port.markAllBytes};
    for (std::size_t method = 0; method < COPY_METHODS; ++method)
    {
        words.insert(words.end(),
                     {port.sizes->packetPayload[method],
                      port.sizes->packetHeader[method],
                      port.sizes->packetReverse[method]});
    }
    const bool passes = !m_internalPorts.empty() && m_internalPorts[id] != NO_PORT;
    words.push_back(passes ? m_ports[m_internalPorts[id]].psPerByte : 0);
    return words;
}

uint64_t
FabricState::GetQueueBytes(PortId id) const
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
    {
        bytes += GetQueueBytes(id, c);
    }
    return bytes;
}

std::vector<LinkStatistics>
FabricState::GetLinkStatistics() const
{
    std::vector<LinkStatistics> statistics;
    statistics.reserve(GetNPorts());
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        statistics.push_back(m_ports[id].statistics);
    }
    return statistics;
}

} // namespace proteus
} // namespace ns3
