/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ITERATION_TIMES_H
#define PROTEUS_ITERATION_TIMES_H

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How long iterations take in a run of several, and how long they have to take at least.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Iterations of a run.
struct IterationTimes
{
    std::vector<int64_t> timesPs; //!< from the end of the kernels of the iteration before to that
                                  //!< of its own, by iteration; the first from the start of the run
    int64_t steadyPs{0};          //!< of the steady iteration, see FindSteadyIteration()
    int64_t computePs{0}; //!< kernels of an iteration, of the device with most of them, on average
};

/**
 * @ingroup proteus
 * When the iterations of a run end: with the last of their kernels, or of their tasks in a graph
 * that has no kernels in one of them. Kernels are compute tasks on streams in order of a device.
 * @param graph that ran
 * @param iterationOf by PhaseId: which iteration, from 0, not empty
 * @param timeline of the run
 * @return by iteration: its end, picoseconds, none before the one before it
 */
std::vector<int64_t> FindIterationEnds(const ExecutionGraph& graph,
                                       const std::vector<uint32_t>& iterationOf,
                                       const Timeline& timeline);

/**
 * @ingroup proteus
 * The iteration that stands for all: with the median time of those after the first; of an even
 * number of them, the shorter of the two in the middle. Of a single iteration, itself.
 * @param endsPs see FindIterationEnds(), not empty
 * @return its index
 */
uint32_t FindSteadyIteration(const std::vector<int64_t>& endsPs);

/**
 * @ingroup proteus
 * Measures the iterations of a run. Kernels are compute tasks on streams in order of a device;
 * updates beside them do not count.
 * @param graph that ran, with the phases of `repeated`
 * @param repeated which phases belong to which iteration
 * @param timeline of the run
 * @return the times
 */
IterationTimes MeasureIterations(const ExecutionGraph& graph,
                                 const RepeatedGraph& repeated,
                                 const Timeline& timeline);

/// @ingroup proteus
/// A communication of every iteration, which some kernel makes ready and another one needs. Times
/// are of the kernels alone, one after the other from the start of the iteration.
struct PeriodicTransfer
{
    double readyS{0};    //!< end of the kernel that makes it ready
    double needS{0};     //!< start of the kernel of the next iteration that needs it; less than 0
                         //!< where that is one of the same iteration
    double transferS{0}; //!< time that it has the link, in one direction
};

/**
 * @ingroup proteus
 * The least time between iterations, of any order, when all transfers share a link. Those that are
 * ready from r on and needed up to n keep the link busy between the kernels there; these are
 * n - r + period apart, so that the period is at least r - n + the sum of these transfers, for all
 * r and n; and it is at least all kernels. For layers it is the same as GetLeastIterationS().
 * @param transfers of an iteration
 * @param computeS kernels of an iteration
 * @return seconds
 */
double GetLeastPeriodS(std::vector<PeriodicTransfer> transfers, double computeS);

/**
 * @ingroup proteus
 * The least time between iterations of a graph, whatever the order of its communications: the
 * largest GetLeastPeriodS() of all devices and groups.
 * @param graph one iteration
 * @param carried what its tasks need of the iteration before
 * @param timesPs by TaskId: how long a kernel takes, and a communication at least; picoseconds
 * @param kinds of communication that are looked at
 * @return seconds
 */
double FindLeastPeriodS(const ExecutionGraph& graph,
                        const std::vector<CarriedDependency>& carried,
                        const std::vector<int64_t>& timesPs,
                        const std::vector<Parallelism>& kinds);

/**
 * @ingroup proteus
 * @param graph that ran, with tasks of one instance each or of equal ones
 * @param timeline of the run
 * @return by TaskId: the longest time that a device spent in it
 */
std::vector<int64_t> GetTaskTimes(const ExecutionGraph& graph, const Timeline& timeline);

/**
 * @ingroup proteus
 * @param graph of all iterations
 * @param iterationOf RepeatedGraph::iterationOf
 * @param timeline of a run of it
 * @return whether a device began something of an iteration before all of those before had ended
 * there
 */
bool DoIterationsOverlap(const ExecutionGraph& graph,
                         const std::vector<uint32_t>& iterationOf,
                         const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ITERATION_TIMES_H
