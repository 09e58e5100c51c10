/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stage-hosts.h"

namespace ns3
{
namespace proteus
{

void
StageHosts::Add(uint32_t stage, int64_t hostPs, int64_t gpuPs, int64_t leadPs)
{
    Stage& found = m_stages[stage];
    found.leadPs = leadPs;
    if (!m_isKnown)
    {
        found.hostPs += hostPs;
        found.gpuPs += gpuPs;
    }
}

int64_t
StageHosts::GetLead(uint32_t stage) const
{
    const auto found = m_stages.find(stage);
    if (found == m_stages.end())
    {
        return 0;
    }
    const Stage& both = found->second;
    // All that the host has to do hides behind a lead as long as it.
    return m_isKnown && both.gpuPs >= both.hostPs ? both.hostPs : both.leadPs;
}

} // namespace proteus
} // namespace ns3
