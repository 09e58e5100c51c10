/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-net.h"

#include "ns3/proteus-communication-parts.h"
#include "ns3/proteus-flow-executor.h"
#include "ns3/proteus-parameter-servers.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Picoseconds of a unit of time in these tests, in which a link carries a megabyte.
constexpr int64_t UNIT = 1000000;
constexpr uint64_t UNIT_BYTES = 1000000;
/// Rate at which sums take no time to speak of.
constexpr double AT_ONCE = 1e21;

/// A link of its own for every sender and receiver, which carries one message after the other.
class PairNetwork : public Network
{
  public:
    PairNetwork(const ExecutionGraph& graph, FlowClock& clock)
        : m_graph(graph),
          m_clock(clock)
    {
    }

    void Join(DeviceId device, TaskId id, uint32_t microBatch, std::function<void()> done) override
    {
        const Task& task = m_graph.GetTask(id);
        const std::vector<DeviceId>& group = m_graph.GetGroup(task.place);
        auto& joined = m_joined[{id, microBatch}];
        joined.emplace_back(device, std::move(done));
        if (joined.size() < group.size())
        {
            return;
        }
        int64_t& freePs = m_freePs[group];
        freePs = std::max(freePs, m_clock.GetTimePs()) + static_cast<int64_t>(task.bytes);
        for (auto& [member, callback] : joined)
        {
            m_clock.Schedule(member, freePs - m_clock.GetTimePs(), std::move(callback));
        }
    }

    std::string DescribeWait(DeviceId, TaskId, uint32_t) const override
    {
        return "";
    }

  private:
    const ExecutionGraph& m_graph;
    FlowClock& m_clock;
    std::map<TaskInstance, std::vector<std::pair<DeviceId, std::function<void()>>>> m_joined;
    std::map<std::vector<DeviceId>, int64_t> m_freePs;
};

/// A net of the theory: times in units, and gradients in units of time of the link.
std::vector<IdealLayer>
MakeLayers(double backward, const std::vector<double>& transfer, double forward)
{
    std::vector<IdealLayer> layers;
    for (const double units : transfer)
    {
        layers.push_back({static_cast<int64_t>(backward * UNIT),
                          static_cast<int64_t>(forward * UNIT),
                          static_cast<uint64_t>(units * UNIT_BYTES)});
    }
    return layers;
}

ScheduleSettings
Settings(const std::string& policy, double partUnits = 0)
{
    ScheduleSettings settings;
    settings.policy = policy;
    if (partUnits > 0)
    {
        settings.partBytes = static_cast<uint64_t>(partUnits * UNIT_BYTES);
    }
    return settings;
}

/// Two workers on hosts of their own, and servers.
ParameterServers
MakeServers(uint32_t servers = 1, uint32_t staleness = 0)
{
    ParameterServers made;
    made.servers = servers;
    made.hostOf = {0, 1};
    made.aggregatedBytesPerSecond = AT_ONCE;
    made.staleness = staleness;
    return made;
}

/// Ends of the forward passes of both workers, by iteration, in units. @param slowness of worker 1
std::vector<std::vector<double>>
RunNet(const std::vector<IdealLayer>& layers,
       const ScheduleSettings& settings,
       const ParameterServers& servers,
       uint32_t iterations,
       double slowness = 1)
{
    const RepeatedGraph repeated = MakeLayerNet(layers).Repeat(iterations, CrossIteration::TENSOR);
    const ScheduledRun run = PrepareSchedule(repeated, settings, servers);
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    RuntimeOptions options;
    options.startControl = run.startControl;
    options.sharesGpu = false;
    options.issueAhead = 1000; // servers may be ahead of a slow worker
    options.stretch = [slowness](DeviceId device, int64_t, int64_t durationPs) {
        return device == 1 ? static_cast<int64_t>(static_cast<double>(durationPs) * slowness)
                           : durationPs;
    };
    FlowClock clock;
    PairNetwork network(run.graph, clock);
    FlowExecutor executor(run.graph, cluster, options, clock, network);
    const Timeline timeline = executor.Run();
    std::vector<std::vector<double>> ends(2, std::vector<double>(iterations, 0));
    for (const Span& span : timeline.spans)
    {
        const Task& task = run.graph.GetTask(span.task);
        if (run.graph.GetName(task).rfind("forward", 0) == 0)
        {
            double& end = ends[span.device][repeated.iterationOf[task.phase]];
            end = std::max(end, static_cast<double>(span.endPs) / UNIT);
        }
    }
    return ends;
}

/// Steady iteration of two equal workers, in units.
double
StepOf(const std::vector<IdealLayer>& layers, const ScheduleSettings& settings)
{
    const auto ends = RunNet(layers, settings, MakeServers(), 3);
    EXPECT_EQ(ends[0], ends[1]);
    return ends[0][2] - ends[0][1];
}

} // namespace

TEST(ParameterServers, PushAndPullOverlapAsInThePapersFigure)
{
    // ByteScheduler, figure 2: b = f = 1, tensors 1.5, 3, 1.5 over a duplex link.
    const std::vector<IdealLayer> layers = MakeLayers(1, {1.5, 3, 1.5}, 1);
    EXPECT_DOUBLE_EQ(StepOf(layers, Settings("arrival")), 13);
    EXPECT_DOUBLE_EQ(StepOf(layers, Settings("arrival", 0.5)), 10.5);
    EXPECT_DOUBLE_EQ(StepOf(layers, Settings("p3", 0.5)), 9);
    EXPECT_DOUBLE_EQ(StepOf(layers, Settings("p3", 0.25)), 8.75);
    EXPECT_DOUBLE_EQ(StepOf(layers, Settings("p3")), 13);
}

TEST(ParameterServers, EveryHostPushesAndPullsEveryByteOnce)
{
    const std::vector<IdealLayer> layers = MakeLayers(1, {1.5, 3, 0.75, 2.25}, 1);
    const RepeatedGraph repeated = MakeLayerNet(layers).Repeat(2, CrossIteration::TENSOR);
    const ScheduledGraph cut =
        CutCommunications(repeated.graph, {Parallelism::DATA}, UNIT_BYTES / 2);
    const ServedGraph served =
        ServeCommunications(cut, repeated.iterationOf, MakeServers(3), {Parallelism::DATA});
    std::map<std::string, uint64_t> bytes;
    std::map<DeviceId, uint64_t> ofServer;
    for (TaskId id = 0; id < served.graph.GetNTasks(); ++id)
    {
        const Task& task = served.graph.GetTask(id);
        const std::string& name = served.graph.GetName(task);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(task.collective, Collective::SEND_RECV);
            bytes[name.substr(name.rfind('.'))] += task.bytes;
            ofServer[std::max(served.graph.GetGroup(task.place)[0],
                              served.graph.GetGroup(task.place)[1])] += task.bytes;
        }
    }
    const uint64_t expected = 2 * 2 * static_cast<uint64_t>(7.5 * UNIT_BYTES);
    EXPECT_EQ(bytes, (std::map<std::string, uint64_t>{{".push", expected}, {".pull", expected}}));
    // 15 parts of half a unit each, on three servers.
    EXPECT_EQ(ofServer,
              (std::map<DeviceId, uint64_t>{{2, 2 * expected / 3},
                                            {3, 2 * expected / 3},
                                            {4, 2 * expected / 3}}));
}

TEST(ParameterServers, AServerThatAddsUpSlowlyIsWhatTheIterationTakes)
{
    const std::vector<IdealLayer> layers = MakeLayers(1, {1, 1, 1, 1}, 1);
    ParameterServers servers = MakeServers();
    // A megabyte takes two units on the processor, for each of two workers: 16 for all of them;
    // before the first sum there are a backward pass and a push, behind the last one a pull and a
    // forward pass of the last layer that was sent, layer 0, and of the others.
    servers.aggregatedBytesPerSecond = 1e12 * UNIT_BYTES / (2.0 * UNIT);
    const auto ends = RunNet(layers, Settings("arrival"), servers, 3);
    EXPECT_DOUBLE_EQ(ends[0][2] - ends[0][1], 1 + 1 + 16 + 1 + 4);
}

TEST(ParameterServers, StalenessIsHowFarAWorkerMayBeAhead)
{
    const std::vector<IdealLayer> layers = MakeLayers(2, {0.5, 0.5}, 1);
    constexpr uint32_t N = 8;
    const double alone = RunNet(layers, Settings("arrival"), MakeServers(), N)[0][N - 1];
    const auto fast = [&](uint32_t staleness) {
        return RunNet(layers, Settings("arrival"), MakeServers(1, staleness), N, 4);
    };
    const auto asynchronous = fast(ParameterServers::ASYNCHRONOUS);
    EXPECT_DOUBLE_EQ(asynchronous[0][N - 1], alone) << "nobody waits";
    const auto synchronous = fast(0);
    EXPECT_LE(synchronous[1][N - 1] - synchronous[0][N - 1], 1 * 4 * 3) << "together";
    double last = synchronous[0][N - 1];
    for (const uint32_t staleness : {1, 2, 3})
    {
        const auto ends = fast(staleness);
        EXPECT_LT(ends[0][N - 1], last) << staleness;
        last = ends[0][N - 1];
        for (uint32_t i = staleness + 1; i < N; ++i)
        {
            // The first worker has seen what the slow one made of an iteration of so long ago.
            EXPECT_GE(ends[0][i], ends[1][i - staleness - 1]) << staleness << ' ' << i;
        }
        EXPECT_DOUBLE_EQ(ends[1][N - 1], synchronous[1][N - 1]) << "the slow one waits for nobody";
    }
    EXPECT_GT(last, asynchronous[0][N - 1]);
}

TEST(ParameterServers, SpreadBySizeIsEvenUpToOneThing)
{
    EXPECT_EQ(SpreadBySize({3, 5, 4, 3, 3}, 2), (std::vector<uint32_t>{1, 0, 1, 0, 1}));
    std::mt19937 random(3);
    for (uint32_t trial = 0; trial < 100; ++trial)
    {
        std::vector<uint64_t> bytes(1 + random() % 40);
        std::generate(bytes.begin(), bytes.end(), [&]() { return 1 + random() % 1000; });
        const uint32_t places = 1 + random() % 8;
        const std::vector<uint32_t> place = SpreadBySize(bytes, places);
        std::vector<uint64_t> load(places, 0);
        for (std::size_t i = 0; i < bytes.size(); ++i)
        {
            load[place[i]] += bytes[i];
        }
        const auto [least, most] = std::minmax_element(load.begin(), load.end());
        EXPECT_LE(*most - *least, *std::max_element(bytes.begin(), bytes.end()));
    }
}

TEST(ParameterServers, MistakesAreOneLine)
{
    const RepeatedGraph repeated =
        MakeLayerNet(MakeLayers(1, {1}, 1)).Repeat(1, CrossIteration::TENSOR);
    EXPECT_THROW(PrepareSchedule(repeated, Settings("arrival"), MakeServers(0)),
                 std::invalid_argument);
    ParameterServers servers = MakeServers();
    servers.aggregatedBytesPerSecond = 0;
    EXPECT_THROW(PrepareSchedule(repeated, Settings("arrival"), servers), std::invalid_argument);
}

TEST(ParameterServers, TheirHostsStandBehindAllGpus)
{
    Cluster cluster = MakeCluster("pcie-v100x8", 2);
    const std::size_t gpus = cluster.GetGpus().size();
    AddServerHosts(cluster, 3);
    cluster.Validate();
    ASSERT_EQ(cluster.GetGpus().size(), gpus + 3);
    EXPECT_EQ(cluster.GetNServers(), 2 + 3);
    EXPECT_EQ(cluster.GetVertices()[cluster.GetGpus()[gpus]].model, DEFAULT_SERVER_CPU);
    EXPECT_NE(cluster.GetNic(cluster.GetGpus()[gpus]), Cluster::NO_VERTEX);
    EXPECT_DOUBLE_EQ(GetAggregationRate(DEFAULT_SERVER_CPU), 25.6e9);
    Cluster alone = MakeCluster("titanxp-pcie", 1);
    try
    {
        AddServerHosts(alone, 1);
        FAIL() << "there is no network";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what()).find("--nodes=2"), std::string::npos);
    }
}
