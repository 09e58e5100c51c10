/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SPAN_CSV_H
#define PROTEUS_SPAN_CSV_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <ostream>

/**
 * @file
 * @ingroup proteus
 * Spans as comma-separated values.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes the spans of a timeline as comma-separated values, one line per span in the order of the
 * timeline, after the header
 * `device,gpu,stream,task,name,kind,collective,parallelism,micro_batch,bytes,start_s,end_s`.
 *
 * device: rank; gpu: name in the cluster; stream: name, empty for a receive, which occupies none;
 * task: id in the graph; kind: compute or communication; collective, parallelism: empty for
 * compute; bytes: memory traffic of a compute task (0 where it has a fixed duration), size of a
 * communication as its collective counts it; start_s, end_s: seconds with twelve decimals,
 * that is picoseconds, exactly. Quoted as RFC 4180 says; lines end in LF.
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param timeline of the run
 * @param out where to; its state tells whether all was written
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
void WriteSpanCsv(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const Timeline& timeline,
                  std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SPAN_CSV_H
