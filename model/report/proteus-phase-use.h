/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PHASE_USE_H
#define PROTEUS_PHASE_USE_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How long the phases of a graph took.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Times of one phase. Those of tasks add up, and may overlap.
struct PhaseUse
{
    std::string name;         //!< in the graph
    uint32_t microBatches{1}; //!< how often it runs
    uint32_t devices{0};      //!< that have tasks of it, at least one
    double computeS{0};       //!< sum of its compute tasks, mean over these devices
    double communicationS{0}; //!< sum of its communications, waiting included, mean over these
    int64_t startPs{0};       //!< begin of its first task
    int64_t endPs{0};         //!< end of its last task
};

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param timeline of it, see RequireTimelineOf()
 * @return the phases of which a task ran, in the order of the graph
 */
std::vector<PhaseUse> SummarizePhases(const ExecutionGraph& graph, const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PHASE_USE_H
