/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param collective that runs @param more options @return the time of the one size, microseconds
double
TimeOf(const std::string& collective, const std::vector<std::string>& more)
{
    std::vector<std::string> words{"--collective=" + collective,
                                   "--cluster=dgx-a100",
                                   "--nodes=2",
                                   "--min=1M",
                                   "--max=1M",
                                   "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome run = Start("collective", words);
    EXPECT_EQ(run.code, 0) << run.error;
    std::istringstream row(run.out.substr(run.out.find("     1048576 ")));
    std::string word;
    for (int i = 0; i < 6; ++i)
    {
        row >> word;
    }
    return std::stod(word);
}

// What the program knows of a test of its own goes behind what was typed.
TEST(CollectiveAttributes, GoBeforeWhatTheProgramSets)
{
    const std::string network = "--ns3::proteus::PacketNetwork::";
    EXPECT_NEAR(TimeOf("all-reduce", {network + "LaunchGap=1ms"}) - TimeOf("all-reduce", {}),
                1000,
                5);
    EXPECT_GT(TimeOf("send-recv", {network + "CommunicatorChannels=1"}),
              1.2 * TimeOf("send-recv", {}));
}

} // namespace
