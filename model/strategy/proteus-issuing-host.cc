/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-issuing-host.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

uint32_t
CountReplicaKernels(const Framework& framework, const KernelDescription& kernel)
{
    const bool hasStatistics = kernel.kind == "batch-norm" && kernel.part.empty();
    return static_cast<uint32_t>(
               std::llround(framework.reducedKernels * static_cast<double>(kernel.gradients))) +
           (hasStatistics ? framework.statisticsKernels : 0);
}

namespace
{

/// @return the time of a unit of sharding in the pass of a kernel, picoseconds
int64_t
GetBlockPs(const HostCost& cost, const KernelDescription& kernel)
{
    const bool isOther = !kernel.part.empty() || kernel.isRecomputation;
    return isOther && cost.backwardBlockPs >= 0 ? cost.backwardBlockPs : cost.blockPs;
}

} // namespace

IssuingHost::IssuingHost(const Framework& framework, const std::string& gpu, StageHosts* stages)
    : m_framework(framework),
      m_pace(framework.host.FindPace(gpu)),
      m_stages(stages)
{
}

int64_t
IssuingHost::CountOperatorPs(const KernelDescription& kernel,
                             const KernelWork& work,
                             const KernelRule* rule,
                             const KernelTime& time,
                             uint32_t nKernels) const
{
    const HostCost& cost = m_framework.host;
    const bool isBackward = !kernel.part.empty();
    const bool isOther = isBackward && cost.backwardKernelPs >= 0;
    int64_t hostPs = isOther ? cost.backwardKernelPs * nKernels
                             : time.hostPs - m_framework.kernels.hostPerKernelPs *
                                                 CountReplicaKernels(m_framework, kernel);
    if (cost.issuesEveryExpert && kernel.kind == "expert-linear")
    {
        const auto more = static_cast<int64_t>((kernel.extents.front() - 1) *
                                               work.products.size()); // GPUs run them together
        const int64_t expertPs = isBackward ? cost.backwardExpertKernelPs : cost.expertKernelPs;
        const int64_t kernelPs =
            isOther ? cost.backwardKernelPs : m_framework.kernels.hostPerKernelPs;
        hostPs += more * (expertPs >= 0 ? expertPs : kernelPs);
        if (cost.blocksOfZero3) // modules of each expert have hooks, as those of a block have
        {
            constexpr int64_t PRODUCTS = 2; // of an expert: two layers, and two gradients of each
            const auto all = static_cast<int64_t>(kernel.extents.front() * work.products.size());
            hostPs += GetBlockPs(cost, kernel) * all / (isBackward ? 2 * PRODUCTS : PRODUCTS);
        }
    }
    // Both gradients of a convolution are of one call (ATen, convolution_backward()).
    const bool isCalled = kernel.kind != "convolution" || kernel.part != "input-gradient";
    // Pieces of a product beside a collective, too (Transformer Engine's CommOverlap).
    hostPs += isCalled ? cost.operatorPs / kernel.pieces : 0;
    hostPs += cost.tensorPs * static_cast<int64_t>(kernel.tensors);
    if (rule && rule->hostPs >= 0)
    {
        hostPs = rule->hostPs;
    }
    if (rule && rule->hostPerExpertPs > 0) // of "dispatch" and "combine" alone
    {
        constexpr std::size_t EXPERTS = 2; // of batch, sequence, experts, features
        hostPs += rule->hostPerExpertPs * static_cast<int64_t>(kernel.extents.at(EXPERTS));
    }
    return hostPs;
}

int64_t
IssuingHost::GetPs(const KernelDescription& kernel,
                   const KernelWork& work,
                   const KernelRule* rule,
                   const KernelTime& time)
{
    const HostCost& cost = m_framework.host;
    const bool isBackward = !kernel.part.empty();
    const uint32_t nKernels =
        std::max(1U, work.GetNKernels() - CountReplicaKernels(m_framework, kernel));
    if (kernel.tensors == 0) // an update follows what came last
    {
        m_last = kernel.isDeferred ? &m_deferred : &m_pass;
    }
    Pass& pass = *m_last;
    // Devices with other shares of the same operator begin where the first of them did.
    const std::string name = kernel.name + "/" + kernel.part;
    const bool isFirst = pass.kernel.empty() || kernel.pass != pass.number;
    const bool isAgain = name == pass.kernel && (!isFirst || kernel.tensors > 0);
    if (isAgain)
    {
        pass.lead = pass.before;
    }
    else
    {
        // Units are at work in the backward pass itself, and updates are in none.
        pass.isBlockNew = kernel.tensors == 0 && !kernel.isDeferred && IsBlockNew(kernel);
    }
    // The host goes on to the update while the GPU still runs the backward pass.
    const uint64_t leadPass = kernel.tensors > 0 ? pass.leadNumber : kernel.pass;
    pass.kernel = name;
    pass.number = kernel.pass;
    pass.leadNumber = leadPass;
    const auto stage = static_cast<uint32_t>(kernel.pass >> 32);
    if (IsOfStage(kernel) && isFirst)
    {
        pass.leadPs = m_stages->GetLead(stage);
        pass.lead.Add(leadPass, 0, pass.leadPs); // what the GPU is busy with
    }
    const bool waits = cost.waitsAtDispatch || (cost.waitsAtExchange && kernel.isExchanged);
    if ((waits && kernel.kind == "dispatch" && !isBackward) || (rule && rule->isAwaited))
    {
        pass.lead.Wait();
        pass.leadPs = 0;
    }
    pass.before = pass.lead;
    const int64_t allPs = CountOperatorPs(kernel, work, rule, time, nKernels) +
                          (pass.isBlockNew ? GetBlockPs(cost, kernel) : 0);
    const int64_t hostPs = std::llround(m_pace * static_cast<double>(allPs));
    if (cost.waitsForKernels)
    {
        return time.gpuPs + hostPs;
    }
    if (!cost.isAhead)
    {
        return std::max(time.gpuPs, hostPs);
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < nKernels; ++i)
    {
        sum += pass.lead.Add(leadPass, hostPs / nKernels, time.gpuPs / nKernels);
    }
    if (IsOfStage(kernel) && !isAgain)
    {
        pass.leadPs += sum - hostPs / nKernels * nKernels; // of what it took the host waited
        m_stages->Add(stage, hostPs * kernel.pieces, time.gpuPs * kernel.pieces, pass.leadPs);
    }
    return sum;
}

bool
IssuingHost::IsBlockNew(const KernelDescription& kernel)
{
    const std::string block = kernel.name.substr(0, kernel.name.find('.'));
    const bool isRoot = block.empty() || block.back() < '0' || block.back() > '9';
    if (kernel.pass != m_pass.number)
    {
        m_hasRoot = false;
        m_block.clear();
    }
    if (isRoot)
    {
        return !std::exchange(m_hasRoot, true);
    }
    return std::exchange(m_block, block) != block;
}

} // namespace proteus
} // namespace ns3
