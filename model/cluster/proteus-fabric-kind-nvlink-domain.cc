/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @copydoc FabricKind::join
void
Join(Cluster& cluster, const FabricPlugs& /* plugs */, const FabricOptions& options)
{
    // The second level copies and combines if the first one does: both are of one generation.
    std::map<uint32_t, std::vector<VertexId>> planes; // NVSwitches of all servers, by index
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        if (cluster.GetVertices()[id].kind == VertexKind::NVSWITCH)
        {
            planes[cluster.GetVertices()[id].index].push_back(id);
        }
    }
    if (planes.empty())
    {
        throw std::invalid_argument("nvlink-domain: the servers have no NVSwitch");
    }
    CheckFabricSize(options.kind,
                    planes.size() * uint64_t{options.spines},
                    planes.size() * planes.begin()->second.size() * uint64_t{options.spines});
    for (const auto& [plane, nvswitches] : planes)
    {
        for (uint32_t i = 0; i < options.spines; ++i)
        {
            Vertex vertex = cluster.GetVertices()[nvswitches.front()];
            vertex.name = "nvspine" + std::to_string(plane) + "." + std::to_string(i);
            vertex.server = -1;
            const VertexId spine = cluster.AddVertex(vertex);
            for (VertexId nvswitch : nvswitches)
            {
                double down = 0;
                Link like;
                for (const Port& port : cluster.GetPorts(nvswitch))
                {
                    if (cluster.GetVertices()[port.neighbor].kind == VertexKind::GPU)
                    {
                        like = cluster.GetLinks()[port.link];
                        down += like.bytesPerSecond;
                    }
                }
                AddLinkLike(cluster,
                            nvswitch,
                            spine,
                            like,
                            down / options.oversubscription / options.spines);
            }
        }
    }
}

} // namespace

FabricKind
MakeNvlinkDomain()
{
    return {"nvlink-domain",
            {OversubscriptionField(),
             {"spines",
              "NVSwitches of the second level for each of a server",
              &FabricOptions::spines,
              nullptr,
              1}},
            &Join};
}

} // namespace proteus
} // namespace ns3
