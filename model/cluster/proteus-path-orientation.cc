/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-path-rules.h"

#include <algorithm>
#include <set>
#include <unordered_map>

/**
 * @file
 * @ingroup proteus
 * Upper and lower ends of links, for up/down routing.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Orders the vertices of each island, see the description of Paths.
class Orientation
{
  public:
    /// @param cluster to order @param isDisabled by link; empty if none is @param roots asked for
    Orientation(const Cluster& cluster,
                const std::vector<bool>& isDisabled,
                const std::vector<VertexId>& roots)
        : m_cluster(cluster),
          m_isDisabled(isDisabled),
          m_level(m_cluster.GetVertices().size(), NONE),
          m_isRoot(m_cluster.GetVertices().size(), false)
    {
        for (VertexId root : roots)
        {
            m_isRoot[root] = true;
        }
        std::vector<bool> isSeen(m_level.size(), false);
        for (VertexId start = 0; start < m_level.size(); ++start)
        {
            if (!isSeen[start] && !IsTerminal(start))
            {
                OrderIsland(FindIsland(start, isSeen));
            }
        }
    }

    /// @return by link: whether it goes down from a to b
    std::vector<bool> FindDown() const
    {
        const auto& links = m_cluster.GetLinks();
        std::vector<bool> isDown(links.size());
        for (LinkId link = 0; link < links.size(); ++link)
        {
            isDown[link] = IsAbove(links[link].a, links[link].b);
        }
        return isDown;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /// @param vertex a vertex @return whether paths begin and end there, and are renewed there
    bool IsTerminal(VertexId vertex) const
    {
        return IsPathEnd(m_cluster.GetVertices()[vertex]);
    }

    /// @param upper a vertex @param lower another one @return whether that is so
    bool IsAbove(VertexId upper, VertexId lower) const
    {
        const bool isUpperTerminal = IsTerminal(upper);
        if (isUpperTerminal != IsTerminal(lower))
        {
            return !isUpperTerminal;
        }
        return m_level[upper] != m_level[lower] ? m_level[upper] < m_level[lower] : upper > lower;
    }

    /// Calls f(neighbor) for the ports of a vertex whose links are enabled.
    template <typename F>
    void ForNeighbors(VertexId vertex, F f) const
    {
        for (const Port& port : m_cluster.GetPorts(vertex))
        {
            if (m_isDisabled.empty() || !m_isDisabled[port.link])
            {
                f(port.neighbor);
            }
        }
    }

    /// @param start a vertex @param isSeen gets those of the island @return its vertices
    std::vector<VertexId> FindIsland(VertexId start, std::vector<bool>& isSeen) const
    {
        std::vector<VertexId> island{start};
        isSeen[start] = true;
        for (std::size_t i = 0; i < island.size(); ++i)
        {
            ForNeighbors(island[i], [&](VertexId neighbor) {
                if (!isSeen[neighbor] && !IsTerminal(neighbor))
                {
                    isSeen[neighbor] = true;
                    island.push_back(neighbor);
                }
            });
        }
        std::sort(island.begin(), island.end());
        return island;
    }

    /// Sets the levels of an island to the distance from some of its vertices.
    void SetLevels(const std::vector<VertexId>& island, std::vector<VertexId> pending)
    {
        for (VertexId vertex : island)
        {
            m_level[vertex] = NONE;
        }
        for (VertexId vertex : pending)
        {
            m_level[vertex] = 0;
        }
        for (std::size_t i = 0; i < pending.size(); ++i)
        {
            ForNeighbors(pending[i], [&](VertexId neighbor) {
                if (m_level[neighbor] == NONE && !IsTerminal(neighbor))
                {
                    m_level[neighbor] = m_level[pending[i]] + 1;
                    pending.push_back(neighbor);
                }
            });
        }
    }

    void OrderIsland(const std::vector<VertexId>& island)
    {
        std::vector<VertexId> roots;
        std::vector<VertexId> cpus;
        std::vector<VertexId> gates; // with a GPU or NIC below
        VertexId single = island.front();
        std::size_t mostLinks = 0; // to others of the island
        for (VertexId vertex : island)
        {
            std::size_t nLinks = 0;
            bool isGate = false;
            ForNeighbors(vertex, [&](VertexId neighbor) {
                const bool isTerminal = IsTerminal(neighbor);
                isGate = isGate || isTerminal;
                nLinks += isTerminal ? 0 : 1;
            });
            if (m_isRoot[vertex])
            {
                roots.push_back(vertex);
            }
            if (m_cluster.GetVertices()[vertex].kind == VertexKind::CPU)
            {
                cpus.push_back(vertex);
            }
            if (isGate)
            {
                gates.push_back(vertex);
            }
            if (nLinks > mostLinks)
            {
                single = vertex;
                mostLinks = nLinks;
            }
        }
        if (!roots.empty())
        {
            single = roots.front();
        }
        else if (!cpus.empty())
        {
            roots = cpus;
            single = cpus.front();
        }
        else if (!gates.empty())
        {
            SetLevels(island, gates);
            uint32_t highest = 0;
            for (VertexId vertex : island)
            {
                highest = std::max(highest, m_level[vertex]);
            }
            for (VertexId vertex : island)
            {
                if (m_level[vertex] == highest)
                {
                    roots.push_back(vertex);
                }
            }
        }
        else
        {
            roots = island;
        }
        SetLevels(island, roots);
        if (!AllMeet(island, gates))
        {
            SetLevels(island, {single});
        }
    }

    /// @return whether from every two gates one gets to a common vertex by going up only
    bool AllMeet(std::vector<VertexId> island, const std::vector<VertexId>& gates) const
    {
        std::sort(island.begin(), island.end(), [this](VertexId x, VertexId y) {
            return IsAbove(x, y);
        });
        // Which tops, vertices with none above, are above each vertex.
        std::vector<VertexId> tops;
        for (VertexId vertex : island)
        {
            bool isTop = true;
            ForNeighbors(vertex, [&](VertexId neighbor) {
                isTop = isTop && (IsTerminal(neighbor) || IsAbove(vertex, neighbor));
            });
            if (isTop)
            {
                tops.push_back(vertex);
            }
        }
        if (tops.size() == 1)
        {
            return true;
        }
        using Set = std::vector<uint64_t>;
        std::unordered_map<VertexId, Set> above;
        for (std::size_t i = 0; i < tops.size(); ++i)
        {
            Set& set = above[tops[i]];
            set.resize((tops.size() + 63) / 64);
            set[i / 64] |= uint64_t{1} << i % 64;
        }
        for (VertexId vertex : island)
        {
            Set set((tops.size() + 63) / 64, 0);
            if (above.count(vertex) > 0)
            {
                continue;
            }
            ForNeighbors(vertex, [&](VertexId neighbor) {
                if (!IsTerminal(neighbor) && IsAbove(neighbor, vertex))
                {
                    const Set& other = above[neighbor];
                    for (std::size_t i = 0; i < set.size(); ++i)
                    {
                        set[i] |= other[i];
                    }
                }
            });
            above[vertex] = std::move(set);
        }
        std::set<Set> distinct;
        for (VertexId gate : gates)
        {
            distinct.insert(above[gate]);
        }
        for (auto x = distinct.begin(); x != distinct.end(); ++x)
        {
            for (auto y = std::next(x); y != distinct.end(); ++y)
            {
                bool meet = false;
                for (std::size_t i = 0; i < x->size(); ++i)
                {
                    meet = meet || ((*x)[i] & (*y)[i]) != 0;
                }
                if (!meet)
                {
                    return false;
                }
            }
        }
        return true;
    }

    const Cluster& m_cluster;
    const std::vector<bool>& m_isDisabled; //!< by link; empty if none is
    std::vector<uint32_t> m_level;         //!< by vertex: distance from the roots of its island
    std::vector<bool> m_isRoot;            //!< by vertex: asked for
};

} // namespace

std::vector<bool>
OrientLinks(const Cluster& cluster,
            const std::vector<bool>& isDisabled,
            const std::vector<VertexId>& roots)
{
    return Orientation(cluster, isDisabled, roots).FindDown();
}

} // namespace proteus
} // namespace ns3
