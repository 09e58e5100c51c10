/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-achieved-rates.h"

#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// A measurement, for all GPUs whose names begin so.
struct AchievedRate
{
    const char* gpu;
    DataType type;
    double share;
};

/**
 * A100: maximum achievable matrix product (S. Bekman, "Machine Learning Engineering",
 * compute/accelerator, table MAMF: 271.2 of 312 TFLOP/s), whose share matrixEfficiency belongs to.
 * H100 and H200: on the shapes of language models, under the power limit, some 720 of 989 TFLOP/s
 * in bf16 and 1280 of 1979 in fp8 (SemiAnalysis, "MI300X vs H100 vs H200 Benchmark Part 1:
 * Training", December 2024); the largest of many shapes in a short run reaches 794 and 1403 (MAMF),
 * which training does not: Llama 3 runs at 400 to 430 TFLOP/s (Dubey et al. 2024, table 4). B200 is
 * assumed: shares like those of H100 by MAMF, less the same tenth. V100: 83 of 112 TFLOP/s on
 * tensor cores (Markidis et al. 2018, figure 6; cuBLAS); SGEMM at 93 % of the peak there and on
 * A100 (NVIDIA, "Programming Tensor Cores in CUDA 9").
 */
constexpr AchievedRate RATES[] = {
    {"A100", DataType::BF16, 0.869},
    {"A100", DataType::FP16, 0.869},
    {"A100", DataType::TF32, 0.869},
    {"A100", DataType::FP32, 0.93},
    {"H100", DataType::BF16, 0.728},
    {"H100", DataType::FP16, 0.728},
    {"H100", DataType::FP8, 0.647},
    {"H200", DataType::BF16, 0.728},
    {"H200", DataType::FP16, 0.728},
    {"H200", DataType::FP8, 0.647},
    {"B200", DataType::BF16, 0.70},
    {"B200", DataType::FP16, 0.70},
    {"B200", DataType::FP8, 0.69},
    {"V100", DataType::FP16, 0.74},
    {"V100", DataType::FP32, 0.93},
};

constexpr std::pair<AttentionKernel, const char*> KERNELS[] = {
    {AttentionKernel::CONSTANT, "constant"},
    {AttentionKernel::FLASH_ATTENTION_1, "flash-attention-1"},
    {AttentionKernel::FLASH_ATTENTION_2, "flash-attention-2"},
    {AttentionKernel::FLASH_ATTENTION_3, "flash-attention-3"},
    {AttentionKernel::CUDNN, "cudnn"},
};

/// Shares of the peak on long sequences, for heads of up to 64 and of more.
struct LongShares
{
    double forward64;
    double backward64;
    double forward128;
    double backward128;
};

// FlashAttention (Dao et al. 2022) as measured by Dao 2023, figure 4: 58 to 81 TFLOP/s, causal,
// heads of 64, forward and backward on A100.
constexpr LongShares FIRST{0.29, 0.26, 0.28, 0.25};
// Dao 2023, figures 4 to 6, A100: forward and backward together 175 TFLOP/s for heads of 64 and 195
// of 128 on long sequences, forward up to 73 %, backward up to 63 % of the peak.
constexpr LongShares SECOND_AMPERE{0.61, 0.544, 0.68, 0.606};
// The same kernel on H100: "up to 335 TFLOP/s" (Dao 2023, section 4.1; Shah et al. 2024: 35 %).
constexpr LongShares SECOND_HOPPER{0.34, 0.285, 0.40, 0.327};
// Shah et al. 2024, figures 5 and 6, bf16 on H100: up to 650 forward and 560 to 580 backward for
// heads of 128, some 490 and 430 for heads of 64.
constexpr LongShares THIRD_HOPPER{0.47, 0.43, 0.64, 0.56};
// cuDNN 9 in the same figures, between the two.
constexpr LongShares CUDNN_HOPPER{0.45, 0.38, 0.60, 0.50};

constexpr uint32_t HOPPER = 90;
constexpr uint64_t SMALL_HEAD = 64;
/// Keys per query at which a block does as much besides its main loop as in it.
constexpr double HALF_KEYS = 240;

const LongShares&
FindLongShares(AttentionKernel kernel, uint32_t capability)
{
    const bool isHopper = capability >= HOPPER;
    switch (kernel)
    {
    case AttentionKernel::FLASH_ATTENTION_1:
        return FIRST;
    case AttentionKernel::FLASH_ATTENTION_2:
        return isHopper ? SECOND_HOPPER : SECOND_AMPERE;
    case AttentionKernel::FLASH_ATTENTION_3:
        return isHopper ? THIRD_HOPPER : SECOND_AMPERE;
    case AttentionKernel::CUDNN:
        return isHopper ? CUDNN_HOPPER : SECOND_AMPERE;
    case AttentionKernel::CONSTANT:
        break;
    }
    throw std::invalid_argument("attention: the kernel \"constant\" has no table");
}

} // namespace

std::optional<double>
FindAchievedMatrixShare(const std::string& gpu, DataType type)
{
    for (const AchievedRate& rate : RATES)
    {
        if (rate.type == type && gpu.rfind(rate.gpu, 0) == 0)
        {
            return rate.share;
        }
    }
    return std::nullopt;
}

const char*
ToString(AttentionKernel kernel)
{
    for (const auto& [value, name] : KERNELS)
    {
        if (value == kernel)
        {
            return name;
        }
    }
    throw std::invalid_argument("a value that is no AttentionKernel");
}

AttentionKernel
AttentionKernelFromString(const std::string& text)
{
    std::string known;
    for (const auto& [value, name] : KERNELS)
    {
        if (text == name)
        {
            return value;
        }
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("there is no attention kernel \"" + text + "\"; known: " + known);
}

double
GetAttentionShare(AttentionKernel kernel, const AttentionShape& shape)
{
    const LongShares& shares = FindLongShares(kernel, shape.capability);
    const double atLength = shape.head <= SMALL_HEAD
                                ? (shape.isForward ? shares.forward64 : shares.backward64)
                                : (shape.isForward ? shares.forward128 : shares.backward128);
    const double keys = static_cast<double>(shape.keys) * (shape.isCausal ? 0.5 : 1.0);
    return atLength * keys / (keys + HALF_KEYS);
}

} // namespace proteus
} // namespace ns3
