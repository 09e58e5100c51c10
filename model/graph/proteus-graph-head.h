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
 * Gives a graph that is being made what tasks of another one refer to: facts, streams, phases and
 * groups. Ids are the same in both.
 * @param graph to copy from
 * @param builder of a graph with the same devices, and nothing else so far
 */
void CopyFrame(const ExecutionGraph& graph, GraphBuilder& builder);

/**
 * @ingroup proteus
 * Gives a graph that is being made when its devices work: schedules and gates.
 * @param graph to copy from
 * @param builder of a graph with the same devices and phases
 */
void CopySchedules(const ExecutionGraph& graph, GraphBuilder& builder);

/**
 * @ingroup proteus
 * Gives a graph that is being made all that another one has besides tasks: facts, streams, phases,
 * groups, schedules and gates. Ids are the same in both.
 * @param graph to copy from
 * @param builder of a graph with the same devices, and nothing else so far
 */
void CopyHead(const ExecutionGraph& graph, GraphBuilder& builder);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_HEAD_H
