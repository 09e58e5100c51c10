/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-port-selector.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

PortId
PortSelector::Choose(VertexId at,
                     const PacketRecord& record,
                     const std::vector<PortId>& choices,
                     const FabricEndpoint& endpoint,
                     int64_t nowPs) const
{
    const auto n = static_cast<uint32_t>(choices.size());
    if (*m_mode == RoutingMode::FORWARDING_TABLE)
    {
        // Destinations in turn, as a subnet manager balances its tables.
        return choices[record.destination % n];
    }
    uint64_t hash = MixHash(endpoint.GetFlowHash(record.queuePair), (*m_places)[at]);
    if (*m_mode == RoutingMode::ECMP || *m_mode == RoutingMode::UP_DOWN)
    {
        return choices[PickByHash(hash, n)];
    }
    hash = MixHash(hash, record.sequence);
    const uint32_t picked = PickByHash(hash, n);
    if (*m_mode == RoutingMode::SPRAY)
    {
        return choices[picked];
    }
    const PortId best = FindShortest(choices, picked, record.trafficClass, nowPs);
    return best == NO_PORT ? choices[picked] : best;
}

PortId
PortSelector::FindShortest(const std::vector<PortId>& choices,
                           uint32_t first,
                           uint32_t trafficClass,
                           int64_t nowPs) const
{
    PortId best = NO_PORT;
    uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < choices.size(); ++i)
    {
        const PortId id = choices[(first + i) % choices.size()];
        const PortState& port = (*m_ports)[id];
        if (port.down)
        {
            continue;
        }
        uint64_t backlog = 0;
        for (uint32_t c = 0; c <= trafficClass; ++c)
        {
            backlog += m_ports->Lane(id, c).queuedBytes;
        }
        // In time, with what is being sent, so that ports of several rates compare.
        uint64_t wait = (backlog * port.psPerByte >> TIME_FRACTION_BITS) +
                        static_cast<uint64_t>(std::max<int64_t>(port.freeAtPs - nowPs, 0));
        wait += (port.paused >> trafficClass & 1) != 0 ? uint64_t{1} << 62 : 0;
        if (wait < least)
        {
            least = wait;
            best = id;
        }
    }
    return best;
}

} // namespace proteus
} // namespace ns3
