/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-communication-parts.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-parameter-servers.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t MB = 1000000;
constexpr double S_PER_PS = 1e-12;
/// Rate at which sums take no time to speak of.
constexpr double AT_ONCE = 1e21;

/// Gradients that are ready at once. @param devices that share them @param bytes of each
ScheduledGraph
MakeGradients(uint32_t devices, const std::vector<uint64_t>& bytes)
{
    GraphBuilder builder(devices);
    const StreamId stream = builder.AddStream("gradient");
    const PhaseId phase = builder.AddPhase("gradients");
    std::vector<DeviceId> all(devices);
    std::iota(all.begin(), all.end(), 0);
    const GroupId group = builder.AddGroup(all);
    for (std::size_t i = 0; i < bytes.size(); ++i)
    {
        builder.AddCommunication(phase,
                                 group,
                                 stream,
                                 "g" + std::to_string(i),
                                 Collective::ALL_REDUCE,
                                 bytes[i],
                                 Parallelism::DATA);
    }
    return CutCommunications(builder.Build(), {Parallelism::DATA}, ScheduleSettings::WHOLE);
}

/// @param devices of all hosts @param ofHost devices of each @return a server in every memory
ParameterServers
MakeServers(uint32_t devices, uint32_t ofHost)
{
    ParameterServers servers;
    servers.servers = devices / ofHost;
    servers.aggregation = HostAggregation::HOST;
    servers.isOnWorkers = true;
    servers.aggregatedBytesPerSecond = AT_ONCE;
    for (DeviceId device = 0; device < devices; ++device)
    {
        servers.hostOf.push_back(device / ofHost);
    }
    return servers;
}

ServedGraph
Serve(const ScheduledGraph& gradients, const ParameterServers& servers)
{
    return ServeCommunications(gradients, {0}, servers, {Parallelism::DATA});
}

/// @return bytes of messages, by the last word of their names
std::map<std::string, uint64_t>
CountBytes(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> bytes;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        const std::string& name = graph.GetName(task);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(task.collective, Collective::SEND_RECV) << name;
            bytes[name.substr(name.rfind('.'))] += task.bytes;
        }
    }
    return bytes;
}

/// @return spans of the tasks whose names end so: first start and last end, seconds
std::pair<double, double>
FindSpan(const ExecutionGraph& graph, const Timeline& timeline, const std::string& step)
{
    std::pair<double, double> span{1e9, 0};
    for (const Span& each : timeline.spans)
    {
        const std::string& name = graph.GetName(graph.GetTask(each.task));
        if (name.size() > step.size() &&
            name.compare(name.size() - step.size(), step.size(), step) == 0)
        {
            span.first = std::min(span.first, static_cast<double>(each.startPs) * S_PER_PS);
            span.second = std::max(span.second, static_cast<double>(each.endPs) * S_PER_PS);
        }
    }
    return span;
}

FlowRun
RunJob(const ExecutionGraph& graph, const Cluster& cluster)
{
    return RunFlow(graph, cluster);
}

/// @param nodes how many @return servers of four V100 on a PCIe switch, with the memories of hosts
Cluster
MakeHosts(uint32_t nodes)
{
    Cluster cluster = MakeCluster("pcie-v100x4", nodes);
    std::vector<int32_t> servers(nodes);
    std::iota(servers.begin(), servers.end(), 0);
    AddHostMemories(cluster, servers);
    cluster.Validate();
    return cluster;
}

/// @return the link between two kinds of vertices in the first server
const Link&
FindLink(const Cluster& cluster, VertexKind a, VertexKind b)
{
    const auto& vertices = cluster.GetVertices();
    const auto& links = cluster.GetLinks();
    return *std::find_if(links.begin(), links.end(), [&](const Link& link) {
        return vertices[link.a].server == 0 && vertices[link.a].kind == a &&
               vertices[link.b].kind == b;
    });
}

/// @param link a link @return payload that copy engines move over it, bytes per second
double
GetCopyRate(const Link& link)
{
    const uint32_t unit = link.framing.unitBytes;
    return link.bytesPerSecond * unit / static_cast<double>(link.framing.WireBytes(unit));
}

} // namespace

TEST(HostAggregation, ACpuAddsUpFourAtATime)
{
    EXPECT_EQ(CountHostTraffic(1), 0);
    EXPECT_EQ(CountHostTraffic(2), 3);  // two are read, one is written
    EXPECT_EQ(CountHostTraffic(5), 6);  // at once: five and one
    EXPECT_EQ(CountHostTraffic(8), 11); // five and one, then four and one
}

TEST(HostAggregation, EveryGpuCopiesEveryByteOnceInEachDirection)
{
    const ScheduledGraph gradients = MakeGradients(8, {40 * MB, 3 * MB, 10 * MB + 1});
    const uint64_t bytes = 53 * MB + 1;
    // One host needs no server.
    EXPECT_EQ(CountBytes(Serve(gradients, MakeServers(8, 8)).graph),
              (std::map<std::string, uint64_t>{{".to-host", 8 * bytes}, {".to-gpu", 8 * bytes}}));
    // Four hosts push all but what they serve themselves; the short one has one server.
    const ServedGraph four = Serve(gradients, MakeServers(8, 2));
    const uint64_t others = 3 * bytes;
    EXPECT_EQ(CountBytes(four.graph),
              (std::map<std::string, uint64_t>{{".to-host", 8 * bytes},
                                               {".push", others},
                                               {".pull", others},
                                               {".to-gpu", 8 * bytes}}));
    std::map<DeviceId, uint64_t> pushed;
    for (TaskId id = 0; id < four.graph.GetNTasks(); ++id)
    {
        const Task& task = four.graph.GetTask(id);
        if (four.graph.GetName(task).find(".push") != std::string::npos)
        {
            pushed[four.graph.GetGroup(task.place)[1]] += task.bytes;
        }
    }
    uint64_t most = 0;
    uint64_t least = UINT64_MAX;
    for (const auto& [server, sum] : pushed)
    {
        most = std::max(most, sum);
        least = std::min(least, sum);
    }
    EXPECT_EQ(pushed.size(), 4);
    EXPECT_LE(most - least, 3 * 3 * MB + 3);
    // Servers on hosts of their own get all that is pushed.
    ParameterServers own = MakeServers(8, 2);
    own.isOnWorkers = false;
    own.servers = 2;
    EXPECT_EQ(CountBytes(Serve(gradients, own).graph)[".push"], 4 * bytes);
}

TEST(HostAggregation, OneHostTakesItsUplinkTwiceAndItsSums)
{
    constexpr uint64_t BYTES = 100 * MB;
    ParameterServers servers = MakeServers(4, 4);
    servers.aggregatedBytesPerSecond = 25.6e9;
    const ServedGraph served = Serve(MakeGradients(4, {BYTES}), servers);
    const Cluster cluster = MakeHosts(1);
    const FlowRun run = RunJob(served.graph, cluster);
    const double copyS =
        4.0 * BYTES / GetCopyRate(FindLink(cluster, VertexKind::PCIE_SWITCH, VertexKind::CPU));
    const double addS = BYTES * 5 / 76.8e9; // four are read and one is written
    const auto toHost = FindSpan(served.graph, run.timeline, ".to-host");
    const auto added = FindSpan(served.graph, run.timeline, ".add");
    const auto toGpu = FindSpan(served.graph, run.timeline, ".to-gpu");
    // Launches, latencies, and acknowledgements on the way back.
    EXPECT_NEAR(toHost.second - toHost.first, copyS, 0.02 * copyS);
    EXPECT_NEAR(added.second - added.first, addS, 1e-9);
    EXPECT_NEAR(toGpu.second - added.second, copyS, 0.02 * copyS);
    EXPECT_NEAR(static_cast<double>(run.timeline.endPs) * S_PER_PS,
                2 * copyS + addS,
                0.02 * (2 * copyS + addS));
}

TEST(HostAggregation, LinksCarryWhatIsCopiedAndPushed)
{
    constexpr uint64_t BYTES = 64 * MB;
    const ServedGraph served = Serve(MakeGradients(8, {BYTES}), MakeServers(8, 4));
    const Cluster cluster = MakeHosts(2);
    const FlowRun run = RunJob(served.graph, cluster);
    const auto& vertices = cluster.GetVertices();
    uint64_t ofMemory = 0;
    uint64_t ofNics = 0;
    uint64_t ofGpus = 0;
    for (const LinkStatistics& each : run.links)
    {
        const Link& link = cluster.GetLinks()[each.link];
        const auto is = [&](VertexId end, VertexKind kind) { return vertices[end].kind == kind; };
        const bool isMemory = IsHostMemory(vertices[link.a]) || IsHostMemory(vertices[link.b]);
        ofMemory += isMemory ? each.payloadBytes : 0;
        ofNics += is(link.a, VertexKind::SWITCH) || is(link.b, VertexKind::SWITCH)
                      ? each.payloadBytes
                      : 0;
        ofGpus += !isMemory && (is(link.a, VertexKind::GPU) || is(link.b, VertexKind::GPU))
                      ? each.payloadBytes
                      : 0;
    }
    EXPECT_NEAR(static_cast<double>(ofGpus), 8 * 2.0 * BYTES, 1e3);
    // Each host pushes half to the other one and pulls half; out of one memory, into the other.
    EXPECT_NEAR(static_cast<double>(ofNics), 2 * 2 * 2 * BYTES / 2, 1e3);
    EXPECT_NEAR(static_cast<double>(ofMemory), 8 * 2.0 * BYTES + 2 * 2 * 2 * BYTES / 2, 1e3);
}

TEST(HostAggregation, CopiesToMemoryAreNotHeldBackAsThoseBetweenDevicesAre)
{
    const ServedGraph served = Serve(MakeGradients(1, {100 * MB}), MakeServers(1, 1));
    Cluster cluster = MakeHosts(1);
    cluster.RankGpus({cluster.GetGpus().front(), cluster.GetGpus().back()});
    const Link& link = FindLink(cluster, VertexKind::PCIE_SWITCH, VertexKind::CPU);
    ASSERT_GT(cluster.GetVertices()[link.b].forwardBytesPerSecond, 0);
    ASSERT_GT(GetCopyRate(link), 1.1 * cluster.GetVertices()[link.b].forwardBytesPerSecond);
    const FlowRun run = RunJob(served.graph, cluster);
    const double aloneS = 100.0 * MB / GetCopyRate(link);
    for (const char* step : {".to-host", ".to-gpu"})
    {
        const auto span = FindSpan(served.graph, run.timeline, step);
        EXPECT_NEAR(span.second - span.first, aloneS, 0.02 * aloneS) << step;
    }
}

TEST(HostAggregation, KernelsAreNotSlowedByCopies)
{
    // A kernel that all multiprocessors decide, beside the gradients of another layer.
    GraphBuilder builder(4);
    const StreamId compute = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("gradients");
    const GroupId group = builder.AddGroup({0, 1, 2, 3});
    Task kernel;
    kernel.stream = compute;
    kernel.phase = phase;
    kernel.flops = 1e11;
    kernel.bytes = 1000;
    kernel.dataType = DataType::FP32;
    builder.AddTask(kernel, "kernel", {});
    builder.AddCommunication(phase,
                             group,
                             builder.AddStream("gradient"),
                             "g",
                             Collective::ALL_REDUCE,
                             50 * MB,
                             Parallelism::DATA);
    const ScheduledGraph gradients =
        CutCommunications(builder.Build(), {Parallelism::DATA}, ScheduleSettings::WHOLE);
    const Cluster cluster = MakeHosts(1);
    const auto lengthOf = [&cluster](const ExecutionGraph& graph) {
        const auto span = FindSpan(graph, RunJob(graph, cluster).timeline, "ernel");
        return span.second - span.first;
    };
    const double byHost = lengthOf(Serve(gradients, MakeServers(4, 4)).graph);
    const double byNccl = lengthOf(gradients.graph);
    RuntimeOptions alone;
    alone.sharesGpu = false;
    const FlowRun run = RunFlow(gradients.graph, cluster, alone);
    const auto undisturbed = FindSpan(gradients.graph, run.timeline, "ernel");
    EXPECT_DOUBLE_EQ(byHost, undisturbed.second - undisturbed.first);
    EXPECT_GT(byNccl, 1.005 * byHost);
}

TEST(HostAggregation, ACopyEngineCarriesOnePartAfterTheOther)
{
    // Six parts of which the credit would let four go at once.
    const ScheduledGraph gradients = MakeGradients(2, std::vector<uint64_t>(6, 4 * MB));
    RepeatedGraph repeated;
    repeated.graph = gradients.graph;
    repeated.iterationOf = {0};
    ScheduleSettings settings;
    settings.policy = "priority";
    settings.creditBytes = 16 * MB;
    Cluster cluster = MakeHosts(1);
    cluster.RankGpus({cluster.GetGpus()[0], cluster.GetGpus()[1], cluster.GetGpus().back()});
    const ScheduledRun run = PrepareSchedule(repeated, settings, MakeServers(2, 2));
    RuntimeOptions options;
    options.startControl = run.startControl;
    const FlowRun flows = RunFlow(run.graph, cluster, options);
    std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> copies;
    for (const Span& span : flows.timeline.spans)
    {
        const Task& task = run.graph.GetTask(span.task);
        if (task.kind == TaskKind::COMMUNICATION &&
            span.device == run.graph.GetGroup(task.place).front())
        {
            const DeviceId to = run.graph.GetGroup(task.place).back();
            const std::string& name = run.graph.GetName(task);
            copies[name.substr(name.rfind('.')) + std::to_string(span.device + to)].emplace_back(
                span.startPs,
                span.endPs);
        }
    }
    EXPECT_EQ(copies.size(), 4); // of two GPUs in two directions
    for (auto& [engine, spans] : copies)
    {
        EXPECT_EQ(spans.size(), 6) << engine;
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i)
        {
            EXPECT_GE(spans[i].first, spans[i - 1].second) << engine;
        }
    }
}

TEST(HostAggregation, MistakesAreOneLine)
{
    const ScheduledGraph gradients = MakeGradients(4, {MB});
    ParameterServers servers = MakeServers(4, 2);
    servers.servers = 3;
    try
    {
        Serve(gradients, servers);
        FAIL() << "three servers on two hosts";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what()).find("take no more servers"), std::string::npos);
    }
    Cluster bare("bare");
    bare.AddVertex({"n0.gpu0", VertexKind::GPU, 0});
    try
    {
        AddHostMemories(bare, {0});
        FAIL() << "there is no CPU";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what()).find("--hostAggregation=gpu"), std::string::npos);
    }
}
