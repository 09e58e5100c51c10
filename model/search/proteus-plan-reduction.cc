/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-reduction.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

ParallelPlan
ReducePlan(const ParallelPlan& plan)
{
    constexpr uint32_t ROUNDS = 2;        // of the pipeline
    constexpr uint32_t REPLICAS = 2;      // that reduce gradients once
    constexpr uint32_t ZERO_REPLICAS = 8; // that communicate in every pass
    ParallelPlan small = plan;
    const uint32_t replicas = plan.dataParallel / plan.expertParallel;
    const uint32_t most = plan.optimizer.zero >= 2 ? ZERO_REPLICAS : REPLICAS;
    uint32_t kept = 1;
    for (uint32_t number = 1; number <= std::min(most, replicas); ++number)
    {
        kept = replicas % number == 0 ? number : kept;
    }
    small.dataParallel = kept * plan.expertParallel;
    const bool isOfGroups = small.zeroGroup > 0 && small.dataParallel % small.zeroGroup == 0;
    small.zeroGroup = isOfGroups ? small.zeroGroup : 0;
    const uint32_t microBatches =
        std::min(plan.GetNMicroBatches(), ROUNDS * std::max(1U, plan.pipelineParallel));
    small.globalBatch = microBatches * small.microBatch * small.dataParallel;
    return small;
}

std::vector<bool>
FindRepresentatives(const ParallelPlan& plan)
{
    const uint64_t replicas = plan.dataParallel / plan.expertParallel;
    const uint64_t inner =
        uint64_t{plan.tensorParallel} * plan.expertParallel * plan.contextParallel;
    const uint64_t stride = plan.isPipelineInside ? inner * plan.pipelineParallel : inner;
    std::vector<bool> isKept(plan.GetNDevices());
    for (uint64_t device = 0; device < isKept.size(); ++device)
    {
        isKept[device] = device % plan.tensorParallel == 0 && device / stride % replicas == 0;
    }
    return isKept;
}

} // namespace proteus
} // namespace ns3
