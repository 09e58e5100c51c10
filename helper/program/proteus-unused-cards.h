/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_UNUSED_CARDS_H
#define PROTEUS_UNUSED_CARDS_H

#include "proteus-typed-network.h"

#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-executor.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param typed what was typed @param traits of an executor that has run
/// @param settings of the run @param cluster that it ran on @param graph that was run
/// @return a line for each key of a server of cards that was typed, is about what its CPUs are and
/// allow (p2p, memory, cpu), and without which the job would communicate alike
std::vector<std::string> FindUnusedCards(const TypedNetwork& typed,
                                         const ExecutorTraits& traits,
                                         const ExecutorSettings& settings,
                                         const Cluster& cluster,
                                         const ExecutionGraph& graph);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_UNUSED_CARDS_H
