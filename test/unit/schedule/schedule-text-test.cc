/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-schedule-text.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(ScheduleText, SettingsAreTheDefaultsUnlessTheyAreNamed)
{
    const ScheduleSettings plain = ParseScheduleSettings("p3");
    EXPECT_EQ(plain.policy, "p3");
    EXPECT_EQ(plain.partBytes, ScheduleSettings::WHOLE);
    EXPECT_EQ(plain.creditBytes, CreditWindow::UNLIMITED);
    const ScheduleSettings settings = ParseScheduleSettings(
        "priority,partBytes=4000000,creditBytes=16000000,kinds=expert+data,messagePs=5");
    EXPECT_EQ(settings.policy, "priority");
    EXPECT_EQ(settings.partBytes, 4000000u);
    EXPECT_EQ(settings.creditBytes, 16000000u);
    EXPECT_EQ(settings.bucketBytes, ScheduleSettings().bucketBytes);
    EXPECT_EQ(settings.kinds, (std::vector<Parallelism>{Parallelism::EXPERT, Parallelism::DATA}));
    EXPECT_EQ(settings.messagePs, 5);
}

TEST(ScheduleText, MistakesSayWhatThereIs)
{
    const auto errorOf = [](const std::string& text) {
        try
        {
            ParseScheduleSettings(text);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(errorOf("fast"),
              "schedule: unknown policy 'fast'; there are arrival, buckets, critical-path, fair, "
              "p3, priority");
    EXPECT_EQ(errorOf("priorityx"), "schedule: unknown policy 'priorityx'; did you mean priority?");
    EXPECT_EQ(errorOf("priority,size=3"),
              "schedule: unknown setting 'size=3'; there are: bucketBytes=, creditBytes=, kinds=, "
              "messagePs=, partBytes=, serial=");
    EXPECT_EQ(errorOf("priority,partBytes=4MB"),
              "schedule: partBytes=4MB: must be a whole number, e.g. partBytes=4000000");
    EXPECT_EQ(errorOf("priority,serial=2"), "schedule: serial=2: must be true or false");
    EXPECT_EQ(errorOf("priority,serial=true"), "");
    EXPECT_NE(errorOf("priority,messagePs=1000000000001").find("it takes from 0 to"),
              std::string::npos);
    EXPECT_NE(errorOf("priority,partBytes=0").find("parts of 0 bytes"), std::string::npos);
    EXPECT_NE(errorOf("priority,creditBytes=0").find("credit of 0 bytes"), std::string::npos);
    EXPECT_EQ(errorOf("priority,partBytes=4,partBytes=8"),
              "schedule: priority,partBytes=4,partBytes=8: partBytes stands there twice");
    EXPECT_EQ(errorOf("priority,kinds=data+data"),
              "schedule: kinds=data+data: data stands there twice");
    EXPECT_NE(errorOf("priority,kinds=gradient").find("gradient"), std::string::npos);
}

TEST(ScheduleText, SettingsThatAPolicyTakesNoNoticeOf)
{
    const auto unused = [](const std::string& text) {
        return ListUnusedSettings(ParseScheduleSettings(text));
    };
    using Lines = std::vector<std::string>;
    for (const std::string policy : {"priority", "critical-path"})
    {
        EXPECT_EQ(unused(policy + ",creditBytes=9,partBytes=4,kinds=expert,messagePs=5,serial=1"),
                  Lines());
    }
    EXPECT_EQ(unused("fair,creditBytes=9,partBytes=4,messagePs=5,serial=1"),
              Lines{"creditBytes=9"});
    EXPECT_EQ(unused("p3,creditBytes=9,partBytes=4,messagePs=5,serial=1"), // one part at a time
              (Lines{"creditBytes=9", "serial=1"}));
    EXPECT_EQ(unused("priority,bucketBytes=7"), Lines{"bucketBytes=7"});
    EXPECT_EQ(unused("buckets,bucketBytes=7,kinds=expert"), Lines());
    EXPECT_EQ(unused("buckets,partBytes=4,messagePs=5"), (Lines{"partBytes=4", "messagePs=5"}));
    EXPECT_EQ(unused("arrival,partBytes=4,kinds=expert+data"), Lines());
    EXPECT_EQ(unused("arrival,kinds=expert+data,serial=1"),
              (Lines{"serial=1", "kinds=expert+data"}));
    EXPECT_EQ(unused("arrival"), Lines());
}
