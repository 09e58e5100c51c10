/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-partition.h"

#include "proteus-network-links.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// "No rank yet".
constexpr uint32_t NOWHERE = UINT32_MAX;
/// Load of the heaviest part or rank over the mean that a division may have.
constexpr double MOST_LOAD = 1.25;
/// Load over the mean up to which parts are moved to a rank.
constexpr double MOVE_LOAD = 1.05;
/// Rounds in which parts are moved, at most.
constexpr int MOVE_ROUNDS = 10;

/// @param link a link @return whether it may join two ranks: a window needs a picosecond
bool
CanBeCut(const Link& link)
{
    return IsOfNetwork(link) && link.delayPs > 1;
}

/// Joins the vertices of every server, which stay together.
/// @param cluster with servers @param join called with a vertex and the first one of its server
template <typename JOIN>
void
JoinServers(const Cluster& cluster, JOIN join)
{
    const auto& vertices = cluster.GetVertices();
    std::vector<VertexId> first(cluster.GetNServers(), Cluster::NO_VERTEX);
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        if (vertices[vertex].server >= 0)
        {
            VertexId& other = first[vertices[vertex].server];
            other = other == Cluster::NO_VERTEX ? vertex : other;
            join(vertex, other);
        }
    }
}

/// Vertices that stay together.
struct Part
{
    std::vector<VertexId> vertices; //!< ascending
    double load{0};                 //!< summed rate of network ports
    bool hasServer{false};          //!< not only switches
    /// Rate of links to other parts, by part.
    std::vector<std::pair<uint32_t, double>> neighbors;
};

/// A cluster as parts.
class Parts
{
  public:
    /// @param cluster to divide @param minDelayPs links below are not cut
    /// @param keepLeaves whether links between a server and a switch are not cut
    Parts(const Cluster& cluster, int64_t minDelayPs, bool keepLeaves)
        : m_root(cluster.GetVertices().size())
    {
        std::iota(m_root.begin(), m_root.end(), 0);
        JoinServers(cluster, [this](VertexId a, VertexId b) { Join(a, b); });
        const auto& vertices = cluster.GetVertices();
        for (const Link& link : cluster.GetLinks())
        {
            const bool atServer = vertices[link.a].server >= 0 || vertices[link.b].server >= 0;
            if (!IsOfNetwork(link) || link.delayPs < minDelayPs || (keepLeaves && atServer))
            {
                Join(link.a, link.b);
            }
        }
        Collect(cluster);
    }

    /// @return the parts, by their first vertices
    const std::vector<Part>& Get() const
    {
        return m_parts;
    }

    /// @return summed load
    double GetLoad() const
    {
        return m_load;
    }

    /// @param nRanks wanted @return whether every rank can have a server
    bool CanDivide(uint32_t nRanks) const
    {
        return std::count_if(m_parts.begin(), m_parts.end(), [](const Part& part) {
                   return part.hasServer;
               }) >= static_cast<int64_t>(nRanks);
    }

    /// @param nRanks wanted @return whether no part is much more than the share of a rank
    bool CanBalance(uint32_t nRanks) const
    {
        return std::all_of(m_parts.begin(), m_parts.end(), [&](const Part& part) {
            return part.load <= MOST_LOAD * m_load / nRanks;
        });
    }

  private:
    /// @param vertex a vertex @return the one that stands for its part
    VertexId Find(VertexId vertex)
    {
        while (m_root[vertex] != vertex)
        {
            m_root[vertex] = m_root[m_root[vertex]];
            vertex = m_root[vertex];
        }
        return vertex;
    }

    /// Puts two vertices into one part.
    void Join(VertexId a, VertexId b)
    {
        a = Find(a);
        b = Find(b);
        m_root[std::max(a, b)] = std::min(a, b);
    }

    /// Fills the parts.
    void Collect(const Cluster& cluster)
    {
        const auto& vertices = cluster.GetVertices();
        std::vector<uint32_t> partOf(vertices.size());
        for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
        {
            const VertexId root = Find(vertex);
            if (root == vertex)
            {
                partOf[root] = static_cast<uint32_t>(m_parts.size());
                m_parts.emplace_back();
            }
            partOf[vertex] = partOf[root];
            Part& part = m_parts[partOf[vertex]];
            part.vertices.push_back(vertex);
            part.hasServer = part.hasServer || vertices[vertex].server >= 0;
        }
        for (const Link& link : cluster.GetLinks())
        {
            if (!IsOfNetwork(link))
            {
                continue;
            }
            for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
            {
                Part& part = m_parts[partOf[end]];
                part.load += link.bytesPerSecond;
                m_load += link.bytesPerSecond;
                if (partOf[end] != partOf[other])
                {
                    part.neighbors.emplace_back(partOf[other], link.bytesPerSecond);
                }
            }
        }
    }

    std::vector<VertexId> m_root; //!< by vertex: another one of its part, or itself
    std::vector<Part> m_parts;    //!< by their first vertices
    double m_load{0};             //!< of all
};

/// Gives parts to ranks.
class Division
{
  public:
    /// @param parts to divide @param nRanks among so many
    Division(const Parts& parts, uint32_t nRanks)
        : m_parts(parts.Get()),
          m_mean(parts.GetLoad() / nRanks),
          m_rankOf(m_parts.size(), NOWHERE),
          m_loads(nRanks, 0),
          m_servers(nRanks, 0)
    {
        PlaceServers();
        PlaceSwitches();
        for (int round = 0; round < MOVE_ROUNDS && Move(); ++round)
        {
        }
    }

    /// @return rank of each part
    const std::vector<uint32_t>& GetRanks() const
    {
        return m_rankOf;
    }

    /// @return load of the heaviest rank over the mean
    double GetHeaviest() const
    {
        return *std::max_element(m_loads.begin(), m_loads.end()) / m_mean;
    }

  private:
    /// @param part to give @param rank to whom
    void Place(uint32_t part, uint32_t rank)
    {
        m_rankOf[part] = rank;
        m_loads[rank] += m_parts[part].load;
        m_servers[rank] += m_parts[part].hasServer ? 1 : 0;
    }

    /// Parts with servers, in their order, each rank as many as its share of their number.
    void PlaceServers()
    {
        std::vector<uint32_t> servers;
        for (uint32_t part = 0; part < m_parts.size(); ++part)
        {
            if (m_parts[part].hasServer)
            {
                servers.push_back(part);
            }
        }
        for (std::size_t i = 0; i < servers.size(); ++i)
        {
            Place(servers[i], static_cast<uint32_t>(i * m_loads.size() / servers.size()));
        }
    }

    /// @param part a part @return rate of its links to each rank
    std::vector<double> GetRates(uint32_t part) const
    {
        std::vector<double> rates(m_loads.size(), 0);
        for (const auto& [other, rate] : m_parts[part].neighbors)
        {
            if (m_rankOf[other] != NOWHERE)
            {
                rates[m_rankOf[other]] += rate;
            }
        }
        return rates;
    }

    /// Switches, those next to what has its rank first: where most of their rate leads, and of
    /// equals to the rank with the least load.
    void PlaceSwitches()
    {
        std::vector<uint32_t> left;
        for (uint32_t part = 0; part < m_parts.size(); ++part)
        {
            if (m_rankOf[part] == NOWHERE)
            {
                left.push_back(part);
            }
        }
        while (!left.empty())
        {
            std::vector<std::pair<uint32_t, std::vector<double>>> next;
            std::vector<uint32_t> rest;
            for (uint32_t part : left)
            {
                std::vector<double> rates = GetRates(part);
                const bool isNext =
                    std::any_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
                if (isNext)
                {
                    next.emplace_back(part, std::move(rates));
                }
                else
                {
                    rest.push_back(part);
                }
            }
            if (next.empty()) // nothing leads to them
            {
                next.emplace_back(rest.back(), std::vector<double>(m_loads.size(), 0));
                rest.pop_back();
            }
            for (const auto& [part, rates] : next)
            {
                uint32_t best = 0;
                for (uint32_t rank = 1; rank < rates.size(); ++rank)
                {
                    const bool isLess = rates[rank] == rates[best] && m_loads[rank] < m_loads[best];
                    best = rates[rank] > rates[best] || isLess ? rank : best;
                }
                Place(part, best);
            }
            left = std::move(rest);
        }
    }

    /// Moves parts that have more rate to another rank than to their own, where the balance lets
    /// them. @return whether any has moved
    bool Move()
    {
        bool moved = false;
        for (uint32_t part = 0; part < m_parts.size(); ++part)
        {
            const std::vector<double> rates = GetRates(part);
            const uint32_t own = m_rankOf[part];
            const auto best =
                static_cast<uint32_t>(std::max_element(rates.begin(), rates.end()) - rates.begin());
            const bool isLast = m_parts[part].hasServer && m_servers[own] == 1;
            if (rates[best] > rates[own] && !isLast &&
                m_loads[best] + m_parts[part].load <= MOVE_LOAD * m_mean)
            {
                m_loads[own] -= m_parts[part].load;
                m_servers[own] -= m_parts[part].hasServer ? 1 : 0;
                Place(part, best);
                moved = true;
            }
        }
        return moved;
    }

    const std::vector<Part>& m_parts; //!< what is divided
    double m_mean;                    //!< load of a rank
    std::vector<uint32_t> m_rankOf;   //!< by part
    std::vector<double> m_loads;      //!< by rank
    std::vector<uint32_t> m_servers;  //!< by rank: parts with servers
};

/// @param cluster to divide @param nRanks wanted @return its parts
/// @throw std::invalid_argument if there are too few
Parts
FindParts(const Cluster& cluster, uint32_t nRanks)
{
    std::set<int64_t> delays;
    for (const Link& link : cluster.GetLinks())
    {
        if (CanBeCut(link))
        {
            delays.insert(link.delayPs);
        }
    }
    for (auto delay = delays.rbegin(); delay != delays.rend(); ++delay)
    {
        for (const bool keepLeaves : {true, false})
        {
            Parts parts(cluster, *delay, keepLeaves);
            if (parts.CanDivide(nRanks) && parts.CanBalance(nRanks))
            {
                return parts;
            }
        }
    }
    Parts parts(cluster, delays.empty() ? INT64_MAX : *delays.begin(), false);
    if (delays.empty() || !parts.CanDivide(nRanks))
    {
        const auto most = std::count_if(parts.Get().begin(),
                                        parts.Get().end(),
                                        [](const Part& part) { return part.hasServer; });
        throw std::invalid_argument(
            "cluster " + cluster.GetName() + " cannot be divided among " + std::to_string(nRanks) +
            " ranks: it has " +
            (delays.empty() || most == 1
                 ? "no two parts with servers that network links with a delay join; start one"
                 : std::to_string(most) + " parts with servers that network links with a delay "
                                          "join; start that many at most"));
    }
    return parts;
}

} // namespace

RankPartition
PartitionCluster(const Cluster& cluster, uint32_t nRanks)
{
    RankPartition partition;
    partition.nRanks = nRanks;
    partition.rankOf.assign(cluster.GetVertices().size(), 0);
    if (nRanks == 1)
    {
        return partition;
    }
    const Parts parts = FindParts(cluster, nRanks);
    const Division division(parts, nRanks);
    for (std::size_t part = 0; part < parts.Get().size(); ++part)
    {
        for (VertexId vertex : parts.Get()[part].vertices)
        {
            partition.rankOf[vertex] = division.GetRanks()[part];
        }
    }
    partition.heaviest = division.GetHeaviest();
    partition.lookaheadPs = INT64_MAX;
    for (LinkId id = 0; id < cluster.GetLinks().size(); ++id)
    {
        const Link& link = cluster.GetLinks()[id];
        if (partition.rankOf[link.a] != partition.rankOf[link.b])
        {
            partition.cutLinks.push_back(id);
            partition.cutBytesPerSecond += link.bytesPerSecond;
            partition.lookaheadPs = std::min(partition.lookaheadPs, link.delayPs);
        }
    }
    return partition;
}

LookaheadBounds::LookaheadBounds(const Cluster& cluster)
    : m_parents(cluster.GetVertices().size()),
      m_delaysPs(cluster.GetVertices().size(), INT64_MAX)
{
    std::iota(m_parents.begin(), m_parents.end(), 0);
    std::vector<uint32_t> sizes(m_parents.size(), 1);
    const auto findRoot = [this](VertexId vertex) {
        while (m_parents[vertex] != vertex)
        {
            vertex = m_parents[vertex];
        }
        return vertex;
    };
    const auto join = [&](VertexId a, VertexId b, int64_t delayPs) {
        a = findRoot(a);
        b = findRoot(b);
        if (a != b)
        {
            const VertexId child = sizes[a] < sizes[b] ? a : b; // so that trees stay flat
            const VertexId parent = a + b - child;
            m_parents[child] = parent;
            m_delaysPs[child] = delayPs;
            sizes[parent] += sizes[child];
        }
    };
    JoinServers(cluster, [&](VertexId a, VertexId b) { join(a, b, 0); });
    std::vector<std::pair<int64_t, LinkId>> links;
    for (LinkId id = 0; id < cluster.GetLinks().size(); ++id)
    {
        const Link& link = cluster.GetLinks()[id];
        links.emplace_back(CanBeCut(link) ? link.delayPs : 0, id);
    }
    std::sort(links.begin(), links.end());
    for (const auto& [delayPs, id] : links)
    {
        join(cluster.GetLinks()[id].a, cluster.GetLinks()[id].b, delayPs);
    }
}

int64_t
LookaheadBounds::Get(VertexId a, VertexId b) const
{
    int64_t delayPs = 0;
    while (a != b)
    {
        VertexId& lower = m_delaysPs[a] <= m_delaysPs[b] ? a : b;
        if (m_parents[lower] == lower)
        {
            return delayPs; // nothing joins them, so they have no news of each other
        }
        delayPs = m_delaysPs[lower];
        lower = m_parents[lower];
    }
    return delayPs;
}

int64_t
LookaheadBounds::Get(const std::vector<VertexId>& vertices) const
{
    int64_t delayPs = 0;
    for (const VertexId vertex : vertices)
    {
        delayPs = std::max(delayPs, Get(vertices.front(), vertex));
    }
    return delayPs;
}

std::string
Describe(const RankPartition& partition, const Cluster& cluster)
{
    double rate = 0;
    std::size_t links = 0;
    for (const Link& link : cluster.GetLinks())
    {
        rate += IsOfNetwork(link) ? link.bytesPerSecond : 0;
        links += IsOfNetwork(link) ? 1 : 0;
    }
    std::ostringstream text;
    text.precision(3);
    text << partition.cutLinks.size() << " of " << links << " network links cut ("
         << (rate > 0 ? 100 * partition.cutBytesPerSecond / rate : 0)
         << " % of the rate), lookahead " << static_cast<double>(partition.lookaheadPs) * 1e-3
         << " ns, heaviest rank " << partition.heaviest << " of the mean";
    return text.str();
}

} // namespace proteus
} // namespace ns3
