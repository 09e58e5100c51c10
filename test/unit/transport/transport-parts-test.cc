/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-active-queues.h"
#include "ns3/proteus-group.h"
#include "ns3/proteus-queue-pair.h"
#include "ns3/proteus-sequence.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace ns3::proteus;

TEST(Sequence, ComparesAcrossTheWrap)
{
    EXPECT_TRUE(IsBefore(0xfffffff0, 5));
    EXPECT_FALSE(IsBefore(5, 0xfffffff0));
    EXPECT_FALSE(IsBefore(7, 7));
}

TEST(Sequence, SetAgainstAReference)
{
    std::mt19937 random(1);
    SequenceSet set;
    std::set<uint64_t> reference;
    uint64_t base = 0xfffff000; // wraps soon
    for (int i = 0; i < 200'000; ++i)
    {
        const uint64_t number = base + random() % (1 + random() % 3000);
        ASSERT_EQ(set.Insert(static_cast<uint32_t>(base), static_cast<uint32_t>(number)),
                  reference.insert(number).second);
        const uint64_t probe = base + random() % 5000;
        ASSERT_EQ(set.Has(static_cast<uint32_t>(base), static_cast<uint32_t>(probe)),
                  reference.count(probe) > 0);
        for (uint32_t steps = random() % 64; steps > 0; --steps)
        {
            ASSERT_EQ(set.Remove(static_cast<uint32_t>(base)), reference.erase(base) > 0);
            ++base;
        }
    }
}

TEST(Sequence, AcknowledgementContent)
{
    for (int32_t offset : {-1, 0, 1, 1000, 524287, -524287, AckContent::NO_OFFSET})
    {
        for (uint32_t marks : {0u, 1u, 4095u})
        {
            const uint32_t content = AckContent::Make(marks, offset);
            EXPECT_EQ(AckContent::GetOffset(content), offset);
            EXPECT_EQ(AckContent::GetMarks(content), marks);
        }
    }
    EXPECT_EQ(AckContent::GetMarks(AckContent::Make(5000, -1)), 4095u);
    EXPECT_EQ(AckContent::GetOffset(AckContent::Make(0, 1 << 20)), AckContent::NO_OFFSET);
}

TEST(ActiveQueues, ListsTakeTurns)
{
    ActiveSlots slots(4);
    ActiveQueues queues;
    for (uint32_t slot : {2u, 0u, 3u})
    {
        queues.Append(slots, slot, 5);
    }
    EXPECT_EQ(queues.busy, 1u << 5);
    std::vector<uint32_t> turns;
    for (int i = 0; i < 6; ++i)
    {
        turns.push_back(queues.lists[5].head);
        queues.Rotate(slots, 5);
    }
    EXPECT_EQ(turns, (std::vector<uint32_t>{2, 0, 3, 2, 0, 3}));
    for (uint32_t slot : {2u, 0u, 3u})
    {
        EXPECT_EQ(queues.lists[5].head, slot);
        queues.RemoveFirst(slots, 5);
        EXPECT_EQ(slots[slot].next, ActiveSlot::UNLISTED);
    }
    EXPECT_EQ(queues.busy, 0u);
}

TEST(PaceQueue, GivesThingsByTimeAndNumber)
{
    // Against TimeHeap, with many things at one time.
    std::mt19937 random(7);
    for (const uint32_t times : {1, 5, 100000})
    {
        PaceQueue queue;
        TimeHeap heap;
        EXPECT_EQ(queue.GetTime(), INT64_MAX);
        for (uint32_t i = 0; i < 5000; ++i)
        {
            if (heap.GetTime() == INT64_MAX || random() % 8 < (i < 2000 ? 5 : 3))
            {
                const auto timePs = static_cast<int64_t>(i / 4 + random() % times);
                queue.Push(timePs, i);
                heap.Push(timePs, i);
            }
            else
            {
                ASSERT_EQ(queue.GetTop(), heap.GetTop());
                queue.Pop();
                heap.Pop();
            }
            ASSERT_EQ(queue.GetTime(), heap.GetTime());
            ASSERT_EQ(queue.GetEntries().size(), heap.GetEntries().size());
        }
    }
}

TEST(PlanePattern, FollowsTheRates)
{
    const PlanePattern even({25e9, 25e9, 25e9});
    const PlanePattern h100({125e9, 100e9, 100e9, 125e9});
    for (uint64_t unit = 0; unit < 100; ++unit)
    {
        uint64_t sum = 0;
        for (uint32_t plane = 0; plane < 4; ++plane)
        {
            const uint64_t turn = h100.GetPlane(unit) == plane ? 1 : 0;
            EXPECT_EQ(h100.Count(plane, unit + 1) - h100.Count(plane, unit), turn);
            sum += h100.Count(plane, unit);
        }
        EXPECT_EQ(sum, unit);
        EXPECT_EQ(even.GetPlane(unit), even.GetPlane(unit + 3));
    }
    EXPECT_EQ(h100.Count(0, 18), 5u);
    EXPECT_EQ(h100.Count(1, 18), 4u);
    EXPECT_EQ(h100.Count(3, 18), 5u);
}
