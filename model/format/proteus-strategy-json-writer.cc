/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
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
    if (node.recompute)
    {
        object["recompute"] = *node.recompute;
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

} // namespace

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
    root["splitBackward"] = tree.isSplitBackward;
    Json& schedule = root["schedule"];
    schedule["kind"] = ToString(tree.schedule.kind);
    schedule["microBatches"] = tree.schedule.microBatches;
    if (!tree.schedule.maxInFlight.empty())
    {
        schedule["maxInFlight"] = tree.schedule.maxInFlight;
    }
    schedule["interleave"] = tree.schedule.interleave;
    Json& gradients = root["gradients"];
    gradients["buckets"] = ToString(tree.gradients.policy);
    gradients["bucketMbytes"] = tree.gradients.bucketMegabytes;
    gradients["firstBucketMbytes"] = tree.gradients.firstBucketMegabytes;
    gradients["inPlace"] = tree.gradients.isInPlace;
    Json& optimizer = root["optimizer"];
    optimizer["kind"] = ToString(tree.optimizer.kind);
    optimizer["fused"] = tree.optimizer.isFused;
    optimizer["zero"] = tree.optimizer.zero;
    optimizer["zeroAxes"] = tree.optimizer.zeroAxes;
    optimizer["offload"] = tree.optimizer.isOffloaded;
    optimizer["hostLinkGbytesPerS"] = tree.optimizer.hostLinkGigabytesPerSecond;
    optimizer["hostMemoryGbytesPerS"] = tree.optimizer.hostMemoryGigabytesPerSecond;
    root["precision"]["compute"] = ToString(tree.precision.compute);
    root["precision"]["gradients"] = ToString(tree.precision.gradient);
    root["tree"] = MakeNode(tree.root, true);
    output << root.dump(1) << '\n';
}

} // namespace proteus
} // namespace ns3
