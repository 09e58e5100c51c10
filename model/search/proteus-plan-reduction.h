/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_REDUCTION_H
#define PROTEUS_PLAN_REDUCTION_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-parallel-plan.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Small plans that stand for large ones.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Fewer replicas and fewer micro-batches, the rest as it is: two replicas (of each share of the
 * experts; eight under ZeRO 2 and 3, whose parameters and gradients travel in every pass), and
 * micro-batches for two rounds of the pipeline.
 * @param plan any
 * @return the small plan; the same where there is nothing to leave out
 */
ParallelPlan ReducePlan(const ParallelPlan& plan);

/**
 * @ingroup proteus
 * @param plan any
 * @return by device: whether it is the first of those that share layers, in the first replica; the
 * others do the same at the same time
 */
std::vector<bool> FindRepresentatives(const ParallelPlan& plan);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_REDUCTION_H
