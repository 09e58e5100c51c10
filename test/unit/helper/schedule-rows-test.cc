/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <fstream>
#include <iterator>
#include <string>

using namespace ns3::proteus;

// Where communications do not share links, an iteration may take less than these can carry.
TEST(ScheduleRows, ExecutorsWithoutLinksSayWhereTheyAreBelowTheBound)
{
    const auto run = [](const std::string& executor) {
        return Start("schedule",
                     {"--model=alexnet",
                      "--strategy=dp=8,globalBatch=256",
                      "--cluster=pcie-v100x4",
                      "--nodes=2",
                      "--gradients=parameter-server",
                      "--policies=priority",
                      "--executor=" + executor});
    };
    const std::string below = "iterations take less than the bound";
    const Outcome alphaBeta = run("alpha-beta");
    ASSERT_EQ(alphaBeta.code, 0) << alphaBeta.error;
    EXPECT_NE(alphaBeta.out.find("alpha-beta: some " + below), std::string::npos) << alphaBeta.out;
    // Nothing is known of its links.
    EXPECT_EQ(alphaBeta.out.find(" % "), std::string::npos) << alphaBeta.out;
    const Outcome flow = run("flow");
    ASSERT_EQ(flow.code, 0) << flow.error;
    EXPECT_EQ(flow.out.find(below), std::string::npos) << flow.out;
    EXPECT_NE(flow.out.find(" % "), std::string::npos) << flow.out;
}

TEST(ScheduleRows, CreditIsThatOfPoliciesThatHeedIt)
{
    const Folder folder;
    const std::string csv = folder.Get() + "/s.csv";
    const Outcome run = Start("schedule",
                              {"--model=alexnet",
                               "--strategy=dp=2,globalBatch=2",
                               "--cluster=pcie-v100x4",
                               "--nodes=1",
                               "--policies=priority,p3",
                               "--credit=9000000",
                               "--iterations=2",
                               "--csv=" + csv});
    ASSERT_EQ(run.code, 0) << run.error;
    std::ifstream file(csv);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    EXPECT_NE(text.find("flow,priority,4000000,9000000,"), std::string::npos) << text;
    EXPECT_NE(text.find("flow,p3,4000000,,"), std::string::npos) << text;
}
