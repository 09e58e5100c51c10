/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_SHARD_H
#define PROTEUS_PLAN_SHARD_H

#include "proteus-layout-cost.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-parallel-plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the parts of a model ask of one device, whatever the pipeline and the replicas are.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Time of a kernel in picoseconds; negative where it is not known.
using KernelTimer = std::function<int64_t(const KernelDescription&)>;

/// @ingroup proteus
/// Number of values of Parallelism.
constexpr std::size_t N_PLAN_PARALLELISMS = static_cast<std::size_t>(Parallelism::EXPERT) + 1;

/// @ingroup proteus
/// Times of one micro-batch on one device, and what it keeps.
struct PlanPart
{
    std::string name;         //!< first part of the paths of its operators, e.g. "layer3"
    double forwardS{0};       //!< kernels of the forward pass, seconds
    double backwardS{0};      //!< kernels of the backward pass, recomputation among them, seconds
    double weightS{0};        //!< those of them that make gradients of parameters, seconds
    double savedBytes{0};     //!< results that the backward pass reads
    double boundaryBytes{0};  //!< results that other parts read
    double denseElements{0};  //!< parameters that all replicas share
    double expertElements{0}; //!< parameters that replicas with other experts do not have
    double kernels{0};        //!< of the forward pass
    std::map<double, uint32_t> tensors; //!< parameters by their elements: how many
    double tiedElements{0};             //!< parameters of an earlier part that this one reads, too
    /// Communication that kernels wait for, seconds, by Parallelism.
    std::array<double, N_PLAN_PARALLELISMS> forwardCommunicationS{};
    /// The same in the backward pass.
    std::array<double, N_PLAN_PARALLELISMS> backwardCommunicationS{};
};

/// @ingroup proteus
/// The parts of a model, in its order.
using PlanShard = std::vector<PlanPart>;

/**
 * @ingroup proteus
 * @param plan any
 * @return the plan with the least devices whose device 0 computes the same kernels on a
 * micro-batch: no pipeline, replicas only as experts need them, one micro-batch, no ZeRO
 */
ParallelPlan GetShardPlan(const ParallelPlan& plan);

/**
 * @ingroup proteus
 * Compiles a model for a plan of GetShardPlan() and adds up what device 0 does.
 * @param model read for the plan
 * @param plan of GetShardPlan()
 * @param timer of kernels
 * @param cost of communications in seconds
 * @return the parts
 * @throw std::invalid_argument as ExpandPlan() and CompileModel(), or if the timer does not know a
 * kernel
 */
PlanShard MakePlanShard(const Model& model,
                        const ParallelPlan& plan,
                        const KernelTimer& timer,
                        const CommunicationCost& cost);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_SHARD_H
