/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_LAYOUTS_H
#define PROTEUS_PLAN_LAYOUTS_H

#include "proteus-layout-strategy.h"
#include "proteus-plan-search.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Layouts of every operator inside the stages of plans.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a search for layouts depends on besides the plans.
struct LayoutSearch
{
    ModelSource source;            //!< of the model
    LayoutSpaceOptions space;      //!< communication, kernels, precision and memory of a device
    uint32_t devices{1};           //!< all of them
    uint64_t mostPlans{4};         //!< plans in whose stages layouts are searched
    uint32_t mostStageDevices{64}; //!< that a stage may have
    std::function<bool()> isOver;  //!< whether the time is up; none: never
};

/// @ingroup proteus
/// Layouts in the stages of a plan.
struct LayoutPlan
{
    ParallelPlan plan;     //!< what the model has to be read for
    LayoutFinding layouts; //!< the strategy
    std::string strategy;  //!< all that distinguishes it from others, in one line
};

/**
 * @ingroup proteus
 * Searches layouts twice: without a pipeline, with as few micro-batches as memory allows, beside
 * what experts begin with; and in the stages of the best plans that differ in pipeline, micro-batch
 * over all replicas, recomputation, mapping, buckets, or in whether replicas share the optimizer's
 * state; half of them with, half without a pipeline. What devices of a stage share is chosen anew.
 * ZeRO 2 and 3 become ZeRO 1.
 * @param search see there
 * @param space of the plans
 * @param plans ranked, the best first
 * @param pruned gets what was left out
 * @return what was found, plan by plan
 */
std::vector<LayoutPlan> SearchPlanLayouts(const LayoutSearch& search,
                                          const PlanSpaceOptions& space,
                                          const std::vector<RankedPlan>& plans,
                                          PrunedPlans& pruned);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_LAYOUTS_H
