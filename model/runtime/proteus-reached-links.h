/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REACHED_LINKS_H
#define PROTEUS_REACHED_LINKS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

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
 * NICs to other servers
 */
std::vector<LinkId> FindReachedLinks(const ExecutionGraph& graph, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REACHED_LINKS_H
