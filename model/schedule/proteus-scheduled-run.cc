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
        ranks[id].rank = urgency[id];
        ranks[id].part = scheduled.partOf[id];
    }
    return ranks;
}

/// @param graph that executors run @param settings of a policy @param policy itself
/// @param ranks by task @return what they run, and how
ScheduledRun
MakeRun(ExecutionGraph graph,
        const ScheduleSettings& settings,
        const SchedulingPolicy& policy,
        std::vector<CommunicationRank> ranks)
{
    ScheduledRun run;
    run.graph = std::move(graph);
    if (policy.make)
    {
        run.use = std::make_shared<ScheduleUse>();
        run.startControl = [settings, ranks = std::move(ranks), use = run.use](
                               const ExecutionGraph& executed,
                               Clock& clock) -> std::unique_ptr<StartControl> {
            *use = ScheduleUse();
            return std::make_unique<CommunicationControl>(executed, clock, settings, ranks, *use);
        };
    }
    return run;
}

} // namespace

ScheduledGraph
TransformGraph(const ExecutionGraph& graph,
               const ScheduleSettings& settings,
               const SchedulingPolicy& policy)
{
    return policy.transform ? policy.transform(graph, settings)
                            : CutCommunications(graph, settings.kinds, settings.partBytes);
}

ScheduledRun
PrepareSchedule(const ExecutionGraph& graph, const ScheduleSettings& settings)
{
    CheckScheduleSettings(settings);
    const SchedulingPolicy policy = FindSchedulingPolicy(settings.policy);
    ScheduledGraph scheduled = TransformGraph(graph, settings, policy);
    std::vector<CommunicationRank> ranks = RankCommunications(scheduled, policy);
    return MakeRun(std::move(scheduled.graph), settings, policy, std::move(ranks));
}

ScheduledRun
PrepareSchedule(const RepeatedGraph& repeated,
                const ScheduleSettings& settings,
                const ParameterServers& servers)
{
    CheckScheduleSettings(settings);
    const SchedulingPolicy policy = FindSchedulingPolicy(settings.policy);
    const ScheduledGraph scheduled = TransformGraph(repeated.graph, settings, policy);
    const std::vector<CommunicationRank> ranks = RankCommunications(scheduled, policy);
    ServedGraph served =
        ServeCommunications(scheduled, repeated.iterationOf, servers, settings.kinds);
    std::vector<CommunicationRank> servedRanks;
    for (const ServedTask& task : served.tasks)
    {
        CommunicationRank rank = ranks[task.origin];
        rank.window = task.window;
        rank.isFree = task.isLocal;
        servedRanks.push_back(rank);
    }
    return MakeRun(std::move(served.graph), settings, policy, std::move(servedRanks));
}

} // namespace proteus
} // namespace ns3
