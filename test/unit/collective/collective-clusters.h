/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_CLUSTERS_H
#define PROTEUS_COLLECTIVE_CLUSTERS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Clusters for the tests of collectives.
 */

/**
 * Servers of GPUs on one NVSwitch, each with a NIC of its own on one network switch.
 * @param servers how many
 * @param gpus of each
 * @param reducing whether the switches copy and combine
 * @return the cluster
 */
inline ns3::proteus::Cluster
MakeReducingCluster(uint32_t servers, uint32_t gpus, bool reducing = true)
{
    using namespace ns3::proteus;
    Cluster cluster("reducing");
    Vertex spine;
    spine.name = "switch";
    spine.kind = VertexKind::SWITCH;
    spine.multicast = reducing;
    spine.reduction = reducing;
    const VertexId top = cluster.AddVertex(spine);
    const auto add = [&](VertexKind kind, const std::string& name, uint32_t server) {
        Vertex vertex;
        vertex.kind = kind;
        vertex.name = "n" + std::to_string(server) + "." + name;
        vertex.server = static_cast<int32_t>(server);
        vertex.multicast = reducing && kind == VertexKind::NVSWITCH;
        vertex.reduction = vertex.multicast;
        return cluster.AddVertex(vertex);
    };
    const auto join = [&](VertexId a, VertexId b, LinkTechnology technology, double rate) {
        Link link;
        link.a = a;
        link.b = b;
        link.technology = technology;
        link.bytesPerSecond = rate;
        link.cost = DefaultCost(technology);
        cluster.AddLink(link);
    };
    for (uint32_t server = 0; server < servers; ++server)
    {
        const VertexId hub = add(VertexKind::NVSWITCH, "nvswitch0", server);
        for (uint32_t i = 0; i < gpus; ++i)
        {
            const VertexId gpu = add(VertexKind::GPU, "gpu" + std::to_string(i), server);
            const VertexId nic = add(VertexKind::NIC, "nic" + std::to_string(i), server);
            join(gpu, hub, LinkTechnology::NVLINK, 450e9);
            join(gpu, nic, LinkTechnology::PCIE, 63e9);
            join(nic, top, LinkTechnology::INFINIBAND, 50e9);
        }
    }
    return cluster;
}

/// @param cluster a cluster @param n how many @return its first GPUs
inline std::vector<ns3::proteus::VertexId>
FirstGpus(const ns3::proteus::Cluster& cluster, uint32_t n)
{
    return {cluster.GetGpus().begin(), cluster.GetGpus().begin() + n};
}

/// All collectives of a group of any size.
inline const std::vector<ns3::proteus::Collective>&
GroupCollectives()
{
    using ns3::proteus::Collective;
    static const std::vector<Collective> all{Collective::ALL_REDUCE,
                                             Collective::ALL_GATHER,
                                             Collective::REDUCE_SCATTER,
                                             Collective::BROADCAST,
                                             Collective::REDUCE,
                                             Collective::GATHER,
                                             Collective::SCATTER,
                                             Collective::ALL_TO_ALL};
    return all;
}

#endif // PROTEUS_COLLECTIVE_CLUSTERS_H
