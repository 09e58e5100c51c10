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

uint32_t
MaxMinSolver::AddResource(double capacity)
{
    Resource resource;
    resource.whole = capacity;
    m_resources.push_back(resource);
    return static_cast<uint32_t>(m_resources.size() - 1);
}

uint32_t
MaxMinSolver::AddFlow(double limit)
{
    m_limits.push_back(limit);
    m_firstUse.push_back(static_cast<uint32_t>(m_uses.size()));
    return static_cast<uint32_t>(m_limits.size() - 1);
}

void
MaxMinSolver::AddUse(uint32_t resource, double amount, bool comesFirst)
{
    m_uses.push_back({resource, amount, comesFirst});
    m_hasFirst |= comesFirst;
}

void
MaxMinSolver::Freeze(uint32_t flow, double rate)
{
    m_rates[flow] = rate;
    for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
    {
        const Use& use = m_uses[i];
        if (!HoldsBack(use))
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
MaxMinSolver::ListUsers()
{
    for (Resource& resource : m_resources)
    {
        resource.capacity = resource.whole;
        resource.rising = 0;
        resource.nRising = 0;
    }
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            const Use& use = m_uses[i];
            Resource& resource = m_resources[use.resource];
            if (HoldsBack(use))
            {
                resource.rising += use.amount;
                ++resource.nRising;
            }
            else
            {
                resource.capacity = std::max(resource.capacity - use.amount * m_before[flow],
                                             LEAST_LEFT * resource.whole);
            }
        }
    }
    uint32_t users = 0;
    m_fill.clear();
    m_byLevel.clear();
    for (uint32_t id = 0; id < m_resources.size(); ++id)
    {
        Resource& resource = m_resources[id];
        resource.firstUser = users;
        m_fill.push_back(users);
        users += resource.nRising;
        if (resource.nRising > 0)
        {
            m_byLevel.emplace_back(GetLevel(resource), id);
        }
    }
    m_users.resize(users);
    m_byLimit.clear();
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            if (HoldsBack(m_uses[i]))
            {
                m_users[m_fill[m_uses[i].resource]++] = flow;
            }
        }
        if (m_limits[flow] < std::numeric_limits<double>::infinity())
        {
            m_byLimit.emplace_back(m_limits[flow], flow);
        }
        else if (m_firstUse[flow] == m_firstUse[flow + 1])
        {
            throw std::invalid_argument("max-min: flow " + std::to_string(flow) +
                                        " has no limit and uses nothing");
        }
    }
    std::make_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
    std::sort(m_byLimit.begin(), m_byLimit.end());
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
    m_rates.assign(GetNFlows(), -1);
    m_held.assign(GetNFlows(), NO_ID);
    ListUsers();
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
        const uint32_t full = m_byLevel.front().second;
        std::pop_heap(m_byLevel.begin(), m_byLevel.end(), LATER);
        m_byLevel.pop_back();
        reached = std::max(reached, level);
        const std::size_t end =
            full + 1 < m_resources.size() ? m_resources[full + 1].firstUser : m_users.size();
        for (std::size_t i = m_resources[full].firstUser; i < end; ++i)
        {
            if (m_rates[m_users[i]] < 0)
            {
                Freeze(m_users[i], std::min(reached, m_limits[m_users[i]]));
                m_held[m_users[i]] = full;
                --left;
            }
        }
    }
}

bool
MaxMinSolver::IsHeldByFirst() const
{
    // A flow at its limit is held by nothing else; another one by a resource that has nothing
    // left, of which nobody who has to share it gets more.
    std::vector<double> largest(m_resources.size(), 0);
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        for (uint32_t i = m_firstUse[flow]; i < m_firstUse[flow + 1]; ++i)
        {
            const Use& use = m_uses[i];
            largest[use.resource] = use.comesFirst ? largest[use.resource]
                                                   : std::max(largest[use.resource], m_rates[flow]);
        }
    }
    for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
    {
        bool isHeld = m_rates[flow] >= m_limits[flow] * (1 - SAME);
        for (uint32_t i = m_firstUse[flow]; !isHeld && i < m_firstUse[flow + 1]; ++i)
        {
            const Resource& resource = m_resources[m_uses[i].resource];
            isHeld = !m_uses[i].comesFirst && resource.capacity <= SAME * resource.whole &&
                     largest[m_uses[i].resource] <= m_rates[flow] * (1 + SAME);
        }
        if (!isHeld)
        {
            return true;
        }
    }
    return false;
}

void
MaxMinSolver::Solve()
{
    m_firstUse.push_back(static_cast<uint32_t>(m_uses.size()));
    m_isSplit = false;
    Fill();
    if (m_hasFirst && IsHeldByFirst())
    {
        m_isSplit = true;
        bool hasChanged = true;
        for (uint32_t turn = 0; hasChanged && turn < MAX_TURNS; ++turn)
        {
            m_before = m_rates;
            Fill();
            hasChanged = false;
            for (uint32_t flow = 0; flow < GetNFlows(); ++flow)
            {
                hasChanged |= std::abs(m_rates[flow] - m_before[flow]) > SAME * m_before[flow];
            }
        }
    }
    m_firstUse.pop_back();
}

} // namespace proteus
} // namespace ns3
