/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-ring-buffer.h"

#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <random>

using namespace ns3::proteus;

TEST(RingBuffer, NumbersStayWhileItGrows)
{
    RingBuffer<int> ring;
    EXPECT_TRUE(ring.IsEmpty());
    int next = 0;
    int first = 0;
    std::mt19937 random(2);
    for (int i = 0; i < 10000; ++i)
    {
        if (ring.IsEmpty() || random() % 3 > 0)
        {
            EXPECT_EQ(ring.GetTail(), static_cast<uint32_t>(next));
            ring.Push(next++);
        }
        else
        {
            ASSERT_EQ(ring.Front(), first);
            ring.Pop();
            ++first;
        }
        ASSERT_EQ(ring.GetSize(), static_cast<uint32_t>(next - first));
        for (int j = first; j < next; j += 97)
        {
            ASSERT_EQ(ring.At(j), j);
        }
    }
}

TEST(RingBuffer, BeginsAgainInFrontWhenItRunsEmpty)
{
    // Against std::deque. Begins are multiples of a cache line.
    RingBuffer<int> ring;
    std::deque<int> expected;
    std::mt19937 random(3);
    bool rewound = false;
    for (int i = 0; i < 10000; ++i)
    {
        if (expected.empty() || random() % 2 > 0)
        {
            ring.Push(i);
            expected.push_back(i);
        }
        else
        {
            ASSERT_EQ(ring.Front(), expected.front());
            ring.PopAndRewind();
            expected.pop_front();
        }
        ASSERT_EQ(ring.GetSize(), expected.size());
        if (expected.empty())
        {
            ASSERT_EQ(ring.GetHead(), 0u);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(ring.GetPlace()) % 64, 0u);
            rewound = true;
        }
        for (std::size_t j = 0; j < expected.size(); ++j)
        {
            ASSERT_EQ(ring.At(ring.GetHead() + static_cast<uint32_t>(j)), expected[j]);
        }
    }
    EXPECT_TRUE(rewound);
}
