/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_ORDER_H
#define PROTEUS_TRACE_ORDER_H

#include "proteus-trace-graph.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Orders of the nodes of traces.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param trace of a rank
 * @return its nodes as a feeder issues them: of those whose dependencies are done, the one with the
 * lowest id
 * @throw std::invalid_argument that names file and nodes if dependencies form a cycle
 */
std::vector<uint32_t> FindIssueOrder(const RankTrace& trace);

/// @ingroup proteus
/// @param trace of a rank @return whether its dependencies form a cycle
bool HasCycle(const RankTrace& trace);

/**
 * @ingroup proteus
 * Merges lists of things to one order that keeps the order of each list. If two lists disagree, the
 * first of them counts.
 * @param lists of numbers below n; none has a number twice
 * @param n how many things there are
 * @return the numbers, each once
 */
std::vector<uint32_t> MergeLists(const std::vector<std::vector<uint32_t>>& lists, std::size_t n);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_ORDER_H
