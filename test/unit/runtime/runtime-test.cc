/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ideal-run.h"

#include "ns3/proteus-device-runtime.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t SECOND = 1000000000000;

/// A pipeline, with an all-reduce per stage at the end where `reduce` is not empty.
ExecutionGraph
MakePipeline(PipelineSchedule schedule,
             const std::vector<int64_t>& forwardSeconds,
             const std::vector<int64_t>& backwardSeconds,
             uint32_t microBatches,
             const std::vector<uint64_t>& reduce = {})
{
    const auto stages = static_cast<uint32_t>(forwardSeconds.size());
    const uint32_t replicas = reduce.empty() ? 1 : 2;
    GraphBuilder builder(stages * replicas);
    const StreamId compute = builder.AddStream("compute");
    const StreamId down = builder.AddStream("activations");
    const StreamId up = builder.AddStream("gradients");
    const StreamId dp = builder.AddStream("reduction");
    const PhaseId forward = builder.AddPhase("forward", microBatches);
    const PhaseId backward = builder.AddPhase("backward", microBatches);
    const PhaseId gradients = builder.AddPhase("gradients");
    std::vector<std::vector<TaskId>> last(stages);
    for (uint32_t replica = 0; replica < replicas; ++replica)
    {
        const auto device = [&](uint32_t stage) { return replica * stages + stage; };
        std::vector<TaskId> forwards;
        std::vector<TaskId> saved;
        for (uint32_t s = 0; s < stages; ++s)
        {
            std::vector<TaskId> after;
            if (s > 0)
            {
                after.push_back(
                    builder.AddCommunication(forward,
                                             builder.AddGroup({device(s - 1), device(s)}),
                                             down,
                                             "activation",
                                             Collective::SEND_RECV,
                                             1,
                                             Parallelism::PIPELINE,
                                             {forwards.back()}));
            }
            forwards.push_back(builder.AddCompute(forward,
                                                  device(s),
                                                  compute,
                                                  "F",
                                                  forwardSeconds[s] * SECOND,
                                                  after));
            saved.push_back(builder.AddMemory(forward, device(s), "saved", 1, {forwards.back()}));
        }
        TaskId gradient = NO_ID;
        for (uint32_t s = stages; s-- > 0;)
        {
            std::vector<TaskId> after{saved[s]};
            if (gradient != NO_ID)
            {
                after.push_back(gradient);
            }
            const TaskId task = builder.AddCompute(backward,
                                                   device(s),
                                                   compute,
                                                   "B",
                                                   backwardSeconds[s] * SECOND,
                                                   after);
            last[s].push_back(task);
            if (s > 0)
            {
                gradient = builder.AddCommunication(backward,
                                                    builder.AddGroup({device(s), device(s - 1)}),
                                                    up,
                                                    "gradient",
                                                    Collective::SEND_RECV,
                                                    1,
                                                    Parallelism::PIPELINE,
                                                    {task});
            }
            auto order = MakePipelineSchedule(schedule, stages, s, microBatches, forward, backward);
            order.push_back({gradients, 0});
            builder.SetSchedule(device(s), order);
            if (schedule == PipelineSchedule::ONE_FORWARD_ONE_BACKWARD)
            {
                builder.AddGate({device(s), forward, backward, std::min(microBatches, stages - s)});
            }
        }
    }
    for (uint32_t s = 0; s < stages && !reduce.empty(); ++s)
    {
        builder.AddCommunication(gradients,
                                 builder.AddGroup({s, stages + s}),
                                 dp,
                                 "all-reduce",
                                 Collective::ALL_REDUCE,
                                 reduce[s],
                                 Parallelism::DATA,
                                 last[s]);
    }
    return builder.Build();
}

ExecutionGraph
MakeUniform(PipelineSchedule schedule, uint32_t stages, uint32_t microBatches)
{
    return MakePipeline(schedule,
                        std::vector<int64_t>(stages, 1),
                        std::vector<int64_t>(stages, 2),
                        microBatches);
}

/// All communication takes this long.
std::function<int64_t(const Task&)>
Constant(int64_t ps)
{
    return [ps](const Task&) { return ps; };
}

constexpr auto GPIPE = PipelineSchedule::GPIPE;
constexpr auto ONE_F_ONE_B = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;

} // namespace

// DistSim A1 and A2: (m + p - 1)(f + b), exactly.
TEST(Runtime, UniformPipelinesTakeTheClosedForm)
{
    for (const auto& [stages, microBatches] : std::vector<std::pair<uint32_t, uint32_t>>{{4, 4},
                                                                                         {4, 8},
                                                                                         {8, 8},
                                                                                         {8, 32},
                                                                                         {4, 1},
                                                                                         {1, 4},
                                                                                         {3, 5},
                                                                                         {16, 64}})
    {
        for (const auto schedule : {GPIPE, ONE_F_ONE_B})
        {
            const auto graph = MakeUniform(schedule, stages, microBatches);
            const GraphRun run(graph, Constant(0));
            EXPECT_TRUE(run.IsDone());
            EXPECT_EQ(run.endPs, (microBatches + stages - 1) * 3 * SECOND)
                << stages << " stages, " << microBatches << " micro-batches";
        }
    }
}

// DistSim A3.
TEST(Runtime, LiveActivationsAreCounted)
{
    const auto peaks = [](PipelineSchedule schedule, uint32_t microBatches) {
        const auto graph = MakeUniform(schedule, 4, microBatches);
        const GraphRun run(graph, Constant(0));
        std::vector<uint64_t> bytes;
        for (const auto& device : run.devices)
        {
            bytes.push_back(device->GetPeakMemoryBytes());
            EXPECT_EQ(device->GetMemory().back().bytes, 0u) << "all is freed at the end";
        }
        return bytes;
    };
    EXPECT_EQ(peaks(ONE_F_ONE_B, 8), (std::vector<uint64_t>{4, 3, 2, 1}));
    EXPECT_EQ(peaks(ONE_F_ONE_B, 2), (std::vector<uint64_t>{2, 2, 2, 1}));
    EXPECT_EQ(peaks(GPIPE, 8), (std::vector<uint64_t>{8, 8, 8, 8}));
}

// DistSim A4.
TEST(Runtime, StagesEndOneAfterTheOther)
{
    for (const auto schedule : {GPIPE, ONE_F_ONE_B})
    {
        const auto graph = MakeUniform(schedule, 4, 8);
        const GraphRun run(graph, Constant(0));
        std::vector<int64_t> ends(4, 0);
        for (const Span& span : run.spans)
        {
            ends[span.device] = std::max(ends[span.device], span.endPs / SECOND);
        }
        EXPECT_EQ(ends, (std::vector<int64_t>{33, 31, 29, 27}));
    }
}

// DistSim A5 and A6: transfers of c seconds that do not occupy the compute stream.
TEST(Runtime, TransfersDelayPipelines)
{
    struct Case
    {
        PipelineSchedule schedule;
        uint32_t stages;
        uint32_t microBatches;
        int64_t transferPs;
        int64_t expectedPs;
    };

    const int64_t half = SECOND / 2;
    const int64_t tenth = SECOND / 10;
    for (const Case& c : std::vector<Case>{{GPIPE, 4, 8, half, 36 * SECOND},
                                           {GPIPE, 2, 4, half, 16 * SECOND},
                                           {GPIPE, 8, 32, tenth, 1184 * tenth},
                                           {ONE_F_ONE_B, 4, 8, half, 41 * SECOND},
                                           {ONE_F_ONE_B, 2, 4, half, 17 * SECOND},
                                           {ONE_F_ONE_B, 4, 4, half, 26 * SECOND},
                                           {ONE_F_ONE_B, 8, 32, tenth, 1238 * tenth}})
    {
        const auto graph = MakeUniform(c.schedule, c.stages, c.microBatches);
        EXPECT_EQ(GraphRun(graph, Constant(c.transferPs)).endPs, c.expectedPs)
            << c.stages << " stages, " << c.microBatches << " micro-batches";
    }
}

// DistSim A7 and A8.
TEST(Runtime, StagesOfDifferentLength)
{
    const auto run = [](PipelineSchedule schedule,
                        const std::vector<int64_t>& forward,
                        const std::vector<int64_t>& backward) {
        const auto graph = MakePipeline(schedule, forward, backward, 4);
        const GraphRun result(graph, Constant(0));
        std::vector<int64_t> ends(forward.size(), 0);
        for (const Span& span : result.spans)
        {
            ends[span.device] = std::max(ends[span.device], span.endPs / SECOND);
        }
        return ends;
    };
    EXPECT_EQ(run(GPIPE, {1, 2, 1}, {2, 4, 2}), (std::vector<int64_t>{30, 28, 18}));
    EXPECT_EQ(run(ONE_F_ONE_B, {1, 2, 1}, {2, 4, 2}), (std::vector<int64_t>{28, 26, 21}));
    EXPECT_EQ(run(GPIPE, {1, 3}, {2, 6}).front(), 39);
    EXPECT_EQ(run(ONE_F_ONE_B, {1, 3}, {2, 6}).front(), 39);
}

// DistSim A10: an all-reduce per stage after its last backward.
TEST(Runtime, GradientReductionFollowsEachStage)
{
    // The size of an all-reduce is its time here, in tenths of a second.
    const auto time = [](const Task& task) {
        return task.parallelism == Parallelism::DATA
                   ? static_cast<int64_t>(task.bytes) * SECOND / 10
                   : int64_t{0};
    };
    for (const auto& [reduce, expected] :
         std::vector<std::pair<std::vector<uint64_t>, int64_t>>{{{10, 10, 10, 10}, 34},
                                                                {{10, 10, 10, 120}, 39},
                                                                {{5, 20, 40, 80}, 35}})
    {
        const auto graph = MakePipeline(ONE_F_ONE_B, {1, 1, 1, 1}, {2, 2, 2, 2}, 8, reduce);
        EXPECT_EQ(GraphRun(graph, time).endPs, expected * SECOND);
    }
}

// DistSim A11: order and times of the second of four stages.
TEST(Runtime, OrderOfAStage)
{
    const auto graph = MakeUniform(ONE_F_ONE_B, 4, 4);
    const GraphRun run(graph, Constant(0));
    std::vector<std::tuple<std::string, uint32_t, int64_t, int64_t>> order;
    for (const Span& span : run.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (span.device == 1 && task.kind == TaskKind::COMPUTE)
        {
            order.emplace_back(graph.GetName(task),
                               span.microBatch,
                               span.startPs / SECOND,
                               span.endPs / SECOND);
        }
    }
    using Entry = std::tuple<std::string, uint32_t, int64_t, int64_t>;
    EXPECT_EQ(order,
              (std::vector<Entry>{Entry{"F", 0, 1, 2},
                                  Entry{"F", 1, 2, 3},
                                  Entry{"F", 2, 3, 4},
                                  Entry{"B", 0, 8, 10},
                                  Entry{"F", 3, 10, 11},
                                  Entry{"B", 1, 11, 13},
                                  Entry{"B", 2, 14, 16},
                                  Entry{"B", 3, 17, 19}}));
}

TEST(Runtime, AGateBoundsTheMicroBatchesInFlight)
{
    // GPipe's order with a gate of 2 cannot go on, 1F1B's order with a gate of 2 is slower.
    const auto make = [](uint32_t limit) {
        GraphBuilder builder(1);
        const StreamId compute = builder.AddStream("compute");
        const PhaseId forward = builder.AddPhase("forward", 3);
        const PhaseId backward = builder.AddPhase("backward", 3);
        const TaskId f = builder.AddCompute(forward, 0, compute, "F", SECOND);
        builder.AddCompute(backward, 0, compute, "B", SECOND, {f});
        builder.SetSchedule(0, MakePipelineSchedule(GPIPE, 1, 0, 3, forward, backward));
        builder.AddGate({0, forward, backward, limit});
        return builder.Build();
    };
    EXPECT_THROW(make(2), std::invalid_argument);
    const auto graph = make(3);
    const GraphRun run(graph, Constant(0));
    EXPECT_TRUE(run.IsDone());
    EXPECT_EQ(run.devices[0]->GetPeakInFlight(), std::vector<uint32_t>{3});
}

TEST(Runtime, AMicroBatchReleasedBeforeItIsAcquiredNeverCounts)
{
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    const PhaseId acquired = builder.AddPhase("acquired", 3);
    const PhaseId released = builder.AddPhase("released", 3);
    builder.AddCompute(acquired, 0, compute, "A", SECOND);
    builder.AddCompute(released, 0, compute, "R", SECOND);
    builder.SetSchedule(
        0,
        {{released, 0}, {released, 1}, {acquired, 0}, {acquired, 1}, {acquired, 2}, {released, 2}});
    builder.AddGate({0, acquired, released, 1});
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    EXPECT_TRUE(run.IsDone());
    EXPECT_EQ(run.endPs, 6 * SECOND);
}

TEST(Runtime, PhasesOfOneJoinThoseOfMany)
{
    // once -> every micro-batch -> once.
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    const StreamId side = builder.AddStream("side");
    const PhaseId before = builder.AddPhase("before");
    const PhaseId many = builder.AddPhase("many", 4);
    const PhaseId after = builder.AddPhase("after");
    const TaskId first = builder.AddCompute(before, 0, side, "first", 5 * SECOND);
    const TaskId kept = builder.AddMemory(before, 0, "kept", 100, {first});
    const TaskId middle = builder.AddCompute(many, 0, compute, "middle", SECOND, {kept});
    const TaskId parts = builder.AddMemory(many, 0, "part", 10, {middle});
    builder.AddCompute(after, 0, side, "last", SECOND, {parts});
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    ASSERT_TRUE(run.IsDone());
    EXPECT_EQ(run.endPs, 10 * SECOND);
    EXPECT_EQ(run.devices[0]->GetPeakMemoryBytes(), 140u) << "the first tensor and four parts";
    EXPECT_EQ(run.devices[0]->GetMemory().back().bytes, 0u);
    // 100 until the last micro-batch ends, parts until the end.
    std::map<int64_t, uint64_t> level;
    for (const MemorySample& sample : run.devices[0]->GetMemory())
    {
        level[sample.timePs / SECOND] = sample.bytes;
    }
    EXPECT_EQ(
        level,
        (std::map<int64_t,
                  uint64_t>{{0, 100}, {5, 110}, {6, 120}, {7, 130}, {8, 140}, {9, 40}, {10, 0}}));
}

TEST(Runtime, PersistentTensorsStay)
{
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("iteration");
    const TaskId weights = builder.AddMemory(phase, 0, "weights", 1000, {}, true);
    const TaskId task = builder.AddCompute(phase, 0, compute, "task", SECOND, {weights});
    builder.AddMemory(phase, 0, "unused", 7, {task});
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    ASSERT_TRUE(run.IsDone());
    EXPECT_EQ(run.devices[0]->GetPeakMemoryBytes(), 1007u);
    EXPECT_EQ(run.devices[0]->GetMemory().front().bytes, 1007u);
    EXPECT_EQ(run.devices[0]->GetMemory().back().bytes, 1000u);
}

TEST(Runtime, AStreamKeepsItsOrder)
{
    // The second task of the stream is ready at once, and waits for the first all the same.
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    const StreamId other = builder.AddStream("other");
    const PhaseId phase = builder.AddPhase("iteration");
    const TaskId slow = builder.AddCompute(phase, 0, other, "slow", 3 * SECOND);
    builder.AddCompute(phase, 0, compute, "first", SECOND, {slow});
    builder.AddCompute(phase, 0, compute, "second", SECOND);
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    EXPECT_EQ(run.endPs, 5 * SECOND);
    EXPECT_EQ(run.spans.back().task, 2u);
}

TEST(Runtime, AReadyStreamLetsTasksOvertake)
{
    // As above, but the second task goes first, and of two that wait the lower one.
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute", StreamOrder::READY);
    const StreamId other = builder.AddStream("other");
    const PhaseId phase = builder.AddPhase("iteration", 2);
    const TaskId slow = builder.AddCompute(phase, 0, other, "slow", 3 * SECOND);
    builder.AddCompute(phase, 0, compute, "first", SECOND, {slow});
    builder.AddCompute(phase, 0, compute, "second", 4 * SECOND);
    builder.AddCompute(phase, 0, compute, "third", SECOND);
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    ASSERT_TRUE(run.IsDone());
    std::vector<std::pair<TaskId, uint32_t>> order;
    for (const Span& span : run.spans)
    {
        if (span.task != slow)
        {
            order.emplace_back(span.task, span.microBatch);
        }
    }
    // Second of micro-batch 0 ends at 4 s, when its first is ready and stands before all others.
    EXPECT_EQ(order,
              (std::vector<std::pair<TaskId, uint32_t>>{
                  {2, 0},
                  {1, 0},
                  {3, 0},
                  {1, 1},
                  {2, 1},
                  {3, 1},
              }));
    EXPECT_EQ(run.endPs, 12 * SECOND);
}

TEST(Runtime, MessagesOfAReadyStreamFollowEachOther)
{
    // Two messages to one receiver start together, the one to another waits for both.
    GraphBuilder builder(3);
    const StreamId comm = builder.AddStream("communication", StreamOrder::READY);
    const PhaseId phase = builder.AddPhase("iteration");
    const GroupId toOne = builder.AddGroup({0, 1});
    const GroupId toTwo = builder.AddGroup({0, 2});
    for (const GroupId group : {toOne, toOne, toTwo})
    {
        builder.AddCommunication(phase,
                                 group,
                                 comm,
                                 "message",
                                 Collective::SEND_RECV,
                                 8,
                                 Parallelism::NONE);
    }
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(5 * SECOND));
    ASSERT_TRUE(run.IsDone());
    std::map<TaskId, int64_t> starts;
    for (const Span& span : run.spans)
    {
        if (span.device == 0)
        {
            starts[span.task] = span.startPs;
        }
    }
    EXPECT_EQ(starts, (std::map<TaskId, int64_t>{{0, 0}, {1, 0}, {2, 5 * SECOND}}));
}

TEST(Runtime, AReadyStreamSaysWhatItWaitsFor)
{
    GraphBuilder builder(2);
    const StreamId comm = builder.AddStream("communication", StreamOrder::READY);
    const PhaseId phase = builder.AddPhase("iteration");
    const GroupId both = builder.AddGroup({0, 1});
    const StreamId blocked = builder.AddStream("blocked");
    const TaskId a = builder.AddCommunication(phase,
                                              both,
                                              blocked,
                                              "a",
                                              Collective::ALL_REDUCE,
                                              8,
                                              Parallelism::NONE);
    const TaskId b = builder.AddCommunication(phase,
                                              both,
                                              comm,
                                              "b",
                                              Collective::ALL_REDUCE,
                                              8,
                                              Parallelism::NONE,
                                              {a});
    builder.AddCompute(phase, 0, comm, "c", SECOND, {b});
    const auto graph = builder.Build();
    TestClock clock;
    IdealNetwork network(graph, clock, Constant(0));
    DeviceRuntime device(graph,
                         0,
                         FindGpuDatasheet("A100-SXM4-80GB"),
                         RuntimeOptions(),
                         clock,
                         network);
    device.Start(); // device 1 never does
    clock.Run();
    EXPECT_FALSE(device.IsDone());
    const auto lines = device.DescribeStall();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].text,
              "stream communication: 'b' (task 1, micro-batch 0) waits for what "
              "another stream runs");
}

TEST(Runtime, AStallIsDescribed)
{
    // The sender's task waits for a receive that comes after it on a full stream.
    GraphBuilder builder(2);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId one = builder.AddPhase("one");
    const PhaseId two = builder.AddPhase("two");
    const GroupId group = builder.AddGroup({0, 1});
    for (const PhaseId phase : {one, two})
    {
        builder.AddCommunication(phase,
                                 group,
                                 stream,
                                 phase == one ? "first" : "second",
                                 Collective::ALL_REDUCE,
                                 8,
                                 Parallelism::DATA);
    }
    builder.SetSchedule(0, {{one, 0}, {two, 0}});
    builder.SetSchedule(1, {{two, 0}, {one, 0}});
    const auto graph = builder.Build();
    const GraphRun run(graph, Constant(0));
    EXPECT_FALSE(run.IsDone());
    const auto lines = run.devices[0]->DescribeStall();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text,
              "stream communication: 'first' (task 0, micro-batch 0) waits for others");
}

TEST(Runtime, TheLatestStartWindowLimitsIssue)
{
    // Receives are posted by schedule entry: two entries ahead of the one that runs.
    const auto graph = MakeUniform(GPIPE, 2, 6);
    const GraphRun run(graph, Constant(0));
    int64_t posted = -1;
    for (const Span& span : run.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (span.device == 1 && graph.GetName(task) == "activation" && span.microBatch == 4)
        {
            posted = span.startPs;
        }
    }
    EXPECT_EQ(posted, 3 * SECOND) << "posted when micro-batch 2 starts on the second stage";
}
