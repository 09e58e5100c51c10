/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-shown-name.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <utility>

using namespace ns3::proteus;

namespace
{

enum class Colour
{
    RED,
    GREEN,
    NAMELESS
};

constexpr EnumNames<Colour, 2> COLOURS{"colour", {{Colour::GREEN, "green"}, {Colour::RED, "red"}}};

TEST(EnumNames, ReadsWhatItWrites)
{
    for (const Colour colour : {Colour::RED, Colour::GREEN})
    {
        EXPECT_EQ(COLOURS.Parse(COLOURS.Get(colour)), colour);
    }
    EXPECT_EQ(COLOURS.List(), (std::vector<std::string>{"green", "red"}));
}

TEST(EnumNames, RefusesWhatHasNoName)
{
    EXPECT_EQ(COLOURS.Find(Colour::NAMELESS), nullptr);
    EXPECT_THROW(COLOURS.Get(Colour::NAMELESS), std::invalid_argument);
    try
    {
        COLOURS.Parse("Blue\n" + std::string(100, 'x'));
        FAIL() << "it has no such name";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(error.what(),
                  "unknown colour 'Blue?" + std::string(75, 'x') + "...'; known are green, red");
    }
}

TEST(EnumNames, WhatWasMeantIsSaid)
{
    for (const auto& [typed, meant] : {std::pair{"RED", "red"}, // another spelling
                                       {"gren", "green"},
                                       {"gre", "green"},
                                       {"green tea", "green"}})
    {
        try
        {
            COLOURS.Parse(typed);
            FAIL() << "names are as they are written";
        }
        catch (const std::invalid_argument& error)
        {
            EXPECT_EQ(std::string(error.what()),
                      std::string("unknown colour '") + typed + "'; did you mean " + meant +
                          "? known are green, red");
        }
    }
}

TEST(ShownName, IsOnOneLineAndNotTooLong)
{
    EXPECT_EQ(ShownName("a\tb"), "a?b");
    EXPECT_EQ(ShownName("abcdef", 3), "abc...");
    EXPECT_EQ(QuotedText(std::string(41, 'y')), "'" + std::string(40, 'y') + "...'");
}

} // namespace
