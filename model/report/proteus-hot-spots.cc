/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hot-spots.h"

#include "proteus-tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double LEAST_HELD_SHARE = 0.01;
constexpr double LEAST_DRAIN_S = 10e-6;
constexpr double GIGA = 1e9;

double
GetHeldShare(const LinkUse& use)
{
    return std::min(1.0, use.pausedShare + use.creditStallShare);
}

double
GetDrainS(const LinkUse& use)
{
    return use.rateBytesPerSecond > 0
               ? static_cast<double>(use.maxQueueBytes) / use.rateBytesPerSecond
               : 0;
}

VertexId
GetFrom(const Cluster& cluster, const LinkUse& use)
{
    const Link& link = cluster.GetLinks()[use.link];
    return use.forward ? link.a : link.b;
}

VertexId
GetTo(const Cluster& cluster, const LinkUse& use)
{
    return cluster.GetLinks()[use.link].Other(GetFrom(cluster, use));
}

bool
IsSwitch(VertexKind kind)
{
    return kind == VertexKind::SWITCH || kind == VertexKind::NVSWITCH ||
           kind == VertexKind::PCIE_SWITCH;
}

/// Directions by the vertex that they leave.
using UsesByVertex = std::multimap<VertexId, const LinkUse*>;

/// @return the direction to blame for what holds `use` up; null: the device at the end of `at`
const LinkUse*
FindCause(const Cluster& cluster, const UsesByVertex& uses, const LinkUse& use, VertexId& at)
{
    const LinkUse* held = &use;
    std::set<VertexId> seen;
    while (true)
    {
        at = GetTo(cluster, *held);
        if (!seen.insert(at).second)
        {
            return held; // a circle: each is to blame
        }
        const LinkUse* next = nullptr;
        const auto range = uses.equal_range(at);
        for (auto i = range.first; i != range.second; ++i)
        {
            const LinkUse& candidate = *i->second;
            const auto rank = [](const LinkUse& u) {
                return std::make_tuple(GetHeldShare(u) + u.utilisation, GetDrainS(u));
            };
            if (candidate.link != held->link && (!next || rank(candidate) > rank(*next)))
            {
                next = &candidate;
            }
        }
        if (!next || cluster.GetVertices()[at].kind == VertexKind::GPU)
        {
            return nullptr; // the end of the way takes no more
        }
        if (GetHeldShare(*next) <= next->utilisation)
        {
            return next;
        }
        held = next;
    }
}

std::string
DescribeHolding(const LinkUse& use)
{
    std::string text;
    if (use.pausedShare >= LEAST_HELD_SHARE)
    {
        text = "is paused " + FormatPercent(use.pausedShare) + " of the time (" +
               FormatCount(use.pauses) + " pauses)";
    }
    if (use.creditStallShare >= LEAST_HELD_SHARE)
    {
        text += text.empty() ? "" : " and ";
        text += "waits for room at its end " + FormatPercent(use.creditStallShare) + " of the time";
    }
    return text;
}

std::string
DescribeQueue(const LinkUse& use)
{
    return "up to " + FormatBytes(static_cast<double>(use.maxQueueBytes)) + " wait for it, " +
           FormatTime(GetDrainS(use)) + " at its " +
           FormatNumber(use.rateBytesPerSecond / GIGA, 2) + " GB/s, while it is busy " +
           FormatPercent(use.utilisation) + " of the iteration";
}

} // namespace

std::vector<HotSpot>
FindHotSpots(const Cluster& cluster, const std::vector<LinkUse>& uses, std::size_t n)
{
    UsesByVertex byVertex;
    for (const LinkUse& use : uses)
    {
        byVertex.emplace(GetFrom(cluster, use), &use);
    }
    std::vector<HotSpot> spots;
    for (const LinkUse& use : uses)
    {
        HotSpot spot;
        spot.heldShare = GetHeldShare(use);
        const bool isHeld = spot.heldShare >= LEAST_HELD_SHARE;
        const bool isSwitch = IsSwitch(cluster.GetVertices()[GetFrom(cluster, use)].kind);
        spot.drainS = isSwitch ? GetDrainS(use) : 0;
        if (!isHeld && spot.drainS < LEAST_DRAIN_S)
        {
            continue;
        }
        spot.link = use;
        spot.cause = use.name;
        if (isHeld)
        {
            VertexId at = 0;
            const LinkUse* cause = FindCause(cluster, byVertex, use, at);
            spot.cause = cause ? cause->name : cluster.GetVertices()[at].name;
            spot.sentence =
                use.name + " " + DescribeHolding(use) + ", because of " + spot.cause +
                (cause ? ": " + DescribeQueue(*cause) : ", which takes no more at a time") + ".";
        }
        else
        {
            spot.sentence = use.name + " is a bottleneck: " + DescribeQueue(use) + ".";
        }
        spots.push_back(std::move(spot));
    }
    std::stable_sort(spots.begin(), spots.end(), [](const HotSpot& a, const HotSpot& b) {
        const bool aHeld = a.heldShare >= LEAST_HELD_SHARE;
        const bool bHeld = b.heldShare >= LEAST_HELD_SHARE;
        return aHeld != bHeld ? aHeld : aHeld ? a.heldShare > b.heldShare : a.drainS > b.drainS;
    });
    spots.resize(std::min(n, spots.size()));
    return spots;
}

std::string
DescribeCongestion(const std::vector<LinkUse>& uses, const std::vector<HotSpot>& spots)
{
    if (!spots.empty())
    {
        return spots.front().sentence;
    }
    if (uses.empty())
    {
        return "Nothing is known of the links.";
    }
    if (std::all_of(uses.begin(), uses.end(), [](const LinkUse& use) { return use.packets == 0; }))
    {
        return "Queues, pauses and credits are known at packet level only.";
    }
    return "No link holds others up: none is paused or short of credits for " +
           FormatPercent(LEAST_HELD_SHARE) + " of the time, and no queue in a switch takes " +
           FormatTime(LEAST_DRAIN_S) + " to drain.";
}

} // namespace proteus
} // namespace ns3
