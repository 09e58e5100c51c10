/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_EXPECTATION_H
#define PROTEUS_FLOW_EXPECTATION_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor-settings.h"
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

/**
 * @ingroup proteus
 * @param cluster that a run was on
 * @param record of the run
 * @param changed FindChangedEngineSettings() of the run
 * @return FlowErrors::setting of the run; empty where it is not whole, moved nothing, or has
 * attributes of the packet engine that what was compared did not have
 */
std::string FindComparedSetting(const Cluster& cluster,
                                const RunRecord& record,
                                const std::vector<EngineSetting>& changed);

/**
 * @ingroup proteus
 * @param workloads the folder workloads/, whose file of FlowErrors is read; empty: nothing is said
 * @param executor name of the executor of a run
 * @param work that was run, see FlowErrors
 * @param setting of the run, see FindComparedSetting()
 * @return a note on how far such runs are from packets; empty: nothing is to be said
 * @throw std::invalid_argument if the file is not there, or wrong
 */
std::string DescribeFlowDistance(const std::string& workloads,
                                 const std::string& executor,
                                 const std::string& work,
                                 const std::string& setting);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_EXPECTATION_H
