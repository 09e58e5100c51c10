/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-blocks.h"

#include <map>
#include <numeric>

namespace ns3
{
namespace proteus
{

MessageBlocks::MessageBlocks(const Cluster& cluster, const CollectiveRequest& request)
    : m_ranks(static_cast<uint32_t>(request.vertices.size()))
{
    std::map<int32_t, uint32_t> ranksOfServer;
    for (const VertexId vertex : request.vertices)
    {
        ++ranksOfServer[cluster.GetDomain(vertex)];
    }
    if (ranksOfServer.size() < 2 || request.messagesOfBlock < 2)
    {
        return;
    }
    uint32_t size = request.messagesOfBlock;
    for (const auto& [server, ranks] : ranksOfServer)
    {
        size = std::gcd(size, ranks);
    }
    std::map<int32_t, uint32_t> firstGroups; // of servers
    for (const auto& [server, ranks] : ranksOfServer)
    {
        firstGroups[server] = m_nGroups;
        m_nGroups += ranks / size;
    }
    std::map<int32_t, uint32_t> seen;
    for (const VertexId vertex : request.vertices)
    {
        const int32_t server = cluster.GetDomain(vertex);
        m_groups.push_back(firstGroups[server] + seen[server]++ / size);
    }
}

uint32_t
MessageBlocks::Get(uint32_t from, uint32_t to) const
{
    return m_nGroups == 0 ? (to + m_ranks - from) % m_ranks - 1
                          : (m_groups[to] + m_nGroups - m_groups[from]) % m_nGroups;
}

} // namespace proteus
} // namespace ns3
