/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-preset.h"

#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return all server presets
const std::vector<ServerPreset>&
ServerPresets()
{
    static const std::vector<ServerPreset> presets{MakeDgx1V100(), MakeDgxA100(), MakeDgxH100()};
    return presets;
}

/// @return all fabrics
const std::vector<FabricKind>&
FabricKinds()
{
    static const std::vector<FabricKind> kinds{MakeSingleSwitch(), MakeLeafSpine()};
    return kinds;
}

/// @param entries of a table @return their names
template <typename T>
std::vector<std::string>
Names(const std::vector<T>& entries)
{
    std::vector<std::string> names;
    for (const T& entry : entries)
    {
        names.push_back(entry.name);
    }
    return names;
}

/**
 * @param what the table lists, for the message
 * @param entries of a table
 * @param name to find
 * @return the entry
 */
template <typename T>
const T&
Find(const std::string& what, const std::vector<T>& entries, const std::string& name)
{
    for (const T& entry : entries)
    {
        if (entry.name == name)
        {
            return entry;
        }
    }
    std::string message = "unknown " + what + " '" + name + "'; known:";
    const char* separator = " ";
    for (const T& entry : entries)
    {
        message += separator + entry.name;
        separator = ", ";
    }
    throw std::invalid_argument(message);
}

} // namespace

double
PcieX16BytesPerSecond(uint32_t generation)
{
    if (generation < 3 || generation > 5)
    {
        throw std::invalid_argument("PCI Express generation " + std::to_string(generation) +
                                    " is not one of 3, 4, 5");
    }
    const double transfersPerSecond = 8e9 * (1u << (generation - 3));
    return std::round(transfersPerSecond * 16 / 8 * 128 / 130);
}

std::vector<VertexId>
AddServerVertices(Cluster& cluster,
                  uint32_t server,
                  VertexKind kind,
                  uint32_t count,
                  const std::string& model)
{
    const std::string stem = kind == VertexKind::PCIE_SWITCH ? "pcie" : ToString(kind);
    std::vector<VertexId> ids;
    for (uint32_t i = 0; i < count; ++i)
    {
        Vertex vertex;
        vertex.name = "n" + std::to_string(server) + "." + stem + std::to_string(i);
        vertex.kind = kind;
        vertex.server = static_cast<int32_t>(server);
        vertex.model = model;
        ids.push_back(cluster.AddVertex(vertex));
    }
    return ids;
}

void
AddDefaultLink(Cluster& cluster,
               VertexId a,
               VertexId b,
               LinkTechnology technology,
               double bytesPerSecond)
{
    Link link;
    link.a = a;
    link.b = b;
    link.technology = technology;
    link.bytesPerSecond = bytesPerSecond;
    link.delayPs = DefaultDelayPs(technology);
    link.framing = DefaultFraming(technology);
    link.cost = DefaultCost(technology);
    cluster.AddLink(link);
}

std::vector<std::string>
GetServerPresets()
{
    return Names(ServerPresets());
}

std::vector<std::string>
GetFabricKinds()
{
    return Names(FabricKinds());
}

Cluster
MakeCluster(const std::string& preset, uint32_t servers, const FabricOptions& fabric)
{
    const ServerPreset& serverPreset = Find("server preset", ServerPresets(), preset);
    const FabricKind& fabricKind = Find("fabric", FabricKinds(), fabric.kind);
    if (servers < 1 || servers > MAX_SERVERS)
    {
        throw std::invalid_argument("the number of servers must be 1 to " +
                                    std::to_string(MAX_SERVERS) + ", is " +
                                    std::to_string(servers));
    }
    Cluster cluster(std::to_string(servers) + " x " + preset +
                    (servers > 1 ? ", " + fabric.kind : ""));
    std::vector<std::vector<VertexId>> nics;
    for (uint32_t server = 0; server < servers; ++server)
    {
        nics.push_back(serverPreset.build(cluster, server));
    }
    if (servers > 1)
    {
        fabricKind.join(cluster, serverPreset, nics, fabric);
    }
    cluster.Validate();
    return cluster;
}

} // namespace proteus
} // namespace ns3
