/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-queue-pairs.h"

namespace ns3
{
namespace proteus
{

CollectiveQueuePairs::CollectiveQueuePairs(const ExecutionGraph& graph,
                                           Ptr<Transport> transport,
                                           bool kernelCopies,
                                           const TransportRules& rules)
    : m_graph(graph),
      m_transport(transport),
      m_kernelCopies(kernelCopies),
      m_rules(rules)
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
            m_nics.emplace(m_transport->GetFabric()->GetCluster(), m_rules.pxn);
        }
        const auto [reads, isNewGroup] = m_gdrReads.try_emplace(group);
        if (isNewGroup)
        {
            reads->second = ListGdrReads(m_rules,
                                         m_transport->GetFabric()->GetCluster(),
                                         m_transport->GetFabric()->GetWholePaths(),
                                         m_graph.GetGroup(group));
        }
        const Connection connection = PlanConnection(m_transport->GetFabric()->GetCluster(),
                                                     m_transport->GetFabric()->GetWholePaths(),
                                                     *m_nics,
                                                     group,
                                                     channel,
                                                     m_graph.GetGroup(group)[from],
                                                     m_graph.GetGroup(group)[to],
                                                     m_kernelCopies,
                                                     m_rules,
                                                     reads->second[from]);
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
        if (!connection.hostWrite.empty() || !connection.hostRead.empty())
        {
            m_hostConnections.emplace(place->second, connection);
        }
    }
    return place->second;
}

void
CollectiveQueuePairs::ShareHostLinks(const CollectiveProgram& program,
                                     const std::vector<uint32_t>& queuePairs)
{
    if (m_hostConnections.empty())
    {
        return;
    }
    HostLinkShares shares;
    std::vector<uint32_t> staged;
    for (const uint32_t queuePair : queuePairs)
    {
        const auto place = m_hostConnections.find(queuePair);
        if (place != m_hostConnections.end())
        {
            shares.Add(place->second);
            staged.push_back(queuePair);
        }
    }
    for (const uint32_t queuePair : staged)
    {
        const Connection& connection = m_hostConnections.at(queuePair);
        m_hostHops[{&program, queuePair}] = {shares.GetSendHop(connection),
                                             shares.GetReceiveHop(connection)};
    }
}

BlockHop
CollectiveQueuePairs::GetSendHop(const CollectiveProgram& program, uint32_t queuePair) const
{
    const auto place = m_hostHops.find({&program, queuePair});
    return place == m_hostHops.end() ? m_sendHops[queuePair] : place->second.first;
}

BlockHop
CollectiveQueuePairs::GetReceiveHop(const CollectiveProgram& program, uint32_t queuePair) const
{
    const auto place = m_hostHops.find({&program, queuePair});
    return place == m_hostHops.end() ? m_receiveHops[queuePair] : place->second.second;
}

} // namespace proteus
} // namespace ns3
