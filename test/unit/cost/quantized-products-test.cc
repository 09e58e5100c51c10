/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-kernel-times.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t ROWS = 4096;
constexpr uint64_t IN = 2048;
constexpr uint64_t OUT = 8192;

/// @param type a number format @return the product of a linear layer's forward pass
KernelDescription
Describe(DataType type)
{
    KernelDescription kernel;
    kernel.name = "layer0.up";
    kernel.kind = "linear";
    kernel.extents = {1, ROWS, OUT, IN};
    kernel.flops = 2.0 * ROWS * OUT * IN;
    kernel.bytes = 2 * (ROWS * OUT + ROWS * IN + OUT * IN);
    kernel.dataType = type;
    return kernel;
}

/// @param gpu of a data sheet @param type a number format @return FLOP/s of a large product
double
GetRate(const std::string& gpu, DataType type)
{
    const KernelCostModel cost(FindGpuModel(gpu).sheet, KernelCostParameters());
    const KernelWork work = MakeGemmWork(1, 16384, 16384, 16384, type);
    return work.GetFlops() / (static_cast<double>(cost.GetTime(work).gpuPs) * 1e-12);
}

} // namespace

// Of an operand's element 2 bytes are read for the greatest size, and 2 and 9/16 move to write it
// in rows, and in columns.
TEST(QuantizedProducts, OperandsOfNvfp4)
{
    const KernelWork work = *DescribeKernel(Describe(DataType::FP4), DataType::FP4, 4);
    EXPECT_EQ(work.type, DataType::FP4);
    EXPECT_EQ(work.bytes, ROWS * IN * 57 / 8);
    EXPECT_EQ(work.otherKernels, 3u);
    const KernelWork wide = *DescribeKernel(Describe(DataType::BF16), DataType::BF16, 4);
    EXPECT_EQ(wide.bytes, 0u);
    // What is no product stays in 16 bits.
    EXPECT_EQ(MakeFusedAttentionWork(1, 64, 64, 64, KernelPass::FORWARD, DataType::FP4).type,
              DataType::BF16);
    EXPECT_EQ(MakeAttentionWork(1, 64, 64, 64, KernelPass::FORWARD, DataType::FP4).type,
              DataType::BF16);
}

// A weight is quantised once in an iteration: 2 bytes read, 2 read again, 9/16 written twice.
TEST(QuantizedProducts, WeightsOfNvfp4)
{
    const Framework framework;
    const auto count = [&framework](uint64_t microBatches) {
        KernelDescription kernel = Describe(DataType::FP4);
        kernel.microBatches = microBatches;
        KernelWork work = *DescribeKernel(kernel, DataType::FP4, 4);
        ApplyFramework(framework, kernel, DataType::FP4, work);
        return work.bytes - ROWS * IN * 57 / 8;
    };
    EXPECT_EQ(count(1), IN * OUT * 41 / 8);
    EXPECT_EQ(count(4), IN * OUT * 41 / 8 / 4);
}

TEST(QuantizedProducts, RatesOfNvfp4)
{
    EXPECT_EQ(FindGpuModel("B200").sheet.PeakFlops(DataType::FP4), 9000e12);
    EXPECT_EQ(FindGpuModel("GB300").sheet.PeakFlops(DataType::FP4), 15000e12);
    // Others have the rate of fp8, or of 16 bits.
    EXPECT_EQ(FindGpuModel("H200").sheet.PeakFlops(DataType::FP4), 3958e12 / 2);
    EXPECT_EQ(FindGpuModel("A100-SXM4-80GB").sheet.PeakFlops(DataType::FP4), 312e12);
    EXPECT_EQ(GetRate("H200", DataType::FP4), GetRate("H200", DataType::FP8));
    EXPECT_GT(GetRate("GB200", DataType::FP4), 1.8 * GetRate("GB200", DataType::FP8));
    EXPECT_GT(GetRate("GB300", DataType::FP4), 2 * GetRate("GB300", DataType::FP8));
    EXPECT_EQ(FindAchievedMatrixShare("H200", DataType::FP4, {0.7}),
              FindAchievedMatrixShare("H200", DataType::FP8, {0.7}));
    EXPECT_FALSE(FindAchievedMatrixShare("A100", DataType::FP4));
    // What lasting load leaves is what was measured.
    EXPECT_NEAR(*FindAchievedMatrixShare("GB200", DataType::FP4, {1}) * 10000, 6845, 1);
    EXPECT_NEAR(*FindAchievedMatrixShare("GB300", DataType::FP4, {1}) * 15000, 9375, 1);
    EXPECT_NEAR(*FindAchievedMatrixShare("B300", DataType::FP4, {1}) * 13500, 8231, 1);
}
