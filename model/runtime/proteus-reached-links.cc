/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-reached-links.h"

#include "ns3/proteus-first-way.h"
#include "ns3/proteus-paths.h"

#include <cstddef>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Collects links between vertices.
class LinkCollector
{
  public:
    explicit LinkCollector(const Cluster& cluster)
        : m_cluster(cluster),
          m_paths(cluster)
    {
    }

    /// Adds the links on the way between two GPUs.
    void Add(VertexId a, VertexId b)
    {
        if (a == b || !m_pairs.emplace(a, b).second)
        {
            return;
        }
        const auto& vertices = m_cluster.GetVertices();
        const bool isInside = vertices[a].server == vertices[b].server;
        const VertexId out = isInside ? Cluster::NO_VERTEX : m_cluster.GetNic(a);
        const VertexId in = isInside ? Cluster::NO_VERTEX : m_cluster.GetNic(b);
        if (out == Cluster::NO_VERTEX || in == Cluster::NO_VERTEX)
        {
            AddWay(a, b);
            return;
        }
        AddWay(a, out);
        AddWay(out, in);
        AddWay(in, b);
    }

    const std::set<LinkId>& Get() const
    {
        return m_links;
    }

  private:
    void AddWay(VertexId from, VertexId to)
    {
        for (const LinkId link : WalkFirst(m_paths, from, to))
        {
            m_links.insert(link);
        }
    }

    const Cluster& m_cluster;
    const Paths m_paths;
    std::set<std::pair<VertexId, VertexId>> m_pairs; //!< that are there
    std::set<LinkId> m_links;
};

} // namespace

std::vector<LinkId>
FindReachedLinks(const ExecutionGraph& graph, const Cluster& cluster)
{
    LinkCollector collector(cluster);
    const auto& gpus = cluster.GetGpus();
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind != TaskKind::COMMUNICATION)
        {
            continue;
        }
        // Whoever is next to another one, and to the first: some of them are in other servers if
        // any are.
        const auto& group = graph.GetGroup(task.place);
        for (std::size_t i = 0; i + 1 < group.size(); ++i)
        {
            collector.Add(gpus.at(group[i]), gpus.at(group[i + 1]));
            collector.Add(gpus.at(group[0]), gpus.at(group[i + 1]));
        }
    }
    return {collector.Get().begin(), collector.Get().end()};
}

} // namespace proteus
} // namespace ns3
