/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OUTER_LINKS_H
#define PROTEUS_OUTER_LINKS_H

#include "ns3/proteus-cluster.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Links between servers, and what kind of network they make.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param cluster any @param link of it @return whether it leads out of a server
bool LeavesServer(const Cluster& cluster, const Link& link);

/// @ingroup proteus
/// @param cluster any @param link of it @return whether both its ends are outside of servers
bool JoinsSwitches(const Cluster& cluster, const Link& link);

/// @ingroup proteus
/// @param cluster any @param crossed links of it that a run has used
/// @return whether one of them is of InfiniBand or Ethernet
bool CrossesNetwork(const Cluster& cluster, const std::vector<LinkId>& crossed);

/// @ingroup proteus
/// @param cluster any @param crossed links of it that a run has used
/// @return FlowErrors::setting in words, e.g. "servers with NVLink, RoCE on one switch";
/// "more than four servers with NVLink" from five on that are crossed into
std::string FindFlowSetting(const Cluster& cluster, const std::vector<LinkId>& crossed);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OUTER_LINKS_H
