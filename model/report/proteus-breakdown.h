/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BREAKDOWN_H
#define PROTEUS_BREAKDOWN_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the devices spent the iteration on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Number of values of Parallelism.
constexpr std::size_t N_PARALLELISMS = static_cast<std::size_t>(Parallelism::EXPERT) + 1;

/// @ingroup proteus
/// The parallelism that a moment counts for while several communicate: the first one in this list.
/// The first ones serve one operator, and the device cannot go on without them; the last ones are
/// meant to be hidden behind other work.
constexpr std::array<Parallelism, N_PARALLELISMS> EXPOSURE_PRIORITY{Parallelism::TENSOR,
                                                                    Parallelism::SEQUENCE,
                                                                    Parallelism::CONTEXT,
                                                                    Parallelism::EXPERT,
                                                                    Parallelism::PIPELINE,
                                                                    Parallelism::EMBEDDING,
                                                                    Parallelism::DATA,
                                                                    Parallelism::NONE};

/**
 * @ingroup proteus
 * Where the time of one device went, from 0 to the end of the timeline or between two moments of
 * it, in picoseconds.
 * computePs + GetExposedPs() + GetWaitingPs() + bubblePs + hostPs + idlePs = totalPs, exactly.
 */
struct DeviceBreakdown
{
    int64_t computePs{0}; //!< a compute task runs on the GPU
    /// no compute task runs, bytes of a communication move; by Parallelism
    std::array<int64_t, N_PARALLELISMS> exposedPs{};
    /// neither, and a communication of no pipeline waits for other ranks to join; by Parallelism
    std::array<int64_t, N_PARALLELISMS> waitingPs{};
    int64_t bubblePs{0};        //!< none of these, and another stage of a pipeline is waited for
    int64_t hostPs{0};          //!< none of these, and a task of the host runs
    int64_t idlePs{0};          //!< none of these
    int64_t totalPs{0};         //!< all of these
    int64_t communicationPs{0}; //!< bytes of a communication move, whether or not exposed
    int64_t activityPs{0};      //!< from the begin of the first kernel to the end of the last
    int64_t occupiedPs{0}; //!< a kernel is there: compute, or a communication, which spins while
                           //!< it waits; a posted receive is none before bytes move
    int64_t communicationKernelPs{0}; //!< a kernel of a communication is there
    int64_t overlapPs{0};             //!< of that: a compute task runs meanwhile

    /// @return time between the first and the last kernel with none: what profilers that know
    /// nothing but kernels call idle
    int64_t GetIdleBetweenPs() const
    {
        return activityPs - occupiedPs;
    }

    /// @return time exposed to communication of any parallelism
    int64_t GetExposedPs() const;

    /// @param parallelism of the communication @return time exposed to it
    int64_t GetExposedPs(Parallelism parallelism) const
    {
        return exposedPs[static_cast<std::size_t>(parallelism)];
    }

    /// @return time that the device waits for other ranks to join, the bubble left out
    int64_t GetWaitingPs() const;

    /// @param parallelism of the communication @return time that it waits for other ranks
    int64_t GetWaitingPs(Parallelism parallelism) const
    {
        return waitingPs[static_cast<std::size_t>(parallelism)];
    }
};

/// @ingroup proteus
/// Mean of the breakdowns of several devices, in seconds; see DeviceBreakdown.
struct MeanBreakdown
{
    double computeS{0};                            //!< a compute task runs
    std::array<double, N_PARALLELISMS> exposedS{}; //!< bytes move; by Parallelism
    double exposedCommunicationS{0};               //!< sum of exposedS
    std::array<double, N_PARALLELISMS> waitingS{}; //!< for other ranks to join; by Parallelism
    double waitingForPeersS{0};                    //!< sum of waitingS
    double bubbleS{0};                             //!< another stage of a pipeline is waited for
    double hostS{0};                               //!< a task of the host runs
    double idleS{0};                               //!< none of these
    double totalS{0};                              //!< all of these
    double communicationS{0};                      //!< bytes move, whether or not exposed
};

/**
 * @ingroup proteus
 * Divides the time of every device, from 0 to timeline.endPs, without remainder. Of what happens at
 * a moment, the first of these counts:
 *
 * - **compute**: a compute task runs on the GPU;
 * - **exposed communication**: a communication of the device that all its ranks have joined is in
 *   flight, so that bytes move; counted for one Parallelism, the first in EXPOSURE_PRIORITY;
 * - **waiting for peers**: the device has joined a communication that others have not, as a
 *   profiler shows by a kernel that spins; counted for one Parallelism alike;
 * - **bubble**: the same for a transfer between stages of a pipeline, on either side of it;
 * - **host**: a task on a stream of the host runs;
 * - **bubble** as well, in a graph with such transfers: the device has nothing to do before its
 *   first or after its last work, while other stages have;
 * - **idle**: nothing of this.
 *
 * With p stages whose forward and backward pass of a micro-batch take f and b, and transfers in no
 * time, the bubble of every stage is (p - 1) (f + b) in GPipe's and in the 1F1B schedule (Narayanan
 * et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC 2021,
 * section 2.2).
 *
 * @param graph that was executed
 * @param timeline of it
 * @return by device
 * @throw std::invalid_argument if the timeline is not one of the graph: a span of a device or task
 * that the graph does not have, outside 0 to endPs, or a send without its receive or the reverse
 */
std::vector<DeviceBreakdown> BreakDown(const ExecutionGraph& graph, const Timeline& timeline);

/**
 * @ingroup proteus
 * The same for pieces of the timeline.
 * @param graph that was executed
 * @param timeline of it
 * @param endsPs where pieces end, in order; the first begins at 0, each other one where the one
 * before it ends
 * @return by piece, then by device
 * @throw std::invalid_argument as the other BreakDown()
 */
std::vector<std::vector<DeviceBreakdown>> BreakDown(const ExecutionGraph& graph,
                                                    const Timeline& timeline,
                                                    const std::vector<int64_t>& endsPs);

/// @ingroup proteus
/// @param breakdowns of some devices @return their mean; all zero for none
MeanBreakdown MeanOf(const std::vector<DeviceBreakdown>& breakdowns);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BREAKDOWN_H
