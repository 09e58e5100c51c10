/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-queue-pairs.h"

#include "ns3/proteus-network-exchange.h"

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

Connection
CollectiveQueuePairs::Plan(GroupId group, uint32_t channel, uint32_t from, uint32_t to)
{
    const Cluster& cluster = m_transport->GetFabric()->GetCluster();
    const Paths& paths = m_transport->GetFabric()->GetWholePaths();
    const auto& devices = m_graph.GetGroup(group);
    if (!m_nics)
    {
        m_nics.emplace(cluster, m_rules.pxn);
    }
    const auto [reads, isNew] = m_gdrReads.try_emplace(group);
    if (isNew)
    {
        reads->second = ListGdrReads(m_rules, cluster, paths, devices);
    }
    return PlanConnection(cluster,
                          paths,
                          *m_nics,
                          group,
                          channel,
                          devices[from],
                          devices[to],
                          m_kernelCopies,
                          m_rules,
                          reads->second[from]);
}

const CollectiveQueuePairs::NetworkLimits&
CollectiveQueuePairs::FindNetworkLimits(const CollectiveProgram& program, GroupId group)
{
    const auto [place, isNew] = m_networkLimits.try_emplace({&program, group});
    if (isNew)
    {
        std::vector<ProgramConnection> used;
        std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Connection> connections;
        for (uint32_t from = 0; from < program.ranks.size(); ++from)
        {
            for (const ThreadBlock& block : program.ranks[from].blocks)
            {
                if (block.sendPeer != NO_RANK)
                {
                    const auto [connection, isFirst] = connections.try_emplace(
                        std::make_tuple(block.channel, from, block.sendPeer));
                    if (isFirst)
                    {
                        connection->second = Plan(group, block.channel, from, block.sendPeer);
                        used.push_back({block.channel, from, block.sendPeer, &connection->second});
                    }
                }
            }
        }
        const std::vector<double> limits = LimitConnections(m_rules, program, used);
        for (std::size_t i = 0; i < used.size(); ++i)
        {
            place->second[{used[i].channel, used[i].from, used[i].to}] = limits[i];
        }
    }
    return place->second;
}

uint32_t
CollectiveQueuePairs::Get(const CollectiveProgram& program,
                          GroupId group,
                          uint32_t channel,
                          uint32_t from,
                          uint32_t to,
                          double bytesPerSecond,
                          uint32_t trafficClass)
{
    double networkBytesPerSecond = 0;
    if (HasNetworkLimits(m_rules, program.protocol))
    {
        const NetworkLimits& limits = FindNetworkLimits(program, group);
        const auto limit = limits.find(std::make_tuple(channel, from, to));
        networkBytesPerSecond = limit == limits.end() ? 0 : limit->second;
    }
    const double rate = networkBytesPerSecond > 0 ? networkBytesPerSecond : bytesPerSecond;
    const auto [place, isNew] =
        m_pairs.emplace(std::make_tuple(group, channel, from, to, rate, trafficClass), NO_ID);
    if (isNew)
    {
        const Connection connection = Plan(group, channel, from, to);
        QueuePairOptions options;
        options.source = connection.source;
        options.destination = connection.destination;
        options.waypoints = connection.waypoints;
        options.flow = connection.flow;
        options.trafficClass = trafficClass;
        options.copyMethod = connection.copyMethod;
        options.copyBytesPerSecond =
            options.copyMethod == CopyMethod::SM ? bytesPerSecond : networkBytesPerSecond;
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
