/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-loss-account.h"

#include "proteus-tables.h"

namespace ns3
{
namespace proteus
{

LossAccount
SumLosses(const std::vector<LinkUse>& uses)
{
    LossAccount losses;
    for (const LinkUse& use : uses)
    {
        losses.lostPackets += use.lostPackets;
        losses.droppedPackets += use.droppedPackets;
        losses.pauses += use.pauses;
        losses.markedPackets += use.markedPackets;
    }
    return losses;
}

std::string
DescribeLosses(const LossAccount& losses)
{
    const auto things = [](uint64_t count, const std::string& thing) {
        return FormatCount(count) + " " + thing + (count == 1 ? "" : "s");
    };
    return things(losses.droppedPackets, "packet") + " dropped, " +
           FormatCount(losses.lostPackets) + " lost on the wire, " +
           things(losses.pauses, "pause") + ", " + FormatCount(losses.markedPackets) + " marked";
}

} // namespace proteus
} // namespace ns3
