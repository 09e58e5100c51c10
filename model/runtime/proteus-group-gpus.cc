/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-group-gpus.h"

namespace ns3
{
namespace proteus
{

std::vector<VertexId>
GetGroupGpus(const ExecutionGraph& graph, const Cluster& cluster, GroupId group)
{
    std::vector<VertexId> gpus;
    for (const DeviceId device : graph.GetGroup(group))
    {
        gpus.push_back(cluster.GetGpus()[device]);
    }
    return gpus;
}

} // namespace proteus
} // namespace ns3
