/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "together.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-clock.h"
#include "ns3/proteus-flow-network.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double BYTES_PER_SECOND = 1e10;
constexpr double PS_PER_SECOND = 1e12;
/// Latencies of a message on its way, of the clear-to-send before it and of what acknowledges it.
constexpr double LATENCIES_PS = 10e6;

/// Hosts on one switch, 10 GB/s and 1 us a link, without any overhead.
Cluster
MakePlainHosts(uint32_t hosts)
{
    LinkFraming framing;
    framing.controlBytes = 1;
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           LinkTechnology::INFINIBAND,
                           BYTES_PER_SECOND,
                           1000000,
                           framing);
}

FlowRun
RunOnHosts(const ExecutionGraph& graph)
{
    FlowParameters parameters;
    parameters.kernelCosts = false;
    return RunFlow(graph, MakePlainHosts(3), RuntimeOptions(), parameters);
}

/// @return end of a task less the first begin of it, picoseconds
double
FindDuration(const FlowRun& run, TaskId task)
{
    int64_t begin = run.timeline.endPs;
    int64_t end = 0;
    for (const Span& span : run.timeline.spans)
    {
        if (span.task == task)
        {
            begin = std::min(begin, span.startPs);
            end = std::max(end, span.endPs);
        }
    }
    return static_cast<double>(end - begin);
}

/// @param bytes of a message @return picoseconds that they take of a link
double
TimeOf(uint64_t bytes)
{
    return static_cast<double>(bytes) / BYTES_PER_SECOND * PS_PER_SECOND;
}

constexpr uint64_t CHUNK = 400000;

} // namespace

/// What goes down a chain has left the first link when it is on the second. By its mean rate it
/// would use half of both all the time, and what meets it there would take twice as long.
TEST(MeetingReplays, AMessageHasALinkThatAChainHasLeft)
{
    Together alone(3);
    const TaskId lone = alone.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK);
    const double chainPs = FindDuration(RunOnHosts(alone.Build()), lone);
    EXPECT_NEAR(chainPs, 2 * TimeOf(CHUNK), 2 * LATENCIES_PS);

    Together together(3);
    const TaskId chain = together.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK);
    const auto laterPs = static_cast<int64_t>(TimeOf(CHUNK) + LATENCIES_PS);
    const std::vector<TaskId> waits{together.Compute(0, laterPs), together.Compute(1, laterPs)};
    const TaskId message = together.Add(Collective::BROADCAST, {0, 1}, CHUNK / 2, waits);
    const FlowRun run = RunOnHosts(together.Build());
    EXPECT_NEAR(FindDuration(run, message), TimeOf(CHUNK / 2), LATENCIES_PS);
    EXPECT_NEAR(FindDuration(run, chain), chainPs, 1e3);
}

/// Messages that are on one link at a time share it, whatever the collectives need in the mean.
TEST(MeetingReplays, BurstsThatMeetShareALink)
{
    Together together(3);
    const TaskId chain = together.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK);
    const TaskId message = together.Add(Collective::BROADCAST, {0, 1}, CHUNK);
    const FlowRun run = RunOnHosts(together.Build());
    EXPECT_NEAR(FindDuration(run, message), 2 * TimeOf(CHUNK), LATENCIES_PS);
    EXPECT_NEAR(FindDuration(run, chain), 3 * TimeOf(CHUNK), 2 * LATENCIES_PS);
}

/// Collectives of one group have the same connections, on which the thread block that sends allows
/// less than the link: all but what is between their messages takes twice as long. Those of two
/// groups have connections of their own.
TEST(MeetingReplays, CollectivesOfAGroupShareItsConnections)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    ProgramSettings settings;
    settings.channels = 1;
    const auto run = [&](const std::vector<std::vector<DeviceId>>& groups) {
        Together together(8);
        std::vector<TaskId> tasks;
        for (const auto& group : groups)
        {
            tasks.push_back(together.Add(Collective::ALL_GATHER, group, 20 * CHUNK));
        }
        const ExecutionGraph graph = together.Build();
        return FindDuration(RunFlow(graph, cluster, RuntimeOptions(), {}, settings), tasks.front());
    };
    const std::vector<DeviceId> group{0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<DeviceId> other{0, 1, 2, 3, 4, 5, 7, 6};
    const double alone = run({group});
    EXPECT_NEAR(run({group, other}), alone, 0.02 * alone);
    EXPECT_GT(run({group, group}), 1.5 * alone);
    EXPECT_LT(run({group, group}), 2 * alone);
}

TEST(MeetingReplays, LinksCarryWhatTheyCarryAlone)
{
    const auto carry = [](bool hasChain, bool hasRing) {
        Together together(3);
        if (hasChain)
        {
            together.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK);
        }
        if (hasRing)
        {
            together.Add(Collective::ALL_REDUCE, {0, 1, 2}, 3 * CHUNK);
        }
        return RunOnHosts(together.Build()).links;
    };
    const auto chain = carry(true, false);
    const auto ring = carry(false, true);
    const auto both = carry(true, true);
    ASSERT_EQ(both.size(), chain.size());
    for (std::size_t i = 0; i < both.size(); ++i)
    {
        EXPECT_NEAR(both[i].wireBytes, chain[i].wireBytes + ring[i].wireBytes, 2) << i;
        EXPECT_NEAR(both[i].payloadBytes, chain[i].payloadBytes + ring[i].payloadBytes, 2) << i;
    }
}

/// Ranks of one come late, so that what the others have done of it by then is not done again.
TEST(MeetingReplays, WhatHasBegunGoesOn)
{
    const auto run = [](uint64_t other) {
        Together together(3);
        const TaskId late = together.Compute(2, static_cast<int64_t>(TimeOf(CHUNK)));
        const TaskId chain = together.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK, {late});
        if (other > 0)
        {
            together.Add(Collective::BROADCAST, {1, 2}, other, {late});
        }
        return FindDuration(RunOnHosts(together.Build()), chain);
    };
    // The second link takes what the other one sends on it, and no more.
    EXPECT_NEAR(run(CHUNK / 4) - run(0), TimeOf(CHUNK / 4), LATENCIES_PS);
}

TEST(MeetingReplays, AsManyMessagesAreFollowedAsAreToBe)
{
    const Cluster cluster = MakePlainHosts(3);
    const Paths paths(cluster);
    FlowParameters parameters;
    parameters.kernelCosts = false;
    const auto run = [&](uint64_t most) {
        Together together(3);
        const TaskId chain = together.Add(Collective::BROADCAST, {0, 1, 2}, CHUNK);
        const TaskId message = together.Add(Collective::BROADCAST, {0, 1}, CHUNK);
        const ExecutionGraph graph = together.Build();
        FlowClock clock;
        FlowNetwork network(graph, cluster, paths, clock, parameters);
        network.SetMostReplayed(most);
        for (const TaskId task : {chain, message})
        {
            for (const DeviceId device : graph.GetGroup(graph.GetTask(task).place))
            {
                network.Join(device, task, 0, []() {});
            }
        }
        clock.Run();
        EXPECT_EQ(network.CheckAtRest(), "");
        return network.GetNNotReplayed();
    };
    EXPECT_EQ(run(2), 2U);
    EXPECT_EQ(run(1000), 0U);
}
