/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Stages of unequal size, transfers between stages in parts, and one device that stands for all.

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-compile.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-graph-representative.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <sstream>

using namespace ns3::proteus;

namespace
{

struct Compiled
{
    Model model;
    StrategyTree tree;
};

Compiled
Load(const std::string& text, std::map<std::string, int64_t> variables)
{
    std::istringstream input(text);
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    for (const auto& [name, value] : file.GetVariables())
    {
        variables[name] = value;
    }
    Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json", variables);
    StrategyTree tree = file.GetTree(model);
    return {std::move(model), std::move(tree)};
}

/// @return blocks that have kernels in a phase on a device
std::set<std::string>
FindBlocks(const ExecutionGraph& graph, const std::string& phase, DeviceId device)
{
    std::set<std::string> blocks;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE && task.place == device &&
            graph.GetPhases()[task.phase].name == phase)
        {
            const std::string& name = graph.GetName(task);
            blocks.insert(name.substr(0, name.find('.')));
        }
    }
    return blocks;
}

std::map<std::string, uint64_t>
CountSends(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> counts;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        if (row.collective == Collective::SEND_RECV || row.collective == Collective::ALL_GATHER)
        {
            counts[ToString(row.collective) + (" " + std::to_string(row.groupSize)) + " " +
                   std::to_string(row.bytes)] += row.count;
        }
    }
    return counts;
}

int64_t
GetEndPs(const FlowRun& result)
{
    int64_t endPs = 0;
    for (const Span& span : result.timeline.spans)
    {
        endPs = std::max(endPs, span.endPs);
    }
    return endPs;
}

} // namespace

// Llama-3 405B: 126 blocks on 16 groups of 4 stages, with embedding and head as two more.
TEST(UnevenStages, EmbeddingAndHeadCountAsBlocks)
{
    ParallelPlan plan;
    plan.pipelineParallel = 16;
    plan.virtualStages = 4;
    EXPECT_THROW(CountStageBlocks(126, plan, "x"), std::invalid_argument);
    plan.isEmbeddingBlock = plan.isHeadBlock = true;
    const std::vector<uint64_t> shares = CountStageBlocks(126, plan, "x");
    ASSERT_EQ(shares.size(), 64u);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}), 126u);
    EXPECT_EQ(shares.front(), 1u);
    EXPECT_EQ(shares.back(), 1u);
    EXPECT_TRUE(std::all_of(shares.begin() + 1, shares.end() - 1, [](uint64_t share) {
        return share == 2;
    }));
}

TEST(UnevenStages, EndsHaveWhatThePlanSays)
{
    ParallelPlan plan;
    plan.pipelineParallel = 4;
    plan.virtualStages = 2;
    plan.firstStageBlocks = 2;
    plan.lastStageBlocks = 4;
    // 14 blocks: groups have 2, 4, 4 and 4, each in two halves.
    EXPECT_EQ(CountStageBlocks(14, plan, "x"), (std::vector<uint64_t>{1, 2, 2, 2, 1, 2, 2, 2}));
    EXPECT_THROW(CountStageBlocks(15, plan, "x"), std::invalid_argument);
    plan.lastStageBlocks = 3; // no multiple of the virtual stages
    EXPECT_THROW(CountStageBlocks(13, plan, "x"), std::invalid_argument);
    plan = ParallelPlan();
    plan.firstStageBlocks = 2; // without a pipeline
    EXPECT_THROW(CountStageBlocks(12, plan, "x"), std::invalid_argument);
}

TEST(UnevenStages, BlocksAreWhereThePlanPutsThem)
{
    const Compiled job = Load("{\"pp\": 4, \"virtualStages\": 2, \"globalBatch\": 4, "
                              "\"embeddingAsBlock\": true, \"headAsBlock\": true}",
                              {{"layers", 6}});
    const ExecutionGraph graph = CompileModel(job.model, job.tree);
    EXPECT_EQ(FindBlocks(graph, "forward", 0), (std::set<std::string>{"embedding"}));
    EXPECT_EQ(FindBlocks(graph, "forward", 1), (std::set<std::string>{"layer0"}));
    EXPECT_EQ(FindBlocks(graph, "forward.1", 0), (std::set<std::string>{"layer3"}));
    EXPECT_EQ(FindBlocks(graph, "forward.1", 3),
              (std::set<std::string>{"final-norm", "loss", "output"}));
    const Compiled ends = Load("{\"pp\": 4, \"globalBatch\": 4, \"firstStageBlocks\": 1, "
                               "\"lastStageBlocks\": 1}",
                               {{"layers", 6}});
    const ExecutionGraph other = CompileModel(ends.model, ends.tree);
    EXPECT_EQ(FindBlocks(other, "forward", 0), (std::set<std::string>{"embedding", "layer0"}));
    EXPECT_EQ(FindBlocks(other, "forward", 2), (std::set<std::string>{"layer3", "layer4"}));
}

// With four devices that have the same activation, each sends a quarter, and the receivers gather.
TEST(ScatterGather, SendsParts)
{
    const std::string plan = "\"tp\": 4, \"pp\": 2, \"globalBatch\": 2";
    const std::map<std::string, int64_t> variables{{"layers", 2}, {"sequence", 1024}};
    const uint64_t bytes = 2 * 1024 * 768;
    const Compiled whole = Load("{" + plan + "}", variables);
    const Compiled parts = Load("{" + plan + ", \"scatterGather\": true}", variables);
    const auto before = CountSends(CompileModel(whole.model, whole.tree));
    const auto after = CountSends(CompileModel(parts.model, parts.tree));
    // Forward and backward of two micro-batches.
    EXPECT_EQ(before.at("send-recv 2 " + std::to_string(bytes)), 4u * 2 * 2);
    EXPECT_EQ(before.count("all-gather 4 " + std::to_string(bytes)), 0u);
    EXPECT_EQ(after.at("send-recv 2 " + std::to_string(bytes / 4)), 4u * 2 * 2);
    EXPECT_EQ(after.at("all-gather 4 " + std::to_string(bytes)), 2u * 2);
    // Under sequence parallelism each has a part already.
    const Compiled sequence =
        Load("{" + plan + ", \"scatterGather\": true, \"sequenceParallel\": true}", variables);
    const auto split = CountSends(CompileModel(sequence.model, sequence.tree));
    EXPECT_EQ(split.at("send-recv 2 " + std::to_string(bytes / 4)), 4u * 2 * 2);
}

// Between two servers the parts take the network a quarter of the time.
TEST(ScatterGather, SavesTimeBetweenServers)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const std::map<std::string, int64_t> variables{{"layers", 8}, {"hidden", 4096}, {"heads", 32}};
    const std::string plan = "{\"tp\": 8, \"pp\": 2, \"globalBatch\": 4, \"microBatch\": 2";
    Framework framework;
    framework.kernels.hostPerKernelPs = 0;
    int64_t times[2];
    for (const bool isScatterGather : {false, true})
    {
        const Compiled job =
            Load(plan + (isScatterGather ? ", \"scatterGather\": true}" : "}"), variables);
        times[isScatterGather] =
            GetEndPs(RunFlow(Compile(job.model, job.tree, cluster, framework), cluster));
    }
    EXPECT_LT(times[1], times[0]);
}

// One device in the place of eight: the same time and the same account of it, in a smaller graph.
TEST(Representative, StandsForAll)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    for (const std::string more : {"", ", \"recompute\": \"full\"", ", \"globalBatch\": 16"})
    {
        const std::map<std::string, int64_t> variables{{"layers", 4}};
        const Compiled all = Load("{\"dp\": 8, \"zero\": 3" + more + "}", variables);
        const Compiled one =
            Load("{\"dp\": 8, \"zero\": 3, \"representative\": true" + more + "}", variables);
        const ExecutionGraph whole = Compile(all.model, all.tree, cluster);
        const ExecutionGraph small = Compile(one.model, one.tree, cluster);
        EXPECT_FALSE(HasRepresentative(whole));
        EXPECT_TRUE(HasRepresentative(small));
        EXPECT_LT(small.GetNTasks() * 4, whole.GetNTasks());
        const FlowRun a = RunFlow(whole, cluster);
        const FlowRun b = RunFlow(small, cluster);
        EXPECT_NEAR(static_cast<double>(GetEndPs(b)) / static_cast<double>(GetEndPs(a)), 1, 1e-4);
        Timeline ofAll = a.timeline;
        Timeline ofOne = b.timeline;
        const MeanBreakdown mean = MeanOf(BreakDown(whole, ofAll));
        const MeanBreakdown other = MeanOf(BreakDown(small, ofOne));
        EXPECT_NEAR(other.computeS / mean.computeS, 1, 1e-4);
        EXPECT_NEAR(other.exposedCommunicationS, mean.exposedCommunicationS, 1e-4 * mean.totalS);
    }
}

TEST(Representative, IsRefusedWhereDevicesDiffer)
{
    for (const char* plan : {"{\"dp\": 8, \"representative\": true}",
                             "{\"dp\": 4, \"tp\": 2, \"zero\": 3, \"representative\": true}"})
    {
        EXPECT_THROW(Load(plan, {}), std::invalid_argument);
    }
    const Compiled large = Load("{\"dp\": 512, \"zero\": 3}", {});
    EXPECT_TRUE(large.tree.hasRepresentative);
}

// An input pipeline of 100 samples a second holds 64 samples up for 0.64 s; a fast one is hidden.
TEST(DataLoading, IsAFloor)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const std::map<std::string, int64_t> variables{{"layers", 2}, {"sequence", 128}};
    int64_t times[3];
    int i = 0;
    for (const char* rate : {"", ", \"dataSamplesPerS\": 1000000", ", \"dataSamplesPerS\": 100"})
    {
        const Compiled job =
            Load("{\"dp\": 4, \"globalBatch\": 64, \"microBatch\": 4" + std::string(rate) + "}",
                 variables);
        times[i++] = GetEndPs(RunFlow(Compile(job.model, job.tree, cluster), cluster));
    }
    EXPECT_EQ(times[0], times[1]);
    EXPECT_EQ(times[2], 640000000000);
}
