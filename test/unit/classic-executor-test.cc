/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle.h"

#include "ns3/proteus-classic-executor.h"
#include "ns3/proteus-compiler.h"

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
            EXPECT_NEAR(spans.at("relu.backward")[0].startPs * PS, 6.014, 1e-9);
            EXPECT_NEAR(spans.at("relu.backward")[0].endPs * PS, 7.314, 1e-9);
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
    options.sharesBandwidth = true;
    for (const ClassicRules rules : {ClassicRules::PUBLISHED, ClassicRules::MENDED})
    {
        options.rules = rules;
        options.overlapFactor = 0;
        const Timeline shared = RunClassic(graph, cluster, options);
        SCOPED_TRACE(ListNames(ByName(graph, shared, 0)));
        EXPECT_NEAR(shared.endPs * PS, 12.895956, 5e-7);
        options.overlapFactor = 0.3;
        EXPECT_NEAR(RunClassic(graph, cluster, options).endPs * PS, 14.695956, 5e-7);
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

// B11 to B13.
TEST(ClassicExecutor, Pipelines)
{
    struct Row
    {
        std::vector<uint32_t> limits;
        uint32_t interleave, microBatches;
        bool recompute;
        double end;
    };

    const Cluster cluster = MakeClassicCluster("dgx1_1ib", 1);
    for (const Row& row : {Row{{2, 1}, 1, 4, false, 15.150863},
                           Row{{1, 1}, 1, 4, false, 24.273725},
                           Row{{4, 4}, 1, 4, false, 15.107431},
                           Row{{4, 4}, 4, 4, false, 15.107431},
                           Row{{4, 3, 2, 1}, 1, 8, false, 33.455619},
                           Row{{1, 1, 1, 1}, 1, 8, false, 97.335025},
                           Row{{2, 1}, 1, 2, true, 12.089431}})
    {
        const Timeline timeline =
            RunClassic(MakePipeline(row.limits, row.interleave, row.microBatches, row.recompute),
                       cluster);
        EXPECT_NEAR(timeline.endPs * PS, row.end, 1e-6);
    }
    ClassicOptions options; // B11 without its gaps: (m + p - 1) (f + b) and what is sent
    options.launchGapMs = 0;
    const Timeline timeline = RunClassic(MakePipeline({4, 3, 2, 1}, 1, 8), cluster, options);
    EXPECT_GT(timeline.endPs * PS, 33);
    EXPECT_LT(timeline.endPs * PS, 33 + 2 * 8 * 0.0237156);
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
