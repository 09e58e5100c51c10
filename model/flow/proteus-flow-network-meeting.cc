/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What a FlowNetwork does with collectives whose messages meet, which go on as replays.

#include "proteus-congested-flows.h"
#include "proteus-flow-network.h"
#include "proteus-meeting-replays.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Messages of a program that is replayed beside the run.
constexpr uint64_t MOST_OF_PROGRAM = 20000;
/// Part by which more must be wanted of a resource than it has for messages to wait there.
constexpr double ROUNDING = 1e-6;

} // namespace

void
FlowNetwork::ChangePeaks(const Communication& communication, uint32_t index, int sign)
{
    const FlowClass& flows = communication.profile->classes[index];
    for (std::size_t i = 0; i < flows.uses.size(); ++i)
    {
        Peak& peak = m_peaks[flows.uses[i].resource];
        peak.nClasses += sign;
        peak.nReplayed += communication.isMeeting ? sign : 0;
        // From nothing on, so that what rounding leaves does not add up over a run.
        peak.wanted = peak.nClasses == 0 ? 0 : peak.wanted + sign * flows.peaks[i];
    }
}

std::vector<uint32_t>
FlowNetwork::FindMet(uint32_t id, uint32_t index) const
{
    std::vector<uint32_t> met;
    const GroupId group = m_graph.GetTask(m_communications[id].task).place;
    for (const uint32_t other : m_underWay[m_graph.GetGroup(group).front()])
    {
        if (other != id && m_graph.GetTask(m_communications[other].task).place == group)
        {
            // They have connections in common.
            met.push_back(m_communications[other].isMeeting ? id : other);
        }
    }
    for (const FlowUse& use : m_communications[id].profile->classes[index].uses)
    {
        const Peak& peak = m_peaks[use.resource];
        const double capacity = m_profiles.GetResources()[use.resource].capacity;
        if (peak.nClasses < 2 || peak.wanted <= capacity * (1 + ROUNDING))
        {
            continue;
        }
        for (const auto& active : m_shares.GetActive(use.resource))
        {
            const bool isClass =
                active.user < m_classes.size() && m_classes[active.user].flows != nullptr;
            if (isClass && m_classes[active.user].communication != id)
            {
                met.push_back(m_classes[active.user].communication);
            }
        }
        if (peak.nReplayed > 0)
        {
            met.push_back(id); // its own stands for those that are replayed
        }
    }
    SortUnique(met);
    return met;
}

bool
FlowNetwork::CanMeet(uint32_t id)
{
    const Communication& communication = m_communications[id];
    const auto& classes = communication.profile->classes;
    const auto isHeldBack = [this](const FlowClass& flows) {
        return !flows.pairs.empty() && m_congested->IsWanted(flows);
    };
    if (communication.isReplayed || communication.isMeeting || IsMessage(communication) ||
        std::any_of(classes.begin(), classes.end(), isHeldBack) ||
        std::all_of(communication.left.begin(),
                    communication.left.end(),
                    [](uint32_t left) { return left == 0; }) ||
        m_profiles.CountMessagesOf(communication.task) > MOST_OF_PROGRAM)
    {
        return false;
    }
    const auto whole = m_profiles.GetWhole(communication.task);
    return whole && whole->program->groups.empty();
}

void
FlowNetwork::Meet(uint32_t id, uint32_t index)
{
    if (m_parameters.communicationSlowdown > 0)
    {
        return;
    }
    std::vector<uint32_t> met = FindMet(id, index);
    if (met.empty() || !CanMeet(id))
    {
        return;
    }
    const bool isJoining = std::find(met.begin(), met.end(), id) != met.end();
    met.erase(std::remove_if(met.begin(),
                             met.end(),
                             [this, id](uint32_t other) { return other == id || !CanMeet(other); }),
              met.end());
    if (met.empty() && !isJoining)
    {
        return;
    }
    met.push_back(id);
    uint64_t messages = 0;
    for (const uint32_t other : met)
    {
        messages += m_profiles.CountMessagesOf(m_communications[other].task);
    }
    if (messages > m_messagesLeft)
    {
        m_nNotReplayed += met.size();
        return;
    }
    m_messagesLeft -= messages;
    for (const uint32_t other : met)
    {
        BeginMeeting(other);
    }
    RequestShares();
    // Ranks may be done already.
    m_clock.Schedule(0, 0, [this]() { StepMeeting(); });
}

double
FlowNetwork::FindReplayedPs(const Communication& communication) const
{
    const auto& classes = communication.profile->classes;
    auto replayedPs = static_cast<double>(m_clock.GetTimePs() - communication.beginPs);
    for (const uint32_t place : communication.live)
    {
        const LiveClass& live = m_classes[place];
        const FlowClass& flows = classes[live.index];
        const auto* const late = communication.late ? &(*communication.late)[live.index] : nullptr;
        const double bytes = late ? late->bytes : flows.bytes;
        const auto beforePs = static_cast<double>(late ? late->beforePs : flows.beforePs);
        replayedPs =
            std::min(replayedPs, beforePs + (bytes - GetLeft(live)) / flows.rate * PS_PER_SECOND);
    }
    return replayedPs;
}

void
FlowNetwork::BeginMeeting(uint32_t id)
{
    Communication& communication = m_communications[id];
    const auto& members = communication.members;
    const auto [first, last] =
        std::minmax_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
            return a.joinedPs < b.joinedPs;
        });
    double replayedPs = FindReplayedPs(communication);
    auto replay = m_profiles.MakeReplay(communication.task, {}, nullptr, !communication.late);
    if (communication.late)
    {
        replayedPs += static_cast<double>(last->joinedPs - first->joinedPs);
        for (const auto& member : members)
        {
            replay->Join(member.rank, static_cast<double>(member.joinedPs - first->joinedPs));
        }
    }
    replay->Advance(replayedPs);
    const auto& classes = communication.profile->classes;
    communication.moved.assign(classes.size(), 0);
    for (const uint32_t place : communication.live)
    {
        LiveClass& live = m_classes[place];
        Record(live);
        live.left = GetLeft(live);
        live.sincePs = m_clock.GetTimePs();
        communication.moved[live.index] = live.flows->bytes - live.left;
        ++live.version;
        ChangePeaks(communication, live.index, -1);
        if (live.flows->pairs.empty())
        {
            live.flows = nullptr;
            m_shares.RemoveUser(place);
        }
        else
        {
            // Others meet its queue pairs at switches, as far as these go in the mean.
            live.rate = live.flows->rate;
            m_shares.ChangeCount(place, -1);
            communication.held.push_back(place);
        }
    }
    communication.live.clear();
    communication.isMeeting = true;
    communication.meetsPs = m_clock.GetTimePs();
    communication.ranksLeft = 0;
    for (const uint32_t left : communication.left)
    {
        communication.ranksLeft += left > 0;
    }
    for (uint32_t i = 0; i < classes.size(); ++i)
    {
        if (communication.parts[i] != Communication::Part::DONE)
        {
            ChangePeaks(communication, i, 1);
        }
    }
    if (!m_meeting)
    {
        m_meeting = std::make_unique<MeetingReplays>(m_profiles.GetWays(), m_shares);
    }
    const auto nowPs = static_cast<double>(m_clock.GetTimePs());
    m_meeting->Begin(id,
                     m_graph.GetTask(communication.task).place,
                     m_profiles.GetWhole(communication.task),
                     std::move(replay),
                     nowPs - replayedPs,
                     nowPs);
}

void
FlowNetwork::ScheduleMeeting()
{
    if (!m_meeting)
    {
        return;
    }
    const double nextPs = m_meeting->GetNextPs();
    const int64_t atPs =
        std::isinf(nextPs) ? NEVER
                           : std::max(m_clock.GetTimePs(), static_cast<int64_t>(std::ceil(nextPs)));
    if (atPs == m_meetingPs)
    {
        return;
    }
    m_meetingPs = atPs;
    const uint32_t version = ++m_meetingVersion;
    if (atPs != NEVER)
    {
        m_clock.ScheduleAt(atPs, [this, version]() {
            if (version == m_meetingVersion)
            {
                m_meetingPs = NEVER;
                StepMeeting();
            }
        });
    }
}

void
FlowNetwork::StepMeeting()
{
    const int64_t nowPs = m_clock.GetTimePs();
    m_meeting->Advance(static_cast<double>(nowPs), [this]() { ComputeShares(); });
    for (const MeetingReplays::Ended& ended : m_meeting->TakeEnded())
    {
        Communication& communication = m_communications[ended.id];
        if (std::exchange(communication.left[ended.rank], 0) > 0)
        {
            EndRank(ended.id, ended.rank, std::max<int64_t>(0, std::llround(ended.endPs) - nowPs));
            if (--communication.ranksLeft == 0)
            {
                EndMeeting(ended.id);
            }
        }
    }
    ScheduleMeeting();
}

void
FlowNetwork::EndMeeting(uint32_t id)
{
    const Communication& communication = m_communications[id];
    const auto& classes = communication.profile->classes;
    const int64_t nowPs = m_clock.GetTimePs();
    for (uint32_t i = 0; i < classes.size(); ++i)
    {
        if (communication.parts[i] == Communication::Part::DONE)
        {
            continue;
        }
        ChangePeaks(communication, i, -1);
        const double bytes = classes[i].bytes;
        for (const FlowUse& use : classes[i].uses)
        {
            m_wireBytes[use.resource] += use.amount * bytes;
            m_payloadBytes[use.resource] += use.payload * bytes;
        }
        if (m_series && nowPs > communication.meetsPs)
        {
            m_series->Add(classes[i].uses,
                          (bytes - communication.moved[i]) * PS_PER_SECOND /
                              static_cast<double>(nowPs - communication.meetsPs),
                          communication.meetsPs,
                          nowPs);
        }
    }
    m_meeting->End(id);
    for (const uint32_t place : communication.held)
    {
        AdvanceCongestion();
        m_congested->End(place);
        m_classes[place].flows = nullptr;
        m_shares.RemoveUser(place);
    }
    if (m_shares.HasChanged())
    {
        RequestShares();
    }
    Forget(id);
}

} // namespace proteus
} // namespace ns3
