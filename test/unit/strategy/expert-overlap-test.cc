/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-distsim.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-stage-schedule.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Exchanges of experts' tokens that run beside the kernels of another micro-batch.

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

namespace
{

constexpr int64_t SECOND = 1000000000000;

/// How long things take, seconds.
struct Times
{
    int64_t exchange{0};  //!< of tokens
    int64_t attention{0}; //!< each way
    int64_t experts{0};   //!< each way, without gradients of weights
    int64_t weights{0};   //!< gradients of the experts' last layer
};

/// @return seconds of an iteration of one layer on two devices, on which all else takes no time
int64_t
RunLayer(const std::string& plan, const Times& times)
{
    const StrategyFile file = ReadStrategy(R"({"dp": 2, "ep": 2, )" + plan + "}");
    const Model model = LoadFor("mixtral-8x7b", file, {{"layers", 1}});
    CompileOptions options;
    options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
        const bool isWeight = kernel.part == "weight-gradient";
        const int64_t seconds = kernel.name == "layer0.attention"              ? times.attention
                                : kernel.name == "layer0.gate-up" && !isWeight ? times.experts
                                : kernel.name == "layer0.down" && isWeight     ? times.weights
                                                                               : 0;
        return seconds * SECOND;
    };
    const ExecutionGraph graph = CompileModel(model, file.GetTree(model), options);
    const auto time = [&](const Task& task, const std::vector<DeviceId>& group) {
        const bool isExchange = task.parallelism == Parallelism::EXPERT;
        return std::vector<int64_t>(group.size(), isExchange ? times.exchange * SECOND : 0);
    };
    return RunDistSim(graph, MakeCluster("dgx-h100", 1), time).timeline.endPs / SECOND;
}

/// @param plan fields of a plan @param model of workloads/ @param variables of it
/// @return what is wrong with it, or ""
std::string
FindMistake(const std::string& plan,
            const std::string& model = "mixtral-8x7b",
            const std::map<std::string, int64_t>& variables = {{"layers", 4}})
{
    try
    {
        Compile(model, "{" + plan + "}", variables);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// @return the schedule of a device, "forward/0.dispatch#2 ...", micro-batches from 1
std::string
ToText(const ExecutionGraph& graph, DeviceId device)
{
    std::string text;
    for (const ScheduleEntry& entry : graph.GetSchedule(device))
    {
        text += (text.empty() ? "" : " ") + graph.GetPhases()[entry.phase].name + "#" +
                std::to_string(entry.microBatch + 1);
    }
    return text;
}

/// @return FLOPs of all kernels, how often they run counted
double
SumFlops(const ExecutionGraph& graph)
{
    double flops = 0;
    for (const Task& task : graph.GetTasks())
    {
        flops += task.kind == TaskKind::COMPUTE ? task.flops * graph.GetNInstances(task) : 0;
    }
    return flops;
}

/// @return bytes of each kind of communication, how often it runs counted
std::map<std::pair<Collective, uint32_t>, uint64_t>
SumBytes(const ExecutionGraph& graph)
{
    std::map<std::pair<Collective, uint32_t>, uint64_t> bytes;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        bytes[{row.collective, row.groupSize}] += row.bytes * row.count;
    }
    return bytes;
}

const std::string OVERLAP = R"("overlapExpertCommunication": true)";
const std::string DELAY = R"("delayWeightGradients": true)";

} // namespace

// Forward: attention, exchange, experts, exchange; backward the same. With equal times all four
// exchanges of a step are behind the four kernels of the other pass, but for those of the first
// forward and the last backward pass. Where exchanges take twice as long, they are what is seen.
TEST(ExpertOverlap, HidesExchangesBehindAnotherMicroBatch)
{
    for (const int64_t n : {1, 2, 5})
    {
        const std::string batch = R"("globalBatch": )" + std::to_string(2 * n);
        EXPECT_EQ(RunLayer(batch, {1, 1, 1, 0}), 8 * n);
        EXPECT_EQ(RunLayer(batch + ", " + OVERLAP, {1, 1, 1, 0}), 8 + 4 * (n - 1));
        EXPECT_EQ(RunLayer(batch, {2, 1, 1, 0}), 12 * n);
        EXPECT_EQ(RunLayer(batch + ", " + OVERLAP, {2, 1, 1, 0}), 12 + 8 * (n - 1));
        EXPECT_EQ(RunLayer(batch + ", " + OVERLAP, {0, 3, 2, 0}), 10 * n);
    }
}

// Of a step: gradients go to the experts (2 s, beside 1 s of attention), who compute (1 s) and send
// on (2 s); then the tokens come back (2 s). Gradients of weights (2 s) stand before what is sent
// on, or beside it.
TEST(ExpertOverlap, DelayedWeightGradientsLetGradientsGoOn)
{
    const std::string plan = R"("globalBatch": 6, )" + OVERLAP;
    EXPECT_EQ(RunLayer(plan, {2, 1, 1, 2}), 6 + 2 * 9 + 8);
    EXPECT_EQ(RunLayer(plan + ", " + DELAY, {2, 1, 1, 2}), 6 + 2 * 8 + 6);
}

// The order of Megatron-Core's TransformerLayerSchedulePlan.run(), and of the steps of a schedule
// without a pipeline.
TEST(ExpertOverlap, PiecesTakeTurnsAsInMegatronCore)
{
    const ExecutionGraph graph =
        Compile("mixtral-8x7b",
                R"({"dp": 2, "ep": 2, "globalBatch": 4, )" + OVERLAP + ", " + DELAY + "}",
                {{"layers", 2}});
    EXPECT_EQ(ToText(graph, 0),
              "forward#1 forward/0.dispatch#1 forward/0.experts#1 forward/0.combine#1 "
              "forward/1.attention#1 forward/1.dispatch#1 forward/1.experts#1 "
              "forward/1.combine#1 forward/2.attention#1 "
              // both
              "backward#1 backward/0.combine#1 forward#2 backward/0.experts#1 "
              "forward/0.dispatch#2 backward/0.experts-weights#1 backward/0.dispatch#1 "
              "forward/0.experts#2 forward/0.combine#2 backward/1.attention#1 "
              "backward/1.attention-weights#1 "
              "backward/1.combine#1 forward/1.attention#2 backward/1.experts#1 "
              "forward/1.dispatch#2 backward/1.experts-weights#1 backward/1.dispatch#1 "
              "forward/1.experts#2 forward/1.combine#2 backward/2.attention#1 "
              "forward/2.attention#2 backward/2.attention-weights#1 "
              // the last one
              "gradients#1 "
              "backward#2 backward/0.combine#2 backward/0.experts#2 "
              "backward/0.experts-weights#2 backward/0.dispatch#2 backward/1.attention#2 "
              "backward/1.attention-weights#2 backward/1.combine#2 backward/1.experts#2 "
              "backward/1.experts-weights#2 backward/1.dispatch#2 backward/2.attention#2 "
              "backward/2.attention-weights#2 optimizer#1");
    // What moves tokens is in a stream of its own, and in the phases of that name.
    for (const Task& task : graph.GetTasks())
    {
        const std::string& phase = graph.GetPhases()[task.phase].name;
        const bool isExchange = phase.find(".dispatch") != std::string::npos ||
                                phase.find(".combine") != std::string::npos;
        if (task.kind != TaskKind::MEMORY)
        {
            EXPECT_EQ(task.kind == TaskKind::COMMUNICATION &&
                          task.parallelism == Parallelism::EXPERT,
                      isExchange)
                << graph.GetName(task);
        }
        if (isExchange && task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(graph.GetStreams()[task.stream], "experts");
        }
        if (task.kind == TaskKind::COMPUTE && phase.find("-weights") != std::string::npos)
        {
            EXPECT_NE(graph.GetName(task).find("weight-gradient"), std::string::npos);
        }
    }
}

// One forward pass more than interleaved 1F1B has, as get_pp_rank_microbatches() counts.
TEST(ExpertOverlap, WarmsUpOnePassLonger)
{
    for (const uint32_t rank : {0, 1, 3})
    {
        const uint32_t usual = (4 - rank - 1) * 2 + 4;
        EXPECT_EQ(CountInterleavedWarmUp(4, rank, 2, 16), usual);
        EXPECT_EQ(CountInterleavedWarmUp(4, rank, 2, 16, 1), usual + 1);
        const std::vector<StageEntry> entries = MakeInterleavedSchedule(4, rank, 2, 16, 1);
        for (uint32_t i = 0; i < entries.size(); ++i)
        {
            const bool isForward = i < usual + 1 || (i < 32 + 31 - usual && (i - usual) % 2 == 1);
            EXPECT_EQ(entries[i].work == StageWork::FORWARD, isForward) << rank << " " << i;
        }
        // The two passes of a step have nothing to do with each other.
        for (uint32_t i = usual + 1; i < 32 + 31 - usual; i += 2)
        {
            EXPECT_NE(std::make_pair(entries[i].chunk, entries[i].microBatch),
                      std::make_pair(entries[i + 1].chunk, entries[i + 1].microBatch));
        }
    }
    EXPECT_EQ(CountInterleavedWarmUp(1, 0, 1, 8, 1), 1u);
}

// The same work, whatever its order; and no kernel and no exchange begins before what it depends on
// has ended: DistSim's replay checks the streams, this test the data.
TEST(ExpertOverlap, NothingIsDoneBeforeItsData)
{
    const struct
    {
        const char* model;
        const char* plan;
        std::map<std::string, int64_t> variables;
    } cases[] = {
        {"mixtral-8x7b", R"("dp": 4, "ep": 4, "globalBatch": 12)", {{"layers", 3}}},
        {"mixtral-8x7b",
         R"("dp": 2, "ep": 2, "pp": 2, "virtualStages": 2, "globalBatch": 12, "zero": 1)",
         {{"layers", 8}}},
        {"mixtral-8x7b",
         R"("dp": 2, "tp": 2, "ep": 4, "etp": 1, "sequenceParallel": true, "pp": 2,
            "virtualStages": 2, "globalBatch": 16, "zero": 1, "zero1Gathers": "forward")",
         {{"layers", 8}}},
        {"mixtral-8x7b",
         R"("dp": 2, "tp": 2, "ep": 2, "sequenceParallel": true, "globalBatch": 8,
            "recompute": "selective", "expertDispatch": "deepep", "expertDomain": 4)",
         {{"layers", 2}}},
        // Layers without experts first, an expert for all, and prediction behind.
        {"deepseek-v2-lite",
         R"("dp": 2, "ep": 2, "pp": 2, "virtualStages": 2, "globalBatch": 8)",
         {{"layers", 8}}},
        {"deepseek-v3",
         R"("dp": 8, "ep": 8, "globalBatch": 24, "expertDispatch": "hybridep",
            "expertDomain": 4)",
         {{"layers", 4}, {"denseLayers", 2}, {"predictionLayers", 1}}},
    };

    for (const auto& test : cases)
    {
        for (const std::string& more : {std::string(), ", " + DELAY})
        {
            SCOPED_TRACE(test.plan + more);
            const ExecutionGraph whole =
                Compile(test.model, "{" + std::string(test.plan) + "}", test.variables);
            const ExecutionGraph graph =
                Compile(test.model,
                        "{" + std::string(test.plan) + ", " + OVERLAP + more + "}",
                        test.variables);
            EXPECT_EQ(SumFlops(graph), SumFlops(whole));
            EXPECT_EQ(SumBytes(graph), SumBytes(whole));
            const auto time = [](const Task& task, const std::vector<DeviceId>& group) {
                return std::vector<int64_t>(group.size(), 1 + task.bytes % 1000);
            };
            const Timeline timeline = RunDistSim(graph, MakeCluster("dgx-h100", 1), time).timeline;
            std::map<std::tuple<DeviceId, TaskId, uint32_t>, Span> spans;
            for (const Span& span : timeline.spans)
            {
                spans[{span.device, span.task, span.microBatch}] = span;
            }
            for (const auto& [key, span] : spans)
            {
                const auto& [device, id, microBatch] = key;
                const Task& task = graph.GetTask(id);
                if (task.collective == Collective::SEND_RECV &&
                    task.kind == TaskKind::COMMUNICATION && graph.GetGroup(task.place)[1] == device)
                {
                    continue; // a receive is posted before there is something
                }
                for (const TaskId tensor : graph.GetDependencies(id))
                {
                    std::vector<TaskId> producers{tensor};
                    if (graph.GetTask(tensor).kind == TaskKind::MEMORY)
                    {
                        const IdRange range = graph.GetDependencies(tensor);
                        producers.assign(range.begin(), range.end());
                    }
                    for (const TaskId before : producers)
                    {
                        const auto found = spans.find({device, before, microBatch});
                        if (found != spans.end() &&
                            graph.GetNInstances(graph.GetTask(before)) == graph.GetNInstances(task))
                        {
                            EXPECT_LE(found->second.endPs, span.startPs)
                                << graph.GetName(graph.GetTask(before)) << " before "
                                << graph.GetName(graph.GetTask(id));
                        }
                    }
                }
            }
        }
    }
}

// A second micro-batch comes in while the first one goes back.
TEST(ExpertOverlap, KeepsActivationsOfTwoMicroBatches)
{
    const std::string plan = R"({"dp": 2, "ep": 2, "globalBatch": 8)";
    // Few words: logits are there with the activations of one micro-batch only.
    const std::map<std::string, int64_t> variables{{"layers", 8}, {"vocabulary", 128}};
    const auto usual = AccountMemory(Compile("mixtral-8x7b", plan + "}", variables));
    const auto overlapped =
        AccountMemory(Compile("mixtral-8x7b", plan + ", " + OVERLAP + "}", variables));
    const auto activations = static_cast<std::size_t>(MemoryUse::ACTIVATIONS);
    const double ratio = static_cast<double>(overlapped[0].bytesAtPeak[activations]) /
                         static_cast<double>(usual[0].bytesAtPeak[activations]);
    // As layers go back, others come: there is one of eight more than those of one micro-batch.
    EXPECT_GT(ratio, 1.02);
    EXPECT_LT(ratio, 1.125);
}

// By flows: exchanges over the network of 16 H100 are hidden for the most part.
TEST(ExpertOverlap, IsFasterByFlows)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    std::map<std::string, int64_t> ends;
    for (const std::string& more : {std::string(), ", " + OVERLAP + ", " + DELAY})
    {
        const StrategyFile file =
            ReadStrategy(R"({"dp": 16, "ep": 16, "globalBatch": 64)" + more + "}");
        const Model model = LoadFor("qwen3-30b-a3b", file, {{"layers", 4}});
        const ExecutionGraph graph = Compile(model, file.GetTree(model), cluster, Framework());
        ends[more] = RunFlow(graph, cluster).timeline.endPs;
    }
    EXPECT_LT(ends.rbegin()->second, 0.85 * ends.begin()->second);
}

TEST(ExpertOverlap, IsRefusedAsInMegatronCore)
{
    const std::string who = "strategy \"plan\", overlapExpertCommunication: ";
    const std::string ep = R"("dp": 2, "ep": 2, "globalBatch": 8, )";
    EXPECT_EQ(FindMistake(R"("dp": 2, "globalBatch": 8, )" + OVERLAP),
              who + "no devices share experts, so that there is no communication of experts to "
                    "hide (ep)");
    EXPECT_EQ(FindMistake(ep + R"("pp": 2, )" + OVERLAP),
              who + "a pipeline needs the interleaved schedule (virtualStages), as in "
                    "Megatron-Core; here it is 1f1b");
    EXPECT_EQ(FindMistake(ep + R"("schedule": "gpipe", )" + OVERLAP),
              who + "a pipeline needs the interleaved schedule (virtualStages), as in "
                    "Megatron-Core; here it is gpipe");
    EXPECT_EQ(FindMistake(ep + R"("recompute": "full", )" + OVERLAP),
              who + "layer0 is computed again from attention to experts, which Megatron-Core "
                    "refuses; recompute what is in one of both");
    EXPECT_EQ(FindMistake(ep + R"("dataType": "fp32", )" + OVERLAP),
              who + "is for formats of 16 or 8 bits (dataType), as in Megatron-Core");
    EXPECT_EQ(FindMistake(ep + R"("zero": 2, )" + OVERLAP), who + "is not built for ZeRO 2 and 3");
    EXPECT_EQ(FindMistake(ep + DELAY),
              "strategy \"plan\": delayWeightGradients needs overlapExpertCommunication, as in "
              "Megatron-Core");
    EXPECT_EQ(FindMistake(ep + R"("recompute": "selective", )" + OVERLAP), "");
}

// Both keys are written with a plan, and with a tree.
TEST(ExpertOverlap, IsWrittenAndRead)
{
    const std::string plan = R"({"dp": 2, "ep": 2, )" + OVERLAP + ", " + DELAY + "}";
    const StrategyFile file = ReadStrategy(plan);
    ASSERT_TRUE(file.plan);
    std::ostringstream text;
    WritePlanJson(*file.plan, "mine", text);
    const StrategyFile again = ReadStrategy(text.str());
    ASSERT_TRUE(again.plan);
    EXPECT_TRUE(again.plan->schedule.overlapsExperts);
    EXPECT_TRUE(again.plan->schedule.delaysWeights);
    const Model model = LoadFor("mixtral-8x7b", file, {{"layers", 1}});
    std::ostringstream tree;
    WriteStrategyJson(file.GetTree(model), tree);
    const StrategyTree read = ReadStrategy(tree.str()).GetTree(model);
    EXPECT_TRUE(read.schedule.overlapsExperts);
    EXPECT_TRUE(read.schedule.delaysWeights);
}
