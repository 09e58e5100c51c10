/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_REPLAY_H
#define PROTEUS_KINETO_REPLAY_H

#include "proteus-kineto-events.h"
#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <map>
#include <memory>
#include <string>

/**
 * @file
 * @ingroup proteus
 * From what a trace of PyTorch's profiler says of a rank to what that rank does again: tasks, and
 * who waited for what (proteus-kineto.h has the rules).
 */

namespace ns3
{
namespace proteus
{
namespace kineto
{

/**
 * @param events of a rank, which get counts of what is odd and the recorded time
 * @param graph gets streams, names and groups
 * @param streams of the graph, by name; gets those that are new
 * @param standsForAll whether the rank is the only one whose trace is there
 * @return its trace
 * @throw std::invalid_argument that names file, kernel and cause
 */
std::shared_ptr<RankTrace> MakeReplay(Rank& events,
                                      TraceGraph& graph,
                                      std::map<std::string, StreamId>& streams,
                                      bool standsForAll);

} // namespace kineto
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_REPLAY_H
