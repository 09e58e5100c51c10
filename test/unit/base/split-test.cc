/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-split.h"

#include <gtest/gtest.h>

using namespace ns3::proteus;

TEST(SplitList, KeepsWhatStandsBetweenSeparators)
{
    using List = std::vector<std::string>;
    EXPECT_EQ(SplitList(""), List());
    EXPECT_EQ(SplitList("a"), List{"a"});
    EXPECT_EQ(SplitList("a,b c,,d"), (List{"a", "b c", "", "d"}));
    EXPECT_EQ(SplitList(","), (List{"", ""}));
    EXPECT_EQ(SplitList("Ecmp|Spray", '|'), (List{"Ecmp", "Spray"}));
}
