/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-achieved-rates.h"

#include "proteus-filled-head.h"
#include "proteus-step-share.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part of the time that products may take on an H100 before its clock falls: (1.361 / 1.98)^2.5.
constexpr double FREE_DUTY = 0.39;
/// The limit of an H100 SXM and of an H200, W (data sheets).
constexpr double H100_WATT = 700;
/// Clock of an H100 when there are only products in 16 bits, part of 1.98 GHz: 1.361 GHz.
constexpr double CLOCK_OF_PRODUCTS = 0.687;
/// The same in fp8, 1.29 GHz (workloads/profiles/h200-products.csv).
constexpr double CLOCK_OF_FP8_PRODUCTS = 0.652;

/// What Blackwell's large GPUs lose under their power limit, see RATES.
struct PowerLimit
{
    double freeDuty; //!< part of the time that products may take before the clock falls
    double kept;     //!< of their rate, when there are only products
};

/// B200 and B300: 1965 MHz, and 1580 when there are only products: (1.58 / 1.965)^2.5.
constexpr PowerLimit AT_1000_W{0.58, 0.853};
/// GB200: its clock by what its products lose, as that of B200, 0.80 of 2062 MHz.
constexpr PowerLimit LIMIT_OF_GB200{0.565, 1592 / 2500.0 / 0.752};
/// GB300, by the same reckoning: 0.97 of 2070 MHz.
constexpr PowerLimit LIMIT_OF_GB300{0.92, 2125 / 2174.0};

/// A measurement, for the GPU of this name and those whose names go on with "-".
struct AchievedRate
{
    const char* gpu;
    DataType type;
    double share;               //!< as long as power does not limit the clock
    double sustained{0};        //!< when there are only products; 0: not known to fall
    double freeDuty{FREE_DUTY}; //!< part of the time that products may take before the clock falls
    double inSteps{1};          //!< see FindShareInSteps()
    double watts{H100_WATT};    //!< limit, of H100's processor: below 700 FindClock() decides
};

/**
 * What steps of training keep up on an A100 of what its largest products of a moment and a share
 * that was measured in steps on an H100 say together. The fit of 272 iterations on eight A100 has
 * 0.761 on the slowest of them, 0.777 on each (workloads/frameworks/megatron-2022.json), where
 * frameworks that were measured on an H100 have 0.85. The same library multiplies under all of
 * them. Boards for PCIe have the same processor, and a lower limit.
 */
constexpr double A100_IN_STEPS = 0.777 / 0.85;

/// @return a row of a GPU with a limit
constexpr AchievedRate
OnBlackwell(const char* gpu, DataType type, double share, const PowerLimit& limit)
{
    return {gpu, type, share, share * limit.kept, limit.freeDuty};
}

/// @return a row of an H100 with a lower limit
constexpr AchievedRate
OnLimitedH100(const char* gpu, DataType type, double share, double sustained, double watts)
{
    return {gpu, type, share, sustained, FREE_DUTY, 1, watts};
}

/// Shares of the largest products on Blackwell's GPUs, see RATES.
struct BlackwellShares
{
    double bits16; //!< in bf16 and fp16
    double fp8;    //!< in fp8
};

constexpr BlackwellShares OF_B200{0.80, 0.79}; // and B300
constexpr BlackwellShares OF_GB200{0.752, 0.749};

/// @return a row of NVFP4, of which what products keep is known @param rate that is kept, TFLOP/s
/// @param peak of the data sheet, TFLOP/s
constexpr AchievedRate
OnBlackwellInFp4(const char* gpu, double rate, double peak, const PowerLimit& limit)
{
    return OnBlackwell(gpu, DataType::FP4, rate / peak / limit.kept, limit);
}

constexpr BlackwellShares OF_GB300{2174.0 / 2500, 2174.0 / 2500 * OF_GB200.fp8 / OF_GB200.bits16};

/**
 * A100: maximum achievable matrix product (S. Bekman, "Machine Learning Engineering",
 * compute/accelerator, table MAMF: 271.2 of 312 TFLOP/s), whose share matrixEfficiency belongs to.
 * H100 SXM: measured (workloads/profiles, PyTorch 2.11, CUDA 13). Alone and for a moment, products
 * have least error with 0.84 in 16 bits and 0.82 in fp8, found on every second one; alone for
 * seconds, at 1.36 GHz, they fall to 0.71 and 0.67. In 19 training steps, whose clock was between
 * 1.54 and 1.98 GHz, those in 16 bits reached 0.82 in the median, and 0.78 to 0.84 where they took
 * half of the step, for which this has 0.80. H200 and GH200 have the same
 * processor; H200 has the same power limit, that of GH200 is for its CPU, too. Of 660 W (modules of
 * Alps; eth-cscs/cscs-docs, Slurm, "GH200 power capping") the CPU takes first what it needs, which
 * is taken to be 100 W, the example there, of 50 to 300. An H100 limited to
 * 500 W, or 560, is not measured: what its kernels draw under 700 W decides, see FindClock().
 * H100 NVL, and H100 PCIe in fp8: on the shapes of language models, under the power limit, some 720
 * of 989 TFLOP/s in bf16 and 1280 of 1979 in fp8 (SemiAnalysis, "MI300X vs H100 vs H200 Benchmark
 * Part 1: Training", December 2024); the largest of many shapes in a short run reaches 794 and 1403
 * (MAMF), which training does not: Llama 3 runs at 400 to 430 TFLOP/s (Dubey et al. 2024, table 4).
 * B200 is assumed, and B300 with it (1769 TFLOP/s by MAMF, 1000 W): below H100 as by MAMF; GB200
 * below B200 as by MAMF (1822 and 3615.6 of 2500 and 5000 TFLOP/s where B200 has 1745 and 3432.5 of
 * 2250 and 4500). GB300: the largest of cuBLAS's products at 1400 W and 2070 MHz, 2174 of 2500
 * TFLOP/s (facebookexperimental/triton, pull request 2023, July 2026); in fp8 it is taken to be
 * above GB200 by as much. Under lasting load the clock of a B200 falls from 1965 to some 1580 MHz
 * at its limit of 1000 W, and FlashAttention-4 from 1450 to 1237 TFLOP/s (flashinfer-ai/flashinfer,
 * pull request 2899, March 2026): products are taken to lose as much, 0.853, with which they have
 * 1535 TFLOP/s; a baseline of cublasMatmulBench, which repeats a product 11,000 times, is 1526
 * (compute-dev/ai_infra_perf_prepare, c0f4c8f, cublasMatmulBenchBaseline.csv). By the same program
 * a GB200 keeps 1592 TFLOP/s in bf16 and 3063 in fp8 (https://github.com/yangwhale/gpu-tpu-pedia,
 * 3fa9ce17, gpu/a4x/10-production-ops/README.en.md, "cuBLAS"; baselines 1471 and 2805), and of 299
 * servers of GB300 19 of 20 keep 2125 and more, 4125 in fp8 (a profile of checks of GB300 on Google
 * Cloud, QA_CUBLAS_MIN_BF16 and _FP8, says that its floors, 1700 and 3300, are 0.8 of that, and
 * loads the program from that repository; its own is not known; baselines 1771 and 3404). They have
 * 2062 and 2070 MHz; their clocks are taken to fall with their rates as that of B200, so that
 * products may take 0.57 and 0.92 of the time before. NVFP4 by the same program: GB200 keeps 6845
 * TFLOP/s (the same README), GB300 9375 (its floor, 7500, over 0.8; baseline 9626); B200 and B300
 * have the baselines, 6339 and 8231. V100: 83 of 112 TFLOP/s on tensor cores
 * (Markidis et al. 2018, figure 6; cuBLAS); SGEMM at 93 % of the peak there and on A100 (NVIDIA,
 * "Programming Tensor Cores in CUDA 9"). H100 PCIe, H20, L4, L40S, T4 and RTX: the largest of
 * PyTorch's products of 1,024 to 10,240 cubed (zzc0721/torch-performance-test-data, 9d82827,
 * database.md: medians where several people measured; RTX 4090 nine, RTX 3090 three, others one to
 * four). For A100, H100 SXM and V100, which
 * are not taken from there, it has 0.83 to 0.85, 0.77 to 0.81 and 0.76 of the data sheet in 16
 * bits. GeForce clocks higher than its data sheet says. RTX 6000 Ada, which is not among them, has
 * the processor of L40S, with 300 in place of 350 W, and is taken to reach the same share. RTX 3090
 * Ti: 81 and 42 TFLOP/s in 16 bits and TF32 (mli/transformers-benchmarks, 3370b2b, README.md).
 */
constexpr AchievedRate RATES[] = {
    OnLimitedH100("H100-SXM5-96GB-500W", DataType::BF16, 0.84, 0.71, 500),
    OnLimitedH100("H100-SXM5-96GB-500W", DataType::FP16, 0.84, 0.71, 500),
    OnLimitedH100("H100-SXM5-96GB-500W", DataType::FP8, 0.82, 0.67, 500),
    {"A100", DataType::BF16, 0.869, 0, FREE_DUTY, A100_IN_STEPS},
    {"A100", DataType::FP16, 0.869, 0, FREE_DUTY, A100_IN_STEPS},
    {"A100", DataType::TF32, 0.869, 0, FREE_DUTY, A100_IN_STEPS},
    {"A100", DataType::FP32, 0.93},
    {"H100-SXM5", DataType::BF16, 0.84, 0.71},
    {"H100-SXM5", DataType::FP16, 0.84, 0.71},
    {"H100-SXM5", DataType::FP8, 0.82, 0.67},
    {"H100-SXM5", DataType::TF32, 0.74},
    {"H100-SXM5", DataType::FP32, 0.78},
    {"H100-PCIE", DataType::BF16, 0.66},
    {"H100-PCIE", DataType::FP16, 0.61},
    {"H100-PCIE", DataType::TF32, 0.64},
    {"H100-PCIE", DataType::FP32, 0.72},
    {"H100", DataType::BF16, 0.728},
    {"H100", DataType::FP16, 0.728},
    {"H100", DataType::FP8, 0.647},
    {"H200", DataType::BF16, 0.84, 0.71},
    {"H200", DataType::FP16, 0.84, 0.71},
    {"H200", DataType::FP8, 0.82, 0.67},
    {"H200", DataType::TF32, 0.74},
    {"H200", DataType::FP32, 0.78},
    OnLimitedH100("GH200-96GB-660W", DataType::BF16, 0.84, 0.71, 560),
    OnLimitedH100("GH200-96GB-660W", DataType::FP16, 0.84, 0.71, 560),
    OnLimitedH100("GH200-96GB-660W", DataType::FP8, 0.82, 0.67, 560),
    {"GH200", DataType::BF16, 0.84, 0.71},
    {"GH200", DataType::FP16, 0.84, 0.71},
    {"GH200", DataType::FP8, 0.82, 0.67},
    {"GH200", DataType::TF32, 0.74},
    {"GH200", DataType::FP32, 0.78},
    OnBlackwell("B200", DataType::BF16, OF_B200.bits16, AT_1000_W),
    OnBlackwell("B200", DataType::FP16, OF_B200.bits16, AT_1000_W),
    OnBlackwell("B200", DataType::FP8, OF_B200.fp8, AT_1000_W),
    OnBlackwell("GB200", DataType::BF16, OF_GB200.bits16, LIMIT_OF_GB200),
    OnBlackwell("GB200", DataType::FP16, OF_GB200.bits16, LIMIT_OF_GB200),
    OnBlackwellInFp4("B200", 6339, 9000, AT_1000_W),
    OnBlackwellInFp4("B300", 8231, 13500, AT_1000_W),
    OnBlackwellInFp4("GB200", 6845, 10000, LIMIT_OF_GB200),
    OnBlackwellInFp4("GB300", 9375, 15000, LIMIT_OF_GB300),
    OnBlackwell("GB200", DataType::FP8, OF_GB200.fp8, LIMIT_OF_GB200),
    OnBlackwell("B300", DataType::BF16, OF_B200.bits16, AT_1000_W),
    OnBlackwell("B300", DataType::FP16, OF_B200.bits16, AT_1000_W),
    OnBlackwell("B300", DataType::FP8, OF_B200.fp8, AT_1000_W),
    OnBlackwell("GB300", DataType::BF16, OF_GB300.bits16, LIMIT_OF_GB300),
    OnBlackwell("GB300", DataType::FP16, OF_GB300.bits16, LIMIT_OF_GB300),
    OnBlackwell("GB300", DataType::FP8, OF_GB300.fp8, LIMIT_OF_GB300),
    {"V100", DataType::FP16, 0.74},
    {"V100", DataType::FP32, 0.93},
    {"H20", DataType::BF16, 0.96},
    {"H20", DataType::FP16, 0.96},
    {"H20", DataType::TF32, 0.97},
    {"H20", DataType::FP32, 0.73},
    {"L4", DataType::BF16, 0.59},
    {"L4", DataType::FP16, 0.57},
    {"L4", DataType::TF32, 0.53},
    {"L4", DataType::FP32, 0.51},
    {"L40S", DataType::BF16, 0.74},
    {"L40S", DataType::FP16, 0.73},
    {"L40S", DataType::FP32, 0.51},
    {"T4", DataType::FP16, 0.65},
    {"T4", DataType::FP32, 0.54},
    {"RTX-2080-Ti", DataType::FP16, 1.09},
    {"RTX-2080-Ti", DataType::FP32, 0.97},
    {"RTX-3090-Ti", DataType::BF16, 1.01},
    {"RTX-3090-Ti", DataType::FP16, 1.01},
    {"RTX-3090-Ti", DataType::TF32, 1.05},
    {"RTX-3090", DataType::BF16, 1.08},
    {"RTX-3090", DataType::FP16, 1.07},
    {"RTX-3090", DataType::FP32, 0.7},
    {"RTX-4090", DataType::BF16, 1.0},
    {"RTX-4090", DataType::FP16, 1.01},
    {"RTX-4090", DataType::TF32, 1.04},
    {"RTX-4090", DataType::FP32, 0.66},
    {"RTX-5090", DataType::BF16, 1.14},
    {"RTX-5090", DataType::FP16, 1.1},
    {"RTX-5090", DataType::TF32, 1.17},
    {"RTX-5090", DataType::FP32, 0.64},
    {"RTX-6000-Ada", DataType::BF16, 0.74},
    {"RTX-6000-Ada", DataType::FP16, 0.73},
    {"RTX-6000-Ada", DataType::FP32, 0.51},
    {"RTX-A6000", DataType::BF16, 0.8},
    {"RTX-A6000", DataType::FP16, 0.78},
    {"RTX-A6000", DataType::FP32, 0.62},
    {"RTX-PRO-6000", DataType::BF16, 0.82},
    {"RTX-PRO-6000", DataType::FP16, 0.62},
    {"RTX-PRO-6000", DataType::FP32, 0.62},
};

constexpr EnumNames<AttentionKernel, 6> KERNELS{
    "attention kernel",
    {{AttentionKernel::CONSTANT, "constant"},
     {AttentionKernel::FLASH_ATTENTION_1, "flash-attention-1"},
     {AttentionKernel::FLASH_ATTENTION_TRITON, "flash-attention-triton"},
     {AttentionKernel::FLASH_ATTENTION_2, "flash-attention-2"},
     {AttentionKernel::FLASH_ATTENTION_3, "flash-attention-3"},
     {AttentionKernel::CUDNN, "cudnn"}}};

/// Shares of the peak on long sequences, for heads of up to 64 and of more.
struct LongShares
{
    double forward64;
    double backward64;
    double forward128;
    double backward128;
    /// Keys per query at which a block does as much besides its main loop as in it.
    double halfKeysForward{240};
    double halfKeysBackward{240};
};

// FlashAttention (Dao et al. 2022) as measured by Dao 2023, figure 4: 58 to 81 TFLOP/s, causal,
// heads of 64, forward and backward on A100.
constexpr LongShares FIRST_AMPERE{0.29, 0.26, 0.28, 0.25};
// Dao 2023, figures 4 to 6, A100: forward and backward together 175 TFLOP/s for heads of 64 and 195
// of 128 on long sequences, forward up to 73 %, backward up to 63 % of the peak.
constexpr LongShares SECOND_AMPERE{0.61, 0.544, 0.68, 0.606};
// The same kernel on H100, causal, measured through PyTorch 2.11
// (workloads/profiles/h100-kernels.json); its authors have "up to 335 TFLOP/s" where nothing is
// masked (Dao 2023, section 4.1), and so have we: 360.
constexpr LongShares SECOND_HOPPER{0.26, 0.26, 0.31, 0.31, 224, 480};
// The same kernel on B200, whose matrix units it feeds by instructions of Ampere: as many TFLOP/s
// as on H100. Nothing masked, heads of 64, 16,384 tokens: 379 forward, 334 backward
// (Dao-AILab/flash-attention, issue 1589); heads of 128, 8,192 tokens: 362 forward
// (meta-pytorch/tritonbench, pull request 171), and backward as much less as with heads of 64.
constexpr LongShares SECOND_BLACKWELL{0.171, 0.153, 0.165, 0.148, 224, 480};
/// FlashAttention-2 "is 1.3-2.5x faster than FlashAttention in Triton" (Dao 2023, section 4.1): the
/// geometric mean of that range.
constexpr double TRITON_SLOWNESS = 1.8;

/// @param a shares @param factor @return these times the factor
constexpr LongShares
Scale(LongShares a, double factor)
{
    a.forward64 *= factor;
    a.backward64 *= factor;
    a.forward128 *= factor;
    a.backward128 *= factor;
    return a;
}

/// @param second FlashAttention-2 on a GPU @return FlashAttention there: written for Ampere's
/// instructions, too, it loses as much of the peak
constexpr LongShares
ToFirst(const LongShares& second)
{
    return {FIRST_AMPERE.forward64 * second.forward64 / SECOND_AMPERE.forward64,
            FIRST_AMPERE.backward64 * second.backward64 / SECOND_AMPERE.backward64,
            FIRST_AMPERE.forward128 * second.forward128 / SECOND_AMPERE.forward128,
            FIRST_AMPERE.backward128 * second.backward128 / SECOND_AMPERE.backward128,
            second.halfKeysForward,
            second.halfKeysBackward};
}

constexpr LongShares FIRST_HOPPER = ToFirst(SECOND_HOPPER);
constexpr LongShares FIRST_BLACKWELL = ToFirst(SECOND_BLACKWELL);
constexpr LongShares TRITON_AMPERE = Scale(SECOND_AMPERE, 1 / TRITON_SLOWNESS);
constexpr LongShares TRITON_HOPPER = Scale(SECOND_HOPPER, 1 / TRITON_SLOWNESS);
constexpr LongShares TRITON_BLACKWELL = Scale(SECOND_BLACKWELL, 1 / TRITON_SLOWNESS);
// Shah et al. 2024, figures 5 and 6, bf16 on H100: up to 650 forward and 560 to 580 backward for
// heads of 128, some 490 and 430 for heads of 64.
constexpr LongShares THIRD_HOPPER{0.47, 0.43, 0.64, 0.56};
// cuDNN 9.19, measured as above; Shah et al. 2024 have it between FlashAttention-2 and 3. Its
// backward pass has two small kernels besides.
constexpr LongShares CUDNN_HOPPER{0.43, 0.41, 0.63, 0.55, 224, 480};

constexpr uint32_t HOPPER = 90;
/// B200 to GB300; GPUs of RTX from 120 on have other matrix units.
constexpr uint32_t BLACKWELL = 100;
constexpr uint32_t BLACKWELL_RTX = 120;
constexpr uint64_t SMALL_HEAD = 64;
/// Queries of one block of threads of fused attention (Dao 2023, section 3.3).
constexpr uint64_t BLOCK_QUERIES = 128;

const LongShares&
FindLongShares(AttentionKernel kernel, uint32_t capability)
{
    const bool isHopper = capability >= HOPPER;
    const bool isBlackwell = capability >= BLACKWELL && capability < BLACKWELL_RTX;
    switch (kernel)
    {
    case AttentionKernel::FLASH_ATTENTION_1:
        return isBlackwell ? FIRST_BLACKWELL : isHopper ? FIRST_HOPPER : FIRST_AMPERE;
    case AttentionKernel::FLASH_ATTENTION_TRITON:
        return isBlackwell ? TRITON_BLACKWELL : isHopper ? TRITON_HOPPER : TRITON_AMPERE;
    case AttentionKernel::FLASH_ATTENTION_2:
        return isBlackwell ? SECOND_BLACKWELL : isHopper ? SECOND_HOPPER : SECOND_AMPERE;
    case AttentionKernel::FLASH_ATTENTION_3:
        return isHopper ? THIRD_HOPPER : SECOND_AMPERE;
    case AttentionKernel::CUDNN:
        return isHopper ? CUDNN_HOPPER : SECOND_AMPERE;
    case AttentionKernel::CONSTANT:
        break;
    }
    throw std::invalid_argument("attention: the kernel \"constant\" has no table");
}

/// @return what is known of a GPU, or null; of fp4 that of fp8 where it has no unit for it
const AchievedRate*
FindRate(const std::string& gpu, DataType type)
{
    const auto isOf = [&](const AchievedRate& r) {
        const std::string_view name(r.gpu);
        return r.type == type && gpu.compare(0, name.size(), name) == 0 &&
               (gpu.size() == name.size() || gpu[name.size()] == '-');
    };
    const auto found = std::find_if(std::begin(RATES), std::end(RATES), isOf);
    if (found == std::end(RATES))
    {
        return type == DataType::FP4 ? FindRate(gpu, DataType::FP8) : nullptr;
    }
    return found;
}

/// @return how a format is multiplied in on an H100 of 700 W
ProductClock
MakeProductClock(const AchievedRate& rate)
{
    const bool isFp8 = rate.type == DataType::FP8;
    return {rate.share, rate.sustained, isFp8 ? CLOCK_OF_FP8_PRODUCTS : CLOCK_OF_PRODUCTS};
}

/// @return how many standard deviations the greatest of some normal variables is above their mean
double
GetGreatest(uint64_t variables)
{
    const auto n = static_cast<double>(variables);
    const double below = (n - 0.375) / (n + 0.25);
    // The quantile of a normal variable, by halving.
    double low = -1;
    double high = 9;
    constexpr uint32_t HALVINGS = 50;
    for (uint32_t i = 0; i < HALVINGS; ++i)
    {
        const double middle = (low + high) / 2;
        (std::erfc(-middle / std::sqrt(2.0)) / 2 < below ? low : high) = middle;
    }
    return (low + high) / 2;
}

} // namespace

std::optional<double>
FindAchievedMatrixShare(const std::string& gpu, DataType type, const GpuDuty& duty)
{
    const AchievedRate* rate = FindRate(gpu, type);
    if (rate == nullptr)
    {
        return std::nullopt;
    }
    if (rate->watts < H100_WATT)
    {
        const ProductClock format = MakeProductClock(*rate);
        return FindShareAtClock(format, FindClock(format, duty, rate->watts));
    }
    if (rate->sustained == 0 || duty.products <= rate->freeDuty)
    {
        return rate->share;
    }
    const double part =
        std::log(std::min(1.0, duty.products) / rate->freeDuty) / std::log(1 / rate->freeDuty);
    return rate->share * std::pow(rate->sustained / rate->share, part);
}

bool
HasLowerLimit(const std::string& gpu, DataType type)
{
    const AchievedRate* rate = FindRate(gpu, type);
    return rate != nullptr && rate->watts < H100_WATT;
}

double
FindAttentionClockLoss(const std::string& gpu, DataType type, const GpuDuty& duty)
{
    const AchievedRate* rate = FindRate(gpu, type);
    if (rate == nullptr || rate->watts >= H100_WATT)
    {
        return 1;
    }
    const ProductClock format = MakeProductClock(*rate);
    return FindClock(format, duty, rate->watts) / FindClock(format, duty, H100_WATT);
}

double
FindShareInSteps(const std::string& gpu, DataType type)
{
    const AchievedRate* rate = FindRate(gpu, type);
    return rate == nullptr ? 1 : rate->inSteps;
}

bool
IsPowerLimited(const std::string& gpu, DataType type)
{
    const AchievedRate* rate = FindRate(gpu, type);
    return rate != nullptr && rate->sustained > 0;
}

double
FindClockLoss(const std::string& gpu, DataType type, const GpuDuty& duty)
{
    const auto atRest = FindAchievedMatrixShare(gpu, type);
    return atRest ? *FindAchievedMatrixShare(gpu, type, duty) / *atRest : 1;
}

bool
IsPowerLimited(AttentionKernel kernel, uint32_t capability)
{
    const bool isOfItsUnits =
        kernel == AttentionKernel::FLASH_ATTENTION_3 || kernel == AttentionKernel::CUDNN;
    return isOfItsUnits && capability >= BLACKWELL && capability < BLACKWELL_RTX;
}

double
GetSlowestShare(uint64_t gpus, uint64_t among, double spread)
{
    if (gpus <= among)
    {
        return 1;
    }
    return (1 + spread * GetGreatest(among)) / (1 + spread * GetGreatest(gpus));
}

const char*
ToString(AttentionKernel kernel)
{
    return KERNELS.Get(kernel);
}

AttentionKernel
AttentionKernelFromString(const std::string& text)
{
    return KERNELS.Parse(text);
}

bool
HasWindows(AttentionKernel kernel)
{
    return kernel != AttentionKernel::FLASH_ATTENTION_1 &&
           kernel != AttentionKernel::FLASH_ATTENTION_TRITON;
}

uint64_t
GetAttentionBlocks(uint64_t matrices, uint64_t queries)
{
    return matrices * ((queries + BLOCK_QUERIES - 1) / BLOCK_QUERIES);
}

uint64_t
GetFilledHead(AttentionKernel kernel, uint64_t head)
{
    static const std::map<AttentionKernel, std::set<uint64_t>> sizes{
        {AttentionKernel::FLASH_ATTENTION_1, {32, 64, 128}},
        {AttentionKernel::FLASH_ATTENTION_TRITON, {16, 32, 64, 128}},
        {AttentionKernel::FLASH_ATTENTION_2, {32, 64, 96, 128, 160, 192, 224, 256}},
        {AttentionKernel::FLASH_ATTENTION_3, {64, 96, 128, 192, 256}}};
    const auto found = sizes.find(kernel);
    if (found == sizes.end())
    {
        return head;
    }
    const auto size = found->second.lower_bound(head);
    return size == found->second.end() ? head : *size;
}

double
GetAttentionShare(AttentionKernel kernel, const AttentionShape& shape)
{
    const LongShares& shares = FindLongShares(kernel, shape.capability);
    const uint64_t filled = GetFilledHead(kernel, shape.head);
    const double ofFilled = filled <= SMALL_HEAD
                                ? (shape.isForward ? shares.forward64 : shares.backward64)
                                : (shape.isForward ? shares.forward128 : shares.backward128);
    const double atLength =
        ofFilled * static_cast<double>(shape.head) / static_cast<double>(filled);
    const double half = shape.isForward ? shares.halfKeysForward : shares.halfKeysBackward;
    const auto keys = static_cast<double>(shape.keys);
    const double most = shape.window > 0 ? static_cast<double>(shape.window) : keys;
    // Of a window of w of n keys w - w^2 / (2 n), half of all where it is as long as these.
    const double mean = most * (shape.isCausal ? 1 - most / (2 * keys) : 1.0);
    const double share = atLength * mean / (mean + half);
    if (shape.blocks == 0 || shape.multiprocessors == 0)
    {
        return share;
    }
    // The longest block, which looks at all keys, is a bound where there are few.
    const double all = static_cast<double>(shape.blocks) * (mean + half);
    const double longest = static_cast<double>(shape.multiprocessors) * (most + half);
    return share * std::min(1.0, all / longest);
}

} // namespace proteus
} // namespace ns3
