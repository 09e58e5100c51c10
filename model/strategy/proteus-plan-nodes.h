/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLAN_NODES_H
#define PROTEUS_PLAN_NODES_H

#include "proteus-strategy-tree.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: the nodes of the tree that a plan makes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// "layer12" is "layer" and 12.
/// @param text any @param name gets what stands before the number @param number gets it
/// @return whether there is a number at the end, and something was set
bool SplitNumber(const std::string& text, std::string& name, uint32_t& number);

/// @ingroup proteus
/// @param root of a tree @param path of an operator, whose numbered blocks stand for all numbers
/// @return its node, which is made where there is none
StrategyNode& FindNode(StrategyNode& root, const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLAN_NODES_H
