/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASSIC_EXECUTOR_H
#define PROTEUS_CLASSIC_EXECUTOR_H

#include "proteus-classic-cost.h"

#include "ns3/proteus-operator-cost.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Knobs of the classic rules.
struct ClassicOptions
{
    /// By how much computation and the reduction of gradients slow each other down. Negative: as in
    /// the published GPT and DLRM examples, which have 0.3 for clusters with "titan" or "1080" in
    /// their name, otherwise 0.1.
    double overlapFactor{-1};
    double launchGapMs{0.002};                   //!< before every kernel
    bool sharesBandwidth{true};                  //!< whether communications slow each other down
    ClassicRules rules{ClassicRules::PUBLISHED}; //!< of sharing
    RooflineModel roofline; //!< times the compute tasks without a fixed duration
};

/**
 * @ingroup proteus
 * Runs an execution graph by the rules of the published Proteus (Duan et al., IEEE TPDS 2024,
 * section HTAE, and its program): step-ordered list scheduling with a clock per device and queue.
 *
 * **Queues.** A device has four: for kernels; for features, which are all communication but the
 * reduction of gradients; for gradients, which are all-reduce and reduce-scatter of
 * Parallelism::DATA; and for the host. In each queue tasks run in the order in which they became
 * ready. A kernel starts launchGapMs after its device is free and it is ready. A collective starts
 * when it is first in the queues of all its members. A send between stages occupies its sender
 * alone.
 *
 * **Steps.** Devices that communicate with each other, other than from stage to stage, are one
 * stage. So are devices that run the same phases by the same schedule with nothing that connects
 * them, since the original has a stage for every set of devices on which a part of the model lies.
 * Stages take turns: a stage whose next schedule entry has all that it needs from others runs this
 * entry to its end, in steps. In a step every device runs at most one kernel; then all gradients
 * that can start do, then all features. Phases without kernels join the entry before them. The
 * phase "optimizer" runs last, on all devices together, when their communication is over.
 *
 * **Slow-downs.** The costs are those of ClassicCostModel. What starts in one step shares links,
 * see ShareClassicBandwidth(). A kernel that overlaps the first reduction of gradients that is not
 * over takes 1 + overlapFactor of its time, the whole of it. So does a reduction if another task of
 * the entry is still to be done when it becomes ready. Features that overlap reductions on a member
 * delay each other, by the overlap times the number of sharers that each gains.
 *
 * Other than in the original, a stage is suspended when its entry cannot be finished before another
 * stage goes on, so that other schedules than the original's can run.
 *
 * @param graph to execute; every device of a stage with the same schedule
 * @param cluster whose GPUs compute
 * @param options see there
 * @return what happened; picoseconds are rounded
 * @throw std::invalid_argument if the graph has more devices than the cluster has GPUs, a GPU has
 * no data sheet, or devices of a stage differ in their schedules
 * @throw std::runtime_error if it cannot finish
 */
Timeline RunClassic(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ClassicOptions& options = ClassicOptions());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASSIC_EXECUTOR_H
