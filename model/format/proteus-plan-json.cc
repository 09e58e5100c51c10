/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-json.h"

#include "proteus-strategy-fields.h"

#include "ns3/proteus-split.h"

#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a plan says, beside the head of its file and what is said of passes.
const std::vector<const char*> PLAN_FIELDS{
    "dp",
    "tp",
    "pp",
    "virtualStages",
    "cp",
    "ep",
    "etp",
    "firstStageBlocks",
    "lastStageBlocks",
    "mapping",
    "embeddingAsBlock",
    "headAsBlock",
    "representative",
    "sequenceParallel",
    "zero",
    "zero1Gradients",
    "zeroGroup",
    "zero1Gathers",
    "zero2Gradients",
    "zero3Gathers",
    "zero3Shares",
    "globalBatch",
    "microBatch",
    "recompute",
    "recomputeEvery",
    "recomputeKeeps",
    "recomputeModules",
    "schedule",
    "dataType",
    "gradientType",
    "masterWeights",
    "frozenType",
    "buckets",
    "bucketMbytes",
    "firstBucketMbytes",
    "gradientsInPlace",
    "optimizer",
    "fusedOptimizer",
    "immediateUpdates",
    "offloadOptimizer",
};

/// @param text names with + between them @return the names
std::set<std::string>
SplitNames(const std::string& text)
{
    const std::vector<std::string> parts = SplitList(text, '+');
    const std::set<std::string> names(parts.begin(), parts.end());
    if (names.count("") > 0)
    {
        throw std::invalid_argument("'" + text + "' is not NAME+NAME...");
    }
    if (names.size() < parts.size())
    {
        throw std::invalid_argument("'" + text + "' has a name twice");
    }
    return names;
}

/// @return whether so many devices do the same that the graph of all would be needlessly large
bool
IsRepresentativeByDefault(const ParallelPlan& plan)
{
    constexpr uint32_t MOST_DEVICES = 256;
    return plan.dataParallel > MOST_DEVICES && plan.optimizer.zero == MAX_ZERO &&
           !plan.optimizer.isOffloaded && plan.GetNDevices() == plan.dataParallel &&
           plan.expertParallel == 1 && plan.expertTensorParallel == 0 && plan.virtualStages == 1 &&
           plan.zeroGroup == 0;
}

} // namespace

const std::vector<const char*>&
ListPlanFields()
{
    static const std::vector<const char*> fields = [] {
        std::vector<const char*> all = PLAN_FIELDS;
        all.insert(all.end(), ListPassFields().begin(), ListPassFields().end());
        return all;
    }();
    return fields;
}

ParallelPlan
ReadPlanJson(const JsonValue& root)
{
    std::vector<const char*> keys{"format", "version", "name"};
    keys.insert(keys.end(), ListPlanFields().begin(), ListPlanFields().end());
    root.AllowKeys("a plan", keys);
    ParallelPlan plan;
    plan.precision.compute = DataType::BF16;
    plan.gradients.isInPlace = true;
    ReadCount(root, "dp", 1, MAX_DEVICES, plan.dataParallel);
    ReadCount(root, "tp", 1, MAX_DEVICES, plan.tensorParallel);
    ReadCount(root, "pp", 1, MAX_DEVICES, plan.pipelineParallel);
    ReadCount(root, "virtualStages", 1, MAX_DEVICES, plan.virtualStages);
    ReadCount(root, "cp", 1, MAX_DEVICES, plan.contextParallel);
    ReadCount(root, "ep", 1, MAX_DEVICES, plan.expertParallel);
    ReadCount(root, "etp", 1, MAX_DEVICES, plan.expertTensorParallel);
    ReadCount(root, "firstStageBlocks", 1, MAX_STAGES, plan.firstStageBlocks);
    ReadCount(root, "lastStageBlocks", 1, MAX_STAGES, plan.lastStageBlocks);
    ReadBool(root, "embeddingAsBlock", plan.isEmbeddingBlock);
    ReadBool(root, "headAsBlock", plan.isHeadBlock);
    ReadForm(root, "mapping", "tp-pp-dp", "tp-dp-pp", plan.isPipelineInside);
    ReadBool(root, "sequenceParallel", plan.isSequenceParallel);
    ReadCount(root, "zero", 0, MAX_ZERO, plan.optimizer.zero);
    ReadCount(root, "zeroGroup", 1, MAX_DEVICES, plan.zeroGroup);
    ReadZeroForms(root, plan.optimizer);
    ReadCount(root, "globalBatch", 1, std::numeric_limits<uint32_t>::max(), plan.globalBatch);
    ReadCount(root, "microBatch", 1, std::numeric_limits<uint32_t>::max(), plan.microBatch);
    ReadName(root, "recompute", RecomputePlanFromString, plan.recompute);
    ReadCount(root, "recomputeEvery", 1, MAX_STAGES, plan.recomputeEvery);
    ReadName(root, "recomputeKeeps", SplitNames, plan.recomputeKeeps);
    ReadName(root, "recomputeModules", SplitNames, plan.recomputeModules);
    plan.schedule.kind =
        plan.virtualStages > 1 ? ScheduleKind::INTERLEAVED : ScheduleKind::ONE_FORWARD_ONE_BACKWARD;
    ReadName(root, "schedule", ScheduleKindFromString, plan.schedule.kind);
    ReadPasses(root, plan.schedule);
    ReadName(root, "dataType", DataTypeFromString, plan.precision.compute);
    ReadName(root, "gradientType", DataTypeFromString, plan.precision.gradient);
    ReadStored(root, plan.precision);
    // One default for all stages of ZeRO, so that they differ only in what replicas share. It is
    // buckets, since gradients of which a device keeps a share are never to be there whole.
    plan.gradients.policy = BucketPolicy::DDP;
    ReadBuckets(root, plan.gradients);
    ReadBool(root, "gradientsInPlace", plan.gradients.isInPlace);
    ReadName(root, "optimizer", OptimizerKindFromString, plan.optimizer.kind);
    ReadBool(root, "immediateUpdates", plan.optimizer.isImmediate);
    plan.optimizer.isFused = !plan.optimizer.isImmediate;
    ReadBool(root, "fusedOptimizer", plan.optimizer.isFused);
    ReadBool(root, "offloadOptimizer", plan.optimizer.isOffloaded);
    plan.hasRepresentative = IsRepresentativeByDefault(plan);
    ReadBool(root, "representative", plan.hasRepresentative);
    return plan;
}

} // namespace proteus
} // namespace ns3
