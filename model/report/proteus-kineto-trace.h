/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_TRACE_H
#define PROTEUS_KINETO_TRACE_H

#include "proteus-iteration-use.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <functional>
#include <ostream>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Timelines as PyTorch's profiler (Kineto) writes them, a file per rank, for Holistic Trace
 * Analysis.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes the timeline of every rank in the form of a PyTorch profiler trace, by the rules of
 * Holistic Trace Analysis (HTA, https://github.com/facebookresearch/HolisticTraceAnalysis):
 *
 * - one file per rank, with "distributedInfo" on a line of its own;
 * - a kernel (cat "kernel") per span, on streams from 1 on, on each of which no two overlap; a
 *   launch (cat "cuda_runtime") with the same "correlation" inside "ProfilerStep#0", or that of its
 *   time where there are several iterations; one step more after it, as HTA leaves the last one
 * out;
 * - communication is called ncclDevKernel_..., with what NCCL's kernels say in their arguments; a
 *   computation that HTA would take for something else by its name is called "task N", with its
 *   name in the arguments;
 * - a receive begins when its sender has joined, as BreakDown() counts it;
 * - tasks of the host are of cat "cpu_op";
 * - times are whole microseconds, rounded to the nearest. (HTA would round begins up and ends down,
 *   so that every kernel would lose time.) "start_ps" and "end_ps" have them exactly.
 *
 * HTA's temporal breakdown, and overlap of communication and computation, are then those of
 * BreakDown(), but for rounding: its idle time is GetIdleBetweenPs().
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param timeline of the run
 * @param write called for every rank, with a function that writes its trace to a stream
 * @param iterations of the run, if there are several
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
void WriteKinetoTraces(
    const ExecutionGraph& graph,
    const Cluster& cluster,
    const Timeline& timeline,
    const std::function<void(DeviceId rank, const std::function<void(std::ostream&)>&)>& write,
    const std::vector<IterationUse>& iterations = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_TRACE_H
