/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-parallel-plan.h"

#include "proteus-emit-units.h"
#include "proteus-plan-grid.h"
#include "proteus-plan-nodes.h"
#include "proteus-plan-recomputation.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A numbered block of a model, or an operator around them.
struct Unit
{
    std::string path;  //!< first part of the paths of a block's operators; path of an operator
    std::string block; //!< without the number; empty if it is no numbered block
    uint32_t number{0};

    /// @return the first part of the path
    std::string GetPart() const
    {
        return path.substr(0, path.find('.'));
    }
};

std::vector<Unit>
FindUnits(const Model& model)
{
    std::vector<Unit> units;
    for (const ModelOperator& op : model.GetOperators())
    {
        const std::size_t dot = op.name.find('.');
        Unit unit;
        unit.path = op.name.substr(0, dot);
        if (dot == std::string::npos || !SplitNumber(unit.path, unit.block, unit.number))
        {
            unit.block.clear();
            unit.path = op.name;
        }
        if (units.empty() || units.back().path != unit.path)
        {
            units.push_back(unit);
        }
    }
    return units;
}

/// Checks what a plan says of the ends of its pipeline.
void
CheckEnds(const ParallelPlan& plan)
{
    const bool hasBlocks = plan.firstStageBlocks > 0 || plan.lastStageBlocks > 0;
    CheckPlan(plan.pipelineParallel > 1 || !(hasBlocks || plan.isEmbeddingBlock ||
                                             plan.isHeadBlock || plan.virtualStages > 1),
              "virtualStages, firstStageBlocks, lastStageBlocks, embeddingAsBlock and headAsBlock "
              "belong to a pipeline; add pp");
    for (const auto& [what, blocks] : {std::pair{"firstStageBlocks", plan.firstStageBlocks},
                                       std::pair{"lastStageBlocks", plan.lastStageBlocks}})
    {
        CheckPlan(
            blocks % plan.virtualStages == 0,
            std::string(what) + " = " + std::to_string(blocks) +
                " is not a multiple of virtualStages = " + std::to_string(plan.virtualStages));
    }
}

/// @return by unit: its stage; what stands between two blocks is on the stage of the first
std::vector<uint32_t>
AssignStages(const Model& model, const std::vector<Unit>& units, const ParallelPlan& plan)
{
    const auto nBlocks =
        static_cast<uint64_t>(std::count_if(units.begin(), units.end(), [](const Unit& unit) {
            return !unit.block.empty();
        }));
    const std::vector<uint64_t> shares = CountStageBlocks(nBlocks, plan, model.GetName());
    std::vector<uint32_t> stageOf; // by block
    for (uint32_t stage = 0; stage < shares.size(); ++stage)
    {
        stageOf.insert(stageOf.end(), shares[stage], stage);
    }
    std::vector<uint32_t> stages;
    uint64_t seen = 0;
    for (const Unit& unit : units)
    {
        const bool isBlock = !unit.block.empty();
        stages.push_back(isBlock           ? stageOf[seen]
                         : seen == 0       ? 0
                         : seen == nBlocks ? static_cast<uint32_t>(shares.size() - 1)
                                           : stageOf[seen - 1]);
        seen += isBlock ? 1 : 0;
    }
    return stages;
}

/// Gives the stages to the tree: a node for every run of blocks.
void
AddStages(StrategyTree& tree, const Model& model, const ParallelPlan& plan)
{
    const std::vector<Unit> units = FindUnits(model);
    const std::vector<uint32_t> stages = AssignStages(model, units, plan);

    struct Run
    {
        Unit first;
        uint32_t last{0};
        uint32_t stage{0};
    };

    std::vector<Run> runs;
    std::map<std::string, std::set<uint32_t>> stagesOf; // by first part of a path
    for (std::size_t i = 0; i < units.size(); ++i)
    {
        const Unit& unit = units[i];
        const bool isBlock = !unit.block.empty();
        const uint32_t stage = stages[i];
        stagesOf[unit.GetPart()].insert(stage);
        if (isBlock && !runs.empty() && runs.back().first.block == unit.block &&
            runs.back().stage == stage && runs.back().last + 1 == unit.number)
        {
            runs.back().last = unit.number;
            continue;
        }
        runs.push_back({unit, unit.number, stage});
    }
    for (const Run& run : runs)
    {
        StrategyNode* node = nullptr;
        if (!run.first.block.empty())
        {
            tree.root.children.emplace_back();
            node = &tree.root.children.back();
            node->name = run.first.block + "{" + std::to_string(run.first.number) + ".." +
                         std::to_string(run.last) + "}";
        }
        else
        {
            const std::string part = run.first.GetPart();
            node = &FindNode(tree.root, stagesOf[part].size() == 1 ? part : run.first.path);
        }
        node->stage = run.stage;
        node->op.mesh.emplace().slice["pp"] = run.stage % plan.pipelineParallel;
    }
}

/// Tokens go to the devices of their experts when they are dispatched, and come back when the last
/// linear layer of the experts is done: one all-to-all each.
void
AddExpertLayouts(StrategyTree& tree,
                 const Model& model,
                 const ParallelPlan& plan,
                 const PlanGrid& grid)
{
    // Of the axes that tokens are split over, those that share no experts come first.
    std::vector<std::string> axes;
    for (const PlanAxis& axis : grid.GetAxes())
    {
        const bool hasTokens = axis.layer == "dp" || (axis.layer == "cp" && axis.size > 1) ||
                               (axis.layer == "tp" && axis.size > 1 && plan.isSequenceParallel);
        if (hasTokens && axis.expert != "ep")
        {
            axes.push_back(axis.name);
        }
    }
    const std::vector<std::string> experts = grid.FindAxes("ep");
    std::vector<std::string> all = axes;
    all.insert(all.end(), experts.begin(), experts.end());
    const std::vector<SplitSpec> sharing = experts.empty()
                                               ? std::vector<SplitSpec>()
                                               : std::vector<SplitSpec>{{"experts", 0, experts}};
    for (const ModelOperator& op : model.GetOperators())
    {
        ItemSpec out;
        if (op.kind == "dispatch")
        {
            out.splits = sharing;
            if (!axes.empty())
            {
                out.splits->push_back({"batch", 0, axes});
            }
        }
        else if (op.kind == "expert-linear" && op.tensorParallel == "in")
        {
            out.splits = {{"tokens", 0, all}};
        }
        if (out.splits)
        {
            FindNode(tree.root, op.name).items["out"] = out;
        }
        if (op.kind == "expert-linear" && !sharing.empty())
        {
            FindNode(tree.root, op.name).op.splits = sharing;
        }
    }
}

/// Checks that there is something for each kind of parallelism to share.
void
CheckShares(const Model& model, const ParallelPlan& plan)
{
    const std::vector<ModelOperator>& operators = model.GetOperators();
    auto has = [&](auto&& condition) {
        return std::any_of(operators.begin(), operators.end(), condition);
    };
    CheckPlan(plan.tensorParallel == 1 ||
                  has([](const ModelOperator& op) { return !op.tensorParallel.empty(); }),
              "tp = " + std::to_string(plan.tensorParallel) + ", but no operator of model " +
                  model.GetName() + " says what tensor parallelism splits");
    CheckPlan(plan.contextParallel == 1 || has([](const ModelOperator& op) {
                  return op.FindDimension("sequence") != NO_ID;
              }),
              "cp = " + std::to_string(plan.contextParallel) + ", but no operator of model " +
                  model.GetName() + " has a sequence to split");
    CheckPlan(plan.recomputeEvery == 1 || plan.recompute == RecomputePlan::FULL,
              "recomputeEvery says which blocks are computed again, and needs recompute = full");
    CheckPlan(plan.recompute != RecomputePlan::SELECTIVE ||
                  has([](const ModelOperator& op) { return op.kind == "attention"; }),
              "recompute = selective, but model " + model.GetName() + " has no attention");
    CheckPlan(!NeedsBlocks(plan.recompute) ||
                  has([](const ModelOperator& op) { return !FindBlock(op.name).empty(); }),
              std::string("recompute = ") + ToString(plan.recompute) + ", but model " +
                  model.GetName() +
                  " has no numbered blocks; write a tree that says what to compute again");
    const bool isExpert = plan.expertParallel > 1;
    CheckPlan((!isExpert && plan.expertTensorParallel == 0) ||
                  has([](const ModelOperator& op) { return op.kind == "expert-linear"; }),
              (isExpert ? "ep = " + std::to_string(plan.expertParallel)
                        : "etp = " + std::to_string(plan.expertTensorParallel)) +
                  ", but model " + model.GetName() + " has no experts");
    CheckPlan(
        isExpert || !has([&](const ModelOperator& op) {
            return op.routing.experts > 0 && model.GetNeededPart(op) != 1;
        }),
        "without ep every device has all experts, of which none is busier than another; leave "
        "out busiest of model " +
            model.GetName());
}

/// Checks what a plan says of replicas that share states.
void
CheckZeroGroup(const ParallelPlan& plan)
{
    if (plan.zeroGroup == 0)
    {
        return;
    }
    const std::string who = "zeroGroup = " + std::to_string(plan.zeroGroup);
    CheckPlan(plan.optimizer.zero > 0, who + " says who shares states, and needs zero");
    CheckPlan(plan.dataParallel % plan.zeroGroup == 0,
              who + " replicas do not divide dp = " + std::to_string(plan.dataParallel));
    CheckPlan(plan.expertTensorParallel == 0, who + ": etp is not built with it");
    CheckPlan(plan.zeroGroup % plan.expertParallel == 0,
              who + " replicas cannot share the experts among ep = " +
                  std::to_string(plan.expertParallel) + " of them");
}

/// The mesh, and what holds for all operators: samples and sequences are split.
void
AddRoot(StrategyTree& tree, const ParallelPlan& plan, const PlanGrid& grid)
{
    const std::vector<std::string> batchAxes = grid.FindAxes("dp");
    tree.axisNames = {"pp"};
    tree.axisSizes = {plan.pipelineParallel};
    bool isReplicaAlone = false; // of tokens that tensor parallelism shares, for experts only
    for (const PlanAxis& axis : grid.GetAxes())
    {
        tree.axisNames.push_back(axis.name);
        tree.axisSizes.push_back(axis.size);
        isReplicaAlone = isReplicaAlone || (axis.layer == "tp" && axis.expert == "edp");
    }
    if (plan.isPipelineInside) // replicas are farthest apart
    {
        std::swap(tree.axisNames[0], tree.axisNames[1]);
        std::swap(tree.axisSizes[0], tree.axisSizes[1]);
    }
    for (const std::string& axis : batchAxes)
    {
        if (axis != REPEATING_AXIS)
        {
            tree.optimizer.zeroAxes.push_back(axis);
        }
    }
    tree.root.op.splits = {{"batch", 0, batchAxes}};
    if (plan.contextParallel > 1)
    {
        const std::vector<std::string> axes = grid.FindAxes("cp");
        tree.optimizer.zeroAxes.insert(tree.optimizer.zeroAxes.end(), axes.begin(), axes.end());
        tree.root.op.splits->push_back({"sequence", 0, axes});
    }
    if (isReplicaAlone)
    {
        tree.optimizer.expertZeroAxes = grid.FindAxes("edp");
    }
    tree.root.op.mesh.emplace().slice["pp"] = 0;
}

/// Operators share the dimension that the model names; with sequence parallelism, a result that is
/// summed over the devices is scattered along the sequence.
void
AddTensorSplits(StrategyTree& tree,
                const Model& model,
                const ParallelPlan& plan,
                const PlanGrid& grid)
{
    const std::vector<std::string> layerAxes = grid.FindAxes("tp");
    const std::vector<std::string> expertAxes = grid.FindAxes("etp");
    for (const ModelOperator& op : model.GetOperators())
    {
        const std::vector<std::string>& splitAxes =
            op.kind == "expert-linear" ? expertAxes : layerAxes;
        if (op.tensorParallel.empty() || splitAxes.empty())
        {
            continue;
        }
        StrategyNode& node = FindNode(tree.root, op.name);
        if (!node.op.splits)
        {
            node.op.splits.emplace();
        }
        const std::string& name = op.tensorParallel;
        const bool isKnown = std::any_of(node.op.splits->begin(),
                                         node.op.splits->end(),
                                         [&](const SplitSpec& split) {
                                             return split.dimension == name; // of another block
                                         });
        if (!isKnown)
        {
            node.op.splits->push_back({name, 0, splitAxes});
        }
        const auto dimension = static_cast<IterationAxis>(op.FindDimension(name));
        const DimensionMap& map = op.writes[0].map;
        const bool isSummed =
            std::none_of(map.begin(), map.end(), [&](const std::vector<IterationAxis>& axes) {
                return std::count(axes.begin(), axes.end(), dimension) > 0;
            });
        if (plan.isSequenceParallel && isSummed && op.FindDimension("sequence") != NO_ID)
        {
            std::vector<std::string> axes = layerAxes;
            if (plan.contextParallel > 1)
            {
                const std::vector<std::string> context = grid.FindAxes("cp");
                axes.insert(axes.begin(), context.begin(), context.end());
            }
            node.items["out"].splits = {{"batch", 0, grid.FindAxes("dp")}, {"sequence", 0, axes}};
        }
    }
}

constexpr EnumNames<RecomputePlan, 4> RECOMPUTE_PLANS{
    "recomputation",
    {{RecomputePlan::NONE, "none"},
     {RecomputePlan::SELECTIVE, "selective"},
     {RecomputePlan::BETWEEN_PRODUCTS, "between-products"},
     {RecomputePlan::FULL, "full"}}};

} // namespace

const char*
ToString(RecomputePlan plan)
{
    return RECOMPUTE_PLANS.Get(plan);
}

RecomputePlan
RecomputePlanFromString(const std::string& text)
{
    return RECOMPUTE_PLANS.Parse(text);
}

bool
NeedsBlocks(RecomputePlan plan)
{
    return plan == RecomputePlan::BETWEEN_PRODUCTS || plan == RecomputePlan::FULL;
}

std::vector<std::string>
GetRecomputePlanNames()
{
    return RECOMPUTE_PLANS.List();
}

uint32_t
ParallelPlan::GetNMicroBatches() const
{
    const std::vector<std::pair<const char*, uint32_t>> positive{
        {"dp", dataParallel},
        {"tp", tensorParallel},
        {"pp", pipelineParallel},
        {"virtualStages", virtualStages},
        {"cp", contextParallel},
        {"ep", expertParallel},
        {"microBatch", microBatch},
    };
    for (const auto& [name, value] : positive)
    {
        CheckPlan(value > 0, std::string(name) + " is 0, must be at least 1");
    }
    CheckPlan(GetNDevices() <= MAX_DEVICES,
              "dp x tp x pp x cp needs more than the " + std::to_string(MAX_DEVICES) +
                  " devices that a graph can have");
    PlanGrid(*this); // throws if there is none
    const uint64_t step = uint64_t{microBatch} * dataParallel;
    CheckPlan(globalBatch % step == 0,
              "globalBatch = " + std::to_string(globalBatch) + " is not a multiple of " +
                  std::to_string(step) + " = microBatch x dp");
    CheckPlan(globalBatch / step <= MAX_MICRO_BATCHES,
              "globalBatch = " + std::to_string(globalBatch) + " is " +
                  std::to_string(globalBatch / step) +
                  " micro-batches on each replica, of which there may be " +
                  std::to_string(MAX_MICRO_BATCHES));
    return globalBatch == 0 ? 1 : static_cast<uint32_t>(globalBatch / step);
}

std::map<std::string, int64_t>
GetModelVariables(const ParallelPlan& plan)
{
    return {{"batch", int64_t{plan.microBatch} * plan.dataParallel},
            {"tensorParallel", plan.tensorParallel}};
}

uint64_t
CountBlocks(const Model& model)
{
    const std::vector<Unit> units = FindUnits(model);
    return static_cast<uint64_t>(std::count_if(units.begin(), units.end(), [](const Unit& unit) {
        return !unit.block.empty();
    }));
}

std::vector<uint64_t>
CountStageBlocks(uint64_t nBlocks, const ParallelPlan& plan, const std::string& name)
{
    const uint64_t pp = plan.pipelineParallel;
    const uint64_t chunks = plan.virtualStages;
    CheckEnds(plan); // of callers that have no tree
    if (pp * chunks == 1)
    {
        return {nBlocks};
    }
    const std::string model =
        "model " + name + " has " + std::to_string(nBlocks) + " numbered blocks";
    CheckPlan(nBlocks > 0, model + "; write a tree that gives stages to its nodes");
    // What is left for device groups that say nothing, with embedding and head where they count.
    const uint64_t extra = (plan.isEmbeddingBlock ? 1 : 0) + (plan.isHeadBlock ? 1 : 0);
    const uint64_t given = uint64_t{plan.firstStageBlocks} + plan.lastStageBlocks;
    const uint64_t nGiven =
        (plan.firstStageBlocks > 0 ? 1 : 0) + (plan.lastStageBlocks > 0 ? 1 : 0);
    const uint64_t nOthers = (pp - nGiven) * chunks;
    const uint64_t left = nBlocks + extra - std::min(given, nBlocks + extra);
    const bool isEven = given <= nBlocks + extra && (nOthers > 0 ? left % nOthers == 0 : left == 0);
    CheckPlan(isEven,
              model +
                  (extra > 0 ? " (and " + std::to_string(extra) + " for embedding and head)" : "") +
                  ", which " + std::to_string(pp * chunks) +
                  " pipeline stages (pp x virtualStages) cannot share evenly" +
                  (given > 0 ? " beside the " + std::to_string(given) + " of the first and the last"
                             : "") +
                  "; embeddingAsBlock and headAsBlock count what is around the blocks as one, " +
                  "firstStageBlocks and lastStageBlocks say what the ends have");
    std::vector<uint64_t> shares(pp * chunks, nOthers > 0 ? left / nOthers : 0);
    for (uint64_t chunk = 0; chunk < chunks; ++chunk)
    {
        uint64_t& first = shares[chunk * pp];
        uint64_t& last = shares[chunk * pp + pp - 1];
        first = plan.firstStageBlocks > 0 ? plan.firstStageBlocks / chunks : first;
        last = plan.lastStageBlocks > 0 ? plan.lastStageBlocks / chunks : last;
    }
    CheckPlan(
        shares.front() >= (plan.isEmbeddingBlock ? 1U : 0U) &&
            shares.back() >= (plan.isHeadBlock ? 1U : 0U),
        "the first or the last stage has no block that embedding or head could take the place "
        "of");
    shares.front() -= plan.isEmbeddingBlock ? 1 : 0;
    shares.back() -= plan.isHeadBlock ? 1 : 0;
    return shares;
}

std::map<std::string, uint32_t>
FindStages(const Model& model, uint32_t nStages)
{
    const std::vector<Unit> units = FindUnits(model);
    ParallelPlan plan;
    plan.pipelineParallel = nStages;
    const std::vector<uint32_t> stages = AssignStages(model, units, plan);
    std::map<std::string, uint32_t> stageOf;
    for (std::size_t i = 0; i < units.size(); ++i)
    {
        stageOf.emplace(units[i].GetPart(), stages[i]);
    }
    return stageOf;
}

StrategyTree
ExpandPlan(const Model& model, const ParallelPlan& plan)
{
    CheckShares(model, plan);
    CheckPlan(
        !plan.hasRepresentative ||
            (plan.optimizer.zero == 3 && plan.GetNDevices() == plan.dataParallel &&
             (plan.zeroGroup == 0 || plan.zeroGroup == plan.dataParallel) &&
             plan.expertParallel == 1 && plan.expertTensorParallel == 0 &&
             plan.virtualStages == 1 && !plan.optimizer.isOffloaded),
        "representative: a device can stand for all only under ZeRO 3 (not offloaded) without "
        "other parallelism");
    CheckEnds(plan);
    CheckZeroGroup(plan);
    CheckRecomputeKeeps(model, plan);
    CheckRecomputeModules(model, plan);
    StrategyTree tree;
    tree.name = "plan";
    tree.batch = uint64_t{plan.microBatch} * plan.dataParallel;
    tree.hasRepresentative = plan.hasRepresentative;
    tree.schedule = plan.schedule;
    tree.schedule.microBatches = plan.GetNMicroBatches();
    tree.gradients = plan.gradients;
    tree.optimizer = plan.optimizer;
    tree.precision = plan.precision;
    const PlanGrid grid(plan);
    AddRoot(tree, plan, grid);
    if (plan.pipelineParallel > 1)
    {
        AddStages(tree, model, plan);
    }
    if (plan.expertParallel > 1 || plan.expertTensorParallel > 0)
    {
        AddExpertLayouts(tree, model, plan, grid);
    }
    if (plan.tensorParallel > 1)
    {
        AddTensorSplits(tree, model, plan, grid);
    }
    AddRecomputation(tree, model, plan);
    return tree;
}

} // namespace proteus
} // namespace ns3
