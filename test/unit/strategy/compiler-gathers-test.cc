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
// tensor and context parallelism move piece by piece. And blocks that are computed again.

using namespace ns3::proteus;

namespace
{

/// @return names of operators that are computed again
std::set<std::string>
ListRecomputed(const ExecutionGraph& graph)
{
    std::set<std::string> again;
    for (const Task& task : graph.GetTasks())
    {
        const std::string name = graph.GetName(task);
        const std::size_t suffix = name.find(".recompute");
        if (suffix != std::string::npos && task.kind == TaskKind::COMPUTE)
        {
            again.insert(name.substr(0, suffix));
        }
    }
    return again;
}

ExecutionGraph
Compile(const std::string& strategy,
        int64_t dropout = 1,
        const std::map<std::string, int64_t>& others = {})
{
    std::istringstream input(strategy);
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    std::map<std::string, int64_t> variables{{"layers", 4},
                                             {"fusedAttention", 1},
                                             {"dropout", dropout}};
    for (const auto& [variable, value] : others)
    {
        variables[variable] = value;
    }
    for (const auto& [variable, value] : file.GetVariables())
    {
        variables[variable] = value;
    }
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json", variables);
    return CompileModel(model, file.GetTree(model));
}

/// @return bytes of the collectives of a kind, by phase
std::map<std::string, uint64_t>
CountBytes(const ExecutionGraph& graph, Collective collective)
{
    std::map<std::string, uint64_t> bytes;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        if (row.collective == collective)
        {
            bytes[row.phase] += row.bytes * row.count;
        }
    }
    return bytes;
}

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
        const auto update = Compile(plan + "}");
        const auto forward = Compile(plan + ", \"zero1Gathers\": \"forward\"}");
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
    const auto whole = Compile(plan + "}");
    const auto pieces = Compile(plan + R"(, "tpOverlap": true})");
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
    const auto whole = Compile(R"({"cp": 4, "dp": 2, "globalBatch": 4})");
    const auto ring = Compile(R"({"cp": 4, "dp": 2, "globalBatch": 4, "cpOverlap": true})");
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

TEST(Recomputation, TakesEveryNthBlock)
{
    auto list = [](const std::string& more) {
        const ExecutionGraph graph = Compile("{\"recompute\": \"full\"" + more + "}");
        std::set<std::string> blocks;
        for (const Task& task : graph.GetTasks())
        {
            const std::string name = graph.GetName(task);
            if (name.find("recompute") != std::string::npos)
            {
                blocks.insert(name.substr(0, name.find('.')));
            }
        }
        return blocks;
    };
    EXPECT_EQ(list("").size(), 4u);
    EXPECT_EQ(list(R"(, "recomputeEvery": 2)"), (std::set<std::string>{"layer1", "layer3"}));
    try
    {
        Compile(R"({"recomputeEvery": 2})");
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "s.json: plan: recomputeEvery says which blocks are computed again, and needs "
                     "recompute = full");
    }
}

// What a kernel adds a gradient to is read by it, and needed by nobody else: along a chain of
// residual connections there is one gradient at a time, and a block more keeps its input alone.
TEST(Recomputation, KeepsTheInputsOfBlocksAlone)
{
    std::map<int64_t, uint64_t> bytes;
    for (const int64_t layers : {8, 16, 32})
    {
        const ExecutionGraph graph = Compile(R"({"dp": 1, "recompute": "full"})",
                                             0,
                                             {{"layers", layers}, {"vocabulary", 64}});
        bytes[layers] =
            AccountMemory(graph)[0].bytesAtPeak[static_cast<std::size_t>(MemoryUse::ACTIVATIONS)];
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            if (graph.GetName(graph.GetTask(id)).find("layer0.") == 0)
            {
                EXPECT_LE(graph.GetDependencies(id).size(), 6u) << graph.GetName(graph.GetTask(id));
            }
        }
    }
    EXPECT_EQ(bytes.at(32) - bytes.at(16), 16u * 2048 * 768 * 2);
    EXPECT_EQ(bytes.at(16) - bytes.at(8), 8u * 2048 * 768 * 2);
}

// Results of products are kept; what stands between them is made again from these.
TEST(Recomputation, BetweenProductsKeepsTheirResults)
{
    const auto compile = [](const std::string& plan) {
        return Compile(R"({"dp": 1, "recompute": ")" + plan + R"("})", 0, {{"vocabulary", 64}});
    };
    std::set<std::string> expected;
    for (int layer = 0; layer < 4; ++layer)
    {
        for (const char* name : {"norm1", "attention", "norm2", "gelu"})
        {
            expected.insert("layer" + std::to_string(layer) + "." + name);
        }
    }
    EXPECT_EQ(ListRecomputed(compile("between-products")), expected);
    // Router and dispatch both read the second norm, which is kept; tokens are not sent again.
    const ExecutionGraph experts =
        compiletest::Compile("mixtral-8x7b",
                             R"({"dp": 2, "ep": 2, "recompute": "between-products"})",
                             {{"layers", 1}});
    EXPECT_EQ(ListRecomputed(experts),
              (std::set<std::string>{"layer0.norm1",
                                     "layer0.rotary-q",
                                     "layer0.rotary-k",
                                     "layer0.attention",
                                     "layer0.swiglu"}));
    EXPECT_EQ(CountBytes(experts, Collective::ALL_TO_ALL)["backward"],
              CountBytes(experts, Collective::ALL_TO_ALL)["forward"]);
    const auto peak = [&compile](const std::string& plan) {
        return AccountMemory(compile(plan))[0].peakBytes;
    };
    EXPECT_LT(peak("between-products"), peak("none"));
    EXPECT_GT(peak("between-products"), peak("full"));
    // As a tree it says the same, and is written and read as it is.
    std::istringstream input(R"({"dp": 1, "recompute": "between-products"})");
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json",
                  {{"layers", 2}});
    std::stringstream text;
    WriteStrategyJson(ReadStrategyJson(input, "s.json").GetTree(model), text);
    EXPECT_NE(text.str().find("\"before qkv\""), std::string::npos) << text.str();
    std::stringstream copy;
    WriteStrategyJson(ReadStrategyJson(text, "again.json").tree, copy);
    EXPECT_EQ(copy.str(), text.str());
}

// Parts of blocks, as Megatron-LM's --recompute-modules names them.
TEST(Recomputation, Modules)
{
    const auto list = [](const std::string& model, const std::string& modules) {
        const bool isGpt = model == "gpt3-125m";
        std::map<std::string, int64_t> variables{{"layers", 1}, {"vocabulary", 64}};
        if (!isGpt)
        {
            variables["experts"] = 4;
            variables["top"] = 2;
        }
        std::set<std::string> names;
        for (const std::string& name : ListRecomputed(compiletest::Compile(
                 model,
                 R"({"dp": 1, "recompute": "selective", "recomputeModules": ")" + modules + "\"}",
                 variables)))
        {
            names.insert(name.substr(name.find('.') + 1));
        }
        return names;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(list("gpt3-125m", "core_attn"), (Names{"attention"}));
    EXPECT_EQ(list("gpt3-125m", "layernorm"), (Names{"norm1", "norm2"}));
    EXPECT_EQ(list("gpt3-125m", "core_attn+layernorm"), (Names{"attention", "norm1", "norm2"}));
    EXPECT_EQ(list("gpt3-125m", "mlp"), (Names{"fc1", "gelu", "fc2", "dropout-add2"}));
    EXPECT_EQ(list("gpt3-125m", "mlp+layernorm"),
              (Names{"norm1", "norm2", "fc1", "gelu", "fc2", "dropout-add2"}));
    EXPECT_EQ(list("mixtral-8x7b", "moe_act"), (Names{"swiglu"}));
    EXPECT_EQ(list("mixtral-8x7b", "moe_act+layernorm"), (Names{"norm1", "norm2", "swiglu"}));
    // Norms of queries and keys, which no product reads, are others.
    EXPECT_EQ(list("qwen3-30b-a3b", "layernorm"), (Names{"norm1", "norm2"}));
    EXPECT_EQ(list("mixtral-8x7b", "moe"),
              (Names{"router", "dispatch", "gate-up", "swiglu", "down", "combine"}));
    for (const char* modules : {"moe", "moe_act", "mla_up_proj", "layernorm+"})
    {
        EXPECT_THROW(list("gpt3-125m", modules), std::invalid_argument) << modules;
    }
    EXPECT_THROW(list("mixtral-8x7b", "moe+moe_act"), std::invalid_argument);
    EXPECT_THROW(list("mixtral-8x7b", "mlp"), std::invalid_argument);
    EXPECT_THROW(Compile(R"({"dp": 1, "recompute": "full", "recomputeModules": "mlp"})"),
                 std::invalid_argument);
}

// Of products only some are kept: the others are computed again, and what is behind the last that
// is kept, up to the end of the block.
TEST(Recomputation, BetweenProductsKeepsSomeOfThem)
{
    const auto compile =
        [](const std::string& keeps, const std::string& more = "", int64_t layers = 1) {
            return Compile(R"({"dp": 1, "recompute": "between-products", "recomputeKeeps": ")" +
                               keeps + "\"" + more + "}",
                           0,
                           {{"vocabulary", 64}, {"layers", layers}});
        };
    const auto list = [](const ExecutionGraph& graph) {
        std::set<std::string> ofBlocks;
        for (const std::string& name : ListRecomputed(graph))
        {
            ofBlocks.insert(name.substr(name.find('.') + 1));
        }
        return ofBlocks;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(list(compile("qkv+projection+fc1+fc2")),
              (Names{"norm1", "attention", "norm2", "gelu"}));
    EXPECT_EQ(list(compile("qkv+projection")),
              (Names{"norm1", "attention", "dropout-add1", "norm2", "fc1", "gelu", "fc2"}));
    EXPECT_EQ(list(compile("qkv+attention+projection+fc1+fc2")), (Names{"norm1", "norm2", "gelu"}));
    // The result of the last product is added to the block's, which is there.
    EXPECT_EQ(list(compile("qkv+projection", R"(, "recomputeStopsEarly": true)")),
              (Names{"norm1", "attention", "dropout-add1", "norm2", "fc1", "gelu"}));
    // What the last sum reads, which is not computed again, is kept.
    EXPECT_EQ(list(compile("fc2")),
              (Names{"norm1", "qkv", "attention", "projection", "norm2", "fc1", "gelu"}));
    const auto peak = [&compile](const std::string& keeps) {
        return AccountMemory(compile(keeps, "", 16))[0].peakBytes;
    };
    EXPECT_LT(peak("qkv"), peak("qkv+projection"));
    EXPECT_LT(peak("qkv+projection"), peak("qkv+projection+fc1+fc2"));
    EXPECT_THROW(compile("head"), std::invalid_argument);
    EXPECT_THROW(compile("qkv+"), std::invalid_argument);
    EXPECT_THROW(Compile(R"({"dp": 1, "recompute": "full", "recomputeKeeps": "qkv"})"),
                 std::invalid_argument);
}

TEST(Recomputation, StopsWhenAllThatIsReadIsThere)
{
    const auto compile = [](const std::string& more, int64_t dropout) {
        return Compile(R"({"recompute": "full", "sequenceParallel": true, "tp": 2)" + more + "}",
                       dropout);
    };
    const std::string stops = R"(, "recomputeStopsEarly": true)";
    const ExecutionGraph whole = compile("", 0);
    const ExecutionGraph early = compile(stops, 0);
    const auto list = [](const ExecutionGraph& graph) {
        std::multiset<std::string> names;
        for (const Task& task : graph.GetTasks())
        {
            if (task.kind == TaskKind::COMPUTE)
            {
                names.insert(graph.GetName(task));
            }
        }
        return names;
    };
    // The last product of a block is only added, and what that makes is the block's result.
    std::multiset<std::string> gone;
    const auto all = list(whole);
    const auto left = list(early);
    std::set_difference(all.begin(),
                        all.end(),
                        left.begin(),
                        left.end(),
                        std::inserter(gone, gone.begin()));
    std::multiset<std::string> expected;
    for (int layer = 0; layer < 4; ++layer)
    {
        for (int device = 0; device < 2; ++device)
        {
            expected.insert("layer" + std::to_string(layer) + ".fc2.recompute");
        }
    }
    EXPECT_EQ(gone, expected);
    EXPECT_EQ(left.size() + gone.size(), all.size());
    // Nor is its result scattered again.
    const auto bytes = [](const ExecutionGraph& graph) {
        return CountBytes(graph, Collective::REDUCE_SCATTER)["backward"];
    };
    EXPECT_EQ(bytes(whole) - bytes(early), 4u * 2048 * 768 * 2);
    // A dropout behind it has a mask, which its backward pass reads.
    EXPECT_EQ(list(compile(stops, 1)), list(compile("", 1)));
    // Without recomputation there is nothing to stop.
    EXPECT_EQ(list(Compile(R"({"recomputeStopsEarly": true})")), list(Compile("{}")));
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
