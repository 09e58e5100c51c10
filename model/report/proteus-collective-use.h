/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_USE_H
#define PROTEUS_COLLECTIVE_USE_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <functional>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How fast communication was, and how fast it could have been.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The factor from the algorithm bandwidth (bytes / time) to the bus bandwidth, which can be
 * compared with the rate of links (nccl-tests, doc/PERFORMANCE.md): 2 (n - 1) / n for all-reduce;
 * (n - 1) / n for all-gather, reduce-scatter, all-to-all, gather and scatter; 1 for broadcast,
 * reduce and send-receive.
 * @param collective a collective
 * @param ranks n, at least 1
 * @return the factor
 */
double GetBusBandwidthFactor(Collective collective, std::size_t ranks);

/**
 * @ingroup proteus
 * The bus bandwidth that links allow a group that has them for itself: the least, over its members
 * and servers, of
 *
 * - the raw rates of a GPU's links towards the members in its server, summed; those of one
 *   technology, on paths of least cost;
 * - for a group in one server, a link that parts the members, which all paths from some of them to
 *   all others go through: the uplink of a PCIe switch, or the link between two sockets together
 *   with the CPU at its end. Every ring crosses such a link once. For all-to-all, gather and
 *   scatter only the share of the bytes that crosses it counts;
 * - for a group in several servers, the raw rates of the NICs that the members in a server use,
 *   summed (each not more than the narrowest link between GPU, NIC and network). For all-to-all,
 *   gather and scatter only the share of the bytes that leaves the server counts.
 *
 * Headers are not deducted. Rings can reach this "ideal"; algorithms that reduce in switches, or
 * inside a server first, can be faster.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param collective a collective
 * @param vertices of the ranks
 * @return bytes per second; 0 for a group of one
 */
double GetIdealBusBandwidth(const Cluster& cluster,
                            const Paths& paths,
                            Collective collective,
                            const std::vector<VertexId>& vertices);

/// @ingroup proteus
/// Communications of one kind: same collective, parallelism, size, and number of ranks and servers.
struct CollectiveUse
{
    Collective collective{Collective::ALL_REDUCE}; //!< what
    Parallelism parallelism{Parallelism::NONE};    //!< for which
    uint64_t bytes{0};                             //!< as the Collective counts them
    uint32_t ranks{0};                             //!< of a group
    uint32_t servers{0};                           //!< that a group is spread over
    uint64_t count{0};                             //!< how often, all groups and micro-batches
    double meanS{0};                               //!< time from the last rank's joining to the
                                                   //!< last rank's end
    double leastS{0};                              //!< shortest such time
    double mostS{0};                               //!< longest such time
    double waitS{0};                               //!< time from a rank's joining to the last
                                                   //!< rank's; mean, posted receives left out
    double algorithmBytesPerS{0};                  //!< bytes / meanS
    double busBytesPerS{0};                        //!< that, times GetBusBandwidthFactor()
    double idealBytesPerS{0};                      //!< GetIdealBusBandwidth(), the least of groups
    double recordedMeanS{0};                       //!< RecordedCollective::meanS; 0: not recorded
    double recordedLeastS{0};                      //!< RecordedCollective::leastS; 0: not recorded
};

/**
 * @ingroup proteus
 * Sums up the communication of a run by kind.
 * @param graph that was executed
 * @param cluster that it ran on
 * @param timeline of the run
 * @param isCounted says of a phase whether its communication counts; none: all counts
 * @return the kinds, by the time that ranks spent on them (count * ranks * meanS), longest first
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
std::vector<CollectiveUse> SummarizeCollectives(const ExecutionGraph& graph,
                                                const Cluster& cluster,
                                                const Timeline& timeline,
                                                const std::function<bool(PhaseId)>& isCounted = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_USE_H
