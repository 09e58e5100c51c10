/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fluid-ends.h"

#include "proteus-fluid-queues.h"

#include <algorithm>
#include <limits>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which more must be wanted than there is.
constexpr double ROUNDING = 1e-6;

} // namespace

FluidEnds::FluidEnds(const std::vector<FlowResource>& resources)
    : m_resources(resources)
{
}

void
FluidEnds::Add(Side side,
               const FluidStream& stream,
               uint32_t nic,
               double rate,
               double wire,
               const Uses& uses)
{
    for (const auto& [resource, amount] : uses)
    {
        End& end = m_ends[resource];
        end.capacity = m_resources[resource].capacity;
        auto& all = end.uses[side];
        const auto place =
            std::upper_bound(all.begin(), all.end(), nic, [](uint32_t value, const Use& use) {
                return value < use.nic;
            });
        all.insert(place, {&stream, nic, rate, wire, amount});
    }
    m_isKnown = m_isKnown && uses.empty();
}

void
FluidEnds::Remove(const Uses& uses)
{
    for (const auto& entry : uses)
    {
        for (auto& all : m_ends[entry.first].uses)
        {
            all.erase(std::remove_if(all.begin(),
                                     all.end(),
                                     [](const Use& use) { return use.stream->isGone; }),
                      all.end());
        }
    }
    m_isKnown = m_isKnown && uses.empty();
}

bool
FluidEnds::IsOver(const End& end, bool isEver)
{
    double wanted = 0;
    for (const auto& uses : end.uses)
    {
        for (auto first = uses.begin(); first != uses.end();)
        {
            double passes = 0;
            double takes = 0;
            auto last = first;
            for (; last != uses.end() && last->nic == first->nic; ++last)
            {
                const double rate = isEver ? last->stream->flow->source : last->stream->GetRate();
                passes += rate * last->wire;
                takes += rate * last->amount;
            }
            wanted += passes > first->nicRate ? takes * first->nicRate / passes : takes;
            first = last;
        }
    }
    return wanted > end.capacity * (1 + ROUNDING);
}

bool
FluidEnds::IsWanted()
{
    return IsScarce(SINK) && std::any_of(m_scarce.begin(), m_scarce.end(), [](const End* end) {
               return end->nNics[SINK] > 0 && IsOver(*end, false);
           });
}

bool
FluidEnds::IsWanted(const std::vector<Newcomer>& newcomers) const
{
    std::map<uint32_t, End> ends; // those that they use, with what does already
    for (const Newcomer& newcomer : newcomers)
    {
        for (const auto& [resource, amount] : *newcomer.uses)
        {
            const auto [place, isNew] = ends.try_emplace(resource);
            const auto found = isNew ? m_ends.find(resource) : m_ends.end();
            if (found != m_ends.end())
            {
                place->second = found->second;
            }
            place->second.capacity = m_resources[resource].capacity;
            place->second.uses[newcomer.side].push_back(
                {newcomer.stream, newcomer.nic, newcomer.rate, newcomer.wire, amount});
        }
    }
    return std::any_of(ends.begin(), ends.end(), [](auto& entry) {
        for (auto& uses : entry.second.uses)
        {
            std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
                return a.nic < b.nic;
            });
        }
        return !entry.second.uses[SINK].empty() && IsOver(entry.second, false);
    });
}

bool
FluidEnds::IsScarce(Side side)
{
    if (!m_isKnown)
    {
        FindScarce();
    }
    return !m_groups[side].empty();
}

void
FluidEnds::FindScarce()
{
    m_isKnown = true;
    m_scarce.clear();
    m_rooms.clear();
    std::vector<uint32_t> resources;
    for (const auto& entry : m_ends)
    {
        resources.push_back(entry.first);
    }
    std::sort(resources.begin(), resources.end());
    for (const uint32_t resource : resources)
    {
        if (IsOver(m_ends[resource], true))
        {
            m_scarce.push_back(&m_ends[resource]);
        }
        else
        {
            m_ends[resource].idleS = 0;
        }
    }
    for (const Side side : {SOURCE, SINK})
    {
        auto& groups = m_groups[side];
        groups.clear();
        for (uint32_t id = 0; id < m_scarce.size(); ++id)
        {
            const auto& uses = m_scarce[id]->uses[side];
            m_scarce[id]->nNics[side] = 0;
            m_scarce[id]->took = 0;
            for (uint32_t first = 0, last = 0; first < uses.size(); first = last)
            {
                while (last < uses.size() && uses[last].nic == uses[first].nic)
                {
                    ++last;
                }
                groups.push_back({uses[first].nic, id, first, last});
                ++m_scarce[id]->nNics[side];
            }
        }
        std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
            return a.nic < b.nic;
        });
    }
}

double
FluidEnds::FindRoom(const End& end, Side side, double most, double seconds)
{
    // Those that send leave what is to be received, but not more than its turns.
    const double part = end.nNics[SINK] / static_cast<double>(end.nNics[SOURCE] + end.nNics[SINK]);
    const double others = side == SINK ? end.took
                          : part > 0   ? std::min(end.comes * seconds, part * most)
                                       : 0;
    return std::max(most - others, ROUNDING * most);
}

void
FluidEnds::Share(Side side,
                 double seconds,
                 const std::function<FluidDemand(uint32_t nic)>& getDemand,
                 const std::function<double(const FluidStream& stream)>& getBytes,
                 const std::function<double(const FluidStream& stream)>& getCreditS)
{
    m_rooms.clear();
    m_solver.Clear();
    std::vector<double> most;
    std::vector<double> rooms;
    std::vector<double> wanted(m_scarce.size(), 0);
    for (const End* end : m_scarce)
    {
        double creditS = 0;
        for (const Use& use : end->uses[side])
        {
            creditS = std::max(creditS, getCreditS(*use.stream));
        }
        most.push_back(end->capacity * (seconds + std::min(creditS, end->idleS)));
        rooms.push_back(FindRoom(*end, side, most.back(), seconds));
        m_solver.AddResource(rooms.back());
    }
    std::vector<std::pair<uint32_t, double>> nics; // those that have something, and what is allowed
    bool isOver = false;
    for (const Group& group : m_groups[side])
    {
        const FluidDemand demand = getDemand(group.nic);
        if (demand.allowed <= 0)
        {
            continue;
        }
        if (nics.empty() || nics.back().first != group.nic)
        {
            nics.emplace_back(group.nic, demand.allowed);
            m_solver.AddFlow(demand.allowed);
        }
        double takes = 0;
        for (uint32_t use = group.first; use < group.last; ++use)
        {
            const Use& found = m_scarce[group.end]->uses[side][use];
            takes += getBytes(*found.stream) * found.amount;
        }
        if (takes > 0)
        {
            m_solver.AddUse(group.end, takes / demand.wanted);
            wanted[group.end] += takes / demand.wanted * demand.allowed;
            isOver |= wanted[group.end] > rooms[group.end] * (1 + ROUNDING);
        }
    }
    for (std::size_t i = 0; i < m_scarce.size(); ++i)
    {
        End& end = *m_scarce[i];
        const double takes = std::min(wanted[i], rooms[i]);
        if (side == SOURCE)
        {
            end.took = takes;
        }
        else
        {
            end.comes = wanted[i] / seconds;
        }
        if (side == SINK || end.nNics[SINK] == 0)
        {
            end.idleS =
                std::max(0.0, most[i] - takes - (side == SINK ? end.took : 0)) / end.capacity;
        }
    }
    if (!isOver)
    {
        return;
    }
    m_solver.Solve();
    for (uint32_t i = 0; i < nics.size(); ++i)
    {
        const double room = m_solver.GetRate(i);
        if (room < nics[i].second * (1 - ROUNDING))
        {
            m_rooms[nics[i].first] = room;
        }
    }
}

double
FluidEnds::GetRoom(uint32_t nic) const
{
    const auto found = m_rooms.find(nic);
    return found == m_rooms.end() ? std::numeric_limits<double>::infinity() : found->second;
}

} // namespace proteus
} // namespace ns3
