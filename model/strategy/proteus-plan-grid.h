/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_GRID_H
#define PROTEUS_PLAN_GRID_H

#include "proteus-parallel-plan.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The devices of a stage of a plan, as a grid.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param ok whether a plan makes sense @param message what is wrong with it otherwise
/// @throw std::invalid_argument with the message, if it does not
void CheckPlan(bool ok, const std::string& message);

/// @ingroup proteus
/// Name of the axis along which replicas repeat what ParallelPlan::zeroGroup of them share.
inline constexpr const char* REPEATING_AXIS = "rdp";

/// @ingroup proteus
/// An axis of the grid of a stage's devices.
struct PlanAxis
{
    std::string name;   //!< in the mesh
    uint32_t size{1};   //!< devices along it
    std::string layer;  //!< what it is part of for layers without experts: "dp", "cp", "tp"
    std::string expert; //!< what it is part of for experts: "edp", "ep", "etp"
};

/**
 * @ingroup proteus
 * The grid of a stage's devices. Where experts have a grid of their own it is the common refinement
 * of both.
 */
class PlanGrid
{
  public:
    /// @param plan of which all numbers are positive
    /// @throw std::invalid_argument if the two grids do not go together
    explicit PlanGrid(const ParallelPlan& plan);

    /// @return the axes, major first
    const std::vector<PlanAxis>& GetAxes() const
    {
        return m_axes;
    }

    /// @param role of layers without experts ("dp", "cp", "tp") or of experts ("edp", "ep", "etp")
    /// @return the names of the axes that have it, major first
    std::vector<std::string> FindAxes(const std::string& role) const;

  private:
    std::vector<PlanAxis> m_axes; //!< major first
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_GRID_H
