/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

double
HostCost::FindPace(const std::string& gpu) const
{
    return FindOfGpu(paces, gpu);
}

double
Framework::GetReductionBytes(uint32_t elementBytes, uint32_t gradientBytes) const
{
    const bool isCast = castsGradients && elementBytes != gradientBytes;
    return (isCast ? elementBytes + gradientBytes : 0) + reducedElements * gradientBytes;
}

const KernelRule*
Framework::FindRule(const std::string& kind, bool isForward) const
{
    const auto found = operators.find(kind);
    if (found == operators.end())
    {
        return nullptr;
    }
    const std::optional<KernelRule>& rule =
        isForward ? found->second.forward : found->second.backward;
    return rule ? &*rule : nullptr;
}

int64_t
HostLead::Add(uint64_t pass, int64_t hostPs, int64_t gpuPs)
{
    if (pass != m_pass)
    {
        m_pass = pass;
        m_leadPs = 0;
    }
    const int64_t waitPs = std::max<int64_t>(0, hostPs - m_leadPs);
    m_leadPs = std::max<int64_t>(0, m_leadPs - hostPs) + gpuPs;
    return waitPs + gpuPs;
}

} // namespace proteus
} // namespace ns3
