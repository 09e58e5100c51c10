/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-published-logs.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Errors of published logs of collectives: what is said of a machine.
 */

namespace ns3
{
namespace proteus
{

namespace
{

const std::string HEAD = R"({"format": "proteus-published-logs", "version": 1, "logs": [)";
const std::string ONE =
    R"({"what": "H100 and H200", "gpus": ["H100-SXM5-80GB", "H200"], "severalServers": true,
    "logs": 75, "peakHalfWithin": 0.07, "peakNineOfTenWithin": 0.434, "fromMiBHalfWithin": 0.13,
    "fromMiBNineOfTenWithin": 1.5})";

std::vector<PublishedLogs>
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadPublishedLogs(input, "logs.json");
}

} // namespace

TEST(PublishedLogs, OfAMachineAreDescribed)
{
    EXPECT_EQ(DescribePublishedLogs(Read(HEAD + ONE + "]}"), "H200", true),
              "of 75 published logs of several servers with H100 and H200 half have their peak "
              "computed within 7.0 %, nine of ten within 43.4 %; times from 1 MiB on within 13.0 "
              "and 150.0 % (doc/measured-collectives.rst)");
}

TEST(PublishedLogs, OfOtherMachinesAreSaidToBeTooFew)
{
    const std::vector<PublishedLogs> logs = Read(HEAD + ONE + "]}");
    EXPECT_EQ(DescribePublishedLogs(logs, "H200", false),
              "too few published logs of one server with H200 were compared to say how far "
              "collectives are off (doc/measured-collectives.rst)");
    EXPECT_NE(DescribePublishedLogs(logs, "B200", true).find("too few published logs of several"),
              std::string::npos);
}

TEST(PublishedLogs, OfAKindStandOnce)
{
    EXPECT_EQ(ErrorOf([] { Read(HEAD + ONE + ", " + ONE + "]}"); }),
              "logs.json: /logs/1/gpus/0: has logs already");
    EXPECT_EQ(ErrorOf([] {
                  Read(HEAD + R"({"what": "X", "gpus": ["H100-SXM5-80GB"],)" +
                       R"("severalServers": 1}]})");
              }).substr(0, 35),
              "logs.json: /logs/0/severalServers: ");
}

TEST(PublishedLogs, OursAreOfGpusThatThereAre)
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/evaluation/published-logs.json";
    InputFile file(path);
    const std::vector<PublishedLogs> logs = ReadPublishedLogs(file.GetStream(), path);
    for (const char* gpu : {"A100-SXM4-80GB", "H100-SXM5-80GB", "B200"})
    {
        for (const bool isOfSeveralServers : {false, true})
        {
            EXPECT_EQ(DescribePublishedLogs(logs, gpu, isOfSeveralServers).find("too few"),
                      std::string::npos)
                << gpu;
        }
    }
}

} // namespace proteus
} // namespace ns3
