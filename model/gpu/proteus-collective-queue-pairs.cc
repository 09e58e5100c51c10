/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-queue-pairs.h"

#include "ns3/proteus-connection.h"

namespace ns3
{
namespace proteus
{

CollectiveQueuePairs::CollectiveQueuePairs(const ExecutionGraph& graph,
                                           Ptr<Transport> transport,
                                           bool kernelCopies,
                                           bool hasRelays)
    : m_graph(graph),
      m_transport(transport),
      m_kernelCopies(kernelCopies),
      m_hasRelays(hasRelays)
{
}

uint32_t
CollectiveQueuePairs::Get(GroupId group,
                          uint32_t channel,
                          uint32_t from,
                          uint32_t to,
                          double bytesPerSecond,
                          uint32_t trafficClass)
{
    const auto [place, isNew] =
        m_pairs.emplace(std::make_tuple(group, channel, from, to, bytesPerSecond, trafficClass),
                        NO_ID);
    if (isNew)
    {
        if (!m_nics)
        {
            m_nics.emplace(m_transport->GetFabric()->GetCluster(), m_hasRelays);
        }
        const Connection connection = PlanConnection(m_transport->GetFabric()->GetCluster(),
                                                     m_transport->GetFabric()->GetWholePaths(),
                                                     *m_nics,
                                                     group,
                                                     channel,
                                                     m_graph.GetGroup(group)[from],
                                                     m_graph.GetGroup(group)[to],
                                                     m_kernelCopies);
        QueuePairOptions options;
        options.source = connection.source;
        options.destination = connection.destination;
        options.waypoints = connection.waypoints;
        options.flow = connection.flow;
        options.trafficClass = trafficClass;
        options.copyMethod = connection.copyMethod;
        options.copyBytesPerSecond = options.copyMethod == CopyMethod::SM ? bytesPerSecond : 0;
        // A GPU spreads addresses over its NVLinks: connections, whose buffers lie anywhere, begin
        // anywhere. By distance and channel, so that groups that stand alike begin alike.
        const auto n = static_cast<uint32_t>(m_graph.GetGroup(group).size());
        options.firstPort = (to + n - from) % n + channel;
        place->second = m_transport->CreateQueuePair(options);
        m_sendHops.resize(place->second + 1);
        m_receiveHops.resize(place->second + 1);
        m_sendHops[place->second] = connection.GetSendHop();
        m_receiveHops[place->second] = connection.GetReceiveHop();
    }
    return place->second;
}

} // namespace proteus
} // namespace ns3
