/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-comma-list.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

TEST(CommaList, NamesAreApart)
{
    EXPECT_EQ(ListNames(std::vector<std::string>{}), "");
    EXPECT_EQ(ListNames(std::vector<std::string>{"a"}), "a");
    EXPECT_EQ(ListNames(std::vector<const char*>{"a", "b", "c"}), "a, b, c");
}

TEST(CommaList, TheLastAlternativeIsBehindOr)
{
    EXPECT_EQ(ListAlternatives({}), "");
    EXPECT_EQ(ListAlternatives({"a"}), "a");
    EXPECT_EQ(ListAlternatives({"a", "b"}), "a or b");
    EXPECT_EQ(ListAlternatives({"a", "b", "c"}), "a, b or c");
}

TEST(CommaList, GrowsByOne)
{
    std::string list = "a";
    AppendName(list, "b");
    EXPECT_EQ(list, "a, b");
}

} // namespace
