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
    // Written so that the largest serversPerLeaf does not overflow.
    const uint32_t nLeaves = (nServers - 1) / options.serversPerLeaf + 1;
    CheckFabricSize(options.kind,
                    uint64_t{nLeaves} + options.spines,
                    uint64_t{nLeaves} * options.spines);
    std::vector<VertexId> leaves;
    for (uint32_t i = 0; i < nLeaves; ++i)
    {
        leaves.push_back(AddNetworkSwitch(cluster, "leaf" + std::to_string(i), plugs));
    }
    JoinServers(cluster, plugs, leaves, options.serversPerLeaf);
    const double uplink = options.serversPerLeaf * plugs.ServerBytesPerSecond() /
                          options.oversubscription / options.spines;
    AddSpines(cluster, plugs, leaves, options.spines, uplink);
}

} // namespace

FabricKind
MakeLeafSpine()
{
    return {"leaf-spine",
            {OversubscriptionField(),
             {"servers_per_leaf", "servers on a leaf", &FabricOptions::serversPerLeaf, nullptr, 1},
             {"spines", "number of spine switches", &FabricOptions::spines, nullptr, 1}},
            &Join};
}

} // namespace proteus
} // namespace ns3
