/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Low-rank adapters beside frozen weights: which parameters are trained, which kernels,
// communication and memory are left, and what is refused. Expected numbers are closed forms.

#include "../error-of.h"
#include "compile-tools.h"

#include "ns3/proteus-framework-json.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

using Variables = std::map<std::string, int64_t>;

constexpr uint64_t LAYERS = 3;
constexpr uint64_t H = 64;  // hidden
constexpr uint64_t G = 32;  // keys and values
constexpr uint64_t F = 256; // feed-forward
constexpr uint64_t V = 512; // words
constexpr uint64_t S = 128; // tokens
constexpr uint64_t R = 8;   // rank
/// Weights of the linear layers of a block.
constexpr uint64_t LINEAR = H * (H + 2 * G) + H * H + 2 * H * F + F * H;
constexpr uint64_t BASE = LAYERS * (LINEAR + 2 * H) + H + 2 * V * H;
/// Adapters of all seven linear layers of a block, each of its own.
constexpr uint64_t ADAPTED = LAYERS * R * ((H + H) + 2 * (H + G) + (H + H) + 2 * (H + F) + (F + H));

/// @param more variables @return those of a small model with adapters
Variables
Small(const Variables& more = {})
{
    Variables all{{"layers", LAYERS},
                  {"hidden", H},
                  {"heads", 4},
                  {"kvHeads", 2},
                  {"feedForward", F},
                  {"vocabulary", V},
                  {"sequence", S},
                  {"fusesLoss", 1},
                  {"adapterRank", R}};
    for (const auto& [name, value] : more)
    {
        all[name] = value;
    }
    return all;
}

/// @param variables of the model @param strategy text @return the model
Model
Load(const Variables& variables, const std::string& strategy = "{}")
{
    return compiletest::LoadFor("llama", compiletest::ReadStrategy(strategy), variables);
}

/// @param graph a graph @param name of persistent memory @return its bytes on device 0
uint64_t
FindPersistent(const ExecutionGraph& graph, const std::string& name)
{
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::MEMORY && task.persistent && task.place == 0 &&
            graph.GetName(task) == name)
        {
            return task.bytes;
        }
    }
    return 0;
}

/// @param graph a graph @return the names of its kernels
std::set<std::string>
ListKernels(const ExecutionGraph& graph)
{
    std::set<std::string> names;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        if (graph.GetTask(id).kind == TaskKind::COMPUTE)
        {
            names.insert(graph.GetName(graph.GetTask(id)));
        }
    }
    return names;
}

/// @param layers of a model in JSON @return what is wrong with it
std::string
Refuse(const std::string& layers, const std::string& more = "")
{
    std::istringstream input(R"({"format": "proteus-model", "version": 1, )" + more +
                             R"("inputs": [{"name": "x", "shape": [2, 8, 16]}], "layers": [)" +
                             layers + "]}");
    try
    {
        ReadModelJson(input, "m.json");
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(Adapters, AreAllThatIsTrained)
{
    const Model model = Load(Small());
    EXPECT_EQ(model.CountParameters(), BASE + ADAPTED);
    EXPECT_EQ(model.CountTrainedParameters(), ADAPTED);
    // Queries and values alone, as the paper has them.
    const Variables some{{"adaptsKeys", 0}, {"adaptsProjection", 0}, {"adaptsFeedForward", 0}};
    EXPECT_EQ(Load(Small(some)).CountTrainedParameters(), LAYERS * R * (2 * H + H + G));
    // One adapter for queries, keys and values together reads the input once.
    Variables shared = some;
    shared["adaptsKeys"] = 1;
    shared["adapterShared"] = 1;
    EXPECT_EQ(Load(Small(shared)).CountTrainedParameters(), LAYERS * R * (2 * H + 2 * G));
    EXPECT_EQ(Load(Small({{"adapterRank", 0}})).CountTrainedParameters(), BASE);
}

TEST(Adapters, SpareTheGradientsOfFrozenWeights)
{
    // Adapters aside, a backward pass has one product for each of the forward pass: the gradient of
    // what it reads; attention has both. The first layer's need none, nor has the embedding one.
    const double tokens = S;
    const double attention = LAYERS * 4.0 * S * S * H; // of all scores
    const double frozen = 2 * tokens * (LAYERS * LINEAR + V * H);
    const double first = 2 * tokens * H * (H + 2 * G); // qkv of layer 0
    const double adapters = 2 * tokens * ADAPTED;
    // Of the adapters of layer 0's qkv what reads the block's input gets no gradient of that.
    const double spared = 2 * tokens * 3 * R * H;
    const double flops = Load(Small()).CountTrainingFlops();
    EXPECT_NEAR(flops / (3 * attention + 2 * frozen - first + 3 * adapters - spared), 1, 1e-12);
    const Model whole = Load(Small({{"adapterRank", 0}}));
    EXPECT_EQ(whole.CountTrainingFlops(), 3 * whole.CountForwardFlops());
}

TEST(Adapters, LeaveNoKernelForFrozenWeights)
{
    const auto kernels = ListKernels(compiletest::Compile("llama", "{}", Small()));
    EXPECT_EQ(kernels.count("layer1.qkv.weight-gradient"), 0u);
    EXPECT_EQ(kernels.count("layer1.qkv.input-gradient"), 1u);
    EXPECT_EQ(kernels.count("layer1.qkv-adapter0.down.weight-gradient"), 1u);
    EXPECT_EQ(kernels.count("layer1.down-adapter.up.weight-gradient"), 1u);
    EXPECT_EQ(kernels.count("output.weight-gradient"), 0u);
    EXPECT_EQ(kernels.count("output.input-gradient"), 1u);
    // Nothing before the first adapters has a backward pass.
    EXPECT_EQ(kernels.count("layer0.qkv.input-gradient"), 0u);
    EXPECT_EQ(kernels.count("layer0.norm1.backward"), 0u);
    EXPECT_EQ(kernels.count("layer0.qkv-adapter0.down.input-gradient"), 0u);
    EXPECT_EQ(kernels.count("layer0.qkv-adapter0.down.weight-gradient"), 1u);
    EXPECT_EQ(kernels.count("embedding.word.backward"), 0u);
}

// In fp32 beside weights in 16 bits: what they read is cast, and what they add to is cast back.
TEST(Adapters, MayBeWide)
{
    const Variables wide{{"adapterWide", 1}};
    const auto kernels = ListKernels(compiletest::Compile("llama", "{}", Small(wide)));
    EXPECT_EQ(kernels.count("layer1.qkv-adapter0.cast"), 1u);
    EXPECT_EQ(kernels.count("layer1.qkv-adapter0.cast.backward"), 1u);
    EXPECT_EQ(kernels.count("layer0.qkv-adapter0.cast.backward"), 0u); // nobody needs its gradient
    Variables dropping = wide;
    dropping["adapterDropout"] = 1;
    const auto others = ListKernels(compiletest::Compile("llama", "{}", Small(dropping)));
    EXPECT_EQ(others.count("layer1.qkv-adapter0.drop"), 1u);
    EXPECT_EQ(others.count("layer1.qkv-adapter0.cast"), 0u);
    EXPECT_EQ(Load(Small(wide)).CountTrainedParameters(), ADAPTED);
    // Under PEFT they move more than in 16 bits, and take longer.
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    for (const char* name : {"ddp", "deepspeed", "fsdp1", "fsdp2", "liger"})
    {
        const Framework framework = LoadFramework(folder + name + ".json");
        const auto bytes = [&framework](const std::string& kind) {
            return framework.FindRule(kind, true)->GetBytes(2) +
                   framework.FindRule(kind, false)->GetBytes(2);
        };
        EXPECT_GT(bytes("wide-adapter-add"), 2 * bytes("adapter-add")) << name;
        EXPECT_GT(bytes("wide-dropout"), 2 * bytes("dropout")) << name;
    }
}

TEST(Adapters, HaveStatesAndGradientsOfTheirOwnOnly)
{
    const auto graph = compiletest::Compile("llama", "{}", Small());
    EXPECT_EQ(FindPersistent(graph, "parameters"), 2 * (BASE + ADAPTED));
    EXPECT_EQ(FindPersistent(graph, "gradients"), 4 * ADAPTED);
    EXPECT_EQ(FindPersistent(graph, "optimizer-state"), 12 * ADAPTED);
    // Without a master copy moments have 16 bits, too.
    const auto pure = compiletest::Compile("llama",
                                           R"({"masterWeights": false, "gradientType": "bf16"})",
                                           Small());
    EXPECT_EQ(FindPersistent(pure, "gradients"), 2 * ADAPTED);
    EXPECT_EQ(FindPersistent(pure, "optimizer-state"), 4 * ADAPTED);
    // Frozen linear layers of blocks in four bits; embedding, head and norms stay in 16.
    const auto four = compiletest::Compile("llama", R"({"frozenType": "nf4"})", Small());
    const uint64_t rest = BASE - LAYERS * LINEAR;
    EXPECT_NEAR(static_cast<double>(FindPersistent(four, "parameters")),
                2.0 * static_cast<double>(rest + ADAPTED) +
                    FOUR_BIT_BYTES * static_cast<double>(LAYERS * LINEAR),
                LAYERS * 4);
}

TEST(Adapters, AreAllThatReplicasReduce)
{
    const auto count = [](const std::string& plan) {
        std::map<std::string, uint64_t> bytes;
        for (const InventoryRow& row : TakeInventory(compiletest::Compile("llama", plan, Small())))
        {
            bytes[ToString(row.collective)] += row.bytes * row.count;
        }
        return bytes;
    };
    using Bytes = std::map<std::string, uint64_t>;
    const uint64_t all = 2 * (BASE + ADAPTED);
    EXPECT_EQ(count(R"({"dp": 2, "buckets": "whole"})"), (Bytes{{"all-reduce", 4 * ADAPTED}}));
    // ZeRO 1 gathers what was updated; ZeRO 3 all there is, and for the backward pass again, but
    // not the embedding, nor what layer 0 has before its attention.
    EXPECT_EQ(count(R"({"dp": 2, "zero": 1, "buckets": "whole"})"),
              (Bytes{{"reduce-scatter", 4 * ADAPTED}, {"all-gather", 2 * ADAPTED}}));
    auto shared = count(R"({"dp": 2, "zero": 3, "buckets": "whole"})");
    EXPECT_EQ(shared["reduce-scatter"], 4 * ADAPTED);
    EXPECT_GT(shared["all-gather"], all);
    EXPECT_LT(shared["all-gather"], 2 * all - 2 * V * H);
}

TEST(Adapters, KeepNoInputsThatOnlyFrozenWeightsRead)
{
    // With queries adapted alone, what the feed-forward layers read is not kept, but the norm's
    // input is, and what swiglu reads.
    const Variables queries{{"adaptsKeys", 0},
                            {"adaptsValues", 0},
                            {"adaptsProjection", 0},
                            {"adaptsFeedForward", 0}};
    const auto peak = [](const Variables& variables) {
        return AccountMemory(compiletest::Compile("llama", "{}", Small(variables)))
            .front()
            .bytesAtPeak[static_cast<std::size_t>(MemoryUse::ACTIVATIONS)];
    };
    Variables all = queries;
    all["adaptsFeedForward"] = 1;
    // In layers whose activations are all there at the peak: the input of gate and up, that of
    // down, and what their three adapters have between their halves.
    const uint64_t layer = 2 * S * (H + F + 3 * R);
    EXPECT_EQ(peak(all) - peak(queries), LAYERS * layer);
}

TEST(Adapters, AreSplitAsTheirLayersAre)
{
    const auto kinds =
        compiletest::CountKinds(compiletest::Compile("llama", R"({"tp": 2})", Small()));
    const auto without = compiletest::CountKinds(
        compiletest::Compile("llama", R"({"tp": 2})", Small({{"adapterRank", 0}})));
    // "down" of the two layers whose inputs are split makes partial sums of its own.
    EXPECT_EQ(kinds.at("forward all-reduce 2"), without.at("forward all-reduce 2") + 2 * LAYERS);
}

TEST(Adapters, RefuseWhatTheyAreNotFor)
{
    const std::string linear = R"({"op": "linear", "name": "a", "outputs": [4, 8])";
    EXPECT_NE(Refuse(R"({"op": "relu", "name": "a", "adapter": 2})")
                  .find("m.json: /layers/0/adapter: only a linear layer has an adapter"),
              std::string::npos);
    EXPECT_NE(Refuse(linear + R"(, "adapter": [1, 2, 3]})")
                  .find("m.json: /layers/0/adapter: \"adapter\" has 3 ranks, must have one, or one "
                        "for each of 2 results"),
              std::string::npos);
    EXPECT_NE(Refuse(linear + R"(, "adapter": "1 - 2"})").find("a rank must not be negative"),
              std::string::npos);
    EXPECT_NE(Refuse(linear + R"(, "bias": 2})").find("attribute \"bias\" is 2, must be 0 or 1"),
              std::string::npos);
    EXPECT_NE(Refuse(linear + "}", R"("frozen": 1, )").find("all parameters are frozen"),
              std::string::npos);
    EXPECT_EQ(Refuse(linear + R"(, "frozen": 0})", R"("frozen": 1, )"), "");
    EXPECT_EQ(Refuse(linear + R"(, "adapter": [0, 2]})", R"("frozen": 1, )"), "");
}

// FSDP gathers the four bits; each device makes 16 of them, layer by layer (fsdp_qlora).
TEST(Adapters, AreGatheredInFourBits)
{
    const auto compile = [](const std::string& type) {
        return compiletest::Compile("llama", R"({"dp": 2, "zero": 3)" + type + "}", Small());
    };
    const auto gathered = [](const ExecutionGraph& graph) {
        double bytes = 0;
        for (const InventoryRow& row : TakeInventory(graph))
        {
            bytes += ToString(row.collective) == std::string("all-gather")
                         ? static_cast<double>(row.bytes * row.count)
                         : 0;
        }
        return bytes;
    };
    const ExecutionGraph wide = compile("");
    const ExecutionGraph four = compile(R"(, "frozenType": "nf4")");
    // All of them for the forward pass, and most for the backward pass again.
    const double spared = (gathered(wide) - gathered(four)) / (2 - FOUR_BIT_BYTES);
    EXPECT_GT(spared, 1.4 * LAYERS * LINEAR);
    EXPECT_LT(spared, 2.0 * LAYERS * LINEAR + 1);
    EXPECT_NEAR(static_cast<double>(FindPersistent(wide, "parameters")) -
                    static_cast<double>(FindPersistent(four, "parameters")),
                (2 - FOUR_BIT_BYTES) / 2 * LAYERS * LINEAR,
                LAYERS * 8);
}

TEST(Documents, SeeOnlyThemselves)
{
    // A quarter of the scores, and so of their operations, with four documents.
    const double linear = 3 * 2.0 * S * (LAYERS * LINEAR + V * H);
    const double attention = 3 * LAYERS * 4.0 * S * S * H;
    const auto flops = [](int64_t documents) {
        return Load(Small({{"adapterRank", 0}, {"documents", documents}})).CountTrainingFlops();
    };
    EXPECT_NEAR(flops(1) / (linear + attention), 1, 1e-12);
    EXPECT_NEAR(flops(4) / (linear + attention / 4), 1, 1e-12);
    EXPECT_THROW(flops(3), std::invalid_argument);
}
