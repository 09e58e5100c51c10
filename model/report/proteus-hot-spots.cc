/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hot-spots.h"

#include "proteus-plural.h"
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
               FormatThings(use.pauses, "pause") + ")";
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

/// @return the direction that leaves the end of another one and has the longest queue; null for
/// none
const LinkUse*
FindLongestQueue(const Cluster& cluster, const UsesByVertex& uses, const LinkUse& use)
{
    const LinkUse* longest = nullptr;
    const auto range = uses.equal_range(GetTo(cluster, use));
    for (auto i = range.first; i != range.second; ++i)
    {
        const LinkUse& candidate = *i->second;
        if (candidate.link != use.link && candidate.maxQueueBytes > 0 &&
            (!longest || GetDrainS(candidate) > GetDrainS(*longest)))
        {
            longest = &candidate;
        }
    }
    return longest;
}

/// @param packets some of those of @param use @return how many of how many
std::string
DescribePart(uint64_t packets, const LinkUse& use)
{
    constexpr int DECIMALS = 3;
    const double all = static_cast<double>(std::max<uint64_t>(use.packets, 1));
    return FormatCount(packets) + " of its " + FormatCount(use.packets) + " packets (" +
           FormatPercent(static_cast<double>(packets) / all, DECIMALS) + ")";
}

/// Says who is to blame for packets that did not arrive.
void
BlameForMissing(const Cluster& cluster, const UsesByVertex& uses, HotSpot& spot)
{
    const LinkUse& use = spot.link;
    spot.cause = use.name;
    spot.sentence = use.name;
    if (use.lostPackets > 0)
    {
        spot.sentence += " loses " + DescribePart(use.lostPackets, use) + " on the wire";
    }
    if (use.droppedPackets > 0)
    {
        const std::string& end = cluster.GetVertices()[GetTo(cluster, use)].name;
        const LinkUse* queue = FindLongestQueue(cluster, uses, use);
        spot.cause = queue ? queue->name : end;
        spot.sentence += (use.lostPackets > 0 ? " and has " : " has ") +
                         DescribePart(use.droppedPackets, use) + " dropped at " + end +
                         ", because of " + spot.cause +
                         (queue ? ": " + DescribeQueue(*queue) : ", which has no room or no way");
    }
    spot.sentence += ".";
}

/// Says who is to blame for a link that is held up.
void
BlameForHolding(const Cluster& cluster, const UsesByVertex& uses, HotSpot& spot)
{
    VertexId at = 0;
    const LinkUse* cause = FindCause(cluster, uses, spot.link, at);
    spot.cause = cause ? cause->name : cluster.GetVertices()[at].name;
    spot.sentence =
        spot.link.name + " " + DescribeHolding(spot.link) + ", because of " + spot.cause +
        (cause ? ": " + DescribeQueue(*cause) : ", which takes no more at a time") + ".";
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
        spot.missingPackets = use.lostPackets + use.droppedPackets;
        spot.heldShare = GetHeldShare(use);
        const bool isHeld = spot.heldShare >= LEAST_HELD_SHARE;
        const bool isSwitch = IsSwitch(cluster.GetVertices()[GetFrom(cluster, use)].kind);
        spot.drainS = isSwitch ? GetDrainS(use) : 0;
        if (spot.missingPackets == 0 && !isHeld && spot.drainS < LEAST_DRAIN_S)
        {
            continue;
        }
        spot.link = use;
        if (spot.missingPackets > 0)
        {
            BlameForMissing(cluster, byVertex, spot);
        }
        else if (isHeld)
        {
            BlameForHolding(cluster, byVertex, spot);
        }
        else
        {
            spot.cause = use.name;
            spot.sentence = use.name + " is a bottleneck: " + DescribeQueue(use) + ".";
        }
        spots.push_back(std::move(spot));
    }
    std::stable_sort(spots.begin(), spots.end(), [](const HotSpot& a, const HotSpot& b) {
        const bool aHeld = a.heldShare >= LEAST_HELD_SHARE;
        const bool bHeld = b.heldShare >= LEAST_HELD_SHARE;
        return a.missingPackets != b.missingPackets ? a.missingPackets > b.missingPackets
               : aHeld != bHeld                     ? aHeld
               : aHeld                              ? a.heldShare > b.heldShare
                                                    : a.drainS > b.drainS;
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
    return "No link loses packets or holds others up: none is paused or short of credits for " +
           FormatPercent(LEAST_HELD_SHARE) + " of the time, and no queue in a switch takes " +
           FormatTime(LEAST_DRAIN_S) + " to drain.";
}

} // namespace proteus
} // namespace ns3
