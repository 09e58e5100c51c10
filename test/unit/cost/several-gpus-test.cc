/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What kernels take because their job has several GPUs: the slowest of them, and gradients that are
// cast and divided before they are reduced.

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <cmath>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

using namespace ns3::proteus;

namespace
{

const char* const A100 = "A100-SXM4-80GB";
const char* const H100 = "H100-SXM5-80GB"; // whose shares of products count as they are said
constexpr double SPREAD = 0.02;

/// @return seconds of a long product where some GPUs wait for each other
double
ProductSeconds(uint64_t gpus, uint64_t among, double spread)
{
    KernelCostParameters parameters;
    parameters.gpus = gpus;
    parameters.matrixGpus = among;
    parameters.gpuSpread = spread;
    const KernelCostModel model(FindGpuDatasheet(H100), parameters);
    return model.GetProductSeconds({1, 8192, 8192, 8192, 0}, DataType::BF16);
}

/// @return a framework whose kernels start at once
Framework
MakeQuickFramework()
{
    Framework framework;
    framework.kernels.hostPerKernelPs = 0;
    framework.kernels.kernelLatencyPs = 0;
    framework.kernels.matrixGpus = 1;
    return framework;
}

/// @return picoseconds of the first product of GPT's feed-forward network in a job, or of another
/// operator
double
CompiledPs(uint32_t replicas,
           const Framework& framework,
           const std::string& name = "layer0.fc1",
           const std::string& gradientType = "fp32",
           uint32_t zero = 0)
{
    std::istringstream input("{\"dp\": " + std::to_string(replicas) + ", \"globalBatch\": " +
                             std::to_string(4 * replicas) + ", \"zero\": " + std::to_string(zero) +
                             ", \"gradientType\": \"" + gradientType + "\"}");
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-125m.json",
                  file.GetVariables());
    const ExecutionGraph graph =
        Compile(model, file.GetTree(model), FindGpuDatasheet(A100), framework);
    for (const Task& task : graph.GetTasks())
    {
        if (graph.GetName(task) == name)
        {
            return static_cast<double>(task.durationPs);
        }
    }
    throw std::logic_error("no such task");
}

} // namespace

TEST(GpuSpread, TheSlowestIsAtAQuantileOfNormalSpeeds)
{
    for (const uint64_t gpus : {2, 8, 64, 512, 16384})
    {
        const double deviations = (1 / GetSlowestShare(gpus, 1, SPREAD) - 1) / SPREAD;
        const double quantile =
            (static_cast<double>(gpus) - 0.375) / (static_cast<double>(gpus) + 0.25);
        EXPECT_NEAR(std::erfc(-deviations / std::sqrt(2.0)) / 2, quantile, 1e-12) << gpus;
    }
    EXPECT_EQ(GetSlowestShare(1, 1, SPREAD), 1);
    EXPECT_EQ(GetSlowestShare(512, 1, 0), 1);
}

TEST(GpuSpread, ARateOfTheSlowestOfSomeIsThatOfTheSlowestOfFewer)
{
    EXPECT_EQ(GetSlowestShare(2, 8, SPREAD), 1);
    EXPECT_EQ(GetSlowestShare(8, 8, SPREAD), 1);
    EXPECT_NEAR(GetSlowestShare(64, 8, SPREAD) * GetSlowestShare(8, 1, SPREAD),
                GetSlowestShare(64, 1, SPREAD),
                1e-12);
}

TEST(GpuSpread, MakesProductsSlowerAndCopiesNot)
{
    const double alone = ProductSeconds(1, 1, SPREAD);
    EXPECT_DOUBLE_EQ(ProductSeconds(64, 1, SPREAD), alone / GetSlowestShare(64, 1, SPREAD));
    EXPECT_DOUBLE_EQ(ProductSeconds(64, 64, SPREAD), alone);
    EXPECT_DOUBLE_EQ(ProductSeconds(64, 1, 0), alone);

    KernelCostParameters many;
    many.gpus = 512;
    const KernelWork copy = MakeElementwiseWork(1 << 20, KernelPass::FORWARD, DataType::BF16);
    EXPECT_EQ(KernelCostModel(FindGpuDatasheet(A100), many).GetTime(copy).gpuPs,
              KernelCostModel(FindGpuDatasheet(A100), {}).GetTime(copy).gpuPs);
}

TEST(GpuSpread, CompileCountsTheDevicesOfAJob)
{
    Framework framework = MakeQuickFramework();
    const double share = GetSlowestShare(32, 1, framework.kernels.gpuSpread);
    EXPECT_NEAR(CompiledPs(32, framework) * share, CompiledPs(1, framework), 2);
    framework.kernels.gpuSpread = 0;
    EXPECT_EQ(CompiledPs(32, framework), CompiledPs(1, framework));
}

TEST(GpuSpread, FrameworksSayIt)
{
    const std::string start = "{\"format\": \"proteus-framework\", \"version\": 1, \"name\": "
                              "\"x\", \"description\": \"y\", \"efficiency\": {";
    std::istringstream input(start + "\"spread\": {\"value\": 0, \"source\": \"s\"}, "
                                     "\"matrixGpus\": {\"value\": 64, \"source\": \"s\"}}}");
    const Framework read = ReadFrameworkJson(input, "f.json");
    EXPECT_EQ(read.kernels.gpuSpread, 0);
    EXPECT_EQ(read.kernels.matrixGpus, 64u);
    std::istringstream none(start + "\"matrixGpus\": {\"value\": 0, \"source\": \"s\"}}}");
    EXPECT_THROW(ReadFrameworkJson(none, "f.json"), std::invalid_argument);
}

TEST(GpuSpread, RefusesNonsense)
{
    EXPECT_THROW(ProductSeconds(0, 1, SPREAD), std::invalid_argument);
    EXPECT_THROW(ProductSeconds(1, 0, SPREAD), std::invalid_argument);
    EXPECT_THROW(ProductSeconds(1, 1, -0.1), std::invalid_argument);
    EXPECT_THROW(ProductSeconds(1, 1, std::nan("")), std::invalid_argument);
}

// FSDP1 casts a gradient of 16 bits to fp32 (6 bytes) and divides it (8 bytes); in 16 bits it only
// divides it (4). One GPU reduces nothing.
TEST(ReducedGradients, AreCastAndDividedWhereThereAreSeveralGpus)
{
    Framework framework = MakeQuickFramework();
    framework.kernels.gpuSpread = 0;
    framework.reducedElements = 2;
    framework.castsGradients = true;
    EXPECT_EQ(framework.GetReductionBytes(2, 4), 14);
    EXPECT_EQ(framework.GetReductionBytes(2, 2), 4);
    EXPECT_EQ(framework.GetReductionBytes(4, 4), 8);
    const double bandwidth =
        FindGpuDatasheet(A100).memoryBytesPerSecond * framework.kernels.memoryEfficiency;
    constexpr double WEIGHTS = 768.0 * 3072;
    const std::string name = "layer0.fc1.weight-gradient";
    constexpr double MICRO_BATCHES = 4;
    for (const auto& [type, bytes] : {std::pair{"fp32", 14}, std::pair{"bf16", 4}})
    {
        for (const uint32_t zero : {0, 1, 2})
        {
            const double more = CompiledPs(2, framework, name, type, zero) -
                                CompiledPs(1, framework, name, type, zero);
            // Kept whole, gradients are reduced once; ZeRO 2 reduces those of every micro-batch.
            EXPECT_NEAR(more * 1e-12 / (bytes * WEIGHTS / bandwidth),
                        zero < 2 ? 1 / MICRO_BATCHES : 1,
                        1e-3)
                << type << " " << zero;
        }
    }
}

// DeepSpeed puts a weight together of what several devices had: read and written in 16 bits.
TEST(GatheredWeights, AreCopiedWhereZero3BringsThem)
{
    Framework framework = MakeQuickFramework();
    framework.kernels.gpuSpread = 0;
    framework.weightGatheredBytes = 4;
    const auto time = [&](uint32_t replicas, uint32_t zero) {
        return CompiledPs(replicas, framework, "layer0.fc1", "fp32", zero);
    };
    EXPECT_EQ(time(2, 2), time(1, 0));
    const double bandwidth =
        FindGpuDatasheet(A100).memoryBytesPerSecond * framework.kernels.memoryEfficiency;
    constexpr double WEIGHTS = 768.0 * 3072;
    EXPECT_NEAR((time(2, 3) - time(2, 2)) * 1e-12 / (4 * WEIGHTS / bandwidth), 1, 1e-3);
    const Framework deepspeed =
        LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/deepspeed.json");
    EXPECT_EQ(deepspeed.weightForwardBytes, 0);
    EXPECT_EQ(deepspeed.weightGatheredBytes, 4);
    EXPECT_EQ(deepspeed.GetReductionBytes(2, 2), 8); // put together, and divided
}

// Modules have hooks where ZeRO 3 gathers their parameters, and else none.
TEST(GatheredWeights, HaveUnitsOfTheirOwn)
{
    constexpr int64_t UNIT_PS = 50'000'000'000; // longer than the norm
    Framework framework = MakeQuickFramework();
    framework.host.blockPs = UNIT_PS;
    for (const bool isOfZero3 : {false, true})
    {
        framework.host.blocksOfZero3 = isOfZero3;
        EXPECT_EQ(CompiledPs(2, framework, "layer0.norm1", "fp32", 2) < UNIT_PS, isOfZero3);
        EXPECT_GE(CompiledPs(2, framework, "layer0.norm1", "fp32", 3), UNIT_PS);
    }
    EXPECT_TRUE(
        LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/deepspeed.json")
            .host.blocksOfZero3);
}

TEST(ReducedGradients, FrameworksSayIt)
{
    const std::string workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    EXPECT_EQ(LoadFramework(workloads + "fsdp1.json").GetReductionBytes(2, 4), 14);
    EXPECT_EQ(LoadFramework(workloads + "fsdp2.json").GetReductionBytes(2, 4), 0);
    for (const char* name : {"ddp.json", "ddp-channels-first.json", "compiled.json"})
    {
        EXPECT_EQ(LoadFramework(workloads + name).GetReductionBytes(2, 4), 16) << name;
    }
}

// DistributedDataParallel works tensor by tensor, in fp32, too: a product has a weight and a bias.
TEST(ReducedGradients, TakeKernelsForEachTensor)
{
    Framework framework = MakeQuickFramework();
    framework.kernels.gpuSpread = 0;
    constexpr int64_t LATENCY = 5000000; // ps
    framework.kernels.kernelLatencyPs = LATENCY;
    const std::string product = "layer0.fc1.weight-gradient";
    const std::string norm = "layer0.norm1.backward";
    const auto ps = [&](int gpus, const std::string& name) {
        return CompiledPs(gpus, framework, name, "fp32", 2);
    };
    const int64_t productPs = ps(2, product);
    const int64_t normPs = ps(2, norm);
    const int64_t alonePs = ps(1, norm);
    framework.reducedKernels = 3;
    EXPECT_NEAR(ps(2, product) - productPs, 6.0 * LATENCY, 2);
    EXPECT_NEAR(ps(2, norm) - normPs, 6.0 * LATENCY, 2);
    EXPECT_EQ(ps(1, norm), alonePs);
    EXPECT_EQ(CompiledPs(2, framework), CompiledPs(1, framework)); // forward
}
