/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-hosts.h"

#include "proteus-gpu-model.h"
#include "proteus-paths.h"
#include "proteus-server-preset.h"

#include "ns3/proteus-registry.h"

#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

const char* const DEFAULT_SERVER_CPU = "Xeon-E5-2690-v4";

namespace
{

/// How a server is plugged in.
struct Plug
{
    std::set<VertexId> switches;  //!< that have NICs
    std::optional<Link> network;  //!< of the first NIC, to its switch
    std::optional<Link> computer; //!< of the same NIC, into its server
};

/// @param cluster to look at @return how its servers are plugged in
Plug
FindPlug(const Cluster& cluster)
{
    Plug plug;
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        if (cluster.GetVertices()[id].kind != VertexKind::NIC)
        {
            continue;
        }
        std::optional<Link> network;
        std::optional<Link> computer;
        for (const Port& port : cluster.GetPorts(id))
        {
            const bool isSwitch = cluster.GetVertices()[port.neighbor].kind == VertexKind::SWITCH;
            (isSwitch ? network : computer) = cluster.GetLinks()[port.link];
            if (isSwitch)
            {
                plug.switches.insert(port.neighbor);
            }
        }
        if (network && computer && !plug.network)
        {
            plug.network = network;
            plug.computer = computer;
        }
    }
    return plug;
}

/// Adds a link that is like another one. @param cluster to add to @param like which
/// @param a one end @param b the other end
void
AddLinkLike(Cluster& cluster, Link like, VertexId a, VertexId b)
{
    like.a = a;
    like.b = b;
    cluster.AddLink(like);
}

/// @param cluster to look at @param server of it
/// @return the CPU that is nearest to its first GPU
/// @throw std::invalid_argument if it has none
VertexId
FindFirstSocket(const Cluster& cluster, const Paths& paths, int32_t server)
{
    const auto& vertices = cluster.GetVertices();
    VertexId gpu = Cluster::NO_VERTEX;
    VertexId nearest = Cluster::NO_VERTEX;
    for (VertexId id = 0; id < vertices.size() && gpu == Cluster::NO_VERTEX; ++id)
    {
        gpu = vertices[id].server == server && vertices[id].kind == VertexKind::GPU ? id : gpu;
    }
    for (VertexId id = 0; id < vertices.size() && gpu != Cluster::NO_VERTEX; ++id)
    {
        const bool isHere = vertices[id].server == server && vertices[id].kind == VertexKind::CPU;
        if (isHere && (nearest == Cluster::NO_VERTEX ||
                       paths.Distance(gpu, id) < paths.Distance(gpu, nearest)))
        {
            nearest = id;
        }
    }
    if (nearest == Cluster::NO_VERTEX)
    {
        throw std::invalid_argument("sums in the memory of hosts: server " +
                                    std::to_string(server) + " of cluster '" + cluster.GetName() +
                                    "' has no GPU with a CPU; add a CPU to the cluster, or take "
                                    "--hostAggregation=gpu");
    }
    return nearest;
}

} // namespace

void
AddServerHosts(Cluster& cluster, uint32_t hosts, const std::string& cpu)
{
    const Plug plug = FindPlug(cluster);
    if (!plug.network)
    {
        throw std::invalid_argument("parameter servers on hosts of their own: cluster '" +
                                    cluster.GetName() +
                                    "' has no network that they could be plugged into; take "
                                    "--nodes=2 or more, or servers on the workers' hosts");
    }
    const std::vector<VertexId> switches(plug.switches.begin(), plug.switches.end());
    const double memoryBytesPerSecond = FindGpuDatasheet(cpu).memoryBytesPerSecond;
    for (uint32_t i = 0; i < hosts; ++i)
    {
        const uint32_t server = cluster.GetNServers();
        const VertexId cores = AddServerVertices(cluster, server, MakeGpu(cpu), 1).front();
        const VertexId root = AddServerVertices(cluster, server, MakeCpu(0), 1).front();
        const VertexId nic = AddServerVertices(cluster, server, VertexKind::NIC, 1).front();
        AddDefaultLink(cluster,
                       cores,
                       root,
                       LinkTechnology::CPU_INTERCONNECT,
                       memoryBytesPerSecond);
        AddLinkLike(cluster, *plug.computer, nic, root);
        AddLinkLike(cluster, *plug.network, nic, switches[i % switches.size()]);
    }
}

void
AddHostMemories(Cluster& cluster, const std::vector<int32_t>& servers, const std::string& cpu)
{
    std::vector<VertexId> sockets;
    {
        const Paths paths(cluster);
        for (const int32_t server : servers)
        {
            sockets.push_back(FindFirstSocket(cluster, paths, server));
        }
    }
    const double memoryBytesPerSecond = FindGpuDatasheet(cpu).memoryBytesPerSecond;
    for (const VertexId socket : sockets)
    {
        Vertex memory = MakeGpu(cpu);
        memory.name = cluster.GetVertices()[socket].name + ".memory";
        memory.server = cluster.GetVertices()[socket].server;
        AddDefaultLink(cluster,
                       cluster.AddVertex(memory),
                       socket,
                       LinkTechnology::CPU_INTERCONNECT,
                       memoryBytesPerSecond);
    }
}

bool
IsHostMemory(const Vertex& vertex)
{
    // What can be seen at once comes first: this is asked for packets.
    if (vertex.kind != VertexKind::GPU || vertex.smCopyBytesPerSecond > 0)
    {
        return false;
    }
    const GpuModel* model = Registry<GpuModel>::Get().Find(vertex.model);
    return model != nullptr && model->isCpu;
}

bool
HasStagingMemory(const Vertex& vertex)
{
    return vertex.kind == VertexKind::GPU || vertex.kind == VertexKind::CPU;
}

bool
MovesWithoutKernel(const Cluster& cluster, VertexId from, VertexId to)
{
    const Vertex& a = cluster.GetVertices()[from];
    const Vertex& b = cluster.GetVertices()[to];
    const bool isFromMemory = IsHostMemory(a);
    const bool isToMemory = IsHostMemory(b);
    return (isFromMemory && isToMemory) || ((isFromMemory || isToMemory) && a.server == b.server);
}

double
GetAggregationRate(const std::string& cpu)
{
    return FindGpuDatasheet(cpu).memoryBytesPerSecond / TRAFFIC_OF_SUM;
}

} // namespace proteus
} // namespace ns3
