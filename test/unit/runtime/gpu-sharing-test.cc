/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-flow-clock.h"
#include "ns3/proteus-gpu-sharing.h"
#include "ns3/proteus-wave-schedule.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

// Kernels beside collectives on one GPU: closed forms, and a list of blocks played one by one.

using namespace ns3::proteus;

namespace
{

constexpr int64_t MS = 1000000000; // ps

/// Plays blocks one by one. @param changes (time, processors), ascending, the first at 0
double
Play(uint64_t blocks, double length, const std::vector<std::pair<double, uint32_t>>& changes)
{
    std::priority_queue<double, std::vector<double>, std::greater<>> ends;
    double last = 0;
    std::size_t next = 0;
    uint32_t processors = 0;
    double now = 0;
    while (blocks > 0 || !ends.empty())
    {
        const bool isChange =
            next < changes.size() && (ends.empty() || changes[next].first < ends.top());
        if (isChange)
        {
            now = changes[next].first;
            processors = changes[next++].second;
        }
        else
        {
            now = ends.top();
            while (!ends.empty() && ends.top() <= now)
            {
                ends.pop();
            }
        }
        for (; blocks > 0 && ends.size() < processors; --blocks)
        {
            ends.push(now + length);
            last = std::max(last, now + length);
        }
    }
    return last;
}

/// A device pair, its collective, and a kernel on device 0.
struct Scene
{
    Scene(Task kernelTask, CommunicationUse taken, Collective collective = Collective::ALL_REDUCE)
        : kernel(kernelTask)
    {
        GraphBuilder builder(2);
        const PhaseId phase = builder.AddPhase("all");
        const StreamId stream = builder.AddStream("communication");
        builder.AddCommunication(phase,
                                 builder.AddGroup({0, 1}),
                                 stream,
                                 "communication",
                                 collective,
                                 1000,
                                 Parallelism::DATA);
        graph = builder.Build();
        const GpuDatasheet* gpu = &FindGpuDatasheet("H100-SXM5-80GB");
        sharing = std::make_unique<GpuSharing>(graph,
                                               std::vector<const GpuDatasheet*>{gpu, gpu},
                                               RooflineModel(),
                                               clock,
                                               [taken](TaskId) { return taken; });
    }

    /// At a time. @param timePs when @param what to do
    void At(int64_t timePs, std::function<void()> what)
    {
        clock.ScheduleAt(timePs, std::move(what));
    }

    /// Starts the kernel at 0 and runs. @return when it ends, ps
    int64_t Run()
    {
        int64_t endPs = -1;
        clock.ScheduleAt(0, [&]() {
            sharing->StartKernel(0, kernel, [&]() { endPs = clock.GetTimePs(); });
        });
        clock.Run();
        return endPs;
    }

    Task kernel;
    ExecutionGraph graph;
    FlowClock clock;
    std::unique_ptr<GpuSharing> sharing;
};

/// @return a matrix product of 1 ms
Task
MakeProduct(uint32_t blocks)
{
    Task task;
    task.durationPs = MS;
    task.flops = 1e9;
    task.bytes = 1000;
    task.threadBlocks = blocks;
    return task;
}

/// @return a kernel of 1 ms that memory traffic decides
Task
MakeStream()
{
    Task task;
    task.durationPs = MS;
    task.bytes = 1000000000;
    task.flops = 1e6;
    return task;
}

} // namespace

TEST(WaveSchedule, WavesOfEqualBlocks)
{
    for (const auto& [blocks, processors, waves] :
         std::vector<std::tuple<uint64_t, uint32_t, double>>{{1, 132, 1},
                                                             {132, 132, 1},
                                                             {133, 132, 2},
                                                             {132, 108, 2},
                                                             {1000000, 100, 10000},
                                                             {1000001, 100, 10001}})
    {
        EXPECT_NEAR(WaveSchedule(blocks, 2, processors).GetEnd(), 2 * waves, 1e-6 * waves);
    }
}

TEST(WaveSchedule, IsThatOfBlocksOneByOne)
{
    std::mt19937 random(7);
    for (int trial = 0; trial < 300; ++trial)
    {
        const uint64_t blocks = 1 + random() % 500;
        std::vector<std::pair<double, uint32_t>> changes{{0, 1 + random() % 40}};
        while (random() % 4 != 0)
        {
            // No two events at once, whose order nobody says.
            changes.emplace_back(changes.back().first +
                                     0.001 * static_cast<double>(1 + random() % 9000),
                                 1 + random() % 40);
        }
        WaveSchedule waves(blocks, 1.000137, changes[0].second);
        for (std::size_t i = 1; i < changes.size(); ++i)
        {
            waves.SetProcessors(changes[i].first, changes[i].second);
        }
        const double expected = Play(blocks, 1.000137, changes);
        if (expected >= changes.back().first)
        {
            EXPECT_NEAR(waves.GetEnd(), expected, 1e-4) << trial;
        }
    }
}

// A product of 132 blocks beside an all-gather of 24 thread blocks on an H100: two waves, not one.
TEST(GpuSharing, ATailOfTheWave)
{
    Scene scene(MakeProduct(132), {24, 0});
    EXPECT_EQ(Scene(MakeProduct(132), {24, 0}).Run(), MS);
    scene.At(0, [&]() { scene.sharing->Join(0, {0, 0}); });
    EXPECT_EQ(scene.Run(), 2 * MS);
    EXPECT_EQ(scene.sharing->GetStatistics().addedPs, MS);
    EXPECT_EQ(scene.sharing->GetStatistics().besidePs, 2 * MS);
}

TEST(GpuSharing, ManyBlocksGoOnInProportion)
{
    Scene scene(MakeProduct(132 * 1000), {24, 0});
    scene.At(0, [&]() { scene.sharing->Join(0, {0, 0}); });
    EXPECT_NEAR(static_cast<double>(scene.Run()), MS * 132.0 / 108, 2e-3 * MS);
    // Half of the time alone.
    Scene late(MakeProduct(132 * 1000), {24, 0});
    late.At(MS / 2, [&]() { late.sharing->Join(0, {0, 0}); });
    EXPECT_NEAR(static_cast<double>(late.Run()), MS * (0.5 + 0.5 * 132.0 / 108), 2e-3 * MS);
}

// A collective that has joined alone polls on its multiprocessors, and draws no memory yet.
TEST(GpuSharing, MemoryFromWhenAllHaveJoined)
{
    const double bandwidth = 0.9 * FindGpuDatasheet("H100-SXM5-80GB").memoryBytesPerSecond;
    Scene waiting(MakeStream(), {24, 0.2 * bandwidth});
    waiting.At(0, [&]() { waiting.sharing->Join(0, {0, 0}); });
    EXPECT_EQ(waiting.Run(), MS);
    Scene moving(MakeStream(), {24, 0.2 * bandwidth});
    moving.At(0, [&]() {
        moving.sharing->Join(0, {0, 0});
        moving.sharing->Join(1, {0, 0});
    });
    EXPECT_NEAR(static_cast<double>(moving.Run()), MS / 0.8, 10);
    // Never more than half.
    Scene greedy(MakeStream(), {24, 3 * bandwidth});
    greedy.At(0, [&]() {
        greedy.sharing->Join(0, {0, 0});
        greedy.sharing->Join(1, {0, 0});
    });
    EXPECT_NEAR(static_cast<double>(greedy.Run()), 2.0 * MS, 10);
}

TEST(GpuSharing, TheRestIsTimedAgain)
{
    const double bandwidth = 0.9 * FindGpuDatasheet("H100-SXM5-80GB").memoryBytesPerSecond;
    Scene scene(MakeStream(), {24, 0.5 * bandwidth});
    scene.At(MS / 4, [&]() {
        scene.sharing->Join(0, {0, 0});
        scene.sharing->Join(1, {0, 0});
    });
    scene.At(3 * MS / 4, [&]() {
        scene.sharing->Leave(1, {0, 0});
        scene.sharing->Leave(0, {0, 0});
    });
    EXPECT_NEAR(static_cast<double>(scene.Run()), 1.25 * MS, 10); // half a ms at half the pace
}

// A receive that is posted ahead is a buffer until its sender joins.
TEST(GpuSharing, PostedReceivesTakeNothing)
{
    Scene posted(MakeProduct(132), {2, 0}, Collective::SEND_RECV);
    posted.At(0, [&]() { posted.sharing->Join(1, {0, 0}); });
    EXPECT_EQ(posted.Run(), MS);
    Scene sender(MakeProduct(132), {2, 0}, Collective::SEND_RECV);
    sender.At(0, [&]() { sender.sharing->Join(0, {0, 0}); });
    EXPECT_EQ(sender.Run(), 2 * MS);
}

TEST(GpuSharing, TheHostAbsorbsAndTimesAloneStay)
{
    Task hosted = MakeProduct(132);
    hosted.hostPercent = 60;
    Scene scene(hosted, {24, 0});
    scene.At(0, [&]() { scene.sharing->Join(0, {0, 0}); });
    EXPECT_EQ(scene.Run(), MS);
    Task measured;
    measured.durationPs = MS;
    Scene trace(measured, {24, 1e15});
    trace.At(0, [&]() {
        trace.sharing->Join(0, {0, 0});
        trace.sharing->Join(1, {0, 0});
    });
    EXPECT_EQ(trace.Run(), MS);
}
