/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What a FlowNetwork does where congestion control matters, which limits rates step by step, and
// with ranks of a collective that begin before the last one has joined.

#include "proteus-congested-flows.h"
#include "proteus-flow-network.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>
#include <map>
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

uint32_t
FlowNetwork::FindPaired(const CollectiveProfile& profile)
{
    uint32_t found = NO_ID;
    for (uint32_t i = 0; i < profile.classes.size(); ++i)
    {
        if (!profile.classes[i].pairs.empty())
        {
            if (found != NO_ID)
            {
                return NO_ID;
            }
            found = i;
        }
    }
    return found;
}

bool
FlowNetwork::CanBeginEarly(const Communication& communication)
{
    if (communication.ready.size() < 2 || FindPaired(*communication.profile) == NO_ID)
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
        const CollectiveProfile& profile = *communication.profile;
        const FlowClass& flows = profile.classes[FindPaired(profile)];
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
        const uint32_t paired = FindPaired(*communication.profile);
        m_congested->StopAwaiting(communication.profile->classes[paired]);
        communication.isWaiting = false;
        communication.isReplayed = true;
        communication.isEarly = true;
        communication.ahead = nullptr;
        Activate(id, paired);
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

double
FlowNetwork::FindLeft(uint32_t resource, const std::vector<uint32_t>& owners) const
{
    // What a class takes of the resource, by the input that brings it.
    const auto listTurns = [resource](const FlowClass& flows) {
        const auto first = std::lower_bound(
            flows.turns.begin(),
            flows.turns.end(),
            resource,
            [](const FlowTurn& turn, uint32_t other) { return turn.resource < other; });
        const auto last = std::upper_bound(
            first,
            flows.turns.end(),
            resource,
            [](uint32_t other, const FlowTurn& turn) { return other < turn.resource; });
        return std::vector<FlowTurn>(first, last);
    };
    std::vector<uint32_t> own;          // inputs
    std::map<uint32_t, double> byInput; // what others want
    std::vector<double> wanted;         // the same, by input, and by others of whom none is known
    for (const auto& active : m_shares.GetActive(resource))
    {
        const bool isClass =
            active.user < m_classes.size() && m_classes[active.user].flows != nullptr;
        const auto turns =
            isClass ? listTurns(*m_classes[active.user].flows) : std::vector<FlowTurn>();
        if (isClass && std::find(owners.begin(), owners.end(), active.user) != owners.end())
        {
            for (const FlowTurn& turn : turns)
            {
                own.push_back(turn.input);
            }
            continue;
        }
        // Alone, classes of one collective share what they share here.
        const bool isPart =
            isClass &&
            m_communications[m_classes[active.user].communication].profile->classes.size() > 1;
        const double alone =
            isPart ? m_classes[active.user].flows->linkRate : m_shares.GetLimit(active.user);
        const double demand = m_shares.GetDemand(resource, active, alone);
        double amount = 0;
        for (const FlowTurn& turn : turns)
        {
            amount += turn.amount;
        }
        for (const FlowTurn& turn : turns)
        {
            byInput[turn.input] += demand * turn.amount / amount;
        }
        if (turns.empty())
        {
            wanted.push_back(demand);
        }
    }
    for (const auto& [input, demand] : byInput)
    {
        wanted.push_back(demand);
    }
    // Inputs take turns: those that want less than their turn leave the rest to the others.
    std::sort(wanted.begin(), wanted.end());
    SortUnique(own);
    double left = m_profiles.GetResources()[resource].capacity;
    auto inputs = static_cast<double>(std::max<std::size_t>(1, own.size()) + wanted.size());
    for (const double demand : wanted)
    {
        const double takes = std::min(demand, left / inputs);
        left -= takes;
        --inputs;
    }
    return left;
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
            const LiveClass& live = m_classes[ended.id];
            const auto& early = live.flows->early;
            const auto part = std::find_if(early.begin(), early.end(), [&ended](const auto& other) {
                return other.rank == ended.rank;
            });
            if (live.flows->afterPs[ended.rank] >= 0)
            {
                communication.ended.push_back(ended.rank);
                EndPart(id,
                        ended.rank,
                        std::max(afterPs, FindBeside(live, part == early.end() ? 0 : part->left)));
            }
            continue;
        }
        EndAhead(communication, ended.rank, afterPs);
    }
}

void
FlowNetwork::HoldBack(Communication& communication)
{
    if (std::exchange(communication.isHeld, true))
    {
        return;
    }
    for (const uint32_t place : communication.live)
    {
        const FlowClass& flows = *m_classes[place].flows;
        if (flows.pairs.empty())
        {
            m_shares.SetLimit(place, GetLimit(communication, flows));
        }
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
            if (cap < limit * (1 - SAME_CAP))
            {
                HoldBack(m_communications[live.communication]);
            }
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
