/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-json.h"

#include "proteus-input-file.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-placement.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-strategy";
constexpr double MOST_MBYTES = 1e9;
constexpr double MOST_GBYTES_PER_S = 1e6;
constexpr double MOST_SAMPLES_PER_S = 1e12;
constexpr std::size_t MAX_BYTES = std::size_t{64} << 20; //!< of a file
constexpr uint32_t MAX_STAGES = 1U << 16;
constexpr uint32_t MAX_ZERO = 3;
/// Nodes within nodes that are still no attack on the stack. Each is an object in a list.
constexpr uint32_t MAX_TREE_DEPTH = 64;
constexpr std::size_t MAX_JSON_DEPTH = 2 * MAX_TREE_DEPTH + 8;

/// Reads a field if it is there.
template <typename T>
void
ReadCount(const JsonValue& object, const char* key, uint64_t least, uint64_t most, T& value)
{
    if (const auto field = object.Find(key))
    {
        value = static_cast<T>(field->AsWhole(least, most));
    }
}

void
ReadBool(const JsonValue& object, const char* key, bool& value)
{
    if (const auto field = object.Find(key))
    {
        value = field->AsBool();
    }
}

void
ReadPositive(const JsonValue& object, const char* key, double most, double& value)
{
    if (const auto field = object.Find(key))
    {
        value = field->AsNumber(1e-9, most);
    }
}

template <typename T, typename F>
void
ReadName(const JsonValue& object, const char* key, F fromString, T& value)
{
    if (const auto field = object.Find(key))
    {
        const std::string& text = field->AsName();
        value = field->Check([&] { return fromString(text); });
    }
}

/// @param value name of an axis @return it; an axis without a name cannot be meant
const std::string&
ReadAxis(const JsonValue& value)
{
    const std::string& name = value.AsName();
    if (name.empty())
    {
        value.Fail("must be the name of an axis, not empty");
    }
    return name;
}

/// @param list of names of axes @param allowsNone whether axes may be without a name
/// @return them
std::vector<std::string>
ReadNames(const JsonValue& list, bool allowsNone = false)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        const JsonValue element = list.At(i);
        const std::string& name = allowsNone ? element.AsName() : ReadAxis(element);
        if (!name.empty() && std::find(names.begin(), names.end(), name) != names.end())
        {
            element.Fail("'" + name + "' stands in the list twice");
        }
        names.push_back(name);
    }
    return names;
}

/// Reads what plans and trees say alike of passes. @param object a plan, or a tree's schedule
void
ReadPasses(const JsonValue& object, ScheduleSpec& schedule)
{
    if (const auto list = object.Find("maxInFlight"))
    {
        for (std::size_t i = 0; i < list->Size(); ++i)
        {
            schedule.maxInFlight.push_back(
                static_cast<uint32_t>(list->At(i).AsWhole(0, MAX_MICRO_BATCHES)));
        }
    }
    ReadCount(object, "interleave", 0, MAX_MICRO_BATCHES, schedule.interleave);
    ReadBool(object, "scatterGather", schedule.isScatterGather);
    ReadBool(object, "tpOverlap", schedule.overlapsTensor);
    ReadBool(object, "cpOverlap", schedule.overlapsContext);
    ReadBool(object, "overlapExpertCommunication", schedule.overlapsExperts);
    ReadBool(object, "delayWeightGradients", schedule.delaysWeights);
    ReadName(object, "expertDispatch", ExpertDispatchFromString, schedule.expertDispatch);
    ReadCount(object, "expertDomain", 1, MAX_DEVICES, schedule.expertDomain);
    ReadBool(object, "recomputeStopsEarly", schedule.stopsRecomputation);
    ReadBool(object, "forwardFirst", schedule.runsForwardFirst);
    ReadPositive(object, "dataSamplesPerS", MOST_SAMPLES_PER_S, schedule.dataSamplesPerSecond);
}

/// What a plan says, beside the head of its file.
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
    "dataSamplesPerS",
    "scatterGather",
    "tpOverlap",
    "cpOverlap",
    "overlapExpertCommunication",
    "delayWeightGradients",
    "expertDispatch",
    "expertDomain",
    "recomputeStopsEarly",
    "forwardFirst",
    "sequenceParallel",
    "zero",
    "zero1Gradients",
    "zero1Gathers",
    "zero3Gathers",
    "zero3Shares",
    "globalBatch",
    "microBatch",
    "recompute",
    "recomputeEvery",
    "schedule",
    "maxInFlight",
    "interleave",
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

/// Of two forms, the one that a field names.
/// @param object with the field @param key of it @param first form @param second form
/// @param isFirst is set if the field is there
void
ReadForm(const JsonValue& object,
         const char* key,
         const std::string& first,
         const std::string& second,
         bool& isFirst)
{
    if (const auto value = object.Find(key))
    {
        const std::string name = value->AsName();
        if (name != first && name != second)
        {
            value->Fail("must be \"" + first + "\" or \"" + second + "\"");
        }
        isFirst = name == first;
    }
}

void
ReadZeroForms(const JsonValue& object, OptimizerSpec& optimizer)
{
    ReadForm(object, "zero1Gradients", "reduce-scatter", "all-reduce", optimizer.scattersGradients);
    ReadForm(object, "zero1Gathers", "forward", "update", optimizer.gathersInForward);
    ReadForm(object, "zero3Gathers", "unit", "tensor", optimizer.gathersUnits);
    ReadForm(object, "zero3Shares", "16-bit", "fp32", optimizer.hasHalfShares);
}

/// Reads how weights are kept. @param object with the fields @param precision that gets them
void
ReadStored(const JsonValue& object, PrecisionSpec& precision)
{
    ReadBool(object, "masterWeights", precision.hasMaster);
    ReadForm(object, "frozenType", "nf4", "16-bit", precision.hasFrozenInFourBits);
}

/// @return whether so many devices do the same that the graph of all would be needlessly large
bool
IsRepresentativeByDefault(const ParallelPlan& plan)
{
    constexpr uint32_t MOST_DEVICES = 256;
    return plan.dataParallel > MOST_DEVICES && plan.optimizer.zero == MAX_ZERO &&
           !plan.optimizer.isOffloaded && plan.GetNDevices() == plan.dataParallel &&
           plan.expertParallel == 1 && plan.expertTensorParallel == 0 && plan.virtualStages == 1;
}

ParallelPlan
ReadPlan(const JsonValue& root)
{
    std::vector<const char*> keys{"format", "version", "name"};
    keys.insert(keys.end(), PLAN_FIELDS.begin(), PLAN_FIELDS.end());
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
    ReadZeroForms(root, plan.optimizer);
    ReadCount(root, "globalBatch", 1, std::numeric_limits<uint32_t>::max(), plan.globalBatch);
    ReadCount(root, "microBatch", 1, std::numeric_limits<uint32_t>::max(), plan.microBatch);
    ReadName(root, "recompute", RecomputePlanFromString, plan.recompute);
    ReadCount(root, "recomputeEvery", 1, MAX_STAGES, plan.recomputeEvery);
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
    ReadName(root, "buckets", BucketPolicyFromString, plan.gradients.policy);
    ReadPositive(root, "bucketMbytes", MOST_MBYTES, plan.gradients.bucketMegabytes);
    ReadPositive(root, "firstBucketMbytes", MOST_MBYTES, plan.gradients.firstBucketMegabytes);
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

/// The devices of a nested list; every list of a level has the same length.
void
ReadGrid(const JsonValue& value, std::size_t level, MeshSpec& mesh)
{
    if (!value.IsList())
    {
        if (level != mesh.sizes.size())
        {
            value.Fail("a mesh must have a device, or a list, wherever another row has one");
        }
        mesh.devices.push_back(static_cast<DeviceId>(value.AsWhole(0, MAX_DEVICES - 1)));
        return;
    }
    const auto size = static_cast<uint32_t>(value.Size());
    if (size == 0)
    {
        value.Fail("a mesh without devices");
    }
    if (mesh.devices.empty() && level == mesh.sizes.size())
    {
        mesh.sizes.push_back(size);
    }
    else if (level >= mesh.sizes.size() || mesh.sizes[level] != size)
    {
        value.Fail("a mesh must have rows of equal length");
    }
    for (uint32_t i = 0; i < size; ++i)
    {
        ReadGrid(value.At(i), level + 1, mesh);
    }
}

ItemSpec
ReadItem(const JsonValue& node)
{
    ItemSpec item;
    if (const auto value = node.Find("mesh"))
    {
        MeshSpec mesh;
        if (value->IsObject())
        {
            for (const std::string& axis : value->GetKeys())
            {
                mesh.slice[axis] =
                    static_cast<uint32_t>(value->Get(axis.c_str()).AsWhole(0, MAX_DEVICES));
            }
        }
        else if (value->IsList())
        {
            ReadGrid(*value, 0, mesh);
        }
        else
        {
            value->Fail("must be a list of devices, e.g. [0, 1], or positions by axis, e.g. "
                        "{\"dp\": 0}, not " +
                        value->Shown());
        }
        if (const auto names = node.Find("axes"))
        {
            if (value->IsObject())
            {
                names->Fail("belongs to a list of devices: positions have the names of their axes");
            }
            mesh.names = ReadNames(*names, true);
        }
        item.mesh = mesh;
    }
    else if (const auto names = node.Find("axes"))
    {
        names->Fail("names the axes of 'mesh', a list of devices, which is missing here");
    }
    if (const auto split = node.Find("split"))
    {
        item.splits.emplace();
        for (const std::string& dimension : split->GetKeys())
        {
            const JsonValue value = split->Get(dimension.c_str());
            SplitSpec spec;
            spec.dimension = dimension;
            if (value.IsList())
            {
                spec.axes = ReadNames(value);
                if (spec.axes.empty())
                {
                    value.Fail("no axes; leave the dimension out");
                }
            }
            else if (value.IsString())
            {
                spec.axes = {ReadAxis(value)};
            }
            else
            {
                spec.parts = value.AsWhole(1, MAX_DEVICES);
            }
            item.splits->push_back(spec);
        }
    }
    ReadBool(node, "complete", item.isComplete);
    if (const auto partial = node.Find("partial"))
    {
        item.partial = ReadNames(*partial);
    }
    return item;
}

StrategyNode
ReadNode(const JsonValue& value, uint32_t depth)
{
    if (depth > MAX_TREE_DEPTH)
    {
        value.Fail("the tree is more than " + std::to_string(MAX_TREE_DEPTH) + " nodes deep");
    }
    value.AllowKeys(
        "a node",
        {"name", "mesh", "axes", "split", "complete", "items", "stage", "recompute", "children"});
    StrategyNode node;
    if (depth > 0)
    {
        node.name = value.Get("name").AsName();
        value.Get("name").Check([&] { return MatchesPattern(node.name, "x0"); });
    }
    node.op = ReadItem(value);
    if (const auto items = value.Find("items"))
    {
        for (const std::string& item : items->GetKeys())
        {
            const JsonValue config = items->Get(item.c_str());
            config.AllowKeys("an item", {"mesh", "axes", "split", "partial"});
            node.items[item] = ReadItem(config);
        }
    }
    if (const auto stage = value.Find("stage"))
    {
        node.stage = static_cast<uint32_t>(stage->AsWhole(0, MAX_STAGES));
    }
    if (const auto recompute = value.Find("recompute"))
    {
        node.recompute = recompute->AsBool();
    }
    if (const auto children = value.Find("children"))
    {
        for (std::size_t i = 0; i < children->Size(); ++i)
        {
            node.children.push_back(ReadNode(children->At(i), depth + 1));
        }
    }
    return node;
}

void
ReadMesh(const JsonValue& mesh, StrategyTree& tree)
{
    mesh.AllowKeys("a mesh", {"axes", "sizes"});
    tree.axisNames = ReadNames(mesh.Get("axes"));
    const JsonValue sizes = mesh.Get("sizes");
    for (std::size_t i = 0; i < sizes.Size(); ++i)
    {
        tree.axisSizes.push_back(static_cast<uint32_t>(sizes.At(i).AsWhole(1, MAX_DEVICES)));
    }
    if (tree.axisNames.size() != tree.axisSizes.size())
    {
        mesh.Fail("has " + std::to_string(tree.axisNames.size()) + " axes and " +
                  std::to_string(tree.axisSizes.size()) + " sizes");
    }
}

void
ReadSchedule(const JsonValue& schedule, StrategyTree& tree)
{
    schedule.AllowKeys("a schedule",
                       {"kind",
                        "microBatches",
                        "maxInFlight",
                        "interleave",
                        "scatterGather",
                        "tpOverlap",
                        "cpOverlap",
                        "overlapExpertCommunication",
                        "delayWeightGradients",
                        "expertDispatch",
                        "expertDomain",
                        "recomputeStopsEarly",
                        "forwardFirst",
                        "dataSamplesPerS"});
    ReadName(schedule, "kind", ScheduleKindFromString, tree.schedule.kind);
    ReadCount(schedule, "microBatches", 1, MAX_MICRO_BATCHES, tree.schedule.microBatches);
    ReadPasses(schedule, tree.schedule);
}

void
ReadGradients(const JsonValue& gradients, StrategyTree& tree)
{
    gradients.AllowKeys("the gradients",
                        {"buckets", "bucketMbytes", "firstBucketMbytes", "inPlace"});
    ReadName(gradients, "buckets", BucketPolicyFromString, tree.gradients.policy);
    ReadPositive(gradients, "bucketMbytes", MOST_MBYTES, tree.gradients.bucketMegabytes);
    ReadPositive(gradients, "firstBucketMbytes", MOST_MBYTES, tree.gradients.firstBucketMegabytes);
    ReadBool(gradients, "inPlace", tree.gradients.isInPlace);
}

void
ReadOptimizer(const JsonValue& optimizer, StrategyTree& tree)
{
    optimizer.AllowKeys("an optimizer",
                        {"kind",
                         "fused",
                         "immediate",
                         "zero",
                         "zeroAxes",
                         "expertZeroAxes",
                         "zero1Gradients",
                         "zero1Gathers",
                         "zero3Gathers",
                         "zero3Shares",
                         "offload",
                         "hostLinkGbytesPerS",
                         "hostMemoryGbytesPerS"});
    ReadName(optimizer, "kind", OptimizerKindFromString, tree.optimizer.kind);
    ReadBool(optimizer, "immediate", tree.optimizer.isImmediate);
    tree.optimizer.isFused = !tree.optimizer.isImmediate;
    ReadBool(optimizer, "fused", tree.optimizer.isFused);
    ReadCount(optimizer, "zero", 0, MAX_ZERO, tree.optimizer.zero);
    ReadZeroForms(optimizer, tree.optimizer);
    if (const auto axes = optimizer.Find("zeroAxes"))
    {
        tree.optimizer.zeroAxes = ReadNames(*axes);
    }
    if (const auto axes = optimizer.Find("expertZeroAxes"))
    {
        tree.optimizer.expertZeroAxes = ReadNames(*axes);
    }
    ReadBool(optimizer, "offload", tree.optimizer.isOffloaded);
    ReadPositive(optimizer,
                 "hostLinkGbytesPerS",
                 MOST_GBYTES_PER_S,
                 tree.optimizer.hostLinkGigabytesPerSecond);
    ReadPositive(optimizer,
                 "hostMemoryGbytesPerS",
                 MOST_GBYTES_PER_S,
                 tree.optimizer.hostMemoryGigabytesPerSecond);
}

void
ReadPrecision(const JsonValue& precision, StrategyTree& tree)
{
    precision.AllowKeys("a precision", {"compute", "gradients", "masterWeights", "frozenType"});
    ReadName(precision, "compute", DataTypeFromString, tree.precision.compute);
    ReadName(precision, "gradients", DataTypeFromString, tree.precision.gradient);
    ReadStored(precision, tree.precision);
}

/// Reads a part of the file if it is there.
void
ReadPart(const JsonValue& root,
         const char* key,
         void (*read)(const JsonValue&, StrategyTree&),
         StrategyTree& tree)
{
    if (const auto part = root.Find(key))
    {
        read(*part, tree);
    }
}

StrategyTree
ReadTree(const JsonValue& root)
{
    root.AllowKeys("a strategy",
                   {"format",
                    "version",
                    "name",
                    "batch",
                    "mesh",
                    "uneven",
                    "representative",
                    "splitBackward",
                    "schedule",
                    "gradients",
                    "optimizer",
                    "precision",
                    "tree"});
    StrategyTree tree;
    if (const auto name = root.Find("name"))
    {
        tree.name = name->AsName();
    }
    ReadCount(root, "batch", 1, std::numeric_limits<uint32_t>::max(), tree.batch);
    ReadPart(root, "mesh", &ReadMesh, tree);
    ReadBool(root, "uneven", tree.isUnevenAllowed);
    ReadBool(root, "representative", tree.hasRepresentative);
    ReadBool(root, "splitBackward", tree.isSplitBackward);
    ReadPart(root, "schedule", &ReadSchedule, tree);
    ReadPart(root, "gradients", &ReadGradients, tree);
    ReadPart(root, "optimizer", &ReadOptimizer, tree);
    ReadPart(root, "precision", &ReadPrecision, tree);
    tree.root = ReadNode(root.Get("tree"), 0);
    return tree;
}

/// @param root of a tree @param node somewhere in it @param pointer JSON pointer of the root
/// @return that of the node; empty if it is not there
std::string
FindPlace(const StrategyNode& root, const StrategyNode* node, const std::string& pointer)
{
    std::string place = &root == node ? pointer : "";
    for (std::size_t i = 0; i < root.children.size() && place.empty(); ++i)
    {
        place = FindPlace(root.children[i], node, pointer + "/children/" + std::to_string(i));
    }
    return place;
}

} // namespace

const std::vector<const char*>&
ListPlanFields()
{
    return PLAN_FIELDS;
}

std::map<std::string, int64_t>
StrategyFile::GetVariables() const
{
    if (plan)
    {
        try
        {
            plan->GetNMicroBatches(); // checks the sizes
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument(name + ": " + error.what());
        }
        return GetModelVariables(*plan);
    }
    std::map<std::string, int64_t> variables{{"batch", static_cast<int64_t>(tree.batch)}};
    for (std::size_t i = 0; i < tree.axisNames.size(); ++i)
    {
        if (GetLayerRole(tree.axisNames[i]) == "tp")
        {
            int64_t& size = variables.emplace("tensorParallel", 1).first->second;
            size *= tree.axisSizes[i];
        }
    }
    return variables;
}

StrategyTree
StrategyFile::GetTree(const Model& model) const
{
    try
    {
        if (plan)
        {
            return ExpandPlan(model, *plan);
        }
        PlaceModel(model, tree); // what is wrong with a node is said here, with its place
        return tree;
    }
    catch (const StrategyNodeError& error)
    {
        throw std::invalid_argument(name + ": " + FindPlace(tree.root, error.node, "/tree") + ": " +
                                    error.what());
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(name + ": " + error.what());
    }
}

StrategyFile
ReadStrategyJson(std::istream& input,
                 const std::string& fileName,
                 const std::map<std::string, std::string>& plan)
{
    const std::string text = ReadWhole(input, fileName, MAX_BYTES);
    std::istringstream copy(text);
    const JsonDocument document(copy, fileName, MAX_JSON_DEPTH);
    const JsonValue root = document.GetRoot();
    if (root.Has("format") || root.Has("tree"))
    {
        document.CheckFormat(FORMAT, 1);
    }
    else if (const auto version = root.Find("version"))
    {
        version->AsWhole(1, 1);
    }
    StrategyFile file;
    file.name = fileName;
    if (root.Has("tree"))
    {
        file.tree = ReadTree(root);
    }
    else
    {
        nlohmann::json whole = nlohmann::json::parse(text);
        for (const auto& [field, value] : plan)
        {
            if (!whole.contains(field))
            {
                whole[field] = nlohmann::json::parse(value);
            }
        }
        file.plan = ReadPlan(JsonDocument(fileName, "", std::move(whole)).GetRoot());
    }
    return file;
}

StrategyFile
LoadStrategy(const std::string& path, const std::map<std::string, std::string>& plan)
{
    InputFile file(path);
    return ReadStrategyJson(file.GetStream(), path, plan);
}

} // namespace proteus
} // namespace ns3
