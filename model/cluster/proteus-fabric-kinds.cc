/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return all fabrics
const std::vector<FabricKind>&
FabricKinds()
{
    static const std::vector<FabricKind> kinds{MakeSingleSwitch(),
                                               MakeLeafSpine(),
                                               MakeRailOptimised(),
                                               MakeFatTree(),
                                               MakeDragonflyPlus(),
                                               MakeTorus2d(),
                                               MakeTorus3d(),
                                               MakeNvlinkDomain()};
    return kinds;
}

/// @param name of a fabric @return it
const FabricKind&
FindFabricKind(const std::string& name)
{
    std::string known;
    for (const FabricKind& kind : FabricKinds())
    {
        if (kind.name == name)
        {
            return kind;
        }
        AppendName(known, kind.name);
    }
    throw std::invalid_argument("unknown fabric '" + name + "'; known: " + known);
}

} // namespace

FabricOptionField
OversubscriptionField()
{
    return {"oversubscription",
            "capacity towards the servers over that beyond",
            nullptr,
            &FabricOptions::oversubscription,
            1};
}

std::vector<std::string>
GetFabricKinds()
{
    std::vector<std::string> names;
    for (const FabricKind& kind : FabricKinds())
    {
        names.push_back(kind.name);
    }
    return names;
}

std::vector<FabricOptionField>
GetFabricOptionFields(const std::string& kind)
{
    return FindFabricKind(kind).options;
}

void
JoinByFabric(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    const FabricKind& kind = FindFabricKind(options.kind);
    for (const FabricOptionField& field : kind.options)
    {
        const double value =
            field.real != nullptr ? options.*field.real : static_cast<double>(options.*field.whole);
        if (!std::isfinite(value) || value < field.least)
        {
            throw std::invalid_argument(kind.name + ": " + field.name + " must be " +
                                        std::to_string(field.least) + " or more");
        }
    }
    kind.join(cluster, plugs, options);
}

void
CheckPlugs(const std::string& kind, uint64_t plugs)
{
    const uint64_t most = FindFabricKind(kind).mostPlugs;
    if (plugs > most)
    {
        throw std::invalid_argument(kind + ": joins at most " + std::to_string(most) +
                                    " NICs, and there are " + std::to_string(plugs) +
                                    "; take another fabric, or fewer servers");
    }
}

void
CheckFabricSize(const std::string& kind, uint64_t switches, uint64_t links)
{
    constexpr uint64_t MOST_SWITCHES = 1000000;
    constexpr uint64_t MOST_LINKS = 10000000;
    if (switches > MOST_SWITCHES || links > MOST_LINKS)
    {
        throw std::invalid_argument(kind + ": takes " + std::to_string(switches) +
                                    " switches and " + std::to_string(links) +
                                    " links, more than " + std::to_string(MOST_SWITCHES) + " and " +
                                    std::to_string(MOST_LINKS) + "; choose other options");
    }
}

VertexId
AddNetworkSwitch(Cluster& cluster, const std::string& name, const FabricPlugs& plugs)
{
    constexpr double HDR = 200e9 / 8;
    Vertex vertex;
    vertex.name = name;
    vertex.kind = VertexKind::SWITCH;
    vertex.multicast =
        plugs.access.technology == LinkTechnology::INFINIBAND && plugs.access.bytesPerSecond >= HDR;
    vertex.reduction = vertex.multicast;
    return cluster.AddVertex(vertex);
}

void
AddLinkLike(Cluster& cluster, VertexId a, VertexId b, const Link& like)
{
    Link link = like;
    link.a = a;
    link.b = b;
    cluster.AddLink(link);
}

void
AddLinkLike(Cluster& cluster, VertexId a, VertexId b, const Link& like, double bytesPerSecond)
{
    Link link = like;
    link.bytesPerSecond = std::max(1.0, std::round(bytesPerSecond));
    AddLinkLike(cluster, a, b, link);
}

void
JoinServers(Cluster& cluster,
            const FabricPlugs& plugs,
            const std::vector<VertexId>& leaves,
            uint32_t serversPerLeaf)
{
    for (std::size_t server = 0; server < plugs.servers.size(); ++server)
    {
        for (VertexId plug : plugs.servers[server])
        {
            AddLinkLike(cluster, plug, leaves[server / serversPerLeaf], plugs.access);
        }
    }
}

void
AddSpines(Cluster& cluster,
          const FabricPlugs& plugs,
          const std::vector<VertexId>& below,
          uint32_t spines,
          double uplink)
{
    for (uint32_t i = 0; i < spines; ++i)
    {
        const VertexId spine = AddNetworkSwitch(cluster, "spine" + std::to_string(i), plugs);
        for (VertexId leaf : below)
        {
            AddLinkLike(cluster, leaf, spine, plugs.trunk, uplink);
        }
    }
}

Cluster
MakeHostCluster(uint32_t hosts,
                const FabricOptions& fabric,
                LinkTechnology technology,
                double bytesPerSecond,
                int64_t delayPs,
                const LinkFraming& framing,
                const std::string& model)
{
    if (hosts < 1 || hosts > MAX_SERVERS)
    {
        throw std::invalid_argument("the number of hosts must be 1 to " +
                                    std::to_string(MAX_SERVERS) + ", is " + std::to_string(hosts));
    }
    Cluster cluster(std::to_string(hosts) + " hosts, " + fabric.kind);
    FabricPlugs plugs;
    plugs.access.technology = technology;
    plugs.access.bytesPerSecond = bytesPerSecond;
    plugs.access.delayPs = delayPs;
    plugs.access.framing = framing;
    plugs.access.cost = DefaultCost(technology);
    plugs.trunk = plugs.access;
    for (uint32_t host = 0; host < hosts; ++host)
    {
        Vertex vertex;
        vertex.name = "host" + std::to_string(host);
        vertex.kind = VertexKind::GPU;
        vertex.server = static_cast<int32_t>(host);
        vertex.model = model;
        plugs.servers.push_back({cluster.AddVertex(vertex)});
    }
    JoinByFabric(cluster, plugs, fabric);
    cluster.Validate();
    return cluster;
}

} // namespace proteus
} // namespace ns3
