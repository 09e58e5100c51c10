/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-link-statistics.h"

#include <gtest/gtest.h>
#include <tuple>

using namespace ns3::proteus;

namespace
{

/// @return statistics of which all counters differ
LinkStatistics
Make(uint64_t first)
{
    LinkStatistics made;
    for (uint64_t* counter : {&made.packets,
                              &made.payloadBytes,
                              &made.wireBytes,
                              &made.receivedPackets,
                              &made.receivedPayloadBytes,
                              &made.maxQueueBytes,
                              &made.lostPackets,
                              &made.droppedPackets,
                              &made.markedPackets,
                              &made.pauses})
    {
        *counter = first++;
    }
    for (int64_t* time : {&made.busyPs, &made.creditStallPs, &made.pausedPs})
    {
        *time = static_cast<int64_t>(first++);
    }
    return made;
}

/// @return all counters and times
auto
List(const LinkStatistics& all)
{
    return std::make_tuple(all.packets,
                           all.payloadBytes,
                           all.wireBytes,
                           all.receivedPackets,
                           all.receivedPayloadBytes,
                           all.busyPs,
                           all.maxQueueBytes,
                           all.creditStallPs,
                           all.lostPackets,
                           all.droppedPackets,
                           all.markedPackets,
                           all.pauses,
                           all.pausedPs);
}

} // namespace

TEST(LinkStatistics, WhatWasAndWhatCameIsWhatIs)
{
    const LinkStatistics before = Make(100);
    LinkStatistics now = Make(300);
    LinkStatistics sum = before;
    AddTo(sum, GetDifference(now, before));
    EXPECT_EQ(List(sum), List(now));
    EXPECT_EQ(GetDifference(now, before).packets, 200u);
    AddTo(now, before);
    EXPECT_EQ(now.packets, 400u);
    EXPECT_EQ(now.maxQueueBytes, Make(300).maxQueueBytes); // the longer queue, not both
}
