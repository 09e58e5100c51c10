/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_CLUSTER_H
#define PROTEUS_NCCL_CLUSTER_H

#include "proteus-nccl-options.h"

#include "ns3/proteus-cluster.h"

#include <string>

/**
 * @file
 * @ingroup proteus
 * What NCCL's options make of a cluster.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param nccl options @param cluster that collectives run on
/// @return it as NCCL takes it: with NCCL_SHM_DISABLE=1 see WithoutHostMemory()
/// @throw std::invalid_argument as that function, and for options that are wrong
Cluster MakeNcclCluster(const NcclOptions& nccl, const Cluster& cluster);

/// @ingroup proteus
/// @param nccl options @param cluster what MakeNcclCluster() made by them
/// @return a line for NCCL_SHM_DISABLE=1 where it does nothing, or empty
std::string FindIdleHostMemory(const NcclOptions& nccl, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_CLUSTER_H
