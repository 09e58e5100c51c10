/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HTSIM_FLOWS_H
#define PROTEUS_HTSIM_FLOWS_H

#include "proteus-text-reader.h"

#include "ns3/proteus-flow-list.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The connection matrices of htsim (csg-htsim, uet-htsim).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param line the first of a file that has some text @return whether a connection matrix of htsim,
/// or another file of it, begins so
bool IsHtsimMatrix(const std::string& line);

/**
 * @ingroup proteus
 * Reads a connection matrix of htsim (.cm, .tm):
 *
 *     Nodes 16
 *     Connections 3
 *     Triggers 1
 *     7->15 id 1 start 0 size 2000000 send_done_trigger 1
 *     7->0 id 2 trigger 1 size 2000000
 *     3->0 start 40 size 250000
 *     trigger id 1 oneshot
 *
 * Nodes are ranks, sizes bytes, and starts picoseconds (htsim, sim/datacenter/
 * connection_matrix.cpp, ConnectionMatrix::load()). A trigger starts all connections that name it
 * when what fires it is done: sent and acknowledged (send_done_trigger) or received
 * (recv_done_trigger). A barrier waits for as many as it counts. The counts of the head must be
 * those of the file. "prio" is named and not heeded.
 *
 * Refused is what a list with dependencies cannot have: triggers that the first of several fires
 * (oneshot), that fire several times (multishot) or never, failures of links, connections without
 * end (size 0), and messages (msg).
 *
 * @param reader of the file, whose first line was read
 * @param first the line that was read, see IsHtsimMatrix()
 * @param ranks that the cluster has
 * @return the flows, in the order of the file; there is at least one
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
std::vector<FlowSpec> ReadHtsimFlows(TextReader& reader, const std::string& first, uint32_t ranks);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HTSIM_FLOWS_H
