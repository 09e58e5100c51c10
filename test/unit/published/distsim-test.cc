/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-distsim.h"
#include "ns3/proteus-stage-schedule.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Closed forms for the rules of DistSim, numbered A1 to A13; A14 and A15 are in
// distsim-events-test.cc. A unit of time is 1 ms.

using namespace ns3::proteus;

namespace
{

constexpr int64_t UNIT = 1000000000;

/// A pipeline: forward and backward times of the stages in units, replicas of each stage.
struct Pipeline
{
    std::vector<double> forward;
    std::vector<double> backward;
    uint32_t microBatches{1};
    PipelineSchedule schedule{PipelineSchedule::ONE_FORWARD_ONE_BACKWARD};
    double send{0};                  //!< units
    std::vector<double> reduction{}; //!< units; empty: none
    uint32_t tensor{1};              //!< ranks that do the same
};

int64_t
Ps(double units)
{
    return static_cast<int64_t>(units * static_cast<double>(UNIT));
}

/// Rank of a pipeline with two replicas where gradients are reduced.
ExecutionGraph
MakePipeline(const Pipeline& pipeline)
{
    const auto stages = static_cast<uint32_t>(pipeline.forward.size());
    const uint32_t width = pipeline.reduction.empty() ? pipeline.tensor : 2;
    GraphBuilder builder(stages * width);
    const StreamId compute = builder.AddStream("compute");
    const StreamId send = builder.AddStream("send");
    const StreamId gradient = builder.AddStream("gradient");
    const PhaseId f = builder.AddPhase("forward", pipeline.microBatches);
    const PhaseId b = builder.AddPhase("backward", pipeline.microBatches);
    const PhaseId last = builder.AddPhase("gradients");
    std::vector<std::vector<TaskId>> backward(stages);
    for (uint32_t lane = 0; lane < width; ++lane)
    {
        auto device = [&](uint32_t stage) { return stage * width + lane; };
        auto transfer = [&](PhaseId phase, uint32_t from, uint32_t to, TaskId after) {
            return builder.AddCommunication(phase,
                                            builder.AddGroup({device(from), device(to)}),
                                            send,
                                            "send",
                                            Collective::SEND_RECV,
                                            std::max<int64_t>(Ps(pipeline.send), 1),
                                            Parallelism::PIPELINE,
                                            {after});
        };
        std::vector<TaskId> forward;
        TaskId before = NO_ID;
        for (uint32_t s = 0; s < stages; ++s)
        {
            const std::vector<TaskId> wait =
                before == NO_ID ? std::vector<TaskId>{} : std::vector<TaskId>{before};
            forward.push_back(
                builder.AddCompute(f, device(s), compute, "F", Ps(pipeline.forward[s]), wait));
            before = s + 1 < stages ? transfer(f, s, s + 1, forward[s]) : NO_ID;
        }
        for (uint32_t s = stages; s-- > 0;)
        {
            // What the forward pass leaves for the backward pass: one byte per micro-batch.
            const TaskId saved = builder.AddMemory(f, device(s), "activation", 1, {forward[s]});
            std::vector<TaskId> wait{forward[s], saved};
            if (before != NO_ID)
            {
                wait.push_back(before);
            }
            backward[s].push_back(
                builder.AddCompute(b, device(s), compute, "B", Ps(pipeline.backward[s]), wait));
            before = s > 0 ? transfer(b, s, s - 1, backward[s].back()) : NO_ID;
        }
    }
    for (uint32_t s = 0; s < stages; ++s)
    {
        std::vector<DeviceId> group;
        for (uint32_t lane = 0; lane < width; ++lane)
        {
            group.push_back(s * width + lane);
        }
        if (!pipeline.reduction.empty())
        {
            builder.AddCommunication(last,
                                     builder.AddGroup(group),
                                     gradient,
                                     "reduction",
                                     Collective::ALL_REDUCE,
                                     Ps(pipeline.reduction[s]),
                                     Parallelism::DATA,
                                     backward[s]);
        }
        auto schedule =
            MakePipelineSchedule(pipeline.schedule, stages, s, pipeline.microBatches, f, b);
        if (!pipeline.reduction.empty())
        {
            schedule.push_back({last, 0});
        }
        builder.SetSchedule(group, schedule);
    }
    return builder.Build();
}

/// Every communication takes its bytes in picoseconds, those of one byte nothing.
std::vector<int64_t>
TakeBytes(const Task& task, const std::vector<DeviceId>& group)
{
    return std::vector<int64_t>(group.size(), task.bytes > 1 ? task.bytes : 0);
}

DistSimResult
Evaluate(const ExecutionGraph& graph, const IsolatedRun& run = &TakeBytes)
{
    DistSimOptions options;
    options.runtime.issueAhead = 1000; // A's rules know no host
    return RunDistSim(graph, MakeCluster("dgx2", 1), run, options);
}

double
Units(int64_t ps)
{
    return static_cast<double>(ps) / static_cast<double>(UNIT);
}

double
TotalOf(const Pipeline& pipeline)
{
    return Units(Evaluate(MakePipeline(pipeline)).timeline.endPs);
}

Pipeline
Uniform(uint32_t stages, uint32_t microBatches, double send = 0)
{
    Pipeline pipeline;
    pipeline.forward.assign(stages, 1);
    pipeline.backward.assign(stages, 2);
    pipeline.microBatches = microBatches;
    pipeline.send = send;
    return pipeline;
}

Pipeline
GPipe(Pipeline pipeline)
{
    pipeline.schedule = PipelineSchedule::GPIPE;
    return pipeline;
}

/// End of the last kernel of each device.
std::vector<double>
EndsOf(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<double> ends(graph.GetNDevices());
    for (const Span& span : timeline.spans)
    {
        if (graph.GetTask(span.task).kind == TaskKind::COMPUTE)
        {
            ends[span.device] = std::max(ends[span.device], Units(span.endPs));
        }
    }
    return ends;
}

} // namespace

TEST(DistSim, A1A2UniformPipelines)
{
    const std::map<std::pair<uint32_t, uint32_t>, double> totals{{{4, 4}, 21},
                                                                 {{4, 8}, 33},
                                                                 {{8, 8}, 45},
                                                                 {{8, 32}, 117},
                                                                 {{4, 1}, 12},
                                                                 {{1, 4}, 12}};
    for (const auto& [size, total] : totals)
    {
        EXPECT_DOUBLE_EQ(TotalOf(Uniform(size.first, size.second)), total);
        EXPECT_DOUBLE_EQ(TotalOf(GPipe(Uniform(size.first, size.second))), total);
    }
    const double ideal = 8 * 3;
    EXPECT_DOUBLE_EQ((TotalOf(Uniform(4, 8)) - ideal) / ideal, 0.375);
    EXPECT_DOUBLE_EQ((TotalOf(Uniform(8, 32)) - 96) / 96, 0.21875);
    EXPECT_NEAR((TotalOf(Uniform(4, 8)) - ideal) / TotalOf(Uniform(4, 8)), 0.2727, 5e-5);
    EXPECT_NEAR((TotalOf(Uniform(8, 32)) - 96) / TotalOf(Uniform(8, 32)), 0.1795, 5e-5);
}

TEST(DistSim, A3A4ActivationsAndStageEnds)
{
    const ExecutionGraph late = MakePipeline(GPipe(Uniform(4, 8)));
    const ExecutionGraph early = MakePipeline(Uniform(4, 8));
    EXPECT_EQ(Evaluate(late).timeline.peakMemoryBytes, (std::vector<uint64_t>{8, 8, 8, 8}));
    EXPECT_EQ(Evaluate(early).timeline.peakMemoryBytes, (std::vector<uint64_t>{4, 3, 2, 1}));
    for (const ExecutionGraph* graph : {&late, &early})
    {
        EXPECT_EQ(EndsOf(*graph, Evaluate(*graph).timeline), (std::vector<double>{33, 31, 29, 27}));
    }
    const ExecutionGraph four = MakePipeline(Uniform(4, 4));
    EXPECT_EQ(EndsOf(four, Evaluate(four).timeline), (std::vector<double>{21, 19, 17, 15}));
}

TEST(DistSim, A5A6Latency)
{
    EXPECT_DOUBLE_EQ(TotalOf(GPipe(Uniform(4, 8, 0.5))), 36);
    EXPECT_DOUBLE_EQ(TotalOf(GPipe(Uniform(2, 4, 0.5))), 16);
    EXPECT_NEAR(TotalOf(GPipe(Uniform(8, 32, 0.1))), 118.4, 1e-9);
    EXPECT_DOUBLE_EQ(TotalOf(Uniform(4, 8, 0.5)), 41);
    EXPECT_DOUBLE_EQ(TotalOf(Uniform(2, 4, 0.5)), 17);
    EXPECT_DOUBLE_EQ(TotalOf(Uniform(4, 4, 0.5)), 26);
    EXPECT_NEAR(TotalOf(Uniform(8, 32, 0.1)), 123.8, 1e-9);
}

TEST(DistSim, A7A8UnequalStages)
{
    Pipeline three;
    three.forward = {1, 2, 1};
    three.backward = {2, 4, 2};
    three.microBatches = 4;
    const ExecutionGraph early = MakePipeline(three);
    const ExecutionGraph late = MakePipeline(GPipe(three));
    EXPECT_EQ(EndsOf(late, Evaluate(late).timeline), (std::vector<double>{30, 28, 18}));
    EXPECT_EQ(EndsOf(early, Evaluate(early).timeline), (std::vector<double>{28, 26, 21}));
    Pipeline two;
    two.forward = {1, 3};
    two.backward = {2, 6};
    two.microBatches = 4;
    EXPECT_DOUBLE_EQ(TotalOf(two), 39);
    EXPECT_DOUBLE_EQ(TotalOf(GPipe(two)), 39);
}

namespace
{

/// An interleaved pipeline with transfers that take no time.
ExecutionGraph
MakeInterleaved(uint32_t devices, uint32_t chunks, uint32_t microBatches)
{
    GraphBuilder builder(devices);
    const StreamId compute = builder.AddStream("compute");
    const StreamId send = builder.AddStream("send");
    std::vector<PhaseId> forward;
    std::vector<PhaseId> backward;
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        forward.push_back(builder.AddPhase("forward." + std::to_string(chunk), microBatches));
        backward.push_back(builder.AddPhase("backward." + std::to_string(chunk), microBatches));
    }
    const uint32_t stages = devices * chunks;
    std::vector<TaskId> tasks;
    TaskId before = NO_ID;
    for (uint32_t step = 0; step < 2 * stages; ++step)
    {
        const bool isForward = step < stages;
        const uint32_t stage = isForward ? step : 2 * stages - 1 - step;
        const uint32_t chunk = stage / devices;
        std::vector<TaskId> wait;
        if (before != NO_ID)
        {
            wait.push_back(before);
        }
        const PhaseId phase = isForward ? forward[chunk] : backward[chunk];
        tasks.push_back(builder.AddCompute(phase,
                                           stage % devices,
                                           compute,
                                           "kernel",
                                           (isForward ? UNIT : 2 * UNIT) / chunks,
                                           wait));
        const uint32_t next = isForward ? step + 1 : 2 * stages - 2 - step;
        before = tasks.back();
        if (step + 1 < 2 * stages && step + 1 != stages)
        {
            before = builder.AddCommunication(phase,
                                              builder.AddGroup({stage % devices, next % devices}),
                                              send,
                                              "send",
                                              Collective::SEND_RECV,
                                              1,
                                              Parallelism::PIPELINE,
                                              {before});
        }
    }
    for (DeviceId device = 0; device < devices; ++device)
    {
        std::vector<ScheduleEntry> schedule;
        for (const StageEntry& entry :
             MakeInterleavedSchedule(devices, device, chunks, microBatches))
        {
            const auto& phases = entry.work == StageWork::FORWARD ? forward : backward;
            schedule.push_back({phases[entry.chunk], entry.microBatch});
        }
        builder.SetSchedule(device, schedule);
    }
    return builder.Build();
}

} // namespace

TEST(DistSim, A9Interleaved)
{
    for (const auto& [p, v, m] :
         std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>{{4, 2, 8}, {8, 2, 32}, {8, 4, 64}})
    {
        const double total = Units(Evaluate(MakeInterleaved(p, v, m)).timeline.endPs);
        const double ideal = 3.0 * m;
        EXPECT_NEAR((total - ideal) / ideal, static_cast<double>(p - 1) / (v * m), 1e-9);
    }
    EXPECT_NEAR(Units(Evaluate(MakeInterleaved(4, 2, 8)).timeline.endPs), 24 * 1.1875, 1e-9);
}

TEST(DistSim, A10ReductionsBehindThePipeline)
{
    for (const auto& [reduction, total] :
         std::vector<std::pair<std::vector<double>, double>>{{{1, 1, 1, 1}, 34},
                                                             {{1, 1, 1, 12}, 39},
                                                             {{0.5, 2, 4, 8}, 35}})
    {
        Pipeline pipeline = Uniform(4, 8);
        pipeline.reduction = reduction;
        EXPECT_DOUBLE_EQ(TotalOf(pipeline), total);
    }
}

TEST(DistSim, A11StageTasksOf2M4P1D)
{
    Pipeline pipeline = Uniform(4, 4);
    pipeline.tensor = 2;
    const ExecutionGraph graph = MakePipeline(pipeline);
    const Timeline timeline = Evaluate(graph).timeline;
    for (const DeviceId rank : {0u, 1u})
    {
        uint32_t stageTasks = 0;
        std::vector<std::pair<double, double>> second; // of stage 1
        for (const Span& span : timeline.spans)
        {
            if (graph.GetTask(span.task).kind == TaskKind::COMPUTE && span.device % 2 == rank)
            {
                ++stageTasks;
                if (span.device / 2 == 1)
                {
                    second.emplace_back(Units(span.startPs), Units(span.endPs));
                }
            }
        }
        EXPECT_EQ(stageTasks, 32u);
        EXPECT_EQ(second,
                  (std::vector<std::pair<double, double>>{{1, 2},
                                                          {2, 3},
                                                          {3, 4},
                                                          {8, 10},
                                                          {10, 11},
                                                          {11, 13},
                                                          {14, 16},
                                                          {17, 19}}));
    }
}

TEST(DistSim, A12Extrapolation)
{
    const std::map<uint64_t, double> factors{{16, 1.071429},
                                             {32, 1.107143},
                                             {64, 1.125},
                                             {128, 1.133929},
                                             {1024, 1.141741},
                                             {1ULL << 40, 1.142857}};
    for (const auto& [ranks, factor] : factors)
    {
        EXPECT_NEAR(GetRingExtrapolation(8, ranks), factor, 5e-7);
    }
    // The volume per rank of an all-reduce of 100 MB, which is 100 MB for two ranks.
    const std::map<uint64_t, double> volumes{{2, 100},
                                             {4, 150},
                                             {8, 175},
                                             {16, 187.5},
                                             {128, 198.4375}};
    for (const auto& [ranks, megabytes] : volumes)
    {
        EXPECT_DOUBLE_EQ(100 * GetRingExtrapolation(2, ranks), megabytes);
    }
    EXPECT_THROW(GetRingExtrapolation(1, 8), std::invalid_argument);

    // Sixteen ranks of two servers: eight of them are timed, four of each server.
    GraphBuilder builder(16);
    std::vector<DeviceId> all;
    for (DeviceId device = 0; device < 16; ++device)
    {
        all.push_back(device);
    }
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(all),
                             builder.AddStream("communication"),
                             "reduction",
                             Collective::ALL_REDUCE,
                             7000000,
                             Parallelism::DATA);
    const ExecutionGraph graph = builder.Build();
    std::vector<DeviceId> timed;
    const IsolatedRun run = [&](const Task& task, const std::vector<DeviceId>& group) {
        timed = group;
        return TakeBytes(task, group);
    };
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    EXPECT_EQ(RunDistSim(graph, cluster, run).timeline.endPs, 7500000);
    EXPECT_EQ(timed, (std::vector<DeviceId>{0, 2, 4, 6, 8, 10, 12, 14}));
    DistSimOptions options;
    options.mostTimedRanks = 0;
    EXPECT_EQ(RunDistSim(graph, cluster, run, options).timeline.endPs, 7000000);
    EXPECT_EQ(timed, all);
}

TEST(DistSim, A13TheShorterOfSendAndReceive)
{
    Pipeline pipeline = Uniform(2, 1, 0.001);
    const DistSimResult result =
        Evaluate(MakePipeline(pipeline), [](const Task&, const std::vector<DeviceId>& group) {
            EXPECT_EQ(group.size(), 2u);
            return std::vector<int64_t>{120 * UNIT, 45 * UNIT};
        });
    EXPECT_EQ(result.timeline.endPs, (6 + 2 * 45) * UNIT);
    EXPECT_THROW(
        Evaluate(MakePipeline(pipeline),
                 [](const Task&, const std::vector<DeviceId>&) { return std::vector<int64_t>{1}; }),
        std::invalid_argument);
}

// A reduction that may overlap the backward pass comes behind it.
TEST(DistSim, ReductionsAtTheEnd)
{
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const StreamId gradient = builder.AddStream("gradient");
    const PhaseId phase = builder.AddPhase("backward");
    const PhaseId last = builder.AddPhase("optimizer");
    std::vector<TaskId> first;
    std::vector<TaskId> second;
    for (DeviceId device = 0; device < 2; ++device)
    {
        first.push_back(builder.AddCompute(phase, device, compute, "B1", UNIT));
        second.push_back(builder.AddCompute(phase, device, compute, "B2", UNIT, {first[device]}));
    }
    const TaskId reduction = builder.AddCommunication(phase,
                                                      builder.AddGroup({0, 1}),
                                                      gradient,
                                                      "reduction",
                                                      Collective::ALL_REDUCE,
                                                      UNIT,
                                                      Parallelism::DATA,
                                                      first);
    for (DeviceId device = 0; device < 2; ++device)
    {
        builder.AddCompute(last, device, compute, "update", UNIT, {reduction, second[device]});
    }
    const ExecutionGraph graph = builder.Build();
    EXPECT_EQ(Evaluate(graph).timeline.endPs, 3 * UNIT);
    const ExecutionGraph appended = AppendReductions(graph);
    EXPECT_EQ(appended.GetNTasks(), graph.GetNTasks());
    EXPECT_EQ(Evaluate(appended).timeline.endPs, 4 * UNIT);
}
