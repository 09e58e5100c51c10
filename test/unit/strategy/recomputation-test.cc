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
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

// Blocks that are computed again, and what of them is kept.

using namespace ns3::proteus;
using compiletest::CompileGpt;
using compiletest::CountBytes;

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

} // namespace

TEST(Recomputation, TakesEveryNthBlock)
{
    auto list = [](const std::string& more) {
        const ExecutionGraph graph = CompileGpt("{\"recompute\": \"full\"" + more + "}");
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
        CompileGpt(R"({"recomputeEvery": 2})");
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
        const ExecutionGraph graph = CompileGpt(R"({"dp": 1, "recompute": "full"})",
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
        return CompileGpt(R"({"dp": 1, "recompute": ")" + plan + R"("})", 0, {{"vocabulary", 64}});
    };
    std::set<std::string> expected;
    for (int layer = 0; layer < 4; ++layer)
    {
        for (const char* name : {"norm1", "attention", "dropout-add1", "norm2", "gelu"})
        {
            expected.insert("layer" + std::to_string(layer) + "." + name);
        }
    }
    EXPECT_EQ(ListRecomputed(compile("between-products")), expected);
    // Router and dispatch both read the second norm, which is made again; tokens are not sent
    // again.
    const ExecutionGraph experts =
        compiletest::Compile("mixtral-8x7b",
                             R"({"dp": 2, "ep": 2, "recompute": "between-products"})",
                             {{"layers", 1}});
    EXPECT_EQ(ListRecomputed(experts),
              (std::set<std::string>{"layer0.norm1",
                                     "layer0.rotary-q",
                                     "layer0.rotary-k",
                                     "layer0.attention",
                                     "layer0.add1",
                                     "layer0.norm2",
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
    EXPECT_NE(text.str().find("\"keep\""), std::string::npos) << text.str();
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
    EXPECT_THROW(CompileGpt(R"({"dp": 1, "recompute": "full", "recomputeModules": "mlp"})"),
                 std::invalid_argument);
}

// Of products only some are kept: the others are computed again, and what is behind the last that
// is kept, up to the end of the block.
TEST(Recomputation, BetweenProductsKeepsSomeOfThem)
{
    const auto compile =
        [](const std::string& keeps, const std::string& more = "", int64_t layers = 1) {
            return CompileGpt(R"({"dp": 1, "recompute": "between-products", "recomputeKeeps": ")" +
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
              (Names{"norm1", "attention", "dropout-add1", "norm2", "gelu"}));
    EXPECT_EQ(list(compile("qkv+projection")),
              (Names{"norm1", "attention", "dropout-add1", "norm2", "fc1", "gelu", "fc2"}));
    EXPECT_EQ(list(compile("qkv+attention+projection+fc1+fc2")),
              (Names{"norm1", "dropout-add1", "norm2", "gelu"}));
    EXPECT_EQ(list(compile("norm1+qkv+attention+projection+dropout-add1+norm2+fc1+fc2")),
              (Names{"gelu"}));
    // What only results that are kept are made of is left out, where all that is not needed is.
    const std::string sums = "qkv+attention+dropout-add1+fc1";
    EXPECT_EQ(list(compile(sums)), (Names{"norm1", "projection", "norm2", "gelu", "fc2"}));
    EXPECT_EQ(list(compile(sums, R"(, "recomputeStopsEarly": true)")),
              (Names{"norm1", "norm2", "gelu"}));
    // The result of the last product is added to the block's, which is there.
    EXPECT_EQ(list(compile("qkv+projection", R"(, "recomputeStopsEarly": true)")),
              (Names{"norm1", "attention", "dropout-add1", "norm2", "fc1", "gelu"}));
    EXPECT_EQ(
        list(compile("fc2")),
        (Names{"norm1", "qkv", "attention", "projection", "dropout-add1", "norm2", "fc1", "gelu"}));
    const auto peak = [&compile](const std::string& keeps) {
        return AccountMemory(compile(keeps, "", 16))[0].peakBytes;
    };
    EXPECT_LT(peak("qkv"), peak("qkv+projection"));
    EXPECT_LT(peak("qkv+projection"), peak("qkv+projection+fc1+fc2"));
    EXPECT_THROW(compile("head"), std::invalid_argument);
    EXPECT_THROW(compile("qkv+"), std::invalid_argument);
    EXPECT_THROW(CompileGpt(R"({"dp": 1, "recompute": "full", "recomputeKeeps": "qkv"})"),
                 std::invalid_argument);
}

// torchtitan's checkpoints of operators: attention and every other product are kept. Norms, keys,
// rotations and a sum are made again from these and from the block's input, which is kept, too.
TEST(Recomputation, KeepsOperatorsOfBlocksThatAreComputedAgain)
{
    const int64_t hidden = 256;
    const int64_t keyValue = 128;
    const int64_t feedForward = 512;
    const int64_t tokens = 1024;
    const int64_t heads = 4;
    const auto compile = [&](int64_t layers, const std::string& more = "") {
        return compiletest::Compile("llama",
                                    R"({"dp": 1, "recompute": "between-products",
                                        "recomputeKeeps": "q+v+gate+down+attention")" +
                                        more + "}",
                                    {{"layers", layers},
                                     {"hidden", hidden},
                                     {"heads", heads},
                                     {"kvHeads", 2},
                                     {"feedForward", feedForward},
                                     {"sequence", tokens},
                                     {"vocabulary", 64},
                                     {"separate", 1}});
    };
    const auto account = [](const ExecutionGraph& graph) {
        return AccountMemory(graph)[0]
            .bytesAtPeak[static_cast<std::size_t>(MemoryUse::ACTIVATIONS)];
    };
    std::map<int64_t, uint64_t> bytes;
    for (const int64_t layers : {8, 16})
    {
        const ExecutionGraph graph = compile(layers);
        std::set<std::string> again;
        uint64_t flops = 0;
        for (const Task& task : graph.GetTasks())
        {
            const std::string& name = graph.GetName(task);
            const std::size_t suffix = name.find(".recompute");
            if (task.kind == TaskKind::COMPUTE && suffix != std::string::npos)
            {
                const std::size_t begin = name.find('.') + 1;
                again.insert(name.substr(begin, suffix - begin));
                const std::string op = name.substr(begin, suffix - begin);
                flops += op == "k" || op == "projection" || op == "up" ? task.flops : 0;
            }
        }
        EXPECT_EQ(again,
                  (std::set<std::string>{"norm1",
                                         "k",
                                         "rotary-q",
                                         "rotary-k",
                                         "projection",
                                         "add1",
                                         "norm2",
                                         "up",
                                         "swiglu"}));
        EXPECT_EQ(flops, 2 * layers * tokens * hidden * (keyValue + hidden + feedForward));
        bytes[layers] = account(graph);
    }
    // The input, queries, values, attention's result with a sum in fp32 for each head, gate, and
    // down, which a checkpoint has whoever reads it, and a compiler does not.
    const uint64_t layer =
        tokens * (2 * (hidden + hidden + keyValue + hidden + feedForward) + 4 * heads);
    EXPECT_EQ((bytes.at(16) - bytes.at(8)) / 8, layer + 2 * tokens * hidden);
    const std::string stops = R"(, "recomputeStopsEarly": true)";
    EXPECT_EQ((account(compile(16, stops)) - account(compile(8, stops))) / 8, layer);
}

// A tree says itself what a block that is computed again keeps.
TEST(Recomputation, KeepsWhatATreeSays)
{
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json",
                  {{"layers", 1}, {"vocabulary", 64}});
    const auto compile = [&model](const std::string& nodes) {
        std::istringstream input(
            R"({"format": "proteus-strategy", "version": 1, "name": "t",
                "mesh": {"axes": ["dp"], "sizes": [1]}, "tree": {"children": [)" +
            nodes + "]}}");
        return CompileModel(model, ReadStrategyJson(input, "s.json").GetTree(model));
    };
    EXPECT_EQ(ListRecomputed(compile(R"({"name": "layer0", "recompute": true, "keep": true,
                                         "children": [{"name": "norm*", "keep": false}]})")),
              (std::set<std::string>{"layer0.norm1", "layer0.norm2"}));
    try
    {
        compile(R"({"name": "layer0", "children": [{"name": "qkv", "keep": true}]})");
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what()).find("keeps its results (keep), but is in no block"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Recomputation, StopsWhenAllThatIsReadIsThere)
{
    const auto compile = [](const std::string& more, int64_t dropout) {
        return CompileGpt(R"({"recompute": "full", "sequenceParallel": true, "tp": 2)" + more + "}",
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
    EXPECT_EQ(list(CompileGpt(R"({"recomputeStopsEarly": true})")), list(CompileGpt("{}")));
}
