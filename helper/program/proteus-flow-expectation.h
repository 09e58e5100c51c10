/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_EXPECTATION_H
#define PROTEUS_FLOW_EXPECTATION_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-run-record.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a run without packets says of its distance from packets.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param workloads the folder workloads/ @return its file of FlowErrors
std::string GetFlowErrorsFile(const std::string& workloads);

/**
 * @ingroup proteus
 * @param path of a file of FlowErrors; empty: nothing is said
 * @param work that was run, see FlowErrors
 * @param cluster that it ran on
 * @param record of the run
 * @return a note on how far such runs are from packets; none where the run is not whole, moved
 * nothing, or has attributes of the packet engine that what was compared did not have
 */
std::vector<std::string> DescribeFlowRun(const std::string& path,
                                         const std::string& work,
                                         const Cluster& cluster,
                                         const RunRecord& record);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_EXPECTATION_H
