/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scheduled-run.h"

#include "proteus-communication-parts.h"

#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param scheduled a graph of one iteration @param policy that ranks it
/// @return what the policy knows of every task beforehand
std::vector<CommunicationRank>
RankCommunications(const ScheduledGraph& scheduled, const SchedulingPolicy& policy)
{
    std::vector<CommunicationRank> ranks(scheduled.graph.GetNTasks());
    const std::vector<uint32_t> urgency =
        policy.rank ? policy.rank(scheduled) : std::vector<uint32_t>(ranks.size());
    for (TaskId id = 0; id < ranks.size(); ++id)
    {
        ranks[id] = {urgency[id], scheduled.partOf[id]};
    }
    return ranks;
}

} // namespace

ScheduledRun
PrepareSchedule(const ExecutionGraph& graph, const ScheduleSettings& settings)
{
    CheckScheduleSettings(settings);
    const SchedulingPolicy policy = FindSchedulingPolicy(settings.policy);
    ScheduledGraph scheduled = policy.transform
                                   ? policy.transform(graph, settings)
                                   : CutCommunications(graph, settings.kinds, settings.partBytes);
    ScheduledRun run;
    if (policy.make)
    {
        run.startControl = [settings, ranks = RankCommunications(scheduled, policy)](
                               const ExecutionGraph& executed,
                               Clock& clock) -> std::unique_ptr<StartControl> {
            return std::make_unique<CommunicationControl>(executed, clock, settings, ranks);
        };
    }
    run.graph = std::move(scheduled.graph);
    return run;
}

} // namespace proteus
} // namespace ns3
