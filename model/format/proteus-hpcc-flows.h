/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HPCC_FLOWS_H
#define PROTEUS_HPCC_FLOWS_H

#include "proteus-text-reader.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-list.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Lists of flows as the HPCC simulator and its successors have them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param line the first of a file that has some text @return whether a list of flows of the HPCC
/// simulator begins so: with nothing but their number
bool IsHpccFlowCount(const std::string& line);

/**
 * @ingroup proteus
 * Reads a list of flows as the HPCC simulator has it
 * (alibaba-edu/High-Precision-Congestion-Control, simulation/mix/flow.txt), or with ids as its
 * successors have it:
 *
 *     2                                                          flows count
 *     0 1 3 100 1000000 2.0                                      src dst pg dport size start
 *     1 2 3 100 1000000 2.0
 *
 *     2
 *     0 0 1 3 100 1000000 2.0                                    id src dst pg dport size start
 *     1 1 2 3 100 1000000 2.0
 *
 * Sizes are bytes, starts are seconds. On a text topology src and dst are the nodes of its file;
 * on other clusters they are ranks of GPUs. The priority group (pg) and the port (dport) are read
 * and have no effect. A "#" begins a comment; what follows the counted flows is ignored.
 *
 * @param reader of the file, whose first line was read
 * @param first the line that was read, see IsHpccFlowCount()
 * @param cluster where the flows run
 * @return the flows, in the order of the file; there is at least one
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
std::vector<FlowSpec> ReadHpccFlows(TextReader& reader,
                                    const std::string& first,
                                    const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HPCC_FLOWS_H
