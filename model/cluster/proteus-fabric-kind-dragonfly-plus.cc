/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Far more links than any fabric has, and few enough to be multiplied by the number of groups.
constexpr uint64_t MOST = uint64_t{1} << 40;

/// @param name of the switches @return switches of group after group
std::vector<VertexId>
AddSwitches(Cluster& cluster,
            const FabricPlugs& plugs,
            const std::string& name,
            uint32_t nGroups,
            uint32_t perGroup)
{
    std::vector<VertexId> switches;
    for (uint32_t group = 0; group < nGroups; ++group)
    {
        for (uint32_t i = 0; i < perGroup; ++i)
        {
            switches.push_back(
                AddNetworkSwitch(cluster,
                                 name + std::to_string(group) + "." + std::to_string(i),
                                 plugs));
        }
    }
    return switches;
}

/// @copydoc FabricKind::join
void
Join(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    const auto nServers = static_cast<uint32_t>(plugs.servers.size());
    const uint32_t nLeaves = (nServers - 1) / options.serversPerLeaf + 1;
    const uint32_t nGroups = (nLeaves - 1) / options.leavesPerGroup + 1;
    const uint32_t leavesPerGroup = options.leavesPerGroup;
    const uint32_t spinesPerGroup = options.spinesPerGroup;
    CheckFabricSize(options.kind,
                    uint64_t{nGroups} * (uint64_t{leavesPerGroup} + spinesPerGroup),
                    nGroups * (std::min(uint64_t{leavesPerGroup} * spinesPerGroup, MOST) +
                               std::min(uint64_t{nGroups} * spinesPerGroup / 2, MOST)));
    const auto leaves = AddSwitches(cluster, plugs, "leaf", nGroups, leavesPerGroup);
    const auto spines = AddSwitches(cluster, plugs, "spine", nGroups, spinesPerGroup);
    JoinServers(cluster, plugs, leaves, options.serversPerLeaf);
    const double uplink = options.serversPerLeaf * plugs.ServerBytesPerSecond() /
                          options.oversubscription / spinesPerGroup;
    for (uint32_t group = 0; group < nGroups; ++group)
    {
        for (uint32_t i = 0; i < leavesPerGroup; ++i)
        {
            for (uint32_t j = 0; j < spinesPerGroup; ++j)
            {
                AddLinkLike(cluster,
                            leaves[group * leavesPerGroup + i],
                            spines[group * spinesPerGroup + j],
                            plugs.trunk,
                            uplink);
            }
        }
    }
    for (uint32_t a = 0; a < nGroups; ++a)
    {
        for (uint32_t b = a + 1; b < nGroups; ++b)
        {
            for (uint32_t i = 0; i < spinesPerGroup; ++i)
            {
                AddLinkLike(cluster,
                            spines[a * spinesPerGroup + i],
                            spines[b * spinesPerGroup + i],
                            plugs.trunk,
                            uplink * leavesPerGroup / (nGroups - 1));
            }
        }
    }
}

} // namespace

FabricKind
MakeDragonflyPlus()
{
    return {"dragonfly+",
            {OversubscriptionField(),
             {"servers_per_leaf", "servers on a leaf", &FabricOptions::serversPerLeaf, nullptr, 1},
             {"leaves_per_group",
              "leaf switches of a group",
              &FabricOptions::leavesPerGroup,
              nullptr,
              1},
             {"spines_per_group",
              "spine switches of a group",
              &FabricOptions::spinesPerGroup,
              nullptr,
              1}},
            &Join};
}

} // namespace proteus
} // namespace ns3
