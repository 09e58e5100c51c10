/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-placement-config.h"

#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param names of axes @return them as a message lists them
std::string
ListAxes(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
    {
        AppendName(text, name.empty() ? "one without name" : name);
    }
    return text.empty() ? "none" : text;
}

/// @throw std::invalid_argument unless the mesh of a strategy has devices, and the axes of a slice
void
CheckSlice(const StrategyTree& tree, const MeshSpec& spec)
{
    uint64_t all = 1;
    for (const uint32_t size : tree.axisSizes)
    {
        all *= size;
        if (size == 0 || all > MAX_DEVICES)
        {
            throw std::invalid_argument("the strategy's mesh has an axis of size " +
                                        std::to_string(size) + "; it must have 1 to " +
                                        std::to_string(MAX_DEVICES) + " devices");
        }
    }
    for (const auto& [name, coordinate] : spec.slice)
    {
        const auto found = std::find(tree.axisNames.begin(), tree.axisNames.end(), name);
        if (found == tree.axisNames.end())
        {
            throw std::invalid_argument("mesh axis \"" + name + "\" does not exist; the axes are " +
                                        ListAxes(tree.axisNames));
        }
        const uint32_t size = tree.axisSizes[found - tree.axisNames.begin()];
        if (coordinate >= size)
        {
            throw std::invalid_argument("there are no devices at " + name + " = " +
                                        std::to_string(coordinate) + ": the mesh has " +
                                        std::to_string(size) + " along " + name);
        }
    }
}

/// @return the axes of a split, by name
std::vector<MeshAxis>
FindAxes(const DeviceMesh& mesh, const SplitSpec& split)
{
    std::vector<MeshAxis> axes;
    for (const std::string& name : split.axes)
    {
        const uint32_t axis = mesh.FindAxis(name);
        if (axis == NO_ID)
        {
            throw std::invalid_argument(
                "dimension " + split.dimension + " is to be split over the mesh axis \"" + name +
                "\", which does not exist; the axes are " + ListAxes(mesh.GetNames()));
        }
        axes.push_back(static_cast<MeshAxis>(axis));
    }
    return axes;
}

/// Splits into numbers of parts, the first one outermost: it goes over the first axis of the mesh.
void
SplitIntoParts(const std::vector<const SplitSpec*>& splits, MeshConfig& config)
{
    const DeviceMesh mesh = config.mesh;
    config.isComplete = true;
    uint64_t degree = 1;
    std::vector<uint32_t> parts;
    for (const SplitSpec* split : splits)
    {
        if (split->parts == 0 || split->parts > MAX_DEVICES)
        {
            throw std::invalid_argument("dimension " + split->dimension + " is split into " +
                                        std::to_string(split->parts) + " parts");
        }
        auto& axes = config.splits.emplace_back(split->dimension, std::vector<MeshAxis>()).second;
        if (split->parts > 1) // one part has no axis, but its dimension has to be there, too
        {
            axes.push_back(static_cast<MeshAxis>(parts.size()));
            parts.push_back(static_cast<uint32_t>(split->parts));
        }
        degree *= split->parts;
    }
    const std::size_t nDevices = mesh.GetDevices().size();
    if (degree > nDevices || nDevices % degree != 0)
    {
        throw std::invalid_argument(
            "dimension " + splits.back()->dimension + ": all splits together make " +
            std::to_string(degree) + " parts, which its mesh of " + std::to_string(nDevices) +
            " device" + (nDevices == 1 ? "" : "s") + " cannot share evenly");
    }
    std::vector<uint32_t> leading = mesh.GetSizes();
    leading.resize(std::min(parts.size(), leading.size()));
    if (leading != parts)
    {
        std::vector<uint32_t> sizes = parts;
        if (degree < nDevices)
        {
            sizes.push_back(static_cast<uint32_t>(nDevices / degree));
        }
        config.mesh = DeviceMesh(sizes, mesh.GetDevices());
    }
}

} // namespace

DeviceMesh
MakeMesh(const StrategyTree& tree, const MeshSpec& spec)
{
    if (!spec.devices.empty())
    {
        return DeviceMesh(spec.sizes, spec.devices, spec.names);
    }
    CheckSlice(tree, spec);
    std::vector<DeviceId> devices{0};
    std::vector<uint32_t> sizes;
    std::vector<std::string> names;
    uint64_t stride = 1;
    for (const uint32_t size : tree.axisSizes)
    {
        stride *= size;
    }
    for (std::size_t i = 0; i < tree.axisSizes.size(); ++i)
    {
        stride /= tree.axisSizes[i];
        const auto fixed = spec.slice.find(tree.axisNames[i]);
        const bool isFixed = fixed != spec.slice.end();
        std::vector<DeviceId> next;
        for (const DeviceId device : devices)
        {
            for (uint32_t k = 0; k < tree.axisSizes[i]; ++k)
            {
                if (!isFixed || fixed->second == k)
                {
                    next.push_back(static_cast<DeviceId>(device + k * stride));
                }
            }
        }
        devices = std::move(next);
        if (!isFixed)
        {
            sizes.push_back(tree.axisSizes[i]);
            names.push_back(tree.axisNames[i]);
        }
    }
    return DeviceMesh(sizes, devices, names);
}

MeshConfig
MakeConfig(const DeviceMesh& mesh,
           const std::vector<SplitSpec>& splits,
           const std::map<std::string, uint32_t>& order)
{
    MeshConfig config;
    config.mesh = mesh;
    std::vector<std::pair<uint32_t, const SplitSpec*>> byParts;
    for (const SplitSpec& split : splits)
    {
        if (split.axes.empty())
        {
            const auto found = order.find(split.dimension);
            byParts.emplace_back(found == order.end() ? 0 : found->second, &split);
            continue;
        }
        config.splits.emplace_back(split.dimension, FindAxes(mesh, split));
    }
    if (byParts.empty())
    {
        return config;
    }
    if (!config.splits.empty())
    {
        throw std::invalid_argument("dimension " + byParts[0].second->dimension +
                                    " is split into parts and another over named axes; use one "
                                    "form for all");
    }
    std::sort(byParts.begin(), byParts.end());
    std::vector<const SplitSpec*> inOrder;
    for (const auto& [position, split] : byParts)
    {
        inOrder.push_back(split);
    }
    SplitIntoParts(inOrder, config);
    return config;
}

} // namespace proteus
} // namespace ns3
