/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-search.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<SearchObjective, 3> OBJECTIVES{
    "objective",
    {{SearchObjective::TIME, "time"},
     {SearchObjective::THROUGHPUT_PER_GPU, "throughput-per-GPU"},
     {SearchObjective::COST, "cost"}}};

} // namespace

SearchObjective
SearchObjectiveFromString(const std::string& text)
{
    return OBJECTIVES.Parse(text);
}

std::vector<std::string>
GetSearchObjectiveNames()
{
    return OBJECTIVES.List();
}

double
Objective::GetValue(double seconds, uint64_t devices) const
{
    switch (kind)
    {
    case SearchObjective::TIME:
        return seconds;
    case SearchObjective::THROUGHPUT_PER_GPU:
        return seconds * static_cast<double>(devices) / static_cast<double>(samples);
    case SearchObjective::COST: {
        constexpr double SECONDS_PER_HOUR = 3600;
        const uint64_t servers = (devices + devicesPerServer - 1) / devicesPerServer;
        return seconds / SECONDS_PER_HOUR * pricePerHour *
               static_cast<double>(servers * devicesPerServer) / static_cast<double>(samples);
    }
    }
    throw std::invalid_argument("a value that is no SearchObjective");
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

/// Estimates plans one by one.
class PlanRanking
{
  public:
    PlanRanking(const PlanModelFacts& facts,
                const PlanSpaceOptions& space,
                PlanEstimator& estimator,
                const PlanSearchOptions& options)
        : m_facts(facts),
          m_space(space),
          m_estimator(estimator),
          m_options(options)
    {
    }

    /// @param plan to estimate, unless it cannot be good @return whether there is time for more
    bool Visit(const ParallelPlan& plan)
    {
        ++m_result.visited;
        if (!m_result.plans.empty() && GetBound(plan) > m_options.boundFactor * m_best.value)
        {
            ++m_result.pruned["bound: computation and bubble alone take much longer than the best "
                              "plan"];
        }
        else
        {
            Estimate(plan);
        }
        return !m_options.isOver || !m_options.isOver();
    }

    /// @param isComplete whether all plans were visited @return them, the best first
    PlanSearchResult Take(bool isComplete)
    {
        m_result.isComplete = isComplete;
        std::stable_sort(
            m_result.plans.begin(),
            m_result.plans.end(),
            [](const RankedPlan& a, const RankedPlan& b) { return a.value < b.value; });
        return std::move(m_result);
    }

    /// @return families that were left out
    PrunedPlans& GetPruned()
    {
        return m_result.pruned;
    }

  private:
    double GetValue(const ParallelPlan& plan, double seconds) const
    {
        return m_options.objective.GetValue(seconds, plan.GetNDevices());
    }

    /// @return the objective at least: matrix products at the peak rate, and the pipeline's bubble
    double GetBound(const ParallelPlan& plan) const
    {
        if (m_options.peakFlops == 0)
        {
            return 0;
        }
        const double bubble =
            plan.schedule.kind == ScheduleKind::ZERO_BUBBLE
                ? 0
                : (plan.pipelineParallel - 1.0) / plan.virtualStages / plan.GetNMicroBatches();
        const double flops =
            3 * m_facts.forwardFlopsPerSample * static_cast<double>(m_space.globalBatch);
        return GetValue(plan,
                        flops / (m_options.peakFlops * static_cast<double>(plan.GetNDevices())) *
                            (1 + bubble));
    }

    void Estimate(const ParallelPlan& plan)
    {
        try
        {
            RankedPlan ranked{plan, m_estimator.Estimate(plan), 0};
            if (m_space.memoryBytes > 0 && ranked.estimate.memoryBytes > m_space.memoryBytes)
            {
                ++m_result.pruned["memory: what is saved for the backward pass does not fit"];
                m_result.leastTooMuchBytes =
                    std::min(m_result.leastTooMuchBytes, ranked.estimate.memoryBytes);
                return;
            }
            ranked.value = GetValue(plan, ranked.estimate.seconds);
            if (m_result.plans.empty() || ranked.value < m_best.value)
            {
                m_best = ranked;
            }
            m_result.plans.push_back(std::move(ranked));
            if (m_options.report)
            {
                m_options.report(m_result.visited, m_best);
            }
        }
        catch (const std::invalid_argument& error)
        {
            ++m_result.pruned[DescribeFailure(error.what())];
        }
    }

    const PlanModelFacts& m_facts;
    const PlanSpaceOptions& m_space;
    PlanEstimator& m_estimator;
    const PlanSearchOptions& m_options;
    PlanSearchResult m_result;
    RankedPlan m_best;
};

} // namespace

PlanSearchResult
SearchPlans(const PlanModelFacts& facts,
            const PlanSpaceOptions& space,
            PlanEstimator& estimator,
            const PlanSearchOptions& options)
{
    PlanRanking ranking(facts, space, estimator, options);
    const bool isComplete = VisitPlans(
        facts,
        space,
        [&ranking](const ParallelPlan& plan) { return ranking.Visit(plan); },
        ranking.GetPruned());
    return ranking.Take(isComplete);
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
    const uint64_t share = space.globalBatch / plan.dataParallel;
    // As VisitPlans() has them: powers of two.
    uint32_t largest = 1;
    while (largest <= space.mostMicroBatch / 2 && largest < share)
    {
        largest *= 2;
    }
    for (const RecomputePlan recompute :
         {RecomputePlan::NONE, RecomputePlan::SELECTIVE, RecomputePlan::FULL})
    {
        if (!facts.CanRecompute(recompute))
        {
            continue;
        }
        plan.recompute = recompute;
        for (uint32_t size = largest; size >= 1; size /= 2)
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

/// What the Proteus paper takes for experts' plans of transformers: four GPUs of a server share
/// layers, without and with two groups of a pipeline.
void
AddPaperPlans(std::vector<BaselinePlan>& baselines,
              const PlanModelFacts& facts,
              const PlanSpaceOptions& space,
              PlanEstimator& estimator)
{
    constexpr uint32_t PAPER_TENSOR = 4;
    const uint32_t devices = space.devices.back();
    ParallelPlan plan = space.base;
    plan.globalBatch = static_cast<uint32_t>(space.globalBatch);
    plan.gradients.policy = BucketPolicy::DDP;
    plan.tensorParallel = std::min(PAPER_TENSOR, space.mostTensorParallel);
    for (const uint32_t groups : {1U, 2U})
    {
        const uint32_t shared = plan.tensorParallel * groups;
        if (!facts.hasTensor || plan.tensorParallel == 1 || devices % shared != 0 ||
            space.globalBatch % (devices / shared) != 0 ||
            (groups > 1 && (facts.blocks == 0 || facts.blocks % groups != 0)))
        {
            continue;
        }
        plan.pipelineParallel = groups;
        plan.dataParallel = devices / shared;
        if (MakeFit(plan, facts, space, estimator))
        {
            baselines.push_back({groups == 1 ? "S2: tensor parallel in servers"
                                             : "S2: tensor parallel and pipeline",
                                 plan});
        }
    }
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
        plan.gradients.policy = space.pieces;
        if (MakeFit(plan, facts, space, estimator))
        {
            baselines.push_back(
                {zero == 0 ? "S1: data parallel" : "ZeRO " + std::to_string(zero), plan});
        }
    }
    AddPaperPlans(baselines, facts, space, estimator);
    plan.optimizer.zero = 1;
    plan.gradients.policy = BucketPolicy::WHOLE;
    plan.tensorParallel = facts.hasTensor ? std::min(space.mostTensorParallel, devices) : 1;
    while (devices % plan.tensorParallel != 0)
    {
        --plan.tensorParallel;
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
