/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-json.h"

#include <boost/algorithm/string/join.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Keeps the order in which fields are added.
using Json = nlohmann::ordered_json;

/// The devices of a mesh from `first` on, nested.
Json
MakeGrid(const MeshSpec& mesh, std::size_t level, std::size_t first, std::size_t number)
{
    Json list = Json::array();
    const std::size_t step = number / mesh.sizes[level];
    for (std::size_t i = 0; i < mesh.sizes[level]; ++i)
    {
        if (level + 1 == mesh.sizes.size())
        {
            list.push_back(mesh.devices[first + i]);
        }
        else
        {
            list.push_back(MakeGrid(mesh, level + 1, first + i * step, step));
        }
    }
    return list;
}

void
AddItem(const ItemSpec& item, Json& object)
{
    if (item.mesh && !item.mesh->devices.empty())
    {
        object["mesh"] = MakeGrid(*item.mesh, 0, 0, item.mesh->devices.size());
        if (!item.mesh->names.empty())
        {
            object["axes"] = item.mesh->names;
        }
    }
    else if (item.mesh)
    {
        object["mesh"] = Json::object();
        for (const auto& [axis, coordinate] : item.mesh->slice)
        {
            object["mesh"][axis] = coordinate;
        }
    }
    if (item.splits)
    {
        object["split"] = Json::object();
        for (const SplitSpec& split : *item.splits)
        {
            Json& value = object["split"][split.dimension];
            if (split.axes.empty())
            {
                value = split.parts;
            }
            else if (split.axes.size() == 1)
            {
                value = split.axes[0];
            }
            else
            {
                value = split.axes;
            }
        }
    }
    if (item.isComplete)
    {
        object["complete"] = true;
    }
    if (!item.partial.empty())
    {
        object["partial"] = item.partial;
    }
}

Json
MakeNode(const StrategyNode& node, bool isRoot)
{
    Json object = Json::object();
    if (!isRoot)
    {
        object["name"] = node.name;
    }
    if (node.stage)
    {
        object["stage"] = *node.stage;
    }
    if (node.recompute && !node.recomputeGroup.empty())
    {
        object["recompute"] = node.recomputeGroup;
    }
    else if (node.recompute)
    {
        object["recompute"] = *node.recompute;
    }
    if (node.keep)
    {
        object["keep"] = *node.keep;
    }
    AddItem(node.op, object);
    for (const auto& [name, item] : node.items)
    {
        Json config = Json::object();
        AddItem(item, config);
        object["items"][name] = config;
    }
    for (const StrategyNode& child : node.children)
    {
        object["children"].push_back(MakeNode(child, false));
    }
    return object;
}

/// @param optimizer of a strategy @return the key of how its stage of ZeRO reduces gradients
const char*
GetGradientsKey(const OptimizerSpec& optimizer)
{
    return optimizer.zero == 2 ? "zero2Gradients" : "zero1Gradients";
}

/// @param optimizer of a strategy @return what GetGradientsKey() is
const char*
GetGradientsForm(const OptimizerSpec& optimizer)
{
    return optimizer.scattersGradients ? "reduce-scatter" : "all-reduce";
}

/// @param precision of a strategy @return what "frozenType" is
const char*
GetFrozenType(const PrecisionSpec& precision)
{
    return precision.hasFrozenInFourBits ? "nf4" : "16-bit";
}

/// @param optimizer of a strategy @return what "zero1Gathers" is
const char*
GetZero1Gathers(const OptimizerSpec& optimizer)
{
    return optimizer.gathersInForward ? "forward" : "update";
}

/// @param optimizer of a strategy @return what "zero3Gathers" is
const char*
GetZero3Form(const OptimizerSpec& optimizer)
{
    return optimizer.gathersUnits ? "unit" : "tensor";
}

/// @param optimizer of a strategy @return what "zero3Shares" is
const char*
GetZero3Shares(const OptimizerSpec& optimizer)
{
    return optimizer.hasHalfShares ? "16-bit" : "fp32";
}

/// @param spec of a strategy @param schedule gets its fields
void
WriteSchedule(const ScheduleSpec& spec, Json& schedule)
{
    schedule["kind"] = ToString(spec.kind);
    schedule["microBatches"] = spec.microBatches;
    if (!spec.maxInFlight.empty())
    {
        schedule["maxInFlight"] = spec.maxInFlight;
    }
    schedule["interleave"] = spec.interleave;
    if (spec.dataSamplesPerSecond > 0)
    {
        schedule["dataSamplesPerS"] = spec.dataSamplesPerSecond;
    }
    if (spec.isScatterGather)
    {
        schedule["scatterGather"] = true;
    }
    if (spec.overlapsTensor)
    {
        schedule["tpOverlap"] = true;
    }
    if (spec.overlapsContext)
    {
        schedule["cpOverlap"] = true;
    }
    if (spec.overlapsExperts)
    {
        schedule["overlapExpertCommunication"] = true;
    }
    if (spec.delaysWeights)
    {
        schedule["delayWeightGradients"] = true;
    }
    if (spec.expertDispatch != ExpertDispatch::ALL_TO_ALL)
    {
        schedule["expertDispatch"] = ToString(spec.expertDispatch);
    }
    if (spec.expertDomain != ScheduleSpec().expertDomain)
    {
        schedule["expertDomain"] = spec.expertDomain;
    }
    if (spec.stopsRecomputation)
    {
        schedule["recomputeStopsEarly"] = true;
    }
    if (!spec.runsForwardFirst)
    {
        schedule["forwardFirst"] = false;
    }
}

/// @param value a number @return the same, without a point if it is whole
Json
MakeNumber(double value)
{
    constexpr double MOST_WHOLE = 1e15;
    const bool isWhole = value == std::floor(value) && std::abs(value) < MOST_WHOLE;
    return isWhole ? Json(static_cast<int64_t>(value)) : Json(value);
}

/// The short form of a plan: fields that differ from what they are when left out or that have
/// defaults of their own, and all sizes.
Json
MakePlan(const ParallelPlan& plan, const std::map<std::string, std::string>& defaults)
{
    Json root = Json::object();
    auto add = [&](const char* name, const auto& value, const auto& otherwise) {
        if (value != otherwise || defaults.count(name) > 0)
        {
            root[name] = value;
        }
    };
    root["tp"] = plan.tensorParallel;
    root["pp"] = plan.pipelineParallel;
    root["dp"] = plan.dataParallel;
    add("cp", plan.contextParallel, 1U);
    add("ep", plan.expertParallel, 1U);
    add("etp", plan.expertTensorParallel, 0U);
    add("virtualStages", plan.virtualStages, 1U);
    add("firstStageBlocks", plan.firstStageBlocks, 0U);
    add("lastStageBlocks", plan.lastStageBlocks, 0U);
    add("embeddingAsBlock", plan.isEmbeddingBlock, false);
    add("headAsBlock", plan.isHeadBlock, false);
    add("mapping", std::string(plan.isPipelineInside ? "tp-pp-dp" : "tp-dp-pp"), "tp-dp-pp");
    add("globalBatch", plan.globalBatch, 0U);
    root["microBatch"] = plan.microBatch;
    add("sequenceParallel", plan.isSequenceParallel, false);
    add("zero", plan.optimizer.zero, 0U);
    add("zeroGroup", plan.zeroGroup, 0U);
    add(GetGradientsKey(plan.optimizer),
        std::string(GetGradientsForm(plan.optimizer)),
        "reduce-scatter");
    add("zero1Gathers", std::string(GetZero1Gathers(plan.optimizer)), "update");
    add("zero3Gathers", std::string(GetZero3Form(plan.optimizer)), "unit");
    add("zero3Shares", std::string(GetZero3Shares(plan.optimizer)), "16-bit");
    add("representative", plan.hasRepresentative, false);
    add("recompute", std::string(ToString(plan.recompute)), "none");
    add("recomputeEvery", plan.recomputeEvery, 1U);
    add("recomputeKeeps", boost::algorithm::join(plan.recomputeKeeps, "+"), "");
    add("recomputeModules", boost::algorithm::join(plan.recomputeModules, "+"), "");
    add("schedule",
        std::string(ToString(plan.schedule.kind)),
        plan.virtualStages > 1 ? "interleaved" : "1f1b");
    if (!plan.schedule.maxInFlight.empty())
    {
        root["maxInFlight"] = plan.schedule.maxInFlight;
    }
    add("interleave", plan.schedule.interleave, 1U);
    add("scatterGather", plan.schedule.isScatterGather, false);
    add("tpOverlap", plan.schedule.overlapsTensor, false);
    add("cpOverlap", plan.schedule.overlapsContext, false);
    add("overlapExpertCommunication", plan.schedule.overlapsExperts, false);
    add("delayWeightGradients", plan.schedule.delaysWeights, false);
    add("expertDispatch", std::string(ToString(plan.schedule.expertDispatch)), "all-to-all");
    add("expertDomain", plan.schedule.expertDomain, ScheduleSpec().expertDomain);
    add("recomputeStopsEarly", plan.schedule.stopsRecomputation, false);
    add("forwardFirst", plan.schedule.runsForwardFirst, true);
    add("dataSamplesPerS", plan.schedule.dataSamplesPerSecond, 0.0);
    add("buckets", std::string(ToString(plan.gradients.policy)), "ddp");
    const GradientSpec gradients;
    add("bucketMbytes",
        MakeNumber(plan.gradients.bucketMegabytes),
        MakeNumber(gradients.bucketMegabytes));
    add("firstBucketMbytes",
        MakeNumber(plan.gradients.firstBucketMegabytes),
        MakeNumber(gradients.firstBucketMegabytes));
    add("gradientsInPlace", plan.gradients.isInPlace, true);
    add("dataType", std::string(ToString(plan.precision.compute)), "bf16");
    add("gradientType", std::string(ToString(plan.precision.gradient)), "fp32");
    add("masterWeights", plan.precision.hasMaster, true);
    add("frozenType", std::string(GetFrozenType(plan.precision)), "16-bit");
    add("optimizer", std::string(ToString(plan.optimizer.kind)), "adam");
    add("fusedOptimizer", plan.optimizer.isFused, true);
    add("offloadOptimizer", plan.optimizer.isOffloaded, false);
    return root;
}

} // namespace

void
WritePlanJson(const ParallelPlan& plan,
              const std::string& name,
              std::ostream& output,
              const std::map<std::string, std::string>& defaults)
{
    Json root = Json::object();
    root["name"] = name;
    root.update(MakePlan(plan, defaults));
    output << root.dump(1) << '\n';
}

std::string
FormatPlan(const ParallelPlan& plan, const std::map<std::string, std::string>& defaults)
{
    std::string text;
    const Json fields = MakePlan(plan, defaults);
    for (const auto& [name, value] : fields.items())
    {
        const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
        text += (text.empty() ? "" : ",") + name + "=" + word;
    }
    return text;
}

void
WriteStrategyJson(const StrategyTree& tree, std::ostream& output)
{
    Json root;
    root["format"] = "proteus-strategy";
    root["version"] = 1;
    root["name"] = tree.name;
    root["batch"] = tree.batch;
    if (!tree.axisNames.empty())
    {
        root["mesh"]["axes"] = tree.axisNames;
        root["mesh"]["sizes"] = tree.axisSizes;
    }
    root["uneven"] = tree.isUnevenAllowed;
    if (tree.hasRepresentative)
    {
        root["representative"] = true;
    }
    root["splitBackward"] = tree.isSplitBackward;
    WriteSchedule(tree.schedule, root["schedule"]);
    Json& gradients = root["gradients"];
    gradients["buckets"] = ToString(tree.gradients.policy);
    gradients["bucketMbytes"] = tree.gradients.bucketMegabytes;
    gradients["firstBucketMbytes"] = tree.gradients.firstBucketMegabytes;
    gradients["inPlace"] = tree.gradients.isInPlace;
    Json& optimizer = root["optimizer"];
    optimizer["kind"] = ToString(tree.optimizer.kind);
    optimizer["fused"] = tree.optimizer.isFused;
    if (tree.optimizer.isImmediate)
    {
        optimizer["immediate"] = true;
    }
    optimizer["zero"] = tree.optimizer.zero;
    optimizer["zeroAxes"] = tree.optimizer.zeroAxes;
    if (!tree.optimizer.expertZeroAxes.empty())
    {
        optimizer["expertZeroAxes"] = tree.optimizer.expertZeroAxes;
    }
    optimizer[GetGradientsKey(tree.optimizer)] = GetGradientsForm(tree.optimizer);
    optimizer["zero1Gathers"] = GetZero1Gathers(tree.optimizer);
    optimizer["zero3Gathers"] = GetZero3Form(tree.optimizer);
    optimizer["zero3Shares"] = GetZero3Shares(tree.optimizer);
    optimizer["offload"] = tree.optimizer.isOffloaded;
    optimizer["hostLinkGbytesPerS"] = tree.optimizer.hostLinkGigabytesPerSecond;
    optimizer["hostMemoryGbytesPerS"] = tree.optimizer.hostMemoryGigabytesPerSecond;
    root["precision"]["compute"] = ToString(tree.precision.compute);
    root["precision"]["gradients"] = ToString(tree.precision.gradient);
    if (!tree.precision.hasMaster)
    {
        root["precision"]["masterWeights"] = false;
    }
    if (tree.precision.hasFrozenInFourBits)
    {
        root["precision"]["frozenType"] = GetFrozenType(tree.precision);
    }
    root["tree"] = MakeNode(tree.root, true);
    output << root.dump(1) << '\n';
}

} // namespace proteus
} // namespace ns3
