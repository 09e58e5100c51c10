/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../strategy/gpt-oracle.h"

#include "ns3/proteus-classic-executor.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-iteration-times.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// B8, B10 to B13 of proteus.md: totals and starts of the published program.

using namespace ns3::proteus;

namespace
{

constexpr double PS = 1e-9; // ms

OperatorAttributes
Linear(int64_t outputs, bool hasBias)
{
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", {outputs}}, {"bias", {hasBias ? 1 : 0}}};
    return attributes;
}

/// Every kernel of `kind` takes these times, others `rest`, in ms.
CompileOptions
Times(double forward, double backward, double rest)
{
    CompileOptions options;
    options.kernelTime = [=](const KernelDescription& kernel) -> int64_t {
        const double ms = kernel.kind != "linear" ? rest : kernel.part.empty() ? forward : backward;
        return static_cast<int64_t>(ms * 1e9);
    };
    return options;
}

/// What ran, by name, of a device.
std::map<std::string, std::vector<Span>>
ByName(const ExecutionGraph& graph, const Timeline& timeline, DeviceId device)
{
    std::map<std::string, std::vector<Span>> spans;
    for (const Span& span : timeline.spans)
    {
        if (span.device == device)
        {
            spans[graph.GetName(graph.GetTask(span.task))].push_back(span);
        }
    }
    return spans;
}

std::string
ListNames(const std::map<std::string, std::vector<Span>>& spans)
{
    std::string text;
    for (const auto& [name, list] : spans)
    {
        for (const Span& span : list)
        {
            text += name + " " + std::to_string(span.startPs * PS) + " to " +
                    std::to_string(span.endPs * PS) + "\n";
        }
    }
    return text;
}

/// B8: fc1(1024 -> 4096), ReLU, fc2(4096 -> 1024), cross entropy, SGD, two replicas.
ExecutionGraph
MakeMlp()
{
    ModelBuilder builder("mlp");
    const TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    const TensorId labels = builder.AddInput("labels", {64}, {"batch"}, ElementKind::INDEX);
    const TensorId a = builder.Add("linear", "fc1", {x}, Linear(4096, true))[0];
    const TensorId b = builder.Add("relu", "relu", {a})[0];
    const TensorId c = builder.Add("linear", "fc2", {b}, Linear(1024, true))[0];
    builder.Add("cross-entropy", "loss", {c, labels});
    StrategyTree tree;
    tree.axisNames = {"dp"};
    tree.axisSizes = {2};
    tree.root.op.splits = {{"batch", 0, {"dp"}}};
    tree.isSplitBackward = false;
    tree.optimizer.kind = OptimizerKind::SGD;
    tree.optimizer.isFused = false;
    return CompileModel(builder.Build(), tree, Times(1, 1, 1));
}

} // namespace

// B8.
TEST(ClassicExecutor, OverlapFactorOfWholeTasks)
{
    const ExecutionGraph graph = MakeMlp();
    const Cluster cluster = MakeClassicCluster("dgx1_1ib", 1);
    ClassicOptions options;
    for (const auto& [gamma, expected] :
         std::vector<std::pair<double, double>>{{0.3, 13.102545}, {0, 12.8025}, {0.1, 12.9025}})
    {
        options.overlapFactor = gamma;
        const Timeline timeline = RunClassic(graph, cluster, options);
        const double digit = gamma == 0.3 ? 5e-7 : 5e-5;
        EXPECT_NEAR(timeline.endPs * PS, expected, digit);
        if (gamma == 0.3)
        {
            const auto spans = ByName(graph, timeline, 1);
            SCOPED_TRACE(ListNames(spans));
            const std::vector<std::pair<const char*, double>> starts{{"fc1", 0.002},
                                                                     {"relu", 1.004},
                                                                     {"fc2", 2.006},
                                                                     {"fc2.backward", 5.012}};
            for (const auto& [name, start] : starts)
            {
                EXPECT_NEAR(spans.at(name)[0].startPs * PS, start, 1e-9) << name;
                EXPECT_NEAR(spans.at(name)[0].endPs * PS, start + 1, 1e-9) << name;
            }
            EXPECT_NEAR(spans.at("relu.backward")[0].startPs * PS, 6.014, 1e-9);
            EXPECT_NEAR(spans.at("relu.backward")[0].endPs * PS, 7.314, 1e-9);
            EXPECT_NEAR(spans.at("fc1.backward")[0].startPs * PS, 7.316, 1e-9);
            EXPECT_NEAR(spans.at("fc1.backward")[0].endPs * PS, 8.316, 1e-9);
            std::vector<Span> reductions;
            for (const Span& span : timeline.spans)
            {
                if (span.device == 0 && graph.GetTask(span.task).kind == TaskKind::COMMUNICATION)
                {
                    reductions.push_back(span);
                }
            }
            ASSERT_EQ(reductions.size(), 2u);
            EXPECT_NEAR(reductions[0].startPs * PS, 6.012, 1e-9);
            EXPECT_NEAR(reductions[0].endPs * PS, 7.02338, 5e-6);
            EXPECT_NEAR(reductions[1].startPs * PS, 8.316, 1e-9);
            EXPECT_NEAR(reductions[1].endPs * PS, 9.094545, 5e-7);
        }
    }
    options.overlapFactor = -1; // 0.1 of a cluster without "titan" in its name
    EXPECT_NEAR(RunClassic(graph, cluster, options).endPs * PS, 12.9025, 5e-5);
    // B15: the peak that the rules of memory give, with the times of this run.
    EXPECT_NEAR(RunClassic(graph, cluster, options).peakMemoryBytes[0] / 1048576.0,
                80.179932,
                1e-6);
}

namespace
{

/// @return durations of what a device communicates in the backward pass, ms, ascending
std::vector<double>
ListReductions(const ExecutionGraph& graph, const Timeline& timeline, Parallelism parallelism)
{
    std::vector<double> durations;
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (span.device == 0 && task.kind == TaskKind::COMMUNICATION &&
            task.parallelism == parallelism)
        {
            durations.push_back((span.endPs - span.startPs) * PS);
        }
    }
    std::sort(durations.begin(), durations.end());
    return durations;
}

/// Durations that are published with five decimals.
void
ExpectDurations(const std::vector<double>& durations, const std::vector<double>& expected)
{
    ASSERT_EQ(durations.size(), expected.size());
    for (std::size_t i = 0; i < durations.size(); ++i)
    {
        EXPECT_NEAR(durations[i], expected[i], 5e-6) << i;
    }
}

/// B10: four layers, columns and rows split in turn, two replicas.
ExecutionGraph
MakeColumnsAndRows()
{
    ModelBuilder builder("mlp");
    TensorId x = builder.AddInput("x", {512, 1024}, {"batch", "feature"});
    const TensorId labels = builder.AddInput("labels", {512}, {"batch"}, ElementKind::INDEX);
    StrategyTree tree;
    tree.axisNames = {"dp", "mp"};
    tree.axisSizes = {2, 2};
    tree.root.op.splits = {{"batch", 0, {"dp"}}};
    for (int i = 0; i < 4; ++i)
    {
        const std::string name = "fc" + std::to_string(i);
        x = builder.Add("linear", name, {x}, Linear(1024, false))[0];
        StrategyNode node;
        node.name = name;
        node.op.splits = {{i % 2 == 0 ? "out" : "in", 0, {"mp"}}};
        tree.root.children.push_back(node);
    }
    builder.Add("cross-entropy", "loss", {x, labels});
    tree.isSplitBackward = false;
    tree.gradients.bucketMegabytes = 1;
    tree.gradients.firstBucketMegabytes = 1;
    tree.optimizer.kind = OptimizerKind::SGD;
    tree.optimizer.isFused = false;
    return CompileModel(builder.Build(), tree, Times(1, 2, 0));
}

} // namespace

// B10.
TEST(ClassicExecutor, FeaturesMeetGradients)
{
    const ExecutionGraph graph = MakeColumnsAndRows();
    const Cluster cluster = MakeClassicCluster("titanxp", 1, 4);
    ClassicOptions options;
    options.overlapFactor = 0;
    options.sharesBandwidth = false;
    const Timeline alone = RunClassic(graph, cluster, options);
    SCOPED_TRACE(ListNames(ByName(graph, alone, 0)));
    EXPECT_NEAR(alone.endPs * PS, 12.579059, 5e-7);
    ExpectDurations(ListReductions(graph, alone, Parallelism::TENSOR), {0.10718, 0.10718, 0.10718});
    ExpectDurations(ListReductions(graph, alone, Parallelism::DATA),
                    {0.22952, 0.22952, 0.22952, 0.22952});
    options.sharesBandwidth = true;
    for (const ClassicRules rules : {ClassicRules::PUBLISHED, ClassicRules::MENDED})
    {
        options.rules = rules;
        options.overlapFactor = 0;
        const Timeline shared = RunClassic(graph, cluster, options);
        SCOPED_TRACE(ListNames(ByName(graph, shared, 0)));
        EXPECT_NEAR(shared.endPs * PS, 12.895956, 5e-7);
        ExpectDurations(ListReductions(graph, shared, Parallelism::TENSOR),
                        {0.10718, 0.10718, 0.21436});
        ExpectDurations(ListReductions(graph, shared, Parallelism::DATA),
                        {0.43923, 0.43923, 0.43923, 0.43923});
        options.overlapFactor = 0.3;
        const Timeline slowed = RunClassic(graph, cluster, options);
        EXPECT_NEAR(slowed.endPs * PS, 14.695956, 5e-7);
        ExpectDurations(ListReductions(graph, slowed, Parallelism::DATA),
                        {0.43923, 0.57100, 0.57100, 0.57100});
        const Span kernel = ByName(graph, slowed, 0).at("fc0.backward")[0];
        EXPECT_NEAR((kernel.endPs - kernel.startPs) * PS, 2.6, 1e-9);
    }
}

namespace
{

/// The chain of B11 to B13: per stage a linear layer of 1024 and a ReLU, a loss at the end.
ExecutionGraph
MakePipeline(const std::vector<uint32_t>& limits,
             uint32_t interleave,
             uint32_t microBatches,
             bool recompute = false)
{
    ModelBuilder builder("chain");
    TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    const TensorId labels = builder.AddInput("labels", {64}, {"batch"}, ElementKind::INDEX);
    StrategyTree tree;
    tree.isSplitBackward = false;
    tree.schedule.kind = ScheduleKind::LIMITS;
    tree.schedule.maxInFlight = limits;
    tree.schedule.interleave = interleave;
    tree.schedule.microBatches = microBatches;
    tree.optimizer.kind = OptimizerKind::SGD;
    tree.optimizer.isFused = false;
    for (uint32_t stage = 0; stage < limits.size(); ++stage)
    {
        StrategyNode node;
        node.name = "block" + std::to_string(stage);
        MeshSpec mesh;
        mesh.devices = {stage};
        mesh.sizes = {1};
        node.op.mesh = mesh;
        node.stage = stage;
        node.recompute = recompute;
        tree.root.children.push_back(node);
        x = builder.Add("linear", node.name + ".fc", {x}, Linear(1024, true))[0];
        x = builder.Add("relu", node.name + ".relu", {x})[0];
    }
    StrategyNode loss = tree.root.children.back();
    loss.name = "loss";
    loss.recompute = false;
    tree.root.children.push_back(loss);
    builder.Add("cross-entropy", "loss", {x, labels});
    return CompileModel(builder.Build(), tree, Times(1, 2, 0));
}

} // namespace

namespace
{

/// @return the passes of a stage's linear layer in order, e.g. "F1 B1 F2 B2"
std::string
GetOrder(const ExecutionGraph& graph, const Timeline& timeline, uint32_t stage)
{
    const auto spans = ByName(graph, timeline, stage);
    const std::string layer = "block" + std::to_string(stage) + ".fc";
    std::map<int64_t, std::string> passes;
    for (const auto& [name, letter] :
         {std::make_pair(layer, "F"), std::make_pair(layer + ".backward", "B")})
    {
        for (const Span& span : spans.at(name))
        {
            passes[span.startPs] = letter + std::to_string(span.microBatch + 1);
        }
    }
    std::string text;
    for (const auto& [start, pass] : passes)
    {
        text += (text.empty() ? "" : " ") + pass;
    }
    return text;
}

} // namespace

// B11 to B13.
TEST(ClassicExecutor, Pipelines)
{
    struct Row
    {
        std::vector<uint32_t> limits;
        uint32_t interleave, microBatches;
        bool recompute;
        double end;
        const char* order; //!< of stage 0; empty: not published
    };

    const Cluster cluster = MakeClassicCluster("dgx1_1ib", 1);
    for (const Row& row : {Row{{2, 1}, 1, 4, false, 15.150863, "F1 F2 B1 F3 B2 F4 B3 B4"},
                           Row{{1, 1}, 1, 4, false, 24.273725, "F1 B1 F2 B2 F3 B3 F4 B4"},
                           Row{{4, 4}, 1, 4, false, 15.107431, "F1 F2 F3 B1 F4 B2 B3 B4"},
                           Row{{4, 4}, 4, 4, false, 15.107431, "F1 F2 F3 F4 B1 B2 B3 B4"},
                           Row{{4, 3, 2, 1}, 1, 8, false, 33.455619, ""},
                           Row{{1, 1, 1, 1}, 1, 8, false, 97.335025, ""},
                           Row{{2, 1}, 1, 2, true, 12.089431, ""}})
    {
        const ExecutionGraph graph =
            MakePipeline(row.limits, row.interleave, row.microBatches, row.recompute);
        const Timeline timeline = RunClassic(graph, cluster);
        EXPECT_NEAR(timeline.endPs * PS, row.end, 1e-6);
        if (row.order[0] != '\0')
        {
            EXPECT_EQ(GetOrder(graph, timeline, 0), row.order);
        }
    }
    ClassicOptions options; // B11 without its gaps: (m + p - 1) (f + b) and what is sent
    options.launchGapMs = 0;
    const Timeline timeline = RunClassic(MakePipeline({4, 3, 2, 1}, 1, 8), cluster, options);
    EXPECT_GT(timeline.endPs * PS, 33);
    EXPECT_LT(timeline.endPs * PS, 33 + 2 * 8 * 0.0237156);
}

// What B11 to B13 say of single kernels, and of memory.
TEST(ClassicExecutor, KernelsOfPipelines)
{
    const Cluster cluster = MakeClassicCluster("dgx1_1ib", 1);
    const ExecutionGraph graph = MakePipeline({2, 1}, 1, 4);
    const Timeline timeline = RunClassic(graph, cluster);
    EXPECT_EQ(GetOrder(graph, timeline, 1), "F1 B1 F2 B2 F3 B3 F4 B4");
    EXPECT_NEAR(ByName(graph, timeline, 0).at("block0.fc.backward")[0].startPs * PS, 4.0674, 5e-5);
    EXPECT_NEAR(timeline.peakMemoryBytes[1] / 1048576.0, 9.0083, 5e-5);

    const ExecutionGraph again = MakePipeline({2, 1}, 1, 2, true);
    const auto spans = ByName(again, RunClassic(again, cluster), 1);
    SCOPED_TRACE(ListNames(spans));
    const std::vector<std::pair<const char*, std::pair<double, double>>> times{
        {"block1.fc", {1.0297, 2.0297}},
        {"block1.fc.recompute", {2.0397, 3.0397}},
        {"block1.fc.backward", {3.0417, 5.0417}}};
    for (const auto& [name, span] : times)
    {
        EXPECT_NEAR(spans.at(name)[0].startPs * PS, span.first, 5e-5) << name;
        EXPECT_NEAR(spans.at(name)[0].endPs * PS, span.second, 5e-5) << name;
    }
}

// B9 by the executor: groups that nothing connects are of one stage, and start in one step.
TEST(ClassicExecutor, UnconnectedGroupsShare)
{
    struct Case
    {
        const char* cluster;
        uint32_t servers, groups, stride, ranks; //!< group g: g, g + stride, ...
        double together;                         //!< ms
    };

    for (const Case& test : {Case{"dgx1_1ib", 2, 8, 8, 2, 88.94133},
                             Case{"dgx1_1ib", 2, 2, 8, 2, 22.27466},
                             Case{"dgx1_1ib", 2, 4, 4, 4, 66.76243},
                             Case{"dgx1_1ib", 2, 2, 2, 8, 43.9324},
                             Case{"titanxp", 1, 4, 4, 2, 33.35313},
                             Case{"titanxp", 1, 2, 4, 2, 16.68647}})
    {
        SCOPED_TRACE(std::string(test.cluster) + ", " + std::to_string(test.groups) + " of " +
                     std::to_string(test.ranks));
        GraphBuilder builder(test.servers * 8);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration");
        for (uint32_t g = 0; g < test.groups; ++g)
        {
            std::vector<DeviceId> devices;
            for (uint32_t i = 0; i < test.ranks; ++i)
            {
                devices.push_back(g + i * test.stride);
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup(devices),
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     100000000,
                                     Parallelism::DATA);
        }
        const ExecutionGraph graph = builder.Build();
        const Cluster cluster = MakeClassicCluster(test.cluster, test.servers);
        const Timeline timeline = RunClassic(graph, cluster);
        ASSERT_EQ(timeline.spans.size(), test.groups * test.ranks);
        for (const Span& span : timeline.spans)
        {
            EXPECT_EQ(span.startPs, 0);
            EXPECT_NEAR(span.endPs * PS, test.together, 5e-6);
        }
        ClassicOptions alone;
        alone.sharesBandwidth = false;
        EXPECT_LE(RunClassic(graph, cluster, alone).endPs, timeline.endPs);
    }
}

TEST(ClassicExecutor, IterationsTakeTurns)
{
    GptPlan plan;
    plan.pipelineParallel = 2;
    plan.dataParallel = 2;
    plan.globalBatch = 8;
    const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    const int64_t onePs = RunClassic(graph, cluster).endPs;
    const RepeatedGraph repeated = RepeatGraph(graph, {}, 3, CrossIteration::BARRIER);
    const Timeline timeline = RunClassic(repeated.graph, cluster);
    // Barriers come between, so that each takes as long as the first.
    const auto endsPs = FindIterationEnds(repeated.graph, repeated.iterationOf, timeline);
    ASSERT_EQ(endsPs.size(), 3u);
    EXPECT_NEAR(static_cast<double>(endsPs[0]), static_cast<double>(onePs), 1e-3 * onePs);
    EXPECT_NEAR(static_cast<double>(endsPs[2] - endsPs[1]),
                static_cast<double>(onePs),
                1e-3 * onePs);
}

TEST(ClassicExecutor, IsDeterministicAndComplete)
{
    GptPlan plan;
    plan.tensorParallel = 2;
    plan.pipelineParallel = 2;
    plan.dataParallel = 2;
    plan.globalBatch = 8;
    plan.overlapGradientReduction = true;
    const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    const Timeline first = RunClassic(graph, cluster);
    const Timeline second = RunClassic(graph, cluster);
    EXPECT_EQ(first.spans, second.spans);
    std::size_t spans = 0;
    for (const Task& task : graph.GetTasks())
    {
        spans += task.kind == TaskKind::MEMORY
                     ? 0
                     : graph.GetNInstances(task) *
                           (task.kind == TaskKind::COMPUTE ? 1 : graph.GetGroup(task.place).size());
    }
    EXPECT_EQ(first.spans.size(), spans);
    // Dependencies hold on every device.
    std::map<std::pair<TaskId, uint32_t>, Span> of;
    for (const Span& span : first.spans)
    {
        of[{span.task, span.microBatch}] = span;
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        for (const TaskId before : graph.GetDependencies(id))
        {
            const auto a = of.find({before, 0});
            const auto b = of.find({id, 0});
            if (a != of.end() && b != of.end())
            {
                EXPECT_LE(a->second.endPs, b->second.startPs)
                    << graph.GetName(graph.GetTask(before)) << ", "
                    << graph.GetName(graph.GetTask(id));
            }
        }
    }
    EXPECT_THROW(RunClassic(graph, MakeClassicCluster("titanxp", 1, 4)), std::invalid_argument);
}
