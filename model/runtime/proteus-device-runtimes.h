/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DEVICE_RUNTIMES_H
#define PROTEUS_DEVICE_RUNTIMES_H

#include "proteus-device-runtime.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What all executors do with the runtimes of their devices, whichever network they run on.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param graph to execute
 * @param cluster to execute it on
 * @throw std::invalid_argument if the graph has more devices than the cluster has GPUs
 */
void RequireGpus(const ExecutionGraph& graph, const Cluster& cluster);

/**
 * @ingroup proteus
 * @param graph to execute
 * @param cluster to execute it on
 * @return data sheets by device
 * @throw std::invalid_argument as RequireGpus(), or if a GPU has no data sheet
 */
std::vector<const GpuDatasheet*> FindDatasheets(const ExecutionGraph& graph,
                                                const Cluster& cluster);

/// @ingroup proteus
/// @param graph to execute @return spans that an execution leaves behind
uint64_t CountSpans(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * @param spans of a run, in any order
 * @param devices that ran it, by DeviceId; null for one of which nothing is known but its spans
 * @return the timeline
 */
Timeline MakeTimeline(std::vector<Span> spans, const std::vector<const DeviceRuntime*>& devices);

/**
 * @ingroup proteus
 * Makes the timeline of a run that was stopped. A communication counts as done when all its ranks
 * are done; one that is not stands in Timeline::open, with the ranks that are done.
 * @param graph that was run
 * @param spans that have ended, in any order
 * @param devices that ran it, by DeviceId
 * @param nowPs time of the stop, picoseconds
 * @return the timeline up to there
 */
Timeline MakePartialTimeline(const ExecutionGraph& graph,
                             const std::vector<Span>& spans,
                             const std::vector<const DeviceRuntime*>& devices,
                             int64_t nowPs);

/**
 * @ingroup proteus
 * Looks for what has not been done.
 * @param graph that was run
 * @param devices that ran, by DeviceId; null for one of which nothing is known
 * @return an empty text, or who waits for whom
 */
std::string DescribeStall(const ExecutionGraph& graph,
                          const std::vector<const DeviceRuntime*>& devices);

/**
 * @ingroup proteus
 * Checks that everything has been done.
 * @param graph that was run
 * @param devices that ran, by DeviceId
 * @throw std::runtime_error that says who waits for whom, if some cannot finish
 */
void RequireDone(const ExecutionGraph& graph, const std::vector<const DeviceRuntime*>& devices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DEVICE_RUNTIMES_H
