/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-pool.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(Pool, ThePlaceGivenBackLastIsTakenNextAndKeepsWhatItHeld)
{
    Pool<std::string> pool;
    EXPECT_EQ(pool.Add("a"), 0u);
    EXPECT_EQ(pool.Add("b"), 1u);
    EXPECT_EQ(pool.Take(), 2u);
    EXPECT_EQ(pool[2], "");
    pool.GiveBack(0);
    pool.GiveBack(1);
    EXPECT_EQ(pool.GetNTaken(), 1u);
    EXPECT_EQ(pool.Take(), 1u);
    EXPECT_EQ(pool[1], "b");
    EXPECT_EQ(pool.Add("c"), 0u);
    EXPECT_EQ(pool[0], "c");
    EXPECT_EQ(pool.Take(), 3u);
    EXPECT_EQ(pool.GetNPlaces(), 4u);
    pool.Clear();
    EXPECT_EQ(pool.GetNPlaces(), 0u);
    EXPECT_EQ(pool.GetNTaken(), 0u);
    EXPECT_EQ(pool.Take(), 0u);
}

TEST(Pool, NoPlaceIsTakenTwiceAndThereAreAsManyAsWereEverTakenAtATime)
{
    std::mt19937 random(7);
    Pool<uint32_t> pool;
    std::set<uint32_t> taken;
    std::size_t most = 0;
    for (uint32_t i = 0; i < 10000; ++i)
    {
        if (taken.empty() || random() % 3 != 0)
        {
            const uint32_t id = pool.Add(i);
            EXPECT_TRUE(taken.insert(id).second);
            EXPECT_EQ(pool[id], i);
        }
        else
        {
            auto place = taken.begin();
            std::advance(place, random() % taken.size());
            pool.GiveBack(*place);
            taken.erase(place);
        }
        most = std::max(most, taken.size());
        ASSERT_EQ(pool.GetNTaken(), taken.size());
        ASSERT_EQ(pool.GetNPlaces(), most);
    }
}
