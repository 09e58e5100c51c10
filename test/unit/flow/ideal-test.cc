/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-executor.h"
#include "ns3/proteus-graph-file.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double GB = 1e9;

/// Hosts on one switch, 10 GB/s and 1 us a link.
Cluster
MakeHosts(uint32_t hosts)
{
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           LinkTechnology::INFINIBAND,
                           10 * GB,
                           1000000,
                           LinkFraming());
}

/// One communication among the first devices.
ExecutionGraph
MakeGraph(Collective collective, uint32_t devices, uint64_t bytes)
{
    GraphBuilder builder(devices);
    std::vector<DeviceId> group(devices);
    std::iota(group.begin(), group.end(), 0);
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(group),
                             builder.AddStream("communication"),
                             ToString(collective),
                             collective,
                             bytes,
                             Parallelism::NONE);
    return builder.Build();
}

/// Every device computes for a time of its own, then all communicate, twice.
ExecutionGraph
MakeStaggered(Collective collective, uint32_t devices, uint64_t bytes)
{
    GraphBuilder builder(devices);
    const PhaseId phase = builder.AddPhase("iteration");
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    std::vector<DeviceId> group(devices);
    std::iota(group.begin(), group.end(), 0);
    const GroupId all = builder.AddGroup(group);
    std::vector<TaskId> before;
    for (int round = 0; round < 2; ++round)
    {
        std::vector<TaskId> kernels;
        for (DeviceId device = 0; device < devices; ++device)
        {
            const int64_t timePs = 1000000 * (1 + (device * 7 + round * 3) % 11) * 20;
            kernels.push_back(builder.AddCompute(phase, device, compute, "kernel", timePs, before));
        }
        before = {builder.AddCommunication(phase,
                                           all,
                                           communication,
                                           "communication",
                                           collective,
                                           bytes,
                                           Parallelism::DATA,
                                           kernels)};
    }
    return builder.Build();
}

int64_t
GetIdealPs(const ExecutionGraph& graph, const Cluster& cluster)
{
    return FindExecutor("ideal").Run(graph, cluster).timeline.endPs;
}

/// Expects that no span ends later by one executor than by another.
void
ExpectNotLater(const ExecutionGraph& graph, const Cluster& cluster, const std::string& name)
{
    const RunRecord ideal = FindExecutor("ideal").Run(graph, cluster);
    const RunRecord other = FindExecutor(name).Run(graph, cluster);
    std::map<std::tuple<TaskId, uint32_t, DeviceId>, int64_t> ends;
    for (const Span& span : other.timeline.spans)
    {
        ends[{span.task, span.microBatch, span.device}] = span.endPs;
    }
    ASSERT_EQ(ideal.timeline.spans.size(), other.timeline.spans.size());
    for (const Span& span : ideal.timeline.spans)
    {
        ASSERT_LE(span.endPs, (ends.at({span.task, span.microBatch, span.device})))
            << name << ", task " << graph.GetTask(span.task).name << ", device " << span.device;
    }
    EXPECT_LE(ideal.timeline.endPs, other.timeline.endPs);
}

const std::vector<Collective> ALL{Collective::ALL_REDUCE,
                                  Collective::ALL_GATHER,
                                  Collective::REDUCE_SCATTER,
                                  Collective::BROADCAST,
                                  Collective::REDUCE,
                                  Collective::GATHER,
                                  Collective::SCATTER,
                                  Collective::ALL_TO_ALL};

} // namespace

// Sums of bytes and times that are rounded to different sides once made these wait for themselves.
TEST(Flow, EndsWhateverTheSize)
{
    const Cluster two = MakeCluster("dgx2", 2);
    const Cluster four = MakeCluster("dgx2", 4);
    ExpectNotLater(MakeGraph(Collective::ALL_GATHER, 32, 5600286), two, "flow");
    ExpectNotLater(MakeGraph(Collective::ALL_GATHER, 64, 811124), four, "flow");
    ExpectNotLater(MakeGraph(Collective::ALL_REDUCE, 64, 56777106), four, "flow");
}

TEST(Ideal, TakesTheBytesOfTheCutOverItsRate)
{
    const Cluster cluster = MakeHosts(4);
    const uint64_t bytes = 40000000; // 4 ms at 10 GB/s
    const std::map<Collective, int64_t> expectedUs{{Collective::ALL_REDUCE, 6000},
                                                   {Collective::ALL_GATHER, 3000},
                                                   {Collective::REDUCE_SCATTER, 3000},
                                                   {Collective::BROADCAST, 4000},
                                                   {Collective::REDUCE, 4000},
                                                   {Collective::GATHER, 3000},
                                                   {Collective::SCATTER, 3000},
                                                   {Collective::ALL_TO_ALL, 3000}};
    ASSERT_EQ(expectedUs.size(), ALL.size());
    for (const auto& [collective, timeUs] : expectedUs)
    {
        EXPECT_EQ(GetIdealPs(MakeGraph(collective, 4, bytes), cluster), timeUs * 1000000)
            << ToString(collective);
    }
    EXPECT_EQ(GetIdealPs(MakeGraph(Collective::SEND_RECV, 2, bytes), cluster), 4000000000);
}

TEST(Ideal, SeesTheWayOutOfServers)
{
    // Eight NICs of 25 GB/s a server are narrower than NVLink: of an all-to-all among 16 ranks,
    // each server sends 8 * 8 / 16 buffers.
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    double rate = 0;
    for (const Link& link : cluster.GetLinks())
    {
        const int32_t a = cluster.GetVertices()[link.a].server;
        const int32_t b = cluster.GetVertices()[link.b].server;
        rate += a != b && (a == 0 || b == 0) ? link.bytesPerSecond : 0;
    }
    const uint64_t bytes = 1 << 30;
    const double seconds = 4.0 * static_cast<double>(bytes) / rate;
    EXPECT_NEAR(
        static_cast<double>(GetIdealPs(MakeGraph(Collective::ALL_TO_ALL, 16, bytes), cluster)),
        seconds * 1e12,
        1);
}

TEST(Ideal, IsNotLaterThanFlows)
{
    for (const auto& [preset, servers] :
         std::vector<std::pair<std::string, uint32_t>>{{"dgx-a100", 1},
                                                       {"dgx-a100", 2},
                                                       {"dgx-h100", 2},
                                                       {"dgx1-v100", 1},
                                                       {"pcie-v100x4", 1}})
    {
        const Cluster cluster = MakeCluster(preset, servers);
        const auto ranks = static_cast<uint32_t>(cluster.GetGpus().size());
        for (const Collective collective : ALL)
        {
            for (const uint64_t bytes : {uint64_t{64}, uint64_t{1} << 20, uint64_t{256} << 20})
            {
                SCOPED_TRACE(preset + " " + ToString(collective) + " " + std::to_string(bytes));
                ExpectNotLater(MakeGraph(collective, ranks, bytes), cluster, "flow");
                ExpectNotLater(MakeStaggered(collective, ranks, bytes), cluster, "flow");
            }
        }
    }
}

TEST(Ideal, LiesBetweenComputationAndFlowsOrPackets)
{
    for (const std::string name : {"data-parallel-8", "pipeline-1f1b-4"})
    {
        const ExecutionGraph graph =
            LoadGraph(PROTEUS_SOURCE_DIR "/workloads/graphs/" + name + ".json");
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        const RunRecord ideal = FindExecutor("ideal").Run(graph, cluster);
        std::vector<int64_t> busyPs(graph.GetNDevices(), 0);
        for (const Span& span : ideal.timeline.spans)
        {
            if (graph.GetTask(span.task).kind == TaskKind::COMPUTE)
            {
                busyPs[span.device] += span.endPs - span.startPs;
            }
        }
        EXPECT_GE(ideal.timeline.endPs, *std::max_element(busyPs.begin(), busyPs.end()));
        ExpectNotLater(graph, cluster, "flow");
        ExpectNotLater(graph, cluster, "packet");
    }
}
