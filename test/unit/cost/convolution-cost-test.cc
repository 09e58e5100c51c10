/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Ways of a convolution and layouts of images: arithmetic and traffic by closed forms.

#include "ns3/proteus-convolution-cost.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

constexpr KernelPass PASSES[] = {KernelPass::FORWARD,
                                 KernelPass::INPUT_GRADIENT,
                                 KernelPass::WEIGHT_GRADIENT};

/// 16 images of 64 to 128 channels, 32 x 32, with a border that keeps the size.
ConvolutionShape
MakeShape(uint64_t window, uint64_t stride = 1)
{
    ConvolutionShape shape;
    shape.batch = 16;
    shape.channels = 64;
    shape.filters = 128;
    shape.height = shape.width = 32;
    shape.kernelHeight = shape.kernelWidth = window;
    shape.stride = stride;
    shape.paddingHeight = shape.paddingWidth = window / 2;
    return shape;
}

int64_t
GetGpuPs(const char* gpu, const KernelWork& work, ImageLayout images)
{
    KernelCostParameters parameters;
    parameters.images = images;
    return KernelCostModel(FindGpuDatasheet(gpu), parameters).GetTime(work).gpuPs;
}

} // namespace

// Lavin and Gray 2016: tiles of 2 x 2 take 16 multiplications for 36, tiles of 4 x 4 take 36 for
// 144.
TEST(ConvolutionCost, WinogradSavesArithmeticAndMovesTiles)
{
    for (const KernelPass pass : PASSES)
    {
        const KernelWork work = MakeConvolutionWork(MakeShape(3), pass, DataType::FP32);
        const std::vector<WinogradWay> ways = ListWinogradWays(work, pass);
        ASSERT_EQ(ways.size(), pass == KernelPass::WEIGHT_GRADIENT ? 2u : 3u);
        EXPECT_DOUBLE_EQ(work.GetFlops() / ways[0].product.GetFlops(), 2.25);
        EXPECT_DOUBLE_EQ(work.GetFlops() / ways[1].product.GetFlops(), 4);
        // 36 numbers for each of 8 x 8 tiles and channel of both sides, and for the weights.
        const uint64_t tiles = 16 * 8 * 8;
        const uint64_t transformed = 4 * 36 * (tiles * (64 + 128) + 64 * 128);
        EXPECT_EQ(ways[1].product.bytes, transformed);
        EXPECT_EQ(ways[1].bytes, transformed + 4 * (16 * 32 * 32 * (64 + 128) + 9 * 64 * 128));
        if (ways.size() == 3)
        {
            EXPECT_TRUE(ways[2].isFused);
            EXPECT_EQ(ways[2].bytes, work.GetBytes());
        }
    }
}

TEST(ConvolutionCost, WinogradIsForSquaresOfThreeWithoutStride)
{
    for (const KernelPass pass : PASSES)
    {
        EXPECT_TRUE(ListWinogradWays(MakeConvolutionWork(MakeShape(1), pass, DataType::FP32), pass)
                        .empty());
        EXPECT_TRUE(ListWinogradWays(MakeConvolutionWork(MakeShape(5), pass, DataType::FP32), pass)
                        .empty());
        EXPECT_TRUE(
            ListWinogradWays(MakeConvolutionWork(MakeShape(3, 2), pass, DataType::FP32), pass)
                .empty());
    }
}

// In fp32 the product of a convolution may take less time than its operations at the peak rate; on
// tensor cores it never does.
TEST(ConvolutionCost, OnlyWithoutTensorCores)
{
    ConvolutionShape shape = MakeShape(3);
    shape.batch = 64;
    shape.channels = shape.filters = 512;
    for (const char* gpu : {"V100-SXM2-32GB", "A100-SXM4-80GB", "H100-SXM5-80GB"})
    {
        for (const KernelPass pass : PASSES)
        {
            const KernelWork wide = MakeConvolutionWork(shape, pass, DataType::FP32);
            const KernelWork narrow = MakeConvolutionWork(shape, pass, DataType::FP16);
            const GpuDatasheet& sheet = FindGpuDatasheet(gpu);
            const double atPeak = 1e12 * wide.GetFlops();
            const auto wides =
                static_cast<double>(GetGpuPs(gpu, wide, ImageLayout::CHANNELS_FIRST));
            const auto narrows =
                static_cast<double>(GetGpuPs(gpu, narrow, ImageLayout::CHANNELS_LAST));
            EXPECT_LT(wides, atPeak / sheet.fp32Flops) << gpu;
            EXPECT_GT(wides, atPeak / sheet.fp32Flops / 4) << gpu;
            EXPECT_GT(narrows, atPeak / sheet.PeakFlops(DataType::FP16)) << gpu;
        }
    }
}

// Kernels on tensor cores read channels last, the others first: what lies the other way is read and
// written once more.
TEST(ConvolutionCost, LayoutsAreTurned)
{
    const KernelWork half = MakeConvolutionWork(MakeShape(3), KernelPass::FORWARD, DataType::FP16);
    const KernelWork full = MakeConvolutionWork(MakeShape(3), KernelPass::FORWARD, DataType::FP32);
    const uint64_t elements = 16 * 32 * 32 * (64 + 128);
    EXPECT_EQ(GetTurnedBytes(half, ImageLayout::CHANNELS_LAST, true), 0u);
    EXPECT_EQ(GetTurnedBytes(half, ImageLayout::CHANNELS_FIRST, true), 2 * 2 * elements);
    EXPECT_EQ(GetTurnedBytes(half, ImageLayout::LAST_IN_16_BITS, true), 0u);
    EXPECT_EQ(GetTurnedBytes(full, ImageLayout::CHANNELS_FIRST, false), 0u);
    EXPECT_EQ(GetTurnedBytes(full, ImageLayout::CHANNELS_LAST, false), 2 * 4 * elements);
    EXPECT_EQ(GetTurnedBytes(full, ImageLayout::LAST_IN_16_BITS, true), 2 * 4 * elements);
    EXPECT_GT(GetGpuPs("V100-SXM2-32GB", half, ImageLayout::CHANNELS_FIRST),
              GetGpuPs("V100-SXM2-32GB", half, ImageLayout::CHANNELS_LAST));
    for (const char* name : {"last", "first", "last-in-16-bits"})
    {
        EXPECT_STREQ(ToString(ImageLayoutFromString(name)), name);
    }
    EXPECT_THROW(ImageLayoutFromString("NCHW"), std::invalid_argument);
}

// The sum of a weight's gradient goes over all pixels: it is cut into enough pieces to fill the
// GPU, so that a product of 64 x 64 does not run on one multiprocessor in eight.
TEST(ConvolutionCost, LongSumsFillTheGpu)
{
    const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"));
    const ProductTime time = model.GetProductTime({1, 64, 64, 802816, 0}, DataType::FP16);
    EXPECT_GE(time.threadBlocks, 54u);
    EXPECT_LE(model.GetProductTime({1, 64, 64, 8192, 0}, DataType::FP16).threadBlocks, 8u);
}

TEST(ConvolutionCost, GradientsInFp8TakeTheirShare)
{
    const KernelWork work = MakeGemmWork(1, 8192, 8192, 8192, DataType::FP8);
    KernelWork gradient = work;
    gradient.pass = KernelPass::INPUT_GRADIENT;
    KernelCostParameters parameters;
    parameters.kernelLatencyPs = 0;
    parameters.fp8GradientShare = 0.5;
    for (const char* gpu : {"H100-SXM5-80GB", "A100-SXM4-80GB"}) // the latter multiplies in bf16
    {
        const KernelCostModel model(FindGpuDatasheet(gpu), parameters);
        const double ratio = static_cast<double>(model.GetTime(gradient).gpuPs) /
                             static_cast<double>(model.GetTime(work).gpuPs);
        EXPECT_NEAR(ratio, gpu[0] == 'H' ? 2 : 1, 1e-6);
    }
    parameters.fp8GradientShare = 0;
    EXPECT_THROW(KernelCostModel(FindGpuDatasheet("H100-SXM5-80GB"), parameters),
                 std::invalid_argument);
}

TEST(ConvolutionCost, RowsHaveTheirShareOfTheBandwidth)
{
    const KernelWork norm = MakeNormalizationWork(65536, 4096, KernelPass::FORWARD, DataType::BF16);
    KernelWork copy = MakeElementwiseWork(norm.bytes, KernelPass::FORWARD, DataType::BF16);
    KernelCostParameters parameters;
    parameters.kernelLatencyPs = 0;
    const GpuDatasheet& gpu = FindGpuDatasheet("H100-SXM5-80GB");
    EXPECT_EQ(KernelCostModel(gpu, parameters).GetTime(norm).gpuPs,
              KernelCostModel(gpu, parameters).GetTime(copy).gpuPs);
    parameters.memoryEfficiency = 0.9;
    parameters.rowEfficiency = 0.6;
    const KernelCostModel model(gpu, parameters);
    EXPECT_NEAR(static_cast<double>(model.GetTime(norm).gpuPs) /
                    static_cast<double>(model.GetTime(copy).gpuPs),
                1.5,
                1e-6);
    // A block of threads that has much to do by itself is a bound.
    copy.blockElements = 4000000000;
    EXPECT_GE(model.GetTime(copy).gpuPs, 900000000000);
}
