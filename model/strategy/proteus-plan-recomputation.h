/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_RECOMPUTATION_H
#define PROTEUS_PLAN_RECOMPUTATION_H

#include "proteus-parallel-plan.h"

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what of a model is computed again.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param model that is trained @param plan whose ParallelPlan::recomputeKeeps is checked
/// @throw std::invalid_argument if it names what the model's blocks have not, or does not go with
/// what is computed again
void CheckRecomputeKeeps(const Model& model, const ParallelPlan& plan);

/// @ingroup proteus
/// @param model that is trained @param plan whose ParallelPlan::recomputeModules is checked
/// @throw std::invalid_argument if it names what the model's blocks have not, or does not go with
/// what is computed again
void CheckRecomputeModules(const Model& model, const ParallelPlan& plan);

/// @ingroup proteus
/// Marks what is computed again: attention, what stands before products, or the numbered blocks.
/// @param tree that gets the marks @param model that is trained @param plan which says it
void AddRecomputation(StrategyTree& tree, const Model& model, const ParallelPlan& plan);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_RECOMPUTATION_H
