/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-hosts.h"

#include "proteus-gpu-model.h"
#include "proteus-server-preset.h"

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

double
GetAggregationRate(const std::string& cpu)
{
    constexpr double BYTES_PER_BYTE = 3; // two read, one written
    return FindGpuDatasheet(cpu).memoryBytesPerSecond / BYTES_PER_BYTE;
}

} // namespace proteus
} // namespace ns3
