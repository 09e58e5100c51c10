/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHANNEL_LISTING_H
#define PROTEUS_CHANNEL_LISTING_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-choice.h"

#include <ostream>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Prints what the topology search has found for a group of GPUs: how many channels of which speed
 * for rings, trees and NVLS, and the rings and trees themselves, as NCCL_DEBUG=INFO does.
 * @param cluster where the GPUs are
 * @param vertices of the ranks
 * @param channels of rings and trees to print; 0: those that large sizes take
 * @param preferences with version of NCCL and vendor of the CPUs
 * @param out where to
 */
void PrintChannels(const Cluster& cluster,
                   const std::vector<VertexId>& vertices,
                   uint32_t channels,
                   const CollectivePreferences& preferences,
                   std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHANNEL_LISTING_H
