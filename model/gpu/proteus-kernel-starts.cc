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
    if (!NeedsAllRanks(task.collective, program))
    {
        return StartRule::APART;
    }
    if (!program.groups.empty())
    {
        return task.collective == Collective::ALL_REDUCE ? StartRule::WINDOW : StartRule::APART;
    }
    if (program.ranks.size() > 2)
    {
        return StartRule::WINDOW;
    }
    return IsReceiver(program.ranks[0]) != IsReceiver(program.ranks[1]) ? StartRule::MESSAGE
                                                                        : StartRule::PAIR;
}

bool
IsReceiver(const RankProgram& rank)
{
    return std::none_of(rank.blocks.begin(), rank.blocks.end(), [](const ThreadBlock& block) {
        return block.sendPeer != NO_RANK;
    });
}

void
KernelStarts::SetUp(int64_t gridPs, int64_t windowPs)
{
    m_gridPs = std::max<int64_t>(gridPs, 1);
    m_windowPs = windowPs;
}

KernelStarts::Launch
KernelStarts::Add(Key key, const Communication& communication, const Rank& rank)
{
    if (communication.rule != StartRule::WINDOW)
    {
        return AddToPair(key, communication, rank);
    }
    const int64_t windowPs = std::max(m_windowPs, communication.windowPs);
    Gathering& gathering = m_gathered[key];
    gathering.knownPs = std::max(gathering.knownPs, rank.joinedPs + communication.newsPs);
    gathering.lastPs = std::max({gathering.lastPs, rank.launchedPs, gathering.knownPs});
    Launch launch;
    if (rank.id != NO_ID)
    {
        launch.untilPs = rank.launchedPs + windowPs;
        launch.wait = m_waits.Add({key, rank.id, rank.launchedPs});
        gathering.waits.push_back(launch.wait);
    }
    if (++gathering.nLaunched == communication.nRanks)
    {
        for (const uint32_t wait : gathering.waits)
        {
            const int64_t beforePs = gathering.lastPs - m_waits[wait].launchedPs;
            const int64_t beginPs = gathering.lastPs - beforePs / windowPs * windowPs;
            if (beginPs >= gathering.knownPs) // otherwise its window passes before
            {
                launch.begins.push_back({m_waits[wait].rank, beginPs});
                m_waits[wait].rank = NO_ID;
            }
        }
        m_gathered.erase(key);
    }
    return launch;
}

KernelStarts::Launch
KernelStarts::AddToPair(Key key, const Communication& communication, const Rank& rank)
{
    const auto [place, isFirst] = m_pairs.emplace(key, rank);
    if (isFirst)
    {
        return {};
    }
    const Rank& receiver = rank.isReceiver ? rank : place->second;
    const Rank& sender = rank.isReceiver ? place->second : rank;
    // After all that happens at the time that is present, which comes first however it is executed.
    const int64_t knownPs =
        std::max(receiver.joinedPs, sender.joinedPs) + std::max<int64_t>(communication.newsPs, 1);
    const int64_t receiverPs = std::max(receiver.launchedPs, knownPs);
    const int64_t senderPs =
        std::max(sender.launchedPs,
                 communication.rule == StartRule::MESSAGE ? receiverPs : knownPs);
    Launch launch;
    for (const Begin& begin : {Begin{receiver.id, receiverPs}, Begin{sender.id, senderPs}})
    {
        if (begin.rank != NO_ID)
        {
            launch.begins.push_back(begin);
        }
    }
    m_pairs.erase(place);
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
