/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport-rules.h"

#include "proteus-connection.h"

#include "ns3/proteus-cpu-vendor.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

// Versions of NCCL in which a rule begins.
constexpr uint32_t FIRST_STOPS_AT_INTEL = 209;
constexpr uint32_t FIRST_STOPS_AT_AMD = 223;

/// @param rules of transports @param cluster with the GPU @param gpu one of a server
/// @return the worst way by which NCCL lets it reach others of the server
PathType
GetUsualLevel(const TransportRules& rules, const Cluster& cluster, VertexId gpu)
{
    const CpuVendor vendor = rules.cpuVendor.empty() ? FindCpuVendor(cluster, {gpu})
                                                     : CpuVendorFromString(rules.cpuVendor);
    if (rules.version < FIRST_STOPS_AT_AMD &&
        (vendor == CpuVendor::AMD || vendor == CpuVendor::POWER))
    {
        return PathType::SYS;
    }
    if (rules.version < FIRST_STOPS_AT_INTEL && vendor == CpuVendor::INTEL)
    {
        return PathType::PHB;
    }
    const auto& gpus = cluster.GetGpus();
    const auto isBeside = [&](VertexId other) {
        return cluster.GetVertices()[other].server == cluster.GetVertices()[gpu].server;
    };
    return vendor == CpuVendor::AMD && std::count_if(gpus.begin(), gpus.end(), isBeside) <= 2
               ? PathType::SYS
               : PathType::PXB;
}

} // namespace

bool
AllowsPeerToPeer(const TransportRules& rules,
                 const Cluster& cluster,
                 const Paths& paths,
                 VertexId a,
                 VertexId b)
{
    if (!rules.peerToPeer)
    {
        const VertexId near = FindNearestCpu(cluster, paths, a);
        const VertexId far = FindNearestCpu(cluster, paths, b);
        if (near != far && paths.Distance(near, far) == Paths::UNREACHABLE)
        {
            throw std::invalid_argument("NCCL_P2P_DISABLE, or NCCL_P2P_LEVEL=LOC: GPUs of one "
                                        "domain of NVLink that have no host in common would take "
                                        "the network, which is not modelled");
        }
        return false;
    }
    const PathType type = FindPathType(cluster, paths, a, b);
    if (rules.p2pLevel)
    {
        return type <= *rules.p2pLevel;
    }
    // Who made the CPU takes time to find, and counts only where one is on the way.
    return type <= PathType::PXB || type <= GetUsualLevel(rules, cluster, a);
}

} // namespace proteus
} // namespace ns3
