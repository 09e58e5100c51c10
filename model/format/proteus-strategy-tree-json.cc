/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-tree-json.h"

#include "proteus-strategy-fields.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double MOST_GBYTES_PER_S = 1e6;

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
    value.AllowKeys("a node",
                    {"name",
                     "mesh",
                     "axes",
                     "split",
                     "complete",
                     "items",
                     "stage",
                     "recompute",
                     "keep",
                     "children"});
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
        node.recomputeGroup = recompute->IsString() ? recompute->AsName() : "";
        node.recompute = recompute->IsString() || recompute->AsBool();
    }
    if (const auto keep = value.Find("keep"))
    {
        node.keep = keep->AsBool();
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
    std::vector<const char*> keys{"kind", "microBatches"};
    keys.insert(keys.end(), ListPassFields().begin(), ListPassFields().end());
    schedule.AllowKeys("a schedule", keys);
    ReadName(schedule, "kind", ScheduleKindFromString, tree.schedule.kind);
    ReadCount(schedule, "microBatches", 1, MAX_MICRO_BATCHES, tree.schedule.microBatches);
    ReadPasses(schedule, tree.schedule);
}

void
ReadGradients(const JsonValue& gradients, StrategyTree& tree)
{
    gradients.AllowKeys("the gradients",
                        {"buckets", "bucketMbytes", "firstBucketMbytes", "inPlace"});
    ReadBuckets(gradients, tree.gradients);
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
                         "zero2Gradients",
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

} // namespace

StrategyTree
ReadTreeJson(const JsonValue& root)
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

} // namespace proteus
} // namespace ns3
