/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

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

// Megatron-Core's fp8 context is around the layers: neither the projection to the vocabulary nor
// the router of experts is in it, nor attention.
TEST(Plan, Fp8IsInTheLayersOnly)
{
    const auto list = [](const std::string& model, const std::string& strategy) {
        const ExecutionGraph graph = Compile(model, strategy);
        std::map<DataType, std::set<std::string>> kinds; // names without the number of the layer
        for (const Task& task : graph.GetTasks())
        {
            const std::string name = graph.GetName(task);
            const std::string operation = name.substr(0, name.find('.', name.find('.') + 1));
            if (task.kind == TaskKind::COMPUTE && task.dataType != DataType::FP32)
            {
                kinds[task.dataType].insert(operation.substr(operation.find('.') + 1));
            }
        }
        return kinds;
    };
    using Names = std::set<std::string>;
    auto gpt = list("gpt3-125m", R"({"dataType": "fp8"})");
    EXPECT_EQ(gpt[DataType::FP8], (Names{"fc1", "fc2", "projection", "qkv"}));
    EXPECT_EQ(gpt[DataType::BF16].count("output") + gpt[DataType::BF16].count("attention"), 2u);
    auto experts = list("mixtral-8x7b", R"({"dataType": "fp8", "tp": 2})");
    EXPECT_EQ(experts[DataType::FP8], (Names{"down", "gate-up", "projection", "qkv"}));
    EXPECT_EQ(experts[DataType::BF16].count("router"), 1u);
    // Of a model without numbered blocks all products are.
    EXPECT_GT(list("alexnet", R"({"dataType": "fp8"})")[DataType::FP8].size(), 0u);
    EXPECT_EQ(list("alexnet", R"({"dataType": "fp8"})").count(DataType::BF16), 0u);
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

TEST(Model, WidthsOfHeadsAreChecked)
{
    const auto error = [](uint64_t valueWidth, int64_t fused, int64_t rotated) -> std::string {
        try
        {
            ModelBuilder builder("m");
            const auto input = [&](const char* name, uint64_t width) {
                return builder.AddInput(name, {2, 8, width}, {"batch", "sequence", "feature"});
            };
            OperatorAttributes attributes;
            attributes.numbers = {{"heads", {4}}, {"rotated", {rotated}}};
            const TensorId q = builder.Add("rotary", "rotary", {input("q", 4 * 24)}, attributes)[0];
            attributes.numbers = {{"heads", {4}}, {"fused", {fused}}};
            const TensorId y = builder.Add("attention",
                                           "attention",
                                           {q, input("k", 4 * 24), input("v", valueWidth)},
                                           attributes)[0];
            EXPECT_EQ(builder.GetTensor(y).shape, (Shape{2, 8, valueWidth}));
        }
        catch (const std::invalid_argument& refused)
        {
            return refused.what();
        }
        return "";
    };
    EXPECT_EQ(error(4 * 16, 1, 8), "");
    EXPECT_EQ(error(4 * 24, 0, 24), "");
    EXPECT_EQ(error(4 * 16, 0, 24),
              "operator \"attention\" (attention): heads of 24 features for keys and of 16 for "
              "values are known "
              "of fused attention only; add \"fused\": 1");
    EXPECT_EQ(error(66, 1, 24),
              "operator \"attention\" (attention): 4 heads do not make equal shares of the 66 "
              "features of the "
              "values \"v\"");
    EXPECT_EQ(error(4 * 24, 1, 25),
              "operator \"rotary\" (rotary): cannot turn 25 of the 24 features of a head");
}
