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

/// @param cluster to add to @param name of the switch @return its vertex
VertexId
AddSwitch(Cluster& cluster, const std::string& name)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = VertexKind::SWITCH;
    return cluster.AddVertex(vertex);
}

/// @copydoc FabricKind::join
void
JoinBySingleSwitch(Cluster& cluster,
                   const ServerPreset& preset,
                   const std::vector<std::vector<VertexId>>& nics,
                   const FabricOptions& /* options */)
{
    const VertexId theSwitch = AddSwitch(cluster, "switch0");
    for (const auto& nicsOfServer : nics)
    {
        for (VertexId nic : nicsOfServer)
        {
            AddDefaultLink(cluster,
                           nic,
                           theSwitch,
                           preset.networkTechnology,
                           preset.nicBytesPerSecond);
        }
    }
}

/// @copydoc FabricKind::join
void
JoinByLeavesAndSpines(Cluster& cluster,
                      const ServerPreset& preset,
                      const std::vector<std::vector<VertexId>>& nics,
                      const FabricOptions& options)
{
    if (!std::isfinite(options.oversubscription) || options.oversubscription < 1)
    {
        throw std::invalid_argument("leaf-spine: the oversubscription must be 1 or more");
    }
    if (options.serversPerLeaf < 1)
    {
        throw std::invalid_argument("leaf-spine: there must be at least 1 server per leaf");
    }
    if (options.spines < 1)
    {
        throw std::invalid_argument("leaf-spine: there must be at least 1 spine");
    }
    const auto nServers = static_cast<uint32_t>(nics.size());
    // Written so that the largest serversPerLeaf does not overflow.
    const uint32_t nLeaves = (nServers - 1) / options.serversPerLeaf + 1;
    std::vector<VertexId> leaves;
    for (uint32_t i = 0; i < nLeaves; ++i)
    {
        leaves.push_back(AddSwitch(cluster, "leaf" + std::to_string(i)));
    }
    for (uint32_t server = 0; server < nServers; ++server)
    {
        for (VertexId nic : nics[server])
        {
            AddDefaultLink(cluster,
                           nic,
                           leaves[server / options.serversPerLeaf],
                           preset.networkTechnology,
                           preset.nicBytesPerSecond);
        }
    }
    const double hostBytesPerSecond = static_cast<double>(options.serversPerLeaf) *
                                      static_cast<double>(nics.front().size()) *
                                      preset.nicBytesPerSecond;
    const double uplinkBytesPerSecond =
        std::round(hostBytesPerSecond / options.oversubscription / options.spines);
    for (uint32_t i = 0; i < options.spines; ++i)
    {
        const VertexId spine = AddSwitch(cluster, "spine" + std::to_string(i));
        for (VertexId leaf : leaves)
        {
            AddDefaultLink(cluster, leaf, spine, preset.networkTechnology, uplinkBytesPerSecond);
        }
    }
}

} // namespace

FabricKind
MakeSingleSwitch()
{
    return {"single-switch", &JoinBySingleSwitch};
}

FabricKind
MakeLeafSpine()
{
    return {"leaf-spine", &JoinByLeavesAndSpines};
}

} // namespace proteus
} // namespace ns3
