/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fair-solution.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which a rate or what is left of a resource counts as the same.
constexpr double SAME = 1e-7;
/// Part of a resource that there is at least for those whose rates are computed, so that they have
/// some while others are found that must give way.
constexpr double LEAST_ROOM = 0.01;
/// Times that users are added by what holds them before all that may be concerned are.
constexpr uint32_t MAX_ROUNDS = 8;

} // namespace

void
FairSolution::SetWeight(uint32_t user, double weight)
{
    m_users.resize(std::max<std::size_t>(m_users.size(), user + 1));
    m_users[user].nextWeight = weight;
}

void
FairSolution::SetCap(uint32_t user, double rate)
{
    m_users.resize(std::max<std::size_t>(m_users.size(), user + 1));
    m_users[user].cap = rate;
}

double
FairSolution::GetOutside(uint32_t id) const
{
    const Resource& resource = m_resources[id];
    return resource.nInside == m_table.resources[id].nFlows ? 0 : resource.outside;
}

double
FairSolution::GetRoom(uint32_t id) const
{
    const double capacity = m_table.resources[id].GetCapacity();
    return std::max(capacity - GetOutside(id), LEAST_ROOM * capacity);
}

bool
FairSolution::HasNothingLeft(uint32_t id) const
{
    return m_resources[id].after >= m_table.resources[id].GetCapacity() * (1 - SAME);
}

double
FairSolution::AddUpOthers(const SharedResource& resource) const
{
    double sum = 0;
    for (const SharedResource::Active& active : resource.active)
    {
        if (m_users[active.user].update != m_update)
        {
            sum += m_table.GetUse(active).amount * GetAllRates(active.user);
        }
    }
    return sum;
}

void
FairSolution::Take(uint32_t id)
{
    User& known = m_users[id];
    if (known.update == m_update)
    {
        return;
    }
    known.update = m_update;
    m_solved.push_back(id);
    const SharedUser& user = m_table.users[id];
    const double had = GetAllRates(id);
    for (const FlowUse& use : *user.uses)
    {
        Resource& resource = m_resources[use.resource];
        if (resource.update != m_update)
        {
            resource.update = m_update;
            resource.nInside = 0;
            resource.outside = 0;
            resource.isFull = m_table.resources[use.resource].isFull;
            if (resource.isFull)
            {
                m_touched.push_back(use.resource);
                resource.outside = AddUpOthers(m_table.resources[use.resource]);
            }
        }
        else
        {
            resource.outside -= use.amount * had;
        }
        resource.nInside += user.count;
    }
}

void
FairSolution::TakeHeld(uint32_t id)
{
    if (m_resources[id].nHeld > 0)
    {
        for (const SharedResource::Active& active : m_table.resources[id].active)
        {
            if (m_users[active.user].holder == id)
            {
                Take(active.user);
            }
        }
    }
}

void
FairSolution::TakeAll()
{
    for (std::size_t i = 0; i < m_touched.size(); ++i)
    {
        for (const SharedResource::Active& active : m_table.resources[m_touched[i]].active)
        {
            Take(active.user);
        }
    }
}

void
FairSolution::Solve()
{
    // In the order of their numbers, whatever way they were found.
    std::sort(m_solved.begin(), m_solved.end());
    m_solver.Clear();
    for (const uint32_t id : m_touched)
    {
        m_resources[id].number = m_solver.AddResource(GetRoom(id));
    }
    for (const uint32_t id : m_solved)
    {
        const SharedUser& user = m_table.users[id];
        if (user.count == 0)
        {
            continue;
        }
        const double weight = m_users[id].nextWeight;
        const double amount = static_cast<double>(user.count) * weight;
        m_solver.AddFlow(GetMostLevel(id));
        for (const FlowUse& use : *user.uses)
        {
            if (m_resources[use.resource].isFull)
            {
                m_solver.AddUse(m_resources[use.resource].number,
                                use.amount * amount,
                                use.comesFirst);
            }
        }
    }
    m_solver.Solve();
    m_levels.clear();
    uint32_t flow = 0;
    for (const uint32_t id : m_solved)
    {
        m_levels.push_back(m_table.users[id].count > 0 ? m_solver.GetRate(flow++) : 0);
    }
}

void
FairSolution::AddUp()
{
    for (const uint32_t id : m_touched)
    {
        Resource& resource = m_resources[id];
        resource.after = GetOutside(id);
        resource.inside = 0;
    }
    for (std::size_t i = 0; i < m_solved.size(); ++i)
    {
        const SharedUser& user = m_table.users[m_solved[i]];
        const double rate = user.count * m_levels[i] * m_users[m_solved[i]].nextWeight;
        for (const FlowUse& use : *user.uses)
        {
            Resource& resource = m_resources[use.resource];
            if (!resource.isFull)
            {
                continue;
            }
            resource.after += use.amount * rate;
            if (!use.comesFirst)
            {
                resource.inside = std::max(resource.inside, m_levels[i]);
            }
        }
    }
}

void
FairSolution::FindOthers(uint32_t id)
{
    Resource& resource = m_resources[id];
    const SharedResource& shared = m_table.resources[id];
    resource.largest = resource.inside;
    if (resource.nInside == shared.nFlows)
    {
        return;
    }
    const bool hasNothingLeft = HasNothingLeft(id);
    if (!hasNothingLeft && resource.nHeld == 0)
    {
        return;
    }
    const bool isOver = resource.after > shared.GetCapacity() * (1 + SAME);
    for (const SharedResource::Active& active : shared.active)
    {
        const User& user = m_users[active.user];
        if (user.update == m_update || m_table.GetUse(active).comesFirst)
        {
            continue;
        }
        const bool isHeld = user.holder == id;
        if (isOver || (isHeld && (!hasNothingLeft || resource.inside > user.level * (1 + SAME))))
        {
            m_others.push_back(active.user);
        }
        resource.largest = std::max(resource.largest, user.level);
    }
}

void
FairSolution::FindAbove(uint32_t id, double level)
{
    for (const SharedResource::Active& active : m_table.resources[id].active)
    {
        const User& user = m_users[active.user];
        if (user.update != m_update && user.level > level * (1 + SAME) &&
            !m_table.GetUse(active).comesFirst)
        {
            m_others.push_back(active.user);
        }
    }
}

uint32_t
FairSolution::FindHolder(uint32_t id, double level)
{
    const SharedUser& user = m_table.users[id];
    if (user.count == 0 || level >= GetMostLevel(id))
    {
        return NO_ID;
    }
    for (const FlowUse& use : *user.uses)
    {
        if (!use.comesFirst && m_resources[use.resource].isFull && HasNothingLeft(use.resource) &&
            m_resources[use.resource].largest <= level * (1 + SAME))
        {
            return use.resource;
        }
    }
    // If nobody has more of what it uses, rates have not settled: it is held by what has least
    // left.
    uint32_t tightest = NO_ID;
    double most = 0;
    for (const FlowUse& use : *user.uses)
    {
        if (use.comesFirst || !m_resources[use.resource].isFull)
        {
            continue;
        }
        const double part =
            m_resources[use.resource].after / m_table.resources[use.resource].GetCapacity();
        if (part > most)
        {
            most = part;
            tightest = use.resource;
        }
        if (HasNothingLeft(use.resource))
        {
            FindAbove(use.resource, level);
        }
    }
    return tightest;
}

bool
FairSolution::IsFair()
{
    AddUp();
    m_others.clear();
    for (const uint32_t id : m_touched)
    {
        FindOthers(id);
    }
    m_holders.clear();
    for (std::size_t i = 0; i < m_solved.size(); ++i)
    {
        m_holders.push_back(FindHolder(m_solved[i], m_levels[i]));
    }
    for (const uint32_t user : m_others)
    {
        Take(user);
    }
    return m_others.empty();
}

void
FairSolution::SetHolder(uint32_t id, uint32_t holder)
{
    User& known = m_users[id];
    if (known.holder != NO_ID)
    {
        --m_resources[known.holder].nHeld;
        --m_nHeld;
    }
    if (holder != NO_ID)
    {
        ++m_resources[holder].nHeld;
        ++m_nHeld;
    }
    known.holder = holder;
}

void
FairSolution::KeepUser(uint32_t id, double level, double weight, uint32_t holder)
{
    SetHolder(id, holder);
    m_users[id].level = level;
    m_users[id].weight = weight;
}

void
FairSolution::HoldOthers()
{
    const std::size_t nTouched = m_touched.size();
    for (std::size_t i = 0; i < nTouched; ++i)
    {
        const uint32_t id = m_touched[i];
        const Resource& resource = m_resources[id];
        if (resource.nInside == m_table.resources[id].nFlows || !HasNothingLeft(id))
        {
            continue;
        }
        for (const SharedResource::Active& active : m_table.resources[id].active)
        {
            const User& user = m_users[active.user];
            if (user.update != m_update && user.holder != NO_ID && user.holder > id &&
                resource.largest <= user.level * (1 + SAME) && !m_table.GetUse(active).comesFirst)
            {
                m_touched.push_back(user.holder);
                SetHolder(active.user, id);
            }
        }
    }
}

void
FairSolution::Keep()
{
    for (std::size_t i = 0; i < m_solved.size(); ++i)
    {
        const uint32_t id = m_solved[i];
        KeepUser(id, m_levels[i], m_users[id].nextWeight, m_holders[i]);
    }
    HoldOthers();
}

void
FairSolution::MakeRoom()
{
    m_users.resize(std::max(m_users.size(), m_table.users.GetNPlaces()));
    m_resources.resize(m_table.resources.size());
}

void
FairSolution::Update(const std::vector<uint32_t>& changed, const std::vector<uint32_t>& freed)
{
    ++m_update;
    MakeRoom();
    m_solved.clear();
    m_touched.clear();
    for (const uint32_t user : changed)
    {
        Take(user);
    }
    for (const uint32_t resource : freed)
    {
        TakeHeld(resource);
    }
    const std::size_t nFirst = m_solved.size();
    for (std::size_t i = 0; i < nFirst && m_nHeld > 0; ++i)
    {
        for (const FlowUse& use : *m_table.users[m_solved[i]].uses)
        {
            TakeHeld(use.resource);
        }
    }
    if (m_touched.empty())
    {
        KeepLimits();
        return;
    }
    Solve();
    for (uint32_t round = 0; !IsFair(); ++round)
    {
        if (round == MAX_ROUNDS)
        {
            TakeAll();
        }
        Solve();
    }
    Keep();
}

void
FairSolution::SetAlone(const std::vector<uint32_t>& changed)
{
    MakeRoom();
    m_touched.clear();
    m_solved = changed;
    KeepLimits();
}

void
FairSolution::KeepLimits()
{
    std::sort(m_solved.begin(), m_solved.end());
    for (const uint32_t id : m_solved)
    {
        const SharedUser& user = m_table.users[id];
        KeepUser(id, user.count > 0 ? GetMostLevel(id) : 0, m_users[id].nextWeight, NO_ID);
    }
}

void
FairSolution::Adopt(const FairSolution& other)
{
    MakeRoom();
    m_solved = other.m_solved;
    for (const uint32_t user : m_solved)
    {
        m_users[user].nextWeight = 1;
        KeepUser(user, other.m_users[user].level, 1, other.m_users[user].holder);
    }
}

void
FairSolution::Remove(uint32_t id)
{
    if (id < m_users.size())
    {
        KeepUser(id, 0, 1, NO_ID);
        m_users[id] = User();
    }
}

} // namespace proteus
} // namespace ns3
