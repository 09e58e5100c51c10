/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-ring-buffer.h"

#include <cstdint>
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
