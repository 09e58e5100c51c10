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
 * Follows a run back from its end: what ended last, what had ended just before that began on the
 * same device, and so on; of a communication, the rank that joined last. Where several things ended
 * at once, one that the graph has as a dependency goes first. The steps follow each other without
 * gap from the start to the end of the run, so that their times add up to the iteration time. That
 * is the chain that the run waited for; without one of its waits another chain may be as long.
 * @param graph that was executed
 * @param timeline of the run
 * @return the steps, in order of time
 */
std::vector<CriticalStep> FindCriticalPath(const ExecutionGraph& graph, const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CRITICAL_PATH_H
