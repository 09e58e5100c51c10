/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DISTSIM_H
#define PROTEUS_DISTSIM_H

#include "proteus-distsim-events.h"

#include "ns3/proteus-device-runtime.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <functional>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * DistSim's evaluation of an iteration: every unique event is timed once, on its own, and the
 * iteration is replayed from that table. What it misses is contention.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Times one communication when nothing else is on the network and all ranks join at once.
 * @param task a communication
 * @param group its devices in rank order
 * @return by rank, when its part is done, picoseconds
 */
using IsolatedRun =
    std::function<std::vector<int64_t>(const Task& task, const std::vector<DeviceId>& group)>;

/// @ingroup proteus
/// Knobs of DistSim.
struct DistSimOptions
{
    /// All-reduces, all-gathers and reduce-scatters of more ranks are timed among so many of them,
    /// evenly chosen, and extrapolated; 0: all are timed as they are. 8 in the paper.
    uint32_t mostTimedRanks{8};
    RuntimeOptions runtime; //!< how devices issue their work
};

/// @ingroup proteus
/// What DistSim finds.
struct DistSimResult
{
    Timeline timeline;               //!< the replayed iteration
    std::vector<UniqueEvent> events; //!< what was timed
    std::vector<int64_t> eventPs;    //!< their times, picoseconds
};

/**
 * @ingroup proteus
 * By what factor a ring among more ranks takes longer: the ratio of the volumes per rank, (ranks -
 * 1) / ranks over (timed - 1) / timed.
 * @param timed ranks that were timed, at least 2
 * @param ranks that there are, at least 2
 * @return the factor
 * @throw std::invalid_argument for fewer than two
 */
double GetRingExtrapolation(uint64_t timed, uint64_t ranks);

/**
 * @ingroup proteus
 * Evaluates an iteration: times each unique event, and replays the graph with these times and no
 * other delay. Of a point-to-point transfer the shorter of the times of sender and receiver counts,
 * since the longer one includes the wait for the peer. Of a collective the time of its last rank
 * counts, from when all have joined.
 *
 * The order within the iteration is that of the graph: tensor parallelism within a layer, the
 * schedule of a stage within a pipeline, then the reduction of gradients over replicas (or beside
 * the others, where the graph overlaps it; see AppendReductions()).
 *
 * @param graph to evaluate
 * @param cluster where its devices are
 * @param run times a communication
 * @param options see there
 * @return timeline and table
 * @throw std::invalid_argument as EventCatalogue, or if a rank's time is missing or negative
 * @throw std::runtime_error if the graph cannot finish
 */
DistSimResult RunDistSim(const ExecutionGraph& graph,
                         const Cluster& cluster,
                         const IsolatedRun& run,
                         const DistSimOptions& options = DistSimOptions());

/**
 * @ingroup proteus
 * DistSim's policy for data parallelism: the reduction of gradients (all-reduce and reduce-scatter
 * of Parallelism::DATA) comes behind all kernels of its devices that do not wait for it.
 * @param graph any
 * @return the same with more dependencies
 */
ExecutionGraph AppendReductions(const ExecutionGraph& graph);

/// @ingroup proteus
/// Sizes of tensor (model), pipeline and data parallelism: xMxPxD.
struct ParallelSizes
{
    uint32_t tensor{1};   //!< M
    uint32_t pipeline{1}; //!< P
    uint32_t data{1};     //!< D

    /// @param other sizes @return whether both are the same
    bool operator==(const ParallelSizes& other) const
    {
        return tensor == other.tensor && pipeline == other.pipeline && data == other.data;
    }
};

/**
 * @ingroup proteus
 * All ways to use so many devices, with sizes that are powers of two.
 * @param devices how many
 * @return by tensor, then pipeline size; what is left is data parallel
 */
std::vector<ParallelSizes> ListParallelSizes(uint32_t devices);

/**
 * @ingroup proteus
 * @param predicted a time
 * @param actual the time that is right, above 0
 * @return |predicted - actual| / actual
 */
double GetBatchTimeError(int64_t predicted, int64_t actual);

/**
 * @ingroup proteus
 * By device, the mean distance of the starts of its spans from those of the right timeline, both
 * counted from the first start on that device, relative to the right iteration time.
 * @param predicted a timeline
 * @param actual the right one, of the same graph
 * @param nDevices of the graph
 * @return by device; 0 where a device does nothing
 * @throw std::invalid_argument if they are not of one graph
 */
std::vector<double> GetActivityErrors(const Timeline& predicted,
                                      const Timeline& actual,
                                      uint32_t nDevices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DISTSIM_H
