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

/**
 * @ingroup proteus
 * How much lookahead a division of a cluster can have at most. What one rank knows, another one
 * knows within the lookahead of the division: so whatever waits for news of other vertices for as
 * long as this says does not depend on how a cluster is divided.
 */
class LookaheadBounds
{
  public:
    /// @param cluster that may be divided
    explicit LookaheadBounds(const Cluster& cluster);

    /**
     * @param vertices of the cluster
     * @return lookahead in picoseconds of a division that divides these vertices, at most: network
     * links of at most that delay join them, of which it has to cut one. 0: PartitionCluster()
     * never divides them.
     */
    int64_t Get(const std::vector<VertexId>& vertices) const;

  private:
    /// @return delay of the longest link between two vertices, on the way on which that is shortest
    int64_t Get(VertexId a, VertexId b) const;

    /// A tree per part of the cluster: delays do not fall on the way to the root.
    std::vector<VertexId> m_parents;
    std::vector<int64_t> m_delaysPs; //!< by vertex: longest link between it and its parent
};

/// @ingroup proteus
/// @param partition of a cluster @param cluster the same
/// @return "64 of 3072 links cut (4 % of the rate), lookahead 500 ns, heaviest rank 1.02 of the
/// mean"
std::string Describe(const RankPartition& partition, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_PARTITION_H
