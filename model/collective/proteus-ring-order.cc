/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// Largest number of ranks in a server for which the best cycle is searched exhaustively.
constexpr uint32_t MAX_EXACT = 12;

/**
 * A cycle over all members of least summed cost, starting at the first (Held and Karp 1962 for up
 * to MAX_EXACT members, nearest neighbour beyond).
 * @param cost by member and member
 * @return members in the order of the cycle
 */
std::vector<uint32_t>
FindCycle(const std::vector<std::vector<uint64_t>>& cost)
{
    const auto n = static_cast<uint32_t>(cost.size());
    std::vector<uint32_t> cycle(n);
    std::iota(cycle.begin(), cycle.end(), 0);
    bool equal = true;
    for (uint32_t i = 0; i < n; ++i)
    {
        for (uint32_t j = 0; j < n; ++j)
        {
            equal = equal && (i == j || cost[i][j] == cost[0][1]);
        }
    }
    if (equal || n < 4)
    {
        return cycle;
    }
    if (n > MAX_EXACT)
    {
        for (uint32_t i = 1; i < n; ++i)
        {
            const auto& row = cost[cycle[i - 1]];
            std::swap(
                cycle[i],
                *std::min_element(cycle.begin() + i, cycle.end(), [&](uint32_t a, uint32_t b) {
                    return row[a] != row[b] ? row[a] < row[b] : a < b;
                }));
        }
        return cycle;
    }
    // best[set][last]: least cost of a path from 0 through the set, which has `last`, to `last`.
    constexpr uint64_t INFINITE = std::numeric_limits<uint64_t>::max() / 2;
    const uint32_t sets = 1u << n;
    std::vector<std::vector<uint64_t>> best(sets, std::vector<uint64_t>(n, INFINITE));
    std::vector<std::vector<uint32_t>> previous(sets, std::vector<uint32_t>(n, 0));
    best[1][0] = 0;
    for (uint32_t set = 1; set < sets; set += 2)
    {
        for (uint32_t last = 0; last < n; ++last)
        {
            if (best[set][last] == INFINITE)
            {
                continue;
            }
            for (uint32_t next = 1; next < n; ++next)
            {
                const uint32_t bigger = set | 1u << next;
                const uint64_t total = best[set][last] + cost[last][next];
                if (bigger != set && total < best[bigger][next])
                {
                    best[bigger][next] = total;
                    previous[bigger][next] = last;
                }
            }
        }
    }
    uint32_t last = 1;
    for (uint32_t i = 2; i < n; ++i)
    {
        if (best[sets - 1][i] + cost[i][0] < best[sets - 1][last] + cost[last][0])
        {
            last = i;
        }
    }
    uint32_t set = sets - 1;
    for (uint32_t i = n - 1; i > 0; --i)
    {
        cycle[i] = last;
        const uint32_t before = previous[set][last];
        set &= ~(1u << last);
        last = before;
    }
    cycle[0] = 0;
    return cycle;
}

} // namespace

std::vector<uint32_t>
MakeRingOrder(const Cluster& cluster,
              const Paths& paths,
              const std::vector<VertexId>& vertices,
              uint32_t channel)
{
    // Ranks by server, servers in the order in which they first appear.
    std::vector<int32_t> servers;
    std::vector<std::vector<uint32_t>> members;
    for (uint32_t rank = 0; rank < vertices.size(); ++rank)
    {
        const int32_t server = cluster.GetVertices()[vertices[rank]].server;
        const auto found = std::find(servers.begin(), servers.end(), server);
        if (found == servers.end())
        {
            servers.push_back(server);
            members.push_back({rank});
        }
        else
        {
            members[found - servers.begin()].push_back(rank);
        }
    }

    std::vector<uint32_t> order;
    for (std::size_t s = 0; s < members.size(); ++s)
    {
        const auto n = static_cast<uint32_t>(members[s].size());
        std::vector<std::vector<uint64_t>> cost(n, std::vector<uint64_t>(n, 0));
        for (uint32_t i = 0; i < n; ++i)
        {
            for (uint32_t j = 0; j < n; ++j)
            {
                cost[i][j] =
                    i == j ? 0 : paths.Distance(vertices[members[s][i]], vertices[members[s][j]]);
            }
        }
        std::vector<uint32_t> cycle;
        for (uint32_t i : FindCycle(cost))
        {
            cycle.push_back(members[s][i]);
        }
        if (members.size() == 1)
        {
            return cycle;
        }
        // Forwards: in at c, out at c - 1. Backwards: in at c - 1, out at c.
        std::rotate(cycle.begin(), cycle.begin() + channel % n, cycle.end());
        if (s % 2 == 1)
        {
            std::reverse(cycle.begin(), cycle.end());
        }
        order.insert(order.end(), cycle.begin(), cycle.end());
    }
    return order;
}

} // namespace proteus
} // namespace ns3
