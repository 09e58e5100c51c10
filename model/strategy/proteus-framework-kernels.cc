/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework-kernels.h"

#include "proteus-kernel-times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether a kind of operator is an update of parameters
bool
IsUpdate(const std::string& kind)
{
    return kind == "adam" || kind == "momentum" || kind == "sgd" || kind == "lamb";
}

/// Puts a rule in the place of what there is besides matrix products.
void
ApplyRule(const KernelRule& rule, double points, DataType activation, KernelWork& work)
{
    const uint32_t element = std::max(2U, GetElementBytes(activation));
    work.bytes = static_cast<uint64_t>(std::llround(rule.GetBytes(element) * points));
    work.otherKernels = rule.kernels;
}

/// Adds what is done to each weight besides the products.
void
AddWeightTraffic(const Framework& framework, bool isForward, KernelWork& work)
{
    const bool hasWeights =
        work.kernelClass == KernelClass::GEMM || work.kernelClass == KernelClass::CONVOLUTION;
    if (!hasWeights || GetElementBytes(work.type) == 4)
    {
        return; // without mixed precision nothing is cast or copied
    }
    // x w of {rows, out, in} forward; the gradient of w is {out, in, rows}, the last product.
    const MatrixProduct& product = isForward ? work.products.front() : work.products.back();
    const bool hasGradient =
        work.pass == KernelPass::WEIGHT_GRADIENT || work.pass == KernelPass::BACKWARD;
    const double perWeight = isForward     ? framework.weightForwardBytes
                             : hasGradient ? framework.weightBackwardBytes
                                           : 0;
    if (perWeight > 0)
    {
        const double weights = static_cast<double>(product.batch) *
                               static_cast<double>(product.n * (isForward ? product.k : product.m));
        work.bytes += static_cast<uint64_t>(std::llround(perWeight * weights));
        ++work.otherKernels;
    }
}

/// The host of one device, kernel after kernel.
class IssuingHost
{
  public:
    explicit IssuingHost(const Framework& framework)
        : m_framework(framework)
    {
    }

    /// @return what an operator adds to its stream, picoseconds
    int64_t GetPs(const KernelDescription& kernel, const KernelWork& work, const KernelTime& time)
    {
        const HostCost& cost = m_framework.host;
        const bool isBackward = !kernel.part.empty();
        const uint32_t nKernels = std::max(1U, work.GetNKernels());
        int64_t hostPs = time.hostPs;
        if (isBackward && cost.backwardKernelPs >= 0)
        {
            hostPs = cost.backwardKernelPs * nKernels;
        }
        hostPs += cost.operatorPs;
        // Devices with other shares of the same operator begin where the first of them did.
        const std::string name = kernel.name + "/" + kernel.part;
        if (name == m_name && kernel.pass == m_pass)
        {
            m_lead = m_before;
        }
        else
        {
            const std::string block = kernel.name.substr(0, kernel.name.find('.'));
            m_isBlockNew = block != m_block || kernel.pass != m_pass;
            m_block = block;
        }
        m_name = name;
        m_pass = kernel.pass;
        m_before = m_lead;
        hostPs += m_isBlockNew ? cost.blockPs : 0;
        if (!cost.isAhead)
        {
            return std::max(time.gpuPs, hostPs);
        }
        int64_t sum = 0;
        for (uint32_t i = 0; i < nKernels; ++i)
        {
            sum += m_lead.Add(kernel.pass, hostPs / nKernels, time.gpuPs / nKernels);
        }
        return sum;
    }

  private:
    const Framework& m_framework;
    HostLead m_lead;          //!< after the last operator
    HostLead m_before;        //!< before it
    std::string m_name;       //!< of the last operator and part
    std::string m_block;      //!< of the last operator
    uint64_t m_pass{0};       //!< of the last operator
    bool m_isBlockNew{false}; //!< whether the last operator began a block
};

} // namespace

const std::vector<std::string>&
GetRuledKinds()
{
    static const std::vector<std::string> kinds{"adam",
                                                "add",
                                                "attention",
                                                "batch-norm",
                                                "cross-entropy",
                                                "dropout",
                                                "dropout-add",
                                                "gelu",
                                                "gradient-clipping",
                                                "lamb",
                                                "layer-norm",
                                                "momentum",
                                                "relu",
                                                "rms-norm",
                                                "rotary",
                                                "sgd",
                                                "softmax",
                                                "swiglu",
                                                "tanh",
                                                "vocabulary-loss",
                                                "vocabulary-maximum",
                                                "vocabulary-sum"};
    return kinds;
}

void
ApplyFramework(const Framework& framework,
               const KernelDescription& kernel,
               DataType activation,
               KernelWork& work)
{
    const bool isForward = kernel.part.empty();
    const double points = std::accumulate(
        kernel.extents.begin(),
        kernel.extents.end(),
        1.0,
        [](double product, uint64_t extent) { return product * static_cast<double>(extent); });
    // What a rule of attention says is about scores, which fused attention does not write.
    const KernelRule* rule = work.kernelClass == KernelClass::FUSED_ATTENTION
                                 ? nullptr
                                 : framework.FindRule(kernel.kind, isForward);
    if (rule)
    {
        ApplyRule(*rule, points, activation, work);
    }
    if (IsUpdate(kernel.kind))
    {
        if (const KernelRule* clip = framework.FindRule("gradient-clipping", true))
        {
            KernelWork clipping;
            ApplyRule(*clip, points, activation, clipping);
            work.bytes += clipping.bytes;
            work.otherKernels += clipping.otherKernels;
        }
    }
    AddWeightTraffic(framework, isForward, work);
}

std::function<int64_t(const KernelDescription&)>
MakeFrameworkTimer(const KernelCostModel& model,
                   const Framework& framework,
                   DataType activation,
                   uint32_t gradientBytes)
{
    const auto host = std::make_shared<IssuingHost>(framework); // functions are copied
    return [&model, &framework, host, activation, gradientBytes](
               const KernelDescription& kernel) -> int64_t {
        auto work = DescribeKernel(kernel, activation, gradientBytes);
        if (!work)
        {
            return -1;
        }
        ApplyFramework(framework, kernel, activation, *work);
        return host->GetPs(kernel, *work, model.GetTime(*work));
    };
}

std::function<KernelUse(const KernelDescription&)>
MakeFrameworkUse(const KernelCostModel& model,
                 const Framework& framework,
                 DataType activation,
                 uint32_t gradientBytes)
{
    return [&model, &framework, activation, gradientBytes](const KernelDescription& kernel) {
        KernelUse use;
        if (auto work = DescribeKernel(kernel, activation, gradientBytes))
        {
            ApplyFramework(framework, kernel, activation, *work);
            const KernelTime time = model.GetTime(*work);
            use.threadBlocks = static_cast<uint32_t>(
                std::min<uint64_t>(time.threadBlocks, std::numeric_limits<uint32_t>::max()));
            use.gpuPs = time.gpuPs;
        }
        return use;
    };
}

} // namespace proteus
} // namespace ns3
