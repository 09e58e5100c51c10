/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_COMPUTATION_H
#define PROTEUS_GRAPH_COMPUTATION_H

#include "ns3/proteus-graph.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * How long a graph computes, and the same graph with what was measured.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Most that a task may last, picoseconds: 28 hours, so that sums of many still fit 64 bits.
constexpr int64_t MAX_TASK_PS = 100'000'000'000'000'000;

/**
 * @ingroup proteus
 * @param graph whose kernels have times of their own
 * @return what the kernels of an iteration take together on the stream of a device where that is
 * most, in picoseconds: streams run beside each other; tasks of the host are not counted
 * @throw std::invalid_argument that names a kernel whose time is not known before it runs
 */
int64_t GetBusiestComputationPs(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Scales the times of all kernels by one factor.
 * @param graph whose kernels have times of their own
 * @param computePs what GetBusiestComputationPs() is to be, above 0, in picoseconds
 * @return the graph, which is otherwise the same
 * @throw std::invalid_argument as GetBusiestComputationPs(), or if no device computes, or a time
 * becomes too large
 */
ExecutionGraph StretchComputation(const ExecutionGraph& graph, int64_t computePs);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_COMPUTATION_H
