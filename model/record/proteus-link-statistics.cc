/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-statistics.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

LinkStatistics
GetDifference(const LinkStatistics& now, const LinkStatistics& before)
{
    LinkStatistics did = now;
    did.packets -= before.packets;
    did.payloadBytes -= before.payloadBytes;
    did.wireBytes -= before.wireBytes;
    did.receivedPackets -= before.receivedPackets;
    did.receivedPayloadBytes -= before.receivedPayloadBytes;
    did.busyPs -= before.busyPs;
    did.creditStallPs -= before.creditStallPs;
    did.lostPackets -= before.lostPackets;
    did.droppedPackets -= before.droppedPackets;
    did.markedPackets -= before.markedPackets;
    did.pauses -= before.pauses;
    did.pausedPs -= before.pausedPs;
    return did;
}

void
AddTo(LinkStatistics& sum, const LinkStatistics& more)
{
    sum.packets += more.packets;
    sum.payloadBytes += more.payloadBytes;
    sum.wireBytes += more.wireBytes;
    sum.receivedPackets += more.receivedPackets;
    sum.receivedPayloadBytes += more.receivedPayloadBytes;
    sum.busyPs += more.busyPs;
    sum.maxQueueBytes = std::max(sum.maxQueueBytes, more.maxQueueBytes);
    sum.creditStallPs += more.creditStallPs;
    sum.lostPackets += more.lostPackets;
    sum.droppedPackets += more.droppedPackets;
    sum.markedPackets += more.markedPackets;
    sum.pauses += more.pauses;
    sum.pausedPs += more.pausedPs;
}

} // namespace proteus
} // namespace ns3
