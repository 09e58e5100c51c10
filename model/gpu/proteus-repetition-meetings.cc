/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * What becomes of components with a key, and of those that meet.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Communications in a key, at most: what meets more goes on as packets, so that a chain without a
/// gap does not become one component. Twice as many as replicas send at once over a spine's links.
constexpr std::size_t MAX_MET = 64;

} // namespace

bool
Repetition::LearnStarts(uint32_t id)
{
    Communication& communication = m_communications[id];
    for (std::size_t i = 0; i < communication.ranks.size(); ++i)
    {
        if (communication.startPs[i] < 0 && communication.ranks[i] != NO_ID)
        {
            communication.startPs[i] = m_user.GetStartPs(communication.ranks[i]);
        }
        if (communication.startPs[i] < 0)
        {
            return false;
        }
    }
    return true;
}

bool
Repetition::Hold(uint32_t id)
{
    const uint32_t own = m_communications[id].component;
    if (LearnStarts(id))
    {
        SetKey(own);
        ExecuteUnknown(own);
        Decide(own);
    }
    else if (FindOnlyRank(id) == NO_ID && !FindSharers(own).empty())
    {
        ExecuteUnknown(own); // several ranks have begun, and may send data
        Execute(own);
    }
    return false;
}

bool
Repetition::CanMeet(uint32_t id, const std::vector<uint32_t>& others)
{
    const auto hasGroups = [](const RepetitionPlan& plan) {
        return std::any_of(plan.parts.begin(), plan.parts.end(), [](const RepetitionPart& part) {
            return !part.program->groups.empty();
        });
    };
    std::size_t count = 1;
    for (const uint32_t other : others)
    {
        const Component& component = m_components[other];
        if (component.state == State::HELD || component.state == State::EXECUTED ||
            hasGroups(*component.plan))
        {
            return false;
        }
        count += component.communications.size();
    }
    return count <= MAX_MET && !hasGroups(*m_communications[id].plan) && LearnStarts(id);
}

bool
Repetition::Meet(uint32_t id, uint32_t number, const std::vector<uint32_t>& others)
{
    const uint32_t own = m_communications[id].component;
    const auto isRecorded = [&](uint32_t other) {
        return m_components[other].state == State::RECORDED;
    };
    const bool goesOn = std::any_of(others.begin(), others.end(), isRecorded);
    bool isLate = false;
    for (const uint32_t other : others)
    {
        if (isRecorded(other))
        {
            NotePast(other);
            continue;
        }
        Unfollow(other);
        GiveUpRehearsal(other);
        if (goesOn)
        {
            StartAgain(other);
            isLate = true;
        }
    }
    for (const uint32_t other : others)
    {
        Absorb(other, own);
    }
    SetKey(own);
    if (!goesOn)
    {
        ExecuteUnknown(own);
        Decide(own);
        return false;
    }
    m_components[own].state = State::RECORDED;
    isLate = ExecuteUnknown(own) || isLate;
    TakeSnapshot(m_components[own]);
    SetCall(CHECK, own, m_fabric->GetTimePs() + 1);
    if (isLate)
    {
        m_user.CallStart(m_communications[id].ranks[number]); // after what comes before
    }
    return !isLate;
}

void
Repetition::NotePast(uint32_t id)
{
    Component& component = m_components[id];
    const bool isChance =
        std::any_of(component.ports.begin(), component.ports.end(), [this](const auto& port) {
            return m_fabric->HasDrawn(port.first);
        });
    if (m_mode == RepetitionMode::ON && !isChance)
    {
        component.pasts.push_back(
            {component.key, component.communications, component.firstPs, m_fabric->GetTimePs()});
    }
}

void
Repetition::Absorb(uint32_t from, uint32_t to)
{
    Component& source = m_components[from];
    Component& target = m_components[to];
    for (const uint32_t follower : source.followers)
    {
        m_components[follower].leader = to;
        target.followers.push_back(follower);
    }
    target.vainHops += source.vainHops;
    target.wholeHops += source.wholeHops;
    target.pasts.insert(target.pasts.end(), source.pasts.begin(), source.pasts.end());
    target.ports.insert(source.ports.begin(), source.ports.end());
    target.queuePairs.insert(source.queuePairs.begin(), source.queuePairs.end());
    Merge(from, to);
}

void
Repetition::SetKey(uint32_t id)
{
    Component& component = m_components[id];
    // Ranks of a device that begin at one time begin in the order of tasks.
    std::vector<uint32_t>& all = component.communications;
    std::sort(all.begin(), all.end(), [this](uint32_t a, uint32_t b) {
        const Communication& x = m_communications[a];
        const Communication& y = m_communications[b];
        return std::tie(x.task, x.microBatch) < std::tie(y.task, y.microBatch);
    });
    std::vector<const RepetitionPlan*> plans;
    component.firstPs = INT64_MAX;
    for (const uint32_t one : all)
    {
        const auto& startPs = m_communications[one].startPs;
        plans.push_back(m_communications[one].plan);
        component.firstPs =
            std::min(component.firstPs, *std::min_element(startPs.begin(), startPs.end()));
    }
    component.plan = plans.size() == 1 ? plans.front() : &m_plans.Combine(plans);
    component.key = RepetitionKey();
    component.key.shape = component.plan->shape;
    for (const RepetitionPart& part : component.plan->parts)
    {
        component.key.programs.push_back(part.program);
    }
    for (const uint32_t one : all)
    {
        for (const int64_t startPs : m_communications[one].startPs)
        {
            component.key.offsetsPs.push_back(startPs - component.firstPs);
        }
    }
}

void
Repetition::Decide(uint32_t id)
{
    if (m_mode == RepetitionMode::ON)
    {
        auto record = FindRecord(id);
        if (!record && Follow(id))
        {
            return;
        }
        if (!record)
        {
            // One that is over may just not have been counted.
            const std::vector<uint32_t> open = m_open;
            for (const uint32_t other : open)
            {
                if (m_components[other].state == State::RECORDED && other != id)
                {
                    Release(other, m_fabric->GetTimePs());
                }
            }
            record = FindRecord(id);
        }
        if (record)
        {
            Repeat(id, record);
            return;
        }
        const bool mayBeLate = OwnsBuffers(id);
        if (mayBeLate && CanRehearse(m_components[id]))
        {
            Rehearse(id);
            return;
        }
        // Links over time show what is executed when it is executed.
        if (mayBeLate && !m_fabric->GetWatch().HasRepeatCallback() && Postpone(id))
        {
            return;
        }
    }
    if (m_mode == RepetitionMode::VERIFY && CanRehearse(m_components[id]))
    {
        m_components[id].rehearsal =
            m_rehearsals.StartAtOnce([this, id] { return ExecuteAlone(id); });
    }
    Record(id);
}

std::shared_ptr<const RepetitionRecord>
Repetition::FindRecord(uint32_t id)
{
    const Component& component = m_components[id];
    const auto record = m_records.Find(component.key);
    const bool isUseful = record && (record->IsWhole() ||
                                     component.firstPs + record->untilPs >= m_fabric->GetTimePs());
    return isUseful ? record : nullptr;
}

void
Repetition::Repeat(uint32_t id, const std::shared_ptr<const RepetitionRecord>& record)
{
    Component& component = m_components[id];
    component.state = State::REPEATED;
    component.record = record;
    component.leader = NO_ID;
    auto recorded = record->ranks.begin();
    std::size_t block = 0;
    for (const uint32_t one : component.communications)
    {
        for (uint32_t i = 0; i < m_communications[one].ranks.size(); ++i)
        {
            const std::size_t nBlocks = m_communications[one].program->ranks[i].blocks.size();
            RankWork work = *recorded++;
            work.endPs += work.endPs == RepetitionRecord::NOT_DONE ? 0 : component.firstPs;
            RepeatRank(m_communications[one],
                       i,
                       work,
                       GetBlockEnds(*record, block, nBlocks, component.firstPs));
            block += nBlocks;
        }
    }
    if (!record->IsWhole())
    {
        SetCall(CHECK, id, component.firstPs + record->untilPs + 1);
    }
}

std::vector<int64_t>
Repetition::GetBlockEnds(const RepetitionRecord& record,
                         std::size_t from,
                         std::size_t count,
                         int64_t shiftPs)
{
    if (record.blockEndsPs.empty())
    {
        return {};
    }
    const auto first = record.blockEndsPs.begin() + static_cast<std::ptrdiff_t>(from);
    return RepetitionRecord::Shift({first, first + static_cast<std::ptrdiff_t>(count)},
                                   count,
                                   shiftPs);
}

void
Repetition::RepeatRank(Communication& communication,
                       uint32_t number,
                       const RankWork& work,
                       const std::vector<int64_t>& blockEndsPs)
{
    constexpr int64_t NOT_DONE = RepetitionRecord::NOT_DONE;
    int64_t& repeatedPs = communication.repeatedPs[number];
    if (repeatedPs == work.endPs)
    {
        return;
    }
    if (repeatedPs != NOT_DONE)
    {
        if (repeatedPs < m_fabric->GetTimePs())
        {
            throw std::logic_error("repetition: a rank of task " +
                                   std::to_string(communication.task) + " was done at " +
                                   std::to_string(repeatedPs) +
                                   " ps, and not as a record says that came later; run with "
                                   "--repetition=off");
        }
        m_user.TakeBack(communication.ranks[number]);
    }
    repeatedPs = work.endPs;
    if (repeatedPs != NOT_DONE)
    {
        if (repeatedPs < m_fabric->GetTimePs())
        {
            throw std::logic_error("repetition: a rank of task " +
                                   std::to_string(communication.task) +
                                   " was done before it was asked for; run with --repetition=off");
        }
        m_user.Repeat(communication.ranks[number], work, blockEndsPs);
    }
}

bool
Repetition::Follow(uint32_t id)
{
    const Component& component = m_components[id];
    const auto leads = [&](uint32_t other) {
        const Component& leader = m_components[other];
        return other != id && leader.state == State::RECORDED && leader.key == component.key &&
               leader.firstPs <= component.firstPs;
    };
    const auto found = std::find_if(m_open.begin(), m_open.end(), leads);
    if (found == m_open.end())
    {
        return false;
    }
    Follow(id, *found);
    return true;
}

void
Repetition::Follow(uint32_t id, uint32_t leader)
{
    Component& component = m_components[id];
    component.state = State::FOLLOWING;
    component.record = nullptr;
    component.leader = leader;
    component.led = m_components[leader].communications;
    component.shiftPs = component.firstPs - m_components[leader].firstPs;
    m_components[leader].followers.push_back(id);
    for (std::size_t i = 0; i < component.led.size(); ++i)
    {
        Communication& own = m_communications[component.communications[i]];
        const Communication& led = m_communications[component.led[i]];
        for (uint32_t rank = 0; rank < led.ranks.size(); ++rank)
        {
            RankWork work;
            work.endPs = RepetitionRecord::NOT_DONE;
            std::vector<int64_t> endsPs;
            if (led.isDone[rank])
            {
                work = led.works[rank];
                work.endPs += component.shiftPs;
                const std::vector<int64_t>& ledPs = led.blockEndsPs[rank];
                endsPs = RepetitionRecord::Shift(ledPs, ledPs.size(), component.shiftPs);
            }
            else if (own.repeatedPs[rank] < m_fabric->GetTimePs())
            {
                continue; // the leader has just begun again, and will confirm what is in the past
            }
            RepeatRank(own, rank, work, endsPs);
        }
    }
}

void
Repetition::Unfollow(uint32_t id)
{
    Component& component = m_components[id];
    if (component.leader != NO_ID)
    {
        auto& followers = m_components[component.leader].followers;
        followers.erase(std::find(followers.begin(), followers.end(), id));
        component.leader = NO_ID;
    }
}

void
Repetition::StartAgain(uint32_t id)
{
    for (const uint32_t one : m_components[id].communications)
    {
        Communication& communication = m_communications[one];
        for (std::size_t i = 0; i < communication.ranks.size(); ++i)
        {
            if (communication.repeatedPs[i] != RepetitionRecord::NOT_DONE)
            {
                m_user.TakeBack(communication.ranks[i]);
            }
            communication.repeatedPs[i] = RepetitionRecord::NOT_DONE;
            if (communication.hasBegun[i])
            {
                m_user.CallStart(communication.ranks[i]);
            }
        }
    }
}

void
Repetition::Record(uint32_t id)
{
    Component& component = m_components[id];
    const bool isLate = component.state == State::POSTPONED;
    m_statistics.postponed += isLate ? component.communications.size() : 0;
    component.state = State::RECORDED;
    component.record = nullptr;
    TakeSnapshot(component);
    StartAgain(id);
}

bool
Repetition::Succeed(uint32_t id)
{
    std::vector<uint32_t> followers = std::exchange(m_components[id].followers, {});
    const bool hasFollowers = !followers.empty();
    // Those that began first lead, so that all others with their key can follow them.
    std::stable_sort(followers.begin(), followers.end(), [this](uint32_t a, uint32_t b) {
        return m_components[a].firstPs < m_components[b].firstPs;
    });
    for (const uint32_t follower : followers)
    {
        m_components[follower].leader = NO_ID;
        if (!Follow(follower))
        {
            Record(follower);
        }
    }
    return hasFollowers;
}

void
Repetition::EndPasts(uint32_t id)
{
    for (const Past& past : std::exchange(m_components[id].pasts, {}))
    {
        const auto record = MakeRecord(past);
        m_records.Add(past.key, record);
        const std::vector<uint32_t> followers = m_components[id].followers;
        for (const uint32_t follower : followers)
        {
            if (m_components[follower].key == past.key)
            {
                Unfollow(follower);
                Repeat(follower, record);
            }
        }
    }
}

void
Repetition::SetCall(CallKind kind, uint32_t value, int64_t timePs)
{
    FabricCall call;
    call.timePs = timePs;
    call.order = 0;
    call.target = this;
    call.kind = kind;
    call.value = value;
    m_fabric->CallAt(call);
}

void
Repetition::HandleCall(uint32_t kind, uint32_t id)
{
    if (kind == DRAW)
    {
        HandleDraw(id);
        return;
    }
    if (kind == CONTENTION)
    {
        HandleContention(id);
        return;
    }
    if (!std::binary_search(m_open.begin(), m_open.end(), id))
    {
        return; // it is over
    }
    const int64_t nowPs = m_fabric->GetTimePs();
    const Component& component = m_components[id];
    if (component.state == State::AWAITED)
    {
        EndRehearsal(id);
    }
    else if (component.state == State::POSTPONED)
    {
        Decide(id); // others may have been recorded meanwhile
    }
    else if (component.state == State::RECORDED && !component.pasts.empty() &&
             component.pasts.front().untilPs < nowPs)
    {
        EndPasts(id);
    }
    else if (component.state == State::REPEATED && !component.record->IsWhole() &&
             component.firstPs + component.record->untilPs < nowPs)
    {
        Decide(id);
    }
}

} // namespace proteus
} // namespace ns3
