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
Join(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& /* options */)
{
    const VertexId theSwitch = AddNetworkSwitch(cluster, "switch0", plugs);
    for (const auto& server : plugs.servers)
    {
        for (VertexId plug : server)
        {
            AddLinkLike(cluster, plug, theSwitch, plugs.access);
        }
    }
}

} // namespace

FabricKind
MakeSingleSwitch()
{
    constexpr uint64_t MOST_LINKS = 65535; // of a vertex, see Cluster::AddLink()
    return {"single-switch", {}, &Join, MOST_LINKS};
}

} // namespace proteus
} // namespace ns3
