/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// @copydoc FabricKind::join
void
Join(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    const auto nServers = static_cast<uint32_t>(plugs.servers.size());
    const auto nRails = static_cast<uint32_t>(plugs.servers.front().size());
    const uint32_t nGroups = (nServers - 1) / options.serversPerGroup + 1;
    const uint64_t nSwitches = uint64_t{nGroups} * nRails;
    CheckFabricSize(options.kind, nSwitches + options.spines, nSwitches * options.spines);
    std::vector<VertexId> rails; // of group after group
    for (uint32_t group = 0; group < nGroups; ++group)
    {
        for (uint32_t rail = 0; rail < nRails; ++rail)
        {
            rails.push_back(
                AddNetworkSwitch(cluster,
                                 "rail" + std::to_string(group) + "." + std::to_string(rail),
                                 plugs));
        }
    }
    for (uint32_t server = 0; server < nServers; ++server)
    {
        for (uint32_t rail = 0; rail < nRails; ++rail)
        {
            AddLinkLike(cluster,
                        plugs.servers[server][rail],
                        rails[server / options.serversPerGroup * nRails + rail],
                        plugs.access);
        }
    }
    const double uplink = options.serversPerGroup * plugs.access.bytesPerSecond /
                          options.oversubscription / options.spines;
    AddSpines(cluster, plugs, rails, options.spines, uplink);
}

} // namespace

FabricKind
MakeRailOptimised()
{
    return {"rail-optimised",
            {OversubscriptionField(),
             {"servers_per_group",
              "servers that share a set of rail switches",
              &FabricOptions::serversPerGroup,
              nullptr,
              1},
             {"spines", "number of spine switches", &FabricOptions::spines, nullptr, 1}},
            &Join};
}

} // namespace proteus
} // namespace ns3
