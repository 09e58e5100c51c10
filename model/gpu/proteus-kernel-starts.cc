/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-starts.h"

#include "proteus-repetition-plan.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

StartRule
FindStartRule(const Task& task, const CollectiveProgram& program)
{
    if (!program.groups.empty() || !NeedsAllRanks(task.collective, program))
    {
        return StartRule::APART;
    }
    if (program.ranks.size() > 2)
    {
        return StartRule::WINDOW;
    }
    // A grant on its way costs a small all-reduce, or a chain of messages, a part of its time.
    return task.collective == Collective::SEND_RECV && task.parallelism == Parallelism::PIPELINE
               ? StartRule::TOGETHER
               : StartRule::APART;
}

void
KernelStarts::SetUp(int64_t gridPs, int64_t windowPs)
{
    m_gridPs = std::max<int64_t>(gridPs, 1);
    m_windowPs = windowPs;
}

KernelStarts::Launch
KernelStarts::Add(Key key, uint32_t nRanks, StartRule rule, const Rank& rank)
{
    Gathering& gathering = m_gathered[key];
    gathering.lastPs = std::max(gathering.lastPs, rank.launchedPs);
    Launch launch;
    launch.untilPs = rule == StartRule::TOGETHER ? NEVER : rank.launchedPs + m_windowPs;
    launch.togetherPs = gathering.lastPs;
    if (++gathering.nLaunched < nRanks || launch.untilPs < launch.togetherPs)
    {
        launch.wait = m_waits.Add({key, rank.id, launch.untilPs});
        gathering.waits.push_back(launch.wait);
    }
    else
    {
        launch.ranks.push_back(rank.id);
    }
    if (gathering.nLaunched == nRanks)
    {
        for (const uint32_t wait : gathering.waits)
        {
            // Those whose windows pass before the last launch begin then.
            if (m_waits[wait].untilPs >= gathering.lastPs)
            {
                launch.ranks.push_back(m_waits[wait].rank);
                m_waits[wait].rank = NO_ID;
                if (m_waits[wait].untilPs == NEVER)
                {
                    m_waits.GiveBack(wait);
                }
            }
        }
        m_gathered.erase(key);
    }
    return launch;
}

uint32_t
KernelStarts::Expire(uint32_t id)
{
    const Wait wait = m_waits[id];
    m_waits.GiveBack(id);
    const auto found = m_gathered.find(wait.key);
    if (wait.rank != NO_ID && found != m_gathered.end())
    {
        auto& waits = found->second.waits;
        waits.erase(std::find(waits.begin(), waits.end(), id));
    }
    return wait.rank;
}

} // namespace proteus
} // namespace ns3
