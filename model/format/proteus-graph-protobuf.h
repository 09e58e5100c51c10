/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_PROTOBUF_H
#define PROTEUS_GRAPH_PROTOBUF_H

#include "ns3/proteus-graph.h"

#include <istream>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The execution graph as a Protocol Buffers message, the form for large graphs. The layout is in
 * proteus-graph.proto.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes a graph as one message pb::Graph. Equal graphs give equal bytes.
 * @param graph the graph
 * @param out where to, a binary stream
 * @throw std::invalid_argument if the stream fails
 */
void WriteGraphProtobuf(const ExecutionGraph& graph, std::ostream& out);

/**
 * @ingroup proteus
 * Reads what WriteGraphProtobuf() writes, block by block: no more memory is taken than the graph
 * and one block need, whatever the counts in the file say.
 * @param in where from, a binary stream
 * @param fileName what messages call it
 * @return the graph, validated as GraphBuilder::Build() does
 * @throw std::invalid_argument with "FILE: byte N: cause" if it is no such message or was cut
 * off, with "FILE: cause" if the graph in it is wrong
 */
ExecutionGraph ReadGraphProtobuf(std::istream& in, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_PROTOBUF_H
