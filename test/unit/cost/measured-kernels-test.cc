/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Operator cost against kernels that were measured one by one: reads workloads/profiles/h100-*.json
// and h200-kernels.json, and holds the error of every class.

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-profile-doubts.h"
#include "ns3/proteus-profile-json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param file name of a table of workloads/profiles @return the table
ProfileTable
ReadTable(const std::string& file)
{
    const std::string path = std::string(PROTEUS_SOURCE_DIR) + "/workloads/profiles/" + file;
    std::ifstream input(path);
    return ReadProfileJson(input, path);
}

/// @return the work of a product; both gradients of a pass that is one entry
KernelWork
DescribeProduct(const ProfileEntry& entry)
{
    const auto& s = entry.shape;
    KernelWork work = MakeGemmWork(s[0], s[1], s[2], s[3], entry.type);
    work.pass = entry.pass;
    if (entry.pass == KernelPass::BACKWARD)
    {
        const KernelWork other = MakeGemmWork(s[0], s[3], s[2], s[1], entry.type);
        work.products.push_back(other.products.front());
    }
    return work;
}

/// @return the work of a convolution with stride 1 and no padding, as it was measured
KernelWork
DescribeConvolution(const ProfileEntry& entry)
{
    const auto& s = entry.shape;
    ConvolutionShape shape;
    shape.batch = s[0];
    shape.filters = s[1];
    shape.channels = s[2];
    shape.height = s[3] + s[5] - 1;
    shape.width = s[4] + s[6] - 1;
    shape.kernelHeight = s[5];
    shape.kernelWidth = s[6];
    return MakeConvolutionWork(shape, entry.pass, entry.type);
}

/// @return the work of a layer norm; backward with the gradients of its weights, for which another
/// kernel reads gradient and input, as frameworks' rules have it
KernelWork
DescribeNorm(const ProfileEntry& entry)
{
    const auto& s = entry.shape;
    KernelWork work = MakeNormalizationWork(s[0], s[1], entry.pass, entry.type);
    if (entry.pass == KernelPass::BACKWARD)
    {
        work.bytes += work.bytes / 3 * 2;
        ++work.otherKernels;
    }
    return work;
}

/// @return the work that a measurement is about
KernelWork
Describe(const ProfileEntry& entry)
{
    const auto& s = entry.shape;
    switch (entry.kernelClass)
    {
    case KernelClass::GEMM:
        return DescribeProduct(entry);
    case KernelClass::CONVOLUTION:
        return DescribeConvolution(entry);
    case KernelClass::ATTENTION:
        return MakeAttentionWork(s[0], s[1], s[2], s[3], entry.pass, entry.type);
    case KernelClass::FUSED_ATTENTION:
        return MakeFusedAttentionWork(s[0], s[1], s[2], s[3], entry.pass, entry.type, s[1] == s[2]);
    case KernelClass::NORMALIZATION:
        return DescribeNorm(entry);
    case KernelClass::SOFTMAX:
        return MakeSoftmaxWork(s[0], s[1], entry.pass, entry.type);
    case KernelClass::ELEMENTWISE:
        return MakeElementwiseWork(s[0], entry.pass, entry.type);
    case KernelClass::EMBEDDING:
        return MakeEmbeddingWork(s[0], s[1], s[2], entry.pass, entry.type, 0);
    case KernelClass::OPTIMIZER:
        return MakeOptimizerWork(s[0]);
    }
    throw std::invalid_argument("kernel class out of range");
}

/// Logarithms of computed over measured time.
struct LogErrors
{
    std::vector<double> values;

    /// @param share of the errors that lie below @return that error
    double GetQuantile(double share) const
    {
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    }

    /// @param share of the errors whose size lies below @return that size
    double GetSize(double share) const
    {
        LogErrors sizes;
        for (double value : values)
        {
            sizes.values.push_back(std::abs(value));
        }
        return sizes.GetQuantile(share);
    }
};

/// What the kernels of a run of PyTorch on its own are: no slack of a fit to whole iterations.
KernelCostParameters
MakeParameters(AttentionKernel attention)
{
    KernelCostParameters parameters;
    parameters.matrixEfficiency = 0.869; // so that shares of FindAchievedMatrixShare() are taken
    parameters.memoryEfficiency = 0.88;
    parameters.rowEfficiency = 0.65;
    parameters.optimizerEfficiency = 0.75;
    parameters.kernelLatencyPs = 4000000;
    parameters.attention = attention;
    return parameters;
}

/**
 * @param table measurements
 * @param attention which kernel fused attention was
 * @param what name of the group, to print
 * @param isOfIt whether a measurement belongs to it
 * @param half 0 or 1: every second measurement of the group; else all
 * @return errors
 */
LogErrors
Measure(const ProfileTable& table,
        AttentionKernel attention,
        const std::string& what,
        const std::function<bool(const ProfileEntry&)>& isOfIt,
        int half = -1)
{
    const KernelCostModel model(FindGpuDatasheet(table.GetEntries().front().gpu),
                                MakeParameters(attention));
    LogErrors errors;
    int index = 0;
    for (const ProfileEntry& entry : table.GetEntries())
    {
        if (!isOfIt(entry) || (half >= 0 && index++ % 2 != half))
        {
            continue;
        }
        const auto computed = static_cast<double>(model.GetTime(Describe(entry)).gpuPs);
        errors.values.push_back(std::log(computed / static_cast<double>(entry.timePs)));
    }
    if (errors.values.empty())
    {
        return errors;
    }
    std::printf(
        "  %-44s %4zu kernels   median %+5.1f %%   10 %% below %+6.1f %%, above %+6.1f %%   "
        "size: median %5.1f %%, 90 %% below %6.1f %%\n",
        what.c_str(),
        errors.values.size(),
        100 * std::expm1(errors.GetQuantile(0.5)),
        100 * std::expm1(errors.GetQuantile(0.1)),
        100 * std::expm1(errors.GetQuantile(0.9)),
        100 * std::expm1(errors.GetSize(0.5)),
        100 * std::expm1(errors.GetSize(0.9)));
    return errors;
}

/// @return whether all sizes of a product are multiples of 16 bytes
bool
IsAligned(const ProfileEntry& entry)
{
    return std::all_of(entry.shape.begin() + 1, entry.shape.end(), [&entry](uint64_t size) {
        return size * GetElementBytes(entry.type) % 16 == 0;
    });
}

/// A group of measurements, and what its errors are held to, as logarithms.
struct Group
{
    const char* name;
    bool (*isOfIt)(const ProfileEntry& entry);
    double median; //!< of the sizes
    double most;   //!< of nine tenths of the sizes
};

bool
Is16(DataType type)
{
    return type == DataType::FP16 || type == DataType::BF16;
}

template <KernelClass T>
bool
IsClass(const ProfileEntry& entry)
{
    return entry.kernelClass == T;
}

const Group GROUPS[] = {
    {"products, 16 bits",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::GEMM>(e) && Is16(e.type) && IsAligned(e);
     },
     0.06,
     0.16},
    {"products, 16 bits, from 100 us",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::GEMM>(e) && Is16(e.type) && IsAligned(e) &&
                e.timePs > 100000000;
     },
     0.05,
     0.12},
    {"products, fp8",
     [](const ProfileEntry& e) { return IsClass<KernelClass::GEMM>(e) && e.type == DataType::FP8; },
     0.05,
     0.10},
    {"products, tf32",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::GEMM>(e) && e.type == DataType::TF32 && IsAligned(e);
     },
     0.15,
     0.6},
    {"products, fp32",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::GEMM>(e) && e.type == DataType::FP32;
     },
     0.07,
     0.5},
    {"products, rows not at multiples of 16 bytes",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::GEMM>(e) && e.type != DataType::FP32 && !IsAligned(e);
     },
     0.3,
     1.5},
    {"fused attention", IsClass<KernelClass::FUSED_ATTENTION>, 0.15, 0.3},
    {"convolutions, 16 bits, channels last",
     [](const ProfileEntry& e) { return IsClass<KernelClass::CONVOLUTION>(e) && Is16(e.type); },
     0.25,
     0.7},
    {"convolutions, tf32, channels last",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::CONVOLUTION>(e) && e.type == DataType::TF32;
     },
     0.2,
     0.7},
    {"convolutions, fp32, channels last",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::CONVOLUTION>(e) && e.type == DataType::FP32;
     },
     0.25,
     1.1},
    {"attention", IsClass<KernelClass::ATTENTION>, 0.5, 0.6},
    {"norms, forward",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::NORMALIZATION>(e) && e.pass == KernelPass::FORWARD;
     },
     0.2,
     0.35},
    {"norms, backward",
     [](const ProfileEntry& e) {
         return IsClass<KernelClass::NORMALIZATION>(e) && e.pass == KernelPass::BACKWARD;
     },
     0.15,
     0.6},
    {"softmax", IsClass<KernelClass::SOFTMAX>, 0.35, 0.7},
    {"elementwise", IsClass<KernelClass::ELEMENTWISE>, 0.2, 0.5},
    {"embedding", IsClass<KernelClass::EMBEDDING>, 0.7, 2.0},
    {"optimizer", IsClass<KernelClass::OPTIMIZER>, 0.15, 1.2},
};

} // namespace

TEST(MeasuredKernels, EveryClassKeepsItsError)
{
    const ProfileTable table = ReadTable("h100-kernels.json");
    EXPECT_GT(table.GetSize(), 800u);
    for (const Group& group : GROUPS)
    {
        const LogErrors errors = Measure(table, AttentionKernel::CUDNN, group.name, group.isOfIt);
        ASSERT_FALSE(errors.values.empty()) << group.name;
        EXPECT_LE(errors.GetSize(0.5), group.median) << group.name;
        EXPECT_LE(errors.GetSize(0.9), group.most) << group.name;
    }
}

// Nothing was chosen on an H200: its kernels are held out.
TEST(MeasuredKernels, AnH200HasTheErrorsOfAnH100)
{
    const ProfileTable table = ReadTable("h200-kernels.json");
    EXPECT_GT(table.GetSize(), 250u);
    for (const Group& group : GROUPS)
    {
        const LogErrors errors = Measure(table, AttentionKernel::CUDNN, group.name, group.isOfIt);
        if (errors.values.size() >= 20)
        {
            EXPECT_LE(errors.GetSize(0.5), group.median) << group.name;
            EXPECT_LE(errors.GetSize(0.9), group.most) << group.name;
        }
    }
}

// The shares were chosen on every second kernel; the others have the same errors.
TEST(MeasuredKernels, HalvesAgree)
{
    const ProfileTable table = ReadTable("h100-kernels.json");
    for (std::size_t i : {0U, 2U, 6U, 9U})
    {
        const Group& group = GROUPS[i];
        double medians[2];
        for (int half : {0, 1})
        {
            const std::string what =
                std::string(group.name) + (half == 0 ? ", even rows" : ", odd rows");
            medians[half] =
                Measure(table, AttentionKernel::CUDNN, what, group.isOfIt, half).GetSize(0.5);
        }
        EXPECT_LE(medians[1], medians[0] + 0.05) << group.name;
    }
}

TEST(MeasuredKernels, OnlyTimesInOtherUnitsAreDoubtful)
{
    for (const std::string file : {"h100-kernels.json", "h100-flash-attention.json"})
    {
        const ProfileTable table = ReadTable(file);
        EXPECT_TRUE(FindProfileDoubts(table).empty()) << file;
        ProfileTable inOther;
        for (ProfileEntry entry : table.GetEntries())
        {
            entry.timePs = std::max<int64_t>(entry.timePs / 1000, 1);
            inOther.Add(entry);
        }
        EXPECT_GT(FindProfileDoubts(inOther).size(), 0.99 * table.GetSize()) << file;
    }
    // No kernel has this shape or pass, and no job takes it.
    ProfileTable odd;
    odd.Add({"A100-SXM4-80GB",
             KernelClass::NORMALIZATION,
             KernelPass::INPUT_GRADIENT,
             DataType::BF16,
             {8, 8},
             7});
    EXPECT_TRUE(FindProfileDoubts(odd).empty());
}

TEST(MeasuredKernels, FlashAttention2)
{
    const ProfileTable table = ReadTable("h100-flash-attention.json");
    EXPECT_GT(table.GetSize(), 40u);
    const LogErrors errors = Measure(table,
                                     AttentionKernel::FLASH_ATTENTION_2,
                                     "fused attention, FlashAttention-2",
                                     IsClass<KernelClass::FUSED_ATTENTION>);
    EXPECT_LE(errors.GetSize(0.5), 0.15);
    EXPECT_LE(errors.GetSize(0.9), 0.35);
}
