/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_SPACE_H
#define PROTEUS_PLAN_SPACE_H

#include "ns3/proteus-parallel-plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * All plans that a model and a cluster have room for.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What of a model decides about its plans.
struct PlanModelFacts
{
    uint64_t blocks{0};              //!< that pipeline stages share
    uint64_t parameters{0};          //!< elements
    uint64_t sequence{1};            //!< tokens of a sample
    uint64_t experts{0};             //!< of an operator; 0: the model has none
    bool hasTensor{false};           //!< whether it says what tensor parallelism splits
    bool hasSequence{false};         //!< whether operators have sequences
    bool hasAttention{false};        //!< whether it has attention, to recompute
    double forwardFlopsPerSample{0}; //!< of matrix products

    /// @param plan what is computed again @return whether the model has what it is about
    bool CanRecompute(RecomputePlan plan) const
    {
        return (hasAttention || plan != RecomputePlan::SELECTIVE) &&
               (blocks > 0 || !NeedsBlocks(plan));
    }
};

/// @ingroup proteus
/// @param model read for any plan, all of whose parameters are trained @return what decides about
/// its plans @throw std::invalid_argument if some are frozen
PlanModelFacts DescribeForPlans(const Model& model);

/// @ingroup proteus
/// What there is to choose from.
struct PlanSpaceOptions
{
    std::vector<uint32_t> devices{1};       //!< numbers of devices that a plan may have
    uint32_t mostTensorParallel{8};         //!< usually the GPUs of a server
    uint32_t mostContextParallel{1};        //!< devices that share a sequence
    uint32_t mostMicroBatch{16};            //!< samples
    uint32_t mostVirtualStages{8};          //!< stages per device group
    uint64_t globalBatch{1};                //!< samples per iteration
    double memoryBytes{0};                  //!< of a device; 0: plenty
    std::vector<uint32_t> zero{0, 1, 2, 3}; //!< stages of ZeRO
    bool variesRecomputation{true};         //!< else that of `base`
    bool variesSequence{true};              //!< sequence parallelism; else that of `base`
    bool variesBuckets{true};               //!< buckets of gradients; else those of `base`
    /// What gradients are reduced in while others are computed.
    BucketPolicy pieces{BucketPolicy::DDP};
    bool variesMapping{true};  //!< pipelines inside and across servers; else that of `base`
    bool variesSchedule{true}; //!< zero-bubble beside 1F1B; else that of `base`
    /// Devices of a server, whose replicas may share states of their own, which other servers
    /// repeat (ParallelPlan::zeroGroup). 0: that of `base`, where it divides the replicas.
    uint32_t serverDevices{0};
    ParallelPlan base; //!< number formats, optimizer, what is not varied
};

/// @ingroup proteus
/// Families of plans that were left out, by the reason: how many.
using PrunedPlans = std::map<std::string, uint64_t>;

/**
 * @ingroup proteus
 * Visits all plans: every factorisation of the devices into tensor (a power of two), pipeline (a
 * divisor of the blocks), context, and data parallelism with experts spread over a part of the
 * replicas, and neighbours in the pipeline nearer than replicas or farther; with every number of
 * virtual stages, micro-batch (a power of two), ZeRO stage, states shared by all replicas or by
 * those of a server, recomputation, with and without sequence parallelism, and with gradients
 * reduced at the end or in buckets. What cannot be, or cannot fit into memory whatever else is
 * chosen, is left out with all that it would have, and counted once.
 *
 * @param facts of the model
 * @param options what there is to choose from
 * @param visit called for every plan; returns whether to go on
 * @param pruned gets what is left out
 * @return whether all were visited
 * @throw std::invalid_argument if the base has expertTensorParallel
 */
bool VisitPlans(const PlanModelFacts& facts,
                const PlanSpaceOptions& options,
                const std::function<bool(const ParallelPlan&)>& visit,
                PrunedPlans& pruned);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_SPACE_H
