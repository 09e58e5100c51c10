/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REACHED_LINKS_H
#define PROTEUS_REACHED_LINKS_H

#include "proteus-executor.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-link-statistics.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Links that a job comes to, where the executor does not say which.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param graph of a job
 * @param cluster that it runs on
 * @return links on shortest ways between the GPUs that communicate with each other, by way of their
 * NICs to other servers; as statistics of a byte on each
 */
std::vector<LinkStatistics> FindReachedLinks(const ExecutionGraph& graph, const Cluster& cluster);

/**
 * @ingroup proteus
 * @param record of a run
 * @param settings of it
 * @param graph that was run
 * @param cluster that it ran on
 * @return what links have carried, for ListIdleSettings(): those of the record, or if it has none
 * and an attribute of the packet engine was changed, FindReachedLinks()
 */
std::vector<LinkStatistics> FindCrossedLinks(const RunRecord& record,
                                             const ExecutorSettings& settings,
                                             const ExecutionGraph& graph,
                                             const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REACHED_LINKS_H
