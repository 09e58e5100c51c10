/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-reachability.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * Islands: vertices of one server, or of no server, that are linked without a GPU. Two GPUs reach
 * each other if they have a link of their own or both have access to some island: they touch it,
 * or it is plugged into one that they touch. A cable from one server to another is an island, too.
 */
class Islands
{
  public:
    explicit Islands(const Cluster& cluster)
        : m_cluster(cluster),
          m_islandOf(cluster.GetVertices().size(), NONE)
    {
        const auto& vertices = cluster.GetVertices();
        for (VertexId start = 0; start < vertices.size(); ++start)
        {
            if (vertices[start].kind != VertexKind::GPU && m_islandOf[start] == NONE)
            {
                Flood(start, m_count++);
            }
        }
        m_plugged.resize(m_count);
        for (const Link& link : cluster.GetLinks())
        {
            Plug(link);
        }
    }

    /// @return how many there are
    uint32_t GetCount() const
    {
        return m_count;
    }

    /// @param gpu a GPU @return the islands that it has access to
    std::set<uint32_t> GetTouched(VertexId gpu) const
    {
        std::set<uint32_t> islands;
        for (const Port& port : m_cluster.GetPorts(gpu))
        {
            const uint32_t island = m_islandOf[port.neighbor];
            if (island != NONE)
            {
                islands.insert(island);
                islands.insert(m_plugged[island].begin(), m_plugged[island].end());
            }
        }
        return islands;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /// Makes an island of all that is linked with a vertex.
    void Flood(VertexId start, uint32_t island)
    {
        const auto& vertices = m_cluster.GetVertices();
        std::vector<VertexId> pending{start};
        m_islandOf[start] = island;
        while (!pending.empty())
        {
            const VertexId vertex = pending.back();
            pending.pop_back();
            for (const Port& port : m_cluster.GetPorts(vertex))
            {
                const Vertex& neighbor = vertices[port.neighbor];
                if (neighbor.kind != VertexKind::GPU && m_islandOf[port.neighbor] == NONE &&
                    neighbor.server == vertices[start].server)
                {
                    m_islandOf[port.neighbor] = island;
                    pending.push_back(port.neighbor);
                }
            }
        }
    }

    /// Plugs islands into each other that a link joins.
    void Plug(const Link& link)
    {
        const Vertex& a = m_cluster.GetVertices()[link.a];
        const Vertex& b = m_cluster.GetVertices()[link.b];
        if (a.kind == VertexKind::GPU || b.kind == VertexKind::GPU || a.server == b.server)
        {
            return;
        }
        const uint32_t cable = m_count;
        m_count += a.server >= 0 && b.server >= 0 ? 1 : 0;
        if (a.server >= 0)
        {
            m_plugged[m_islandOf[link.a]].insert(b.server >= 0 ? cable : m_islandOf[link.b]);
        }
        if (b.server >= 0)
        {
            m_plugged[m_islandOf[link.b]].insert(a.server >= 0 ? cable : m_islandOf[link.a]);
        }
    }

    const Cluster& m_cluster;
    std::vector<uint32_t> m_islandOf;          //!< by vertex
    std::vector<std::set<uint32_t>> m_plugged; //!< by island, but not those that are cables
    uint32_t m_count{0};
};

/// @return whether two GPUs are linked directly
bool
AreLinked(const Cluster& cluster, VertexId a, VertexId b)
{
    const auto& ports = cluster.GetPorts(a);
    return std::any_of(ports.begin(), ports.end(), [b](const Port& port) {
        return port.neighbor == b;
    });
}

} // namespace

void
CheckReachability(const Cluster& cluster)
{
    const Islands islands(cluster);
    const auto& gpus = cluster.GetGpus();
    std::vector<std::set<uint32_t>> touched; // by rank
    touched.reserve(gpus.size());
    std::vector<std::size_t> nTouching(islands.GetCount(), 0);
    for (const VertexId gpu : gpus)
    {
        touched.push_back(islands.GetTouched(gpu));
        for (const uint32_t island : touched.back())
        {
            ++nTouching[island];
        }
    }
    // Nearly always there is an island that all of them touch.
    if (std::find(nTouching.begin(), nTouching.end(), gpus.size()) != nTouching.end())
    {
        return;
    }
    for (std::size_t i = 0; i < gpus.size(); ++i)
    {
        for (std::size_t j = i + 1; j < gpus.size(); ++j)
        {
            const auto isCommon = [&](uint32_t island) { return touched[j].count(island) > 0; };
            if (std::none_of(touched[i].begin(), touched[i].end(), isCommon) &&
                !AreLinked(cluster, gpus[i], gpus[j]))
            {
                const auto& vertices = cluster.GetVertices();
                throw std::invalid_argument(
                    "GPU '" + vertices[gpus[i]].name + "' does not reach GPU '" +
                    vertices[gpus[j]].name +
                    "' (paths do not run through other GPUs or servers); add a link or a switch");
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
