/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASSIC_RING_H
#define PROTEUS_CLASSIC_RING_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-nccl-cost.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The rings that NCCL 2.10.3 finds for a group of GPUs, on which the cost model of Proteus (Duan et
 * al., IEEE TPDS 2024) stands. SearchRings() does the same for today's NCCL. The two differ in the
 * rates of links, in the speeds that are tried, and in that the old search tries every order of the
 * GPUs.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Builds one of the clusters that Proteus was published with: servers of two sockets, with two PCI
 * Express switches each, with two GPUs each.
 *
 * - titanxp: TITAN Xp without NVLink, one server, Broadwell; 1 Gb/s Ethernet at the second socket.
 * - 1080_1ib: such GPUs without NVLink, Broadwell, 56 Gb/s at the first socket. Its GTX 1080 has
 *   no data sheet here; the TITAN Xp, of the same generation, stands for it.
 * - dgx1_1ib: V100 in a hybrid cube mesh, Skylake, 100 Gb/s below the second switch.
 * - dgx1_2ib: V100 in a hybrid cube mesh in another order, 600 Gb/s below the first and the third
 *   switch. Its socket link has Broadwell's rate.
 *
 * The NVLinks follow from the rings that were published for eight GPUs: each link is on one ring
 * per direction, so six rings of 22 GB/s use all six links of every GPU.
 *
 * @param name one of the above
 * @param servers how many
 * @param gpus per server, the first ones: 1, 2, 4 or 8
 * @return the cluster; its servers are joined by one switch
 * @throw std::invalid_argument for another name or number
 */
Cluster MakeClassicCluster(const std::string& name, uint32_t servers, uint32_t gpus = 8);

/// @ingroup proteus
/// @return names that MakeClassicCluster() knows
std::vector<std::string> GetClassicClusters();

/**
 * @ingroup proteus
 * Searches as NVIDIA/nccl v2.10.3-1 does (src/graph/search.cc, paths.cc, topo.h). It tries the
 * speeds of a list from the highest down, and for each speed the best kinds of ways first. For
 * these it finds orders of the GPUs by backtracking, for at most 16 channels. It ends when all
 * links of a GPU are in use, or when speeds are below half of the best. NICs do not read the memory
 * of GPUs before Ampere (gdr="0" in the published cluster files).
 *
 * The backtracking ends after 16384 steps, as in NCCL. Where several rings are equally good,
 * another one than NCCL's may be found, since NCCL's order of trials is not followed in all detail.
 * All published rows are reproduced.
 *
 * @param cluster where the GPUs are
 * @param gpus vertices of the ranks, two or more
 * @return the pattern; of servers with different ranks the least of all. computeCapability is found
 * from the model of the GPUs
 * @throw std::invalid_argument for fewer than two GPUs
 */
NcclPattern SearchClassicRing(const Cluster& cluster, const std::vector<VertexId>& gpus);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASSIC_RING_H
