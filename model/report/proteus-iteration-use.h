/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ITERATION_USE_H
#define PROTEUS_ITERATION_USE_H

#include "proteus-breakdown.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The iterations of a run of several, one by one, and the one that stands for all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One iteration of a run.
struct IterationUse
{
    uint32_t number{0};   //!< counts from 1
    bool isSteady{false}; //!< whether it stands for all, see FindSteadyIteration()
    int64_t startPs{0};   //!< end of the one before; 0 for the first
    int64_t endPs{0};     //!< see FindIterationEnds()
    MeanBreakdown mean;   //!< of what the devices do from startPs to endPs
};

/// @ingroup proteus
/// @param iterations of a run, or none @return index of the steady one, or 0
uint32_t FindSteady(const std::vector<IterationUse>& iterations);

/// @ingroup proteus
/// All iterations of a run.
struct IterationAccount
{
    std::vector<IterationUse> uses;          //!< in their order
    uint32_t steady{0};                      //!< index of the one that stands for all
    std::vector<DeviceBreakdown> breakdowns; //!< of that one, by device; see RunAnalysis
};

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param iterationOf by PhaseId: which iteration, from 0, not empty
 * @param timeline of the run
 * @return its iterations, which lie end to end. What is on its way after the last kernel of the
 * last one belongs to none
 * @throw std::invalid_argument as BreakDown()
 */
IterationAccount AccountIterations(const ExecutionGraph& graph,
                                   const std::vector<uint32_t>& iterationOf,
                                   const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ITERATION_USE_H
