/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_HEAD_H
#define PROTEUS_GRAPH_HEAD_H

#include "proteus-graph.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Copies what the tasks of a graph refer to into a graph that is being made: facts, streams, phases
 * and groups. Ids are the same in both.
 * @param graph to copy from
 * @param builder of a graph with the same devices, and nothing else so far
 */
void CopyFrame(const ExecutionGraph& graph, GraphBuilder& builder);

/**
 * @ingroup proteus
 * Copies schedules and gates of a graph into a graph that is being made.
 * @param graph to copy from
 * @param builder of a graph with the same devices and phases
 */
void CopySchedules(const ExecutionGraph& graph, GraphBuilder& builder);

/**
 * @ingroup proteus
 * Copies all but the tasks of a graph into a graph that is being made: CopyFrame() and
 * CopySchedules(). Ids are the same in both.
 * @param graph to copy from
 * @param builder of a graph with the same devices, and nothing else so far
 */
void CopyHead(const ExecutionGraph& graph, GraphBuilder& builder);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_HEAD_H
