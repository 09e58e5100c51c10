/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-event-tree.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

using namespace ns3::proteus;

TEST(EventTree, GivesTimesInOrder)
{
    // Against std::set, for numbers of slots around the powers of eight.
    std::mt19937_64 random(1);
    for (uint32_t slots : {1, 2, 7, 8, 9, 63, 64, 65, 511, 513, 5000})
    {
        EventTree tree(slots);
        std::set<std::pair<int64_t, uint32_t>> expected;
        std::map<uint32_t, int64_t> pending;
        int64_t now = 0;
        for (int step = 0; step < 20000; ++step)
        {
            const auto slot = static_cast<uint32_t>(random() % slots);
            if (pending.count(slot))
            {
                expected.erase({pending[slot], slot});
                pending.erase(slot);
            }
            if (random() % 4 == 0)
            {
                tree.Set(slot, EventTree::NEVER);
            }
            else
            {
                const int64_t time = now + static_cast<int64_t>(random() % 1000000);
                tree.Set(slot, time);
                pending[slot] = time;
                expected.insert({time, slot});
            }
            if (expected.empty())
            {
                ASSERT_EQ(tree.GetTime(), EventTree::NEVER);
                continue;
            }
            ASSERT_EQ(tree.GetTime(), expected.begin()->first);
            ASSERT_EQ(tree.GetSlot(), expected.begin()->second);
            if (random() % 2 == 0)
            {
                now = tree.GetTime();
                const uint32_t first = tree.GetSlot();
                tree.Set(first, EventTree::NEVER);
                expected.erase(expected.begin());
                pending.erase(first);
            }
        }
    }
}

TEST(EventTree, GoesOnPastTheRangeOfItsKeys)
{
    // With 100,000 slots a key holds some 70 s; a day in steps of a second.
    const uint32_t slots = 100000;
    EventTree tree(slots);
    const int64_t second = 1000000000000;
    tree.Set(slots - 1, second);
    for (int64_t i = 1; i < 24 * 3600; ++i)
    {
        ASSERT_EQ(tree.GetTime(), i * second);
        const uint32_t slot = tree.GetSlot();
        const uint32_t next = (slot * 7919 + 13) % slots;
        tree.Set(next, (i + 1) * second);
        if (next != slot)
        {
            tree.Set(slot, EventTree::NEVER);
        }
    }
    // From an empty tree, however far.
    EventTree fresh(1000000);
    fresh.Set(3, 86400 * second);
    EXPECT_EQ(fresh.GetTime(), 86400 * second);
    fresh.Set(4, 86399 * second);
    EXPECT_EQ(fresh.GetTime(), 86399 * second);
}

TEST(EventTree, RefusesTimesTooFarApart)
{
    EventTree tree(1000000);
    tree.Set(0, 0);
    EXPECT_THROW(tree.Set(1, int64_t{3600} * 1000000000000), std::length_error);
}
