/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CSV_H
#define PROTEUS_FLOW_CSV_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-list.h"

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Lists of flows, and what became of them, as comma separated values.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a list of flows, one per line:
 *
 *     id,src,dst,bytes,start_ns,deps
 *     0,0,1,1000000,0,
 *     1,1,2,1000000,0.5,0
 *     2,2,0,1000000,0,0;1
 *
 * The first line is the header; it may be left out, and so may the deps at the end of a line. `id`
 * is a name or a number without spaces; `src` and `dst` are ranks of GPUs or hosts, `start_ns` is
 * in nanoseconds with at most three decimals that are not zero, and `deps` are ids of flows,
 * earlier or later in the file, separated by ";". Empty lines and lines that begin with "#" are
 * skipped; values may stand in double quotes.
 *
 * @param input the text
 * @param fileName for errors
 * @param ranks that the cluster has
 * @return the flows, in the order of the file; there is at least one, and none waits for itself
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
std::vector<FlowSpec> ReadFlowCsv(std::istream& input, const std::string& fileName, uint32_t ranks);

/**
 * @ingroup proteus
 * Reads a list of flows from a file, which may be compressed by gzip: as ReadHpccFlows() if its
 * first line has nothing but a number, as ReadHtsimFlows() if IsHtsimMatrix() knows that line,
 * otherwise as ReadFlowCsv().
 * @param path of the file
 * @param cluster where the flows run
 * @return the flows
 * @throw std::invalid_argument as these, or if the file cannot be read
 */
std::vector<FlowSpec> LoadFlows(const std::string& path, const Cluster& cluster);

/**
 * @ingroup proteus
 * Writes when flows started and ended, one per line after the header
 * `id,src,dst,bytes,start_ns,rx_done_ns,ack_done_ns`: when a flow was handed to the transport, when
 * its last byte arrived, and when the sender got the acknowledgement of that. Times are nanoseconds
 * with three decimals, which is exact; empty for what did not happen.
 * @param flows the list
 * @param times of each
 * @param out where to
 */
void WriteFlowCsv(const std::vector<FlowSpec>& flows,
                  const std::vector<FlowTimes>& times,
                  std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CSV_H
