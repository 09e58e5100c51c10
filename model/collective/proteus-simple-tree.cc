/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-simple-tree.h"

#include "proteus-algorithms.h"
#include "proteus-path-type.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nic-table.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t HOPPER = 90;

/// @param cluster with the GPUs @param paths of it @param nics of the GPUs @param gpus of a server
/// @return whether some GPU has a NIC for itself, and the others a longer way to it
bool
HasLoneNic(const Cluster& cluster,
           const Paths& paths,
           const NicTable& nics,
           const std::vector<VertexId>& gpus)
{
    return std::any_of(gpus.begin(), gpus.end(), [&](VertexId gpu) {
        const VertexId nic = nics.Get(gpu, 0);
        if (nic == Cluster::NO_VERTEX)
        {
            return false;
        }
        const PathType own = FindPathType(cluster, paths, gpu, nic);
        return std::none_of(gpus.begin(), gpus.end(), [&](VertexId other) {
            return other != gpu && FindPathType(cluster, paths, other, nic) <= own;
        });
    });
}

} // namespace

bool
HasSimpleTree(const Cluster& cluster,
              const Paths& paths,
              const std::vector<VertexId>& vertices,
              bool pxn)
{
    const auto servers = GroupByServer(cluster, vertices);
    const NicTable nics(cluster, pxn);
    if (servers.size() < 2 || nics.Get(vertices.front(), 0) == Cluster::NO_VERTEX)
    {
        return false;
    }
    const bool isHopper =
        FindComputeCapability(cluster.GetVertices()[vertices.front()].model) >= HOPPER;
    std::set<std::vector<uint32_t>> seen; // servers are alike if the same GPUs of them take part
    return std::any_of(servers.begin(), servers.end(), [&](const auto& members) {
        std::vector<VertexId> gpus;
        std::vector<uint32_t> places;
        for (const uint32_t rank : members)
        {
            gpus.push_back(vertices[rank]);
            places.push_back(cluster.GetVertices()[vertices[rank]].index);
        }
        return seen.insert(places).second &&
               (gpus.size() == 1 || (isHopper && HasLoneNic(cluster, paths, nics, gpus)));
    });
}

} // namespace proteus
} // namespace ns3
