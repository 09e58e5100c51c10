/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULED_RUN_H
#define PROTEUS_SCHEDULED_RUN_H

#include "proteus-communication-control.h"
#include "proteus-parameter-servers.h"

#include <functional>
#include <memory>

/**
 * @file
 * @ingroup proteus
 * A graph and a policy made ready for an executor.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What an executor runs.
struct ScheduledRun
{
    ExecutionGraph graph; //!< with communications as the policy wants them
    /// For RuntimeOptions; none if the policy leaves communications to their streams.
    std::function<std::unique_ptr<StartControl>(const ExecutionGraph&, Clock&)> startControl;
    std::shared_ptr<ScheduleUse> use; //!< of the last run; null where startControl is none
};

/// @ingroup proteus
/// @param graph to change @param settings of a policy @param policy itself
/// @return the graph with its communications as the policy wants them
ScheduledGraph TransformGraph(const ExecutionGraph& graph,
                              const ScheduleSettings& settings,
                              const SchedulingPolicy& policy);

/**
 * @ingroup proteus
 * Applies a policy to a graph: its communications are cut or merged and ranked.
 * @param graph of one iteration
 * @param settings of the policy
 * @return what an executor runs
 * @throw std::invalid_argument as CheckScheduleSettings()
 */
ScheduledRun PrepareSchedule(const ExecutionGraph& graph, const ScheduleSettings& settings);

/**
 * @ingroup proteus
 * The same, with parameter servers in the place of all-reduces of the kinds that are scheduled.
 * @param repeated iterations
 * @param settings of the policy
 * @param servers of the gradients
 * @return what an executor runs, on devices more by as many as there are servers
 * @throw std::invalid_argument as CheckScheduleSettings() and ServeCommunications()
 */
ScheduledRun PrepareSchedule(const RepeatedGraph& repeated,
                             const ScheduleSettings& settings,
                             const ParameterServers& servers);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULED_RUN_H
