/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nic-table.h"

#include "proteus-paths.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace ns3
{
namespace proteus
{

std::vector<VertexId>
FindNearestNics(const Cluster& cluster, VertexId from)
{
    const auto& vertices = cluster.GetVertices();
    using Entry = std::pair<uint32_t, VertexId>; // distance, vertex
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::unordered_map<VertexId, uint32_t> distances{{from, 0}};
    std::vector<VertexId> nics;
    uint32_t nearest = Paths::UNREACHABLE;
    queue.emplace(0, from);
    while (!queue.empty())
    {
        const auto [distance, vertex] = queue.top();
        queue.pop();
        if (distance > nearest)
        {
            break;
        }
        if (distance > distances[vertex])
        {
            continue;
        }
        if (vertices[vertex].kind == VertexKind::NIC)
        {
            nearest = distance;
            nics.push_back(vertex);
        }
        if (vertex != from && vertices[vertex].kind == VertexKind::GPU)
        {
            continue;
        }
        for (const Port& port : cluster.GetPorts(vertex))
        {
            if (vertices[port.neighbor].server != vertices[from].server)
            {
                continue;
            }
            const uint32_t length = distance + cluster.GetLinks()[port.link].cost;
            const auto known = distances.emplace(port.neighbor, length);
            if (known.second || length < known.first->second)
            {
                known.first->second = length;
                queue.emplace(length, port.neighbor);
            }
        }
    }
    std::sort(nics.begin(), nics.end());
    return nics;
}

NicTable::NicTable(const Cluster& cluster)
    : m_cluster(cluster)
{
}

const std::vector<VertexId>&
NicTable::Find(VertexId gpu) const
{
    const auto known = m_nics.find(gpu);
    if (known != m_nics.end())
    {
        return known->second;
    }
    // All GPUs of the server at once: those with the same nearest NICs share them, in the order of
    // their vertices, whatever their ranks (Cluster::RankGpus()).
    std::map<std::vector<VertexId>, std::vector<VertexId>> sharers;
    std::vector<VertexId> all = m_cluster.GetGpus();
    std::sort(all.begin(), all.end());
    for (const VertexId other : all)
    {
        if (m_cluster.GetVertices()[other].server == m_cluster.GetVertices()[gpu].server)
        {
            sharers[FindNearestNics(m_cluster, other)].push_back(other);
        }
    }
    for (const auto& [nearest, gpus] : sharers)
    {
        const std::size_t share = (nearest.size() + gpus.size() - 1) / gpus.size();
        for (std::size_t i = 0; i < gpus.size(); ++i)
        {
            auto& nics = m_nics[gpus[i]];
            for (std::size_t k = 0; k < share; ++k)
            {
                nics.push_back(nearest[(i * share + k) % nearest.size()]);
            }
        }
    }
    return m_nics[gpu];
}

uint32_t
NicTable::CountNics(VertexId gpu) const
{
    return std::max<uint32_t>(static_cast<uint32_t>(Find(gpu).size()), 1);
}

VertexId
NicTable::Get(VertexId gpu, uint32_t channel) const
{
    const auto& nics = Find(gpu);
    return nics.empty() ? Cluster::NO_VERTEX : nics[channel % nics.size()];
}

} // namespace proteus
} // namespace ns3
