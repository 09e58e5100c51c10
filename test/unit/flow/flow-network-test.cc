/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "together.h"

#include "ns3/config.h"
#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-flow-congestion-settings.h"
#include "ns3/proteus-flow-executor.h"
#include "ns3/proteus-flow-network.h"
#include "ns3/proteus-flow-profile.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-server-hosts.h"
#include "ns3/string.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double GB = 1e9;

/// Hosts on one switch, 10 GB/s and 1 us a link, without any overhead.
Cluster
MakePlainHosts(uint32_t hosts)
{
    LinkFraming framing;
    framing.controlBytes = 1;
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           LinkTechnology::INFINIBAND,
                           10 * GB,
                           1000000,
                           framing);
}

/// @return how long a graph takes without and with congestion control of RoCE, picoseconds
std::pair<double, double>
RunFairAndCongested(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ProgramSettings& settings)
{
    FlowParameters parameters;
    const auto run = [&]() {
        return static_cast<double>(
            RunFlow(graph, cluster, RuntimeOptions(), parameters, settings).timeline.endPs);
    };
    const double fair = run();
    parameters.congestion = ReadFlowCongestion();
    return {fair, run()};
}

/// @return time of the last end of every task, seconds from the start of the run
std::vector<double>
FindEnds(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<double> ends(graph.GetNTasks(), 0);
    for (const Span& span : timeline.spans)
    {
        ends[span.task] = std::max(ends[span.task], static_cast<double>(span.endPs) * 1e-12);
    }
    return ends;
}

FlowParameters
WithoutKernels()
{
    FlowParameters parameters;
    parameters.kernelCosts = false;
    return parameters;
}

} // namespace

TEST(FlowNetwork, OneMessageTakesLatencyAndBytesOverRate)
{
    Together together(2);
    together.Add(Collective::SEND_RECV, {0, 1}, 100000000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, MakePlainHosts(2), RuntimeOptions(), WithoutKernels());
    // 10 ms for the bytes; the grant, two links there, two links back for the acknowledgement.
    EXPECT_NEAR(FindEnds(graph, run.timeline)[0], 10e-3 + 6e-6, 1e-7);
}

/// Ethernet switches have all of a packet before they send it on, and the bytes of a message are on
/// the slowest link of its way meanwhile.
TEST(FlowNetwork, APacketCrossesEachSwitchOnce)
{
    LinkFraming framing;
    framing.unitBytes = 1000;
    framing.packetBytes = 1000;
    framing.controlBytes = 1;
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 1;
    options.spines = 1;
    options.oversubscription = 4;
    const Cluster cluster = MakeHostCluster(2, options, LinkTechnology::ROCE, 1e8, 1000, framing);
    Together together(2);
    together.Add(Collective::SEND_RECV, {0, 1}, 100'000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), WithoutKernels());
    // 10 us for a packet from and to a host, 40 between switches, the second of which adds 40.
    EXPECT_NEAR(FindEnds(graph, run.timeline)[0], 100 * 40e-6 + 60e-6, 1e-6);
}

/// Where packets take all equal ways, no two flows meet on one while another is free.
TEST(FlowNetwork, PartsOfFlowsTakeAllEqualWays)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 4;
    options.spines = 4;
    const Cluster cluster = MakeHostCluster(8,
                                            options,
                                            LinkTechnology::ROCE,
                                            10 * GB,
                                            1000000,
                                            DefaultFraming(LinkTechnology::ROCE));
    FlowParameters parameters = WithoutKernels();
    const auto time = [&](uint32_t senders) {
        double longest = 0;
        for (parameters.pathSeed = 0; parameters.pathSeed < 8; ++parameters.pathSeed)
        {
            Together together(8);
            for (DeviceId host = 0; host < senders; ++host)
            {
                together.Add(Collective::SEND_RECV, {host, host + 4}, 50'000'000);
            }
            const ExecutionGraph graph = together.Build();
            const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), parameters);
            for (const double end : FindEnds(graph, run.timeline))
            {
                longest = std::max(longest, end);
            }
        }
        return longest;
    };
    EXPECT_GT(time(4), 1.9 * time(1)); // some throw has two on one way
    parameters.spreads = true;
    EXPECT_NEAR(time(4) / time(1), 1, 1e-3);
}

TEST(FlowNetwork, CongestionControlLeavesAPartOfLinksAndAddsToPackets)
{
    LinkFraming framing;
    framing.unitBytes = 1000;
    framing.packetBytes = 1000;
    framing.controlBytes = 100;
    const Cluster cluster =
        MakeHostCluster(2, FabricOptions(), LinkTechnology::ROCE, 10 * GB, 1000000, framing);
    FlowParameters parameters = WithoutKernels();
    parameters.networkLoad.utilisation = 0.8;
    parameters.networkLoad.telemetryBytes = 50;
    const auto time = [&](bool isBack) {
        Together together(2);
        together.Add(Collective::SEND_RECV, {0, 1}, 100'000'000);
        if (isBack)
        {
            together.Add(Collective::SEND_RECV, {1, 0}, 100'000'000);
        }
        const ExecutionGraph graph = together.Build();
        return FindEnds(graph, RunFlow(graph, cluster, RuntimeOptions(), parameters).timeline)[0];
    };
    EXPECT_NEAR(time(false), 10e-3 * 1.05 / 0.8, 1e-4);
    EXPECT_NEAR(time(true), 10e-3 * 1.05 / 0.8, 1e-4);
    // An acknowledgement of each second packet of the other.
    parameters.networkLoad.ackEveryPackets = 2;
    EXPECT_NEAR(time(false), 10e-3 * 1.05 / 0.8, 1e-4);
    EXPECT_NEAR(time(true), 10e-3 * 1.10 / 0.8, 1e-4);
}

/// Telemetry is what switches say: what a host sends to two others may fill its link.
TEST(FlowNetwork, CongestionControlFillsLinksThatNoSwitchSendsOn)
{
    const Cluster cluster = MakeHostCluster(3,
                                            FabricOptions(),
                                            LinkTechnology::ROCE,
                                            10 * GB,
                                            1000000,
                                            DefaultFraming(LinkTechnology::ROCE));
    FlowParameters parameters = WithoutKernels();
    const auto time = [&](double utilisation) {
        parameters.networkLoad.utilisation = utilisation;
        Together together(3);
        together.Add(Collective::SEND_RECV, {0, 1}, 50'000'000);
        together.Add(Collective::SEND_RECV, {0, 2}, 50'000'000);
        const ExecutionGraph graph = together.Build();
        return FindEnds(graph, RunFlow(graph, cluster, RuntimeOptions(), parameters).timeline)[0];
    };
    EXPECT_NEAR(time(0.8), time(1), 1e-4);
    EXPECT_GT(time(0.4), 1.2 * time(1));
}

TEST(FlowNetwork, WhatControlsOfPacketsAddIsRead)
{
    const std::string name = "ns3::proteus::Transport::CongestionControl";
    const auto read = [&name](const char* control) {
        ns3::Config::SetDefault(name, ns3::StringValue(control));
        FlowParameters parameters;
        ReadNetworkLoad(parameters);
        ns3::Config::SetDefault(name, ns3::StringValue("auto"));
        return parameters;
    };
    const FlowParameters hpcc = read("hpcc");
    EXPECT_EQ(hpcc.networkLoad.utilisation, 0.95);
    EXPECT_EQ(hpcc.networkLoad.telemetryBytes, 42u);
    EXPECT_EQ(hpcc.networkLoad.ackEveryPackets, 1u);
    EXPECT_EQ(hpcc.networkLoad.control, "hpcc");
    EXPECT_EQ(hpcc.attributes.count(name), 1u);
    const FlowParameters timely = read("timely");
    EXPECT_EQ(timely.networkLoad.utilisation, 1);
    EXPECT_EQ(timely.networkLoad.ackEveryPackets, 1u);
    EXPECT_EQ(timely.attributes.count(name), 0u); // whose rates are not modelled
    EXPECT_EQ(read("auto").networkLoad.ackEveryPackets, 0u);
}

TEST(FlowNetwork, MessagesBetweenMemoriesOfHostsGoInOrder)
{
    // One after the other on each way, as on a queue pair; the two ways share the link.
    Cluster cluster = MakeCluster("pcie-v100x4", 3);
    AddHostMemories(cluster, {0, 1, 2});
    const auto first = static_cast<DeviceId>(cluster.GetGpus().size() - 3);
    Together together(first + 3);
    together.Add(Collective::SEND_RECV, {first, first + 1}, 60000000);
    together.Add(Collective::SEND_RECV, {first, first + 1}, 30000000);
    together.Add(Collective::SEND_RECV, {first, first + 2}, 120000000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), WithoutKernels());
    const std::vector<double> ends = FindEnds(graph, run.timeline);
    const double unit = ends[2] / 210; // all of them leave by one NIC
    EXPECT_NEAR(ends[0], 120 * unit, unit);
    EXPECT_NEAR(ends[1], 180 * unit, unit);
}

TEST(FlowNetwork, MessagesOverOneLinkShareIt)
{
    // Two leave host 0; a third one goes to host 2, whose link it shares with one of them.
    Together together(4);
    together.Add(Collective::SEND_RECV, {0, 1}, 100000000);
    together.Add(Collective::SEND_RECV, {0, 2}, 100000000);
    together.Add(Collective::SEND_RECV, {3, 2}, 150000000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, MakePlainHosts(4), RuntimeOptions(), WithoutKernels());
    const auto ends = FindEnds(graph, run.timeline);
    // All get 5 GB/s for 20 ms; then the third one has the link alone for its last 50 MB.
    EXPECT_NEAR(ends[0], 20e-3, 1e-5);
    EXPECT_NEAR(ends[1], 20e-3, 1e-5);
    EXPECT_NEAR(ends[2], 25e-3, 1e-5);
}

TEST(FlowNetwork, RanksThatComeFirstDoNotWaitForLateOnes)
{
    // 10 ms for what each of three sends to the first host, whose link they share.
    for (const int64_t lateMs : {0, 5, 20, 40})
    {
        Together together(4);
        const TaskId late = together.Compute(3, std::max<int64_t>(1, lateMs * 1'000'000'000));
        const TaskId gather = together.Add(Collective::GATHER, {0, 1, 2, 3}, 400'000'000, {late});
        const TaskId next = together.Add(Collective::SEND_RECV, {1, 2}, 1'000'000, {gather});
        const ExecutionGraph graph = together.Build();
        const FlowRun run = RunFlow(graph, MakePlainHosts(4), RuntimeOptions(), WithoutKernels());
        const auto ends = FindEnds(graph, run.timeline);
        const double end = std::max(30, 10 + static_cast<int>(lateMs)) * 1e-3;
        EXPECT_NEAR(ends[gather], end, 2e-4) << lateMs << " ms late";
        // The other two are done with their part, and go on, whether the last one is there or not.
        EXPECT_NEAR(ends[next], lateMs < 20 ? end : 20.1e-3, lateMs < 20 ? 11e-3 : 2e-4);
    }
}

/// Where congestion control has collectives replayed, ranks end with their part, too: the root of a
/// broadcast long before the last rank of the chain, and before one that comes late.
TEST(FlowNetwork, RanksOfWhatIsReplayedEndWithTheirPart)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 1;
    options.oversubscription = 4;
    const Cluster cluster = MakeCluster("pcie-v100x8", 2, options);
    for (const int64_t lateUs : {1, 2000})
    {
        Together together(16);
        std::vector<DeviceId> all(16);
        std::iota(all.begin(), all.end(), 0);
        const TaskId late = together.Compute(12, lateUs * 1'000'000);
        const TaskId broadcast = together.Add(Collective::BROADCAST, all, 8'000'000, {late});
        const TaskId next = together.Add(Collective::SEND_RECV, {0, 1}, 1000, {broadcast});
        const ExecutionGraph graph = together.Build();
        FlowParameters parameters;
        parameters.congestion = ReadFlowCongestion();
        const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), parameters);
        const auto ends = FindEnds(graph, run.timeline);
        EXPECT_GT(ends[broadcast], static_cast<double>(lateUs) * 1e-6);
        EXPECT_LT(ends[next], 0.9 * ends[broadcast]) << lateUs;
    }
}

TEST(FlowNetwork, RanksEndWithTheirPart)
{
    // What the root's server gathers inside is there long before what comes over 1 Gb/s.
    const Cluster cluster = MakeCluster("titanxp-pcie", 2);
    Together together(16);
    std::vector<DeviceId> all(16);
    std::iota(all.begin(), all.end(), 0);
    const TaskId gather = together.Add(Collective::GATHER, all, 16'000'000);
    const TaskId inside = together.Add(Collective::SEND_RECV, {2, 3}, 1000, {gather});
    const TaskId outside = together.Add(Collective::SEND_RECV, {2, 9}, 1000, {gather});
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), WithoutKernels());
    const auto ends = FindEnds(graph, run.timeline);
    EXPECT_GT(ends[gather], 60e-3);
    EXPECT_LT(ends[inside], 0.2 * ends[gather]);
    EXPECT_GT(ends[outside], 0.9 * ends[gather]);
}

TEST(FlowNetwork, ARankIsDoneWithItsLastPart)
{
    // The last bytes are those of its own server, but what crosses the network has longer
    // latencies.
    const Cluster cluster = MakeCluster("dgx1-v100", 2);
    Together together(16);
    std::vector<DeviceId> all(16);
    std::iota(all.begin(), all.end(), 0);
    const TaskId gather = together.Add(Collective::GATHER, all, 4096);
    const ExecutionGraph graph = together.Build();
    ProgramSettings settings;
    settings.protocol = "LL";
    const Paths paths(cluster);
    FlowProfiles profiles(graph, cluster, paths, FlowParameters(), settings);
    const CollectiveProfile& profile = profiles.Get(gather);
    ASSERT_EQ(profile.classes.size(), 2U);
    EXPECT_LT(profile.classes.front().alonePs, 0.5 * profile.classes.back().alonePs);
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), FlowParameters(), settings);
    const auto alone = static_cast<double>(profile.launchPs + profile.alonePs);
    EXPECT_NEAR(static_cast<double>(run.timeline.endPs), alone, 0.01 * alone);
}

TEST(FlowNetwork, WhatHasBegunEarlyEndsWhenAllHaveJoined)
{
    // All that crosses the network has come when the last ranks, inside servers, join.
    FabricOptions torus;
    torus.kind = "torus-2d";
    const Cluster cluster = MakeCluster("pcie-v100x8", 2, torus);
    Together together(16);
    std::vector<DeviceId> all(16);
    std::iota(all.begin(), all.end(), 0);
    std::vector<TaskId> late;
    for (const int64_t us : {14, 1, 1, 283, 102, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 161})
    {
        late.push_back(together.Compute(static_cast<DeviceId>(late.size()), (us + 1) * 1'000'000));
    }
    const TaskId broadcast = together.Add(Collective::BROADCAST, all, 127520, late, 6);
    const TaskId reduction = together.Add(Collective::ALL_REDUCE, all, 20208, late);
    const ExecutionGraph graph = together.Build();
    FlowParameters parameters;
    parameters.congestion = ReadFlowCongestion();
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), parameters);
    const auto ends = FindEnds(graph, run.timeline);
    EXPECT_GT(ends[broadcast], 284e-6);
    EXPECT_LT(ends[broadcast], 500e-6);
    EXPECT_GT(ends[reduction], 284e-6);
}

/// A NIC of 1 Gb/s has read the message to the other early rank when the late one joins. So both
/// send that first, and then to the late one together: three messages' time. It is no longer where
/// that gets marks, as only what has not been read is paced.
TEST(FlowNetwork, WhatANicHasReadGoesFirstAndIsNotPaced)
{
    const Cluster cluster = MakeCluster("titanxp-pcie", 3);
    Together together(24);
    constexpr uint64_t BYTES = 80'000; // of a message
    const TaskId late = together.Compute(5, 165'000'000);
    together.Add(Collective::ALL_TO_ALL, {5, 13, 21}, 3 * BYTES, {late});
    const ExecutionGraph graph = together.Build();
    const auto [fair, congested] = RunFairAndCongested(graph, cluster, ProgramSettings());
    EXPECT_GT(congested, static_cast<double>(3 * BYTES) / (GB / 8) * 1e12);
    EXPECT_NEAR(congested, fair, 0.02 * fair);
}

/// Where nothing gets marks, what is followed message by message takes as long as without control,
/// also beside what the root gathers in its server: by mean rates this was 7 % more.
TEST(FlowNetwork, AGatherIsReplayedBesideItsServersPart)
{
    const Cluster cluster = MakeCluster("pcie-v100x8", 4);
    Together together(32);
    together.Add(Collective::GATHER, {0, 1, 3, 9, 10, 12, 17, 20, 22, 26, 28, 29, 31}, 185'731);
    const ExecutionGraph graph = together.Build();
    const auto [fair, congested] = RunFairAndCongested(graph, cluster, ProgramSettings());
    EXPECT_NEAR(congested, fair, 0.02 * fair);
}

TEST(FlowNetwork, CongestedFlowsShareLinksInsideServers)
{
    // Two rings congest what leads to NICs, and share the PCI Express of two GPUs, which was 113 %
    // busy when queue pairs could be ahead by all slots of their messages.
    FabricOptions leaves;
    leaves.kind = "leaf-spine";
    leaves.serversPerLeaf = 1;
    const Cluster cluster = MakeTextCluster("pcie-v100x8:nic=1x400G-roce", 2, leaves);
    FlowParameters parameters;
    parameters.congestion = ReadFlowCongestion();
    Together together(16);
    together.Add(Collective::REDUCE_SCATTER, {1, 9}, 16'000'000);
    together.Add(Collective::ALL_REDUCE, {0, 1, 2, 5, 6, 7, 9, 11, 12, 13, 14}, 4'000'000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), parameters);
    for (const LinkStatistics& link : run.links)
    {
        EXPECT_LE(static_cast<double>(link.busyPs), 1.08 * static_cast<double>(run.timeline.endPs))
            << link.link;
    }
}

/// What comes off the network takes turns with three GPUs at the link of the root, and waits where
/// it is marked, though no port of the switch is wanted for more than it has.
TEST(FlowNetwork, ANicWaitsForOthersInItsServer)
{
    const Cluster cluster = MakeTextCluster("pcie-v100x4:nic=1x100G-roce", 2, FabricOptions());
    for (const bool isInside : {true, false})
    {
        SCOPED_TRACE(isInside);
        Together together(8);
        const std::vector<DeviceId> all{0, 1, 2, 3, 4, 5, 6, 7};
        const std::vector<DeviceId> across{0, 4, 5, 6, 7};
        together.Add(Collective::GATHER, isInside ? all : across, 40'000'000);
        const ExecutionGraph graph = together.Build();
        const auto [fair, congested] = RunFairAndCongested(graph, cluster, ProgramSettings());
        if (isInside)
        {
            EXPECT_GT(congested, 1.2 * fair);
        }
        else
        {
            EXPECT_NEAR(congested, fair, 0.01 * fair);
        }
    }
}

/// What is replayed waits for its own steps, and for nothing else where nothing queues: a chain
/// takes as long as without a replay.
TEST(FlowNetwork, AReplayAloneTakesNoLonger)
{
    FabricOptions torus;
    torus.kind = "torus-2d";
    const Cluster cluster = MakeTextCluster("dgx-h100:nic=8x200G-roce", 4, torus);
    Together together(32);
    together.Add(Collective::REDUCE, {1, 9, 17, 25}, 17'677'072);
    const ExecutionGraph graph = together.Build();
    ProgramSettings settings;
    settings.algorithm = "ring";
    const auto [fair, congested] = RunFairAndCongested(graph, cluster, settings);
    EXPECT_NEAR(congested, fair, 0.01 * fair);
}

/// LL over a network is slower than the links: where ports may be congested no less than elsewhere.
TEST(FlowNetwork, ProtocolsLimitWhatIsReplayed)
{
    FabricOptions leaves;
    leaves.kind = "leaf-spine";
    leaves.serversPerLeaf = 1;
    leaves.oversubscription = 4;
    const Cluster cluster = MakeTextCluster("dgx-h100:nic=4x400G-roce", 3, leaves);
    Together together(24);
    const std::vector<DeviceId> devices{0, 1, 2, 3, 4, 5, 7, 8, 10, 12, 13, 14, 15, 19, 21};
    together.Add(Collective::REDUCE, devices, 2'000'000);
    const ExecutionGraph graph = together.Build();
    ProgramSettings settings;
    settings.algorithm = "ring";
    settings.protocol = "LL";
    const auto [fair, congested] = RunFairAndCongested(graph, cluster, settings);
    EXPECT_NEAR(congested, fair, 0.03 * fair);
}

TEST(FlowNetwork, ARingIsBoundByTheTwoTimesNMinusOneOverNRule)
{
    for (const uint32_t n : {2u, 4u, 8u})
    {
        std::vector<DeviceId> all;
        for (DeviceId device = 0; device < n; ++device)
        {
            all.push_back(device);
        }
        Together together(n);
        together.Add(Collective::ALL_REDUCE, all, 400000000);
        const ExecutionGraph graph = together.Build();
        ProgramSettings settings;
        settings.algorithm = "ring";
        const FlowRun run =
            RunFlow(graph, MakePlainHosts(n), RuntimeOptions(), WithoutKernels(), settings);
        const double bound = 2.0 * (n - 1) / n * 400000000 / (10 * GB);
        const double end = FindEnds(graph, run.timeline)[0];
        EXPECT_GE(end, bound);
        EXPECT_LE(end, bound * 1.05) << n << " ranks";
    }
}

TEST(FlowNetwork, LinksCarryWhatProgramsSend)
{
    Together together(8);
    together.Add(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}, 1 << 24);
    together.Add(Collective::ALL_TO_ALL, {0, 2, 4, 6}, 1 << 22);
    together.Add(Collective::BROADCAST, {1, 3, 5}, 1 << 20);
    const ExecutionGraph graph = together.Build();
    const Cluster cluster = MakePlainHosts(8);
    const FlowRun run = RunFlow(graph, cluster);
    const Paths paths(cluster);
    ProgramCache programs(graph, cluster, paths);
    double sent = 0;
    for (TaskId task = 0; task < graph.GetNTasks(); ++task)
    {
        const auto program = programs.Get(task);
        ASSERT_EQ(program->protocol, Protocol::SIMPLE);
        for (const RankProgram& rank : program->ranks)
        {
            sent += static_cast<double>(SentBytes(rank));
        }
    }
    double carried = 0;
    for (const LinkStatistics& link : run.links)
    {
        carried += static_cast<double>(link.payloadBytes);
    }
    EXPECT_NEAR(carried, 2 * sent, 1e-6 * sent); // every byte crosses two links
}

TEST(FlowNetwork, EqualInputsGiveEqualTimelines)
{
    Together together(16);
    for (DeviceId device = 0; device < 8; ++device)
    {
        together.Add(Collective::ALL_REDUCE, {device, device + 8}, 1000000 + 77777 * device);
        together.Add(Collective::SEND_RECV, {device, 15 - device}, 3000000);
    }
    const ExecutionGraph graph = together.Build();
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const FlowRun first = RunFlow(graph, cluster);
    const FlowRun second = RunFlow(graph, cluster);
    EXPECT_EQ(first.timeline.spans, second.timeline.spans);
    EXPECT_EQ(first.timeline.endPs, second.timeline.endPs);
}

TEST(FlowNetwork, GroupsThatDoNotMeetDoNotSlowEachOther)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const auto end = [&](bool both) {
        Together together(16);
        together.Add(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}, 1 << 26);
        if (both)
        {
            together.Add(Collective::ALL_REDUCE, {8, 9, 10, 11, 12, 13, 14, 15}, 1 << 26);
        }
        const ExecutionGraph graph = together.Build();
        return FindEnds(graph, RunFlow(graph, cluster).timeline)[0];
    };
    EXPECT_EQ(end(false), end(true));
}

TEST(FlowNetwork, SwitchesThatReduceBeatRings)
{
    Together together(8);
    together.Add(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}, 1 << 28);
    const ExecutionGraph graph = together.Build();
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    const auto end = [&](const std::string& algorithm) {
        ProgramSettings settings;
        settings.algorithm = algorithm;
        return FindEnds(
            graph,
            RunFlow(graph, cluster, RuntimeOptions(), WithoutKernels(), settings).timeline)[0];
    };
    // A ring moves 2 x 7/8 of the buffer over every GPU's links, 82 % of whose bytes are payload;
    // NVLS 13.25 flits for 8 of the buffer (SetMultimemFraming()).
    EXPECT_NEAR(end("ring") / end("nvls"), (1.75 / 0.82) / (13.25 / 8), 0.05);
}

// As packets have it, a switch that lacks a link to one of the GPUs sums nothing for them.
TEST(FlowNetwork, SwitchesThatMissAMemberReduceNothing)
{
    Together together(8);
    together.Add(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}, 1 << 28);
    const ExecutionGraph graph = together.Build();
    const Cluster whole = MakeCluster("dgx-h100", 1);
    const VertexId last = whole.GetGpus().back();
    const auto isOfSwitch = [&](const Link& link) {
        return link.technology == LinkTechnology::NVLINK && (link.a == last || link.b == last);
    };
    Cluster cut;
    for (const Vertex& vertex : whole.GetVertices())
    {
        cut.AddVertex(vertex);
    }
    double all = 0;
    double lost = 0;
    for (const Link& link : whole.GetLinks())
    {
        const double rate = isOfSwitch(link) ? link.bytesPerSecond : 0;
        all += rate;
        if (rate > 0 && lost == 0)
        {
            lost = rate;
            continue;
        }
        cut.AddLink(link);
    }
    const auto end = [&](const Cluster& cluster) {
        ProgramSettings settings;
        settings.algorithm = "nvls";
        return static_cast<double>(FindEnds(
            graph,
            RunFlow(graph, cluster, RuntimeOptions(), WithoutKernels(), settings).timeline)[0]);
    };
    EXPECT_NEAR(end(cut) / end(whole), all / (all - lost), 0.02);
}

TEST(AlphaBeta, IgnoresWhoElseIsThere)
{
    Together together(3);
    together.Add(Collective::SEND_RECV, {0, 1}, 100000000);
    together.Add(Collective::SEND_RECV, {0, 2}, 100000000);
    const ExecutionGraph graph = together.Build();
    const FlowRun run = RunFlow(graph,
                                MakePlainHosts(3),
                                RuntimeOptions(),
                                WithoutKernels(),
                                ProgramSettings(),
                                FlowRung::ALPHA_BETA);
    EXPECT_NEAR(FindEnds(graph, run.timeline)[0], 10e-3, 1e-5);
    EXPECT_NEAR(FindEnds(graph, run.timeline)[1], 10e-3, 1e-5);
}
