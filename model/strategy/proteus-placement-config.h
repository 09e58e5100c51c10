/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLACEMENT_CONFIG_H
#define PROTEUS_PLACEMENT_CONFIG_H

#include "proteus-mesh.h"
#include "proteus-strategy-tree.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what a strategy's words mean on devices.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Splits in terms of a mesh as the user wrote it.
struct MeshConfig
{
    /// A dimension, and the axes of `mesh` that split it, major first.
    using Split = std::pair<std::string, std::vector<MeshAxis>>;

    DeviceMesh mesh{{1}, {0}};
    std::vector<Split> splits;
    bool isComplete{false}; //!< whether the other axes replicate, whatever else is known
};

/**
 * @ingroup proteus
 * @param tree the strategy
 * @param spec of a mesh
 * @return its devices
 * @throw std::invalid_argument if an axis does not exist or a coordinate is too large
 */
DeviceMesh MakeMesh(const StrategyTree& tree, const MeshSpec& spec);

/**
 * @ingroup proteus
 * Finds the mesh axes that splits stand for. Numbers of parts are given to the leading axes, in the
 * order of their dimensions, if the axes have these sizes; otherwise the mesh is cut anew,
 * row-major.
 * @param mesh the mesh
 * @param splits of an operator or a tensor, by names or numbers of dimensions
 * @param order position of a dimension by its name
 * @return the mesh, cut anew where needed, and the axes
 * @throw std::invalid_argument if parts do not fit the mesh or an axis does not exist
 */
MeshConfig MakeConfig(const DeviceMesh& mesh,
                      const std::vector<SplitSpec>& splits,
                      const std::map<std::string, uint32_t>& order);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLACEMENT_CONFIG_H
