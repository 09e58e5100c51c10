/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_FILE_H
#define PROTEUS_TRACE_FILE_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <string>

/**
 * @file
 * @ingroup proteus
 * Traces in files. The endings of their names tell the format; a new format is one entry of the
 * table in proteus-trace-file.cc.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads what another program recorded or generated, as an execution graph.
 *
 * @param path a file, or a folder with one file for each rank whose name has the rank between dots,
 * e.g. trace.0.et, trace.1.et:
 * - .et, .et.gz: Chakra execution traces (proteus-chakra.h). A .json file beside them has the
 *   process groups, unless the options name another.
 * - .json, .json.gz: PyTorch Kineto traces (proteus-kineto.h), whose rank may also be in the file
 *   alone; Chakra execution traces as chakra_jsonizer writes them, which their first key tells; or
 *   execution graphs of this library (proteus-graph-file.h), as .pb.
 * - .txt: a workload of AICB or SimAI (proteus-aicb.h).
 * What is doubtful about the trace is printed, see FindTraceDoubts() and Warn().
 * @param options what to make of it
 * @param recording gets what was recorded, nothing where the format does not say it; unless it is
 * null
 * @return the graph
 * @throw std::invalid_argument that names file, place and cause
 */
ExecutionGraph LoadTrace(const std::string& path,
                         const TraceOptions& options = {},
                         Recording* recording = nullptr);

/// @ingroup proteus
/// @return the formats that LoadTrace() knows, with the endings of their names, for help texts
std::string DescribeTraceFormats();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_FILE_H
