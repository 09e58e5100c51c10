/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-cluster.h"

#include "proteus-name-lists.h"
#include "proteus-nccl-cluster.h"
#include "proteus-program-options.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-nccl-variables.h"
#include "ns3/proteus-peer-reach.h"
#include "ns3/proteus-warning.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param options of the program @param whole cluster @return it as NCCL takes it
/// @throw std::invalid_argument see MakeCollectiveCluster()
Cluster
MakePartedCluster(const CollectiveProgramOptions& options, const Cluster& whole)
{
    const Cluster cluster = MakeNcclCluster(options.nccl, whole);
    const auto gpus = static_cast<int64_t>(cluster.GetGpus().size());
    const bool isWhole = options.gpus == 0 || options.gpus == gpus;
    if (cluster.GetNServers() > whole.GetNServers() &&
        (!isWhole || options.launchMode == "one-process"))
    {
        throw std::invalid_argument("NCCL_SHM_DISABLE=1 makes each CPU a server here, where all " +
                                    std::to_string(gpus) +
                                    " GPUs have to take part, each by a process of its own");
    }
    return cluster;
}

/// @param variables of NCCL's environment @return those but NCCL_SHM_DISABLE
std::string
WithoutShmDisable(const std::string& variables)
{
    std::string others;
    for (const auto& [name, value] : SplitNcclVariables(variables))
    {
        if (name != "NCCL_SHM_DISABLE")
        {
            others += (others.empty() ? "" : ",") + name + "=" + value;
        }
    }
    return others;
}

} // namespace

Cluster
MakeCollectiveCluster(const CollectiveProgramOptions& typed, CollectiveProgramOptions& options)
{
    const Cluster whole = LoadCluster(FindClusterName(options.cluster),
                                      ToCount(options.nodes, "nodes", 0, MAX_SERVERS),
                                      options.fabric.GetOptions());
    try
    {
        return MakePartedCluster(options, whole);
    }
    catch (const std::invalid_argument& error)
    {
        const bool isOfLog =
            UsesHostMemory(typed.nccl.variables) && !UsesHostMemory(options.nccl.variables);
        if (!isOfLog)
        {
            throw;
        }
        Warn(options.measured +
             ": says NCCL_SHM_DISABLE=1, which is left after all: " + error.what());
        options.nccl.variables = WithoutShmDisable(options.nccl.variables);
        return whole;
    }
}

} // namespace proteus
} // namespace ns3
