/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_FILE_H
#define PROTEUS_GRAPH_FILE_H

#include "ns3/proteus-graph.h"

#include <string>

/**
 * @file
 * @ingroup proteus
 * Execution graphs in files. The ending tells the format: .json (proteus-graph-json.h) or .pb
 * (proteus-graph-protobuf.h).
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a graph to a file. The file appears, or replaces another, only when it is whole.
 * @param graph the graph
 * @param path the file, ending in .json or .pb
 * @throw std::invalid_argument if the ending is another or the file cannot be written
 */
void SaveGraph(const ExecutionGraph& graph, const std::string& path);

/**
 * @ingroup proteus
 * Reads a graph from a file, and warns of streams, phases and groups of which no task is.
 * @param path the file, ending in .json or .pb; or a pipe, whose first character tells the format
 * @return the graph
 * @throw std::invalid_argument if the ending is another, the file cannot be read, or what is in
 * it is no valid graph
 */
ExecutionGraph LoadGraph(const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_FILE_H
