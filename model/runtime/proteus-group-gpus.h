/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GROUP_GPUS_H
#define PROTEUS_GROUP_GPUS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param graph with a device per GPU @param cluster that has the GPUs @param group of devices
/// @return vertices of their GPUs, by rank in the group
std::vector<VertexId> GetGroupGpus(const ExecutionGraph& graph,
                                   const Cluster& cluster,
                                   GroupId group);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GROUP_GPUS_H
