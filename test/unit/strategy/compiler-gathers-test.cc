/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

// Collectives beside kernels: parameters that are gathered while the forward pass begins, and what
// tensor and context parallelism move piece by piece.

using namespace ns3::proteus;
using compiletest::CompileGpt;
using compiletest::CountBytes;

namespace
{

/// @return FLOPs of all kernels
double
SumFlops(const ExecutionGraph& graph)
{
    double flops = 0;
    for (const Task& task : graph.GetTasks())
    {
        flops += task.kind == TaskKind::COMPUTE ? task.flops : 0;
    }
    return flops;
}

/// @return names of what a task waits for
std::set<std::string>
ListDependencies(const ExecutionGraph& graph, const std::string& name)
{
    std::set<std::string> names;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        if (graph.GetName(graph.GetTask(id)) == name)
        {
            for (const TaskId before : graph.GetDependencies(id))
            {
                names.insert(graph.GetName(graph.GetTask(before)));
            }
        }
    }
    return names;
}

} // namespace

TEST(Gathers, UpdatedParametersArriveInTheForwardPass)
{
    for (const std::string& zero : {std::string("1"), std::string("2")})
    {
        const std::string plan = "{\"dp\": 4, \"pp\": 2, \"globalBatch\": 16, \"zero\": " + zero;
        const auto update = CompileGpt(plan + "}");
        const auto forward = CompileGpt(plan + ", \"zero1Gathers\": \"forward\"}");
        const auto before = CountBytes(update, Collective::ALL_GATHER);
        const auto now = CountBytes(forward, Collective::ALL_GATHER);
        EXPECT_EQ(before.count("parameters"), 0u);
        EXPECT_EQ(now.count("optimizer"), 0u);
        EXPECT_EQ(now.at("parameters"), before.at("optimizer"));
        EXPECT_EQ(CountBytes(forward, Collective::REDUCE_SCATTER),
                  CountBytes(update, Collective::REDUCE_SCATTER));
        EXPECT_EQ(SumFlops(forward), SumFlops(update));
        // Of a block, the forward pass waits for its own gather, the backward pass for none.
        EXPECT_EQ(ListDependencies(forward, "layer2.qkv").count("layer2.parameters.all-gather"),
                  1u);
        EXPECT_EQ(ListDependencies(forward, "layer2.qkv").count("layer3.parameters.all-gather"),
                  0u);
        for (const std::string part : {"input-gradient", "weight-gradient"})
        {
            for (const std::string& name : ListDependencies(forward, "layer2.qkv." + part))
            {
                EXPECT_EQ(name.find("all-gather"), std::string::npos) << name;
            }
        }
    }
}

// A kernel whose input arrives in t pieces does t - 1 of them before the gather has ended, one
// whose result goes in pieces gives the first one away before the others are made.
TEST(Gathers, TensorParallelProductsRunBesideTheirCollectives)
{
    const std::string plan =
        R"({"tp": 4, "dp": 2, "sequenceParallel": true, "globalBatch": 4, "recompute": "none")";
    const auto whole = CompileGpt(plan + "}");
    const auto pieces = CompileGpt(plan + R"(, "tpOverlap": true})");
    EXPECT_NEAR(SumFlops(pieces) / SumFlops(whole), 1, 1e-12);
    for (const Collective collective : {Collective::ALL_GATHER, Collective::REDUCE_SCATTER})
    {
        EXPECT_EQ(CountBytes(pieces, collective), CountBytes(whole, collective));
    }
    EXPECT_TRUE(ListDependencies(whole, "layer1.fc1.first").empty());
    const std::string gather = "layer1.norm2.all-gather";
    EXPECT_EQ(ListDependencies(whole, "layer1.fc1").count(gather), 1u);
    EXPECT_EQ(ListDependencies(pieces, "layer1.fc1").count(gather), 1u);
    EXPECT_EQ(ListDependencies(pieces, "layer1.fc1.first").count(gather), 0u);
    EXPECT_FALSE(ListDependencies(pieces, "layer1.fc1.first").empty());
    const auto scattered = ListDependencies(pieces, "layer1.fc2.reduce-scatter");
    EXPECT_EQ(scattered.count("layer1.fc2.first"), 1u);
    EXPECT_EQ(scattered.count("layer1.fc2"), 0u);
    std::map<std::string, double> flops;
    for (const Task& task : pieces.GetTasks())
    {
        flops[pieces.GetName(task)] += task.flops;
    }
    EXPECT_NEAR(flops["layer1.fc1.first"], 3 * flops["layer1.fc1"], 1);
    EXPECT_NEAR(3 * flops["layer1.fc2.first"], flops["layer1.fc2"], 1);
}

TEST(Gathers, AttentionRunsBesideKeysOfOtherDevices)
{
    const auto whole = CompileGpt(R"({"cp": 4, "dp": 2, "globalBatch": 4})");
    const auto ring = CompileGpt(R"({"cp": 4, "dp": 2, "globalBatch": 4, "cpOverlap": true})");
    EXPECT_NEAR(SumFlops(ring) / SumFlops(whole), 1, 1e-12);
    EXPECT_TRUE(ListDependencies(whole, "layer1.attention.first").empty());
    EXPECT_FALSE(ListDependencies(ring, "layer1.attention.first").empty());
    for (const std::string& name : ListDependencies(ring, "layer1.attention.first"))
    {
        EXPECT_EQ(name.find("all-gather"), std::string::npos) << name;
    }
    EXPECT_EQ(CountBytes(ring, Collective::ALL_GATHER), CountBytes(whole, Collective::ALL_GATHER));
    // Backward, gradients of keys and values go while others are still made.
    EXPECT_EQ(CountBytes(ring, Collective::REDUCE_SCATTER),
              CountBytes(whole, Collective::REDUCE_SCATTER));
    EXPECT_FALSE(ListDependencies(ring, "layer1.attention.backward.middle").empty());
    uint32_t nEarly = 0;
    for (const Task& task : ring.GetTasks())
    {
        const std::string name = ring.GetName(task);
        if (task.kind == TaskKind::COMMUNICATION && task.collective == Collective::REDUCE_SCATTER &&
            name.rfind("layer1.", 0) == 0)
        {
            const auto before = ListDependencies(ring, name);
            nEarly += before.count("layer1.attention.backward.first");
            EXPECT_EQ(before.count("layer1.attention.backward"), 0u) << name;
        }
    }
    EXPECT_GT(nEarly, 0u);
}

// An attention to keys that come device by device is a ring, others are not.
TEST(Gathers, AttentionInARing)
{
    const auto list = [](const std::string& plan) {
        std::istringstream input(plan);
        const StrategyFile file = ReadStrategyJson(input, "s.json");
        const Model model =
            LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json",
                      {{"layers", 4}, {"fusedAttention", 1}});
        std::map<std::string, uint32_t> rings;
        CompileOptions options;
        options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
            rings[kernel.name + kernel.part] = kernel.ring;
            return 0;
        };
        CompileModel(model, file.GetTree(model), options);
        return rings;
    };
    auto tensor = list(R"({"tp": 4, "dp": 1, "sequenceParallel": true, "globalBatch": 1,
                           "tpOverlap": true})");
    EXPECT_EQ(tensor["layer1.attention"], 1u);
    EXPECT_EQ(tensor["layer1.fc1"], 1u);
    for (const bool isRing : {false, true})
    {
        auto rings = list(std::string(R"({"cp": 2, "dp": 1, "globalBatch": 1, "cpOverlap": )") +
                          (isRing ? "true}" : "false}"));
        EXPECT_EQ(rings["layer1.attention"], isRing ? 2u : 1u);
        EXPECT_EQ(rings["layer1.attentionbackward"], isRing ? 2u : 1u);
        EXPECT_EQ(rings["layer1.fc1"], 1u);
    }
}

TEST(Gathers, FieldsAreWrittenAndRead)
{
    std::istringstream input(
        R"({"tp": 2, "zero": 1, "zero1Gathers": "forward", "tpOverlap": true, "cpOverlap": true,
            "recompute": "full", "recomputeEvery": 2, "recomputeStopsEarly": true,
            "forwardFirst": false})");
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    std::stringstream text;
    WritePlanJson(*file.plan, "mine", text);
    const StrategyFile again = ReadStrategyJson(text, "again.json");
    EXPECT_TRUE(again.plan->optimizer.gathersInForward);
    EXPECT_TRUE(again.plan->schedule.overlapsTensor);
    EXPECT_TRUE(again.plan->schedule.overlapsContext);
    EXPECT_EQ(again.plan->recomputeEvery, 2u);
    EXPECT_TRUE(again.plan->schedule.stopsRecomputation);
    EXPECT_FALSE(again.plan->schedule.runsForwardFirst);
}

// Weights of products in fp8 are gathered in one byte, if the framework says so; embedding, head,
// norms and biases are not, nor is anything in 16 bits.
TEST(GatheredUnits, WeightsInOneByte)
{
    const auto gathered = [](const std::string& type, bool isNarrow) {
        std::istringstream input(R"({"dp": 2, "tp": 1, "pp": 1, "zero": 3, "globalBatch": 2,
                                     "microBatch": 1, "dataType": ")" +
                                 type + "\"}");
        const StrategyFile file = ReadStrategyJson(input, "s.json");
        std::map<std::string, int64_t> variables{{"layers", 4}, {"fusedAttention", 1}};
        for (const auto& [variable, value] : file.GetVariables())
        {
            variables[variable] = value;
        }
        const Model model =
            LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json",
                      variables);
        CompileOptions options;
        options.gathersFloat8 = isNarrow;
        uint64_t sum = 0;
        for (const auto& [phase, bytes] :
             CountBytes(CompileModel(model, file.GetTree(model), options), Collective::ALL_GATHER))
        {
            sum += bytes;
        }
        return sum;
    };
    EXPECT_EQ(gathered("bf16", true), gathered("bf16", false));
    EXPECT_EQ(gathered("fp8", false), gathered("bf16", false));
    constexpr uint64_t WEIGHTS = 4ULL * 12 * 768 * 768; // of the products of four blocks
    EXPECT_EQ(gathered("fp8", false) - gathered("fp8", true), 2 * WEIGHTS); // twice, a byte less
}

// A host that waits until tokens are sorted by expert asks for the next unit's parameters behind
// that, else when the unit begins; in the backward pass, where it waits for nothing, no later.
TEST(GatheredUnits, BehindTheDispatchThatTheHostWaitsFor)
{
    const auto compile = [](bool isBehind, const std::string& experts) {
        std::istringstream input(R"({"dp": 4, "tp": 1, "pp": 1, "zero": 3, "globalBatch": 4,
                                     "microBatch": 1)" +
                                 experts + "}");
        const StrategyFile file = ReadStrategyJson(input, "s.json");
        std::map<std::string, int64_t> variables{{"layers", 3}, {"fusesLoss", 1}};
        for (const auto& [variable, value] : file.GetVariables())
        {
            variables[variable] = value;
        }
        const Model model =
            LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/mixtral-8x7b.json",
                      variables);
        CompileOptions options;
        options.gathersBehindDispatch = isBehind;
        return CompileModel(model, file.GetTree(model), options);
    };
    for (const std::string& experts : {std::string(), std::string(R"(, "ep": 2)")})
    {
        const auto find = [&](bool isBehind, const std::string& unit) {
            return ListDependencies(compile(isBehind, experts), unit + ".parameters.all-gather");
        };
        // Both passes have a gather of the name: what either waits for is in the set.
        EXPECT_EQ(find(false, "layer2").count("layer1.dispatch"), 0u) << experts;
        EXPECT_EQ(find(true, "layer2").count("layer1.dispatch"), 1u) << experts;
        EXPECT_EQ(find(true, "layer2").count("layer0.add2"), 0u) << experts;
        EXPECT_EQ(find(false, "layer2").count("layer0.add2"), 1u) << experts;
    }
}
