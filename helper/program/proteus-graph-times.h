/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_TIMES_H
#define PROTEUS_GRAPH_TIMES_H

#include "proteus-program-options.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What a graph says of the times of its kernels, and of its devices.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param graph to look at @return its compute tasks that the cost model times
uint64_t CountTimed(const ExecutionGraph& graph);

/// @ingroup proteus
/// Names, as a warning, what a graph lacks of the times of its kernels, and --launchInterval where
/// it changes none. @param path of the graph @param options of the program @param cluster that the
/// graph runs on @param graph to run
void WarnOfTimes(const std::string& path,
                 const ProgramOptions& options,
                 const Cluster& cluster,
                 const ExecutionGraph& graph);

/// @ingroup proteus
/// Refuses sizes beyond what is real, before they are added up, see RequireRealSizes().
/// @param path of the graph or trace, for the message @param graph of it
/// @throw std::invalid_argument
void CheckSizes(const std::string& path, const ExecutionGraph& graph);

/// @ingroup proteus
/// Names, as a warning, communications of more bytes than a GPU has memory for, which has to hold
/// them. @param path of the graph @param cluster that it runs on @param graph to run
void WarnOfLargeSizes(const std::string& path, const Cluster& cluster, const ExecutionGraph& graph);

/// @ingroup proteus
/// Names, as a warning, the devices of a graph that have nothing to do.
/// @param path of the graph @param graph to run
void WarnOfIdleDevices(const std::string& path, const ExecutionGraph& graph);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_TIMES_H
