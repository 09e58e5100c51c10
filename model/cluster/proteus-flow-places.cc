/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-places.h"

namespace ns3
{
namespace proteus
{

std::vector<uint32_t>
GetFlowPlaces(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    std::vector<uint32_t> places(vertices.size());
    std::vector<uint32_t> seen(cluster.GetNServers(), 0);
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        const int32_t server = vertices[id].server;
        places[id] = server >= 0 ? seen[server]++ : id;
    }
    return places;
}

} // namespace proteus
} // namespace ns3
