/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-period-finder.h"
#include "proteus-repetition.h"

#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <limits>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Components that other processes execute, and those that this one executes later.
 */

namespace ns3
{
namespace proteus
{

bool
Repetition::CanRehearse(const Component& component) const
{
    const auto rehearsed = m_rehearsed.find(component.plan->shape);
    return GetNRanks() == 1 && component.plan->sentBytes >= m_longBytes &&
           (component.vainHops == 0 || component.vainHops < component.wholeHops) &&
           (rehearsed == m_rehearsed.end() || rehearsed->second >= 0);
}

uint32_t
Repetition::FindAwaited(const RepetitionKey& key) const
{
    const auto found = std::find_if(m_open.begin(), m_open.end(), [&](uint32_t id) {
        return m_components[id].state == State::AWAITED && m_components[id].key == key;
    });
    return found == m_open.end() ? NO_ID : *found;
}

void
Repetition::Rehearse(uint32_t id)
{
    Component& component = m_components[id];
    const uint32_t same = FindAwaited(component.key);
    component.state = State::AWAITED;
    component.record = nullptr;
    component.eventsBefore = m_fabric->GetEventCount();
    // Who is executed if this one should meet others before its turn: whoever shares it then.
    component.rehearsal = same == NO_ID ? m_rehearsals.Start([this, key = component.key] {
        return ExecuteAlone(FindAwaited(key));
    })
                                        : m_components[same].rehearsal;
    SetCall(CHECK, id, TakeBackEnds(id));
}

bool
Repetition::Postpone(uint32_t id)
{
    const int64_t leastPs = TakeBackEnds(id);
    if (leastPs <= m_fabric->GetTimePs())
    {
        return false;
    }
    m_components[id].state = State::POSTPONED;
    m_components[id].record = nullptr;
    SetCall(CHECK, id, leastPs);
    return true;
}

int64_t
Repetition::TakeBackEnds(uint32_t id)
{
    const int64_t nowPs = m_fabric->GetTimePs();
    int64_t leastPs = std::numeric_limits<int64_t>::max();
    for (const uint32_t one : m_components[id].communications)
    {
        Communication& communication = m_communications[one];
        const auto& startPs = communication.startPs;
        const int64_t lastPs = *std::max_element(startPs.begin(), startPs.end());
        for (uint32_t i = 0; i < communication.ranks.size(); ++i)
        {
            leastPs = std::min(leastPs, m_user.GetLeastEndPs(communication.ranks[i], lastPs));
            if (communication.repeatedPs[i] >= nowPs) // of before others were met
            {
                RankWork none;
                none.endPs = RepetitionRecord::NOT_DONE;
                RepeatRank(communication, i, none, {});
            }
        }
    }
    return std::max(leastPs, nowPs);
}

RehearsalResult
Repetition::ExecuteAlone(uint32_t id)
{
    m_isAlone = true;
    Component& component = m_components[id];
    component.state = State::RECORDED;
    component.followers.clear();
    m_transport->ForgetTimers();
    TakeSnapshot(component);
    std::vector<uint32_t> ranks;
    for (const uint32_t one : component.communications)
    {
        const auto& more = m_communications[one].ranks;
        ranks.insert(ranks.end(), more.begin(), more.end());
    }
    PeriodFinder periods(m_fabric, m_transport, m_user, *component.plan, ranks);
    RehearsalResult result;
    result.events = m_fabric->GetEventCount();
    m_fabric->RunAlone([&] {
        for (const uint32_t rank : ranks)
        {
            m_user.CallStart(rank);
        }
    });
    const auto& all = component.communications;
    const int64_t restPs = GetRestPs(component);
    if (restPs == EventTree::NEVER ||
        !std::all_of(all.begin(), all.end(), [this](uint32_t one) { return IsDone(one); }))
    {
        return {};
    }
    result.events = m_fabric->GetEventCount() - result.events;
    if (const auto executed = MakeRecord(component, restPs))
    {
        result.packets = executed->packets;
        result.packetHops = executed->packetHops;
        auto record = std::make_shared<RepetitionRecord>(*executed);
        periods.Complete(*record, component.firstPs);
        result.record = std::move(record);
    }
    return result;
}

bool
Repetition::IsOfUse(const Component& component,
                    const Rehearsals::Rehearsal& rehearsal,
                    const RehearsalResult& result) const
{
    constexpr uint64_t LEAST_SHARE = 8; // one in so many
    const auto isBeside = [&](uint32_t other) {
        const Component& beside = m_components[other];
        return beside.rehearsal && beside.rehearsal.get() != &rehearsal &&
               beside.plan->sentBytes >= component.plan->sentBytes / LEAST_SHARE;
    };
    return result.packetHops < result.record->packetHops ||
           m_fabric->GetEventCount() - component.eventsBefore >= result.events / LEAST_SHARE ||
           std::any_of(m_open.begin(), m_open.end(), isBeside);
}

void
Repetition::EndRehearsal(uint32_t id)
{
    Component& component = m_components[id];
    const auto rehearsal = std::exchange(component.rehearsal, nullptr);
    RehearsalResult& result = m_rehearsals.Wait(*rehearsal);
    if (result.isGivenUp)
    {
        return; // the simulator stops before it could be executed here
    }
    if (!result.record)
    {
        --m_rehearsed[component.plan->shape];
        // All that waited for it, so that what they share is executed in the order of time.
        const std::vector<uint32_t> open = m_open;
        for (const uint32_t other : open)
        {
            if (other == id || m_components[other].rehearsal == rehearsal)
            {
                m_components[other].rehearsal = nullptr;
                Record(other);
            }
        }
        return;
    }
    component.hasRehearsed = !std::exchange(result.isTaken, true);
    if (component.hasRehearsed)
    {
        component.cost = result;
        component.cost.record = nullptr;
        m_rehearsed[component.plan->shape] += IsOfUse(component, *rehearsal, result) ? 1 : -1;
        m_records.Add(component.key, result.record);
    }
    Repeat(id, result.record);
}

void
Repetition::GiveUpRehearsal(uint32_t id)
{
    Component& component = m_components[id];
    if (component.rehearsal && component.rehearsal.use_count() == 1)
    {
        --m_rehearsed[component.plan->shape];
    }
    component.rehearsal = nullptr;
    if (std::exchange(component.hasRehearsed, false))
    {
        const uint64_t hops = component.cost.packetHops;
        component.vainHops += hops;
        component.wholeHops = component.record->packetHops;
        m_statistics.vainHops += hops;
        m_fabric->AddEvents(component.cost.events);
        if (hops == component.record->packetHops)
        {
            m_rehearsed[component.plan->shape] -= 2; // of no use after all, and no shorter
        }
    }
}

} // namespace proteus
} // namespace ns3
