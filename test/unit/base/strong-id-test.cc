/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-strong-id.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <type_traits>
#include <unordered_set>

using namespace ns3::proteus;

TEST(StrongId, IsANumberOfOneKindOnly)
{
    using Apple = StrongId<struct AppleTag>;
    using Pear = StrongId<struct PearTag>;
    static_assert(!std::is_convertible_v<Apple, Pear>);
    static_assert(!std::is_convertible_v<Apple, uint32_t>);
    static_assert(!std::is_convertible_v<uint32_t, Apple>);
    static_assert(sizeof(Apple) == sizeof(uint32_t));
    EXPECT_FALSE(Apple().IsValid());
    EXPECT_EQ(Apple(), Apple::None());
    EXPECT_TRUE(Apple(0).IsValid());
    EXPECT_EQ(Apple(7).Get(), 7u);
    EXPECT_LT(Apple(6), Apple(7));
    EXPECT_NE(Apple(6), Apple(7));
    EXPECT_EQ((std::unordered_set<Apple>{Apple(1), Apple(2), Apple(1)}.size()), 2u);
}
