/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-changes.h"

#include "proteus-network-links.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param cluster to copy @param changeVertex is called with each vertex of the copy
/// @param changeLink is called with each link of it @return the copy
template <typename VERTEX, typename LINK>
Cluster
Copy(const Cluster& cluster, VERTEX changeVertex, LINK changeLink)
{
    Cluster copy(cluster.GetName());
    for (Vertex vertex : cluster.GetVertices())
    {
        changeVertex(vertex);
        copy.AddVertex(vertex);
    }
    for (Link link : cluster.GetLinks())
    {
        changeLink(link);
        copy.AddLink(link);
    }
    copy.RankGpus(cluster.GetGpus());
    return copy;
}

} // namespace

Cluster
ReplaceGpus(const Cluster& cluster, const GpuModel& model)
{
    return Copy(
        cluster,
        [&model](Vertex& vertex) {
            if (vertex.kind == VertexKind::GPU)
            {
                vertex.model = model.sheet.model;
                vertex.memoryBytesPerSecond = model.sheet.memoryBytesPerSecond;
                vertex.copyEngines = model.copyEngines;
                vertex.smCopyBytesPerSecond = model.smCopyBytesPerSecond;
            }
        },
        [](Link&) {});
}

Cluster
SetMtu(const Cluster& cluster, uint32_t bytes)
{
    return Copy(
        cluster,
        [](Vertex&) {},
        [bytes](Link& link) {
            if (IsOfNetwork(link))
            {
                link.framing.unitBytes = bytes;
                link.framing.packetBytes = bytes;
            }
        });
}

Cluster
SeparateGpus(const Cluster& cluster)
{
    return Copy(
        cluster,
        [](Vertex& vertex) { vertex.peerToPeer &= vertex.kind != VertexKind::GPU; },
        [](Link&) {});
}

Cluster
DivideAtCpus(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    std::vector<int32_t> parts(vertices.size(), -1);
    std::map<std::string, int32_t> servers; // by name of a vertex
    int32_t count = 0;
    for (VertexId first = 0; first < vertices.size(); ++first)
    {
        if (parts[first] >= 0 || vertices[first].server < 0)
        {
            continue;
        }
        std::vector<VertexId> found{first};
        parts[first] = count;
        for (std::size_t i = 0; i < found.size(); ++i)
        {
            const Vertex& from = vertices[found[i]];
            servers[from.name] = count;
            for (const Port& port : cluster.GetPorts(found[i]))
            {
                const Vertex& to = vertices[port.neighbor];
                const bool isBetweenCpus =
                    from.kind == VertexKind::CPU && to.kind == VertexKind::CPU;
                if (to.server == from.server && !isBetweenCpus && parts[port.neighbor] < 0)
                {
                    parts[port.neighbor] = count;
                    found.push_back(port.neighbor);
                }
            }
        }
        ++count;
    }
    return Copy(
        cluster,
        [&servers](Vertex& vertex) {
            const auto found = servers.find(vertex.name);
            vertex.server = found == servers.end() ? -1 : found->second;
        },
        [](Link&) {});
}

bool
HasPartedServers(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    const auto& gpus = cluster.GetGpus();
    const auto& links = cluster.GetLinks();
    return std::any_of(gpus.begin(),
                       gpus.end(),
                       [&](VertexId gpu) { return !vertices[gpu].peerToPeer; }) ||
           std::any_of(links.begin(), links.end(), [&](const Link& link) {
               return vertices[link.a].kind == VertexKind::CPU &&
                      vertices[link.b].kind == VertexKind::CPU &&
                      vertices[link.a].server != vertices[link.b].server;
           });
}

Cluster
ChangeCards(const Cluster& cluster, const CardChanges& changes)
{
    constexpr double MOST_LANES = 16;
    const auto& vertices = cluster.GetVertices();
    const uint32_t generation =
        changes.generation.value_or(GetCardGeneration(vertices[cluster.GetGpus().front()].model));
    return Copy(
        cluster,
        [&changes](Vertex& vertex) {
            if (vertex.kind == VertexKind::CPU)
            {
                vertex.model = changes.cpu ? ToString(*changes.cpu) : vertex.model;
                vertex.peerToPeer = changes.peers.value_or(vertex.peerToPeer);
                vertex.gpuDirectRdma = changes.peers.value_or(vertex.gpuDirectRdma);
                vertex.memoryBytesPerSecond = changes.memoryBytesPerSecond;
            }
        },
        [&](Link& link) {
            const Vertex& a = vertices[link.a];
            const Vertex& b = vertices[link.b];
            const bool isSlot = a.kind == VertexKind::GPU || b.kind == VertexKind::GPU;
            const bool isUplink = a.kind == VertexKind::CPU || b.kind == VertexKind::CPU;
            const bool hasSwitch =
                a.kind == VertexKind::PCIE_SWITCH || b.kind == VertexKind::PCIE_SWITCH;
            if (link.technology == LinkTechnology::PCIE && changes.generation &&
                (isSlot || (isUplink && hasSwitch)))
            {
                link.bytesPerSecond = PcieX16BytesPerSecond(generation) *
                                      (isSlot ? changes.lanes : MOST_LANES) / MOST_LANES;
                link.framing = DefaultFraming(link.technology, generation, a, b);
            }
            if (link.technology == LinkTechnology::CPU_INTERCONNECT)
            {
                link.bytesPerSecond =
                    GetSocketBytesPerSecond(changes.cpu.value_or(CpuVendor::AMD), generation);
            }
        });
}

} // namespace proteus
} // namespace ns3
