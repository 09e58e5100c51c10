/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/proteus-command-line-text.h"
#include "ns3/proteus-option-list.h"
#include "ns3/proteus-option-values.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @return the number that a program reads
double
Read(OptionKind kind, const std::string& text)
{
    return std::stod(NormaliseValue(kind, "--x", text));
}

} // namespace

TEST(OptionValues, ANumberMayHaveItsUnit)
{
    EXPECT_EQ(Read(OptionKind::SECONDS, "90"), 90);
    EXPECT_EQ(Read(OptionKind::SECONDS, "1.5min"), 90);
    EXPECT_EQ(Read(OptionKind::SECONDS, "2e3ms"), 2);
    EXPECT_EQ(Read(OptionKind::MICROSECONDS, "35"), 35);
    EXPECT_EQ(Read(OptionKind::MICROSECONDS, "0.035ms"), 35);
    EXPECT_EQ(Read(OptionKind::MICROSECONDS, "35us"), 35);
    EXPECT_EQ(Read(OptionKind::MICROSECONDS, "35\u00b5s"), 35);
    EXPECT_EQ(Read(OptionKind::MICROSECONDS, "5\u03bcs"), 5);
    EXPECT_EQ(NormaliseValue(OptionKind::TIME, "--x", "1.5\u00b5s"), "1.5us");
    EXPECT_EQ(Read(OptionKind::GIGABYTES, "40"), 40);
    EXPECT_EQ(Read(OptionKind::GIGABYTES, "40GB"), 40);
    EXPECT_EQ(Read(OptionKind::GIGABYTES, "40GiB"), 42.94967296);
    EXPECT_EQ(Read(OptionKind::GIGABYTES, "512MB"), 0.512);
}

TEST(OptionValues, ATimeFitsTheClock)
{
    for (const char* text : {"1e6s", "-1us", "1ps", "1000fs", "0", "11d", "0.001ns"})
    {
        EXPECT_NO_THROW(NormaliseValue(OptionKind::TIME, "--x", text)) << text;
    }
    for (const char* text : {"1e30s", "-1e30s", "300h", "1y", "0.5ps", "1fs"})
    {
        EXPECT_THROW(NormaliseValue(OptionKind::TIME, "--x", text), std::invalid_argument) << text;
    }
}

TEST(OptionValues, AUnitOfSomethingElseIsRefused)
{
    for (const char* text : {"40s", "GB", "4 0GB", "40GBps", ""})
    {
        EXPECT_THROW(Read(OptionKind::GIGABYTES, text), std::invalid_argument) << text;
    }
    try
    {
        Read(OptionKind::SECONDS, "5GB");
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "--x=5GB: must be a number, in s or with one of s, ms, us, min, h");
    }
}

TEST(OptionValues, HelpSaysTimesAndFoldersAsOneTypesThem)
{
    EXPECT_EQ(PrintTime("+1e+07ps"), "10us");
    EXPECT_EQ(PrintTime("+102.7us"), "102.7us");
    EXPECT_EQ(PrintTime("+100000ps"), "100ns");
    EXPECT_EQ(PrintTime("+0ps"), "0");
    EXPECT_EQ(PrintTime("-1ns"), "-1ns");
    EXPECT_EQ(PrintTime("+67.1089ms"), "67.1089ms");
    OptionList options("proteus-x");
    ns3::Time interval = ns3::MicroSeconds(10);
    CommandLineText folder;
    options.AddValue("interval", "between two", interval);
    options.AddFolder("tables", "write them here", folder);
    std::ostringstream help;
    EXPECT_FALSE(options.Parse({"proteus-x", "--help"}, help));
    EXPECT_NE(help.str().find("--interval=TIME         between two [10us]"), std::string::npos);
    EXPECT_NE(help.str().find("--tables=FOLDER"), std::string::npos);
}
