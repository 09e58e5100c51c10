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

    /// Vertices of an island that may stand at its top.
    struct Candidates
    {
        std::vector<VertexId> roots; //!< asked for
        std::vector<VertexId> cpus;
        std::vector<VertexId> gates; //!< with a GPU or NIC below
        VertexId hub{0};             //!< with most links to others of the island
    };

    Candidates FindCandidates(const std::vector<VertexId>& island) const
    {
        Candidates found;
        found.hub = island.front();
        std::size_t mostLinks = 0;
        for (VertexId vertex : island)
        {
            std::size_t nLinks = 0; // to others of the island
            bool isGate = false;
            ForNeighbors(vertex, [&](VertexId neighbor) {
                const bool isTerminal = IsTerminal(neighbor);
                isGate = isGate || isTerminal;
                nLinks += isTerminal ? 0 : 1;
            });
            if (m_isRoot[vertex])
            {
                found.roots.push_back(vertex);
            }
            if (m_cluster.GetVertices()[vertex].kind == VertexKind::CPU)
            {
                found.cpus.push_back(vertex);
            }
            if (isGate)
            {
                found.gates.push_back(vertex);
            }
            if (nLinks > mostLinks)
            {
                found.hub = vertex;
                mostLinks = nLinks;
            }
        }
        return found;
    }

    /// @return the vertices of an island that are farthest from its gates
    std::vector<VertexId> FindHighest(const std::vector<VertexId>& island,
                                      const std::vector<VertexId>& gates)
    {
        SetLevels(island, gates);
        uint32_t highest = 0;
        for (VertexId vertex : island)
        {
            highest = std::max(highest, m_level[vertex]);
        }
        std::vector<VertexId> found;
        for (VertexId vertex : island)
        {
            if (m_level[vertex] == highest)
            {
                found.push_back(vertex);
            }
        }
        return found;
    }

    void OrderIsland(const std::vector<VertexId>& island)
    {
        const Candidates candidates = FindCandidates(island);
        std::vector<VertexId> roots = candidates.roots;
        VertexId single = candidates.hub;
        if (!roots.empty())
        {
            single = roots.front();
        }
        else if (!candidates.cpus.empty())
        {
            roots = candidates.cpus;
            single = roots.front();
        }
        else
        {
            roots = candidates.gates.empty() ? island : FindHighest(island, candidates.gates);
        }
        SetLevels(island, roots);
        if (!AllMeet(island, candidates.gates))
        {
            SetLevels(island, {single});
        }
    }

    /// @param island from its top down @return its vertices with none above
    std::vector<VertexId> FindTops(const std::vector<VertexId>& island) const
    {
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
        return tops;
    }

    /// A set of tops, a bit for each.
    using TopSet = std::vector<uint64_t>;

    /// @param island from its top down @param tops of it @return by vertex: which tops are above
    std::unordered_map<VertexId, TopSet> FindTopsAbove(const std::vector<VertexId>& island,
                                                       const std::vector<VertexId>& tops) const
    {
        const std::size_t words = (tops.size() + 63) / 64;
        std::unordered_map<VertexId, TopSet> above;
        for (std::size_t i = 0; i < tops.size(); ++i)
        {
            TopSet& set = above[tops[i]];
            set.resize(words);
            set[i / 64] |= uint64_t{1} << i % 64;
        }
        for (VertexId vertex : island)
        {
            if (above.count(vertex) > 0)
            {
                continue;
            }
            TopSet set(words, 0);
            ForNeighbors(vertex, [&](VertexId neighbor) {
                if (!IsTerminal(neighbor) && IsAbove(neighbor, vertex))
                {
                    const TopSet& other = above[neighbor];
                    for (std::size_t i = 0; i < words; ++i)
                    {
                        set[i] |= other[i];
                    }
                }
            });
            above[vertex] = std::move(set);
        }
        return above;
    }

    /// @return whether both sets have some top
    static bool Meet(const TopSet& x, const TopSet& y)
    {
        bool meet = false;
        for (std::size_t i = 0; i < x.size(); ++i)
        {
            meet = meet || (x[i] & y[i]) != 0;
        }
        return meet;
    }

    /// @return whether from every two gates one gets to a common vertex by going up only
    bool AllMeet(std::vector<VertexId> island, const std::vector<VertexId>& gates) const
    {
        std::sort(island.begin(), island.end(), [this](VertexId x, VertexId y) {
            return IsAbove(x, y);
        });
        const std::vector<VertexId> tops = FindTops(island);
        if (tops.size() == 1)
        {
            return true;
        }
        auto above = FindTopsAbove(island, tops);
        std::set<TopSet> distinct;
        for (VertexId gate : gates)
        {
            distinct.insert(above[gate]);
        }
        for (auto x = distinct.begin(); x != distinct.end(); ++x)
        {
            for (auto y = std::next(x); y != distinct.end(); ++y)
            {
                if (!Meet(*x, *y))
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
