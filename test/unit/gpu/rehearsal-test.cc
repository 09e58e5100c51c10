/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-rehearsal.h"
#include "ns3/proteus-repetition-records.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace ns3::proteus;

namespace
{

/// @param packets that it counts @param seconds that it takes @return an execution
Rehearsals::Execution
Make(uint64_t packets, double seconds)
{
    return [packets, seconds] {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        RehearsalResult result;
        result.packets = packets;
        result.record = std::make_shared<RepetitionRecord>();
        return result;
    };
}

} // namespace

TEST(Rehearsal, AsksWhileItWaits)
{
    Rehearsals rehearsals;
    uint32_t asked = 0;
    rehearsals.SetWaitCheck([&asked] {
        ++asked;
        return true;
    });
    const auto rehearsal = rehearsals.Start(Make(7, 0.5));
    const RehearsalResult& result = rehearsals.Wait(*rehearsal);
    EXPECT_GT(asked, 1U);
    EXPECT_EQ(result.packets, 7U);
    EXPECT_NE(result.record, nullptr);
    EXPECT_FALSE(result.isGivenUp);
}

TEST(Rehearsal, GivesUpWhenItIsToldTo)
{
    Rehearsals rehearsals;
    uint32_t asked = 0;
    rehearsals.SetWaitCheck([&asked] { return ++asked < 3; });
    const auto begin = std::chrono::steady_clock::now();
    const auto first = rehearsals.Start(Make(1, 1000));
    const auto second = rehearsals.Start(Make(2, 1000)); // has not begun, one at a time
    for (const auto& rehearsal : {first, second})
    {
        const RehearsalResult& result = rehearsals.Wait(*rehearsal);
        EXPECT_EQ(result.record, nullptr);
        EXPECT_TRUE(result.isGivenUp);
    }
    EXPECT_EQ(asked, 4U);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST(Rehearsal, FailsWithoutResult)
{
    Rehearsals rehearsals;
    const auto rehearsal =
        rehearsals.Start([]() -> RehearsalResult { throw std::runtime_error("in the child"); });
    const RehearsalResult& result = rehearsals.Wait(*rehearsal);
    EXPECT_EQ(result.record, nullptr);
    EXPECT_FALSE(result.isGivenUp);
}
