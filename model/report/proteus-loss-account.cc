/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-loss-account.h"

#include "proteus-plural.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// @param uses of directions of links @param network what the endpoints counted
/// @return both added up
template <typename Use>
LossAccount
Sum(const std::vector<Use>& uses, const NetworkStatistics& network)
{
    LossAccount losses;
    for (const Use& use : uses)
    {
        losses.lostPackets += use.lostPackets;
        losses.droppedPackets += use.droppedPackets;
        losses.pauses += use.pauses;
        losses.markedPackets += use.markedPackets;
    }
    losses.repeatedPackets = network.repeated;
    losses.timeouts = network.timeouts;
    return losses;
}

} // namespace

LossAccount
SumLosses(const std::vector<LinkUse>& uses, const NetworkStatistics& network)
{
    return Sum(uses, network);
}

LossAccount
SumLosses(const std::vector<LinkStatistics>& links, const NetworkStatistics& network)
{
    return Sum(links, network);
}

bool
IsLossless(const LossAccount& losses)
{
    return losses.lostPackets == 0 && losses.droppedPackets == 0 && losses.repeatedPackets == 0 &&
           losses.timeouts == 0;
}

void
AddTo(LossAccount& sum, const LossAccount& more)
{
    sum.lostPackets += more.lostPackets;
    sum.droppedPackets += more.droppedPackets;
    sum.repeatedPackets += more.repeatedPackets;
    sum.timeouts += more.timeouts;
    sum.pauses += more.pauses;
    sum.markedPackets += more.markedPackets;
}

std::string
DescribeLosses(const LossAccount& losses)
{
    return FormatThings(losses.droppedPackets, "packet") + " dropped, " +
           FormatCount(losses.lostPackets) + " lost on the wire, " +
           FormatCount(losses.repeatedPackets) + " repeated, " +
           FormatThings(losses.timeouts, "timeout") + ", " + FormatThings(losses.pauses, "pause") +
           ", " + FormatCount(losses.markedPackets) + " marked";
}

} // namespace proteus
} // namespace ns3
