/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-layouts.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the plan whose stages are searched: what its devices share is of no account
ParallelPlan
MakeShape(const ParallelPlan& plan)
{
    ParallelPlan shape = plan;
    shape.optimizer.zero = std::min<uint32_t>(1, plan.optimizer.zero);
    shape.zeroGroup = 0;
    shape.isSequenceParallel = false; // layouts say where sequences are split
    return shape;
}

/// @return all that makes a plan's stages unlike another's, for people
std::string
DescribeShape(const ParallelPlan& plan)
{
    std::string text = ", micro-batches of " + std::to_string(plan.microBatch * plan.dataParallel);
    if (plan.pipelineParallel > 1)
    {
        text += std::string(", ") + ToString(plan.schedule.kind) + " over " +
                std::to_string(plan.pipelineParallel) + " groups" +
                (plan.isPipelineInside ? " inside servers" : "");
    }
    text += plan.optimizer.zero > 0 ? ", zero=1" : "";
    text += plan.recompute == RecomputePlan::NONE
                ? ""
                : std::string(", recompute=") + ToString(plan.recompute);
    return text + ", buckets=" + ToString(plan.gradients.policy);
}

/// Searches plan by plan.
class PlanLayouts
{
  public:
    PlanLayouts(const LayoutSearch& search, const PlanSpaceOptions& space, PrunedPlans& pruned)
        : m_search(search),
          m_space(space),
          m_options(search.space),
          m_pruned(pruned)
    {
        m_options.stateBytesPerParameter = static_cast<double>(
            GetOptimizerStateBytes(space.base.optimizer.kind, m_options.precision));
    }

    std::vector<LayoutPlan> Run(const std::vector<RankedPlan>& plans)
    {
        SearchWithoutPipeline();
        std::set<std::string> known;
        uint64_t counts[2]{0, 0}; // without and with a pipeline: neither has all
        for (const RankedPlan& ranked : plans)
        {
            const ParallelPlan shape = MakeShape(ranked.plan);
            const bool isSmall =
                m_search.devices / shape.pipelineParallel <= m_search.mostStageDevices;
            if (known.size() >= m_search.mostPlans || (m_search.isOver && m_search.isOver()))
            {
                break;
            }
            uint64_t& count = counts[shape.pipelineParallel > 1 ? 1 : 0];
            if (isSmall && count < (m_search.mostPlans + 1) / 2 &&
                ranked.plan.GetNDevices() == m_search.devices &&
                known.insert(std::to_string(shape.virtualStages) + DescribeShape(shape)).second)
            {
                ++count;
                SearchStages(shape);
            }
        }
        return std::move(m_found);
    }

  private:
    /// One stage of all devices, with as few micro-batches as memory allows.
    void SearchWithoutPipeline()
    {
        ParallelPlan plan = m_space.base;
        plan.gradients.policy = m_space.pieces;
        bool hasFound = m_search.devices > m_search.mostStageDevices;
        for (uint64_t parts = 1; !hasFound && m_space.globalBatch % parts == 0; parts *= 2)
        {
            if (m_search.isOver && m_search.isOver())
            {
                return;
            }
            plan.microBatch = static_cast<uint32_t>(m_space.globalBatch / parts);
            StrategyTree base;
            base.batch = plan.microBatch;
            base.schedule.microBatches = static_cast<uint32_t>(parts);
            base.gradients = plan.gradients;
            base.optimizer = plan.optimizer;
            base.precision = plan.precision;
            hasFound = Search(plan, base, true);
        }
    }

    void SearchStages(const ParallelPlan& shape)
    {
        try
        {
            Search(shape, ExpandPlan(m_search.source(shape), shape), false);
        }
        catch (const std::invalid_argument& error)
        {
            ++m_pruned[std::string("layouts: ") + error.what()];
        }
    }

    /// @param plan to read the model for @param base of the strategy @param keepsBaselines whether
    /// what experts begin with is wanted @return whether something fits
    bool Search(const ParallelPlan& plan, const StrategyTree& base, bool keepsBaselines)
    {
        std::vector<LayoutFinding> findings;
        try
        {
            findings = SearchLayouts(m_search.source(plan), m_search.devices, 2, m_options, base);
        }
        catch (const std::invalid_argument& error)
        {
            ++m_pruned[std::string("layouts: ") + error.what()];
        }
        for (LayoutFinding& finding : findings)
        {
            const std::string strategy = finding.name + DescribeShape(plan);
            if ((keepsBaselines || !finding.isBaseline) && m_known.insert(strategy).second)
            {
                m_found.push_back({plan, std::move(finding), strategy});
            }
        }
        return !findings.empty();
    }

    const LayoutSearch& m_search;
    const PlanSpaceOptions& m_space;
    LayoutSpaceOptions m_options;
    PrunedPlans& m_pruned;
    std::set<std::string> m_known; //!< strategies that were found
    std::vector<LayoutPlan> m_found;
};

} // namespace

std::vector<LayoutPlan>
SearchPlanLayouts(const LayoutSearch& search,
                  const PlanSpaceOptions& space,
                  const std::vector<RankedPlan>& plans,
                  PrunedPlans& pruned)
{
    return PlanLayouts(search, space, pruned).Run(plans);
}

} // namespace proteus
} // namespace ns3
