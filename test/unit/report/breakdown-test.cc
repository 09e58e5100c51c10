/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-graph.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

void
ExpectAddsUp(const DeviceBreakdown& breakdown, int64_t totalPs)
{
    EXPECT_EQ(breakdown.totalPs, totalPs);
    EXPECT_EQ(breakdown.computePs + breakdown.GetExposedPs() + breakdown.GetWaitingPs() +
                  breakdown.bubblePs + breakdown.hostPs + breakdown.idlePs,
              totalPs);
}

} // namespace

TEST(Breakdown, TheHostLeavesTheGpuFree)
{
    GraphBuilder builder(1);
    const StreamId host = builder.AddStream("host", StreamOrder::IN_ORDER, true);
    const StreamId gpu = builder.AddStream("gpu");
    const PhaseId phase = builder.AddPhase("iteration");
    const TaskId call = builder.AddCompute(phase, 0, host, "call", 10);
    const TaskId kernel = builder.AddCompute(phase, 0, gpu, "kernel", 30, {call});
    const ExecutionGraph graph = builder.Build();
    Timeline timeline;
    timeline.spans = {{0, call, 0, 0, 10}, {0, kernel, 0, 10, 40}};
    timeline.endPs = 40;
    const auto breakdown = BreakDown(graph, timeline);
    ASSERT_EQ(breakdown.size(), 1u);
    EXPECT_EQ(breakdown[0].computePs, 30);
    EXPECT_EQ(breakdown[0].hostPs, 10);
    EXPECT_EQ(breakdown[0].idlePs, 0);
    EXPECT_EQ(breakdown[0].activityPs, 30); // a profiler of kernels sees no host
}

TEST(Breakdown, ComputeHidesCommunicationAndEarlyRanksWait)
{
    TestRun run(3);
    const TaskId c0 = run.AddCompute(0);
    const TaskId c1 = run.AddCompute(0);
    const TaskId c2 = run.AddCompute(2);
    const TaskId tensor = run.AddCollective({0, 1}, Parallelism::TENSOR);
    const TaskId data = run.AddCollective({0, 1}, Parallelism::DATA);
    run.AddSpan(0, c0, 0, 12); // hides the first 2 ps of the tensor all-reduce
    run.AddSpan(0, tensor, 10, 30);
    run.AddSpan(1, tensor, 5, 30); // waits for device 0
    run.AddSpan(0, c1, 35, 38);
    run.AddSpan(0, data, 25, 40); // its first 5 ps count for the tensor all-reduce
    run.AddSpan(1, data, 25, 40);
    run.AddSpan(2, c2, 0, 50);
    const auto result = BreakDown(run.Finish(), run.timeline);

    ASSERT_EQ(result.size(), 3U);
    EXPECT_EQ(result[0].computePs, 15);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::TENSOR), 18);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::DATA), 7);
    EXPECT_EQ(result[0].GetExposedPs(), 25);
    EXPECT_EQ(result[0].idlePs, 10);
    EXPECT_EQ(result[0].communicationPs, 30);
    EXPECT_EQ(result[1].computePs, 0);
    EXPECT_EQ(result[1].GetWaitingPs(Parallelism::TENSOR), 5);
    EXPECT_EQ(result[1].GetWaitingPs(), 5);
    EXPECT_EQ(result[1].GetExposedPs(Parallelism::TENSOR), 20);
    EXPECT_EQ(result[1].GetExposedPs(Parallelism::DATA), 10);
    EXPECT_EQ(result[1].idlePs, 15);
    EXPECT_EQ(result[1].communicationPs, 30);
    EXPECT_EQ(result[1].activityPs, 35);
    EXPECT_EQ(result[1].GetIdleBetweenPs(), 0);
    EXPECT_EQ(result[2].computePs, 50);
    EXPECT_EQ(result[2].GetExposedPs(), 0);
    for (const auto& breakdown : result)
    {
        ExpectAddsUp(breakdown, 50);
    }

    const MeanBreakdown mean = MeanOf(result);
    EXPECT_DOUBLE_EQ(mean.computeS, 65e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedCommunicationS, 55e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.waitingForPeersS, 5e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedS[static_cast<std::size_t>(Parallelism::TENSOR)], 38e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedS[static_cast<std::size_t>(Parallelism::DATA)], 17e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.idleS, 25e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.totalS, 50e-12);
    EXPECT_DOUBLE_EQ(mean.communicationS, 60e-12 / 3);
    EXPECT_EQ(MeanOf({}).totalS, 0);
}

TEST(Breakdown, WaitingForAStageIsTheBubble)
{
    TestRun run(3, 2);
    const TaskId send = run.AddSend(0, 1);
    const TaskId expert = run.AddSend(2, 0, Parallelism::EXPERT);
    // Micro-batch 0: the receiver is early; 1: the sender is. Both receives of device 1 overlap.
    run.AddSpan(1, send, 0, 30, 0);
    run.AddSpan(0, send, 20, 30, 0);
    run.AddSpan(0, send, 35, 60, 1);
    run.AddSpan(1, send, 50, 60, 1);
    // Handed over while the receiver waited: nothing in flight afterwards.
    run.AddSpan(0, expert, 60, 70, 0);
    run.AddSpan(2, expert, 62, 70, 0);
    run.AddSpan(0, expert, 60, 80, 1); // posted together with the other one
    run.AddSpan(2, expert, 70, 80, 1);
    const auto result = BreakDown(run.Finish(), run.timeline);

    EXPECT_EQ(result[1].GetExposedPs(Parallelism::PIPELINE), 10 + 10);
    EXPECT_EQ(result[1].bubblePs, 60); // it has nothing to do while others have
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::PIPELINE), 10 + 10);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::EXPERT), 18);
    EXPECT_EQ(result[0].GetWaitingPs(Parallelism::EXPERT), 2);
    EXPECT_EQ(result[0].bubblePs, 20 + 5 + 15);
    EXPECT_EQ(result[2].GetExposedPs(Parallelism::EXPERT), 18);
    EXPECT_EQ(result[2].bubblePs, 62);
    // A profiler sees the sender's kernel, and a receive only once there is something to receive.
    EXPECT_EQ(result[0].activityPs, 80 - 20);
    EXPECT_EQ(result[0].GetIdleBetweenPs(), 5 + 2);
    EXPECT_EQ(result[1].activityPs, 60 - 20);
    EXPECT_EQ(result[1].GetIdleBetweenPs(), 20);
    for (const auto& breakdown : result)
    {
        EXPECT_EQ(breakdown.idlePs, 0);
        ExpectAddsUp(breakdown, 80);
    }
}

TEST(Breakdown, BubbleOfAPipelineIsWhatThePapersSay)
{
    // GPipe: all forward passes, then all backward ones; a transfer takes no time.
    constexpr int64_t FORWARD_PS = 100;
    constexpr int64_t BACKWARD_PS = 230;
    for (uint32_t stages : {1U, 2U, 5U})
    {
        for (uint32_t microBatches : {1U, 4U, 9U})
        {
            TestRun run(stages, microBatches);
            const int64_t turnPs = int64_t{stages + microBatches - 1} * FORWARD_PS;
            for (DeviceId stage = 0; stage < stages; ++stage)
            {
                const TaskId forward = run.AddCompute(stage, "forward");
                const TaskId backward = run.AddCompute(stage, "backward");
                const bool isLast = stage + 1 == stages;
                const TaskId down = isLast ? 0 : run.AddSend(stage, stage + 1);
                const TaskId up = isLast ? 0 : run.AddSend(stage + 1, stage);
                for (uint32_t i = 0; i < microBatches; ++i)
                {
                    const int64_t startPs = int64_t{stage + i} * FORWARD_PS;
                    const int64_t endPs = startPs + FORWARD_PS;
                    const int64_t backPs = turnPs + int64_t{stages - 1 - stage + i} * BACKWARD_PS;
                    run.AddSpan(stage, forward, startPs, endPs, i);
                    run.AddSpan(stage, backward, backPs, backPs + BACKWARD_PS, i);
                    if (!isLast)
                    {
                        run.AddSpan(stage, down, endPs, endPs, i);
                        run.AddSpan(stage + 1, down, 0, endPs, i);
                        run.AddSpan(stage + 1, up, backPs, backPs, i);
                        run.AddSpan(stage, up, endPs, backPs, i);
                    }
                }
            }
            for (const auto& breakdown : BreakDown(run.Finish(), run.timeline))
            {
                EXPECT_EQ(breakdown.bubblePs, int64_t{stages - 1} * (FORWARD_PS + BACKWARD_PS));
                EXPECT_EQ(breakdown.GetExposedPs(), 0);
                EXPECT_EQ(breakdown.GetWaitingPs(), 0);
                ExpectAddsUp(breakdown, run.timeline.endPs);
            }
        }
    }
}

TEST(Breakdown, PriorityDecidesAmongParallelisms)
{
    std::set<Parallelism> distinct(EXPOSURE_PRIORITY.begin(), EXPOSURE_PRIORITY.end());
    EXPECT_EQ(distinct.size(), N_PARALLELISMS);
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        EXPECT_STRNE(ToString(static_cast<Parallelism>(i)), nullptr); // all of them are named
    }

    TestRun run(2);
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        const TaskId task = run.AddCollective({0, 1}, EXPOSURE_PRIORITY[i]);
        const auto length = static_cast<int64_t>(10 * (i + 1));
        run.AddSpan(0, task, 0, length); // each outlasts the one before by 10
        run.AddSpan(1, task, 0, length);
    }
    for (const auto& breakdown : BreakDown(run.Finish(), run.timeline))
    {
        for (int64_t exposedPs : breakdown.exposedPs)
        {
            EXPECT_EQ(exposedPs, 10);
        }
        EXPECT_EQ(breakdown.communicationPs, 80);
        ExpectAddsUp(breakdown, 80);
    }
}

/// Adds a picosecond of a device to what it is spent on, by looking at all spans.
static void
CountPicosecond(const ExecutionGraph& graph,
                const Timeline& timeline,
                DeviceId device,
                int64_t time,
                DeviceBreakdown& expected)
{
    bool computes = false;
    bool hasPipeline = false;
    std::set<Parallelism> moving;
    std::set<Parallelism> waiting;
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        hasPipeline = hasPipeline || (isCommunication && task.parallelism == Parallelism::PIPELINE);
        if (span.device != device || time < span.startPs || time >= span.endPs)
        {
            continue;
        }
        if (!isCommunication)
        {
            computes = true;
            continue;
        }
        const bool isJoined =
            std::all_of(timeline.spans.begin(), timeline.spans.end(), [&](const Span& other) {
                return other.task != span.task || other.startPs <= time;
            });
        (isJoined ? moving : waiting).insert(task.parallelism);
    }
    const auto first = [](const std::set<Parallelism>& set) {
        return static_cast<std::size_t>(
            *std::find_if(EXPOSURE_PRIORITY.begin(),
                          EXPOSURE_PRIORITY.end(),
                          [&](Parallelism parallelism) { return set.count(parallelism) > 0; }));
    };
    expected.communicationPs += !moving.empty();
    const bool isStage = waiting.erase(Parallelism::PIPELINE) > 0;
    int64_t& share = computes                 ? expected.computePs
                     : !moving.empty()        ? expected.exposedPs[first(moving)]
                     : !waiting.empty()       ? expected.waitingPs[first(waiting)]
                     : isStage || hasPipeline ? expected.bubblePs
                                              : expected.idlePs;
    ++share;
}

TEST(Breakdown, AgreesWithCountingEveryPicosecond)
{
    std::mt19937 random(7);
    for (int repetition = 0; repetition < 50; ++repetition)
    {
        constexpr int64_t LENGTH_PS = 60;
        TestRun run(2);
        for (int i = 0; i < 12; ++i)
        {
            const int64_t a = random() % (LENGTH_PS + 1);
            const int64_t b = random() % (LENGTH_PS + 1);
            const auto device = static_cast<DeviceId>(random() % 2);
            const auto parallelism = static_cast<Parallelism>(random() % N_PARALLELISMS);
            if (i % 3 == 0)
            {
                run.AddSpan(device, run.AddCompute(device), std::min(a, b), std::max(a, b));
            }
            else if (i % 3 == 1)
            {
                run.AddSpan(device,
                            run.AddCollective({0, 1}, parallelism),
                            std::min(a, b),
                            std::max(a, b));
            }
            else
            {
                const TaskId send = run.AddSend(device, 1 - device, parallelism);
                const int64_t end = std::max(a, b);
                run.AddSpan(device, send, std::min(a, b), end);
                run.AddSpan(1 - device, send, random() % (end + 1), end);
            }
        }
        run.timeline.endPs = LENGTH_PS;
        const ExecutionGraph& graph = run.Finish();
        const auto result = BreakDown(graph, run.timeline);

        for (DeviceId device = 0; device < 2; ++device)
        {
            DeviceBreakdown expected;
            for (int64_t time = 0; time < LENGTH_PS; ++time)
            {
                CountPicosecond(graph, run.timeline, device, time, expected);
            }
            EXPECT_EQ(result[device].computePs, expected.computePs);
            EXPECT_EQ(result[device].exposedPs, expected.exposedPs);
            EXPECT_EQ(result[device].waitingPs, expected.waitingPs);
            EXPECT_EQ(result[device].bubblePs, expected.bubblePs);
            EXPECT_EQ(result[device].idlePs, expected.idlePs);
            EXPECT_EQ(result[device].communicationPs, expected.communicationPs);
            ExpectAddsUp(result[device], LENGTH_PS);
        }
    }
}

TEST(Breakdown, RejectsWhatIsNoTimelineOfTheGraph)
{
    TestRun run(3);
    const TaskId compute = run.AddCompute(0);
    const TaskId send = run.AddSend(0, 1);
    const TaskId memory = run.builder.AddMemory(run.phase, 0, "weights", 8, {}, true);
    const ExecutionGraph& graph = run.Finish();
    const auto errorOf = [&](const std::vector<Span>& spans) {
        Timeline timeline;
        timeline.spans = spans;
        timeline.endPs = 100;
        return ErrorOf([&] { BreakDown(graph, timeline); });
    };
    EXPECT_EQ(errorOf({{0, compute, 0, 0, 100}}), "");
    ExpectContains(errorOf({{3, compute, 0, 0, 1}}), "device 3: the graph has no such device");
    ExpectContains(errorOf({{0, 9, 0, 0, 1}}), "task 9, ");
    ExpectContains(errorOf({{0, compute, 1, 0, 1}}), "no such micro-batch");
    ExpectContains(errorOf({{1, compute, 0, 0, 1}}), "the task is not on this device");
    ExpectContains(errorOf({{2, send, 0, 0, 1}}), "the task is not on this device");
    ExpectContains(errorOf({{0, memory, 0, 0, 1}}), "a memory task has no span");
    ExpectContains(errorOf({{0, compute, 0, -1, 1}}), "does not lie within 0 to 100 ps");
    ExpectContains(errorOf({{0, compute, 0, 2, 1}}), "does not lie within");
    ExpectContains(errorOf({{0, compute, 0, 0, 101}}), "does not lie within");
    ExpectContains(errorOf({{0, send, 0, 0, 1}}), "sent but never received");
    ExpectContains(errorOf({{1, send, 0, 0, 1}}), "received but never sent");
    ExpectContains(errorOf({{0, send, 0, 0, 1}, {0, send, 0, 0, 1}}), "sent twice");
    ExpectContains(errorOf({{0, send, 0, 0, 1}, {1, send, 0, 0, 1}, {1, send, 0, 0, 1}}),
                   "received twice");
}

} // namespace proteus
} // namespace ns3
