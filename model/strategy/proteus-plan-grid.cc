/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-grid.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

void
CheckPlan(bool ok, const std::string& message)
{
    if (!ok)
    {
        throw std::invalid_argument("plan: " + message);
    }
}

namespace
{

/// The grid that experts have to themselves.
struct ExpertGrid
{
    uint32_t tensor{1};   //!< devices that share each expert
    uint32_t experts{1};  //!< groups of these, which share the experts
    uint32_t replicas{1}; //!< of all experts
};

/// @param plan in which experts have a grid of their own @return it
ExpertGrid
FindExpertGrid(const ParallelPlan& plan)
{
    const uint64_t width = uint64_t{plan.tensorParallel} * plan.contextParallel * plan.dataParallel;
    const uint32_t tensor =
        plan.expertTensorParallel > 0 ? plan.expertTensorParallel : plan.tensorParallel;
    const uint64_t group = uint64_t{tensor} * plan.expertParallel;
    CheckPlan(tensor <= plan.tensorParallel,
              "etp = " + std::to_string(tensor) +
                  " is more than tp = " + std::to_string(plan.tensorParallel));
    CheckPlan(width % group == 0,
              "experts of etp x ep = " + std::to_string(tensor) + " x " +
                  std::to_string(plan.expertParallel) + " devices do not divide the " +
                  std::to_string(width) + " = tp x cp x dp devices of a stage");
    CheckPlan(tensor == plan.tensorParallel || plan.isSequenceParallel,
              "ep = " + std::to_string(plan.expertParallel) +
                  " with etp = " + std::to_string(tensor) +
                  " spans devices of a tensor-parallel group, each of which needs tokens of its "
                  "own; add sequenceParallel");
    CheckPlan(
        !plan.isPipelineInside || plan.pipelineParallel == 1 || width / group == plan.dataParallel,
        "mapping tp-pp-dp needs as many replicas of the experts (" + std::to_string(width / group) +
            ") as of the other layers (dp = " + std::to_string(plan.dataParallel) + ")");
    return {tensor, plan.expertParallel, static_cast<uint32_t>(width / group)};
}

/// The common refinement of the two grids of a folded plan, major first.
std::vector<PlanAxis>
FoldAxes(const ParallelPlan& plan)
{
    const ExpertGrid grid = FindExpertGrid(plan);
    // From neighbours outwards: what is left of the axis of each grid.
    std::vector<std::pair<std::string, uint32_t>> layers{{"tp", plan.tensorParallel},
                                                         {"cp", plan.contextParallel},
                                                         {"dp", plan.dataParallel}};
    std::vector<std::pair<std::string, uint32_t>> experts{{"etp", grid.tensor},
                                                          {"ep", grid.experts},
                                                          {"edp", grid.replicas}};
    const auto skip = [](auto& axes, std::size_t& at) {
        while (at < axes.size() && axes[at].second == 1)
        {
            ++at;
        }
    };
    std::vector<PlanAxis> folded;
    std::size_t i = 0;
    std::size_t k = 0;
    for (skip(layers, i), skip(experts, k); i < layers.size(); skip(layers, i), skip(experts, k))
    {
        auto& [layer, layerSize] = layers[i];
        auto& [expert, expertSize] = experts[k];
        const uint32_t size = std::min(layerSize, expertSize);
        CheckPlan(std::max(layerSize, expertSize) % size == 0,
                  "the groups of experts (etp " + std::to_string(grid.tensor) + ", ep " +
                      std::to_string(grid.experts) + ") and those of the other layers (tp " +
                      std::to_string(plan.tensorParallel) + ", cp " +
                      std::to_string(plan.contextParallel) + ", dp " +
                      std::to_string(plan.dataParallel) + ") do not lie in each other");
        // Replicas have the name of what the experts are, as in a plan that is not folded.
        folded.push_back({layer == "dp"                      ? expert
                          : layer == "tp" && expert == "etp" ? layer
                          : layer == "cp" && expert == "edp" ? layer
                                                             : expert + "-" + layer,
                          size,
                          layer,
                          expert});
        layerSize /= size;
        expertSize /= size;
    }
    if (plan.dataParallel == 1)
    {
        folded.push_back({"edp", 1, "dp", "edp"}); // whom the samples are split over
    }
    std::reverse(folded.begin(), folded.end());
    return folded;
}

/// @return the axes of the devices of a stage, major first
std::vector<PlanAxis>
MakeAxes(const ParallelPlan& plan)
{
    if (plan.expertTensorParallel > 0 || plan.dataParallel % plan.expertParallel != 0)
    {
        return FoldAxes(plan);
    }
    const uint32_t sharing = plan.GetNSharing();
    std::vector<PlanAxis> axes;
    if (sharing < plan.dataParallel)
    {
        axes.push_back({REPEATING_AXIS, plan.dataParallel / sharing, "dp", "edp"});
    }
    if (plan.expertParallel > 1)
    {
        axes.insert(axes.end(),
                    {{"edp", sharing / plan.expertParallel, "dp", "edp"},
                     {"cp", plan.contextParallel, "cp", "edp"},
                     {"ep", plan.expertParallel, "dp", "ep"},
                     {"tp", plan.tensorParallel, "tp", "etp"}});
        return axes;
    }
    axes.insert(axes.end(),
                {{"dp", sharing, "dp", "edp"},
                 {"cp", plan.contextParallel, "cp", "edp"},
                 {"tp", plan.tensorParallel, "tp", "etp"}});
    return axes;
}

} // namespace

PlanGrid::PlanGrid(const ParallelPlan& plan)
    : m_axes(MakeAxes(plan))
{
}

std::vector<std::string>
PlanGrid::FindAxes(const std::string& role) const
{
    std::vector<std::string> names;
    for (const PlanAxis& axis : m_axes)
    {
        if (axis.layer == role || axis.expert == role)
        {
            names.push_back(axis.name);
        }
    }
    return names;
}

} // namespace proteus
} // namespace ns3
