/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What is left of a collective when its last rank joins.

#include "proteus-flow-classes.h"
#include "proteus-flow-profile.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Messages of a program that is replayed for each way in which its ranks are late.
constexpr uint64_t MOST_LATE_MESSAGES = 20000;
/// Parts of the time alone that ranks are late by: ways that differ by less are one.
constexpr int64_t LATE_STEPS = 128;

/// @param flows a class @param remains from when the last rank joins to its end, picoseconds
/// @param rankEnds the same by rank; negative: no part @return what is left of it
LateClass
MakeLateClass(const FlowClass& flows, double remains, const std::vector<double>& rankEnds)
{
    const double longest =
        static_cast<double>(*std::max_element(flows.afterPs.begin(), flows.afterPs.end()));
    const double fixed =
        std::min(remains, static_cast<double>(flows.beforePs) + std::max(0.0, longest));
    double lead = 0;
    for (const double rankEnd : rankEnds)
    {
        lead = rankEnd > 0 ? std::max(lead, remains - rankEnd) : lead;
    }
    lead = std::min(lead, fixed);
    LateClass late;
    for (const double rankEnd : rankEnds)
    {
        late.afterPs.push_back(rankEnd > 0 ? std::llround(std::max(0.0, lead - (remains - rankEnd)))
                                           : -1);
    }
    late.bytes = std::min(flows.bytes, (remains - lead) / PS_PER_SECOND * flows.rate);
    late.beforePs =
        std::llround(std::max(0.0, remains - lead - late.bytes / flows.rate * PS_PER_SECOND));
    late.early =
        FindEarlyRanks(rankEnds, static_cast<double>(late.beforePs), remains - lead, late.bytes);
    return late;
}

} // namespace

std::optional<ReplayName>
FlowProfiles::NameLate(TaskId id)
{
    const auto [place, isNew] = m_lateNames.try_emplace(NameProfile(id));
    if (isNew && CountMessages(FindShape(id).flows) <= MOST_LATE_MESSAGES)
    {
        const std::shared_ptr<const Part> whole = FindWhole(id);
        if (whole && whole->program->groups.empty())
        {
            const std::vector<uint32_t> routes = PlanRoutes(id, whole->flows);
            place->second = NameReplay(*whole->program,
                                       whole->flows,
                                       routes,
                                       m_routes,
                                       whole->costs,
                                       ClassifyFlows(whole->flows, routes, m_routes));
        }
    }
    return place->second;
}

const std::vector<LateClass>&
FlowProfiles::GetLate(TaskId id, const std::vector<int64_t>& joinsPs)
{
    static const std::vector<LateClass> none;
    const std::optional<ReplayName> name = NameLate(id);
    if (!name)
    {
        return none;
    }
    const int64_t step = std::max<int64_t>(1, Get(id).alonePs / LATE_STEPS);
    std::vector<int64_t> rounded;
    for (const int64_t joinPs : joinsPs)
    {
        rounded.push_back((joinPs + step / 2) / step * step);
    }
    const auto [place, isNew] = m_late.try_emplace({*name, rounded});
    if (isNew)
    {
        place->second = MakeLate(id, rounded);
    }
    return place->second;
}

std::vector<LateClass>
FlowProfiles::MakeLate(TaskId id, const std::vector<int64_t>& joinsPs)
{
    const CollectiveProfile& profile = Get(id);
    const std::shared_ptr<const Part> whole = FindWhole(id);
    const std::vector<uint32_t> routes = PlanRoutes(id, whole->flows);
    const auto ranks = static_cast<uint32_t>(joinsPs.size());
    ClassTimes times = AddUpClasses(ReplayProgram(*whole->program,
                                                  whole->flows,
                                                  routes,
                                                  m_routes,
                                                  whole->costs,
                                                  false,
                                                  m_goOn,
                                                  joinsPs),
                                    whole->flows,
                                    ClassifyFlows(whole->flows, routes, m_routes),
                                    static_cast<uint32_t>(profile.classes.size()),
                                    ranks);
    const auto last = static_cast<double>(*std::max_element(joinsPs.begin(), joinsPs.end()));
    std::vector<LateClass> late;
    for (std::size_t i = 0; i < profile.classes.size(); ++i)
    {
        for (double& rankEnd : times.rankEnds[i])
        {
            rankEnd -= last;
        }
        late.push_back(MakeLateClass(profile.classes[i],
                                     std::max(0.0, times.endPs[i] - last),
                                     times.rankEnds[i]));
    }
    return late;
}

} // namespace proteus
} // namespace ns3
