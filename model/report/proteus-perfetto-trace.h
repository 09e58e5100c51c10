/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PERFETTO_TRACE_H
#define PROTEUS_PERFETTO_TRACE_H

#include "proteus-iteration-use.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <ostream>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Timelines in Perfetto's own format, which ui.perfetto.dev and trace_processor read.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a timeline as a Perfetto trace (Protobuf, message Trace): what WalkTimeline() tells, with
 * channels. One packet is in memory at a time. Names are interned; bytes of a name that are no
 * UTF-8 become '?'.
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param result of the run
 * @param out where to; its state tells whether all was written
 * @param iterations of the run, if there are several
 * @throw std::invalid_argument as WalkTimeline()
 */
void WritePerfettoTrace(const ExecutionGraph& graph,
                        const Cluster& cluster,
                        const RunRecord& result,
                        std::ostream& out,
                        const std::vector<IterationUse>& iterations = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PERFETTO_TRACE_H
