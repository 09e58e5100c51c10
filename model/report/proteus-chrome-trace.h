/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHROME_TRACE_H
#define PROTEUS_CHROME_TRACE_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <ostream>

/**
 * @file
 * @ingroup proteus
 * Timelines in Chrome's trace event format, which ui.perfetto.dev and chrome://tracing open.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a timeline as a Chrome trace, one event per line:
 *
 * - a process per server, a thread per GPU and stream in use. Receives occupy no stream and may be
 *   outstanding together: each GPU has as many threads for them as it takes to have no two
 *   slices of a thread overlap;
 * - a slice per span (phase X), its category "compute" or the parallelism it serves, with task id,
 *   micro-batch, exact begin and end in picoseconds, and bytes, FLOPs, collective and group as
 *   arguments;
 * - an arrow (phases s and f) from every send to its receive;
 * - a counter of allocated bytes per GPU.
 *
 * Times of events are microseconds with three decimals, rounded down to nanoseconds: what Perfetto
 * keeps. Finer ones it rounds so that slices that follow one another overlap, and are moved away.
 * Bytes of a name that are no UTF-8 become U+FFFD.
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param timeline of the run
 * @param out where to; its state tells whether all was written
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
void WriteChromeTrace(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const Timeline& timeline,
                      std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHROME_TRACE_H
