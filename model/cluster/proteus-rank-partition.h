/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_PARTITION_H
#define PROTEUS_RANK_PARTITION_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Which process (MPI rank) simulates which part of a cluster.
struct RankPartition
{
    uint32_t nRanks{1};           //!< processes
    std::vector<uint32_t> rankOf; //!< by vertex
    std::vector<LinkId> cutLinks; //!< links between two ranks, ascending
    int64_t lookaheadPs{0};       //!< least delay of these
    double cutBytesPerSecond{0};  //!< their rates together, per direction
    /// Load of the heaviest rank over the mean; the load is the summed rate of network ports.
    double heaviest{1};
};

/**
 * @ingroup proteus
 * Divides a cluster among ranks. A server is never divided, nor are servers that NVLink joins, nor,
 * if the rest can be balanced to a quarter, a leaf switch from its servers. Among divisions that
 * can be balanced so, those are taken whose cut links have the largest delay, as ranks exchange
 * messages once per least delay. Servers go to ranks in their order, as neighbours stand next to
 * each other in all kinds of fabrics; every switch goes where most of its rate leads; then parts
 * are moved while that cuts less rate and keeps the balance.
 * @param cluster to divide
 * @param nRanks from 1
 * @return the division; the same for equal arguments
 * @throw std::invalid_argument if the cluster has too few parts that can be divided
 */
RankPartition PartitionCluster(const Cluster& cluster, uint32_t nRanks);

/// @ingroup proteus
/// @param partition of a cluster @param cluster the same
/// @return "64 of 3072 links cut (4 % of the rate), lookahead 500 ns, heaviest rank 1.02 of the
/// mean"
std::string Describe(const RankPartition& partition, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_PARTITION_H
