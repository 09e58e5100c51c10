/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_UNUSED_CHOICES_H
#define PROTEUS_UNUSED_CHOICES_H

#include "proteus-typed-network.h"

#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-executor.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What was typed about NCCL and changes nothing in a run.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param traits of an executor @param field a CollectiveField @return whether it counts
bool Honours(const ExecutorTraits& traits, const std::string& field);

/// @ingroup proteus
/// @param typed what was typed @param traits of an executor that has run
/// @param settings of the run @param cluster that it ran on @param graph that was run
/// @param timeline of the run
/// @return a line for each option of NCCL that was typed and changes nothing in this run
std::vector<std::string> FindUnusedChoices(const TypedNetwork& typed,
                                           const ExecutorTraits& traits,
                                           const ExecutorSettings& settings,
                                           const Cluster& cluster,
                                           const ExecutionGraph& graph,
                                           const Timeline& timeline);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_UNUSED_CHOICES_H
