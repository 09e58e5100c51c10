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

namespace
{

/// A convolution as the compiler describes it, of groups of channels.
KernelWork
MakeGroups(uint64_t groups, uint64_t channels, uint64_t window, KernelPass pass, DataType type)
{
    constexpr uint64_t IMAGES = 32;
    constexpr uint64_t SIZE = 28;
    KernelWork work;
    work.kernelClass = KernelClass::CONVOLUTION;
    work.pass = pass;
    work.type = type;
    work.shape = {IMAGES, channels, channels, SIZE, SIZE, window, window};
    work.convolutionInput = IMAGES * groups * channels * SIZE * SIZE;
    const uint64_t weights = groups * channels * channels * window * window;
    MakeGrouped(work, groups, GetElementBytes(type) * (2 * work.convolutionInput + weights));
    return work;
}

} // namespace

// Xie et al. 2017: 32 groups of 8 channels multiply a 32nd of what 256 channels do.
TEST(ConvolutionCost, GroupsAreProductsOfTheirOwn)
{
    for (const KernelPass pass : PASSES)
    {
        const KernelWork groups = MakeGroups(32, 8, 3, pass, DataType::FP16);
        EXPECT_EQ(CountGroups(groups), 32u);
        EXPECT_DOUBLE_EQ(groups.GetFlops() * 32,
                         MakeGroups(1, 256, 3, pass, DataType::FP16).GetFlops());
        EXPECT_TRUE(ListWinogradWays(groups, pass).empty());
        // Half of a multiple of what tensor cores load at once costs what the whole does.
        const int64_t eight = GetGpuPs("A100-SXM4-80GB", groups, ImageLayout::CHANNELS_LAST);
        KernelWork four = MakeGroups(32, 4, 3, pass, DataType::FP16);
        four.products.front().bytes = 0;
        EXPECT_LE(GetGpuPs("A100-SXM4-80GB", four, ImageLayout::CHANNELS_LAST), eight);
        EXPECT_GE(
            2.2 * static_cast<double>(GetGpuPs("A100-SXM4-80GB", four, ImageLayout::CHANNELS_LAST)),
            static_cast<double>(eight));
        // Images are turned whole, not a group of them.
        EXPECT_EQ(GetTurnedBytes(groups, ImageLayout::CHANNELS_FIRST, true),
                  2u * 2 * 2 * 32 * 256 * 28 * 28);
    }
}

// Groups of one channel use no tensor cores: their time is that of operations counted by hand for
// each result, in fp32 units (channels last) or in those for whole numbers (PyTorch's kernels).
TEST(ConvolutionCost, GroupsOfOneChannelTakeOperations)
{
    constexpr double LATENCY = 5e6; // ps of a kernel, see KernelCostParameters
    for (const uint64_t window : {3, 7})
    {
        const double results = 32.0 * 512 * 28 * 28;
        const double pixels = static_cast<double>(window * window);
        for (const KernelPass pass : PASSES)
        {
            const bool isOfWeights = pass == KernelPass::WEIGHT_GRADIENT;
            const KernelWork half = MakeGroups(512, 1, window, pass, DataType::FP16);
            const double last = results * (200 + 2 * pixels) / (19.5e12 / 2) * 1e12;
            EXPECT_NEAR(
                static_cast<double>(GetGpuPs("A100-SXM4-80GB", half, ImageLayout::CHANNELS_LAST)),
                last + LATENCY,
                1e-3 * last);
            const double perResult = isOfWeights ? 40 * pixels : 60 + 12 * pixels;
            const double first = results * perResult / (19.5e12 / 2) * 1e12;
            EXPECT_NEAR(
                static_cast<double>(GetGpuPs("A100-SXM4-80GB", half, ImageLayout::CHANNELS_FIRST)),
                first + LATENCY,
                1e-3 * first);
        }
    }
}

// Groups that come in no 32s have no kernel on tensor cores, with channels last.
TEST(ConvolutionCost, GroupsOfOtherNumbersAreSlow)
{
    const KernelWork many = MakeGroups(32, 16, 3, KernelPass::FORWARD, DataType::FP16);
    const KernelWork few = MakeGroups(28, 16, 3, KernelPass::FORWARD, DataType::FP16);
    const auto last = [](const KernelWork& work) {
        return static_cast<double>(GetGpuPs("A100-SXM4-80GB", work, ImageLayout::CHANNELS_LAST));
    };
    EXPECT_NEAR(last(few), few.GetFlops() * 13 / 19.5e12 * 1e12 + 5e6, 1e-3 * last(few));
    EXPECT_GT(last(few), 2 * last(many));
    const KernelWork wide = MakeGroups(28, 16, 3, KernelPass::FORWARD, DataType::FP32);
    EXPECT_LT(static_cast<double>(GetGpuPs("A100-SXM4-80GB", wide, ImageLayout::CHANNELS_FIRST)),
              last(few));
}
