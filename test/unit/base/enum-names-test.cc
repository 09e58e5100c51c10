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
        COLOURS.Parse("Red\n" + std::string(100, 'x'));
        FAIL() << "it has no such name";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(error.what(),
                  "unknown colour 'Red?" + std::string(76, 'x') + "...'; known are green, red");
    }
}

TEST(EnumNames, AnotherSpellingIsKnown)
{
    try
    {
        COLOURS.Parse("RED");
        FAIL() << "names are as they are written";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()),
                  "unknown colour 'RED'; did you mean red? known are green, red");
    }
}

TEST(ShownName, IsOnOneLineAndNotTooLong)
{
    EXPECT_EQ(ShownName("a\tb"), "a?b");
    EXPECT_EQ(ShownName("abcdef", 3), "abc...");
    EXPECT_EQ(QuotedText(std::string(41, 'y')), "'" + std::string(40, 'y') + "...'");
}

} // namespace
