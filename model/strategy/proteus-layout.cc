/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

uint64_t
CountElements(const Box& box)
{
    uint64_t count = 1;
    for (const Interval& interval : box)
    {
        count *= interval.Size();
    }
    return count;
}

Interval
GetPart(uint64_t extent, uint64_t parts, uint64_t index)
{
    const uint64_t size = extent / parts;
    const uint64_t larger = extent % parts;
    const uint64_t begin = index * size + std::min(index, larger);
    return {begin, begin + size + (index < larger ? 1 : 0)};
}

uint64_t
Layout::GetParts(std::size_t dimension) const
{
    return mesh->CountParts(split[dimension]);
}

uint64_t
Layout::GetIndex(std::size_t dimension, uint32_t position) const
{
    uint64_t index = 0;
    for (const MeshAxis axis : split[dimension])
    {
        index = index * mesh->GetSizes()[axis] + mesh->GetCoordinate(position, axis);
    }
    return index;
}

Box
Layout::GetBox(const Shape& shape, uint32_t position) const
{
    Box box(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        box[i] = GetPart(shape[i], GetParts(i), GetIndex(i, position));
    }
    return box;
}

uint64_t
Layout::CountLocal(const Shape& shape, uint32_t position) const
{
    uint64_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        count *= GetPart(shape[i], GetParts(i), GetIndex(i, position)).Size();
    }
    return count;
}

std::vector<MeshAxis>
Layout::GetReplicated() const
{
    std::vector<MeshAxis> axes;
    for (MeshAxis axis = 0; axis < mesh->GetNAxes(); ++axis)
    {
        if (FindDimension(axis) == NO_ID &&
            std::find(partial.begin(), partial.end(), axis) == partial.end())
        {
            axes.push_back(axis);
        }
    }
    return axes;
}

uint32_t
Layout::FindDimension(MeshAxis axis) const
{
    for (uint32_t i = 0; i < split.size(); ++i)
    {
        if (std::find(split[i].begin(), split[i].end(), axis) != split[i].end())
        {
            return i;
        }
    }
    return NO_ID;
}

std::string
Layout::ToString() const
{
    std::string text = "(";
    for (MeshAxis axis = 0; axis < mesh->GetNAxes(); ++axis)
    {
        const uint32_t dimension = FindDimension(axis);
        text += axis > 0 ? ", " : "";
        text += dimension != NO_ID ? "S" + std::to_string(dimension)
                : std::find(partial.begin(), partial.end(), axis) != partial.end() ? "P"
                                                                                   : "R";
    }
    return text + ")";
}

Layout
ParseLayout(const MeshPtr& mesh, std::size_t rank, const std::string& text)
{
    Layout layout;
    layout.mesh = mesh;
    layout.split.resize(rank);
    std::istringstream input(text);
    std::string state;
    MeshAxis axis = 0;
    for (; input >> state; ++axis)
    {
        if (axis >= mesh->GetNAxes())
        {
            throw std::invalid_argument("layout \"" + text + "\" has more states than the " +
                                        std::to_string(mesh->GetNAxes()) + " axes of its mesh");
        }
        if (state == "P")
        {
            layout.partial.push_back(axis);
        }
        else if (state.size() == 2 && state[0] == 'S' && state[1] >= '0' &&
                 static_cast<std::size_t>(state[1] - '0') < rank)
        {
            layout.split[state[1] - '0'].push_back(axis);
        }
        else if (state != "R" && state != "B")
        {
            throw std::invalid_argument("layout \"" + text + "\": " + state +
                                        " is no state of an axis; write R, P, or S0 to S" +
                                        std::to_string(rank - 1));
        }
    }
    if (axis != mesh->GetNAxes())
    {
        throw std::invalid_argument("layout \"" + text + "\" has " + std::to_string(axis) +
                                    " states for the " + std::to_string(mesh->GetNAxes()) +
                                    " axes of its mesh");
    }
    return layout;
}

} // namespace proteus
} // namespace ns3
