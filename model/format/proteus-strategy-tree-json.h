/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRATEGY_TREE_JSON_H
#define PROTEUS_STRATEGY_TREE_JSON_H

#include "ns3/proteus-json.h"
#include "ns3/proteus-strategy-tree.h"

#include <cstddef>
#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * Strategy trees, see proteus-strategy-json.h.
 */

namespace ns3
{
namespace proteus
{

/// Nodes within nodes that are still no attack on the stack. Each is an object in a list.
constexpr uint32_t MAX_TREE_DEPTH = 64;
/// Depth of the JSON of such a tree.
constexpr std::size_t MAX_TREE_JSON_DEPTH = 2 * MAX_TREE_DEPTH + 8;

/// @ingroup proteus
/// @param root of a file @return its tree
/// @throw std::invalid_argument that names the file and the place in it
StrategyTree ReadTreeJson(const JsonValue& root);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STRATEGY_TREE_JSON_H
