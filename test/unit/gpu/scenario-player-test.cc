/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-job-composition.h"
#include "ns3/proteus-run-record.h"
#include "ns3/proteus-scenario-json.h"
#include "ns3/proteus-scenario.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t MS = 1000000000;

/// @return plain hosts behind two leaves and two spines, or on another fabric
Cluster
MakeHosts(uint32_t hosts,
          const std::string& kind = "leaf-spine",
          LinkTechnology technology = LinkTechnology::INFINIBAND)
{
    FabricOptions fabric;
    fabric.kind = kind;
    fabric.serversPerLeaf = hosts / 2;
    fabric.leavesPerGroup = 2;
    fabric.spinesPerGroup = 2;
    fabric.spines = 2;
    return MakeHostCluster(hosts,
                           fabric,
                           technology,
                           12.5e9,
                           DefaultDelayPs(technology),
                           DefaultFraming(technology));
}

/// @return all-reduces of some size among all devices, one after the other
ExecutionGraph
MakeGraph(uint32_t devices, uint64_t bytes, uint32_t times = 4)
{
    GraphBuilder builder(devices);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("all");
    std::vector<DeviceId> all;
    for (DeviceId device = 0; device < devices; ++device)
    {
        all.push_back(device);
    }
    const GroupId group = builder.AddGroup(all);
    for (uint32_t i = 0; i < times; ++i)
    {
        builder.AddCommunication(phase,
                                 group,
                                 stream,
                                 "reduce",
                                 Collective::ALL_REDUCE,
                                 bytes,
                                 Parallelism::DATA);
    }
    return builder.Build();
}

/// @return settings of a run
ExecutorSettings
MakeSettings()
{
    return ReadExecutorSettings(1);
}

/// Plays a graph in a scenario, packet by packet.
RunRecord
Play(const ExecutionGraph& graph,
     const Cluster& cluster,
     const std::string& body,
     int64_t alonePs = 0)
{
    ExecutorSettings settings = MakeSettings();
    std::istringstream input(R"({"format": "proteus-scenario", "version": 1)" + body + "}");
    const Scenario scenario = ReadScenarioJson(input, "s.json", cluster);
    settings.scenario = std::make_shared<const ScenarioPlan>(
        MakeScenarioPlan(scenario, cluster, graph.GetNDevices(), alonePs));
    return FindExecutor("packet").Run(graph, cluster, settings);
}

/// @return payload that both directions of the links of a vertex carried
uint64_t
CountPayload(const RunRecord& record, const Cluster& cluster, const std::string& name)
{
    uint64_t bytes = 0;
    const VertexId vertex = cluster.FindVertex(name);
    for (const LinkStatistics& link : record.links)
    {
        const Link& of = cluster.GetLinks()[link.link];
        bytes += of.a == vertex || of.b == vertex ? link.payloadBytes : 0;
    }
    return bytes;
}

/// @return all that a test compares of two runs
auto
Fingerprint(const RunRecord& record)
{
    std::vector<std::tuple<uint32_t, int64_t, int64_t>> spans;
    for (const Span& span : record.timeline.spans)
    {
        spans.emplace_back(span.device, span.startPs, span.endPs);
    }
    std::vector<uint64_t> links;
    for (const LinkStatistics& link : record.links)
    {
        links.insert(links.end(), {link.payloadBytes, link.wireBytes, link.lostPackets});
    }
    return std::make_tuple(spans, links, record.network.packets, record.network.repeated);
}

/// @return kernels of 5 ms, then an all-reduce beside kernels
ExecutionGraph
MakeLateGraph(uint32_t devices)
{
    GraphBuilder builder(devices);
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("all");
    std::vector<DeviceId> all;
    std::vector<TaskId> kernels;
    for (DeviceId device = 0; device < devices; ++device)
    {
        all.push_back(device);
        kernels.push_back(builder.AddCompute(phase, device, compute, "first", 5 * MS));
        builder.AddCompute(phase, device, compute, "beside", MS);
    }
    builder.AddCommunication(phase,
                             builder.AddGroup(all),
                             communication,
                             "reduce",
                             Collective::ALL_REDUCE,
                             4 << 20,
                             Parallelism::DATA,
                             kernels);
    return builder.Build();
}

} // namespace

TEST(ScenarioPackets, AFailureCostsTimeAndLosesNothing)
{
    const ExecutionGraph graph = MakeGraph(8, 8 << 20);
    uint64_t sentAgain = 0; // not every failure meets a packet
    for (const char* kind : {"leaf-spine", "fat-tree", "dragonfly+"})
    {
        SCOPED_TRACE(kind);
        const Cluster cluster = MakeHosts(8, kind);
        const int64_t alonePs =
            FindExecutor("packet").Run(graph, cluster, MakeSettings()).timeline.endPs;
        const std::string spine = std::string(kind) == "leaf-spine" ? "spine0"
                                  : std::string(kind) == "fat-tree" ? "aggregation0.0"
                                                                    : "spine0.0";
        const std::string event =
            R"(, "events": [{"kind": "switch-down", "switch": ")" + spine + R"(", "at": "30%")";
        const RunRecord broken = Play(graph, cluster, event + "}]", alonePs);
        const RunRecord repaired = Play(graph, cluster, event + R"(, "until": "50%"}])", alonePs);
        // Run() throws unless every byte has arrived; what was on the wire came again.
        EXPECT_GT(broken.timeline.endPs, alonePs);
        sentAgain += broken.network.repeated;
        EXPECT_LE(repaired.timeline.endPs, broken.timeline.endPs);
        // The repaired switch carries more than the one that stays broken.
        EXPECT_GT(CountPayload(repaired, cluster, spine), CountPayload(broken, cluster, spine));
        // Again, to the picosecond and byte.
        EXPECT_EQ(Fingerprint(Play(graph, cluster, event + R"(, "until": "50%"}])", alonePs)),
                  Fingerprint(repaired));
    }
    EXPECT_GT(sentAgain, 0u);
}

// Routes change when a link fails; programs and what they take of GPUs are those of the start.
TEST(ScenarioPackets, ACommunicationBeginsAfterAFailure)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 1;
    fabric.spines = 2;
    const Cluster cluster = MakeCluster("pcie-v100x4", 2, fabric);
    const ExecutionGraph graph = MakeLateGraph(8);
    const RunRecord whole = FindExecutor("packet").Run(graph, cluster, MakeSettings());
    const RunRecord broken =
        Play(graph,
             cluster,
             R"(, "events": [{"kind": "switch-down", "switch": "spine0", "at": "1ms"}])");
    EXPECT_EQ(CountPayload(broken, cluster, "spine0"), 0u);
    EXPECT_EQ(CountPayload(broken, cluster, "spine1"),
              CountPayload(whole, cluster, "spine0") + CountPayload(whole, cluster, "spine1"));
    EXPECT_GE(broken.timeline.endPs, whole.timeline.endPs);
}

// Connections are made when a job starts. One that is first used while its only way is broken sends
// again until the way is there, and is refused nothing.
TEST(ScenarioPackets, ACommunicationBeginsWhileItsOnlyWayIsBroken)
{
    FabricOptions fabric;
    const Cluster cluster = MakeCluster("pcie-v100x4", 2, fabric);
    const ExecutionGraph graph = MakeLateGraph(8);
    const RunRecord whole = FindExecutor("packet").Run(graph, cluster, MakeSettings());
    const RunRecord broken = Play(
        graph,
        cluster,
        R"(, "events": [{"kind": "nic-down", "nic": "n0.nic0", "at": "2ms", "until": "9ms"}])");
    EXPECT_GT(broken.network.timeouts, 0u);
    EXPECT_GT(broken.network.repeated, 0u);
    EXPECT_GT(broken.timeline.endPs, std::max(9 * MS, whole.timeline.endPs));
    EXPECT_GE(CountPayload(broken, cluster, "n1.nic0"), CountPayload(whole, cluster, "n1.nic0"));
}

TEST(ScenarioPackets, ADegradedLinkIsSlowerWhileItIs)
{
    const Cluster cluster = MakeHosts(8);
    const ExecutionGraph graph = MakeGraph(8, 8 << 20);
    const int64_t alonePs =
        FindExecutor("packet").Run(graph, cluster, MakeSettings()).timeline.endPs;
    const auto run = [&](const std::string& rest) {
        return Play(graph,
                    cluster,
                    R"(, "events": [{"kind": "degraded", "nic": "host3", )" + rest + "}]",
                    alonePs)
            .timeline.endPs;
    };
    const int64_t half = run(R"("rate_share": 0.5, "at": "0")");
    EXPECT_GT(half, alonePs * 16 / 10); // kernels cost time, too
    EXPECT_LT(half, alonePs * 205 / 100);
    // For half of the time alone at half the rate: a quarter more.
    const int64_t part = run(R"("rate_share": 0.5, "at": "0", "until": "50%")");
    EXPECT_NEAR(static_cast<double>(part) / static_cast<double>(alonePs), 1.25, 0.1);
    EXPECT_GT(run(R"("loss_probability": 0.001, "at": "0")"), alonePs);
}

TEST(ScenarioPackets, AStormHoldsUpWhoSendsToTheHost)
{
    const Cluster cluster = MakeHosts(4, "leaf-spine", LinkTechnology::ROCE);
    const ExecutionGraph graph = MakeGraph(4, 4 << 20);
    const RunRecord alone = FindExecutor("packet").Run(graph, cluster, MakeSettings());
    const RunRecord storm = Play(
        graph,
        cluster,
        R"(, "events": [{"kind": "pfc-storm", "nic": "host2", "at": "500us", "until": "900us"}])");
    const auto longer = static_cast<double>(storm.timeline.endPs - alone.timeline.endPs);
    EXPECT_GT(longer, 0.3e9); // most of the 400 us
    EXPECT_GT(storm.network.pauses, 0u);
    EXPECT_EQ(storm.network.dropped, 0u); // pauses spread upwards and lose nothing
}

TEST(ScenarioPackets, TrafficSharesTheFabric)
{
    const Cluster cluster = MakeHosts(8);
    const ExecutionGraph graph = MakeGraph(8, 8 << 20);
    const int64_t alonePs =
        FindExecutor("packet").Run(graph, cluster, MakeSettings()).timeline.endPs;
    const RunRecord record =
        Play(graph,
             cluster,
             R"(, "seed": 2, "traffic": [{"kind": "poisson", "bytes": 200000, "load": 0.3}, )"
             R"({"kind": "incast", "to": "host0", "bytes": 100000, "from": "100us"}])",
             alonePs);
    EXPECT_GT(record.timeline.endPs, alonePs + alonePs / 10);
    uint64_t incast = 0;
    double poisson = 0;
    for (const TrafficRecord& message : record.traffic)
    {
        EXPECT_GT(message.receivedPs, message.startPs);
        EXPECT_LE(message.startPs, record.timeline.endPs); // none begins after the job
        incast += message.source == 1 ? message.bytes : 0;
        poisson += message.source == 0 ? static_cast<double>(message.bytes) : 0;
    }
    EXPECT_EQ(incast, 700000u);
    // 30 % of the summed rates, within four standard deviations.
    const double expected = 0.3 * 8 * 12.5e9 * static_cast<double>(record.timeline.endPs) * 1e-12;
    EXPECT_NEAR(poisson, expected, 4 * 200000 * std::sqrt(expected / 200000));
}

TEST(ScenarioPackets, JobsOnOneFabricCarryTheSumOfTheirBytes)
{
    // Two jobs of four hosts: each behind its own leaf, or both behind both leaves.
    const Cluster cluster = MakeHosts(8);
    const ExecutionGraph graph = MakeGraph(4, 8 << 20);
    const auto run = [&](const std::vector<uint32_t>& gpus, std::size_t jobs) {
        Cluster ranked = cluster;
        std::vector<VertexId> vertices;
        for (const uint32_t gpu : gpus)
        {
            vertices.push_back(cluster.GetGpus()[gpu]);
        }
        ranked.RankGpus(vertices);
        std::vector<JobGraph> list;
        for (std::size_t i = 0; i < jobs; ++i)
        {
            list.push_back({&graph, "j" + std::to_string(i), 0});
        }
        const ComposedJobs composed = ComposeJobs(list);
        return FindExecutor("packet").Run(composed.graph, ranked, MakeSettings());
    };
    const RunRecord packed = run({0, 1, 2, 3, 4, 5, 6, 7}, 2);
    const RunRecord mixed = run({0, 4, 1, 5, 2, 6, 3, 7}, 2);
    const RunRecord first = run({0, 4, 1, 5}, 1);
    const RunRecord second = run({2, 6, 3, 7}, 1);
    const int64_t alonePs = run({0, 1, 2, 3}, 1).timeline.endPs;
    EXPECT_EQ(packed.timeline.endPs, alonePs); // they do not meet
    EXPECT_GE(mixed.timeline.endPs, first.timeline.endPs);
    uint64_t spines = 0;
    for (std::size_t port = 0; port < mixed.links.size(); ++port)
    {
        const Link& link = cluster.GetLinks()[mixed.links[port].link];
        const bool isAccess = link.a < 8 || link.b < 8;
        if (isAccess) // paths of the others are chosen anew
        {
            EXPECT_EQ(mixed.links[port].payloadBytes,
                      first.links[port].payloadBytes + second.links[port].payloadBytes);
        }
        else
        {
            spines += mixed.links[port].payloadBytes;
            spines -= first.links[port].payloadBytes + second.links[port].payloadBytes;
        }
    }
    EXPECT_EQ(spines, 0u);
}
