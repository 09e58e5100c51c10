/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-profile-doubts.h"

#include "proteus-convolution-cost.h"
#include "proteus-kernel-cost.h"

#include "ns3/proteus-gpu-model.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param entry a measurement @return what was measured, as far as its shape tells
/// @throw std::invalid_argument if there is no such kernel
KernelWork
MakeWork(const ProfileEntry& entry)
{
    const std::vector<uint64_t>& shape = entry.shape;
    switch (entry.kernelClass)
    {
    case KernelClass::GEMM:
        return MakeGemmWork(shape[0], shape[1], shape[2], shape[3], entry.type);
    case KernelClass::CONVOLUTION: // {n, filters, c, output h, output w, r, s, [groups]}
        if (shape.size() > GetShapeSize(entry.kernelClass))
        {
            KernelWork work;
            work.kernelClass = entry.kernelClass;
            work.pass = entry.pass;
            work.type = entry.type;
            work.shape.assign(shape.begin(), shape.end() - 1);
            MakeGrouped(work, shape.back(), 0);
            return work;
        }
        return MakeGemmWork(1,
                            shape[0] * shape[3] * shape[4],
                            shape[1],
                            shape[2] * shape[5] * shape[6],
                            entry.type);
    case KernelClass::ATTENTION:
        return MakeAttentionWork(shape[0], shape[1], shape[2], shape[3], entry.pass, entry.type);
    case KernelClass::FUSED_ATTENTION:
        return MakeFusedAttentionWork(shape[0],
                                      shape[1],
                                      shape[2],
                                      shape[3],
                                      entry.pass,
                                      entry.type,
                                      true,
                                      shape.size() > 4 ? shape[4] : 0);
    case KernelClass::NORMALIZATION:
        return MakeNormalizationWork(shape[0], shape[1], entry.pass, entry.type);
    case KernelClass::SOFTMAX:
        return MakeSoftmaxWork(shape[0], shape[1], entry.pass, entry.type);
    case KernelClass::EMBEDDING:
        return MakeEmbeddingWork(shape[0], shape[1], shape[2], entry.pass, entry.type);
    case KernelClass::ELEMENTWISE:
    case KernelClass::OPTIMIZER:
        break;
    }
    return MakeElementwiseWork(shape[0], entry.pass, entry.type);
}

/// @param entry a measurement @return what is computed for it, picoseconds; 0 if there is no such
/// kernel, so that no job takes it
int64_t
ComputePs(const ProfileEntry& entry)
{
    try
    {
        return KernelCostModel(FindGpuDatasheet(entry.gpu)).GetTime(MakeWork(entry)).gpuPs;
    }
    catch (const std::invalid_argument&)
    {
        return 0;
    }
}

} // namespace

std::vector<ProfileDoubt>
FindProfileDoubts(const ProfileTable& table)
{
    constexpr double FAR = 32;
    // Norms of images whose channels come first, of which one block of threads has a whole channel,
    // take up to 85 times as long as their traffic (workloads/profiles/h100-kernels.json).
    constexpr double FAR_OF_NORMS = 320;
    std::vector<ProfileDoubt> doubts;
    for (const ProfileEntry& entry : table.GetEntries())
    {
        const auto computed = static_cast<double>(ComputePs(entry));
        const auto measured = static_cast<double>(entry.timePs);
        const bool isNorm = entry.kernelClass == KernelClass::NORMALIZATION;
        const double longer = isNorm ? FAR_OF_NORMS : FAR;
        if (computed > 0 && (measured >= longer * computed || computed >= FAR * measured))
        {
            doubts.push_back({entry, static_cast<int64_t>(computed)});
        }
    }
    return doubts;
}

} // namespace proteus
} // namespace ns3
