/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-call-queue.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

TEST(CallQueue, GivesCallsByTimeOrderAndNumber)
{
    // Against std::map, with many calls at one time.
    std::mt19937 random(5);
    for (const uint32_t times : {1, 3, 100, 100000})
    {
        CallQueue queue;
        std::map<std::tuple<int64_t, uint64_t, uint64_t>, uint32_t> expected;
        for (uint32_t i = 0; i < 20000; ++i)
        {
            const bool grows = i < 8000 || (i / 1000) % 2 == 0;
            if (expected.empty() || random() % 8 < (grows ? 5 : 2))
            {
                FabricCall call;
                call.timePs = random() % times;
                call.order = random() % 2 == 0 ? FabricCall::IN_TURN : random() % 3;
                call.number = random() % 2 == 0 ? i : 20000 - i;
                call.value = i;
                if (expected.emplace(std::tie(call.timePs, call.order, call.number), i).second)
                {
                    queue.Push(call);
                }
            }
            else
            {
                ASSERT_EQ(queue.Pop().value, expected.begin()->second);
                expected.erase(expected.begin());
            }
            ASSERT_EQ(queue.GetTime(),
                      expected.empty() ? EventTree::NEVER : std::get<0>(expected.begin()->first));
        }
        const std::vector<FabricCall> calls = queue.GetCalls(nullptr);
        ASSERT_EQ(calls.size(), expected.size());
        EXPECT_TRUE(std::equal(
            calls.begin(),
            calls.end(),
            expected.begin(),
            [](const FabricCall& call, const auto& one) { return call.value == one.second; }));
        for (; !expected.empty(); expected.erase(expected.begin()))
        {
            ASSERT_EQ(queue.Pop().value, expected.begin()->second);
        }
        EXPECT_EQ(queue.GetTime(), EventTree::NEVER);
        queue.Push(FabricCall());
        queue.Clear();
        EXPECT_EQ(queue.GetTime(), EventTree::NEVER);
    }
}
