/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_REPRESENTATIVE_H
#define PROTEUS_GRAPH_REPRESENTATIVE_H

#include "proteus-graph.h"

#include <algorithm>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Graphs in which the kernels of one device, or of some, stand for those of all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Name of a stream that marks such a graph. It has no tasks; files of graphs keep it.
inline constexpr const char* REPRESENTATIVE_STREAM = "device 0 stands for all";

/// @ingroup proteus
/// The same of a graph in which some devices stand for the others, see KeepDevices().
inline constexpr const char* REPRESENTATIVES_STREAM = "some devices stand for the others";

/// @ingroup proteus
/// @param graph any @param name of a stream @return whether it has that
inline bool
HasStream(const ExecutionGraph& graph, const char* name)
{
    const std::vector<std::string>& streams = graph.GetStreams();
    return std::find(streams.begin(), streams.end(), name) != streams.end();
}

/**
 * @ingroup proteus
 * @param graph any
 * @return whether device 0 stands for all: all devices do the same, only device 0 has kernels and
 * tensors, and the others just take part in its communication
 */
inline bool
HasRepresentative(const ExecutionGraph& graph)
{
    return HasStream(graph, REPRESENTATIVE_STREAM);
}

/**
 * @ingroup proteus
 * @param graph any
 * @return by device, whether others stand for what it does, so that it only takes part in their
 * communication; empty if there is none
 */
inline std::vector<bool>
FindStoodFor(const ExecutionGraph& graph)
{
    if (!HasRepresentative(graph) && !HasStream(graph, REPRESENTATIVES_STREAM))
    {
        return {};
    }
    std::vector<bool> isStoodFor(graph.GetNDevices(), true);
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION)
        {
            isStoodFor[task.place] = false;
        }
    }
    return isStoodFor;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_REPRESENTATIVE_H
