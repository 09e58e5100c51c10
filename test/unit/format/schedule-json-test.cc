/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-schedule-json.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

ScheduleSettings
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadScheduleJson(input, "schedule.json");
}

/// @return the message of the error that reading a text gives
std::string
GetError(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] { Read(text); });
}

} // namespace

TEST(ScheduleJson, ComesBackTheSame)
{
    ScheduleSettings settings;
    settings.policy = "priority";
    settings.partBytes = 4000000;
    settings.creditBytes = 16000000;
    settings.bucketBytes = 123;
    settings.kinds = {Parallelism::EXPERT, Parallelism::DATA};
    settings.messagePs = 5000000;
    settings.isSerial = true;
    ScheduleSearch search{"bayesian", 7, {}};
    search.result.trials = {{{0.1, 0.2}, {1000000, 2000000}, 0.5}, {{0.3, 0.4}, {3, 4}, 0.25}};
    std::ostringstream output;
    WriteScheduleJson(settings, &search, output);
    const ScheduleSettings again = Read(output.str());
    EXPECT_EQ(again.policy, settings.policy);
    EXPECT_EQ(again.partBytes, settings.partBytes);
    EXPECT_EQ(again.creditBytes, settings.creditBytes);
    EXPECT_EQ(again.bucketBytes, settings.bucketBytes);
    EXPECT_EQ(again.kinds, settings.kinds);
    EXPECT_EQ(again.messagePs, settings.messagePs);
    EXPECT_TRUE(again.isSerial);
    EXPECT_NE(output.str().find("\"iterationS\": 0.25"), std::string::npos);
    // What is not limited stays so.
    std::ostringstream defaults;
    WriteScheduleJson(ScheduleSettings(), nullptr, defaults);
    EXPECT_EQ(Read(defaults.str()).partBytes, ScheduleSettings::WHOLE);
    EXPECT_EQ(Read(defaults.str()).creditBytes, CreditWindow::UNLIMITED);
    EXPECT_EQ(defaults.str().find("search"), std::string::npos);
}

TEST(ScheduleJson, MistakesAreOneLine)
{
    const std::string head = R"({"format": "proteus-schedule", "version": 1, )";
    for (const std::string& text : {std::string("{}"),
                                    head + R"("policy": "none"})",
                                    head + R"("policy": "priority", "creditBytes": 0})",
                                    head + R"("policy": "priority", "partBytes": 0})",
                                    head + R"("policy": "priority", "kinds": ["layers"]})",
                                    head + R"("policy": "priority", "size": 1})"})
    {
        const std::string error = GetError(text);
        EXPECT_EQ(error.rfind("schedule.json: ", 0), 0u) << text << ": " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

TEST(ScheduleJson, MistakesSayTheirPlaceOnce)
{
    const std::string head = R"({"format": "proteus-schedule", "version": 1, "policy": )";
    EXPECT_EQ(
        GetError(head + R"("priorityx"})"),
        "schedule.json: /policy: schedule: unknown policy 'priorityx'; did you mean priority?");
    EXPECT_EQ(GetError(head + R"("priority", "kinds": [1]})"),
              "schedule.json: /kinds/0: must be a string, not 1");
    EXPECT_EQ(
        GetError(head + R"("priority", "partBytes": 0})").rfind("schedule.json: /partBytes: ", 0),
        0u);
}
