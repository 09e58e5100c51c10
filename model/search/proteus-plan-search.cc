/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

SearchObjective
SearchObjectiveFromString(const std::string& text)
{
    if (text == "time")
    {
        return SearchObjective::TIME;
    }
    if (text == "throughput-per-GPU")
    {
        return SearchObjective::THROUGHPUT_PER_GPU;
    }
    if (text == "cost")
    {
        return SearchObjective::COST;
    }
    throw std::invalid_argument("unknown objective \"" + text +
                                "\": choose one of time, throughput-per-GPU, cost");
}

double
GetObjectiveValue(SearchObjective objective, double seconds, uint64_t devices, uint64_t samples)
{
    return objective == SearchObjective::TIME
               ? seconds
               : seconds * static_cast<double>(devices) / static_cast<double>(samples);
}

namespace
{

/// @return why a plan does not compile, without the names that differ from plan to plan
std::string
DescribeFailure(const std::string& message)
{
    const std::size_t colon = message.find(": ");
    return "does not compile: " +
           (colon == std::string::npos ? message : message.substr(colon + 2));
}

} // namespace

PlanSearchResult
SearchPlans(const PlanModelFacts& facts,
            const PlanSpaceOptions& space,
            PlanEstimator& estimator,
            const PlanSearchOptions& options)
{
    PlanSearchResult result;
    double best = 0;
    RankedPlan leader;
    auto visit = [&](const ParallelPlan& plan) {
        ++result.visited;
        const uint64_t devices = plan.GetNDevices();
        const double m = plan.GetNMicroBatches();
        const double bubble = plan.schedule.kind == ScheduleKind::ZERO_BUBBLE
                                  ? 0
                                  : (plan.pipelineParallel - 1.0) / plan.virtualStages / m;
        const double least =
            options.peakFlops == 0
                ? 0
                : 3 * facts.forwardFlopsPerSample * static_cast<double>(space.globalBatch) /
                      (options.peakFlops * static_cast<double>(devices)) * (1 + bubble);
        const double bound =
            GetObjectiveValue(options.objective, least, devices, space.globalBatch);
        if (!result.plans.empty() && bound > options.boundFactor * best)
        {
            ++result.pruned["bound: computation and bubble alone take much longer than the best "
                            "plan"];
            return !options.isOver || !options.isOver();
        }
        try
        {
            RankedPlan ranked{plan, estimator.Estimate(plan), 0};
            if (space.memoryBytes > 0 && ranked.estimate.memoryBytes > space.memoryBytes)
            {
                ++result.pruned["memory: what is saved for the backward pass does not fit"];
                return !options.isOver || !options.isOver();
            }
            ranked.value = GetObjectiveValue(options.objective,
                                             ranked.estimate.seconds,
                                             devices,
                                             space.globalBatch);
            if (result.plans.empty() || ranked.value < best)
            {
                best = ranked.value;
                leader = ranked;
            }
            result.plans.push_back(std::move(ranked));
            if (options.report)
            {
                options.report(result.visited, leader);
            }
        }
        catch (const std::invalid_argument& error)
        {
            ++result.pruned[DescribeFailure(error.what())];
        }
        return !options.isOver || !options.isOver();
    };
    result.isComplete = VisitPlans(facts, space, visit, result.pruned);
    std::stable_sort(result.plans.begin(),
                     result.plans.end(),
                     [](const RankedPlan& a, const RankedPlan& b) { return a.value < b.value; });
    return result;
}

namespace
{

/// Gives a plan the least recomputation, then the largest micro-batch, with which it fits.
/// @return whether it fits at all
bool
MakeFit(ParallelPlan& plan,
        const PlanModelFacts& facts,
        const PlanSpaceOptions& space,
        PlanEstimator& estimator)
{
    std::vector<RecomputePlan> recomputations{RecomputePlan::NONE};
    if (facts.hasAttention)
    {
        recomputations.push_back(RecomputePlan::SELECTIVE);
    }
    if (facts.blocks > 0)
    {
        recomputations.push_back(RecomputePlan::FULL);
    }
    const uint64_t share = space.globalBatch / plan.dataParallel;
    for (const RecomputePlan recompute : recomputations)
    {
        plan.recompute = recompute;
        for (uint32_t size = space.mostMicroBatch; size >= 1; size /= 2)
        {
            plan.microBatch = size;
            // A pipeline wants many micro-batches, not large ones.
            if (share % size != 0 || (plan.pipelineParallel > 1 && size > 1))
            {
                continue;
            }
            try
            {
                if (space.memoryBytes == 0 ||
                    estimator.Estimate(plan).memoryBytes <= 0.95 * space.memoryBytes)
                {
                    return true;
                }
            }
            catch (const std::invalid_argument&)
            {
                return false; // a model that cannot be split that way has no such baseline
            }
        }
    }
    return false;
}

} // namespace

std::vector<BaselinePlan>
MakeBaselines(const PlanModelFacts& facts, const PlanSpaceOptions& space, PlanEstimator& estimator)
{
    std::vector<BaselinePlan> baselines;
    const uint32_t devices = space.devices.back();
    ParallelPlan plan = space.base;
    plan.globalBatch = static_cast<uint32_t>(space.globalBatch);
    plan.dataParallel = devices;
    for (uint32_t zero = 0; zero <= 3 && space.globalBatch % devices == 0; ++zero)
    {
        plan.optimizer.zero = zero;
        plan.gradients.policy = BucketPolicy::DDP;
        if (MakeFit(plan, facts, space, estimator))
        {
            baselines.push_back(
                {zero == 0 ? "data parallel" : "ZeRO " + std::to_string(zero), plan});
        }
    }
    plan.optimizer.zero = 1;
    plan.gradients.policy = BucketPolicy::WHOLE;
    plan.tensorParallel = facts.hasTensor ? std::min(space.mostTensorParallel, devices) : 1;
    while (devices % plan.tensorParallel != 0)
    {
        plan.tensorParallel /= 2;
    }
    plan.isSequenceParallel = plan.tensorParallel > 1 && facts.hasSequence;
    for (uint32_t pipeline = 1; facts.hasTensor && pipeline <= devices / plan.tensorParallel;
         ++pipeline)
    {
        const bool divides = devices / plan.tensorParallel % pipeline == 0 &&
                             (pipeline == 1 || (facts.blocks > 0 && facts.blocks % pipeline == 0));
        plan.pipelineParallel = pipeline;
        plan.dataParallel = devices / plan.tensorParallel / pipeline;
        plan.optimizer.zero = plan.dataParallel > 1 ? 1 : 0;
        if (divides && space.globalBatch % plan.dataParallel == 0 &&
            MakeFit(plan, facts, space, estimator))
        {
            baselines.push_back({"Megatron's recipe", plan});
            break;
        }
    }
    return baselines;
}

double
GetRankCorrelation(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.size() != b.size())
    {
        throw std::invalid_argument("rank correlation of lists with " + std::to_string(a.size()) +
                                    " and " + std::to_string(b.size()) + " values");
    }
    auto rank = [](const std::vector<double>& values) {
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
            return values[x] < values[y];
        });
        std::vector<double> ranks(values.size());
        for (std::size_t i = 0; i < order.size();)
        {
            std::size_t end = i;
            while (end < order.size() && values[order[end]] == values[order[i]])
            {
                ++end;
            }
            for (std::size_t k = i; k < end; ++k)
            {
                ranks[order[k]] = 0.5 * static_cast<double>(i + end - 1);
            }
            i = end;
        }
        return ranks;
    };
    const std::vector<double> x = rank(a);
    const std::vector<double> y = rank(b);
    const double mean = 0.5 * (static_cast<double>(a.size()) - 1);
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

} // namespace proteus
} // namespace ns3
