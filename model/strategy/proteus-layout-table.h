/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_TABLE_H
#define PROTEUS_LAYOUT_TABLE_H

#include "proteus-placement.h"

#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What a strategy has come to: the layout of every tensor, as a table.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param mesh of devices
 * @return its axes and devices, e.g. "dp=2 tp=4: 0-7"; an axis without name is its size alone
 */
std::string DescribeMesh(const DeviceMesh& mesh);

/**
 * @ingroup proteus
 * Writes "operator,stage,mesh,item,tensor,shape,computed,kept,gradient,state" and a line for every
 * tensor that an operator reads (item in:0, ..., or the name of a parameter) or writes (out). A
 * layout is one state per mesh axis: S0, S1, ... for a split along that dimension of the tensor, R
 * for replicated, P for a partial sum. "computed" is how the operator needs or makes the tensor,
 * "kept" how it lies between operators; where the two differ there is communication, or a slice.
 * "gradient" is how its gradient is kept, "state" how moments and update of a parameter are; empty:
 * there is none. If a layout is on other devices than the operator, " on MESH" follows.
 * @param stream where to
 * @param placement what PlaceModel() has made
 */
void WriteLayoutCsv(std::ostream& stream, const Placement& placement);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_TABLE_H
