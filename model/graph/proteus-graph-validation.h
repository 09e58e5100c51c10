/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_VALIDATION_H
#define PROTEUS_GRAPH_VALIDATION_H

#include "proteus-graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room graph/: the checks of GraphBuilder::Build(), in the order in which it makes
 * them; each relies on those before it. All throw a std::invalid_argument that names the ids.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param graph whose streams and phases need distinct names in UTF-8, and its phases micro-batches
void CheckStreamsAndPhases(const ExecutionGraph& graph);

/// @ingroup proteus
/// @param facts what must have a name in UTF-8 and finite FLOPs
void CheckFacts(const WorkloadFacts& facts);

/// @ingroup proteus
/// @param graph whose groups must have devices, distinct ones that exist
/// @return the groups with their devices ascending
std::vector<std::vector<DeviceId>> CheckGroups(const ExecutionGraph& graph);

/// @ingroup proteus
/// @param graph for the message @param names of its tasks, which must be UTF-8
void CheckTaskNames(const ExecutionGraph& graph, const std::vector<std::string>& names);

/// @ingroup proteus
/// @param task any @return whether its kind, collective, parallelism and data type have a name
bool AreEnumsKnown(const Task& task);

/// @ingroup proteus
/// @param graph whose tasks must name a phase, place and stream that exist, and have the fields of
/// their kind and no others
void CheckTasks(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Checks that tasks which depend on each other share a device and fit in their micro-batches.
 * @param graph the graph, its dependencies linked
 * @param sortedGroups what CheckGroups() gave
 */
void CheckDependencies(const ExecutionGraph& graph,
                       std::vector<std::vector<DeviceId>> sortedGroups);

/// @ingroup proteus
/// @param graph whose dependencies must form no cycle
void CheckAcyclic(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Checks what a schedule says by itself.
 * @param graph the graph
 * @param device one that has this schedule, for messages
 * @param schedule the schedule
 * @return by phase that the schedule names, the first micro-batch that it lacks, or the number of
 * micro-batches if it lacks none
 */
std::map<PhaseId, uint32_t> CheckSchedule(const ExecutionGraph& graph,
                                          DeviceId device,
                                          const std::vector<ScheduleEntry>& schedule);

/// @ingroup proteus
/// @param graph whose gates must let every schedule go on to its end
void CheckGates(const ExecutionGraph& graph);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_VALIDATION_H
