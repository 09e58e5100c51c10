/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Frameworks: the host that runs ahead, rules for kernels, published rates of attention and matrix
// products, and the files.

#include "../error-of.h"

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

Framework
Read(const std::string& fields)
{
    std::istringstream input("{\"format\": \"proteus-framework\", \"version\": 1, \"name\": \"x\", "
                             "\"description\": \"y\"" +
                             fields + "}");
    return ReadFrameworkJson(input, "f.json");
}

std::string
GetError(const std::string& fields)
{
    return ns3::proteus::ErrorOf([&] { Read(fields); });
}

KernelDescription
MakeNorm(uint64_t rows, uint64_t columns, const std::string& part, uint64_t pass)
{
    KernelDescription kernel;
    kernel.name = "layer0.norm" + std::to_string(pass);
    kernel.kind = "layer-norm";
    kernel.part = part;
    kernel.extents = {1, rows, columns};
    kernel.bytes = 4 * rows * columns;
    kernel.pass = pass;
    return kernel;
}

} // namespace

// A host of 10 us per kernel and kernels of 4 us: the GPU waits for every one. Kernels of 30 us: it
// waits for the first only. Then the lead of 20 us per kernel hides short ones until it is used up.
TEST(HostLead, HidesWhatItHasTimeFor)
{
    constexpr int64_t US = 1000000;
    HostLead slow;
    for (int i = 0; i < 3; ++i)
    {
        EXPECT_EQ(slow.Add(1, 10 * US, 4 * US), i == 0 ? 14 * US : 10 * US);
    }
    HostLead fast;
    EXPECT_EQ(fast.Add(1, 10 * US, 30 * US), 40 * US);
    EXPECT_EQ(fast.Add(1, 10 * US, 30 * US), 30 * US);
    // 20 + 30 us are left; five short kernels take 6 us each off the lead of 50 us.
    int64_t sum = 0;
    for (int i = 0; i < 5; ++i)
    {
        sum += fast.Add(1, 10 * US, 4 * US);
    }
    EXPECT_EQ(sum, 20 * US);
    EXPECT_EQ(fast.Add(2, 10 * US, 30 * US), 40 * US); // another pass begins with an idle GPU
}

// However kernels are cut, a pass takes at least the host's and at least the GPU's time.
TEST(HostLead, IsBoundedByHostAndGpu)
{
    HostLead lead;
    int64_t host = 0;
    int64_t gpu = 0;
    int64_t sum = 0;
    uint32_t state = 1;
    for (int i = 0; i < 1000; ++i)
    {
        state = state * 1664525 + 1013904223;
        const int64_t h = state >> 20;
        state = state * 1664525 + 1013904223;
        const int64_t g = state >> 20;
        sum += lead.Add(7, h, g);
        host += h;
        gpu += g;
        EXPECT_GE(sum, host);
        EXPECT_GE(sum, gpu);
        EXPECT_LE(sum, host + gpu);
    }
}

TEST(Framework, RulesReplaceTheCompilersKernels)
{
    const Framework framework =
        Read(", \"operators\": {\"layer-norm\": {\"forward\": {\"kernels\": 3, \"compute\": 2, "
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
    const Framework framework =
        Read(", \"operators\": {\"attention\": {\"forward\": {\"kernels\": 6, \"compute\": 5, "
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
    const Framework framework = Read(", \"operators\": {\"layer-norm\": {\"forward\": "
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
    EXPECT_NE(GetError(", \"operators\": {\"relu\": {\"forward\": {\"kernels\": 1, \"compute\": 2, "
                       "\"casts\": 1, \"source\": \"s\"}}}"),
              "");
}

TEST(Framework, WhatKernelsKeepAndHoldIsChecked)
{
    const auto rule = [](const std::string& pass, const std::string& fields) {
        return ", \"operators\": {\"cross-entropy\": {\"" + pass + "\": {\"kernels\": 2, " +
               fields + ", \"source\": \"s\"}}}";
    };
    const Framework framework = Read(rule("backward", R"("holds": {"fp32": 2, "compute": -1})"));
    EXPECT_EQ(framework.FindRule("cross-entropy", false)->GetHeldBytes(2), 6);
    EXPECT_EQ(framework.FindRule("cross-entropy", false)->GetHeldBytes(4), 4);
    EXPECT_EQ(Read(rule("forward", R"("keeps": "fp32")")).FindRule("cross-entropy", true)->kept,
              ElementFormat::FP32);
    EXPECT_EQ(Read(rule("forward", R"("keeps": "wider")")).FindRule("cross-entropy", true)->kept,
              ElementFormat::WIDER);
    EXPECT_EQ(
        Read(rule("forward", R"("keeps": "fp32-of-cast")")).FindRule("cross-entropy", true)->kept,
        ElementFormat::FP32_OF_CAST);
    EXPECT_NE(GetError(rule("forward", R"("expertUs": 1)")).find("expertUs"), std::string::npos);
    EXPECT_NE(GetError(rule("forward", R"("headCopies": 1)")).find("headCopies"),
              std::string::npos);
    EXPECT_NE(GetError(rule("backward", R"("keeps": "fp32")")).find("only the forward pass"),
              std::string::npos);
    EXPECT_NE(GetError(rule("forward", R"("keeps": "fp64")")).find("none of"), std::string::npos);
    EXPECT_NE(GetError(rule("backward", R"("holds": {"compute": -1})")).find("less than nothing"),
              std::string::npos);
}

// The gradient of a bias is a sum over rows; in fp32 neither bias nor gradient is converted.
TEST(Framework, BiasesHaveKernels)
{
    const Framework framework =
        Read(", \"weights\": {\"biasKernels\": {\"value\": 1, \"source\": \"s\"}, "
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

// Numbered blocks are units of sharding, all else is the root unit; an update costs by its tensors.
TEST(Framework, UnitsAndTensorsTakeTheHostsTime)
{
    const Framework framework = Read(", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": "
                                     "\"s\"}, \"blockUs\": {\"value\": 100, "
                                     "\"source\": \"s\"}, \"backwardBlockUs\": {\"value\": 300, "
                                     "\"source\": \"s\"}, \"tensorUs\": "
                                     "{\"value\": 7, \"source\": \"s\"}}");
    KernelCostParameters ideal = framework.kernels;
    ideal.kernelLatencyPs = 0;
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), ideal);
    auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    auto time = [&](const std::string& name, const std::string& part, uint64_t pass) {
        KernelDescription kernel = MakeNorm(1, 16, part, pass);
        kernel.name = name;
        return std::llround(static_cast<double>(timer(kernel)) / 1e6);
    };
    EXPECT_EQ(time("embedding.word", "", 0), 100);
    EXPECT_EQ(time("layer0.norm1", "", 0), 100);
    EXPECT_EQ(time("layer0.norm2", "", 0), 0);
    EXPECT_EQ(time("layer1.norm1", "", 0), 100);
    EXPECT_EQ(time("final-norm", "", 0), 0);
    EXPECT_EQ(time("final-norm", "backward", 1), 300);
    EXPECT_EQ(time("layer1.norm1", "backward", 1), 300);
    EXPECT_EQ(time("layer0.norm1", "backward", 1), 300);
    EXPECT_EQ(time("embedding.word", "backward", 1), 0);
    KernelDescription update;
    update.name = update.kind = "adam";
    update.extents = {16};
    update.bytes = 16;
    update.tensors = 12;
    update.pass = 2;
    EXPECT_EQ(std::llround(static_cast<double>(timer(update)) / 1e6), 12 * 7);
}

// What is computed again belongs to the backward pass, and so does its unit.
TEST(Framework, AUnitThatBeginsWithRecomputationIsOneOfTheBackwardPass)
{
    const Framework framework =
        Read(", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": \"s\"}, \"blockUs\": "
             "{\"value\": 100, \"source\": \"s\"}, \"backwardBlockUs\": {\"value\": 300, "
             "\"source\": \"s\"}}");
    KernelCostParameters ideal = framework.kernels;
    ideal.kernelLatencyPs = 0;
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), ideal);
    auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    KernelDescription again = MakeNorm(1, 16, "", 1);
    EXPECT_EQ(std::llround(static_cast<double>(timer(again)) / 1e6), 100);
    again.isRecomputation = true;
    again.pass = 2;
    EXPECT_EQ(std::llround(static_cast<double>(timer(again)) / 1e6), 300);
    EXPECT_EQ(std::llround(static_cast<double>(timer(MakeNorm(1, 16, "backward", 2))) / 1e6), 0);
}

// The kernels of a backward pass and of gradients that wait for a pass of their own are described
// in turn. The host issues them pass by pass: its lead and its units are as if it were told so.
TEST(Framework, PassesThatAreDescribedInTurnAreIssuedOneAfterTheOther)
{
    const Framework framework =
        Read(", \"host\": {\"kernelUs\": {\"value\": 9, \"source\": \"s\"}, \"blockUs\": "
             "{\"value\": 100, \"source\": \"s\"}, \"isAhead\": {\"value\": true, "
             "\"source\": \"s\"}}");
    const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"), framework.kernels);
    auto describe = [](uint32_t i, bool isDeferred) {
        KernelDescription kernel =
            MakeNorm(i % 3 == 0 ? 1 << 18 : 1, 1024, "backward", isDeferred ? 2 : 1);
        kernel.name = "layer" + std::to_string(i / 4) + ".norm" + std::to_string(i);
        kernel.isDeferred = isDeferred;
        return kernel;
    };
    constexpr uint32_t KERNELS = 12;
    auto inTurn = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    auto inOrder = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    std::array<std::vector<int64_t>, 2> times;
    for (uint32_t i = 0; i < KERNELS; ++i)
    {
        for (const bool isDeferred : {false, true})
        {
            times[isDeferred].push_back(inTurn(describe(i, isDeferred)));
        }
    }
    for (const bool isDeferred : {false, true})
    {
        for (uint32_t i = 0; i < KERNELS; ++i)
        {
            EXPECT_EQ(inOrder(describe(i, isDeferred)), times[isDeferred][i]) << isDeferred << i;
        }
    }
    EXPECT_EQ(times[0][0], times[1][0] + 100 * 1000000); // units are at work in the first pass only
}

// CUDA_LAUNCH_BLOCKING: the times of host and GPU add up; else the longer one counts.
TEST(Framework, AHostThatWaitsForKernelsAddsItsTime)
{
    const std::string kernel = ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}";
    const Framework usual = Read(kernel + "}");
    const Framework waiting =
        Read(kernel + ", \"waitsForKernels\": {\"value\": true, \"source\": \"s\"}}");
    const auto time = [](const Framework& framework, uint64_t rows) {
        const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"), framework.kernels);
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(MakeNorm(rows, 1024, "", 0));
    };
    const int64_t host = time(usual, 1); // of one kernel, whose GPU needs less
    EXPECT_EQ(host, 50000000);
    const int64_t gpu = time(usual, 1 << 20);
    EXPECT_GT(gpu, 2 * host);
    EXPECT_EQ(time(waiting, 1 << 20), gpu + host);
}

// Dao 2023, figure 4 (c) and (d): A100, forward and backward, causal, 512 to 16384 tokens.
TEST(AttentionRate, MeetsTheFiguresOfFlashAttention2)
{
    const std::vector<std::pair<uint64_t, std::vector<double>>> figures{
        {64, {88, 119, 140, 156, 165, 171}},
        {128, {99, 133, 155, 173, 182, 189}}};
    for (const auto& [head, rates] : figures)
    {
        for (std::size_t i = 0; i < rates.size(); ++i)
        {
            AttentionShape shape{uint64_t{512} << i, head, true, true, 80};
            const double forward = GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape);
            shape.isForward = false;
            const double backward = GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape);
            const double both = 312 * 3.5 / (1 / forward + 2.5 / backward);
            EXPECT_NEAR(both / rates[i], 1, 0.05) << head << " " << shape.keys;
        }
    }
}

TEST(AttentionRate, OlderKernels)
{
    for (const uint32_t capability : {80u, 90u})
    {
        for (const bool isForward : {true, false})
        {
            const AttentionShape shape{8192, 128, true, isForward, capability};
            const double first = GetAttentionShare(AttentionKernel::FLASH_ATTENTION_1, shape);
            const double second = GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape);
            const double triton = GetAttentionShare(AttentionKernel::FLASH_ATTENTION_TRITON, shape);
            // Dao 2023, section 4.1: 1.7 to 3.0, and 1.3 to 2.5 times as fast.
            EXPECT_GT(second, 1.7 * first) << capability;
            EXPECT_LT(second, 3.0 * first) << capability;
            EXPECT_GT(second, 1.3 * triton) << capability;
            EXPECT_LT(second, 2.5 * triton) << capability;
        }
    }
}

TEST(AttentionRate, HopperAndNames)
{
    const AttentionShape shape{16384, 128, true, true, 90};
    EXPECT_GT(GetAttentionShare(AttentionKernel::FLASH_ATTENTION_3, shape),
              1.4 * GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape));
    for (const char* name : {"constant",
                             "flash-attention-1",
                             "flash-attention-triton",
                             "flash-attention-2",
                             "flash-attention-3",
                             "cudnn"})
    {
        EXPECT_STREQ(ToString(AttentionKernelFromString(name)), name);
    }
    EXPECT_THROW(AttentionKernelFromString("flash"), std::invalid_argument);
    EXPECT_THROW(GetAttentionShare(AttentionKernel::CONSTANT, shape), std::invalid_argument);
}

TEST(FrameworkFile, MistakesHaveAPlaceAndACause)
{
    EXPECT_EQ(GetError(""), "");
    const std::pair<const char*, const char*> mistakes[] = {
        {", \"hots\": {}", "hots"},
        {", \"host\": {\"kernelUs\": 5}", "/host/kernelUs"},
        {", \"host\": {\"kernelUs\": {\"value\": 5}}", "/host/kernelUs"},
        {", \"host\": {\"kernelUs\": {\"value\": 5, \"source\": \"\"}}", "/host/kernelUs/source"},
        {", \"host\": {\"kernelUs\": {\"value\": -5, \"source\": \"s\"}}", "/host/kernelUs/value"},
        {", \"host\": {\"isAhead\": {\"value\": true, \"source\": \"s\"}, "
         "\"waitsForKernels\": {\"value\": true, \"source\": \"s\"}}",
         "/host/waitsForKernels"},
        {", \"host\": {\"waitsAtDispatch\": {\"value\": true, \"source\": \"s\"}}",
         "/host/waitsAtDispatch"},
        {", \"efficiency\": {\"memory\": {\"value\": 1.5, \"source\": \"s\"}}",
         "/efficiency/memory/value"},
        {", \"attention\": {\"value\": \"fast\", \"source\": \"s\"}", "/attention/value"},
        {", \"operators\": {\"linear\": {}}", "/operators/linear"},
        {", \"operators\": {\"gelu\": {\"forward\": {\"kernels\": 1}}}", "/operators/gelu/forward"},
        {", \"fp8\": {\"output\": {}}", "/fp8"},
        {", \"fp8\": {\"input\": {\"kernels\": 1}}", "/fp8/input"},
        {", \"fp8\": {\"gradient\": {\"kernels\": 0, \"source\": \"s\"}}", "/fp8/gradient/kernels"},
        {", \"fp8\": {\"gathersWeights\": true}", "/fp8/gathersWeights"},
        {", \"plan\": {\"zero\": 3}", "/plan"},
        {", \"plan\": {\"zero\": 7, \"source\": \"s\"}", "/plan"},
        {", \"plan\": {\"zeros\": 3, \"source\": \"s\"}", "/plan"},
    };
    for (const auto& [fields, place] : mistakes)
    {
        const std::string error = GetError(fields);
        EXPECT_EQ(error.rfind("f.json: ", 0), 0u) << error;
        EXPECT_NE(error.find(place), std::string::npos) << fields << ": " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos);
    }
}

// The files that come along, and that the default of the code is what its file says.
TEST(FrameworkFile, OursAreRead)
{
    uint32_t nFiles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(PROTEUS_SOURCE_DIR) +
                                                                 "/workloads/frameworks"))
    {
        const Framework framework = LoadFramework(entry.path());
        EXPECT_EQ(framework.name, entry.path().stem());
        EXPECT_FALSE(framework.description.empty());
        ++nFiles;
        if (framework.name == Framework().name)
        {
            const KernelCostParameters ours;
            EXPECT_EQ(framework.kernels.hostPerKernelPs, ours.hostPerKernelPs);
            EXPECT_DOUBLE_EQ(framework.kernels.matrixEfficiency, ours.matrixEfficiency);
            EXPECT_DOUBLE_EQ(framework.kernels.memoryEfficiency, ours.memoryEfficiency);
            EXPECT_DOUBLE_EQ(framework.kernels.optimizerEfficiency, ours.optimizerEfficiency);
            EXPECT_FALSE(framework.host.isAhead);
            EXPECT_TRUE(framework.operators.empty());
        }
    }
    EXPECT_GE(nFiles, 6u);
}

// A plan's fields stand where a short form says nothing, and nowhere else.
TEST(FrameworkFile, PlanFillsTheShortForm)
{
    const Framework framework =
        Read(", \"plan\": {\"zero\": 3, \"gradientType\": \"bf16\", \"source\": \"s\"}");
    std::istringstream strategy("{\"dp\": 4, \"gradientType\": \"fp32\"}");
    const StrategyFile file = ReadStrategyJson(strategy, "s.json", framework.defaults.plan);
    ASSERT_TRUE(file.plan);
    EXPECT_EQ(file.plan->optimizer.zero, 3u);
    EXPECT_EQ(file.plan->precision.gradient, DataType::FP32);
}

// What a framework fuses, models leave to it; without tensor parallelism, as to the loss.
TEST(FrameworkFile, FusesWhatModelsLeaveToIt)
{
    const std::string workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads/";
    const auto count = [&](const std::map<std::string, int64_t>& variables) {
        const Model model = LoadModel(workloads + "models/gpt3-125m.json", variables);
        std::map<std::string, int> kinds;
        for (const ModelOperator& op : model.GetOperators())
        {
            // Attention that is not fused moves its scores.
            const bool isFused = op.kind == "attention" && op.forward.bytes.empty();
            ++kinds[op.kind + (isFused ? " fused" : "")];
        }
        return kinds;
    };
    auto fsdp2 = LoadFramework(workloads + "frameworks/fsdp2.json").defaults.variables;
    EXPECT_EQ(fsdp2, (std::map<std::string, int64_t>{{"fusesAttention", 1}, {"fusesLoss", 1}}));
    auto fused = count(fsdp2);
    EXPECT_EQ(fused["attention fused"], 12);
    EXPECT_EQ(fused["cross-entropy"], 1);
    EXPECT_EQ(fused["vocabulary-sum"], 0);
    fsdp2["tensorParallel"] = 2;
    EXPECT_EQ(count(fsdp2)["vocabulary-sum"], 1);
    fsdp2["fusedAttention"] = 0; // as typed
    EXPECT_EQ(count(fsdp2)["attention"], 12);
    const auto megatron = LoadFramework(workloads + "frameworks/megatron-2022.json");
    EXPECT_TRUE(megatron.defaults.variables.empty());
    auto plain = count({});
    EXPECT_EQ(plain["attention"], 12);
    EXPECT_EQ(plain["vocabulary-sum"], 1);
    EXPECT_THROW(Read(", \"fuses\": {\"loss\": true}"), std::invalid_argument);
}

TEST(FrameworkFile, CompilersAndFusedNormsHaveFewerKernels)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    const auto eager = LoadFramework(folder + "fsdp2.json");
    const auto compiled = LoadFramework(folder + "fsdp2-compiled.json");
    for (const char* kind : {"rms-norm", "swiglu", "rotary", "add"})
    {
        for (const bool isForward : {true, false})
        {
            const KernelRule* before = eager.FindRule(kind, isForward);
            const KernelRule* after = compiled.FindRule(kind, isForward);
            ASSERT_EQ(before == nullptr, after == nullptr) << kind;
            if (before)
            {
                EXPECT_LT(after->kernels, before->kernels) << kind;
            }
        }
    }
    EXPECT_EQ(compiled.defaults.plan.at("recomputeStopsEarly"), "true");
    EXPECT_EQ(eager.defaults.plan.count("recomputeStopsEarly"), 0u);
    // Without units of FSDP.
    const auto alone = LoadFramework(folder + "compiled.json");
    EXPECT_EQ(alone.host.blockPs, 0);
    EXPECT_EQ(alone.defaults.plan.count("zero"), 0u);
    EXPECT_EQ(alone.FindRule("adapter-add", true)->kernels, 1u);
    EXPECT_EQ(eager.FindRule("adapter-add", true)->kernels, 2u);
    // What follows a batch norm is part of it.
    const auto mxnet = LoadFramework(folder + "mxnet.json");
    EXPECT_EQ(mxnet.FindRule("relu", true)->kernels, 0u);
    EXPECT_EQ(mxnet.FindRule("relu", false)->kernels, 0u);
    EXPECT_EQ(mxnet.FindRule("add", true)->kernels, 0u);
    EXPECT_EQ(mxnet.FindRule("batch-norm", true)->kernels, 2u);
}

// Operands of products in fp8: per element one reading more than with the scales of the step
// before, and two kernels more. Weights as the rules say, in the place of what they are in 16 bits.
TEST(Framework, Float8HasKernelsOfItsOwn)
{
    const Framework delayed;
    Framework dynamic =
        Read(", \"weights\": {\"forwardBytes\": {\"value\": 4, \"source\": \"s\"}}, \"fp8\": {"
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

TEST(FrameworkFile, TorchtitanScalesDynamically)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    const Framework titan = LoadFramework(folder + "torchtitan.json");
    EXPECT_TRUE(titan.float8.gathersWeights);
    EXPECT_EQ(titan.float8.input->GetBytes(2), 6);
    EXPECT_EQ(titan.float8.gradient->GetBytes(2), 6);
    EXPECT_EQ(titan.float8.weightForward->GetBytes(2), 2);
    EXPECT_EQ(titan.float8.weightBackward->GetBytes(2), 10);
    EXPECT_EQ(titan.kernels.attention, AttentionKernel::FLASH_ATTENTION_2);
    EXPECT_FALSE(LoadFramework(folder + "fsdp2.json").float8.input);
}

// Rules of experts are per element that goes to them, as often as a token has experts: what the
// compiler counts for whole tokens is told apart.
TEST(Framework, RulesOfExpertsCountWhatGoesToThem)
{
    const std::string rule = "{\"kernels\": 3, \"compute\": 4, \"source\": \"s\"}";
    const std::string both = "{\"forward\": " + rule + ", \"backward\": " + rule + "}";
    const Framework framework =
        Read(", \"operators\": {\"dispatch\": " + both + ", \"combine\": " + both +
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

// A host that counts tokens has no lead any more when it sends them to their experts, whose kernels
// it may issue one by one.
TEST(Framework, HostsWaitForTheTokensOfExperts)
{
    const std::string host = ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}, "
                             "\"isAhead\": {\"value\": true, \"source\": \"s\"}";
    const std::string yes = "{\"value\": true, \"source\": \"s\"}";
    const auto time = [](const Framework& framework, const std::string& kind) {
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        const auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
        timer(MakeNorm(1 << 20, 1024, "", 0)); // some milliseconds, which the host is ahead
        KernelDescription kernel;
        kernel.name = "layer0." + kind;
        kernel.kind = kind;
        kernel.extents = {8, 64, 128, 64};
        kernel.bytes = 64 * 64 * 2;
        kernel.flops = 2.0 * 8 * 64 * 128 * 64;
        kernel.dataType = DataType::BF16;
        return timer(kernel);
    };
    const Framework usual = Read(host + "}");
    const Framework waiting = Read(host + ", \"waitsAtDispatch\": " + yes + "}");
    EXPECT_EQ(time(waiting, "dispatch") - time(usual, "dispatch"), 50000000);
    EXPECT_EQ(time(waiting, "combine"), time(usual, "combine"));
    // Eight experts take the host eight kernels, the GPU as long as before.
    const auto alone = [](const Framework& framework) {
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        KernelDescription kernel;
        kernel.name = "layer0.up";
        kernel.kind = "expert-linear";
        kernel.extents = {8, 64, 128, 64};
        kernel.flops = 2.0 * 8 * 64 * 128 * 64;
        kernel.dataType = DataType::BF16;
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(kernel);
    };
    EXPECT_EQ(alone(Read(host + ", \"issuesEveryExpert\": " + yes + "}")) - alone(usual),
              7 * 50000000);
}

// What a rotary embedding moves is per element, whatever its heads: of queries and keys that share
// them, too.
TEST(Framework, RotationsCountElements)
{
    const Framework framework =
        Read(", \"operators\": {\"rotary\": {\"forward\": {\"kernels\": 1, "
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

// What is known of a GPU is not known of another whose name begins with its name.
TEST(MatrixRate, BelongsToWholeNames)
{
    const auto share = [](const std::string& gpu, DataType type) {
        return FindAchievedMatrixShare(gpu, type, 0);
    };
    EXPECT_DOUBLE_EQ(share("H20", DataType::BF16).value(), 0.96);
    EXPECT_DOUBLE_EQ(share("H200", DataType::BF16).value(), 0.84);
    EXPECT_TRUE(share("L4", DataType::TF32));
    EXPECT_FALSE(share("L40", DataType::TF32));
    EXPECT_LT(share("H100-PCIE-80GB", DataType::BF16).value(),
              share("H100-NVL", DataType::BF16).value());
    // Clocks of GeForce are higher than the data sheets say.
    EXPECT_GT(share("RTX-3090", DataType::FP16).value(), 1);
}

// With a limit of 500 in place of 700 W the clock falls earlier, and further.
TEST(MatrixRate, FallsEarlierWithLessPower)
{
    const auto share = [](const std::string& gpu, double duty) {
        return FindAchievedMatrixShare(gpu, DataType::BF16, duty).value();
    };
    EXPECT_DOUBLE_EQ(share("H100-SXM5-96GB-500W", 0.27), 0.84);
    EXPECT_DOUBLE_EQ(share("H100-SXM5-80GB", 0.35), 0.84);
    EXPECT_LT(share("H100-SXM5-96GB-500W", 0.35), 0.82);
    EXPECT_NEAR(share("H100-SXM5-96GB-500W", 1) / share("H100-SXM5-80GB", 1),
                std::pow(500.0 / 700, 0.4),
                1e-3);
}
