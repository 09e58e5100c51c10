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
#include <stdexcept>
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

namespace
{

/// After so long both devices know that both have joined.
constexpr int64_t NEWS_PS = 1000;

/// Two devices that one process runs, or two processes with one device each, which hear of joins
/// before NEWS_PS have passed. @param isDivided which of both @param collective between them
/// @param random says when exactly
/// @param play called with the clock, and with who shares on which device
/// @return time that kernels took longer
int64_t
PlayDivided(bool isDivided,
            Collective collective,
            std::mt19937& random,
            const std::function<void(FlowClock&, const std::vector<GpuSharing*>&)>& play)
{
    const CommunicationUse use{32, 1e12, NEWS_PS};
    Scene scene(MakeStream(), use, collective);
    const GpuDatasheet* gpu = &FindGpuDatasheet("H100-SXM5-80GB");
    GpuSharing other(scene.graph,
                     std::vector<const GpuDatasheet*>{gpu, gpu},
                     RooflineModel(),
                     scene.clock,
                     [use](TaskId) { return use; });
    const std::vector<GpuSharing*> all{scene.sharing.get(),
                                       isDivided ? &other : scene.sharing.get()};
    if (isDivided)
    {
        for (DeviceId device = 0; device < 2; ++device)
        {
            GpuSharing::Ranks ranks;
            ranks.isLocal = [device](DeviceId one) { return one == device; };
            ranks.tell = [&, device](TaskInstance instance, uint32_t devices) {
                const int64_t now = scene.clock.GetTimePs();
                scene.clock.ScheduleAt(now + 1 + static_cast<int64_t>(random() % (NEWS_PS - 1)),
                                       [&all, device, instance, devices, now]() {
                                           all[1 - device]->JoinElsewhere(instance, devices, now);
                                       });
            };
            all[device]->SetRanks(ranks);
        }
    }
    play(scene.clock, all);
    scene.clock.Run();
    return all[0]->GetStatistics().addedPs + (isDivided ? all[1]->GetStatistics().addedPs : 0);
}

/// What happens to two devices.
struct Times
{
    std::vector<int64_t> joinPs;  //!< by device
    std::vector<int64_t> leavePs; //!< by device
    std::vector<int64_t> startPs; //!< of a kernel, by device
    std::vector<Task> kernels;    //!< by device
};

/// Plays the same in one process and in two. @param collective between both devices @param times of
/// what happens @param random when the processes hear of each other
void
CompareDivided(Collective collective, const Times& times, std::mt19937& random)
{
    std::vector<std::vector<int64_t>> ends;
    std::vector<int64_t> added;
    for (const bool isDivided : {false, true})
    {
        std::vector<int64_t>& ended = ends.emplace_back(2, -1);
        const auto play = [&](FlowClock& clock, const std::vector<GpuSharing*>& all) {
            for (DeviceId device = 0; device < 2; ++device)
            {
                GpuSharing* sharing = all[device];
                const auto start = [&, sharing, device]() {
                    sharing->StartKernel(device, times.kernels[device], [&, device]() {
                        ended[device] = clock.GetTimePs();
                    });
                };
                const auto leave = [=]() { sharing->Leave(device, {0, 0}); };
                clock.ScheduleAt(times.joinPs[device], [=, &clock, &times]() {
                    sharing->Join(device, {0, 0});
                    clock.ScheduleAt(times.leavePs[device], leave);
                });
                clock.ScheduleAt(times.startPs[device], start);
            }
        };
        added.push_back(PlayDivided(isDivided, collective, random, play));
    }
    EXPECT_EQ(ends[0], ends[1]);
    EXPECT_EQ(added[0], added[1]);
    EXPECT_GT(std::min(ends[0][0], ends[0][1]), 0);
}

} // namespace

TEST(GpuSharing, ProcessesThatHearOfJoinsLaterHaveTheSameTimes)
{
    std::mt19937 random(7);
    const auto draw = [&random]() { return static_cast<int64_t>(random() % (2 * MS)); };
    for (int i = 0; i < 200; ++i)
    {
        SCOPED_TRACE(i);
        Times times{{draw(), draw()}, {3 * MS, 3 * MS}, {draw(), draw()}, {}};
        times.kernels = {MakeProduct(random() % 1000), MakeStream()};
        CompareDivided(i % 2 == 0 ? Collective::ALL_REDUCE : Collective::SEND_RECV, times, random);
    }
}

// Kernels that begin and end, and parts that are done, where the last join is, or becomes known.
TEST(GpuSharing, ProcessesHaveTheSameTimesWhereMuchHappensAtOnce)
{
    std::mt19937 random(8);
    const auto draw = [&random]() { return NEWS_PS * static_cast<int64_t>(random() % 4); };
    for (int i = 0; i < 500; ++i)
    {
        SCOPED_TRACE(i);
        Times times{{draw(), draw()}, {}, {draw(), draw()}, {}};
        for (DeviceId device = 0; device < 2; ++device)
        {
            const bool isReceiver = device == 1 || i % 2 == 0;
            times.leavePs.push_back(isReceiver ? std::max(times.joinPs[0], times.joinPs[1])
                                               : times.joinPs[0]);
            times.leavePs.back() += draw();
            times.kernels.push_back(random() % 2 == 0 ? MakeProduct(random() % 1000)
                                                      : MakeStream());
            times.kernels.back().durationPs = NEWS_PS * static_cast<int64_t>(1 + random() % 3);
        }
        CompareDivided(i % 2 == 0 ? Collective::ALL_REDUCE : Collective::SEND_RECV, times, random);
    }
}

// What begins when a last join is known begins before a kernel of the same picosecond.
TEST(GpuSharing, JoinsAreKnownAfterAWhile)
{
    for (const int64_t startPs : {MS + NEWS_PS - 1, MS + NEWS_PS})
    {
        Scene scene(MakeProduct(132), {32, 0, NEWS_PS}, Collective::SEND_RECV);
        int64_t endPs = 0;
        scene.At(0, [&]() { scene.sharing->Join(1, {0, 0}); }); // receives
        scene.At(startPs, [&]() {
            scene.sharing->StartKernel(1, scene.kernel, [&]() { endPs = scene.clock.GetTimePs(); });
        });
        scene.At(MS, [&]() { scene.sharing->Join(0, {0, 0}); });
        scene.clock.Run();
        // One wave, or two, as 32 of 132 multiprocessors are taken.
        EXPECT_EQ(endPs - startPs, startPs < MS + NEWS_PS ? MS : 2 * MS);
    }
}

TEST(GpuSharing, NewsThatComeTooLateAreAMistake)
{
    Scene scene(MakeStream(), {32, 1e12, NEWS_PS});
    GpuSharing::Ranks ranks;
    ranks.isLocal = [](DeviceId device) { return device == 0; };
    ranks.tell = [](TaskInstance, uint32_t) {};
    scene.sharing->SetRanks(ranks);
    scene.At(0, [&]() { scene.sharing->Join(0, {0, 0}); });
    scene.At(MS + NEWS_PS, [&]() {
        EXPECT_THROW(scene.sharing->JoinElsewhere({0, 0}, 1, MS), std::logic_error);
    });
    scene.clock.Run();
}
