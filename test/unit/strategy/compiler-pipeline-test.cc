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
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-graph-representative.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <gtest/gtest.h>
#include <limits>
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
Load(const std::string& text,
     std::map<std::string, int64_t> variables,
     const std::string& name = "gpt3-125m")
{
    std::istringstream input(text);
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    for (const auto& [variable, value] : file.GetVariables())
    {
        variables[variable] = value;
    }
    Model model = LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + name + ".json",
                            variables);
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

namespace
{

/// Whether kernels wait for transfers between stages.
enum class Waits
{
    NOT,
    ONE_WAY,  //!< one message after the other
    BOTH_WAYS //!< for messages that cross each other
};

/// @param schedule of a pipeline @param waits whether kernels wait for its transfers
/// @param variables of the model @param name of the model @return the job with activations of 1 ms
/// a block and pass, and nothing else to compute
ExecutionGraph
CompileWithTransfers(const std::string& schedule,
                     Waits waits,
                     const std::map<std::string, int64_t>& variables = {},
                     const std::string& name = "gpt3-125m")
{
    constexpr int64_t PS_PER_MS = 1000000000;
    const Compiled job = Load("{" + schedule + "}", variables, name);
    CompileOptions options;
    options.kernelTime = [](const KernelDescription& kernel) {
        return kernel.kind == "gelu" ? PS_PER_MS : 0;
    };
    options.waitsForTransfers = waits != Waits::NOT;
    options.exchangesTransfers = waits == Waits::BOTH_WAYS;
    return CompileModel(job.model, job.tree, options);
}

/// @return of a message between stages, picoseconds, that its receiver does not hold up
int64_t
FindShortestSend(const ExecutionGraph& graph, const FlowRun& result)
{
    int64_t shortest = std::numeric_limits<int64_t>::max();
    for (const Span& span : result.timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV &&
            graph.GetGroup(task.place)[0] == span.device)
        {
            shortest = std::min(shortest, span.endPs - span.startPs);
        }
    }
    return shortest;
}

} // namespace

namespace
{

/// Of a pipeline that has many micro-batches on their way.
struct Period
{
    double periodPs; //!< how much later it ends with one micro-batch more
    double sendPs;   //!< what a message takes
};

/// @param stages of the pipeline @param waits whether its kernels wait for transfers
/// @return from 12 and 14 micro-batches
Period
FindPeriod(uint32_t stages, Waits waits)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    RuntimeOptions options;
    options.sharesGpu = false;
    Period period{0, 0};
    for (const uint32_t batch : {12, 14})
    {
        const ExecutionGraph graph = CompileWithTransfers(
            "\"pp\": " + std::to_string(stages) + ", \"globalBatch\": " + std::to_string(batch),
            waits,
            {{"hidden", 8192}, {"heads", 64}, {"sequence", 8192}});
        const FlowRun result = RunFlow(graph, cluster, options);
        period.periodPs = static_cast<double>(GetEndPs(result)) - period.periodPs;
        period.sendPs = static_cast<double>(FindShortestSend(graph, result));
    }
    period.periodPs /= 2;
    return period;
}

} // namespace

// Two stages of six blocks, 6 ms a pass, and two micro-batches on their way through both passes of
// both stages: one micro-batch more takes both passes of a stage and the way of a message. Where
// kernels wait for transfers, its activations and its gradient go one after the other, which is
// the way of one message more; where they go both ways at once, each waits for the other, but no
// longer.
TEST(AwaitedTransfers, LengthenEveryMicroBatchByAnotherMessage)
{
    constexpr double PASSES_PS = 12e9;
    const Period beside = FindPeriod(2, Waits::NOT);
    const double sendPs = beside.sendPs;
    EXPECT_NEAR(beside.periodPs, PASSES_PS + sendPs, 0.1 * sendPs); // and launches of kernels
    EXPECT_NEAR(FindPeriod(2, Waits::ONE_WAY).periodPs - beside.periodPs, sendPs, 1e-3 * sendPs);
    EXPECT_NEAR(FindPeriod(2, Waits::BOTH_WAYS).periodPs, beside.periodPs, 0.01 * sendPs);
}

// Four stages of three blocks, 3 ms a pass. A stage in the middle exchanges messages with the next
// one behind its forward pass, and with the one before behind its backward pass: two of them a
// micro-batch, where one is enough if they go beside kernels. The ends have one each, and wait.
TEST(AwaitedTransfers, OfStagesInTheMiddleAreTwoExchanges)
{
    constexpr double PASSES_PS = 6e9;
    const Period beside = FindPeriod(4, Waits::NOT);
    const double sendPs = beside.sendPs;
    EXPECT_NEAR(beside.periodPs, PASSES_PS + sendPs, 0.1 * sendPs);
    // A message is with its receiver a little later than it has left.
    EXPECT_NEAR(FindPeriod(4, Waits::BOTH_WAYS).periodPs - beside.periodPs, sendPs, 0.1 * sendPs);
}

// No stage waits for one that waits for it, however many there are. Schedules of several stages of
// a device have their transfers beside kernels.
TEST(AwaitedTransfers, AreOfPipelinesThatPassThemBetweenTwoPasses)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    for (const Waits waits : {Waits::ONE_WAY, Waits::BOTH_WAYS})
    {
        for (const std::string schedule :
             {"\"pp\": 4, \"globalBatch\": 2",
              "\"pp\": 6, \"globalBatch\": 12",
              "\"pp\": 4, \"globalBatch\": 8, \"recompute\": \"full\"",
              "\"pp\": 4, \"tp\": 2, \"globalBatch\": 8, \"scatterGather\": true",
              "\"pp\": 4, \"globalBatch\": 12, \"schedule\": \"gpipe\""})
        {
            const int64_t beside =
                GetEndPs(RunFlow(CompileWithTransfers(schedule, Waits::NOT), cluster));
            const int64_t awaited =
                GetEndPs(RunFlow(CompileWithTransfers(schedule, waits), cluster));
            EXPECT_GT(awaited, beside) << schedule;
        }
        for (const std::string schedule : {"\"pp\": 2, \"globalBatch\": 8, \"virtualStages\": 2",
                                           "\"pp\": 4, \"globalBatch\": 8, \"schedule\": "
                                           "\"zero-bubble\""})
        {
            EXPECT_EQ(CompileWithTransfers(schedule, waits).GetNTasks(),
                      CompileWithTransfers(schedule, Waits::NOT).GetNTasks())
                << schedule;
        }
    }
}

// Stages may pass each other several tensors: BERT's masks, and what T5's decoder reads of the
// encoder, which stages send that are no neighbours.
TEST(AwaitedTransfers, MayBeOfSeveralTensors)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    for (const Waits waits : {Waits::ONE_WAY, Waits::BOTH_WAYS})
    {
        for (const std::string name : {"bert-base", "t5-base", "bart-large"})
        {
            for (const std::string schedule :
                 {"\"pp\": 4, \"tp\": 2, \"globalBatch\": 8",
                  "\"pp\": 4, \"tp\": 2, \"globalBatch\": 8, \"sequenceParallel\": true",
                  "\"pp\": 4, \"globalBatch\": 6, \"schedule\": \"gpipe\""})
            {
                const ExecutionGraph graph = CompileWithTransfers(schedule, waits, {}, name);
                EXPECT_GT(GetEndPs(RunFlow(graph, cluster)), 0) << name << schedule;
            }
        }
    }
}

// What a framework's file says of its host reaches the graph: a gradient waits for the turn of its
// receiver, and so do activations where both ways are used at once.
TEST(AwaitedTransfers, AreOfTheFramework)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const Compiled job = Load("{\"pp\": 2, \"globalBatch\": 4}", {});
    const std::string suffix = ".turn";
    for (const auto& [name, turns] : std::map<std::string, int>{{"bloom", 1},
                                                                {"deepspeed", 1},
                                                                {"fsdp2", 0},
                                                                {"gpt-neox", 1},
                                                                {"megatron-2022", 2},
                                                                {"megatron-core", 2},
                                                                {"nemo", 2},
                                                                {"nanotron", 1}})
    {
        const Framework framework = LoadFramework(std::string(PROTEUS_SOURCE_DIR) +
                                                  "/workloads/frameworks/" + name + ".json");
        const ExecutionGraph graph = Compile(job.model, job.tree, cluster, framework);
        EXPECT_EQ(std::count_if(graph.GetTasks().begin(),
                                graph.GetTasks().end(),
                                [&](const Task& task) {
                                    const std::string& text = graph.GetName(task);
                                    return text.size() > suffix.size() &&
                                           text.substr(text.size() - suffix.size()) == suffix;
                                }),
                  turns)
            << name;
    }
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
