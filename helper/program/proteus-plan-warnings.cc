/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-warnings.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-profile-doubts.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether a GPU has a unit for a number format, or computes in a wider one
bool
HasUnit(const GpuDatasheet& gpu, DataType type)
{
    switch (type)
    {
    case DataType::FP32:
        break;
    case DataType::TF32:
        return gpu.tf32Flops > 0;
    case DataType::BF16:
        return gpu.bf16Flops > 0;
    case DataType::FP16:
        return gpu.fp16Flops > 0;
    case DataType::FP8:
        return gpu.fp8Flops > 0;
    case DataType::FP4:
        return gpu.PeakFlops(type) > gpu.PeakFlops(DataType::FP8);
    }
    return true;
}

/// @param type a number format that a GPU has no unit for @return the one whose unit computes it,
/// if there is such a unit, see GpuDatasheet::PeakFlops()
DataType
GetWider(DataType type)
{
    switch (type)
    {
    case DataType::FP4:
        return DataType::FP8;
    case DataType::FP8:
    case DataType::BF16:
        return DataType::FP16;
    default:
        return DataType::FP32;
    }
}

/// Names a number format that a GPU has no unit for.
void
WarnOfMissingUnit(const TrainingPlan& plan, const GpuDatasheet& gpu)
{
    const DataType type = plan.tree.precision.compute;
    if (!HasUnit(gpu, type))
    {
        DataType taken = type;
        while (!HasUnit(gpu, taken))
        {
            taken = GetWider(taken);
        }
        Warn(gpu.model + " has no unit for " + ToString(type) + ": products take the rate of " +
             ToString(taken));
    }
}

/// @param kernel of fused attention @return compute capability, ten times, from which on it runs;
/// 0: everywhere. FlashAttention: Dao-AILab/flash-attention, README.md (of version 1 "Turing or
/// Ampere", of version 2 "Ampere, Ada, or Hopper"); version 3 is timed as the second one before
/// Hopper. cuDNN: its frontend's documentation of attention ("SM80 and above").
uint32_t
GetFirstCapability(AttentionKernel kernel)
{
    constexpr uint32_t TURING = 75;
    constexpr uint32_t AMPERE = 80;
    constexpr uint32_t HOPPER = 90;
    switch (kernel)
    {
    case AttentionKernel::CONSTANT:
        return 0;
    case AttentionKernel::FLASH_ATTENTION_1:
        return TURING;
    case AttentionKernel::FLASH_ATTENTION_3:
        return HOPPER;
    default:
        return AMPERE;
    }
}

/// Names a kernel of fused attention that a GPU cannot run.
void
WarnOfMissingAttention(const TrainingPlan& plan,
                       const GpuDatasheet& gpu,
                       const Framework& framework)
{
    const auto& operators = plan.model.GetOperators();
    const bool isFused =
        std::any_of(operators.begin(), operators.end(), [](const ModelOperator& op) {
            return op.kind == "attention" && op.forward.bytes.empty(); // whose scores stay
        });
    const AttentionKernel kernel = framework.kernels.attention;
    const uint32_t first = GetFirstCapability(kernel);
    const uint32_t capability = FindComputeCapability(gpu.model);
    if (!isFused || first == 0)
    {
        return;
    }
    constexpr uint32_t HALF = 2; // bytes: there are kernels for fp16 and bf16 alone (the same)
    const DataType type = plan.tree.precision.compute;
    if (GetElementBytes(type) > HALF)
    {
        Warn(std::string(ToString(kernel)) + ", which framework " + framework.name +
             " has for fused attention, does not compute in " + ToString(type) +
             ": it is timed at its share of the peak; with --variables=fusedAttention=0 scores "
             "are kept");
    }
    if (capability == 0 || capability >= first)
    {
        return;
    }
    const auto format = [](uint32_t tenfold) {
        return std::to_string(tenfold / 10) + "." + std::to_string(tenfold % 10);
    };
    const bool hasOlder = kernel == AttentionKernel::FLASH_ATTENTION_3;
    Warn(gpu.model + " (compute capability " + format(capability) + ") does not run " +
         ToString(kernel) + ", which framework " + framework.name +
         " has for fused attention (from " + format(first) + " on): it is timed " +
         (hasOlder ? "as the one before it" : "at its share of the peak on A100") +
         "; with --variables=fusedAttention=0 scores are kept");
}

/// Names casts of weights that have nothing to cast.
void
WarnOfAutocast(const TrainingPlan& plan, const Framework& framework)
{
    constexpr double CAST_BYTES = 6; // a weight: 4 read, 2 written
    const bool isHalf = GetElementBytes(plan.tree.precision.compute) == 2;
    if (isHalf && !plan.tree.precision.hasMaster && framework.weightForwardBytes >= CAST_BYTES)
    {
        Warn("masterWeights=false: weights have 16 bits, but framework " + framework.name +
             " casts them from fp32 for each product, and its other kernels are those of autocast, "
             "too: they are timed so");
    }
}

/// Names norms of which a framework, which says what it makes of other operators, says nothing, and
/// a GELU that is written out, but not there.
void
WarnOfMissingRules(const TrainingPlan& plan, const Framework& framework)
{
    const auto isWithout = [&](const char* kind) {
        const auto& operators = plan.model.GetOperators();
        return framework.operators.count(kind) == 0 &&
               std::any_of(operators.begin(), operators.end(), [&](const ModelOperator& op) {
                   return op.kind == kind;
               });
    };
    if (isWithout("composed-gelu") || isWithout("composed-geglu"))
    {
        Warn("framework " + framework.name +
             " takes one kernel for the model's GELU of elementary operations (composedGelu), as "
             "for any other");
    }
    if (framework.operators.empty())
    {
        return; // its parameters are fitted to operators as the compiler counts them
    }
    for (const char* kind : {"batch-norm", "layer-norm", "rms-norm"})
    {
        if (isWithout(kind))
        {
            Warn("framework " + framework.name + " has no rules for " + kind +
                 ": such kernels are timed by the least that they move");
        }
    }
}

/// @param entry a measurement @return what was measured
std::string
FormatKernel(const ProfileEntry& entry)
{
    std::string shape;
    for (const uint64_t size : entry.shape)
    {
        AppendName(shape, std::to_string(size));
    }
    return ShownName(entry.gpu) + ", " + ToString(entry.kernelClass) + " " + ToString(entry.pass) +
           ", " + ToString(entry.type) + ", [" + shape + "]";
}

/// Names measured times that look as if they were in another unit.
/// @param measured the times, if there are some @param path of their file
void
WarnOfOddProfile(const std::optional<ProfileTable>& measured, const std::string& path)
{
    const auto doubts = measured ? FindProfileDoubts(*measured) : std::vector<ProfileDoubt>();
    if (doubts.empty())
    {
        return;
    }
    constexpr double PS_PER_S = 1e12;
    const ProfileDoubt& first = doubts.front();
    Warn("--profile=" + path + ": " + std::to_string(doubts.size()) + " of its " +
         FormatThings(measured->GetSize(), "time") +
         " are 32 times or more shorter or longer than what is computed for the GPU, the first "
         "one " +
         FormatKernel(first.entry) + ": " +
         FormatTime(static_cast<double>(first.entry.timePs) / PS_PER_S) + ", computed " +
         FormatTime(static_cast<double>(first.computedPs) / PS_PER_S) +
         "; time_us is in microseconds");
}

/// Names measured times that a job does not use, and kernels of it that have none.
/// @param measured the times, if there are some @param path of their file
void
WarnOfIdleProfile(const std::optional<ProfileTable>& measured, const std::string& path)
{
    const auto unused = measured ? measured->ListUnused() : std::vector<ProfileEntry>();
    if (measured && measured->GetSize() == 0)
    {
        Warn("--profile=" + path + " has no effect: there is no time in it");
    }
    if (measured && unused.size() < measured->GetSize())
    {
        const std::size_t nMissed = measured->CountMissed();
        if (nMissed > 0)
        {
            Warn("--profile=" + path + ": " + std::to_string(nMissed) + " of the job's " +
                 FormatThings(measured->GetSize() - unused.size() + nMissed, "different kernel") +
                 " have no time in it, and are computed; proteus-compile --kernels writes which "
                 "there are");
        }
        if (const std::size_t inParts = measured->CountInParts(); inParts > 0)
        {
            Warn("--profile=" + path + ": attention in a ring (" +
                 FormatThings(inParts, "different operator") +
                 ") is computed, as its parts are not timed one by one");
        }
    }
    if (unused.empty())
    {
        return;
    }
    if (unused.size() == measured->GetSize())
    {
        Warn("--profile=" + path + " has no effect: none of its " +
             FormatThings(measured->GetSize(), "time") +
             " is of a kernel of this job, by GPU, operator, pass, data type and shape; "
             "proteus-compile --kernels writes which there are");
        return;
    }
    Warn("--profile=" + path + ": " + std::to_string(unused.size()) + " of its " +
         FormatThings(measured->GetSize(), "time") +
         " are of no kernel of this job, the first one " + FormatKernel(unused.front()) +
         "; proteus-compile --kernels writes which there are");
}

} // namespace

void
WarnOfPlan(const TrainingPlan& plan, const GpuDatasheet& gpu, const Framework& framework)
{
    WarnOfMissingUnit(plan, gpu);
    WarnOfMissingAttention(plan, gpu, framework);
    WarnOfAutocast(plan, framework);
    WarnOfMissingRules(plan, framework);
}

void
WarnOfProfile(const std::optional<ProfileTable>& measured, const std::string& path)
{
    WarnOfIdleProfile(measured, path);
    WarnOfOddProfile(measured, path);
}

} // namespace proteus
} // namespace ns3
