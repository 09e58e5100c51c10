/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Largest number of ranks in a server for which the best cycle is searched exhaustively.
constexpr uint32_t MAX_EXACT = 12;

/// Costs by member and member.
using Costs = std::vector<std::vector<uint64_t>>;

/// @return whether all costs between two members are the same
bool
AreEqual(const Costs& cost)
{
    for (std::size_t i = 0; i < cost.size(); ++i)
    {
        for (std::size_t j = 0; j < cost.size(); ++j)
        {
            if (i != j && cost[i][j] != cost[0][1])
            {
                return false;
            }
        }
    }
    return true;
}

/// Goes on to the nearest member each time. @param cycle members in any order, which are put right
void
OrderByNearest(const Costs& cost, std::vector<uint32_t>& cycle)
{
    for (std::size_t i = 1; i < cycle.size(); ++i)
    {
        const auto& row = cost[cycle[i - 1]];
        const auto begin = cycle.begin() + static_cast<std::ptrdiff_t>(i);
        std::swap(cycle[i], *std::min_element(begin, cycle.end(), [&](uint32_t a, uint32_t b) {
                      return row[a] != row[b] ? row[a] < row[b] : a < b;
                  }));
    }
}

/// @return the cycle of least summed cost (Held and Karp 1962)
std::vector<uint32_t>
FindLeastCycle(const Costs& cost)
{
    const auto n = static_cast<uint32_t>(cost.size());
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
    std::vector<uint32_t> cycle(n, 0);
    uint32_t set = sets - 1;
    for (uint32_t i = n - 1; i > 0; --i)
    {
        cycle[i] = last;
        const uint32_t before = previous[set][last];
        set &= ~(1u << last);
        last = before;
    }
    return cycle;
}

/**
 * A cycle over all members of least summed cost, starting at the first: exact for up to MAX_EXACT
 * members, nearest neighbour beyond.
 * @param cost by member and member
 * @return members in the order of the cycle
 */
std::vector<uint32_t>
FindCycle(const Costs& cost)
{
    std::vector<uint32_t> cycle(cost.size());
    std::iota(cycle.begin(), cycle.end(), 0);
    if (cost.size() < 4 || AreEqual(cost))
    {
        return cycle;
    }
    if (cost.size() <= MAX_EXACT)
    {
        return FindLeastCycle(cost);
    }
    OrderByNearest(cost, cycle);
    return cycle;
}

/// Search for a number of cycles that share no lane.
class CyclePacking
{
  public:
    /**
     * @param lanes NVLink lanes by member and member
     * @param relays by member and member: who passes on, or NO_RANK; empty: nobody does
     */
    explicit CyclePacking(std::vector<std::vector<uint32_t>> lanes,
                          std::vector<std::vector<uint32_t>> relays = {})
        : m_lanes(std::move(lanes)),
          m_relays(std::move(relays)),
          m_n(static_cast<uint32_t>(m_lanes.size()))
    {
    }

    /// @return as many cycles over all members as can be found, none where there is no cycle
    std::vector<std::vector<uint32_t>> Find()
    {
        uint32_t most = m_n < 3 ? 0 : std::numeric_limits<uint32_t>::max();
        for (const auto& row : m_lanes)
        {
            most = std::min(most, std::accumulate(row.begin(), row.end(), 0u) / 2);
        }
        for (m_wanted = most; m_wanted > 0; --m_wanted)
        {
            m_cycles.assign(1, {0});
            m_visits = 0;
            if (Extend())
            {
                return m_cycles;
            }
        }
        return {};
    }

  private:
    /// Visits after which a number of cycles is given up: a fraction of a second.
    static constexpr uint64_t MAX_VISITS = 1000000;

    /// Goes on from the end of the last cycle. @return whether all wanted cycles are found
    bool Extend()
    {
        if (++m_visits > MAX_VISITS)
        {
            return false;
        }
        const std::size_t current = m_cycles.size() - 1;
        const uint32_t last = m_cycles[current].back();
        if (m_cycles[current].size() == m_n)
        {
            // Each cycle once: not also backwards, and in ascending order.
            if ((m_n > 3 && m_cycles[current][1] > last) ||
                (current > 0 && m_cycles[current] < m_cycles[current - 1]) || !Take(last, 0))
            {
                return false;
            }
            if (m_cycles.size() == m_wanted)
            {
                return true;
            }
            m_cycles.push_back({0});
            if (Extend())
            {
                return true;
            }
            m_cycles.pop_back();
            Give(last, 0);
            return false;
        }
        for (uint32_t next = 1; next < m_n; ++next)
        {
            auto& cycle = m_cycles[current];
            if (std::find(cycle.begin(), cycle.end(), next) != cycle.end() || !Take(last, next))
            {
                continue;
            }
            cycle.push_back(next);
            if (Extend())
            {
                return true;
            }
            m_cycles[current].pop_back();
            Give(last, next);
        }
        return false;
    }

    /// @param a member @param b member @return who passes on between them, or NO_RANK
    uint32_t Relay(uint32_t a, uint32_t b) const
    {
        return m_relays.empty() ? NO_RANK : m_relays[a][b];
    }

    /// @param a member @param b member, a lane between which is used @return whether there is one
    bool Take(uint32_t a, uint32_t b)
    {
        const uint32_t relay = Relay(a, b);
        if (relay != NO_RANK)
        {
            if (!Take(a, relay))
            {
                return false;
            }
            if (!Take(relay, b))
            {
                Give(a, relay);
                return false;
            }
            return true;
        }
        if (m_lanes[a][b] == 0)
        {
            return false;
        }
        --m_lanes[a][b];
        --m_lanes[b][a];
        return true;
    }

    /// @param a member @param b member, a lane between which is free again
    void Give(uint32_t a, uint32_t b)
    {
        const uint32_t relay = Relay(a, b);
        if (relay != NO_RANK)
        {
            Give(a, relay);
            Give(relay, b);
            return;
        }
        ++m_lanes[a][b];
        ++m_lanes[b][a];
    }

    std::vector<std::vector<uint32_t>> m_lanes;  //!< free ones
    std::vector<std::vector<uint32_t>> m_relays; //!< see the constructor
    uint32_t m_n;                                //!< members
    uint32_t m_wanted{0};                        //!< cycles
    uint64_t m_visits{0};                        //!< of the search
    std::vector<std::vector<uint32_t>> m_cycles; //!< found, the last one under way
};

/// The NVLink lanes between GPUs that are joined directly, in units of the narrowest connection.
std::vector<std::vector<uint32_t>>
CountLanes(const Cluster& cluster, const std::vector<VertexId>& gpus)
{
    const auto n = gpus.size();
    std::vector<std::vector<double>> rates(n, std::vector<double>(n, 0));
    double narrowest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < n; ++i)
    {
        for (const Port& port : cluster.GetPorts(gpus[i]))
        {
            const auto peer = std::find(gpus.begin(), gpus.end(), port.neighbor);
            const Link& link = cluster.GetLinks()[port.link];
            if (peer != gpus.end() && link.technology == LinkTechnology::NVLINK)
            {
                rates[i][peer - gpus.begin()] += link.bytesPerSecond;
                narrowest = std::min(narrowest, link.bytesPerSecond);
            }
        }
    }
    std::vector<std::vector<uint32_t>> lanes(n, std::vector<uint32_t>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
    {
        for (std::size_t j = 0; j < n; ++j)
        {
            lanes[i][j] = static_cast<uint32_t>(rates[i][j] / narrowest + 0.5);
        }
    }
    return lanes;
}

/// Who passes on between GPUs that have no NVLink between them: the one with most lanes to both.
std::vector<std::vector<uint32_t>>
FindRelays(const std::vector<std::vector<uint32_t>>& lanes)
{
    const auto n = static_cast<uint32_t>(lanes.size());
    std::vector<std::vector<uint32_t>> relays(n, std::vector<uint32_t>(n, NO_RANK));
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            uint32_t most = 0;
            for (uint32_t via = 0; via < n && a != b && lanes[a][b] == 0; ++via)
            {
                const uint32_t least = std::min(lanes[a][via], lanes[via][b]);
                if (least > most)
                {
                    most = least;
                    relays[a][b] = via;
                }
            }
        }
    }
    return relays;
}

/// The cycles over the ranks of one server that channels take in turn.
std::vector<std::vector<uint32_t>>
FindCycles(const Cluster& cluster, const Paths& paths, const std::vector<VertexId>& gpus)
{
    std::vector<std::vector<uint32_t>> cycles;
    const auto lanes = CountLanes(cluster, gpus);
    auto found = CyclePacking(lanes).Find();
    if (found.empty())
    {
        found = CyclePacking(lanes, FindRelays(lanes)).Find();
    }
    for (const auto& cycle : found)
    {
        cycles.push_back(cycle);
        cycles.emplace_back(cycle.rbegin(), cycle.rend()); // links are full duplex
    }
    if (cycles.empty())
    {
        const auto n = gpus.size();
        std::vector<std::vector<uint64_t>> cost(n, std::vector<uint64_t>(n, 0));
        for (std::size_t i = 0; i < n; ++i)
        {
            for (std::size_t j = 0; j < n; ++j)
            {
                cost[i][j] = i == j ? 0 : paths.Distance(gpus[i], gpus[j]);
            }
        }
        cycles.push_back(FindCycle(cost));
    }
    return cycles;
}

/// NICs of the ranks of a server, without repetition, in the order of the ranks.
std::vector<VertexId>
FindRails(const Cluster& cluster,
          const std::vector<VertexId>& vertices,
          const std::vector<uint32_t>& members)
{
    std::vector<VertexId> rails;
    for (uint32_t rank : members)
    {
        const VertexId nic = cluster.GetNic(vertices[rank]);
        if (std::find(rails.begin(), rails.end(), nic) == rails.end())
        {
            rails.push_back(nic);
        }
    }
    return rails;
}

/**
 * The ways of the channels through a server, from the rank a channel enters at to the rank it
 * leaves from: in by the channel's own NIC, out by one that few channels before it leave by, over
 * a cycle that few channels before it take.
 */
std::vector<std::vector<uint32_t>>
FindWays(const Cluster& cluster,
         const Paths& paths,
         const std::vector<VertexId>& vertices,
         const std::vector<uint32_t>& members,
         uint32_t channels)
{
    std::vector<VertexId> gpus;
    for (uint32_t rank : members)
    {
        gpus.push_back(vertices[rank]);
    }
    const auto cycles = FindCycles(cluster, paths, gpus);
    const auto rails = FindRails(cluster, vertices, members);
    const auto n = static_cast<uint32_t>(gpus.size());
    std::vector<uint32_t> cycleUse(cycles.size(), 0);
    std::map<VertexId, uint32_t> exitUse;
    std::vector<std::vector<uint32_t>> ways;
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        std::tuple<uint32_t, uint32_t, std::size_t, uint32_t> best(NO_RANK, 0, 0, 0);
        for (std::size_t i = 0; i < cycles.size(); ++i)
        {
            for (uint32_t start = 0; start < n; ++start)
            {
                if (cluster.GetNic(gpus[cycles[i][start]]) == rails[channel % rails.size()])
                {
                    const VertexId exit = cluster.GetNic(gpus[cycles[i][(start + n - 1) % n]]);
                    best = std::min(best, std::make_tuple(exitUse[exit], cycleUse[i], i, start));
                }
            }
        }
        std::vector<uint32_t> way;
        for (uint32_t i = 0; i < n; ++i)
        {
            way.push_back(members[cycles[std::get<2>(best)][(std::get<3>(best) + i) % n]]);
        }
        ++cycleUse[std::get<2>(best)];
        ++exitUse[cluster.GetNic(vertices[way.back()])];
        ways.push_back(std::move(way));
    }
    return ways;
}

} // namespace

std::vector<std::vector<uint32_t>>
GroupByServer(const Cluster& cluster, const std::vector<VertexId>& vertices)
{
    std::vector<int32_t> servers;
    std::vector<std::vector<uint32_t>> members;
    for (uint32_t rank = 0; rank < vertices.size(); ++rank)
    {
        const int32_t server = cluster.GetDomain(vertices[rank]);
        const auto found = std::find(servers.begin(), servers.end(), server);
        members.resize(std::max<std::size_t>(members.size(), found - servers.begin() + 1));
        members[found - servers.begin()].push_back(rank);
        if (found == servers.end())
        {
            servers.push_back(server);
        }
    }
    return members;
}

std::vector<uint32_t>
FindRingRelays(const Cluster& cluster,
               const std::vector<VertexId>& vertices,
               const std::vector<uint32_t>& order)
{
    std::vector<uint32_t> result(order.size(), NO_RANK);
    for (const auto& members : GroupByServer(cluster, vertices))
    {
        std::vector<VertexId> gpus;
        std::map<uint32_t, uint32_t> positions; // by rank
        for (const uint32_t rank : members)
        {
            positions.emplace(rank, static_cast<uint32_t>(gpus.size()));
            gpus.push_back(vertices[rank]);
        }
        const auto relays = FindRelays(CountLanes(cluster, gpus));
        for (std::size_t i = 0; i < order.size(); ++i)
        {
            const auto from = positions.find(order[i]);
            const auto to = positions.find(order[(i + 1) % order.size()]);
            if (from != positions.end() && to != positions.end())
            {
                const uint32_t relay = relays[from->second][to->second];
                result[i] = relay == NO_RANK ? NO_RANK : members[relay];
            }
        }
    }
    return result;
}

std::vector<std::vector<uint32_t>>
GroupEvenlyByServer(const Cluster& cluster,
                    const CollectiveRequest& request,
                    const std::string& algorithm)
{
    auto members = GroupByServer(cluster, request.vertices);
    for (const auto& server : members)
    {
        if (server.size() != members.front().size())
        {
            throw std::invalid_argument(
                std::string(ToString(request.collective)) + ": algorithm " + algorithm +
                " needs equally many ranks in every server; there are " +
                std::to_string(members.front().size()) + " and " + std::to_string(server.size()));
        }
    }
    return members;
}

std::vector<std::vector<uint32_t>>
MakeRingOrders(const Cluster& cluster,
               const Paths& paths,
               const std::vector<VertexId>& vertices,
               uint32_t channels)
{
    const auto members = GroupByServer(cluster, vertices);
    std::vector<std::vector<uint32_t>> orders;
    if (members.size() == 1)
    {
        const auto cycles = FindCycles(cluster, paths, vertices);
        const std::size_t n = channels > 0 ? channels : 2 * cycles.size();
        for (std::size_t channel = 0; channel < n; ++channel)
        {
            orders.push_back(cycles[channel % cycles.size()]);
        }
        return orders;
    }
    if (channels == 0)
    {
        channels = static_cast<uint32_t>(FindRails(cluster, vertices, members.front()).size());
    }
    orders.resize(channels);
    for (std::size_t s = 0; s < members.size(); ++s)
    {
        auto ways = FindWays(cluster, paths, vertices, members[s], channels);
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            auto& way = ways[channel];
            if (s % 2 == 1)
            {
                std::reverse(way.begin(), way.end());
            }
            orders[channel].insert(orders[channel].end(), way.begin(), way.end());
        }
    }
    return orders;
}

} // namespace proteus
} // namespace ns3
