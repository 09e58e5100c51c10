/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_DOT_H
#define PROTEUS_GRAPH_DOT_H

#include "ns3/proteus-graph.h"

#include <ostream>

/**
 * @file
 * @ingroup proteus
 * The execution graph as a drawing.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a graph for Graphviz: a cluster per device with its kernels (boxes) and tensors
 * (ellipses), communication (hexagons) between them, and an arrow from each task to those that
 * depend on it.
 * @param graph to draw
 * @param output where to
 */
void WriteGraphDot(const ExecutionGraph& graph, std::ostream& output);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_DOT_H
