/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport-rules.h"

#include "proteus-connection.h"

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <map>
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
constexpr uint32_t FIRST_READS_FROM_AMPERE = 219;

constexpr uint32_t AMPERE = 80; // the compute capability, ten times

/// @param rules of transports @param cluster with the GPU @param gpu one of a server
/// @return the worst way by which NCCL lets it reach others of the server
PathType
GetUsualLevel(const TransportRules& rules, const Cluster& cluster, VertexId gpu)
{
    const CpuVendor vendor = FindCpuVendor(rules.cpuVendor, cluster, {gpu});
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

/// @param rules of transports @param model of a GPU @return whether NICs read from it whatever GPUs
/// are beside it; GPUs of unknown models are taken to be new
bool
AlwaysReads(const TransportRules& rules, const std::string& model)
{
    const uint32_t capability = FindComputeCapability(model);
    return rules.version >= FIRST_READS_FROM_AMPERE && (capability == 0 || capability >= AMPERE);
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

std::vector<bool>
ListGdrReads(const TransportRules& rules,
             const Cluster& cluster,
             const Paths& paths,
             const std::vector<DeviceId>& group)
{
    std::vector<bool> reads(group.size(), rules.gdrRead.value_or(true));
    const auto& vertices = cluster.GetVertices();
    const auto gpuOf = [&](uint32_t rank) { return cluster.GetGpus()[group[rank]]; };
    if (rules.gdrRead || group.empty() || AlwaysReads(rules, vertices[gpuOf(0)].model))
    {
        return reads; // servers are alike, as NCCL takes them to be
    }
    std::map<int32_t, std::vector<VertexId>> gpusOf;
    for (uint32_t rank = 0; rank < group.size(); ++rank)
    {
        gpusOf[cluster.GetDomain(gpuOf(rank))].push_back(gpuOf(rank));
    }
    for (uint32_t rank = 0; rank < group.size(); ++rank)
    {
        const VertexId gpu = gpuOf(rank);
        const auto& gpus = gpusOf.at(cluster.GetDomain(gpu));
        reads[rank] =
            gpus.size() == 1 || std::any_of(gpus.begin(), gpus.end(), [&](VertexId other) {
                return other != gpu && rules.peerToPeer &&
                       FindPathType(cluster, paths, gpu, other) == PathType::NVL;
            });
    }
    return reads;
}

} // namespace proteus
} // namespace ns3
