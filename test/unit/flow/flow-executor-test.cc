/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-flow-executor.h"

#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t US = 1000000;

/// Takes a fixed time once all have joined.
class FixedNetwork : public Network
{
  public:
    FixedNetwork(const ExecutionGraph& graph, FlowClock& clock, int64_t timePs)
        : m_graph(graph),
          m_clock(clock),
          m_timePs(timePs)
    {
    }

    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override
    {
        auto& members = m_waiting[{task, microBatch}];
        members.emplace_back(device, std::move(done));
        if (members.size() == m_graph.GetGroup(m_graph.GetTask(task).place).size())
        {
            for (auto& [member, callback] : members)
            {
                m_clock.Schedule(member, m_timePs, std::move(callback));
            }
            members.clear();
        }
    }

    std::string DescribeWait(DeviceId, TaskId, uint32_t) const override
    {
        return "waits for the other one";
    }

  private:
    const ExecutionGraph& m_graph;
    FlowClock& m_clock;
    int64_t m_timePs;
    std::map<std::pair<TaskId, uint32_t>, std::vector<std::pair<DeviceId, std::function<void()>>>>
        m_waiting;
};

/// Two devices that compute for 10 us and 30 us, then communicate.
ExecutionGraph
MakePair()
{
    GraphBuilder builder(2);
    const GroupId both = builder.AddGroup({0, 1});
    const PhaseId phase = builder.AddPhase("all", 1);
    const StreamId stream = builder.AddStream("main");
    Task communication;
    communication.kind = TaskKind::COMMUNICATION;
    communication.place = both;
    communication.phase = phase;
    communication.stream = stream;
    communication.bytes = 1 << 20;
    std::vector<TaskId> before;
    for (DeviceId device = 0; device < 2; ++device)
    {
        Task task;
        task.place = device;
        task.phase = phase;
        task.stream = stream;
        task.durationPs = (10 + 20 * device) * US;
        before.push_back(builder.AddTask(task, "compute"));
    }
    builder.AddTask(communication, "all-reduce", before);
    return builder.Build();
}

} // namespace

TEST(FlowClock, CallsInOrderOfTimeThenOfScheduling)
{
    FlowClock clock;
    std::vector<std::pair<int64_t, int>> calls;
    const auto note = [&](int id) { calls.emplace_back(clock.GetTimePs(), id); };
    clock.Schedule(0, 30, [&]() { note(0); });
    clock.Schedule(0, 10, [&]() {
        note(1);
        clock.Schedule(0, 20, [&]() { note(4); });
        clock.Schedule(0, 0, [&]() { note(2); });
    });
    clock.Schedule(0, 10, [&]() { note(3); });
    clock.Run();
    const std::vector<std::pair<int64_t, int>> expected{{10, 1},
                                                        {10, 3},
                                                        {10, 2},
                                                        {30, 0},
                                                        {30, 4}};
    EXPECT_EQ(calls, expected);
    EXPECT_EQ(clock.GetEventCount(), 5u);
    EXPECT_THROW(clock.Schedule(0, -1, []() {}), std::invalid_argument);
    EXPECT_THROW(clock.ScheduleAt(29, []() {}), std::invalid_argument);
}

TEST(FlowExecutor, RunsAGraphOnItsClock)
{
    const ExecutionGraph graph = MakePair();
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    FlowClock clock;
    FixedNetwork network(graph, clock, 5 * US);
    FlowExecutor executor(graph, cluster, RuntimeOptions(), clock, network);
    const Timeline timeline = executor.Run();
    ASSERT_EQ(timeline.spans.size(), 4u);
    EXPECT_EQ(timeline.endPs, 35 * US);
    EXPECT_EQ(timeline.spans[0], (Span{0, 0, 0, 0, 10 * US}));
    EXPECT_EQ(timeline.spans[2], (Span{0, 2, 0, 10 * US, 35 * US}));
    EXPECT_EQ(timeline.spans[3], (Span{1, 2, 0, 30 * US, 35 * US}));
    EXPECT_EQ(timeline.memory.size(), 2u);
}

TEST(FlowExecutor, SaysWhatItCannotDo)
{
    const ExecutionGraph graph = MakePair();
    const Cluster small = MakeHostCluster(1,
                                          FabricOptions(),
                                          LinkTechnology::ROCE,
                                          1e9,
                                          0,
                                          DefaultFraming(LinkTechnology::ROCE));
    FlowClock clock;
    FixedNetwork network(graph, clock, 0);
    EXPECT_THROW(FlowExecutor(graph, small, RuntimeOptions(), clock, network),
                 std::invalid_argument);

    /// Nobody ever ends a communication.
    class Silent : public FixedNetwork
    {
      public:
        using FixedNetwork::FixedNetwork;

        void Join(DeviceId, TaskId, uint32_t, std::function<void()>) override
        {
        }
    };

    const Cluster cluster = MakeCluster("dgx-a100", 1);
    Silent silent(graph, clock, 0);
    FlowExecutor executor(graph, cluster, RuntimeOptions(), clock, silent);
    try
    {
        executor.Run();
        FAIL() << "must not come to an end";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_NE(std::string(error.what()).find("waits for the other one"), std::string::npos)
            << error.what();
    }
}
