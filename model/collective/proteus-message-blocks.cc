/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-blocks.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3
{
namespace proteus
{

MessageBlocks::MessageBlocks(const Cluster& cluster, const CollectiveRequest& request)
    : m_ranks(static_cast<uint32_t>(request.vertices.size())),
      m_channels(std::max({request.channels, request.networkChannels, 1u})),
      m_processors(request.messageProcessors)
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
    return m_nGroups == 0 ? (to + m_ranks - from) % m_ranks
                          : (m_groups[to] + m_nGroups - m_groups[from]) % m_nGroups;
}

uint32_t
MessageBlocks::GetProcessor(uint32_t from, uint32_t to, uint32_t channel) const
{
    const uint32_t group = Get(from, to);
    if (m_processors == 0)
    {
        return group * m_channels + channel;
    }
    // The bits of the group in reverse order: groups halve the distances of those before them.
    uint32_t first = 0;
    for (uint32_t bit = 1; bit < m_processors; bit *= 2)
    {
        first = 2 * first + ((group & bit) != 0 ? 1 : 0);
    }
    return (first + channel) % m_processors;
}

} // namespace proteus
} // namespace ns3
