/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_REPRESENTATIVE_H
#define PROTEUS_GRAPH_REPRESENTATIVE_H

#include "proteus-graph.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * Graphs in which the kernels of one device stand for those of all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Name of a stream that marks such a graph. It has no tasks; files of graphs keep it.
inline constexpr const char* REPRESENTATIVE_STREAM = "device 0 stands for all";

/**
 * @ingroup proteus
 * @param graph any
 * @return whether device 0 stands for all: all devices do the same, only device 0 has kernels and
 * tensors, and the others just take part in its communication
 */
inline bool
HasRepresentative(const ExecutionGraph& graph)
{
    const std::vector<std::string>& streams = graph.GetStreams();
    return std::find(streams.begin(), streams.end(), REPRESENTATIVE_STREAM) != streams.end();
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_REPRESENTATIVE_H
