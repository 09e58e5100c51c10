/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Published rates of attention and of matrix products.

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-filled-head.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-step-share.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

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

// Heads of 80 are computed as ones of 96 or 128, as long as these.
TEST(AttentionRate, HeadsAreFilledUp)
{
    const auto share = [](AttentionKernel kernel, uint64_t head) {
        return GetAttentionShare(kernel, {4096, head, true, true, 80});
    };
    for (const auto& [kernel, filled] :
         std::map<AttentionKernel, uint64_t>{{AttentionKernel::FLASH_ATTENTION_1, 128},
                                             {AttentionKernel::FLASH_ATTENTION_TRITON, 128},
                                             {AttentionKernel::FLASH_ATTENTION_2, 96},
                                             {AttentionKernel::FLASH_ATTENTION_3, 96},
                                             {AttentionKernel::CUDNN, 80}})
    {
        EXPECT_EQ(GetFilledHead(kernel, 80), filled);
        EXPECT_NEAR(share(kernel, 80) * static_cast<double>(filled),
                    share(kernel, filled) * 80,
                    1e-9);
    }
    EXPECT_EQ(GetFilledHead(AttentionKernel::FLASH_ATTENTION_1, 256), 256u); // none so large
    EXPECT_EQ(GetFilledHead(AttentionKernel::FLASH_ATTENTION_2, 128), 128u);
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

// Its instructions are those of Ampere, of which a B200 does as many as an H100.
TEST(AttentionRate, FlashAttention2GainsNothingFromBlackwell)
{
    AttentionShape shape{8192, 128, false, true, 100};
    const double onB200 = 2250 * GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape);
    EXPECT_NEAR(onB200, 361.6, 4);
    shape.head = 64;
    shape.keys = 16384;
    EXPECT_NEAR(2250 * GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape), 379, 4);
    shape.isForward = false;
    EXPECT_NEAR(2250 * GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape), 334, 4);
    shape.capability = 120; // RTX
    EXPECT_GT(GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape), 0.2);
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

// Of an A100, steps keep up less than its largest products and a share of an H100 say.
TEST(MatrixRate, KnowsWhatStepsKeepUp)
{
    for (const char* gpu : {"A100-SXM4-80GB", "A100-PCIE-40GB"})
    {
        EXPECT_NEAR(0.85 * FindShareInSteps(gpu, DataType::BF16), 0.777, 1e-9) << gpu;
        EXPECT_EQ(FindShareInSteps(gpu, DataType::FP32), 1) << gpu; // no tensor cores
    }
    EXPECT_EQ(FindShareInSteps("H100-SXM5-80GB", DataType::BF16), 1);
    EXPECT_EQ(FindShareInSteps("A10", DataType::BF16), 1); // another processor
}

// The clock of a B200 falls from 1965 to 1580 MHz when there are only products, that of a GB200 as
// much.
TEST(MatrixRate, FallsUnderTheLimitOfBlackwell)
{
    const auto share = [](const char* gpu, double duty) {
        return FindAchievedMatrixShare(gpu, DataType::BF16, {duty}).value();
    };
    for (const char* gpu : {"B200", "GB200"})
    {
        EXPECT_TRUE(IsPowerLimited(gpu, DataType::FP8)) << gpu;
        EXPECT_EQ(share(gpu, 0.5), share(gpu, 0)) << gpu;
        EXPECT_LT(share(gpu, 0.8), share(gpu, 0)) << gpu;
    }
    EXPECT_NEAR(share("B200", 1) / share("B200", 0), 1237.0 / 1450, 2e-3);
    // cublasMatmulBench, 11,000 products in a row: 1592 TFLOP/s, and 3063 in fp8.
    EXPECT_NEAR(2500 * share("GB200", 1), 1592, 1);
    EXPECT_NEAR(5000 * FindAchievedMatrixShare("GB200", DataType::FP8, {1}).value(),
                3063,
                0.04 * 3063);
}

// A GB300 has 1400 W where a GB200 has 1200, and its largest products were measured: 2174 TFLOP/s.
TEST(MatrixRate, FallsLessWithTheLimitOfBlackwellUltra)
{
    const auto share = [](const char* gpu, double duty) {
        return FindAchievedMatrixShare(gpu, DataType::BF16, {duty}).value();
    };
    EXPECT_NEAR(2500 * share("GB300", 0), 2174, 0.5);
    EXPECT_EQ(share("GB300", 0.7), share("GB300", 0));
    EXPECT_NEAR(2500 * share("GB300", 1), 2125, 1); // 19 of 20 of those of 299 servers keep more
    EXPECT_LT(share("GB200", 0.7), share("GB200", 0));
    EXPECT_GT(FindClockLoss("GB300", DataType::FP8, {1}),
              FindClockLoss("GB200", DataType::FP8, {1}));
    EXPECT_EQ(share("B300", 1), share("B200", 1));
    EXPECT_EQ(FindClockLoss("A100-SXM4-80GB", DataType::BF16, {1}), 1);
    EXPECT_EQ(FindClockLoss("a GPU that nobody knows", DataType::BF16, {1}), 1);
}

namespace
{

/// @return the forward pass of causal attention, 4 sequences of 8,192 tokens, 16 heads of 128
KernelWork
MakeAttention()
{
    KernelWork work;
    work.kernelClass = KernelClass::FUSED_ATTENTION;
    work.pass = KernelPass::FORWARD;
    work.type = DataType::BF16;
    work.shape = {4 * 16, 8192, 8192, 128};
    work.fusedFlops = 4.0 * 4 * 16 * 8192 * 8192 * 128 / 2;
    return work;
}

} // namespace

// Fused attention takes Blackwell's power as products do, where it feeds its matrix units: under
// lasting load it falls from 1450 to 1237 TFLOP/s.
TEST(AttentionRate, FallsWithTheClockOfBlackwell)
{
    const KernelWork work = MakeAttention();
    const auto time = [&](const char* gpu, AttentionKernel kernel, double duty) {
        KernelCostParameters parameters;
        parameters.attention = kernel;
        parameters.duty.products = duty;
        return KernelCostModel(FindGpuDatasheet(gpu), parameters).GetTime(work);
    };
    const auto slowdown = [&](const char* gpu, AttentionKernel kernel) {
        return static_cast<double>(time(gpu, kernel, 1).gpuPs) /
               static_cast<double>(time(gpu, kernel, 0).gpuPs);
    };
    EXPECT_NEAR(slowdown("B200", AttentionKernel::CUDNN), 1450.0 / 1237, 5e-3);
    EXPECT_EQ(slowdown("B200", AttentionKernel::FLASH_ATTENTION_2), 1);
    EXPECT_EQ(slowdown("H100-SXM5-80GB", AttentionKernel::CUDNN), 1);
    EXPECT_GT(time("B200", AttentionKernel::CUDNN, 0).productPs, 0);
    EXPECT_EQ(time("H100-SXM5-80GB", AttentionKernel::CUDNN, 0).productPs, 0);
}

// What is known of a GPU is not known of another whose name begins with its name.
TEST(MatrixRate, BelongsToWholeNames)
{
    const auto share = [](const std::string& gpu, DataType type) {
        return FindAchievedMatrixShare(gpu, type);
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

// An RTX 5090 multiplies 236 of the 209.5 TFLOP/s of its data sheet, in steps, too; an H100 none.
TEST(MatrixRate, PassesTheDataSheetWhereTheClockDoes)
{
    KernelCostParameters parameters;
    parameters.matrixEfficiency = 0.85;
    parameters.matrixGpus = 1;
    const auto achieved = [&](const char* gpu) {
        const GpuDatasheet sheet = FindGpuDatasheet(gpu);
        const uint64_t size = 16384;
        const KernelWork work = MakeGemmWork(1, size, size, size, DataType::BF16);
        const double seconds = 1e-12 * KernelCostModel(sheet, parameters).GetTime(work).gpuPs;
        return 2.0 * size * size * size / seconds / sheet.bf16Flops;
    };
    EXPECT_GT(achieved("RTX-5090"), 1.05);
    EXPECT_LT(achieved("RTX-5090"), 1.14);
    EXPECT_LT(achieved("H100-SXM5-80GB"), 0.85);
}

// With a limit of 500 in place of 700 W the clock falls earlier, and further.
TEST(MatrixRate, FallsEarlierWithLessPower)
{
    const auto share = [](const std::string& gpu, double duty) {
        return FindAchievedMatrixShare(gpu, DataType::BF16, {duty}).value();
    };
    EXPECT_DOUBLE_EQ(share("H100-SXM5-96GB-500W", 0.27), 0.84); // the host is waited for
    EXPECT_DOUBLE_EQ(share("H100-SXM5-80GB", 0.38), 0.84);
    EXPECT_LT(share("H100-SXM5-96GB-500W", 0.5), 0.82);
    // Of 700 - 115 W for products 385 are left, and rate and power per operation fall with the
    // clock.
    EXPECT_NEAR(share("H100-SXM5-96GB-500W", 1) / share("H100-SXM5-80GB", 1),
                std::sqrt(385.0 / 585),
                1e-3);
    // 660 W for a module, of which its CPU is taken to need 100.
    EXPECT_DOUBLE_EQ(share("GH200-96GB", 0.38), 0.84);
    EXPECT_LT(share("GH200-96GB-660W", 0.5), share("GH200-96GB", 0.5));
    EXPECT_NEAR(share("GH200-96GB-660W", 1) / share("GH200-96GB", 1), std::sqrt(445.0 / 585), 1e-3);
    EXPECT_EQ(FindAchievedMatrixShare("GH200-96GB-660W", DataType::TF32, {1}),
              FindAchievedMatrixShare("GH200-96GB", DataType::TF32, {1}));
}

// Other kernels draw power, too: the clocks of steps that were measured under 700 W, every second
// of which the numbers of FindClock() were not fitted to (workloads/profiles/h100-steps.csv).
TEST(PowerLimit, HasTheClocksOfMeasuredSteps)
{
    const ProductClock bf16{0.84, 0.71, 0.687};

    struct Step
    {
        double products; // parts of the time at the clock that was measured
        double others;
        double clock;
        double watts;
    };

    // GPT-2 small compiled, GPT-3 1.3B of 4 and of 8, Llama 3 8B of 4 layers on H100 and H200.
    for (const Step& step : {Step{0.51, 0.43, 0.900, 687},
                             Step{0.63, 0.32, 0.873, 687},
                             Step{0.68, 0.31, 0.818, 692},
                             Step{0.58, 0.39, 0.880, 696},
                             Step{0.58, 0.39, 0.894, 685}})
    {
        // Their time where the clock does not fall.
        const double faster = FindShareAtClock(bf16, step.clock) / bf16.rest;
        const double time = 1 - step.products * (1 - faster);
        const GpuDuty duty{step.products * faster / time,
                           (step.products * faster + step.others) / time};
        EXPECT_NEAR(FindClock(bf16, duty, step.watts), step.clock, 0.06 * step.clock);
    }
    EXPECT_EQ(FindClock(bf16, {0.16, 0.97}, 598), 1); // BERT large, 598 W
    EXPECT_NEAR(FindClock(bf16, {1, 1}, 700), 0.687, 1e-6);
    const GpuDuty step{0.5, 0.95};
    EXPECT_LT(FindClock(bf16, step, 500), FindClock(bf16, step, 560));
    EXPECT_LT(FindClock(bf16, step, 500), FindClock(bf16, {0.5, 0.5}, 500));
}

// Attention under 500 W loses what the clock loses beyond that of 700 W, and counts as its
// operations.
TEST(AttentionRate, FallsWithALowerLimit)
{
    const KernelWork work = MakeAttention();
    const auto time = [&](const char* gpu, const GpuDuty& duty) {
        KernelCostParameters parameters;
        parameters.attention = AttentionKernel::FLASH_ATTENTION_2;
        parameters.duty = duty;
        return KernelCostModel(FindGpuDatasheet(gpu), parameters).GetTime(work);
    };
    const GpuDuty busy{0.5, 0.95};
    const double slower = static_cast<double>(time("H100-SXM5-96GB-500W", busy).gpuPs) /
                          static_cast<double>(time("H100-SXM5-80GB", busy).gpuPs);
    EXPECT_GT(slower, 1.25);
    EXPECT_LT(slower, 1.5);
    EXPECT_EQ(time("H100-SXM5-96GB-500W", {}).gpuPs, time("H100-SXM5-80GB", {}).gpuPs);
    EXPECT_EQ(time("H100-SXM5-80GB", busy).productPs, 0);
    const KernelTime alone = time("H100-SXM5-96GB-500W", {});
    const double part = static_cast<double>(alone.productPs) / static_cast<double>(alone.gpuPs);
    EXPECT_GT(part, 0.35);
    EXPECT_LT(part, 0.6);
}
