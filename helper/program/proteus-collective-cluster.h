/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_CLUSTER_H
#define PROTEUS_COLLECTIVE_CLUSTER_H

#include "proteus-collective-program.h"

#include "ns3/proteus-cluster.h"

/**
 * @file
 * @ingroup proteus
 * The cluster of proteus-collective.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param typed options of proteus-collective
 * @param options the same with what a log says; NCCL_SHM_DISABLE=1 of a log is named and taken out
 * where the cluster cannot honour it
 * @return the cluster, see MakeNcclCluster()
 * @throw std::invalid_argument as MakeNcclCluster() for what was typed, or if NCCL takes the CPUs
 * of a server for servers, and a process has several GPUs or not all GPUs take part
 */
Cluster MakeCollectiveCluster(const CollectiveProgramOptions& typed,
                              CollectiveProgramOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_CLUSTER_H
