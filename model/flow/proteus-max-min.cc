/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-max-min.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Levels that differ by less than this part are one: the flows at them stay together.
constexpr double EQUAL = 1e-12;
/// Part by which no rate changes any more in the end.
constexpr double SAME = 1e-7;
/// Turns of rates and leftovers at most; each has a small part of the change of the one before.
constexpr uint32_t MAX_TURNS = 30;
/// Part of the step before that a step has at most where steps are taken to go on like that.
constexpr double MOST_PART = 0.9;
/// Part of a resource that is always left by what comes first, so that nothing stops.
constexpr double LEAST_LEFT = 0.01;
/// Makes heaps whose lowest level is in front.
const std::greater<std::pair<double, uint32_t>> LATER;

} // namespace

void
MaxMinSolver::Clear()
{
    m_resources.clear();
    m_limits.clear();
    m_rates.clear();
    m_firstUse.clear();
    m_uses.clear();
    m_hasFirst = false;
}

void
MaxMinSolver::ListUsers()
{
    for (Resource& resource : m_resources)
    {
        resource.amounts = 0;
        resource.sharing = 0;
        resource.endSharing = 0;
        resource.endUser = 0;
    }
    for (const Use& use : m_uses)
    {
        Resource& resource = m_resources[use.resource];
        resource.amounts += use.amount;
        resource.sharing += use.comesFirst ? 0 : use.amount;
        resource.endSharing += use.comesFirst ? 0 : 1;
        ++resource.endUser;
    }
    uint32_t users = 0;
    for (Resource& resource : m_resources)
    {
        resource.firstUser = users;
        users += resource.endUser;
        resource.endUser = resource.firstUser + resource.endSharing;
        resource.endSharing = resource.firstUser;
    }
    m_users.resize(users);
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            const Use& use = m_uses[i];
            Resource& resource = m_resources[use.resource];
            m_users[use.comesFirst ? resource.endUser++ : resource.endSharing++] = {flow,
                                                                                    use.amount};
        }
    }
}

void
MaxMinSolver::Prepare()
{
    ListUsers();
    m_byLimit.clear();
    m_isActive.assign(m_resources.size(), false);
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        double least = std::numeric_limits<double>::infinity();
        uint32_t tightest = NO_ID;
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            const Use& use = m_uses[i];
            const Resource& resource = m_resources[use.resource];
            const double level = resource.whole / resource.amounts;
            if (!use.comesFirst && level < least)
            {
                least = level;
                tightest = use.resource;
            }
        }
        if (m_limits[flow] < std::numeric_limits<double>::infinity())
        {
            m_byLimit.emplace_back(m_limits[flow], flow);
        }
        else if (tightest == NO_ID)
        {
            throw std::invalid_argument("max-min: flow " + std::to_string(flow) +
                                        " has no limit and uses nothing");
        }
        if (least < m_limits[flow])
        {
            m_isActive[tightest] = true;
        }
    }
    std::sort(m_byLimit.begin(), m_byLimit.end());
    ListActive();
}

void
MaxMinSolver::ListActive()
{
    m_active.clear();
    m_firstActive.clear();
    m_activeIds.clear();
    for (uint32_t id = 0; id < m_resources.size(); ++id)
    {
        if (m_isActive[id])
        {
            m_activeIds.push_back(id);
        }
    }
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        m_firstActive.push_back(static_cast<uint32_t>(m_active.size()));
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            if (m_isActive[m_uses[i].resource])
            {
                m_active.push_back(m_uses[i]);
            }
        }
    }
    m_firstActive.push_back(static_cast<uint32_t>(m_active.size()));
}

void
MaxMinSolver::Freeze(uint32_t flow, double rate)
{
    m_rates[flow] = rate;
    for (uint32_t i = m_firstActive[flow]; i < m_firstActive[flow + 1]; ++i)
    {
        const Use& use = m_active[i];
        if (m_isSplit && use.comesFirst)
        {
            continue;
        }
        Resource& resource = m_resources[use.resource];
        resource.capacity -= use.amount * rate;
        // The last one takes all that is left of rounding, too.
        resource.rising = --resource.nRising == 0 ? 0 : resource.rising - use.amount;
    }
}

void
MaxMinSolver::SetLevels()
{
    m_byLevel.clear();
    for (const uint32_t id : m_activeIds)
    {
        Resource& resource = m_resources[id];
        resource.nRising = GetEndOfHeld(resource) - resource.firstUser;
        if (resource.nRising > 0)
        {
            resource.capacity = resource.shared;
            resource.rising = m_isSplit ? resource.sharing : resource.amounts;
            m_byLevel.emplace_back(GetLevel(resource), id);
        }
    }
    std::make_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
}

void
MaxMinSolver::SetShared(Resource& resource) const
{
    double first = 0;
    for (uint32_t i = GetEndOfHeld(resource); i < resource.endUser; ++i)
    {
        first += m_users[i].amount * m_before[m_users[i].flow];
    }
    resource.shared =
        first > 0 ? std::max(resource.whole - first, LEAST_LEFT * resource.whole) : resource.whole;
}

void
MaxMinSolver::SetAllShared()
{
    for (Resource& resource : m_resources)
    {
        SetShared(resource);
    }
}

double
MaxMinSolver::GetTaken(const Resource& resource) const
{
    double taken = 0;
    for (uint32_t i = resource.firstUser; i < GetEndOfHeld(resource); ++i)
    {
        taken += m_users[i].amount * m_rates[m_users[i].flow];
    }
    return taken;
}

double
MaxMinSolver::FindFull()
{
    while (!m_byLevel.empty())
    {
        const auto [noted, id] = m_byLevel.front();
        const Resource& resource = m_resources[id];
        const double now =
            resource.nRising == 0 ? std::numeric_limits<double>::infinity() : GetLevel(resource);
        // A level rises when flows below it stay behind: look again before it is believed.
        if (now <= noted * (1 + EQUAL))
        {
            return now;
        }
        std::pop_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
        m_byLevel.pop_back();
        if (resource.nRising > 0)
        {
            m_byLevel.emplace_back(now, id);
            std::push_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
        }
    }
    return std::numeric_limits<double>::infinity();
}

void
MaxMinSolver::Fill()
{
    SetAllShared();
    do
    {
        FillActive();
    } while (AddOverfull());
}

void
MaxMinSolver::FillActive()
{
    m_rates.assign(GetNFlows(), -1);
    SetLevels();
    std::size_t nextLimit = 0;
    uint32_t left = GetNFlows();
    double reached = 0; // levels only rise, whatever rounding says
    while (left > 0)
    {
        while (nextLimit < m_byLimit.size() && m_rates[m_byLimit[nextLimit].second] >= 0)
        {
            ++nextLimit;
        }
        const double level = FindFull();
        if (nextLimit < m_byLimit.size() && m_byLimit[nextLimit].first <= level)
        {
            reached = std::max(reached, m_byLimit[nextLimit].first);
            Freeze(m_byLimit[nextLimit].second, m_byLimit[nextLimit].first);
            --left;
            continue;
        }
        const Resource& full = m_resources[m_byLevel.front().second];
        std::pop_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
        m_byLevel.pop_back();
        reached = std::max(reached, level);
        for (uint32_t i = full.firstUser; i < GetEndOfHeld(full); ++i)
        {
            const uint32_t flow = m_users[i].flow;
            if (m_rates[flow] < 0)
            {
                Freeze(flow, std::min(reached, m_limits[flow]));
                --left;
            }
        }
    }
}

bool
MaxMinSolver::AddOverfull()
{
    bool hasNew = false;
    for (uint32_t id = 0; id < m_resources.size(); ++id)
    {
        if (!m_isActive[id] && GetTaken(m_resources[id]) > m_resources[id].shared * (1 + EQUAL))
        {
            m_isActive[id] = true;
            hasNew = true;
        }
    }
    if (hasNew)
    {
        ListActive();
    }
    return hasNew;
}

void
MaxMinSolver::FindLeft()
{
    for (Resource& resource : m_resources)
    {
        resource.capacity = resource.shared - GetTaken(resource);
        resource.largest = 0;
        for (uint32_t i = resource.firstUser; i < resource.endSharing; ++i)
        {
            resource.largest = std::max(resource.largest, m_rates[m_users[i].flow]);
        }
    }
}

bool
MaxMinSolver::IsHeld(uint32_t flow) const
{
    for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
    {
        const Use& use = m_uses[i];
        const Resource& resource = m_resources[use.resource];
        if (!use.comesFirst && resource.capacity <= SAME * resource.whole &&
            resource.largest <= m_rates[flow] * (1 + SAME))
        {
            return true;
        }
    }
    return false;
}

bool
MaxMinSolver::IsHeldByFirst()
{
    FindLeft();
    // A flow at its limit is held by nothing else; another one by a resource that has nothing
    // left, of which nobody who has to share it gets more.
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        if (m_rates[flow] < m_limits[flow] * (1 - SAME) && !IsHeld(flow))
        {
            return true;
        }
    }
    return false;
}

void
MaxMinSolver::Extrapolate()
{
    double before = 0;
    double both = 0;
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        const double step = m_rates[flow] - m_before[flow];
        before += m_step.empty() ? 0 : m_step[flow] * m_step[flow];
        both += m_step.empty() ? 0 : m_step[flow] * step;
    }
    if (before > 0 && std::abs(both) < MOST_PART * before)
    {
        const double part = both / before;
        for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
        {
            const double rest = (m_rates[flow] - m_before[flow]) * part / (1 - part);
            m_before[flow] = std::clamp(m_rates[flow] + rest, 0.0, m_limits[flow]);
        }
        m_step.clear();
        return;
    }
    m_step.clear();
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        m_step.push_back(m_rates[flow] - m_before[flow]);
    }
    m_before = m_rates;
}

bool
MaxMinSolver::HasSettled() const
{
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        if (std::abs(m_rates[flow] - m_before[flow]) > SAME * m_before[flow])
        {
            return false;
        }
    }
    return true;
}

void
MaxMinSolver::Alternate()
{
    m_isSplit = true;
    m_before = m_rates;
    m_step.clear();
    for (uint32_t turn = 0; turn < MAX_TURNS; ++turn)
    {
        for (const uint32_t id : m_activeIds)
        {
            SetShared(m_resources[id]);
        }
        FillActive();
        if (HasSettled())
        {
            SetAllShared();
            if (!AddOverfull())
            {
                return;
            }
        }
        Extrapolate();
    }
    Fill();
}

void
MaxMinSolver::Solve()
{
    m_firstUse.push_back(static_cast<uint32_t>(m_uses.size()));
    m_isSplit = false;
    Prepare();
    Fill();
    if (m_hasFirst && IsHeldByFirst())
    {
        Alternate();
    }
    m_firstUse.pop_back();
}

} // namespace proteus
} // namespace ns3
