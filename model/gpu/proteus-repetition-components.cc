/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include <algorithm>
#include <cstddef>
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

void
Repetition::Own(uint32_t id, const std::vector<LinkId>& links)
{
    std::vector<LinkId>& all = m_components[id].links;
    for (const LinkId link : links)
    {
        m_owner[link] = id;
        all.push_back(link);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
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
    const auto isFree = [&](LinkId link) {
        return links.count(link) > 0 || m_fabric->GetRestPs(link) <= nowPs;
    };
    const auto isPairFree = [&](uint32_t pair) {
        return pairs.count(pair) > 0 || m_transport->GetRestPs(pair) <= nowPs;
    };
    std::vector<uint32_t> left;
    for (const uint32_t id : communications)
    {
        const RepetitionPlan& plan = *m_communications[id].plan;
        if (IsDone(id) && std::all_of(plan.links.begin(), plan.links.end(), isFree) &&
            std::all_of(plan.queuePairs.begin(), plan.queuePairs.end(), isPairFree))
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

void
Repetition::Shrink(uint32_t id, int64_t nowPs)
{
    const std::vector<uint32_t> all = m_components[id].communications;
    if (m_components[id].state != State::EXECUTED || all.size() < 2)
    {
        return;
    }
    const std::vector<uint32_t> left = ForgetWhatIsOver(all, nowPs);
    if (left.size() == all.size())
    {
        return;
    }
    for (const LinkId link : m_components[id].links)
    {
        m_owner[link] = NO_ID;
    }
    m_components[id].links.clear();
    uint32_t owner = id;
    for (const std::vector<uint32_t>& part : FindParts(left))
    {
        if (owner == NO_ID)
        {
            owner = m_components.Add(Component());
            m_open.insert(std::upper_bound(m_open.begin(), m_open.end(), owner), owner);
            m_components[owner].state = State::EXECUTED;
        }
        m_components[owner].communications = part;
        for (const uint32_t one : part)
        {
            m_communications[one].component = owner;
            Own(owner, m_communications[one].plan->links);
        }
        owner = NO_ID;
    }
}

int64_t
Repetition::GetRestPs(const Component& component) const
{
    int64_t restPs = LONG_AGO;
    for (const uint32_t id : component.communications)
    {
        for (const uint32_t pair : m_communications[id].plan->queuePairs)
        {
            restPs = std::max(restPs, m_transport->GetRestPs(pair));
        }
    }
    for (const LinkId link : component.links)
    {
        restPs = std::max(restPs, m_fabric->GetRestPs(link));
    }
    return restPs;
}

} // namespace proteus
} // namespace ns3
