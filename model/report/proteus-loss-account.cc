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

LossAccount
SumLosses(const std::vector<LinkUse>& uses, const NetworkStatistics& network)
{
    LossAccount losses;
    for (const LinkUse& use : uses)
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
