/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Part of a class's bytes that is left at least when a rank ends early.
constexpr double LEAST_EARLY = 0.02;

} // namespace

uint64_t
CountMessages(const std::vector<ProgramFlow>& flows)
{
    uint64_t messages = 0;
    for (const ProgramFlow& flow : flows)
    {
        messages += flow.messages;
    }
    return messages;
}

std::vector<uint32_t>
ClassifyFlows(const std::vector<ProgramFlow>& flows,
              const std::vector<uint32_t>& routes,
              const FlowRoutes& all)
{
    std::map<uint32_t, bool> isNetwork; // by component
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        isNetwork[flows[i].component] |= all.GetRoute(routes[i]).isNetwork;
    }
    const bool mixed = std::any_of(isNetwork.begin(), isNetwork.end(), [&](const auto& entry) {
        return entry.second != isNetwork.begin()->second;
    });
    std::vector<uint32_t> classes;
    for (const ProgramFlow& flow : flows)
    {
        classes.push_back(mixed && isNetwork[flow.component] ? 1 : 0);
    }
    return classes;
}

std::vector<FlowClass>
MakeFlowClasses(const std::vector<ProgramFlow>& flows,
                const std::vector<uint32_t>& routes,
                const std::vector<uint32_t>& classOf,
                const std::vector<double>& limits,
                const FlowRoutes& all)
{
    std::vector<FlowClass> classes;
    for (const uint32_t id : classOf)
    {
        classes.resize(std::max<std::size_t>(classes.size(), id + 1));
    }
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        FlowClass& flowClass = classes[classOf[i]];
        flowClass.bytes = std::max(flowClass.bytes, static_cast<double>(flows[i].bytes));
    }
    std::vector<uint32_t> places(all.GetResources().size(), NO_ID); // among a class's uses
    std::vector<double> peaks(all.GetResources().size(), 0);
    for (uint32_t id = 0; id < classes.size(); ++id)
    {
        FlowClass& flowClass = classes[id];
        flowClass.linkRate = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            if (classOf[i] != id)
            {
                continue;
            }
            const FlowRoute& route = all.GetRoute(routes[i]);
            const double part = static_cast<double>(flows[i].bytes) / flowClass.bytes;
            flowClass.linkRate = std::min(flowClass.linkRate, route.limit / part);
            if (!limits.empty() && limits[i] > 0)
            {
                flowClass.linkRate = std::min(flowClass.linkRate, limits[i] / part);
            }
            double alone = std::min(route.limit, all.GetWays().GetLinkRate(route));
            alone = !limits.empty() && limits[i] > 0 ? std::min(alone, limits[i]) : alone;
            for (const FlowUse& use : route.uses)
            {
                peaks[use.resource] += alone * use.amount;
                uint32_t& place = places[use.resource];
                if (place == NO_ID)
                {
                    place = static_cast<uint32_t>(flowClass.uses.size());
                    flowClass.uses.push_back({use.resource, 0, 0, true});
                }
                FlowUse& sum = flowClass.uses[place];
                sum.comesFirst &= use.comesFirst;
                sum.amount += part * use.amount;
                sum.payload += part * use.payload;
            }
        }
        std::sort(flowClass.uses.begin(), flowClass.uses.end()); // by resource
        for (const FlowUse& use : flowClass.uses)
        {
            places[use.resource] = NO_ID;
            flowClass.peaks.push_back(std::exchange(peaks[use.resource], 0));
            flowClass.linkRate = std::min(flowClass.linkRate,
                                          all.GetResources()[use.resource].capacity / use.amount);
        }
    }
    return classes;
}

ClassTimes
AddUpClasses(const ReplayTimes& times,
             const std::vector<ProgramFlow>& flows,
             const std::vector<uint32_t>& classOf,
             uint32_t nClasses,
             uint32_t ranks)
{
    ClassTimes result;
    result.endPs.assign(nClasses, 0);
    result.rankEnds.assign(nClasses, std::vector<double>(ranks, -1));
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const auto sent = static_cast<double>(std::max(times.sentPs[i], times.senderStepPs[i]));
        const auto received =
            static_cast<double>(std::max(times.receivedPs[i], times.receiverStepPs[i]));
        auto& ends = result.rankEnds[classOf[i]];
        const auto note = [&ends](uint32_t rank, double end) {
            if (rank != NO_RANK)
            {
                ends[rank] = std::max(ends[rank], end);
            }
        };
        note(flows[i].from, sent);
        note(flows[i].to, received);
        for (const uint32_t member : flows[i].members)
        {
            note(member, flows[i].to == NO_RANK ? received : sent);
        }
        result.endPs[classOf[i]] = std::max({result.endPs[classOf[i]], sent, received});
    }
    if (nClasses == 1)
    {
        // Steps behind the last byte count, too.
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            const auto steps = static_cast<double>(times.stepsPs[rank]);
            double& end = result.rankEnds[0][rank];
            end = end < 0 ? end : std::max(end, steps);
            result.endPs[0] = std::max(result.endPs[0], steps);
        }
    }
    return result;
}

std::vector<EarlyRank>
FindEarlyRanks(const std::vector<double>& rankEnds, double beginPs, double endPs, double bytes)
{
    std::vector<EarlyRank> early;
    for (uint32_t rank = 0; rank < rankEnds.size() && endPs > beginPs; ++rank)
    {
        const double left = std::min(1.0, (endPs - rankEnds[rank]) / (endPs - beginPs));
        if (rankEnds[rank] > 0 && left > LEAST_EARLY)
        {
            early.push_back({rank, left * bytes});
        }
    }
    std::stable_sort(early.begin(), early.end(), [](const EarlyRank& a, const EarlyRank& b) {
        return a.left > b.left;
    });
    return early;
}

void
SetClassTimes(double alone,
              double end,
              double latency,
              const std::vector<double>& rankEnds,
              FlowClass& flowClass)
{
    const double least = flowClass.bytes / flowClass.linkRate * PS_PER_SECOND;
    flowClass.alonePs = std::llround(alone);
    flowClass.latencyPs = std::llround(latency);
    const double fixed = std::max(0.0, std::min(latency, alone - least));
    flowClass.rate =
        std::min(flowClass.linkRate, flowClass.bytes * PS_PER_SECOND / (alone - fixed));
    // Ranks that end early do so within the latencies behind the last byte.
    double lead = 0;
    for (const double rankEnd : rankEnds)
    {
        lead = rankEnd < 0 ? lead : std::max(lead, end - rankEnd);
    }
    lead = std::min(lead, fixed);
    for (const double rankEnd : rankEnds)
    {
        flowClass.afterPs.push_back(
            rankEnd < 0 ? -1 : std::llround(std::max(0.0, lead - (end - rankEnd))));
    }
    flowClass.beforePs = std::llround(fixed - lead);
    // The ends are those of a program of another size, perhaps.
    flowClass.early =
        FindEarlyRanks(rankEnds, (fixed - lead) * end / alone, end - lead, flowClass.bytes);
}

} // namespace proteus
} // namespace ns3
