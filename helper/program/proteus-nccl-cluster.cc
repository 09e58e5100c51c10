/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-cluster.h"

#include "ns3/proteus-cluster-changes.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-peer-reach.h"

namespace ns3
{
namespace proteus
{

Cluster
MakeNcclCluster(const NcclOptions& nccl, const Cluster& cluster)
{
    CollectivePreferences preferences;
    preferences.ncclVersion = nccl.GetVersion();
    preferences.cpuVendor = nccl.cpuVendor;
    preferences.netPlugin = nccl.netPlugin;
    preferences.variables =
        GetNcclVariables(nccl.netPlugin, nccl.variables, preferences.ncclVersion);
    return UsesHostMemory(nccl.variables)
               ? cluster
               : WithoutHostMemory(MakeTransportRules(preferences), cluster);
}

std::string
FindIdleHostMemory(const NcclOptions& nccl, const Cluster& cluster)
{
    return !UsesHostMemory(nccl.variables) && !HasPartedServers(cluster)
               ? "NCCL_SHM_DISABLE=1 has no effect: the GPUs of a server reach each "
                 "other without the memory of a host"
               : "";
}

} // namespace proteus
} // namespace ns3
