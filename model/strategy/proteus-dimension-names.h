/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DIMENSION_NAMES_H
#define PROTEUS_DIMENSION_NAMES_H

#include <set>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Names of dimensions of operators.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return names of dimensions that kinds of operators add to those of their inputs
const std::set<std::string>& GetOwnDimensionNames();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DIMENSION_NAMES_H
