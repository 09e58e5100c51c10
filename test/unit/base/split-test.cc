/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

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

TEST(SplitOnce, RefusesWhatStandsTwice)
{
    using List = std::vector<std::string>;
    EXPECT_EQ(SplitOnce("--x=", ""), List());
    EXPECT_EQ(SplitOnce("--x=a,b", "a,b"), (List{"a", "b"}));
    EXPECT_EQ(SplitOnce("--x=a;a,b", "a;a,b", ';'), (List{"a", "a,b"}));
    EXPECT_EQ(ErrorOf([] { SplitOnce("--x=a,b,a", "a,b,a"); }), "--x=a,b,a: a stands there twice");
    EXPECT_EQ(ErrorOf([] { SplitOnce("--x=a,", "a,"); }), "--x=a,: a part is empty");
}

TEST(SplitSettings, RefusesWhatIsNoneAndWhatStandsTwice)
{
    using List = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(SplitSettings("--x=", "", "a=1"), List());
    EXPECT_EQ(SplitSettings("--x=a=1,b=c=2", "a=1,b=c=2", "a=1"), (List{{"a", "1"}, {"b", "c=2"}}));
    EXPECT_EQ(SplitSettings("--x", " a = 1 ,\tb=c d\n", "a=1"), (List{{"a", "1"}, {"b", "c d"}}));
    EXPECT_EQ(ErrorOf([] { SplitSettings("--x=a=1, a=1", "a=1, a=1", "a=1"); }),
              "--x=a=1, a=1: a stands there twice");
    EXPECT_EQ(ErrorOf([] { SplitSettings("--x=a=1,a=1", "a=1,a=1", "a=1"); }),
              "--x=a=1,a=1: a stands there twice");
    EXPECT_EQ(ErrorOf([] { SplitSettings("--x=a", "a", "b=1"); }),
              "--x=a: \"a\" is not NAME=VALUE, e.g. b=1");
    EXPECT_EQ(ErrorOf([] { SplitSettings("--x==1", "=1", "b=1"); }),
              "--x==1: \"=1\" is not NAME=VALUE, e.g. b=1");
}
