/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-graph-dot.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

StrategyFile
ReadStrategy(const std::string& text)
{
    std::istringstream input(text);
    return ReadStrategyJson(input, "s.json");
}

Model
LoadFor(const std::string& name,
        const StrategyFile& strategy,
        std::map<std::string, int64_t> variables = {})
{
    for (const auto& [variable, value] : strategy.GetVariables())
    {
        variables[variable] = value;
    }
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + name + ".json",
                     variables);
}

ExecutionGraph
Compile(const std::string& model,
        const std::string& strategy,
        const std::map<std::string, int64_t>& variables = {})
{
    const StrategyFile file = ReadStrategy(strategy);
    const Model loaded = LoadFor(model, file, variables);
    return CompileModel(loaded, file.GetTree(loaded));
}

/// "phase kind size bytes" of every communication, with how often.
std::map<std::string, uint64_t>
Count(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> counts;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        counts[row.phase + " " + ToString(row.collective) + " " + std::to_string(row.groupSize) +
               " " + std::to_string(row.bytes)] += row.count;
    }
    return counts;
}

/// The same with every size of a phase and kind together.
std::map<std::string, uint64_t>
CountKinds(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> counts;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        counts[row.phase + " " + ToString(row.collective) + " " + std::to_string(row.groupSize)] +=
            row.count;
    }
    return counts;
}

std::string
GetError(const std::string& model, const std::string& strategy)
{
    try
    {
        Compile(model, strategy);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "no error";
}

} // namespace

// Korthikanti et al. 2022, figure 5: in place of each all-reduce a reduce-scatter and an
// all-gather; the backward pass gathers the inputs of the column layers once more.
TEST(Plan, SequenceParallelReplacesAllReduces)
{
    const ExecutionGraph graph =
        Compile("gpt3-125m", R"({"tp": 4, "sequenceParallel": true, "microBatch": 2})");
    const uint64_t layers = 12;
    const std::string activation = " 4 " + std::to_string(2 * 2 * 2048 * 768);
    std::map<std::string, uint64_t> counts = Count(graph);
    // Column layers and the output layer; row layers and the embedding.
    EXPECT_EQ(counts.at("forward all-gather" + activation), 2 * layers + 1);
    EXPECT_EQ(counts.at("forward reduce-scatter" + activation), 2 * layers + 1);
    EXPECT_EQ(counts.at("backward reduce-scatter" + activation), 2 * layers + 1);
    // Gradients of row layers and the embedding; inputs of column layers and the output layer.
    EXPECT_EQ(counts.at("backward all-gather" + activation), 4 * layers + 2);
    EXPECT_EQ(counts.at("forward all-reduce 4 " + std::to_string(4 * 2 * 2048)), 3u);
    // Norms see a part of the sequence each: 2 vectors of 768 for 2 norms per layer, and the last.
    EXPECT_EQ(counts.at("gradients all-reduce 4 " + std::to_string(4 * 768 * 2 * (2 * 12 + 1))),
              1u);
    EXPECT_EQ(counts.size(), 6u);
}

// What a gradient of weights needs is gathered before the product of the input's gradient, whose
// time hides it and whose reduce-scatter would be in its way.
TEST(Plan, SavedInputsAreGatheredBehindTheInputGradient)
{
    const ExecutionGraph graph = Compile("gpt3-125m", R"({"tp": 4, "sequenceParallel": true})");
    std::map<std::string, TaskId> kernels; // of device 0
    std::map<std::string, TaskId> gathers; // of inputs, by the kernel that reads them
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMPUTE || task.place != 0)
        {
            continue;
        }
        const std::string name = graph.GetName(task);
        kernels[name] = id;
        const std::size_t part = name.rfind(".weight-gradient");
        for (const TaskId buffer : graph.GetDependencies(id))
        {
            const std::string read = graph.GetName(graph.GetTask(buffer));
            if (part != std::string::npos && read.find(".all-gather") != std::string::npos &&
                read.find(".gradient") == std::string::npos)
            {
                gathers[name.substr(0, part)] = *graph.GetDependencies(buffer).begin();
            }
        }
    }
    EXPECT_EQ(gathers.size(), 2u * 12 + 1); // column layers and the output layer
    for (const auto& [name, gather] : gathers)
    {
        EXPECT_EQ(graph.GetTask(gather).kind, TaskKind::COMMUNICATION) << name;
        EXPECT_LT(gather, kernels.at(name + ".input-gradient")) << name;
    }
}

// Keys and values are gathered over the context group, their gradients scattered.
TEST(Plan, ContextParallelGathersKeysAndValues)
{
    const ExecutionGraph graph =
        Compile("llama3-8b", R"({"cp": 4, "dp": 2, "tp": 2, "buckets": "whole"})");
    const std::map<std::string, uint64_t> counts = Count(graph);
    // 8 heads of 128 for keys and for values, over 2 devices; 8192 tokens of 2 bytes.
    const std::string keys = " 4 " + std::to_string(2 * 8192 * 8 * 128 / 2);
    EXPECT_EQ(counts.at("forward all-gather" + keys), 2u * 32 * 4);
    EXPECT_EQ(counts.at("backward all-gather" + keys), 2u * 32 * 4);
    EXPECT_EQ(counts.at("backward reduce-scatter" + keys), 2u * 32 * 4);
    // An eighth of the sequences each: gradients are summed over context and data.
    uint64_t gradients = 0;
    for (const auto& [text, count] : counts)
    {
        gradients += text.rfind("gradients all-reduce 8 ", 0) == 0 ? count : 0;
    }
    EXPECT_EQ(gradients, 2u);
    EXPECT_EQ(graph.GetNDevices(), 16u);
}

// Two all-to-alls per layer and pass; experts are replicated over what is left of the replicas.
TEST(Plan, ExpertParallelExchangesTokens)
{
    for (const bool isSequenceParallel : {false, true})
    {
        SCOPED_TRACE(isSequenceParallel);
        const ExecutionGraph graph =
            Compile("mixtral-8x7b",
                    isSequenceParallel ? R"({"dp": 4, "ep": 2, "tp": 2, "sequenceParallel": true})"
                                       : R"({"dp": 4, "ep": 2, "tp": 2})",
                    {{"layers", 2}});
        // A device has 4096 tokens, each for 2 of 8 experts, and gives half of them away; with
        // sequence parallelism it has half as many.
        const std::string share =
            " 2 " + std::to_string(2 * 2 * 4096 / (isSequenceParallel ? 2 : 1) * 4096 / 2);
        const std::map<std::string, uint64_t> counts = Count(graph);
        EXPECT_EQ(counts.at("forward all-to-all" + share), 2u * 2 * 4);
        EXPECT_EQ(counts.at("backward all-to-all" + share), 2u * 2 * 4);
        for (const auto& [text, count] : counts)
        {
            EXPECT_EQ(text.find("send-recv"), std::string::npos) << text;
        }
    }
}

TEST(Plan, PipelinesOfEveryKindCompile)
{
    for (const std::string& schedule :
         {std::string(R"("schedule": "gpipe")"),
          std::string(R"("schedule": "1f1b")"),
          std::string(R"("schedule": "zero-bubble")"),
          std::string(R"("virtualStages": 3)"),
          std::string(R"("schedule": "limits", "maxInFlight": [4, 3, 2, 1])")})
    {
        SCOPED_TRACE(schedule);
        const bool isInterleaved = schedule.find("virtual") != std::string::npos;
        const ExecutionGraph graph =
            Compile("gpt3-125m",
                    R"({"tp": 2, "pp": 4, "dp": 2, "globalBatch": 16, )" + schedule + "}");
        std::map<std::string, uint64_t> counts = CountKinds(graph);
        // 3 (or 11) boundaries, 4 devices of a stage, 8 micro-batches.
        uint64_t sends = 0;
        for (const auto& [text, count] : counts)
        {
            sends += text.find("send-recv") != std::string::npos ? count : 0;
        }
        EXPECT_EQ(sends, (isInterleaved ? 11u : 3u) * 4 * 8 * 2);
        EXPECT_EQ(graph.GetNDevices(), 16u);
    }
}

TEST(Plan, ZeroAndOffloadCompile)
{
    const std::map<std::string, uint64_t> zero1 =
        CountKinds(Compile("gpt3-125m", R"({"dp": 4, "zero": 1, "buckets": "whole"})"));
    EXPECT_EQ(zero1.at("gradients reduce-scatter 4"), 1u);
    EXPECT_EQ(zero1.count("gradients all-reduce 4"), 0u);
    EXPECT_EQ(zero1.at("optimizer all-gather 4"), 1u);
    const std::map<std::string, uint64_t> original = CountKinds(
        Compile("gpt3-125m",
                R"({"dp": 4, "zero": 1, "buckets": "whole", "zero1Gradients": "all-reduce"})"));
    EXPECT_EQ(original.at("gradients all-reduce 4"), 1u);
    EXPECT_EQ(original.at("optimizer all-gather 4"), 1u);
    const std::map<std::string, uint64_t> zero3 =
        CountKinds(Compile("gpt3-125m", R"({"dp": 4, "zero": 3, "buckets": "whole"})"));
    EXPECT_EQ(zero3.at("gradients reduce-scatter 4"), 1u);
    EXPECT_EQ(zero3.count("optimizer all-gather 4"), 0u);
    // Each of 12 blocks, and what is before and behind them, in one piece. The gradient of an
    // embedding does not need its table.
    EXPECT_EQ(zero3.at("forward all-gather 4"), 14u);
    EXPECT_EQ(zero3.at("backward all-gather 4"), 13u);
    const std::map<std::string, uint64_t> tensors = CountKinds(
        Compile("gpt3-125m",
                R"({"dp": 4, "zero": 3, "buckets": "whole", "zero3Gathers": "tensor"})"));
    // 12 parameters a layer, two embeddings, the last norm, and the output layer's use of the
    // first.
    EXPECT_EQ(tensors.at("forward all-gather 4"), 12u * 12 + 2 + 2);
    const ExecutionGraph resident = Compile("gpt3-125m", R"({"dp": 4})");
    const ExecutionGraph offloaded = Compile("gpt3-125m", R"({"dp": 4, "offloadOptimizer": true})");
    const uint64_t parameters = 12 * (12 * 768 * 768 + 13 * 768) + (50304 + 2048 + 2) * 768;
    EXPECT_EQ(AccountMemory(resident)[0].persistentBytes -
                  AccountMemory(offloaded)[0].persistentBytes,
              12 * parameters);
}

// Under ZeRO 2 and 3 the buffer in which gradients add up has a device's share only: they are
// scattered in every micro-batch, bucket by bucket, and what is scattered is free again.
TEST(Plan, ZeroScattersInEveryMicroBatch)
{
    const uint64_t bytes = 4 * (12 * (12 * 768 * 768 + 13 * 768) + (50304 + 2048 + 2) * 768);
    const uint64_t microBatches = 4;
    for (const uint32_t zero : {1, 2, 3})
    {
        SCOPED_TRACE(zero);
        const ExecutionGraph graph =
            Compile("gpt3-125m",
                    R"({"dp": 4, "globalBatch": 16, "zero": )" + std::to_string(zero) + "}");
        std::map<Collective, uint64_t> reduced;
        for (const InventoryRow& row : TakeInventory(graph))
        {
            if (row.phase.rfind("gradient", 0) == 0)
            {
                reduced[row.collective] += row.bytes * row.count;
            }
        }
        const MemoryAccount account = AccountMemory(graph)[0];
        const uint64_t gradients =
            account.bytesAtPeak[static_cast<std::size_t>(MemoryUse::GRADIENTS)];
        if (zero == 1)
        {
            EXPECT_EQ(reduced,
                      (std::map<Collective, uint64_t>{{Collective::REDUCE_SCATTER, bytes}}));
            EXPECT_EQ(gradients, bytes);
            continue;
        }
        EXPECT_EQ(
            reduced,
            (std::map<Collective, uint64_t>{{Collective::REDUCE_SCATTER, microBatches * bytes}}));
        // Its share, and at the most the largest bucket: the word embedding, which is used twice.
        EXPECT_GE(gradients, bytes / 4);
        EXPECT_LE(gradients, bytes / 4 + 4 * 2 * 50304 * 768);
    }
}

// On every stage, under every kind of sharing: the update comes after all that reduces gradients of
// its device, and no group is of one device.
TEST(Plan, UpdatesFollowTheReduction)
{
    for (const std::string& plan :
         {std::string(R"({"dp": 2, "tp": 2, "pp": 3, "globalBatch": 4})"),
          std::string(R"({"dp": 2, "pp": 2, "globalBatch": 4, "zero": 1, "buckets": "megatron"})"),
          std::string(R"({"dp": 3, "tp": 4, "pp": 2, "globalBatch": 6, "zero": 2})"),
          std::string(R"({"dp": 3, "tp": 4, "pp": 2, "globalBatch": 6, "zero": 3})"),
          std::string(R"({"dp": 5, "tp": 4, "zero": 1})"),
          std::string(R"({"dp": 2, "buckets": "ddp", "gradientsInPlace": false})")})
    {
        SCOPED_TRACE(plan);
        const ExecutionGraph graph = Compile("gpt3-125m", plan);
        // By task: the reductions that it waits for, directly or not; producers have smaller ids.
        std::vector<std::set<TaskId>> reductions(graph.GetNTasks());
        std::vector<std::set<TaskId>> ofDevice(graph.GetNDevices());
        uint32_t nUpdates = 0;
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            for (const TaskId before : graph.GetDependencies(id))
            {
                ASSERT_LT(before, id);
                reductions[id].insert(reductions[before].begin(), reductions[before].end());
            }
            if (task.kind == TaskKind::COMMUNICATION)
            {
                EXPECT_GT(graph.GetGroup(task.place).size(), 1u);
            }
            if (task.kind == TaskKind::COMMUNICATION &&
                graph.GetPhases()[task.phase].name.rfind("gradient", 0) == 0)
            {
                reductions[id].insert(id);
                for (const DeviceId device : graph.GetGroup(task.place))
                {
                    ofDevice[device].insert(id);
                }
            }
            if (graph.GetName(task) == "adam")
            {
                ++nUpdates;
                EXPECT_FALSE(ofDevice[task.place].empty());
                for (const TaskId reduction : ofDevice[task.place])
                {
                    EXPECT_TRUE(reductions[id].count(reduction));
                }
            }
        }
        EXPECT_EQ(nUpdates, graph.GetNDevices());
    }
}

TEST(Plan, RecomputationSavesMemory)
{
    std::map<std::string, uint64_t> peaks;
    for (const std::string& what :
         {std::string("none"), std::string("selective"), std::string("full")})
    {
        peaks[what] =
            AccountMemory(
                Compile("gpt3-125m", R"({"microBatch": 8, "recompute": ")" + what + R"("})"))[0]
                .peakBytes;
    }
    EXPECT_LT(peaks["full"], peaks["selective"]);
    EXPECT_LT(peaks["selective"], peaks["none"]);
    // Korthikanti et al. 2022: selective recomputation saves 5 a s^2 b bytes in each of 12 layers;
    // the peak is at the loss, before any of it is computed again.
    EXPECT_EQ(peaks["none"] - peaks["selective"], uint64_t{12} * 5 * 12 * 2048 * 2048 * 8);
}

TEST(Plan, MixesCompile)
{
    const std::vector<std::pair<std::string, std::string>> plans{
        {"llama3-70b", R"({"tp": 8, "pp": 4, "dp": 2, "cp": 2, "sequenceParallel": true,
                           "zero": 1, "globalBatch": 16, "recompute": "selective"})"},
        {"mixtral-8x7b", R"({"tp": 2, "pp": 2, "dp": 8, "ep": 4, "sequenceParallel": true,
                             "zero": 2, "globalBatch": 16})"},
        {"bert-large", R"({"tp": 4, "pp": 3, "dp": 2, "globalBatch": 8, "recompute": "full"})"},
        {"t5-base", R"({"tp": 2, "dp": 2, "zero": 3})"},
        {"t5-base", R"({"tp": 2, "pp": 4, "dp": 1, "globalBatch": 4})"},
        {"transformer", R"({"tp": 2, "pp": 2, "dp": 2, "globalBatch": 4})"},
        {"gpt3-175b", R"({"tp": 8, "pp": 8, "dp": 1, "virtualStages": 2, "globalBatch": 8,
                          "sequenceParallel": true, "recompute": "full"})"},
        {"inception-v3", R"({"dp": 8, "zero": 1, "optimizer": "momentum", "dataType": "fp32"})"},
        {"dlrm", R"({"dp": 8, "optimizer": "sgd", "dataType": "tf32"})"},
    };
    for (const auto& [model, plan] : plans)
    {
        SCOPED_TRACE(model + " " + plan);
        const ExecutionGraph graph = Compile(model, plan);
        EXPECT_GT(graph.GetNTasks(), 0u);
        for (const MemoryAccount& account : AccountMemory(graph))
        {
            EXPECT_GT(account.peakBytes, account.persistentBytes);
        }
    }
}

TEST(StrategyJson, ExpandedPlanReadsBack)
{
    for (const std::string& plan :
         {std::string(R"({"dp": 2, "tp": 8, "pp": 4, "zero": 1, "sequenceParallel": true,
                          "globalBatch": 8, "recompute": "full"})"),
          std::string(R"({"tp": 2, "dp": 4, "cp": 2, "recompute": "selective"})")})
    {
        const StrategyFile file = ReadStrategy(plan);
        const Model model = LoadFor("gpt3-6.7b", file);
        std::ostringstream text;
        WriteStrategyJson(file.GetTree(model), text);
        const StrategyFile again = ReadStrategy(text.str());
        EXPECT_FALSE(again.plan.has_value());
        EXPECT_EQ(again.GetVariables(), file.GetVariables());
        std::ostringstream second;
        WriteStrategyJson(again.tree, second);
        EXPECT_EQ(text.str(), second.str());
        EXPECT_EQ(CompileModel(model, again.GetTree(model)),
                  CompileModel(model, file.GetTree(model)));
    }
}

TEST(StrategyJson, TreeByHand)
{
    const ExecutionGraph graph = Compile("gpt3-125m", R"({
        "format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["dp", "tp"], "sizes": [2, 2]},
        "tree": {"split": {"batch": "dp"},
                 "children": [{"name": "layer{0..5}", "children": [
                     {"name": "qkv", "split": {"out": "tp"}},
                     {"name": "projection", "split": {"in": "tp"}}]},
                   {"name": "layer3", "children": [{"name": "qkv", "split": {}},
                                                   {"name": "projection", "split": {}}]},
                   {"name": "layer*", "children": [
                     {"name": "fc1", "mesh": [[0, 1], [2, 3]], "split": {"0": 2, "out": 2}},
                     {"name": "fc2", "split": {"in": "tp"}}]}]}})");
    // 5 of the first 6 layers share the attention, all share the MLP; 2 groups each.
    const std::map<std::string, uint64_t> counts = CountKinds(graph);
    EXPECT_EQ(counts.at("forward all-reduce 2"), 2u * (5 + 12));
    EXPECT_EQ(counts.at("backward all-reduce 2"), 2u * (5 + 12));
}

// ZeRO 1 and 2 of a single parameter, by the layouts of its items.
TEST(StrategyJson, ItemsOfAParameter)
{
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["dp"], "sizes": [2]}, "gradients": {"buckets": "whole"},
        "tree": {"split": {"batch": "dp"}, "children": [{"name": "classifier", "children": [
        {"name": "fc1", "items": {"weight_state": {"split": {"0": "dp"}})";
    const uint64_t weight = uint64_t{4096} * 9216 * 4;
    const std::map<std::string, uint64_t> one = Count(Compile("alexnet", head + "}}]}]}}"));
    EXPECT_EQ(one.at("optimizer all-gather 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(one.at("gradients all-reduce 2 244403360"), 1u);
    const std::map<std::string, uint64_t> two =
        Count(Compile("alexnet", head + R"(, "weight_grad": {"split": {"0": "dp"}}}}]}]}})"));
    EXPECT_EQ(two.at("optimizer all-gather 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(two.at("gradients reduce-scatter 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(two.at("gradients all-reduce 2 " + std::to_string(244403360 - weight)), 1u);
}

// Three parts of a tensor are views, and their gradients one kernel.
TEST(Model, SplitMakesViews)
{
    ModelBuilder builder("split");
    TensorId x = builder.AddInput("x", {8, 64}, {"batch", "feature"});
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", {96}}};
    x = builder.Add("linear", "fc", {x}, attributes)[0];
    attributes.numbers = {{"sizes", {32, 48, 16}}};
    const std::vector<TensorId> parts = builder.Add("split", "parts", {x}, attributes);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(builder.GetTensor(parts[1]).shape, (Shape{8, 48}));
    for (std::size_t i = 0; i < 3; ++i)
    {
        builder.Add("relu", "relu" + std::to_string(i), {parts[i]});
    }
    const ExecutionGraph graph = CompileModel(builder.Build(), {});
    uint32_t kernels = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE && graph.GetName(task).rfind("parts", 0) == 0)
        {
            ++kernels;
            EXPECT_EQ(graph.GetName(task), "parts.backward");
            EXPECT_EQ(task.bytes, 2u * 8 * 96 * 4);
        }
    }
    EXPECT_EQ(kernels, 1u);
    attributes.numbers = {{"sizes", {32, 48}}};
    ModelBuilder other("split");
    const TensorId y = other.AddInput("x", {8, 96}, {"batch", "feature"});
    EXPECT_THROW(other.Add("split", "parts", {y}, attributes), std::invalid_argument);
}

// Where only the first stages are named, what follows them follows them.
TEST(StrategyJson, OperatorsFollowTheStageOfTheirInputs)
{
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["pp", "dp"], "sizes": [2, 2]}, "tree": {"split": {"batch": "dp"},
        "children": [{"name": "features", "mesh": {"pp": 0}, "stage": 0},
                     {"name": "classifier", "mesh": {"pp": 1}, "stage": 1})";
    const std::string loss = R"(, {"name": "loss", "mesh": {"pp": 1}, "stage": 1})";
    EXPECT_EQ(Compile("alexnet", head + "]}}"), Compile("alexnet", head + loss + "]}}"));
}

// The embeddings of encoder and decoder are on different stages, as are the norms behind them.
TEST(Plan, PipelinesFollowTheOrderOfTheModel)
{
    for (const std::string& model : {std::string("t5-small"), std::string("transformer")})
    {
        const ExecutionGraph graph = Compile(model, R"({"pp": 3, "globalBatch": 6})");
        for (const Task& task : graph.GetTasks())
        {
            if (task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV)
            {
                const std::vector<DeviceId>& pair = graph.GetGroup(task.place);
                const bool isForward = graph.GetPhases()[task.phase].name == "forward";
                EXPECT_EQ(isForward, pair[0] < pair[1]) << graph.GetName(task);
            }
        }
    }
}

TEST(StrategyJson, MistakesNameNodeOperatorAndDimension)
{
    EXPECT_EQ(GetError("gpt3-125m", R"({"tp": 5})"),
              "strategy \"plan\", node layer*/qkv, operator \"layer0.qkv\": dimension out of 12 "
              "cannot be split into 5 equal parts");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 5})"),
              "plan: model GPT-3 125M has 12 numbered blocks, which 5 pipeline stages (pp x "
              "virtualStages) cannot share evenly; embeddingAsBlock and headAsBlock count what is "
              "around the blocks as one, firstStageBlocks and lastStageBlocks say what the ends "
              "have");
    EXPECT_EQ(GetError("gpt3-125m", R"({"dp": 4, "globalBatch": 6})"),
              "s.json: plan: globalBatch = 6 is not a multiple of 4 = microBatch x dp");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "schedule": "limits", "maxInFlight": [1, 0]})"),
              "strategy \"plan\", schedule limits: stage 1: an in-flight limit of 0 micro-batches "
              "deadlocks, it must be at least 1");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "maxInFlight": [1, 1]})"),
              "strategy \"plan\", schedule 1f1b: maxInFlight and interleave belong to schedule "
              "limits");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "schedule": "limits", "maxInFlight": [1]})"),
              "strategy \"plan\", schedule limits: maxInFlight has 1 limits for 2 stages");
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "name": "mine", )"
                             R"("mesh": {"axes": ["pp", "dp"], "sizes": [2, 2]}, "tree": )";
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc1", "mesh": [0, 1], "split": {"out": 4}}]}]}})"),
              "strategy \"mine\", node classifier/fc1, operator \"classifier.fc1\": dimension out: "
              "all splits together make 4 parts, which its mesh of 2 devices cannot share evenly");
    EXPECT_EQ(
        GetError("alexnet", head + R"({"children": [{"name": "features", "mesh": {"pp": 2}}]}})"),
        "strategy \"mine\", node features, operator \"features.conv1\": there are no "
        "devices at pp = 2: the mesh has 2 along pp");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "mesh": [0, 1, 2], "split": {"out": 3}}]}]}})"),
              "strategy \"mine\", node classifier/fc, operator \"classifier.fc\": dimension out of "
              "1000 cannot be split into 3 equal parts");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"outputs": "dp"}}]}]}})"),
              "strategy \"mine\", node classifier/fc, operator \"classifier.fc\": has no dimension "
              "outputs, but batch, out, in");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"outputs": 1}}]}]}})"),
              "strategy \"mine\", node classifier/fc, operator \"classifier.fc\": has no dimension "
              "outputs, but batch, out, in");
    EXPECT_EQ(GetError("alexnet", head + R"({}, "optimizer": {"zero": 1, "zeroAxes": ["tp"]}})"),
              "strategy \"mine\", optimizer, zero 1: mesh axis \"tp\" of zeroAxes does not exist; "
              "there are dp, pp");
    EXPECT_EQ(GetError("alexnet", head + R"({}, "optimizer": {"zero": 2}})"),
              "strategy \"mine\", optimizer, zero 2: zeroAxes does not say which mesh axes share; "
              "there are dp, pp");
    EXPECT_EQ(GetError("alexnet", head + R"({"split": {"batch": "tp"}}})"),
              "strategy \"mine\", node root: dimension batch is to be split over the mesh axis "
              "\"tp\", which the meshes of its operators do not have");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [
                           {"name": "features", "split": {"heads": "dp"}}]}})"),
              "strategy \"mine\", node features: none of its operators has a dimension heads");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [
                           {"name": "features", "split": {"kernel-height": "dp"}}]}})"),
              "strategy \"mine\", node features: dimension kernel-height cannot be split: all of "
              "its operators need it whole");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"out": "tp"}}]}]}})"),
              "strategy \"mine\", node classifier/fc, operator \"classifier.fc\": dimension out is "
              "to be split over the mesh axis \"tp\", which does not exist; the axes are pp, dp");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "features", "stage": 0},
                                               {"name": "classifier", "stage": 2}]}})"),
              "strategy \"mine\": stage 1 has no operator, so that its devices are unknown; 3 "
              "stages are named");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "features", "stage": 1},
                                               {"name": "classifier", "stage": 0}]}})"),
              "strategy \"mine\", node classifier, operator \"classifier.flatten\": is on stage 0 "
              "and reads \"features.pool5\" of stage 1; stages have to follow the order of the "
              "model");
    auto item = [&](const std::string& text) {
        return GetError("alexnet",
                        head + R"({"children": [{"name": "classifier", "children": [
                                       {"name": "fc", "items": {)" +
                            text + "}}]}]}}");
    };
    EXPECT_EQ(
        item(R"("wieght": {"split": {"0": 2}})"),
        "strategy \"mine\", node classifier/fc: none of its operators has an item \"wieght\"; "
        "there are out, out_grad, in:0 and, of parameters, e.g. weight, weight_grad, "
        "weight_state");
    EXPECT_EQ(item(R"("weight": {"mesh": [2, 3]})"),
              "strategy \"mine\", node classifier/fc, operator \"classifier.fc\": weight: a "
              "parameter lies on the devices of its operator, not on others");
    EXPECT_EQ(
        item(R"("weight_grad": {"split": {"0": "dp"}})")
            .rfind("strategy \"mine\", node classifier/fc, operator \"classifier.fc\": weight: its "
                   "optimizer state lies as ",
                   0),
        0u);
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "clasifier", "split": {}}]}})"),
              "strategy \"mine\", node clasifier: model AlexNet has no operator of that name");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "a\nb"}]}})"),
              "s.json: /tree/children/0/name: must be a name without control characters, not "
              "\"a\\nb\"");
    EXPECT_EQ(GetError("alexnet", head + R"({"split": {"a\nb": 2}}})"),
              "s.json: /tree/split: must not have keys with control characters");
    EXPECT_EQ(GetError("alexnet", R"({"cp": 2})"),
              "plan: cp = 2, but no operator of model AlexNet has a sequence to split");
    EXPECT_EQ(GetError("alexnet", R"({"recompute": "selective"})"),
              "plan: recompute = selective, but model AlexNet has no attention");
    EXPECT_EQ(GetError("alexnet", R"({"recompute": "full"})"),
              "plan: recompute = full, but model AlexNet has no numbered blocks; write a tree that "
              "says what to compute again");
    EXPECT_EQ(GetError("alexnet", R"({"dp": 2, "ep": 2})"),
              "plan: ep = 2, but model AlexNet has no experts");
    EXPECT_EQ(GetError("alexnet",
                       head + R"({"children": [{"name": "features", "mesh": [[0, 1], [2]]}]}})"),
              "s.json: /tree/children/0/mesh/1: a mesh must have rows of equal length");
}

// Every file in workloads/strategies with a model that it fits.
TEST(StrategyJson, FilesCompile)
{
    const std::map<std::string, std::string> models{
        {"alexnet-classifier-4", "alexnet"},
        {"alexnet-pipeline-2", "alexnet"},
        {"context-4-tp8", "llama3-8b"},
        {"ddp-8", "resnet50"},
        {"dlrm-tables-16", "dlrm-16-tables"},
        {"dlrm-tables-32", "dlrm-32-tables"},
        {"dlrm-tables-8", "dlrm"},
        {"experts-8", "mixtral-8x7b"},
        {"fsdp-16", "gpt3-1.3b"},
        {"inception-v3-last-layer-16", "inception-v3"},
        {"inception-v3-last-layer-32", "inception-v3"},
        {"inception-v3-last-layer-8", "inception-v3"},
        {"interleaved-pp4-v2", "gpt3-350m"},
        {"resnet50-last-layer-16", "resnet50"},
        {"resnet50-last-layer-32", "resnet50"},
        {"resnet50-last-layer-8", "resnet50"},
        {"tp8-dp2", "gpt3-6.7b"},
        {"tp8-pp4-dp2-sequence-zero1", "gpt3-13b"},
        {"vgg19-classifier-16", "vgg19"},
        {"vgg19-classifier-32", "vgg19"},
        {"vgg19-classifier-8", "vgg19"},
    };
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/strategies";
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        files.insert(entry.path().stem().string());
    }
    EXPECT_EQ(files.size(), models.size());
    for (const auto& [name, model] : models)
    {
        SCOPED_TRACE(name);
        const StrategyFile file = LoadStrategy(folder + "/" + name + ".json");
        const Model loaded = LoadFor(model, file);
        EXPECT_GT(CompileModel(loaded, file.GetTree(loaded)).GetNTasks(), 0u);
    }
}

TEST(GraphDot, DrawsEveryTaskAndDependency)
{
    const ExecutionGraph graph =
        Compile("alexnet", R"({"dp": 2, "dataType": "fp32", "buckets": "whole"})");
    std::ostringstream text;
    WriteGraphDot(graph, text);
    std::size_t nArrows = 0;
    std::size_t nDependencies = 0;
    for (std::size_t at = text.str().find(" -> "); at != std::string::npos;
         at = text.str().find(" -> ", at + 1))
    {
        ++nArrows;
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        nDependencies += graph.GetDependencies(id).size();
    }
    EXPECT_EQ(nArrows, nDependencies);
    EXPECT_EQ(text.str().rfind("digraph \"AlexNet\" {", 0), 0u);
    EXPECT_NE(text.str().find("label=\"gradients.bucket0.all-reduce 244403360 B {0 1}\""),
              std::string::npos);
}

TEST(Inventory, CsvHasTheColumns)
{
    std::ostringstream text;
    WriteInventoryCsv(
        text,
        TakeInventory(Compile("alexnet", R"({"dp": 2, "dataType": "fp32", "buckets": "whole"})")));
    EXPECT_EQ(text.str(),
              "phase,kind,group_size,bytes,count\ngradients,all-reduce,2,244403360,1\n");
}
