/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Rules of frameworks for kernels: what they move, keep and hold.

#include "framework-tools.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

TEST(Framework, RulesReplaceTheCompilersKernels)
{
    const Framework framework = ReadFramework(
        ", \"operators\": {\"layer-norm\": {\"forward\": {\"kernels\": 3, \"compute\": 2, "
        "\"fp32\": "
        "4, \"source\": \"s\"}}}, \"weights\": {\"backwardBytes\": {\"value\": 6, \"source\": "
        "\"s\"}}");
    const KernelDescription norm = MakeNorm(100, 64, "", 0);
    KernelWork work = MakeNormalizationWork(100, 64, KernelPass::FORWARD, DataType::BF16);
    ApplyFramework(framework, norm, DataType::BF16, work);
    EXPECT_EQ(work.bytes, (2U * 2 + 4 * 4) * 100 * 64);
    EXPECT_EQ(work.GetNKernels(), 3u);
    work = MakeNormalizationWork(100, 64, KernelPass::FORWARD, DataType::FP32);
    ApplyFramework(framework, norm, DataType::FP32, work);
    EXPECT_EQ(work.bytes, 6U * 4 * 100 * 64);
    // The backward pass has no rule, a weight's gradient is copied.
    work = MakeNormalizationWork(100, 64, KernelPass::BACKWARD, DataType::BF16);
    const uint64_t before = work.bytes;
    ApplyFramework(framework, MakeNorm(100, 64, "backward", 0), DataType::BF16, work);
    EXPECT_EQ(work.bytes, before);
    work = MakeLinearWeightGradientWork(128, 32, 16, DataType::BF16);
    KernelDescription linear;
    linear.kind = "linear";
    linear.part = "weight-gradient";
    linear.extents = {128, 16, 32};
    ApplyFramework(framework, linear, DataType::BF16, work);
    EXPECT_EQ(work.bytes, 6U * 32 * 16);
    EXPECT_EQ(work.GetNKernels(), 2u);
}

// The classes of distances of a trained bias are an axis of the operator, and no more scores.
TEST(Framework, ScoresAreCountedOnceWhateverTheirBias)
{
    const Framework framework = ReadFramework(
        ", \"operators\": {\"attention\": {\"forward\": {\"kernels\": 6, \"compute\": 5, "
        "\"source\": \"s\"}}}");
    KernelDescription attention;
    attention.kind = "attention";
    attention.extents = {2, 8, 64, 128};
    KernelWork plain =
        MakeAttentionWork(16, 64, 128, 64, KernelPass::FORWARD, DataType::BF16, true);
    KernelWork biased = plain;
    ApplyFramework(framework, attention, DataType::BF16, plain);
    EXPECT_EQ(plain.bytes, 5U * 2 * 2 * 8 * 64 * 128);
    attention.extents.push_back(32);
    ApplyFramework(framework, attention, DataType::BF16, biased);
    EXPECT_EQ(biased.bytes, plain.bytes);
}

// A kernel that converts reads one format and writes the other; in fp32 there is none.
TEST(Framework, NothingIsConvertedInFp32)
{
    const Framework framework = ReadFramework(", \"operators\": {\"layer-norm\": {\"forward\": "
                                              "{\"kernels\": 2, \"compute\": 1, \"fp32\": 3, "
                                              "\"casts\": 1, \"source\": \"s\"}}}");
    const KernelDescription norm = MakeNorm(100, 64, "", 0);
    KernelWork work = MakeNormalizationWork(100, 64, KernelPass::FORWARD, DataType::BF16);
    ApplyFramework(framework, norm, DataType::BF16, work);
    EXPECT_EQ(work.bytes, (2U + 3 * 4) * 100 * 64);
    EXPECT_EQ(work.GetNKernels(), 2u);
    ApplyFramework(framework, norm, DataType::TF32, work);
    EXPECT_EQ(work.bytes, 2U * 4 * 100 * 64);
    EXPECT_EQ(work.GetNKernels(), 1u);
    EXPECT_NE(GetFrameworkError(
                  ", \"operators\": {\"relu\": {\"forward\": {\"kernels\": 1, \"compute\": 2, "
                  "\"casts\": 1, \"source\": \"s\"}}}"),
              "");
}

// A loop over blocks moves what these keep; what is computed again, or stands in no block, is not
// kept.
TEST(Framework, StacksAreOfWhatIsKept)
{
    const std::string rule = R"("kernels": 1, "compute": 2, "stacks": {"compute": 3, "fp32": 1})";
    const Framework framework = ReadFramework(R"(, "operators": {"layer-norm": {"forward": {)" +
                                              rule + R"(, "source": "s"}}},
            "stacks": {"weightForwardBytes": {"value": 9, "source": "s"},
                       "weightBackwardBytes": {"value": 5, "source": "s"},
                       "resultForwardElements": {"value": 4, "source": "s"},
                       "resultBackwardElements": {"value": 3, "source": "s"}})");
    const auto moved = [&framework](KernelDescription kernel, KernelWork work, bool isKept) {
        const uint64_t before = work.bytes;
        kernel.isKept = isKept;
        ApplyFramework(framework, kernel, DataType::BF16, work);
        return std::pair{work.bytes, work.bytes - before};
    };
    const KernelWork norm = MakeNormalizationWork(100, 64, KernelPass::FORWARD, DataType::BF16);
    EXPECT_EQ(moved(MakeNorm(100, 64, "", 0), norm, false).first, 2U * 2 * 100 * 64);
    EXPECT_EQ(moved(MakeNorm(100, 64, "", 0), norm, true).first, (2U * 2 + 3 * 2 + 4) * 100 * 64);
    KernelDescription linear;
    linear.kind = "linear";
    linear.extents = {128, 16, 32};
    const KernelWork forward = MakeLinearForwardWork(128, 32, 16, DataType::BF16);
    EXPECT_EQ(moved(linear, forward, false).second, 0u);
    EXPECT_EQ(moved(linear, forward, true).second, 9U * 32 * 16 + 4U * 2 * 128 * 16);
    linear.part = "weight-gradient";
    const KernelWork gradient = MakeLinearWeightGradientWork(128, 32, 16, DataType::BF16);
    EXPECT_EQ(moved(linear, gradient, false).second, 0u);
    EXPECT_EQ(moved(linear, gradient, true).second, 5U * 32 * 16 + 3U * 2 * 128 * 16);
    // An update is in no block, and an operand of fp8 is cast where it is used.
    const std::string fields = "{" + rule + R"(, "source": "s"})";
    EXPECT_NE(
        GetFrameworkError(R"(, "operators": {"adam": {"forward": )" + fields + "}}").find("stacks"),
        std::string::npos);
    EXPECT_NE(GetFrameworkError(R"(, "fp8": {"input": )" + fields + "}").find("stacks"),
              std::string::npos);
    const std::string timed = R"({"kernels": 1, "hostUs": 5, "source": "s"})";
    EXPECT_NE(
        GetFrameworkError(R"(, "operators": {"adam": {"forward": )" + timed + "}}").find("hostUs"),
        std::string::npos);
    EXPECT_NE(GetFrameworkError(R"(, "fp8": {"input": )" + timed + "}").find("hostUs"),
              std::string::npos);
}

TEST(Framework, WhatKernelsKeepAndHoldIsChecked)
{
    const auto rule = [](const std::string& pass, const std::string& fields) {
        return ", \"operators\": {\"cross-entropy\": {\"" + pass + "\": {\"kernels\": 2, " +
               fields + ", \"source\": \"s\"}}}";
    };
    const Framework framework =
        ReadFramework(rule("backward", R"("holds": {"fp32": 2, "compute": -1})"));
    EXPECT_EQ(framework.FindRule("cross-entropy", false)->GetHeldBytes(2), 6);
    EXPECT_EQ(framework.FindRule("cross-entropy", false)->GetHeldBytes(4), 4);
    const auto kept = [&rule](const std::string& keeps) {
        return ReadFramework(rule("forward", "\"keeps\": " + keeps))
            .FindRule("cross-entropy", true)
            ->kept;
    };
    EXPECT_EQ(kept(R"("fp32")"), (std::vector{ElementFormat::FP32}));
    EXPECT_EQ(kept(R"("wider")"), (std::vector{ElementFormat::WIDER}));
    EXPECT_EQ(kept(R"("fp32-of-cast")"), (std::vector{ElementFormat::FP32_OF_CAST}));
    EXPECT_EQ(kept(R"(["compute", "fp32"])"),
              (std::vector{ElementFormat::COMPUTE, ElementFormat::FP32}));
    EXPECT_NE(GetFrameworkError(rule("forward", R"("expertUs": 1)")).find("expertUs"),
              std::string::npos);
    EXPECT_NE(GetFrameworkError(rule("forward", R"("headCopies": 1)")).find("headCopies"),
              std::string::npos);
    EXPECT_NE(
        GetFrameworkError(rule("backward", R"("keeps": "fp32")")).find("only the forward pass"),
        std::string::npos);
    EXPECT_NE(GetFrameworkError(rule("forward", R"("keeps": "fp64")"))
                  .find("unknown format of what is kept"),
              std::string::npos);
    EXPECT_NE(GetFrameworkError(rule("backward", R"("holds": {"compute": -1})"))
                  .find("less than nothing"),
              std::string::npos);
}

// The gradient of a bias is a sum over rows; in fp32 neither bias nor gradient is converted.
TEST(Framework, BiasesHaveKernels)
{
    const Framework framework =
        ReadFramework(", \"weights\": {\"biasKernels\": {\"value\": 1, \"source\": \"s\"}, "
                      "\"biasBackwardKernels\": {\"value\": 2, \"source\": \"s\"}}");
    for (const auto& [type, more] : {std::pair{DataType::FP16, 1U}, std::pair{DataType::FP32, 0U}})
    {
        for (const bool hasBias : {false, true})
        {
            KernelDescription linear;
            linear.kind = "linear";
            linear.hasBias = hasBias;
            linear.extents = {128, 16, 32};
            KernelWork work = MakeLinearForwardWork(128, 32, 16, type);
            ApplyFramework(framework, linear, type, work);
            EXPECT_EQ(work.otherKernels, hasBias ? more : 0);
            EXPECT_EQ(work.bytes, 0u);
            linear.part = "weight-gradient";
            work = MakeLinearWeightGradientWork(128, 32, 16, type);
            ApplyFramework(framework, linear, type, work);
            EXPECT_EQ(work.otherKernels, hasBias ? 1 + more : 0);
            EXPECT_EQ(work.bytes, hasBias ? GetElementBytes(type) * 128 * 16 : 0);
        }
    }
}

// A bias that probabilities multiply has kernels for each expert of the device, behind the product
// and before that of the input's gradient, but not beside that of the weights'. Other biases of
// experts have none.
TEST(Framework, WeightedBiasesHaveKernelsForEachExpert)
{
    constexpr uint64_t RESULTS = 8 * 64 * 128;
    const Framework framework = ReadFramework(
        ", \"operators\": {\"weighted-bias\": {\"forward\": {\"kernels\": 1, \"expertKernels\": 2, "
        "\"compute\": 6, \"source\": \"s\"}, \"backward\": {\"kernels\": 2, \"compute\": 8, "
        "\"fp32\": 1, \"source\": \"s\"}}}");
    const auto work = [](const Framework& rules, const char* part, bool isWeighted) {
        KernelDescription kernel;
        kernel.kind = "expert-linear";
        kernel.part = part;
        kernel.hasBias = true;
        kernel.hasWeightedBias = isWeighted;
        kernel.extents = {8, 64, 128, 32}; // experts, tokens, out, in
        kernel.flops = 2.0 * 8 * 64 * 128 * 32;
        kernel.dataType = DataType::BF16;
        KernelWork result = DescribeKernel(kernel, DataType::BF16, 2).value();
        ApplyFramework(rules, kernel, DataType::BF16, result);
        return result;
    };
    EXPECT_EQ(work(framework, "", true).otherKernels, 1u + 2 * 8);
    EXPECT_EQ(work(framework, "", true).bytes, 6 * 2 * RESULTS);
    EXPECT_EQ(work(framework, "input-gradient", true).otherKernels, 2u);
    EXPECT_EQ(work(framework, "input-gradient", true).bytes, (8 * 2 + 4) * RESULTS);
    EXPECT_EQ(work(framework, "weight-gradient", true).bytes,
              work(framework, "weight-gradient", false).bytes);
    EXPECT_EQ(work(framework, "", false).bytes, 0u);
    // Whoever has no rule writes the result once more, and reads its gradient.
    const Framework plain = ReadFramework("");
    EXPECT_EQ(work(plain, "", true).bytes, 2 * 2 * RESULTS);
    EXPECT_EQ(work(plain, "input-gradient", true).bytes, 2 * RESULTS);
    EXPECT_EQ(work(plain, "input-gradient", true).otherKernels, 1u);
}

// Without a rule for its bounds the activation of gpt-oss is one of SwiGLU.
TEST(Framework, BoundsOfAnActivationHaveKernelsOrNone)
{
    const std::string swiglu = "\"swiglu\": {\"forward\": {\"kernels\": 1, \"compute\": 3, "
                               "\"source\": \"s\"}}";
    const std::string clamped = "\"clamped-swiglu\": {\"forward\": {\"kernels\": 4, \"compute\": "
                                "11, \"source\": \"s\"}}";
    const auto count = [](const std::string& rules) {
        const KernelRule* rule = FindKernelRule(ReadFramework(", \"operators\": {" + rules + "}"),
                                                "clamped-swiglu",
                                                true,
                                                {});
        return rule ? rule->computeElements : 0;
    };
    EXPECT_EQ(count(swiglu), 3);
    EXPECT_EQ(count(swiglu + ", " + clamped), 11);
    EXPECT_EQ(count(clamped), 11);
    // So is the activation of T5 1.1, whose GELU is written out.
    const Framework gated = ReadFramework(", \"operators\": {" + swiglu + "}");
    EXPECT_EQ(FindKernelRule(gated, "composed-geglu", true, {}), gated.FindRule("swiglu", true));
    // So is a rotation by YaRN one like others.
    const Framework rotating = ReadFramework(", \"operators\": {\"rotary\": {\"forward\": "
                                             "{\"kernels\": 1, \"compute\": 2, \"source\": "
                                             "\"s\"}}}");
    EXPECT_EQ(FindKernelRule(rotating, "scaled-rotary", true, {}),
              rotating.FindRule("rotary", true));
}

// Operands of products in fp8: per element one reading more than with the scales of the step
// before, and two kernels more. Weights as the rules say, in the place of what they are in 16 bits.
TEST(Framework, Float8HasKernelsOfItsOwn)
{
    const Framework delayed;
    Framework dynamic = ReadFramework(
        ", \"weights\": {\"forwardBytes\": {\"value\": 4, \"source\": \"s\"}}, \"fp8\": {"
        "\"input\": {\"kernels\": 3, \"compute\": 2, \"bytes\": 2, \"source\": \"s\"}, "
        "\"gradient\": {\"kernels\": 4, \"compute\": 3, \"bytes\": 2, \"source\": \"s\"}, "
        "\"weightForward\": {\"kernels\": 1, \"bytes\": 2, \"source\": \"s\"}, "
        "\"weightBackward\": {\"kernels\": 2, \"bytes\": 5, \"source\": \"s\"}}");
    EXPECT_FALSE(dynamic.float8.gathersWeights);
    constexpr uint64_t ROWS = 512;
    constexpr uint64_t IN = 256;
    constexpr uint64_t OUT = 1024;
    const auto apply = [&](const Framework& framework, const std::string& part, DataType type) {
        KernelDescription kernel;
        kernel.name = "layer0.fc1";
        kernel.kind = "linear";
        kernel.part = part;
        kernel.extents = {1, ROWS, OUT, IN};
        kernel.flops = 2.0 * ROWS * IN * OUT;
        kernel.dataType = type;
        KernelWork work = DescribeKernel(kernel, type, 4).value();
        ApplyFramework(framework, kernel, type, work);
        return work;
    };
    const auto more = [&](const std::string& part) {
        const KernelWork before = apply(delayed, part, DataType::FP8);
        const KernelWork after = apply(dynamic, part, DataType::FP8);
        return std::pair{after.bytes - before.bytes, after.otherKernels - before.otherKernels};
    };
    EXPECT_EQ(more(""), (std::pair<uint64_t, uint32_t>{2 * ROWS * IN + 2 * IN * OUT, 3}));
    EXPECT_EQ(more("input-gradient"), (std::pair<uint64_t, uint32_t>{4 * ROWS * OUT, 3}));
    EXPECT_EQ(more("weight-gradient"), (std::pair<uint64_t, uint32_t>{5 * IN * OUT, 2}));
    // In 16 bits only the weights are moved.
    const KernelWork half = apply(dynamic, "", DataType::BF16);
    EXPECT_EQ(half.bytes, 4 * IN * OUT);
    EXPECT_EQ(half.otherKernels, 1u);
}

// Rules of experts are per element that goes to them, as often as a token has experts: what the
// compiler counts for whole tokens is told apart.
TEST(Framework, RulesOfExpertsCountWhatGoesToThem)
{
    const std::string rule = "{\"kernels\": 3, \"compute\": 4, \"source\": \"s\"}";
    const std::string both = "{\"forward\": " + rule + ", \"backward\": " + rule + "}";
    const Framework framework = ReadFramework(
        ", \"operators\": {\"dispatch\": " + both + ", \"combine\": " + both +
        ", \"router\": {\"forward\": {\"kernels\": 5, \"fp32\": 8, \"source\": \"s\"}}" +
        ", \"flex-dispatch\": {\"forward\": {\"kernels\": 7, \"compute\": 1, \"source\": " +
        "\"s\"}}}");
    constexpr uint64_t TOKENS = 64;
    constexpr uint64_t HIDDEN = 128;
    constexpr uint64_t TOP = 2;
    constexpr uint64_t EXPERTS = 8;
    const auto load = [&](int64_t batch) {
        return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/mixtral-8x7b.json",
                         {{"layers", 1},
                          {"batch", batch},
                          {"hidden", HIDDEN},
                          {"heads", 4},
                          {"kvHeads", 4},
                          {"feedForward", 256},
                          {"sequence", TOKENS}});
    };
    // Where tokens go once to a server, a rule for that goes before, if there is one.
    for (const bool isFlex : {false, true})
    {
        std::istringstream plan(isFlex ? R"({"dp": 2, "ep": 2, "expertDispatch": "deepep"})"
                                       : R"({"dp": 1, "expertDispatch": "deepep"})");
        uint32_t nSeen = 0;
        CompileOptions options;
        options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
            if (kernel.kind == "dispatch" || kernel.kind == "combine" ||
                (kernel.kind == "router" && kernel.part.empty()))
            {
                const bool isOther = isFlex && kernel.kind == "dispatch" && kernel.part.empty();
                KernelWork work = DescribeKernel(kernel, DataType::BF16, 4).value();
                ApplyFramework(framework, kernel, DataType::BF16, work);
                EXPECT_EQ(work.bytes,
                          kernel.kind == "router" ? 8 * 4 * TOKENS * EXPERTS
                                                  : (isOther ? 1 : 4) * 2 * TOP * TOKENS * HIDDEN)
                    << kernel.kind << " " << kernel.part;
                EXPECT_EQ(work.otherKernels, kernel.kind == "router" ? 5u : isOther ? 7u : 3u);
                ++nSeen;
            }
            return 0;
        };
        const StrategyFile file = ReadStrategyJson(plan, "s.json");
        const Model model = load(isFlex ? 2 : 1);
        CompileModel(model, file.GetTree(model), options);
        EXPECT_EQ(nSeen, 5u);
    }
}

// Attention without dropout, and without a mask, has fewer kernels, if the framework says which.
TEST(Framework, RulesOfAttentionAreByWhatHappensToScores)
{
    struct Case
    {
        const char* model;
        std::map<std::string, int64_t> variables;
        uint32_t kernels; //!< forward
        uint64_t bytes;   //!< of the scores of a head, forward
        uint64_t positions;
    };

    const Framework framework =
        LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/ddp.json");
    constexpr uint64_t IMAGE = 197;
    constexpr uint64_t TEXT = 64;
    for (const Case& one :
         {Case{"vit-base", {{"layers", 1}}, 7, (4 * 2 + 2 * 4) * IMAGE * IMAGE, IMAGE},
          Case{"gpt",
               {{"layers", 1}, {"sequence", 64}, {"dropout", 0}},
               10,
               (8 * 2 + 4 * 4) * TEXT * TEXT,
               TEXT},
          Case{"gpt",
               {{"layers", 1}, {"sequence", 64}},
               9,
               (5 * 2 + 5 * 4 + 1) * TEXT * TEXT,
               TEXT}})
    {
        uint32_t nSeen = 0;
        CompileOptions options;
        options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
            if (kernel.kind == "attention" && kernel.part.empty())
            {
                KernelWork work = DescribeKernel(kernel, DataType::FP16, 4).value();
                ApplyFramework(framework, kernel, DataType::FP16, work);
                EXPECT_EQ(work.otherKernels, one.kernels) << one.model;
                // Of 12 heads of 64 numbers four copies are read and written.
                const uint64_t copied = 4 * 2 * one.positions * 64 * 2;
                EXPECT_EQ(work.bytes, 12 * (one.bytes + copied)) << one.model;
                ++nSeen;
            }
            return 0;
        };
        std::istringstream plan(R"({"dataType": "fp16"})");
        const StrategyFile file = ReadStrategyJson(plan, "s.json");
        std::map<std::string, int64_t> variables = one.variables;
        variables["batch"] = 1;
        const Model model =
            LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + one.model + ".json",
                      variables);
        CompileModel(model, file.GetTree(model), options);
        EXPECT_EQ(nSeen, 1u);
    }
}

// What a rotary embedding moves is per element, whatever its heads: of queries and keys that share
// them, too.
TEST(Framework, RotationsCountElements)
{
    const Framework framework =
        ReadFramework(", \"operators\": {\"rotary\": {\"forward\": {\"kernels\": 1, "
                      "\"compute\": 2, \"source\": \"s\"}, \"backward\": {\"kernels\": 3, "
                      "\"compute\": 2, \"fp32\": 4, \"source\": \"s\"}}}");
    constexpr uint64_t TOKENS = 64;
    constexpr uint64_t HIDDEN = 256;
    const Model model = LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/llama.json",
                                  {{"layers", 1},
                                   {"hidden", HIDDEN},
                                   {"heads", 8},
                                   {"kvHeads", 2},
                                   {"feedForward", 512},
                                   {"sequence", TOKENS}});
    std::istringstream plan(R"({"dp": 1, "tp": 1, "pp": 1, "globalBatch": 1, "microBatch": 1})");
    uint64_t bytes[2]{0, 0};
    CompileOptions options;
    options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
        if (kernel.kind == "rotary")
        {
            KernelWork work = DescribeKernel(kernel, DataType::BF16, 4).value();
            ApplyFramework(framework, kernel, DataType::BF16, work);
            bytes[kernel.part.empty() ? 0 : 1] += work.bytes;
        }
        return 0;
    };
    CompileModel(model, ReadStrategyJson(plan, "s.json").GetTree(model), options);
    constexpr uint64_t ELEMENTS = TOKENS * (HIDDEN + HIDDEN / 4); // queries, and keys of two heads
    EXPECT_EQ(bytes[0], 4 * ELEMENTS);
    EXPECT_EQ(bytes[1], 20 * ELEMENTS);
}

TEST(Framework, KernelsThatAreComputedAgainSaySo)
{
    const Model model = LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/llama.json",
                                  {{"layers", 2}, {"hidden", 256}, {"heads", 8}});
    for (const std::string recompute : {"none", "full"})
    {
        std::istringstream plan(R"({"dp": 1, "recompute": ")" + recompute + "\"}");
        std::map<std::string, uint32_t> runs; // of forward kernels, by name
        uint32_t nAgain = 0;
        CompileOptions options;
        options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
            EXPECT_FALSE(kernel.isDeferred);
            EXPECT_EQ(kernel.isRecomputation, kernel.part.empty() && runs[kernel.name] > 0);
            runs[kernel.name] += kernel.part.empty();
            nAgain += kernel.isRecomputation;
            return 0;
        };
        CompileModel(model, ReadStrategyJson(plan, "s.json").GetTree(model), options);
        EXPECT_EQ(nAgain > 0, recompute == "full");
    }
}
