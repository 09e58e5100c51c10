/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Files of frameworks: what is wrong with them, and what ours say.

#include "framework-tools.h"

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-kernel-work.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

using namespace ns3::proteus;

TEST(FrameworkFile, MistakesHaveAPlaceAndACause)
{
    EXPECT_EQ(GetFrameworkError(""), "");
    const std::pair<const char*, const char*> mistakes[] = {
        {", \"hots\": {}", "hots"},
        {", \"host\": {\"kernelUs\": 5}", "/host/kernelUs"},
        {", \"host\": {\"kernelUs\": {\"value\": 5}}", "/host/kernelUs"},
        {", \"host\": {\"kernelUs\": {\"value\": 5, \"source\": \"\"}}", "/host/kernelUs/source"},
        {", \"host\": {\"kernelUs\": {\"value\": -5, \"source\": \"s\"}}", "/host/kernelUs/value"},
        {", \"host\": {\"kernelUs\": {\"value\": 25000, \"source\": \"s\"}}", // ns
         "/host/kernelUs/value: must be a number from 0 to 10000"},
        {", \"host\": {\"isAhead\": {\"value\": true, \"source\": \"s\"}, "
         "\"waitsForKernels\": {\"value\": true, \"source\": \"s\"}}",
         "/host/waitsForKernels"},
        {", \"host\": {\"waitsAtDispatch\": {\"value\": true, \"source\": \"s\"}}",
         "/host/waitsAtDispatch"},
        {", \"host\": {\"waitsAtExchange\": {\"value\": true, \"source\": \"s\"}}",
         "/host/waitsAtExchange"},
        {", \"host\": {\"exchangesTransfers\": {\"value\": true, \"source\": \"s\"}}",
         "/host/exchangesTransfers"},
        {", \"host\": {\"isAhead\": {\"value\": true, \"source\": \"s\"}, "
         "\"gathersBehindDispatch\": {\"value\": true, \"source\": \"s\"}}",
         "/host/gathersBehindDispatch"},
        {", \"host\": {\"expertKernelUs\": {\"value\": 5, \"source\": \"s\"}}",
         "/host/expertKernelUs"},
        {", \"host\": {\"backwardExpertKernelUs\": {\"value\": 5, \"source\": \"s\"}}",
         "/host/backwardExpertKernelUs"},
        {", \"host\": {\"paces\": {}}", "/host/paces: names no GPU"},
        {", \"host\": {\"paces\": {\"A100\": {\"value\": 0, \"source\": \"s\"}}}",
         "/host/paces/A100/value"},
        {", \"host\": {\"paces\": {\"A100\": {\"value\": 2}}}", "/host/paces/A100"},
        {", \"efficiency\": {\"memory\": {\"value\": 1.5, \"source\": \"s\"}}",
         "/efficiency/memory/value"},
        {", \"efficiency\": {\"groupedProducts\": {}}",
         "/efficiency/groupedProducts: names no GPU"},
        {", \"efficiency\": {\"groupedProducts\": {\"B200\": {\"value\": 2, \"source\": \"s\"}}}",
         "/efficiency/groupedProducts/B200/value"},
        {", \"attention\": {\"value\": \"fast\", \"source\": \"s\"}", "/attention/value"},
        {", \"operators\": {\"linear\": {}}", "/operators/linear"},
        {", \"operators\": {\"gelu\": {}}", "/operators/gelu: says nothing"},
        {", \"operators\": {\"gelu\": {\"forward\": {\"kernels\": 1}}}", "/operators/gelu/forward"},
        {", \"operators\": {\"gelu\": {\"forward\": {\"kernels\": 1, \"waits\": true, \"source\": "
         "\"s\"}}}",
         "/operators/gelu: the host waits in it"},
        {", \"operators\": {\"weighted-bias\": {\"forward\": {\"kernels\": 1, \"keeps\": \"fp32\", "
         "\"source\": \"s\"}}}",
         "/operators/weighted-bias/forward"},
        {", \"operators\": {\"dispatch\": {\"forward\": {\"kernels\": 1, \"expertKernels\": 1, "
         "\"source\": \"s\"}}}",
         "/operators/dispatch/forward"},
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
        const std::string error = GetFrameworkError(fields);
        EXPECT_EQ(error.rfind("f.json: ", 0), 0u) << error;
        EXPECT_NE(error.find(place), std::string::npos) << fields << ": " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos);
    }
    std::istringstream nameless(R"({"format": "proteus-framework", "version": 1, "name": "",
 "description": "y"})");
    EXPECT_NE(ErrorOf([&] { ReadFrameworkJson(nameless, "f.json"); }).find("/name: is empty"),
              std::string::npos);
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
        ReadFramework(", \"plan\": {\"zero\": 3, \"gradientType\": \"bf16\", \"source\": \"s\"}");
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
    // Transformer Engine has fused kernels of attention; the loss is Megatron's.
    for (const std::string framework : {"megatron-core", "megatron-core-graphs", "nemo"})
    {
        const auto fuses =
            LoadFramework(workloads + "frameworks/" + framework + ".json").defaults.variables;
        EXPECT_EQ(fuses.at("fusesAttention"), 1) << framework;
        EXPECT_EQ(fuses.count("fusesLoss"), 0) << framework;
        // NeMo of 2024 is older than heads that devices share.
        EXPECT_EQ(fuses.count("sharesHeads"), framework == "nemo" ? 0 : 1) << framework;
        EXPECT_EQ(count(fuses)["attention fused"], 12);
    }
    fsdp2["tensorParallel"] = 2;
    EXPECT_EQ(count(fsdp2)["vocabulary-sum"], 1);
    fsdp2["fusedAttention"] = 0; // as typed
    EXPECT_EQ(count(fsdp2)["attention"], 12);
    const auto megatron = LoadFramework(workloads + "frameworks/megatron-2022.json");
    EXPECT_TRUE(megatron.defaults.variables.empty());
    auto plain = count({});
    EXPECT_EQ(plain["attention"], 12);
    EXPECT_EQ(plain["vocabulary-sum"], 1);
    EXPECT_THROW(ReadFramework(", \"fuses\": {\"loss\": true}"), std::invalid_argument);
    EXPECT_THROW(ReadFramework(", \"shares\": {\"heads\": true}"), std::invalid_argument);
    EXPECT_THROW(ReadFramework(R"(, "shares": {"source": "x"})"), std::invalid_argument);
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

// A GELU that is written out moves 18 elements in eager PyTorch and 28 backward, of which autocast
// has most in fp32; a compiler makes one kernel of it.
TEST(FrameworkFile, EagerFrameworksWriteAGeluOut)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    constexpr uint64_t POINTS = 64 * 256;
    const auto apply = [&](const std::string& name, const std::string& part, DataType type) {
        KernelDescription gelu = MakeNorm(64, 256, part, 0);
        gelu.kind = "composed-gelu";
        gelu.bytes = 2 * GetElementBytes(type) * POINTS;
        KernelWork work = DescribeKernel(gelu, type, 4).value();
        ApplyFramework(LoadFramework(folder + name + ".json"), gelu, type, work);
        return std::pair{work.bytes / POINTS, work.GetNKernels()};
    };
    for (const char* name : {"ddp", "ddp-channels-first", "fsdp1", "fsdp2", "deepspeed", "apex"})
    {
        EXPECT_EQ(apply(name, "", DataType::FP32), (std::pair{uint64_t{18 * 4}, 8U})) << name;
        EXPECT_EQ(apply(name, "backward", DataType::FP32), (std::pair{uint64_t{28 * 4}, 11U}))
            << name;
    }
    EXPECT_EQ(apply("deepspeed", "", DataType::FP16), (std::pair{uint64_t{18 * 2}, 8U}));
    EXPECT_EQ(apply("ddp", "", DataType::FP16), (std::pair{uint64_t{6 * 2 + 16 * 4}, 10U}));
    EXPECT_EQ(apply("compiled", "", DataType::BF16), (std::pair{uint64_t{2 * 2}, 1U}));
    for (const char* name : {"fsdp1", "fsdp2", "deepspeed"})
    {
        EXPECT_NE(LoadFramework(folder + name + ".json").FindRule("masked-attention", true),
                  nullptr)
            << name;
    }
    EXPECT_NE(GetFrameworkError(R"(, "host": {"blocksOfZero3": {"value": true, "source": "s"}})")
                  .find("has none of ZeRO 3"),
              std::string::npos);
}

// PyTorch's default: the same kernels but for the layout of images, in 16 bits, too.
TEST(FrameworkFile, ChannelsFirstIsTheLayoutAlone)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    const Framework last = LoadFramework(folder + "ddp.json");
    const Framework first = LoadFramework(folder + "ddp-channels-first.json");
    EXPECT_EQ(last.kernels.images, ImageLayout::LAST_IN_16_BITS);
    EXPECT_EQ(first.kernels.images, ImageLayout::CHANNELS_FIRST);
    EXPECT_EQ(last.kernels.memoryEfficiency, first.kernels.memoryEfficiency);
    EXPECT_EQ(last.host.operatorPs, first.host.operatorPs);
    EXPECT_EQ(last.defaults.plan, first.defaults.plan);
    for (const char* kind : {"batch-norm", "relu", "attention", "layer-norm", "momentum"})
    {
        const KernelRule* a = last.FindRule(kind, true);
        const KernelRule* b = first.FindRule(kind, true);
        ASSERT_TRUE(a && b) << kind;
        EXPECT_EQ(a->kernels, b->kernels) << kind;
        EXPECT_EQ(a->GetBytes(2), b->GetBytes(2)) << kind;
    }
    // On tensor cores input and result of a convolution are read and written once more each.
    ConvolutionShape shape;
    shape.batch = 128;
    shape.channels = shape.filters = 64;
    shape.height = shape.width = 56;
    shape.kernelHeight = shape.kernelWidth = 3;
    shape.stride = 1;
    shape.paddingHeight = shape.paddingWidth = 1;
    const GpuDatasheet& gpu = FindGpuDatasheet("V100-SXM2-16GB");
    const auto time = [&](const Framework& framework, DataType type) {
        const KernelWork work = MakeConvolutionWork(shape, KernelPass::FORWARD, type);
        return static_cast<double>(KernelCostModel(gpu, framework.kernels).GetTime(work).gpuPs);
    };
    const double bytes = 2.0 * 2 * 2 * 128 * 56 * 56 * 64;
    const double turning =
        1e12 * bytes / (gpu.memoryBytesPerSecond * first.kernels.memoryEfficiency);
    const double more = time(first, DataType::FP16) - time(last, DataType::FP16);
    EXPECT_NEAR(more / turning, 1, 0.1);
    EXPECT_EQ(time(first, DataType::FP32), time(last, DataType::FP32)); // first with both
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
