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

bool
HasNetwork(const Cluster& cluster, VertexId nic)
{
    const auto& vertices = cluster.GetVertices();
    const auto& ports = cluster.GetPorts(nic);
    return std::any_of(ports.begin(), ports.end(), [&](const Port& port) {
        return vertices[port.neighbor].server != vertices[nic].server;
    });
}

namespace
{

/// @param needsNetwork whether only those with a network count, see HasNetwork()
/// @return the NICs of the server that are nearest to a vertex of it
std::vector<VertexId>
FindNearest(const Cluster& cluster, VertexId from, bool needsNetwork)
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
        if (vertices[vertex].kind == VertexKind::NIC &&
            (!needsNetwork || HasNetwork(cluster, vertex)))
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

} // namespace

std::vector<VertexId>
FindNearestNics(const Cluster& cluster, VertexId from)
{
    // NCCL leaves out ports that are down. Of a server alone no NIC has a network.
    const std::vector<VertexId> nics = FindNearest(cluster, from, true);
    return nics.empty() ? FindNearest(cluster, from, false) : nics;
}

namespace
{

/// @return the GPUs that reach a NIC by PCIe switches only, the nearest first
std::vector<VertexId>
FindGpusOfSwitches(const Cluster& cluster, VertexId nic)
{
    std::vector<VertexId> gpus;
    std::vector<VertexId> found{nic};
    for (std::size_t i = 0; i < found.size(); ++i)
    {
        std::vector<VertexId> next;
        for (const Port& port : cluster.GetPorts(found[i]))
        {
            const VertexKind kind = cluster.GetVertices()[port.neighbor].kind;
            const bool isNew = std::find(found.begin(), found.end(), port.neighbor) == found.end();
            if (isNew && kind == VertexKind::PCIE_SWITCH)
            {
                found.push_back(port.neighbor);
            }
            else if (kind == VertexKind::GPU)
            {
                next.push_back(port.neighbor);
            }
        }
        std::sort(next.begin(), next.end());
        gpus.insert(gpus.end(), next.begin(), next.end());
    }
    return gpus;
}

/// @return whether two GPUs have an NVLink between them, or an NVSwitch
bool
HasNvlink(const Cluster& cluster, VertexId a, VertexId b)
{
    const auto isNvlink = [&](const Port& port) {
        return cluster.GetLinks()[port.link].technology == LinkTechnology::NVLINK;
    };
    for (const Port& port : cluster.GetPorts(a))
    {
        if (!isNvlink(port))
        {
            continue;
        }
        if (port.neighbor == b)
        {
            return true;
        }
        for (const Port& second : cluster.GetPorts(port.neighbor))
        {
            if (cluster.GetVertices()[port.neighbor].kind == VertexKind::NVSWITCH &&
                isNvlink(second) && second.neighbor == b)
            {
                return true;
            }
        }
    }
    return false;
}

} // namespace

NicTable::NicTable(const Cluster& cluster, bool hasRelays)
    : m_cluster(cluster),
      m_hasRelays(hasRelays)
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
    if (m_gpusOf.empty())
    {
        std::vector<VertexId> all = m_cluster.GetGpus();
        std::sort(all.begin(), all.end());
        for (const VertexId other : all)
        {
            m_gpusOf[m_cluster.GetVertices()[other].server].push_back(other);
        }
    }
    std::map<std::vector<VertexId>, std::vector<VertexId>> sharers;
    for (const VertexId other : m_gpusOf[m_cluster.GetVertices()[gpu].server])
    {
        sharers[FindNearestNics(m_cluster, other)].push_back(other);
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

VertexId
NicTable::FindRelay(VertexId gpu, VertexId nic) const
{
    if (!m_hasRelays)
    {
        return Cluster::NO_VERTEX;
    }
    const std::vector<VertexId> near = FindGpusOfSwitches(m_cluster, nic);
    if (near.empty() || std::find(near.begin(), near.end(), gpu) != near.end() ||
        !HasNvlink(m_cluster, gpu, near.front()))
    {
        return Cluster::NO_VERTEX;
    }
    return near.front();
}

} // namespace proteus
} // namespace ns3
