/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Compares schedules of AlexNet on one server of V100.
/// @param more options of proteus-schedule @return the file of --csv
std::string
CompareOnOneServer(const std::vector<std::string>& more)
{
    const Folder folder;
    const std::string csv = folder.Get() + "/s.csv";
    std::vector<std::string> options{"--model=alexnet",
                                     "--cluster=pcie-v100x4",
                                     "--nodes=1",
                                     "--iterations=2",
                                     "--csv=" + csv};
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = Start("schedule", options);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    std::ifstream file(csv);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace

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
    EXPECT_EQ(alphaBeta.out.find(" %  "), std::string::npos) << alphaBeta.out;
    const Outcome flow = run("flow");
    ASSERT_EQ(flow.code, 0) << flow.error;
    EXPECT_EQ(flow.out.find(below), std::string::npos) << flow.out;
    EXPECT_NE(flow.out.find(" % "), std::string::npos) << flow.out;
}

// What a GPU waits for its host is no communication.
TEST(ScheduleRows, NothingIsExposedWhereNothingIsSent)
{
    const auto run = [](const std::string& replicas) {
        std::istringstream file(CompareOnOneServer(
            {"--strategy=dp=" + replicas + ",globalBatch=2", "--policies=arrival"}));
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line.rfind("executor,policy,partition_bytes,credit_bytes,wire_classes,"
                             "iteration_s,speedup,bound_s,exposed_communication_s,",
                             0),
                  0u)
            << line;
        std::getline(file, line);
        std::vector<double> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
        {
            cells.push_back(std::atof(cell.c_str()));
        }
        return cells;
    };
    const auto alone = run("1");
    EXPECT_GT(alone.at(5), 1.1 * alone.at(7)); // the host is slower than the kernels
    EXPECT_EQ(alone.at(8), 0);
    const auto two = run("2");
    EXPECT_GT(two.at(8), 0);
    EXPECT_LT(two.at(8), two.at(5));
}

TEST(ScheduleRows, CreditIsThatOfPoliciesThatHeedIt)
{
    const std::string text = CompareOnOneServer(
        {"--strategy=dp=2,globalBatch=2", "--policies=priority,p3", "--credit=9000000"});
    EXPECT_NE(text.find("flow,priority,4000000,9000000,"), std::string::npos) << text;
    EXPECT_NE(text.find("flow,p3,4000000,,"), std::string::npos) << text;
}
