/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_H
#define PROTEUS_LAYOUT_H

#include "proteus-mesh.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How a tensor lies on a mesh.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Elements per dimension of a tensor.
using Shape = std::vector<uint64_t>;

/// @ingroup proteus
/// Half-open interval of indices.
struct Interval
{
    uint64_t begin{0}; //!< the first
    uint64_t end{0};   //!< behind the last

    /// @return how many
    uint64_t Size() const
    {
        return end > begin ? end - begin : 0;
    }

    /// @param other an interval @return whether both are the same
    bool operator==(const Interval& other) const
    {
        return begin == other.begin && end == other.end;
    }
};

/// @ingroup proteus
/// A block of a tensor: one interval per dimension.
using Box = std::vector<Interval>;

/// @ingroup proteus
/// @param box a block @return how many elements it has
uint64_t CountElements(const Box& box);

/**
 * @ingroup proteus
 * Even partition, the remainder to the first parts: 10 / 3 is [0,4) [4,7) [7,10).
 * @param extent elements
 * @param parts number of parts, at least 1
 * @param index of a part
 * @return the part; empty where there are more parts than elements
 */
Interval GetPart(uint64_t extent, uint64_t parts, uint64_t index);

/**
 * @ingroup proteus
 * How a tensor lies on a mesh: on every axis it is split along one of its dimensions, replicated,
 * or a partial sum (its value is the sum over the axis).
 *
 * A dimension that several axes split has as many parts as their sizes make together, numbered
 * row-major in the order in which the axes are listed.
 */
struct Layout
{
    MeshPtr mesh;                             //!< null: not decided yet
    std::vector<std::vector<MeshAxis>> split; //!< by dimension: axes, major first
    std::vector<MeshAxis> partial;            //!< axes, ascending; all others replicate

    /// @param other a layout @return whether both are the same, on the same mesh
    bool operator==(const Layout& other) const
    {
        return mesh == other.mesh && split == other.split && partial == other.partial;
    }

    /// @param other a layout @return whether they differ
    bool operator!=(const Layout& other) const
    {
        return !(*this == other);
    }

    /// @param dimension of the tensor @return how many parts it is split into
    uint64_t GetParts(std::size_t dimension) const;

    /// @param dimension of the tensor @param position in the mesh @return the part kept there
    uint64_t GetIndex(std::size_t dimension, uint32_t position) const;

    /// @param shape of the tensor @param position in the mesh @return the block kept there
    Box GetBox(const Shape& shape, uint32_t position) const;

    /// @param shape of the tensor @param position in the mesh @return elements kept there
    uint64_t CountLocal(const Shape& shape, uint32_t position) const;

    /// @return the axes that neither split nor are partial, ascending
    std::vector<MeshAxis> GetReplicated() const;

    /// @return the axis' dimension, or NO_ID @param axis of the mesh
    uint32_t FindDimension(MeshAxis axis) const;

    /// @return e.g. "(S1, R, P)", by mesh axis
    std::string ToString() const;
};

/**
 * @ingroup proteus
 * Reads the form that ToString() writes, for tests and messages.
 * @param mesh of the layout
 * @param rank dimensions of the tensor
 * @param text e.g. "S1 R P", one state per axis; B is another name of R
 * @return the layout; where two axes split a dimension the first one is major
 * @throw std::invalid_argument for another number of states or a dimension that does not exist
 */
Layout ParseLayout(const MeshPtr& mesh, std::size_t rank, const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_H
