/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_UNUSED_NETWORK_H
#define PROTEUS_UNUSED_NETWORK_H

#include "proteus-typed-network.h"

#include "ns3/proteus-executor.h"

#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What of the options about servers and the network between them changes nothing in a run.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param typed about the network
 * @param traits of an executor that has run
 * @param cluster that it ran on
 * @param record of the run; what its links carried is empty if the executor does not know it
 * @param crossed RunRecord::crossed, or the same found later; nothing: not known
 * @return a line for each option of the network between servers, and for --stream and the seeds of
 * ns-3, that was typed and changes nothing in this run
 */
std::vector<std::string> FindUnusedNetwork(const TypedNetwork& typed,
                                           const ExecutorTraits& traits,
                                           const Cluster& cluster,
                                           const RunRecord& record,
                                           const std::optional<std::vector<LinkId>>& crossed);

/// @ingroup proteus
/// @param typed what was typed @return whether FindUnusedNetwork() has something to say of it if
/// it knows which links are crossed
bool SaysNetwork(const TypedNetwork& typed);

/// @ingroup proteus
/// @param typed what was typed @param cluster that it ran on @param links what they carried
/// @return a line if options of fabrics have made links between switches that are slower than NICs,
/// and something has crossed them
std::vector<std::string> FindThinLinks(const TypedNetwork& typed,
                                       const Cluster& cluster,
                                       const std::vector<LinkStatistics>& links);

/// @ingroup proteus
/// @param typed what was typed @param traits of an executor that has run @param cluster it ran on
/// @param record of the run @param crossed as FindUnusedNetwork()
/// @return FindUnusedNetwork(), FindThinLinks(), and a line for each attribute of paths and packets
/// that did nothing
std::vector<std::string> FindUnusedOptions(TypedNetwork typed,
                                           const ExecutorTraits& traits,
                                           const Cluster& cluster,
                                           const RunRecord& record,
                                           const std::optional<std::vector<LinkId>>& crossed);

/// @ingroup proteus
/// @param typed what was typed @param cluster that it ran on
/// @param graph that was run @return a line if servers that were asked for have no GPU of a job,
/// and no traffic of a scenario either
std::vector<std::string> FindUnusedServers(const TypedNetwork& typed,
                                           const Cluster& cluster,
                                           const ExecutionGraph& graph);

/// @ingroup proteus
/// Of a comparison of networks.
/// @param traits of an executor that has run @param cluster that it ran on
/// @param graph that was run @param links what each of its links carried; empty: not known
/// @return lines: that servers had no work, and that other switches would make no difference
std::vector<std::string> FindUnseenNetwork(const ExecutorTraits& traits,
                                           const Cluster& cluster,
                                           const ExecutionGraph& graph,
                                           const std::vector<LinkStatistics>& links);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_UNUSED_NETWORK_H
