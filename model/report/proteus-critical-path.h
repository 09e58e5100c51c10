/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CRITICAL_PATH_H
#define PROTEUS_CRITICAL_PATH_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A part of the time of a run, and what it was spent on.
struct CriticalStep
{
    DeviceId device{0};     //!< where
    TaskId task{0};         //!< what, if `isTask`
    uint32_t microBatch{0}; //!< for which micro-batch
    bool isTask{false};     //!< else nothing of the device had just ended: the host, or an order
    int64_t startPs{0};     //!< from when on
    int64_t endPs{0};       //!< until when
};

/**
 * @ingroup proteus
 * Finds the chain of steps that the end of a run waited for, by following the run back from its
 * end: from the task that ended last to one that had ended just before it began on the same device,
 * and so on. Of a communication, the rank that joined last counts. Where several tasks ended at
 * once, one that the graph has as a dependency goes first. The steps follow each other without gap
 * from the start to the end of the run, so their times add up to the iteration time. If one of the
 * steps were shorter, another chain might be the longest.
 * @param graph that was executed
 * @param timeline of the run
 * @return the steps, in order of time
 */
std::vector<CriticalStep> FindCriticalPath(const ExecutionGraph& graph, const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CRITICAL_PATH_H
