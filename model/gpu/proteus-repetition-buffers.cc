/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

/**
 * @file
 * @ingroup proteus
 * Components that share buffers of Ethernet switches and NICs, and when chance decides in one.
 *
 * While a buffer is calm (SharedBuffers), what uses it does not feel the others. When it is calm no
 * longer, all of these have to be where the fabric's time is. So whoever may end that, which is
 * everybody of whom no record says otherwise, may only be late as long as nothing else sends over
 * the buffer, but for what is equal to it and ends it no earlier.
 */

namespace ns3
{
namespace proteus
{

bool
Repetition::IsContended(const RepetitionPlan& plan) const
{
    return std::any_of(plan.buffers.begin(), plan.buffers.end(), [this](uint32_t buffer) {
        return m_fabric->GetBuffers().IsContended(buffer);
    });
}

bool
Repetition::CanRepeat(const RepetitionPlan& plan)
{
    if (!plan.repeats || !CanHold() || IsContended(plan))
    {
        return false;
    }
    return plan.buffers.empty() ||
           std::all_of(plan.queuePairs.begin(), plan.queuePairs.end(), [this](uint32_t pair) {
               return m_transport->IsSelfContained(pair);
           });
}

void
Repetition::EnterBuffers(uint32_t id)
{
    for (const uint32_t buffer : m_communications[id].plan->buffers)
    {
        m_users[buffer].push_back(id);
    }
}

void
Repetition::LeaveBuffers(uint32_t id)
{
    for (const uint32_t buffer : m_communications[id].plan->buffers)
    {
        std::vector<uint32_t>& users = m_users[buffer];
        const auto found = std::find(users.begin(), users.end(), id);
        if (found != users.end())
        {
            users.erase(found);
        }
    }
}

std::vector<uint32_t>
Repetition::FindUsers(const std::vector<uint32_t>& buffers) const
{
    std::vector<uint32_t> components;
    for (const uint32_t buffer : buffers)
    {
        for (const uint32_t user : m_users[buffer])
        {
            components.push_back(m_communications[user].component);
        }
    }
    SortUnique(components);
    return components;
}

std::vector<uint32_t>
Repetition::FindSharers(uint32_t id) const
{
    const auto maySend = [this](uint32_t other) {
        const Component& component = m_components[other];
        const bool isFirstRank = component.state == State::HELD &&
                                 FindOnlyRank(component.communications.front()) != NO_ID;
        return component.state != State::WAITING && !isFirstRank; // nobody grants it room yet
    };
    std::vector<uint32_t> buffers;
    for (const uint32_t one : m_components[id].communications)
    {
        const std::vector<uint32_t>& used = m_communications[one].plan->buffers;
        buffers.insert(buffers.end(), used.begin(), used.end());
    }
    const std::vector<uint32_t> sharers = FindUsers(buffers);
    std::vector<uint32_t> found;
    std::copy_if(sharers.begin(), sharers.end(), std::back_inserter(found), [&](uint32_t other) {
        return other != id && maySend(other);
    });
    return found;
}

bool
Repetition::AreEqual(const Component& one, const Component& other) const
{
    const auto isLate = [](const Component& component) {
        return component.state == State::POSTPONED || component.state == State::AWAITED;
    };
    const bool isOpen = one.state != State::EXECUTED && one.state != State::RECORDED;
    return isOpen && isLate(other) && one.key == other.key;
}

bool
Repetition::ExecuteUnknown(uint32_t id)
{
    bool isLate = false;
    for (const uint32_t other : FindSharers(id))
    {
        const Component& component = m_components[other];
        const bool isOver = std::all_of(component.communications.begin(),
                                        component.communications.end(),
                                        [this](uint32_t one) { return IsDone(one); });
        if (component.state == State::REPEATED || isOver)
        {
            Release(other, m_fabric->GetTimePs());
            continue;
        }
        if (AreEqual(m_components[id], component))
        {
            continue;
        }
        if (component.state == State::HELD)
        {
            isLate = Execute(other) || isLate;
        }
        else if (component.state == State::POSTPONED || component.state == State::AWAITED)
        {
            GiveUpRehearsal(other);
            Record(other);
            isLate = true;
        }
    }
    return isLate;
}

bool
Repetition::OwnsBuffers(uint32_t id) const
{
    const std::vector<uint32_t> sharers = FindSharers(id);
    return std::all_of(sharers.begin(), sharers.end(), [&](uint32_t other) {
        return AreEqual(m_components[id], m_components[other]);
    });
}

void
Repetition::CallForChance(CallKind kind, uint32_t value)
{
    if (m_isAlone)
    {
        throw std::runtime_error("what happens depends on more than a key");
    }
    SetCall(kind, value, m_fabric->GetTimePs());
}

void
Repetition::HandleDraw(LinkId link)
{
    const uint32_t owner = m_owner[link];
    if (owner != NO_ID && m_components[owner].state == State::RECORDED)
    {
        Execute(owner); // what follows it may have other luck
    }
}

void
Repetition::HandleContention(uint32_t buffer)
{
    for (const uint32_t id : FindUsers({buffer}))
    {
        if (m_components[id].state == State::REPEATED)
        {
            Release(id, m_fabric->GetTimePs());
        }
        if (std::binary_search(m_open.begin(), m_open.end(), id))
        {
            Execute(id);
        }
    }
}

} // namespace proteus
} // namespace ns3
