/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_STRATEGY_H
#define PROTEUS_LAYOUT_STRATEGY_H

#include "proteus-layout-method.h"
#include "proteus-layout-space.h"

#include "ns3/proteus-strategy-tree.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Layout search on all meshes of a number of devices, and what it finds as a strategy.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a choice of layouts out as a strategy: every operator with its own splits. A result that
 * is made as partial sums stays so where all who read it take partial sums, and else lies as its
 * first reader wants it.
 * @param space of the choice, on a mesh over devices 0, 1, ..., whose axes have names
 * @param choice by operator
 * @param base name, batch, schedule, gradients, optimizer and precision; its tree is replaced
 * @return the strategy
 */
StrategyTree MakeLayoutStrategy(const LayoutSpace& space,
                                const LayoutChoice& choice,
                                const StrategyTree& base);

/// @ingroup proteus
/// A strategy that a layout search has found.
struct LayoutFinding
{
    std::string name;       //!< mesh and origin, e.g. "layouts on 4 x 2, reduction"
    StrategyTree tree;      //!< the strategy
    double seconds{0};      //!< cost of the choice, of all micro-batches
    double memoryBytes{0};  //!< of a device
    bool isBaseline{false}; //!< whether it is what experts would begin with
};

/**
 * @ingroup proteus
 * @param devices how many
 * @param mostAxes of a mesh
 * @return all meshes of the devices without axes of size 1, e.g. of 8: {8}, {2, 4}, {4, 2}, {2, 2,
 * 2}. The last axis is that of neighbours: which axis lies inside a server is part of the choice
 */
std::vector<std::vector<uint32_t>> ListMeshes(uint32_t devices, std::size_t mostAxes);

/**
 * @ingroup proteus
 * Finds layouts on all meshes of a number of devices: by reduction where it can, else by descent
 * from the starts of LayoutStart and at random. Where they need more memory than there is, a byte
 * of memory is given a price, which doubles until they fit.
 * @param model what is trained, read for one micro-batch
 * @param devices 0, 1, ... how many of them
 * @param mostAxes of a mesh
 * @param options of the space; the mesh is set here, memoryBytes is that of a device, and gradients
 * are reduced once for all micro-batches
 * @param base see MakeLayoutStrategy(); its number of micro-batches counts
 * @return what was found and fits, the cheapest first; and samples split over all devices, and
 * Megatron's splits, where these fit
 */
std::vector<LayoutFinding> SearchLayouts(const Model& model,
                                         uint32_t devices,
                                         std::size_t mostAxes,
                                         LayoutSpaceOptions options,
                                         const StrategyTree& base);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_STRATEGY_H
