/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

// Which communications share links, and are a component.

namespace ns3
{
namespace proteus
{

std::vector<uint32_t>
Repetition::FindOwners(const RepetitionPlan& plan) const
{
    std::vector<uint32_t> owners;
    for (const LinkId link : plan.links)
    {
        const uint32_t owner = m_owner[link];
        if (owner != NO_ID && std::find(owners.begin(), owners.end(), owner) == owners.end())
        {
            owners.push_back(owner);
        }
    }
    std::sort(owners.begin(), owners.end());
    return owners;
}

std::vector<uint32_t>
Repetition::ReleaseOwners(const RepetitionPlan& plan)
{
    for (const uint32_t owner : FindOwners(plan))
    {
        Release(owner, m_fabric->GetTimePs());
    }
    return FindOwners(plan);
}

void
Repetition::Own(uint32_t id, const std::vector<LinkId>& links)
{
    std::vector<LinkId>& all = m_components[id].links;
    for (const LinkId link : links)
    {
        m_owner[link] = id;
        all.push_back(link);
    }
    SortUnique(all);
}

void
Repetition::Merge(uint32_t from, uint32_t to)
{
    for (const uint32_t id : m_components[from].communications)
    {
        m_communications[id].component = to;
        m_components[to].communications.push_back(id);
    }
    const std::vector<LinkId> links = m_components[from].links;
    Own(to, links);
    m_components[from] = Component();
    m_components.GiveBack(from);
    m_open.erase(std::find(m_open.begin(), m_open.end(), from));
}

bool
Repetition::IsDone(uint32_t id) const
{
    return m_communications[id].nDone == m_communications[id].ranks.size();
}

void
Repetition::Forget(uint32_t id)
{
    m_index.erase({m_communications[id].task, m_communications[id].microBatch});
    LeaveBuffers(id);
    m_communications[id] = Communication();
    m_communications.GiveBack(id);
}

std::vector<std::vector<uint32_t>>
Repetition::FindParts(const std::vector<uint32_t>& communications) const
{
    std::vector<std::vector<uint32_t>> parts;
    std::vector<std::set<LinkId>> links; // by part
    for (const uint32_t id : communications)
    {
        const std::vector<LinkId>& own = m_communications[id].plan->links;
        std::vector<uint32_t> part{id};
        std::set<LinkId> all(own.begin(), own.end());
        for (std::size_t i = parts.size(); i-- > 0;)
        {
            const auto isShared = [&](LinkId link) { return links[i].count(link) > 0; };
            if (std::any_of(own.begin(), own.end(), isShared))
            {
                part.insert(part.begin(), parts[i].begin(), parts[i].end());
                all.insert(links[i].begin(), links[i].end());
                parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
                links.erase(links.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
        parts.push_back(std::move(part));
        links.push_back(std::move(all));
    }
    return parts;
}

std::vector<uint32_t>
Repetition::ForgetWhatIsOver(const std::vector<uint32_t>& communications, int64_t nowPs)
{
    std::set<LinkId> links; // of what is under way, as its queue pairs
    std::set<uint32_t> pairs;
    for (const uint32_t id : communications)
    {
        if (!IsDone(id))
        {
            const RepetitionPlan& plan = *m_communications[id].plan;
            links.insert(plan.links.begin(), plan.links.end());
            pairs.insert(plan.queuePairs.begin(), plan.queuePairs.end());
        }
    }
    const auto isUnderWay = [&](uint32_t pair) { return pairs.count(pair) > 0; };
    const auto isPairFree = [&](uint32_t pair) {
        return isUnderWay(pair) || m_transport->GetRestPs(pair) <= nowPs;
    };
    const auto areLinksFree = [&](const RepetitionPlan& plan) {
        // On a link of what is under way, something may still be on its way to other links.
        std::vector<uint32_t> own;
        std::remove_copy_if(plan.queuePairs.begin(),
                            plan.queuePairs.end(),
                            std::back_inserter(own),
                            isUnderWay);
        return std::all_of(plan.links.begin(), plan.links.end(), [&](LinkId link) {
            return m_fabric->GetRestPs(link) <= nowPs ||
                   (links.count(link) > 0 && !m_fabric->Carries(link, own));
        });
    };
    std::vector<uint32_t> left;
    for (const uint32_t id : communications)
    {
        const RepetitionPlan& plan = *m_communications[id].plan;
        if (IsDone(id) && std::all_of(plan.queuePairs.begin(), plan.queuePairs.end(), isPairFree) &&
            areLinksFree(plan))
        {
            Forget(id);
        }
        else
        {
            left.push_back(id);
        }
    }
    return left;
}

uint32_t
Repetition::FindOnlyRank(uint32_t id) const
{
    const Communication& communication = m_communications[id];
    uint32_t only = NO_ID;
    for (std::size_t i = 0; i < communication.ranks.size(); ++i)
    {
        if (communication.hasBegun[i])
        {
            if (only != NO_ID)
            {
                return NO_ID;
            }
            only = communication.ranks[i];
        }
    }
    return only;
}

bool
Repetition::IsWaiting(uint32_t id, int64_t nowPs) const
{
    const RepetitionPlan& plan = *m_communications[id].plan;
    const uint32_t rank = plan.repeats ? FindOnlyRank(id) : NO_ID;
    return rank != NO_ID && m_user.IsWaiting(rank) && GetRestPs(plan) <= nowPs;
}

void
Repetition::SetExecuted(uint32_t id, const std::vector<uint32_t>& communications, State state)
{
    if (id == NO_ID)
    {
        id = m_components.Add(Component());
        m_open.insert(std::upper_bound(m_open.begin(), m_open.end(), id), id);
    }
    m_components[id].state = state;
    m_components[id].communications = communications;
    for (const uint32_t one : communications)
    {
        m_communications[one].component = id;
        if (state == State::EXECUTED)
        {
            Own(id, m_communications[one].plan->links);
        }
    }
}

void
Repetition::Shrink(uint32_t id, int64_t nowPs)
{
    const std::vector<uint32_t> all = m_components[id].communications;
    if (m_components[id].state != State::EXECUTED)
    {
        return;
    }
    std::vector<uint32_t> active = ForgetWhatIsOver(all, nowPs);
    const auto firstWaiting =
        std::stable_partition(active.begin(), active.end(), [&](uint32_t one) {
            return !IsWaiting(one, nowPs);
        });
    const std::vector<uint32_t> waiting(firstWaiting, active.end());
    active.erase(firstWaiting, active.end());
    if (active.size() == all.size())
    {
        return;
    }
    for (const LinkId link : m_components[id].links)
    {
        m_owner[link] = NO_ID;
    }
    m_components[id].links.clear();
    uint32_t own = id;
    for (const std::vector<uint32_t>& part : FindParts(active))
    {
        SetExecuted(own, part, State::EXECUTED);
        own = NO_ID;
    }
    for (const uint32_t one : waiting)
    {
        SetExecuted(own, {one}, State::WAITING);
        own = NO_ID;
    }
}

int64_t
Repetition::GetRestPs(const RepetitionPlan& plan) const
{
    int64_t restPs = LONG_AGO;
    for (const uint32_t pair : plan.queuePairs)
    {
        restPs = std::max(restPs, m_transport->GetRestPs(pair));
    }
    for (const LinkId link : plan.links)
    {
        restPs = std::max(restPs, m_fabric->GetRestPs(link));
    }
    return restPs;
}

int64_t
Repetition::GetRestPs(const Component& component) const
{
    int64_t restPs = LONG_AGO;
    for (const uint32_t id : component.communications)
    {
        restPs = std::max(restPs, GetRestPs(*m_communications[id].plan));
    }
    return restPs;
}

} // namespace proteus
} // namespace ns3
