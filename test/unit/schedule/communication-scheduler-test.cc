/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-communication-parts.h"
#include "ns3/proteus-flow-executor.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-scheduler-priority.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Picoseconds of a unit of time in these tests, which carries a megabyte.
constexpr int64_t UNIT = 1000000;
constexpr uint64_t UNIT_BYTES = 1000000;

/// Carries one communication after the other, once all members have joined.
class LinkNetwork : public Network
{
  public:
    LinkNetwork(const ExecutionGraph& graph, FlowClock& clock)
        : m_graph(graph),
          m_clock(clock)
    {
    }

    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override
    {
        auto& joined = m_joined[{task, microBatch}];
        joined.emplace_back(device, std::move(done));
        if (joined.size() < m_graph.GetGroup(m_graph.GetTask(task).place).size())
        {
            return;
        }
        const auto ps = static_cast<int64_t>(m_graph.GetTask(task).bytes);
        m_freePs = std::max(m_freePs, m_clock.GetTimePs()) + ps * UNIT / int64_t{UNIT_BYTES};
        for (auto& [member, callback] : joined)
        {
            m_clock.Schedule(member, m_freePs - m_clock.GetTimePs(), std::move(callback));
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
    int64_t m_freePs{0};
};

/// Backward pass of all layers, last first, all-reduce of their gradients, and the forward pass
/// that waits for these, on two devices. Times are in units.
ExecutionGraph
MakeNet(const std::vector<double>& backward,
        const std::vector<double>& transfer,
        const std::vector<double>& forward)
{
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const StreamId network = builder.AddStream("gradient");
    const PhaseId phase = builder.AddPhase("iteration");
    const GroupId group = builder.AddGroup({0, 1});
    std::vector<TaskId> reduced(backward.size());
    const auto toPs = [](double units) { return static_cast<int64_t>(units * UNIT); };
    for (std::size_t layer = backward.size(); layer-- > 0;)
    {
        std::vector<TaskId> made;
        for (DeviceId device = 0; device < 2; ++device)
        {
            made.push_back(builder.AddCompute(phase,
                                              device,
                                              compute,
                                              "backward" + std::to_string(layer),
                                              toPs(backward[layer])));
        }
        reduced[layer] =
            builder.AddCommunication(phase,
                                     group,
                                     network,
                                     "gradient" + std::to_string(layer),
                                     Collective::ALL_REDUCE,
                                     static_cast<uint64_t>(transfer[layer] * UNIT_BYTES),
                                     Parallelism::DATA,
                                     made);
    }
    std::vector<std::vector<TaskId>> needed(2);
    for (std::size_t layer = 0; layer < forward.size(); ++layer)
    {
        for (DeviceId device = 0; device < 2; ++device)
        {
            needed[device].push_back(reduced[layer]);
            needed[device] = {builder.AddCompute(phase,
                                                 device,
                                                 compute,
                                                 "forward" + std::to_string(layer),
                                                 toPs(forward[layer]),
                                                 needed[device])};
        }
    }
    return builder.Build();
}

/// Time of the net under a policy, in units.
double
TimeOf(const ExecutionGraph& graph, const ScheduleSettings& settings)
{
    const ScheduledRun run = PrepareSchedule(graph, settings);
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    RuntimeOptions options;
    options.startControl = run.startControl;
    FlowClock clock;
    LinkNetwork network(run.graph, clock);
    FlowExecutor executor(run.graph, cluster, options, clock, network);
    return static_cast<double>(executor.Run().endPs) / UNIT;
}

ScheduleSettings
Settings(const std::string& policy, double partUnits = 0, double creditUnits = 0)
{
    ScheduleSettings settings;
    settings.policy = policy;
    if (partUnits > 0)
    {
        settings.partBytes = static_cast<uint64_t>(partUnits * UNIT_BYTES);
    }
    if (creditUnits > 0)
    {
        settings.creditBytes = static_cast<uint64_t>(creditUnits * UNIT_BYTES);
    }
    return settings;
}

} // namespace

TEST(CommunicationScheduler, ThreeLayersOverOneLinkAsTheTheorySays)
{
    // Acceptance cases of ByteScheduler's theory: b = f = 1 and s = 2 for every layer.
    const ExecutionGraph graph = MakeNet({1, 1, 1}, {2, 2, 2}, {1, 1, 1});
    EXPECT_EQ(TimeOf(graph, Settings("arrival")), 10);
    EXPECT_EQ(TimeOf(graph, Settings("arrival", 1)), 10);
    EXPECT_EQ(TimeOf(graph, Settings("p3")), 9);
    EXPECT_EQ(TimeOf(graph, Settings("p3", 1)), 8);
    EXPECT_EQ(TimeOf(graph, Settings("p3", 0.5)), 8);
    EXPECT_EQ(TimeOf(graph, Settings("priority", 1, 1)), 8);
}

TEST(CommunicationScheduler, ABigLastTensorDoesNotBlockTheFirstOnes)
{
    const ExecutionGraph graph = MakeNet({1, 1, 1, 1}, {0.2, 0.2, 0.2, 6}, {1, 1, 1, 1});
    EXPECT_EQ(TimeOf(graph, Settings("arrival")), 11.6);
    EXPECT_EQ(TimeOf(graph, Settings("p3")), 11.2);
    EXPECT_EQ(TimeOf(graph, Settings("p3", 0.2)), 8.6);
    EXPECT_EQ(TimeOf(graph, Settings("p3", 0.1)), 8.6);
}

TEST(CommunicationScheduler, UniformNetsComeWithinAPartOfTheOptimum)
{
    // b = f = 1 and s = c for ten layers: arrival order 1 + N + N c; the optimum 2 N + c or N c
    // + 2.
    const std::vector<double> one(10, 1.0);
    const double part = 0.01;
    for (const auto& [c, arrival, optimum] :
         {std::make_tuple(1.5, 26.0, 21.5), {2.0, 31.0, 22.0}, {3.0, 41.0, 32.0}})
    {
        const ExecutionGraph graph = MakeNet(one, std::vector<double>(10, c), one);
        EXPECT_EQ(TimeOf(graph, Settings("arrival")), arrival) << c;
        const double time = TimeOf(graph, Settings("p3", part));
        EXPECT_GE(time, optimum - 1e-9) << c;
        EXPECT_LE(time, optimum + part + 1e-9) << c;
    }
}

TEST(CommunicationScheduler, WithoutALimitTheLinkDecides)
{
    // Whatever the order in which gradients start, a link that serves first what came first keeps
    // the order in which they became ready.
    const ExecutionGraph graph = MakeNet({3, 2, 5, 1}, {4, 1, 2, 12}, {1, 2, 3, 4});
    const double arrival = TimeOf(graph, Settings("arrival"));
    EXPECT_EQ(TimeOf(graph, Settings("priority")), arrival);
    EXPECT_EQ(TimeOf(graph, Settings("fair")), arrival);
    EXPECT_EQ(TimeOf(graph, Settings("critical-path")), arrival);
    EXPECT_LT(TimeOf(graph, Settings("critical-path", 0.5, 0.5)), arrival);
}

TEST(CommunicationScheduler, TheWordOfTheRankThatDecidesDelaysTheOthers)
{
    // One part at a time: each waits for the word, and then for the link.
    const ExecutionGraph graph = MakeNet({1}, {4}, {1});
    ScheduleSettings settings = Settings("p3", 1);
    EXPECT_EQ(TimeOf(graph, settings), 1 + 4 + 1);
    settings.messagePs = UNIT / 4;
    EXPECT_EQ(TimeOf(graph, settings), 1 + 4 * (1 + 0.25) + 1);
}

TEST(CommunicationScheduler, BucketsOfEverythingAreOneTransferAndSmallOnesAreTheTensors)
{
    const ExecutionGraph graph = MakeNet({1, 1, 1}, {2, 2, 2}, {1, 1, 1});
    ScheduleSettings settings = Settings("buckets");
    EXPECT_EQ(TimeOf(graph, settings), 3 + 6 + 3); // nothing overlaps
    settings.bucketBytes = 1;
    EXPECT_EQ(TimeOf(graph, settings), TimeOf(graph, Settings("arrival")));
    settings.bucketBytes = 3 * UNIT_BYTES; // layers 2 and 1, then layer 0
    EXPECT_EQ(TimeOf(graph, settings), 2 + 4 + 2 + 3);
}

TEST(CommunicationScheduler, CreditCountsPartsInFlight)
{
    // As many parts as floor((credit - 1) / part) + 1 start before one is done.
    for (const auto& [credit, part, expected] : {std::make_tuple(4000000, 1000000, 4),
                                                 {4500000, 1000000, 5},
                                                 {4000000, 3000000, 2},
                                                 {1, 1000000, 1}})
    {
        PriorityScheduler scheduler(credit);
        for (uint32_t i = 0; i < 10; ++i)
        {
            ReadyCommunication communication;
            communication.instance = {i, 0};
            communication.bytes = part;
            communication.rank = 10 - i;
            communication.arrival = i;
            scheduler.Add(communication);
        }
        std::vector<ReadyCommunication> inFlight;
        while (const auto next = scheduler.TakeNext())
        {
            EXPECT_EQ(next->instance.task, 9 - inFlight.size()); // the most urgent first
            inFlight.push_back(*next);
        }
        EXPECT_EQ(inFlight.size(), static_cast<std::size_t>(expected)) << credit << " " << part;
        scheduler.Finish(inFlight.front());
        EXPECT_TRUE(scheduler.TakeNext().has_value());
        EXPECT_FALSE(scheduler.TakeNext().has_value());
    }
}

TEST(CommunicationParts, PartsHaveTheBytesTheNeedsAndTheNameOfTheirWhole)
{
    const ExecutionGraph graph = MakeNet({1, 1}, {2.5, 1}, {1, 1});
    const ScheduledGraph cut = CutCommunications(graph, {Parallelism::DATA}, UNIT_BYTES);
    ASSERT_EQ(cut.graph.GetNTasks(), graph.GetNTasks() + 2);
    std::map<TaskId, uint64_t> bytes;
    for (TaskId id = 0; id < cut.graph.GetNTasks(); ++id)
    {
        const Task& task = cut.graph.GetTask(id);
        const Task& whole = graph.GetTask(cut.wholeOf[id]);
        bytes[cut.wholeOf[id]] += task.bytes;
        EXPECT_EQ(task.kind, whole.kind);
        EXPECT_EQ(cut.graph.GetName(task).rfind(graph.GetName(whole), 0), 0u);
        std::vector<TaskId> needs;
        for (const TaskId before : cut.graph.GetDependencies(id))
        {
            needs.push_back(cut.wholeOf[before]);
        }
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
        const IdRange expected = graph.GetDependencies(cut.wholeOf[id]);
        EXPECT_EQ(needs, std::vector<TaskId>(expected.begin(), expected.end()));
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        EXPECT_EQ(bytes[id], graph.GetTask(id).bytes);
    }
    // What is not of the kind stays whole, and so does everything in parts without limit.
    EXPECT_EQ(CutCommunications(graph, {Parallelism::EXPERT}, 1).graph, graph);
    EXPECT_EQ(CutCommunications(graph, {Parallelism::DATA}, ScheduleSettings::WHOLE).graph, graph);
    EXPECT_EQ(MergeCommunications(graph, {Parallelism::DATA}, 1).graph, graph);
}

TEST(CommunicationParts, NoBucketWaitsForItself)
{
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const StreamId stream = builder.AddStream("data", StreamOrder::READY);
    const PhaseId phase = builder.AddPhase("iteration");
    const GroupId both = builder.AddGroup({0, 1});
    const auto add = [&](const std::string& name, Collective collective) {
        return builder
            .AddCommunication(phase, both, stream, name, collective, 8, Parallelism::DATA);
    };
    // A gather of parameters waits for what has used those before it.
    const TaskId first = add("first", Collective::ALL_GATHER);
    add("second", Collective::ALL_GATHER);
    const TaskId use = builder.AddCompute(phase, 0, compute, "use", 1, {first});
    const TaskId third = add("third", Collective::ALL_GATHER);
    builder.AddDependency(use, third);
    // Each waits for one of the other collective.
    const TaskId sum = add("sum", Collective::ALL_REDUCE);
    const TaskId root = add("root", Collective::BROADCAST);
    const TaskId behindSum = add("behind sum", Collective::BROADCAST);
    builder.AddDependency(sum, behindSum);
    const TaskId behindRoot = add("behind root", Collective::ALL_REDUCE);
    builder.AddDependency(root, behindRoot);
    const ExecutionGraph graph = builder.Build();
    const ScheduledGraph merged = MergeCommunications(graph, {Parallelism::DATA}, 1000);
    std::vector<std::string> names;
    for (const Task& task : merged.graph.GetTasks())
    {
        names.push_back(merged.graph.GetName(task));
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"first.bucket",
                                        "use",
                                        "third",
                                        "sum",
                                        "root.bucket",
                                        "behind root"}));
    EXPECT_EQ(merged.wholeOf, (std::vector<TaskId>{first, use, third, sum, root, behindRoot}));
    EXPECT_EQ(merged.graph.GetTask(0).bytes, 16u);
}

TEST(CommunicationScheduler, MistakesAreNamed)
{
    const auto errorOf = [](const std::function<void(ScheduleSettings&)>& change) {
        ScheduleSettings settings;
        change(settings);
        try
        {
            CheckScheduleSettings(settings);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(errorOf([](ScheduleSettings&) {}), "");
    EXPECT_NE(errorOf([](ScheduleSettings& settings) { settings.policy = "first"; })
                  .find("unknown policy 'first'; there are arrival, buckets, critical-path, fair, "
                        "p3, priority"),
              std::string::npos);
    EXPECT_NE(errorOf([](ScheduleSettings& settings) { settings.partBytes = 0; }).find("parts"),
              std::string::npos);
    EXPECT_NE(errorOf([](ScheduleSettings& settings) { settings.creditBytes = 0; }).find("credit"),
              std::string::npos);
    EXPECT_NE(errorOf([](ScheduleSettings& settings) { settings.bucketBytes = 0; }).find("buckets"),
              std::string::npos);
    EXPECT_NE(errorOf([](ScheduleSettings& settings) {
                  settings.kinds = {Parallelism::DATA, Parallelism::DATA};
              }).find("twice"),
              std::string::npos);
    EXPECT_NE(errorOf([](ScheduleSettings& settings) { settings.messagePs = -1; }).find("message"),
              std::string::npos);
}
