/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHROME_TRACE_H
#define PROTEUS_CHROME_TRACE_H

#include "proteus-iteration-use.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <ostream>
#include <vector>

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
 * Writes a timeline as a Chrome trace, one event per line. It has what WalkTimeline() tells,
 * without channels: tracks are threads, slices events of phase X, arrows events of phases s and f,
 * counters events of phase C.
 *
 * Times of events are microseconds with three decimals. Bytes of a name that are no UTF-8 become
 * U+FFFD.
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param result of the run
 * @param out where to; its state tells whether all was written
 * @param iterations of the run, if there are several
 * @throw std::invalid_argument as WalkTimeline()
 */
void WriteChromeTrace(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const RunRecord& result,
                      std::ostream& out,
                      const std::vector<IterationUse>& iterations = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHROME_TRACE_H
