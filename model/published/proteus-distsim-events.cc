/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-distsim-events.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-first-way.h"

#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_RANKS_OF_ALL_PAIRS = 32;

/// Describes ways between ranks, with links numbered in the order in which they are met.
class PlacementText
{
  public:
    PlacementText(const Cluster& cluster, const Paths& paths)
        : m_cluster(cluster),
          m_paths(paths)
    {
    }

    void Add(VertexId a, VertexId b)
    {
        const auto& vertices = m_cluster.GetVertices();
        if (vertices[a].server == vertices[b].server)
        {
            AddWay(a, b);
        }
        else
        {
            const VertexId out = m_cluster.GetNic(a);
            const VertexId in = m_cluster.GetNic(b);
            if (out == Cluster::NO_VERTEX || in == Cluster::NO_VERTEX)
            {
                AddWay(a, b);
            }
            else
            {
                AddWay(a, out);
                AddWay(out, in);
                AddWay(in, b);
            }
        }
        m_text << ';';
    }

    std::string Get() const
    {
        return m_text.str();
    }

  private:
    void AddWay(VertexId from, VertexId to)
    {
        for (const LinkId id : WalkFirst(m_paths, from, to))
        {
            const Link& link = m_cluster.GetLinks()[id];
            const bool isForward = link.a == from;
            from = link.Other(from);
            const auto number =
                m_numberOf.emplace(std::make_pair(id, isForward), m_numberOf.size());
            m_text << number.first->second << ',';
            if (number.second)
            {
                m_text << '(' << ToString(link.technology) << ' ' << link.bytesPerSecond << ' '
                       << link.delayPs << ' ' << link.cost << ')';
            }
        }
    }

    const Cluster& m_cluster;
    const Paths& m_paths;
    std::map<std::pair<LinkId, bool>, std::size_t> m_numberOf; //!< by link and direction
    std::ostringstream m_text;
};

} // namespace

std::string
DescribePlacement(const Cluster& cluster, const Paths& paths, const std::vector<DeviceId>& group)
{
    PlacementText text(cluster, paths);
    std::vector<VertexId> gpus;
    for (const DeviceId device : group)
    {
        if (device >= cluster.GetGpus().size())
        {
            throw std::invalid_argument("device " + std::to_string(device) + " of a cluster of " +
                                        std::to_string(cluster.GetGpus().size()) + " GPUs");
        }
        gpus.push_back(cluster.GetGpus()[device]);
    }
    const std::size_t n = gpus.size();
    for (std::size_t i = 0; i < n; ++i)
    {
        for (std::size_t step = 1; step < n; ++step)
        {
            if (n <= MOST_RANKS_OF_ALL_PAIRS || step == 1 || step == n / 2 || step == n - 1)
            {
                text.Add(gpus[i], gpus[(i + step) % n]);
            }
        }
    }
    return std::to_string(n) + ":" + text.Get();
}

EventCatalogue::EventCatalogue(const ExecutionGraph& graph, const Cluster& cluster)
    : m_eventOf(graph.GetNTasks(), NO_ID)
{
    RequireGpus(graph, cluster);
    const Paths paths(cluster);
    std::map<std::vector<DeviceId>, std::string> placements;
    std::map<std::string, uint32_t> eventOf;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::MEMORY)
        {
            continue;
        }
        std::ostringstream key;
        uint64_t ranks = 1;
        if (task.kind == TaskKind::COMPUTE)
        {
            const VertexId gpu = cluster.GetGpus()[task.place];
            key << "compute " << cluster.GetVertices()[gpu].model << ' ';
            if (task.durationPs >= 0)
            {
                key << task.durationPs << " ps";
            }
            else
            {
                key.precision(17);
                key << task.flops << ' ' << task.bytes << ' ' << ToString(task.dataType);
            }
        }
        else
        {
            const auto& group = graph.GetGroup(task.place);
            const auto place = placements.emplace(group, std::string());
            if (place.second)
            {
                place.first->second = DescribePlacement(cluster, paths, group);
            }
            key << ToString(task.collective) << ' ' << task.bytes << ' ' << task.root << ' '
                << place.first->second;
            ranks = task.collective == Collective::SEND_RECV ? 1 : group.size();
        }
        const auto place = eventOf.emplace(key.str(), m_events.size());
        if (place.second)
        {
            m_events.push_back({id, task.kind, 0, 0, key.str()});
        }
        UniqueEvent& event = m_events[place.first->second];
        ++event.tasks;
        event.instances += ranks * graph.GetNInstances(task);
        m_eventOf[id] = place.first->second;
    }
}

uint64_t
EventCatalogue::CountEvents(TaskKind kind) const
{
    uint64_t count = 0;
    for (const UniqueEvent& event : m_events)
    {
        count += event.kind == kind ? 1 : 0;
    }
    return count;
}

uint64_t
EventCatalogue::CountInstances(TaskKind kind) const
{
    uint64_t count = 0;
    for (const UniqueEvent& event : m_events)
    {
        count += event.kind == kind ? event.instances : 0;
    }
    return count;
}

} // namespace proteus
} // namespace ns3
