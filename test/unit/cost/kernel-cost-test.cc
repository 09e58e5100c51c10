/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const char* const A100 = "A100-SXM4-80GB";

/// @return parameters of a GPU and a host without losses
KernelCostParameters
MakeIdeal()
{
    KernelCostParameters parameters;
    parameters.matrixEfficiency = 1;
    parameters.memoryEfficiency = 1;
    parameters.streamEfficiency = 1;
    parameters.optimizerEfficiency = 1;
    parameters.fusedAttentionEfficiency = 1;
    parameters.fp8Efficiency = 1;
    parameters.misalignedEfficiency = 1;
    parameters.fillBytes = 0;
    parameters.kernelLatencyPs = 0;
    parameters.hostPerKernelPs = 0;
    return parameters;
}

/// @return seconds of a product without losses on an A100
double
IdealSeconds(uint64_t m, uint64_t n, uint64_t k)
{
    const KernelCostModel model(FindGpuDatasheet(A100), MakeIdeal());
    return model.GetProductSeconds({1, m, n, k, 0}, DataType::FP16);
}

} // namespace

TEST(KernelWork, Linear)
{
    const KernelWork forward = MakeLinearForwardWork(2048, 1024, 4096, DataType::BF16);
    EXPECT_DOUBLE_EQ(forward.GetFlops(), 2.0 * 2048 * 1024 * 4096);
    EXPECT_EQ(forward.GetBytes(), 2u * (2048 * 1024 + 1024 * 4096 + 2048 * 4096));
    EXPECT_EQ(forward.GetNKernels(), 1u);
    EXPECT_EQ(forward.shape, (std::vector<uint64_t>{1, 2048, 4096, 1024}));

    const KernelWork input = MakeLinearInputGradientWork(2048, 1024, 4096, DataType::BF16);
    EXPECT_DOUBLE_EQ(input.GetFlops(), forward.GetFlops());
    EXPECT_EQ(input.GetBytes(), forward.GetBytes());
    EXPECT_EQ(input.shape, (std::vector<uint64_t>{1, 2048, 1024, 4096}));

    // The gradient is read and written in fp32.
    const KernelWork weight = MakeLinearWeightGradientWork(2048, 1024, 4096, DataType::BF16);
    EXPECT_DOUBLE_EQ(weight.GetFlops(), forward.GetFlops());
    EXPECT_EQ(weight.GetBytes(), 2u * 2048 * (1024 + 4096) + 8u * 1024 * 4096);
    EXPECT_EQ(MakeLinearWeightGradientWork(2048, 1024, 4096, DataType::BF16, 0).GetBytes(),
              forward.GetBytes());

    // In fp8 operands have one byte, results two, and what comes in is quantised.
    const KernelWork fp8 = MakeLinearForwardWork(2048, 1024, 4096, DataType::FP8);
    EXPECT_EQ(fp8.GetNKernels(), 2u);
    EXPECT_EQ(fp8.GetBytes(), 2048u * 1024 + 1024 * 4096 + 2u * 2048 * 4096 + 4u * 2048 * 1024);
}

TEST(KernelWork, Convolution)
{
    // The first layer of AlexNet: 3 x 224 x 224 to 64 x 55 x 55, 11 x 11, stride 4, padding 2.
    ConvolutionShape shape;
    shape.batch = 32;
    shape.channels = 3;
    shape.height = shape.width = 224;
    shape.filters = 64;
    shape.kernelHeight = shape.kernelWidth = 11;
    shape.stride = 4;
    shape.paddingHeight = shape.paddingWidth = 2;
    EXPECT_EQ(shape.GetOutputHeight(), 55u);
    EXPECT_EQ(shape.GetOutputWidth(), 55u);
    const uint64_t pixels = 32 * 55 * 55;
    const uint64_t window = 3 * 11 * 11;
    for (KernelPass pass :
         {KernelPass::FORWARD, KernelPass::INPUT_GRADIENT, KernelPass::WEIGHT_GRADIENT})
    {
        const KernelWork work = MakeConvolutionWork(shape, pass, DataType::FP32);
        EXPECT_DOUBLE_EQ(work.GetFlops(), 2.0 * pixels * 64 * window);
        EXPECT_EQ(work.GetBytes(), 4u * (32 * 3 * 224 * 224 + pixels * 64 + 64 * window));
        EXPECT_EQ(work.shape, (std::vector<uint64_t>{32, 64, 3, 55, 55, 11, 11}));
    }
    const KernelWork forward = MakeConvolutionWork(shape, KernelPass::FORWARD, DataType::FP32);
    EXPECT_EQ(forward.products[0].m, pixels);
    EXPECT_EQ(forward.products[0].n, 64u);
    EXPECT_EQ(forward.products[0].k, window);
    EXPECT_EQ(MakeConvolutionWork(shape, KernelPass::WEIGHT_GRADIENT, DataType::FP32).products[0].k,
              pixels);
    EXPECT_THROW(MakeConvolutionWork(shape, KernelPass::BACKWARD, DataType::FP32),
                 std::invalid_argument);
    shape.height = 6;
    EXPECT_THROW(MakeConvolutionWork(shape, KernelPass::FORWARD, DataType::FP32),
                 std::invalid_argument);
}

TEST(KernelWork, Attention)
{
    const uint64_t scores = 16 * 1024 * 1024;
    const uint64_t product = 2 * 16 * (1024 * 1024 + 2 * 1024 * 64);
    const KernelWork forward =
        MakeAttentionWork(16, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP16);
    EXPECT_DOUBLE_EQ(forward.GetFlops(), 4.0 * scores * 64);
    // Softmax 4, dropout 5 bytes per score.
    EXPECT_EQ(forward.GetBytes(), 2 * product + 9 * scores);
    EXPECT_EQ(forward.GetNKernels(), 4u);
    const KernelWork backward =
        MakeAttentionWork(16, 1024, 1024, 64, KernelPass::BACKWARD, DataType::FP16);
    EXPECT_DOUBLE_EQ(backward.GetFlops(), 8.0 * scores * 64);
    EXPECT_EQ(backward.GetBytes(), 4 * product + 11 * scores);
    EXPECT_EQ(backward.GetNKernels(), 6u);
    EXPECT_EQ(MakeAttentionWork(16, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP16, false)
                  .GetNKernels(),
              3u);
    // fp8 is for linear layers.
    EXPECT_EQ(MakeAttentionWork(16, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP8).GetBytes(),
              forward.GetBytes());

    // 2 heads of one sequence: softmax is five kernels.
    EXPECT_TRUE(HasFusedSoftmax(4, 1024, 1024, DataType::FP16));
    EXPECT_FALSE(HasFusedSoftmax(2, 1024, 1024, DataType::FP16));
    EXPECT_FALSE(HasFusedSoftmax(4, 1024, 1024, DataType::FP32));
    EXPECT_FALSE(HasFusedSoftmax(4, 1024, 8192, DataType::FP16));
    EXPECT_FALSE(HasFusedSoftmax(4, 1023, 1024, DataType::FP16));
    const KernelWork small =
        MakeAttentionWork(2, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP16);
    EXPECT_EQ(small.GetNKernels(), 8u);
    EXPECT_EQ(small.bytes, 2u * 1024 * 1024 * (36 + 5));

    // One kernel; causal attention leaves half, backward is 2.5 times as much.
    const KernelWork fused =
        MakeFusedAttentionWork(16, 1024, 1024, 64, KernelPass::FORWARD, DataType::BF16);
    EXPECT_DOUBLE_EQ(fused.GetFlops(), 2.0 * scores * 64);
    EXPECT_EQ(fused.GetBytes(), 2u * 16 * 64 * 4 * 1024);
    EXPECT_EQ(fused.GetNKernels(), 1u);
    EXPECT_DOUBLE_EQ(
        MakeFusedAttentionWork(16, 1024, 1024, 64, KernelPass::BACKWARD, DataType::BF16, false)
            .GetFlops(),
        10.0 * scores * 64);
    // Values narrower than keys (multi-head latent attention); the rate is that of wide heads.
    const auto latent = [](KernelPass pass, uint64_t value) {
        return MakeFusedAttentionWork(16, 1024, 1024, 192, pass, DataType::BF16, true, value);
    };
    EXPECT_DOUBLE_EQ(latent(KernelPass::FORWARD, 128).GetFlops(), scores * (192 + 128));
    EXPECT_DOUBLE_EQ(latent(KernelPass::BACKWARD, 128).GetFlops(), scores * (3 * 192 + 2 * 128));
    EXPECT_EQ(latent(KernelPass::FORWARD, 128).GetBytes(), 2u * 16 * 1024 * 2 * (192 + 128));
    EXPECT_EQ(latent(KernelPass::BACKWARD, 128).GetBytes(), 2u * 16 * 1024 * 4 * (192 + 128));
    EXPECT_EQ(
        latent(KernelPass::FORWARD, 192).shape,
        MakeFusedAttentionWork(16, 1024, 1024, 192, KernelPass::FORWARD, DataType::BF16).shape);
    EXPECT_THROW(MakeAttentionWork(16, 1024, 1024, 64, KernelPass::INPUT_GRADIENT, DataType::FP16),
                 std::invalid_argument);
}

TEST(KernelWork, MemoryBound)
{
    EXPECT_EQ(MakeNormalizationWork(8, 100, KernelPass::FORWARD, DataType::BF16).GetBytes(), 3200u);
    EXPECT_EQ(MakeNormalizationWork(8, 100, KernelPass::BACKWARD, DataType::BF16).GetBytes(),
              4800u);
    EXPECT_EQ(MakeNormalizationWork(8, 100, KernelPass::BACKWARD, DataType::BF16, true).GetBytes(),
              6400u);
    EXPECT_EQ(MakeSoftmaxWork(8, 100, KernelPass::FORWARD, DataType::FP32).GetBytes(), 6400u);
    EXPECT_EQ(MakeElementwiseWork(77, KernelPass::FORWARD, DataType::BF16, 3).GetNKernels(), 3u);
    EXPECT_EQ(MakeOptimizerWork(300).GetBytes(), 300u);
    EXPECT_EQ(MakeEmbeddingWork(10, 4, 100, KernelPass::FORWARD, DataType::BF16).GetBytes(), 160u);
    // Rows 2 + 2 + 2; table 2 written, 2 read, 4 read and 4 written.
    EXPECT_EQ(MakeEmbeddingWork(10, 4, 100, KernelPass::BACKWARD, DataType::BF16).GetBytes(),
              6u * 40 + 12u * 400);
    EXPECT_EQ(MakeEmbeddingWork(10, 4, 100, KernelPass::BACKWARD, DataType::BF16, 0).GetBytes(),
              6u * 40 + 2u * 400);
    EXPECT_EQ(ErrorOf([] { MakeGemmWork(1, 0, 2, 3, DataType::BF16); }),
              "matrix product: every size must be at least 1");
    EXPECT_THROW(MakeGemmWork(1, 1ull << 40, 1ull << 40, 1ull << 40, DataType::BF16),
                 std::invalid_argument);
}

TEST(KernelWork, NamesReadBack)
{
    for (KernelClass kernelClass : {KernelClass::GEMM,
                                    KernelClass::CONVOLUTION,
                                    KernelClass::ATTENTION,
                                    KernelClass::FUSED_ATTENTION,
                                    KernelClass::NORMALIZATION,
                                    KernelClass::SOFTMAX,
                                    KernelClass::ELEMENTWISE,
                                    KernelClass::EMBEDDING,
                                    KernelClass::OPTIMIZER})
    {
        EXPECT_EQ(KernelClassFromString(ToString(kernelClass)), kernelClass);
    }
    for (KernelPass pass : {KernelPass::FORWARD,
                            KernelPass::BACKWARD,
                            KernelPass::INPUT_GRADIENT,
                            KernelPass::WEIGHT_GRADIENT})
    {
        EXPECT_EQ(KernelPassFromString(ToString(pass)), pass);
    }
    EXPECT_NE(ErrorOf([] { KernelClassFromString("gem"); }).find("known are gemm, convolution"),
              std::string::npos);
    EXPECT_THROW(KernelPassFromString("sideward"), std::invalid_argument);
}

TEST(KernelCost, FullWavesReachThePeak)
{
    // 12 x 9 tiles of 256 x 128 are one wave on the 108 multiprocessors.
    const uint64_t k = 4096;
    const double wave = 2.0 * 256 * 128 * k * 108 / 312e12;
    EXPECT_DOUBLE_EQ(IdealSeconds(12 * 256, 9 * 128, k), wave);
    EXPECT_DOUBLE_EQ(IdealSeconds(12 * 256, 18 * 128, k), 2 * wave);
    // What lies beyond the edge of the result is computed too.
    EXPECT_DOUBLE_EQ(IdealSeconds(12 * 256 - 8, 9 * 128 - 8, k), wave);
    // One more tile starts another wave; smaller tiles and split sums take off some of it.
    const double more = IdealSeconds(12 * 256, 10 * 128, k);
    EXPECT_GT(more, 1.1 * wave);
    EXPECT_LT(more, 2 * wave);
}

TEST(KernelCost, FillingThePipelineMakesShortSumsSlow)
{
    KernelCostParameters parameters = MakeIdeal();
    parameters.fillBytes = 128; // 64 elements
    const KernelCostModel model(FindGpuDatasheet(A100), parameters);
    auto seconds = [&](uint64_t k) {
        return model.GetProductSeconds({1, 12 * 256, 9 * 128, k, 0}, DataType::FP16);
    };
    EXPECT_DOUBLE_EQ(seconds(64), IdealSeconds(12 * 256, 9 * 128, 128));
    EXPECT_DOUBLE_EQ(seconds(4032), IdealSeconds(12 * 256, 9 * 128, 4096));
}

TEST(KernelCost, SplitSumsFillTheMachine)
{
    // One tile and a long sum: 8 pieces are about 8 times as fast, but for their sum.
    const double split = IdealSeconds(256, 128, 1 << 16);
    const double whole = 2.0 * 256 * 128 * (1 << 16) * 108 / 312e12;
    EXPECT_LT(split, whole / 7);
    EXPECT_GT(split, whole / 108);
}

// In fp32 a V100 does 64 multiply-adds per multiprocessor and cycle, an A100 1024 in 16 bits: loads
// hide behind them, and small tiles that fill the waves cost next to nothing. Convolutions, which
// compute addresses, stay as they were.
// On the GPU of the fit, what was measured on an H100 counts as much as what was fitted there.
TEST(KernelCost, ShareOfOneH100IsThatOfTheFitOnAnA100)
{
    const GpuDatasheet& a100 = FindGpuDatasheet("A100-SXM4-80GB");
    const GpuDatasheet& h100 = FindGpuDatasheet("H100-SXM5-80GB");
    KernelCostParameters fit;
    fit.gpus = 8;
    KernelCostParameters measured = fit;
    measured.matrixEfficiency = 0.85;
    measured.matrixGpus = 1;
    const auto share = [](const GpuDatasheet& gpu, const KernelCostParameters& parameters) {
        return KernelCostModel(gpu, parameters).GetMatrixEfficiency(DataType::BF16);
    };
    EXPECT_NEAR(share(a100, measured) / share(a100, fit), 1, 0.002); // both on the slowest of 8
    EXPECT_GT(share(h100, measured) / share(h100, fit), 1.08);
    // Without tensor cores there is nothing to tell apart.
    const auto plain = [](const GpuDatasheet& gpu, const KernelCostParameters& parameters) {
        return KernelCostModel(gpu, parameters).GetMatrixEfficiency(DataType::FP32);
    };
    EXPECT_GT(plain(a100, measured) / plain(a100, fit), 1.08);
}

TEST(KernelCost, LoadsAreCheapForSlowUnits)
{
    KernelCostParameters parameters = MakeIdeal();
    parameters.fillBytes = KernelCostParameters().fillBytes;
    const GpuDatasheet& v100 = FindGpuDatasheet("V100-SXM2-32GB");
    const KernelCostModel model(v100, parameters);
    const double share = v100.fp32Flops / 80 / (312e12 / 108) * 4 / 2;
    EXPECT_DOUBLE_EQ(model.GetLoadShare(DataType::FP32), share);
    EXPECT_EQ(model.GetLoadShare(DataType::FP16), 1);
    const MatrixProduct product{1, 1024, 4096, 1024, 0};
    // 64 x 64: 1024 tiles in 13 waves of 80, which are filled with 32 elements.
    const double largest = 1 + 12 * share * (1.0 / 256 + 1.0 / 128);
    const double small = 1 + 12 * share * (2.0 / 64);
    const double rate = v100.fp32Flops / 80 * model.GetMatrixEfficiency(DataType::FP32);
    const double seconds = 13 * 2.0 * 64 * 64 * (1024 + 32) / rate * small / largest;
    EXPECT_NEAR(model.GetProductTime(product, DataType::FP32, share).seconds / seconds, 1, 1e-9);
    EXPECT_GT(model.GetProductSeconds(product, DataType::FP32), 1.1 * seconds);
    // Fewer blocks have nothing to hide behind.
    const MatrixProduct few{1, 512, 1024, 1024, 0};
    EXPECT_EQ(model.GetProductSeconds(few, DataType::FP32),
              model.GetProductTime(few, DataType::FP32, share).seconds);
}

TEST(KernelCost, NeverFasterThanTheRoofline)
{
    std::mt19937 random(1);
    std::uniform_int_distribution<uint64_t> size(1, 9000);
    const KernelCostParameters defaults;
    for (const std::string& name : GetGpuModels())
    {
        const GpuDatasheet& gpu = FindGpuDatasheet(name);
        const KernelCostModel model(gpu);
        for (int i = 0; i < 200; ++i)
        {
            const DataType type = i % 2 == 0 ? DataType::FP16 : DataType::FP32;
            const KernelWork work =
                MakeGemmWork(1 + i % 3, size(random), size(random), size(random), type);
            const double seconds = model.GetProductSeconds(work.products[0], type);
            EXPECT_GE(seconds * 1.000001,
                      work.GetFlops() / (gpu.PeakFlops(type) * model.GetMatrixEfficiency(type)));
            EXPECT_GE(seconds * 1.000001,
                      static_cast<double>(work.GetBytes()) /
                          (gpu.memoryBytesPerSecond * defaults.streamEfficiency));
            MatrixProduct larger = work.products[0];
            larger.m *= 2;
            larger.bytes *= 2;
            // Compared where both are aligned or neither is.
            larger.m = (larger.m + 7) / 8 * 8;
            if (work.products[0].m % 8 == 0)
            {
                EXPECT_GE(model.GetProductSeconds(larger, type), seconds) << name;
            }
        }
    }
}

TEST(KernelCost, Alignment)
{
    const KernelCostModel model(FindGpuDatasheet(A100));
    auto seconds = [&](uint64_t n, DataType type) {
        return model.GetProductSeconds({1, 4096, n, 4096, 0}, type);
    };
    // The columns of GPT-2's output layer, padded and as they are: the same tiles.
    const double share = model.GetParameters().misalignedEfficiency;
    EXPECT_NEAR(seconds(50257, DataType::FP16) * share, seconds(50304, DataType::FP16), 1e-9);
    // Outside the tensor cores it does not matter.
    EXPECT_DOUBLE_EQ(seconds(50257, DataType::FP32), seconds(50304, DataType::FP32));
}

TEST(KernelCost, MemoryBoundClosedForms)
{
    const KernelCostModel model(FindGpuDatasheet(A100), MakeIdeal());
    const KernelWork move = MakeElementwiseWork(2039000000, KernelPass::FORWARD, DataType::BF16);
    EXPECT_EQ(model.GetTime(move).gpuPs, 1000000000);
    EXPECT_EQ(model.GetTime(move).hostPs, 0);

    KernelCostParameters parameters = MakeIdeal();
    parameters.memoryEfficiency = 0.5;
    parameters.optimizerEfficiency = 0.25;
    parameters.kernelLatencyPs = 1000;
    parameters.hostPerKernelPs = 3000000000;
    const KernelCostModel slow(FindGpuDatasheet(A100), parameters);
    EXPECT_EQ(slow.GetTime(move).gpuPs, 2000001000);
    EXPECT_EQ(slow.GetTime(move).hostPs, 3000000000);
    EXPECT_EQ(slow.GetTime(move).GetPs(), 3000000000);
    EXPECT_EQ(slow.GetTime(MakeOptimizerWork(2039000000)).gpuPs, 4000001000);
    EXPECT_EQ(slow.GetTime(MakeOptimizerWork(2039000000)).GetPs(), 4000001000);
    // Three kernels: three latencies, three times the host.
    const KernelWork three =
        MakeElementwiseWork(2039000000, KernelPass::FORWARD, DataType::BF16, 3);
    EXPECT_EQ(slow.GetTime(three).gpuPs, 2000003000);
    EXPECT_EQ(slow.GetTime(three).hostPs, 9000000000);

    // Fused attention on a GPU without losses: 312 TFLOP/s.
    const KernelWork fused =
        MakeFusedAttentionWork(96, 2048, 2048, 128, KernelPass::FORWARD, DataType::BF16);
    EXPECT_NEAR(static_cast<double>(model.GetTime(fused).gpuPs),
                fused.GetFlops() / 312e12 * 1e12,
                1);
}

TEST(KernelCost, UnfusedAttentionIsTheSumOfItsKernels)
{
    const KernelCostModel model(FindGpuDatasheet(A100));
    const KernelWork work =
        MakeAttentionWork(32, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP16);
    double sum = 0;
    for (const MatrixProduct& product : work.products)
    {
        sum += model.GetProductSeconds(product, DataType::FP16) * 1e12;
    }
    sum += static_cast<double>(
        model.GetTime(MakeElementwiseWork(work.bytes, KernelPass::FORWARD, DataType::FP16, 4))
            .gpuPs);
    EXPECT_NEAR(static_cast<double>(model.GetTime(work).gpuPs), sum, 2);
    // Fused attention saves the traffic.
    const KernelWork fused =
        MakeFusedAttentionWork(32, 1024, 1024, 64, KernelPass::FORWARD, DataType::FP16);
    EXPECT_LT(model.GetTime(fused).gpuPs, model.GetTime(work).gpuPs / 4);
}

TEST(KernelCost, RefusesNonsense)
{
    const GpuDatasheet& gpu = FindGpuDatasheet(A100);
    KernelCostParameters parameters;
    EXPECT_NO_THROW(KernelCostModel(gpu, parameters));
    parameters.memoryEfficiency = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(KernelCostModel(gpu, parameters), std::invalid_argument);
    parameters = {};
    parameters.matrixEfficiency = 1.01;
    EXPECT_THROW(KernelCostModel(gpu, parameters), std::invalid_argument);
    parameters = {};
    parameters.hostPerKernelPs = -1;
    EXPECT_THROW(KernelCostModel(gpu, parameters), std::invalid_argument);
    GpuDatasheet empty;
    EXPECT_THROW(KernelCostModel{empty}, std::invalid_argument);
    const KernelCostModel model(gpu);
    EXPECT_THROW(model.GetTime(MakeGemmWork(1000, 1000000000, 1000000000, 1000000, DataType::FP32)),
                 std::invalid_argument);
}

// On every GPU with a data sheet, measured or not.
TEST(KernelCost, MakesSenseOnEveryGpu)
{
    KernelCostParameters parameters;
    parameters.hostPerKernelPs = 0;
    std::map<std::string, double> large; // seconds of the largest product
    for (const std::string& name : GetGpuModels())
    {
        if (FindGpuModel(name).isCpu) // runs no kernels
        {
            continue;
        }
        const GpuDatasheet& gpu = FindGpuDatasheet(name);
        const KernelCostModel model(gpu, parameters);
        auto seconds = [&](const KernelWork& work) {
            return static_cast<double>(model.GetTime(work).gpuPs) / 1e12;
        };
        for (const DataType type : {DataType::FP32, DataType::FP16, DataType::BF16, DataType::FP8})
        {
            SCOPED_TRACE(name + " " + ToString(type));
            double before = 0;
            for (uint64_t n = 16; n <= 16384; n *= 2)
            {
                const double time = seconds(MakeLinearForwardWork(n, n, n, type));
                const double peak = 2.0 * n * n * n / gpu.PeakFlops(type);
                EXPECT_GE(time, before) << n; // no larger product takes less time
                EXPECT_GT(time, peak / model.GetMatrixEfficiency(type)) << n;
                if (n <= 128)
                {
                    EXPECT_LT(time, 25e-6) << n; // mostly the launch
                }
                before = time;
            }
            const double peak = 2 * std::pow(16384.0, 3) / gpu.PeakFlops(type);
            EXPECT_LT(before, 2 * peak / parameters.matrixEfficiency);
            large[name + ToString(type)] = before;
        }
        // Twice the batch is at most twice the time, and not less time.
        for (uint64_t rows = 256; rows <= 65536; rows *= 2)
        {
            const double one = seconds(MakeLinearForwardWork(rows, 4096, 4096, DataType::FP16));
            const double two = seconds(MakeLinearForwardWork(2 * rows, 4096, 4096, DataType::FP16));
            EXPECT_LE(two, 2 * one * 1.01) << name << " " << rows;
            EXPECT_GE(two, one) << name << " " << rows;
        }
    }
    const std::vector<std::string> generations{"P100-SXM2-16GB",
                                               "V100-SXM2-16GB",
                                               "A100-SXM4-80GB",
                                               "H100-SXM5-80GB",
                                               "B200"};
    for (std::size_t i = 1; i < generations.size(); ++i)
    {
        EXPECT_GT(large.at(generations[i - 1] + "fp16"), 2 * large.at(generations[i] + "fp16"));
    }
}

// Measured on an H100 SXM: average pools of Inception v3 and the maximum pool of ResNet, whose
// bytes alone would take 0.08 and 0.2 ms.
TEST(KernelCost, PoolsLookAtEveryElementOfTheirWindows)
{
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), MakeIdeal());
    const auto getUs = [&](uint64_t points, KernelPass pass) {
        KernelWork work = MakeElementwiseWork(4 * points, pass, DataType::FP16);
        work.windowElements = 9 * points;
        return static_cast<double>(model.GetTime(work).gpuPs) / 1e6;
    };
    const uint64_t average = 256ull * 768 * 17 * 17;
    EXPECT_NEAR(getUs(average, KernelPass::FORWARD), 1376, 0.2 * 1376);
    EXPECT_NEAR(getUs(average, KernelPass::BACKWARD), 1956, 0.2 * 1956);
    const uint64_t maximum = 256ull * 64 * 56 * 56;
    EXPECT_NEAR(getUs(maximum, KernelPass::FORWARD), 860, 0.35 * 860);
    EXPECT_NEAR(getUs(maximum, KernelPass::BACKWARD), 1837, 0.2 * 1837);
    // Small windows wait for memory.
    KernelWork copy = MakeElementwiseWork(1 << 30, KernelPass::FORWARD, DataType::FP16);
    const int64_t alone = model.GetTime(copy).gpuPs;
    copy.windowElements = 1;
    EXPECT_EQ(model.GetTime(copy).gpuPs, alone);
}
