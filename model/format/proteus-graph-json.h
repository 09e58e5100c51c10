/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_JSON_H
#define PROTEUS_GRAPH_JSON_H

#include "ns3/proteus-graph.h"

#include <istream>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The execution graph as JSON: the form for eyes, scripts and small graphs.
 *
 * The file is one object. Fields in brackets may be left out and then have the value given here;
 * any other field is an error. The fields devices, streams, ready_streams, host_streams and phases
 * come before the tasks.
 *
 * - format: "proteus-graph"; version: 1
 * - [facts]: object with [name ""], [model_flops_per_iteration 0], [tokens_per_iteration 0] and
 *   [samples_per_iteration 0]
 * - devices: their number
 * - [streams]: list of names
 * - [ready_streams]: list of the names of those that run whichever task is ready
 *   (StreamOrder::READY)
 * - [host_streams]: list of the names of those whose tasks run on the host
 * - [phases]: list of objects with name and [micro_batches 1]
 * - [groups]: list of lists of devices in rank order, no two of them equal
 * - [schedules]: list of objects with devices (a list) and order (a list of pairs: phase,
 *   micro-batch)
 * - [gates]: list of objects with device, acquire and release (phases), and limit
 * - [tasks]: list of objects
 *
 * Streams and phases are referred to by name, groups and tasks by their position in the list.
 * Every task has [id] (its position), name, kind, phase and [dependencies []]; besides
 * - a compute task: device, stream, [duration_ps, without which the cost model times it],
 *   [flops 0], [bytes 0], [data_type "bf16"], [thread_blocks 0] that the time is made of in waves
 *   over the GPU, [host_percent 0] of a fixed time in which the GPU waits for the host
 * - a communication task: group, stream, collective, bytes, [parallelism "none"], [thread_blocks
 *   0: multiprocessors that its kernel takes, if not as many as NCCL's] and, if it is a broadcast,
 *   reduce, gather or scatter, [root 0]
 * - a memory task: device, bytes, [persistent false]
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a graph as JSON, one task per line. Equal graphs give equal bytes.
 * @param graph the graph
 * @param out where to
 * @throw std::invalid_argument if the stream fails
 */
void WriteGraphJson(const ExecutionGraph& graph, std::ostream& out);

/**
 * @ingroup proteus
 * Reads what WriteGraphJson() writes. Tasks are handed to the builder one by one, so that the
 * text of a large graph is never in memory as a whole.
 * @param in where from
 * @param fileName what messages call it
 * @return the graph, validated as GraphBuilder::Build() does
 * @throw std::invalid_argument with "FILE:LINE:COLUMN: cause" if it is not JSON, with
 * "FILE: /tasks/17/bytes: cause" if a value is wrong, with "FILE: cause" if the graph is
 */
ExecutionGraph ReadGraphJson(std::istream& in, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_JSON_H
