/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What a FlowNetwork does where congestion control matters, which limits rates step by step, and
// with ranks of a collective that begin before the last one has joined.

#include "proteus-congested-flows.h"
#include "proteus-flow-network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// A limit of congestion control that changes by less than this part does not change.
constexpr double SAME_CAP = 0.01;

} // namespace

bool
FlowNetwork::BeginCongestion(uint32_t place)
{
    LiveClass& live = m_classes[place];
    const Communication& communication = m_communications[live.communication];
    AdvanceCongestion();
    const bool isWanted = !m_waiting.empty() && m_congested->IsWanted(*live.flows);
    CongestedFlows::MakeReplay make;
    if (communication.isReplayed)
    {
        live.endPs = WAITS;
        make = [this, &communication](std::vector<bool> isCarried, LiveReplay::Carry carry) {
            auto replay = m_profiles.MakeReplay(communication.task,
                                                std::move(isCarried),
                                                std::move(carry),
                                                !communication.isEarly);
            if (communication.isEarly)
            {
                for (const uint32_t rank : communication.ready)
                {
                    replay->Join(rank, 0);
                }
            }
            return replay;
        };
    }
    m_congested->Begin(place, *live.flows, live.left, m_clock.GetTimePs(), make);
    RequestStep();
    return isWanted;
}

bool
FlowNetwork::CanBeginEarly(const Communication& communication)
{
    const auto& classes = communication.profile->classes;
    if (communication.ready.size() < 2 || classes.size() != 1 || classes.front().pairs.empty())
    {
        return false;
    }
    const auto whole = m_profiles.GetWhole(communication.task);
    return whole && whole->program->groups.empty();
}

void
FlowNetwork::BeginEarly(uint32_t id, uint32_t rank)
{
    const Communication& communication = m_communications[id];
    const Task& task = m_graph.GetTask(communication.task);
    if (m_congested)
    {
        BeginCongested(id, rank);
    }
    if (!communication.isEarly && HasRoot(task.collective) &&
        communication.members.size() < m_graph.GetGroup(task.place).size())
    {
        BeginAhead(id, rank);
    }
}

void
FlowNetwork::BeginAhead(uint32_t id, uint32_t rank)
{
    Communication& communication = m_communications[id];
    const int64_t nowPs = m_clock.GetTimePs();
    if (!communication.ahead)
    {
        const auto whole = m_profiles.GetWhole(communication.task);
        if (!whole || !whole->program->groups.empty())
        {
            return;
        }
        communication.ahead = m_profiles.MakeReplay(communication.task, {}, nullptr, false);
        communication.aheadPs = nowPs;
    }
    communication.ahead->Join(rank, static_cast<double>(nowPs - communication.aheadPs));
    StepAhead(id);
}

void
FlowNetwork::StepAhead(uint32_t id)
{
    Communication& communication = m_communications[id];
    LiveReplay& ahead = *communication.ahead;
    const auto sincePs = static_cast<double>(m_clock.GetTimePs() - communication.aheadPs);
    ahead.Advance(sincePs);
    for (const RankEnd& ended : ahead.TakeEnded())
    {
        EndAhead(communication,
                 ended.rank,
                 std::max<int64_t>(0, std::llround(ended.endPs - sincePs)));
    }
    const uint32_t version = ++communication.aheadVersion;
    if (!ahead.IsIdle())
    {
        const auto afterPs = static_cast<int64_t>(std::ceil(ahead.GetNextPs() - sincePs));
        m_clock.Schedule(0, std::max<int64_t>(1, afterPs), [this, id, version]() {
            if (m_communications[id].ahead && m_communications[id].aheadVersion == version)
            {
                StepAhead(id);
            }
        });
    }
}

void
FlowNetwork::EndAhead(Communication& communication, uint32_t rank, int64_t afterPs)
{
    auto& ended = communication.ended;
    if (std::find(ended.begin(), ended.end(), rank) != ended.end())
    {
        return; // by another replay
    }
    ended.push_back(rank);
    const auto member = std::find_if(communication.members.begin(),
                                     communication.members.end(),
                                     [rank](const auto& other) { return other.rank == rank; });
    m_clock.Schedule(member->device, afterPs, std::move(member->done));
}

void
FlowNetwork::BeginCongested(uint32_t id, uint32_t rank)
{
    Communication& communication = m_communications[id];
    const auto& group = m_graph.GetGroup(m_graph.GetTask(communication.task).place);
    communication.ready.push_back(rank);
    if (communication.isEarly)
    {
        AdvanceCongestion();
        m_congested->Join(communication.live.front(), rank, m_clock.GetTimePs());
        EndReplayed();
        RequestStep();
    }
    else if (!communication.isWaiting && communication.members.size() < group.size() &&
             CanBeginEarly(communication))
    {
        const FlowClass& flows = communication.profile->classes.front();
        const bool isWanted = m_congested->IsWanted(flows);
        communication.isWaiting = true;
        m_waiting.push_back(id);
        m_congested->Await(flows);
        if (isWanted)
        {
            BeginWaiting();
        }
    }
}

void
FlowNetwork::BeginWaiting()
{
    for (const uint32_t id : std::exchange(m_waiting, {}))
    {
        Communication& communication = m_communications[id];
        m_congested->StopAwaiting(communication.profile->classes.front());
        communication.isWaiting = false;
        communication.isReplayed = true;
        communication.isEarly = true;
        communication.ahead = nullptr;
        Activate(id, 0);
    }
}

void
FlowNetwork::JoinLast(const Communication& communication)
{
    AdvanceCongestion();
    for (uint32_t rank = 0; rank < communication.members.size(); ++rank)
    {
        const auto& ready = communication.ready;
        if (std::find(ready.begin(), ready.end(), rank) == ready.end())
        {
            m_congested->Join(communication.live.front(), rank, m_clock.GetTimePs());
        }
    }
    EndReplayed();
    RequestStep();
}

uint64_t
FlowNetwork::GetNotifications() const
{
    return m_congested ? m_congested->GetNotifications() : 0;
}

void
FlowNetwork::AdvanceCongestion()
{
    m_congested->Advance(m_clock.GetTimePs(),
                         [this](uint32_t id) { return GetLeft(m_classes[id]); });
    EndReplayed();
}

void
FlowNetwork::EndReplayed()
{
    for (const CongestedFlows::Ended& ended : m_congested->TakeEnded())
    {
        const uint32_t id = m_classes[ended.id].communication;
        Communication& communication = m_communications[id];
        const int64_t afterPs = std::max<int64_t>(0, ended.endPs - m_clock.GetTimePs());
        if (!communication.left.empty())
        {
            if (std::exchange(communication.left[ended.rank], 0) > 0)
            {
                EndRank(id, ended.rank, afterPs);
            }
            continue;
        }
        EndAhead(communication, ended.rank, afterPs);
    }
}

void
FlowNetwork::RequestStep()
{
    if (m_isStepRequested || !m_congested->IsBusy())
    {
        return;
    }
    m_isStepRequested = true;
    m_clock.Schedule(0, m_congested->GetStepPs(), [this]() {
        m_isStepRequested = false;
        AdvanceCongestion();
        for (const uint32_t place : m_congested->GetLive())
        {
            LiveClass& live = m_classes[place];
            if (m_communications[live.communication].isMeeting)
            {
                continue; // no port was wanted for more than it has when it began
            }
            const double cap = std::max(LEAST_RATE, m_congested->GetCap(place));
            const double limit = GetLimit(m_communications[live.communication], *live.flows);
            const double before = m_shares.GetLimit(place);
            const double after = std::min(limit, cap);
            live.cap = cap;
            if (live.endPs == WAITS && m_congested->GetEndPs(place) >= 0)
            {
                live.endPs = m_congested->GetEndPs(place);
                Foretell(place);
            }
            if (std::abs(after - before) > SAME_CAP * before)
            {
                m_shares.SetLimit(place, after);
            }
        }
        if (m_shares.HasChanged())
        {
            RequestShares();
        }
        RequestStep();
    });
}

} // namespace proteus
} // namespace ns3
