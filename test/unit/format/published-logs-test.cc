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

const std::string HEAD = R"({"format": "proteus-published-logs", "version": 2, "logs": [)";
const std::string ONE =
    R"({"what": "H100 and H200", "gpus": ["H100-SXM5-80GB", "H200"], "network": "NICs at GPUs",
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
    EXPECT_EQ(DescribePublishedLogs(Read(HEAD + ONE + "]}"), "H200", GpuNetwork::DIRECT),
              "of 75 published logs of several servers, NICs at GPUs, with H100 and H200 half have "
              "their peak computed within 7.0 %, nine of ten within 43.4 %; times from 1 MiB on "
              "within 13.0 and 150.0 % (doc/measured-collectives.rst)");
}

TEST(PublishedLogs, OfOtherMachinesAreSaidToBeTooFew)
{
    const std::vector<PublishedLogs> logs = Read(HEAD + ONE + "]}");
    EXPECT_EQ(DescribePublishedLogs(logs, "H200", GpuNetwork::NONE),
              "too few published logs of one server with H200 were compared to say how far "
              "collectives are off (doc/measured-collectives.rst)");
    for (const GpuNetwork network : {GpuNetwork::DIRECT, GpuNetwork::PLUG_IN, GpuNetwork::OVER_CPU})
    {
        EXPECT_NE(
            DescribePublishedLogs(logs, "B200", network).find("too few published logs of several"),
            std::string::npos);
    }
}

TEST(PublishedLogs, OfAllGpusStandInForOnesWithTooFew)
{
    std::string all = ONE;
    all.replace(all.find(R"("H100-SXM5-80GB", "H200")"), 24, "");
    const std::vector<PublishedLogs> logs = Read(HEAD + ONE + ", " + all + "]}");
    EXPECT_EQ(DescribePublishedLogs(logs, "B200", GpuNetwork::DIRECT).substr(0, 93),
              "of 75 published logs of several servers, NICs at GPUs, with any GPUs (too few with "
              "B200) half");
    EXPECT_EQ(DescribePublishedLogs(logs, "H200", GpuNetwork::DIRECT).find("any GPUs"),
              std::string::npos);
    EXPECT_EQ(ErrorOf([&] { Read(HEAD + all + ", " + all + "]}"); }),
              "logs.json: /logs/1/gpus: are all, which have logs already");
}

TEST(PublishedLogs, OfAKindStandOnce)
{
    EXPECT_EQ(ErrorOf([] { Read(HEAD + ONE + ", " + ONE + "]}"); }),
              "logs.json: /logs/1/gpus/0: has logs already");
    EXPECT_EQ(ErrorOf([] {
                  Read(HEAD + R"({"what": "X", "gpus": ["H100-SXM5-80GB"],)" +
                       R"("network": "pigeons"}]})");
              }),
              "logs.json: /logs/0/network: is no network of published logs");
}

TEST(PublishedLogs, OursAreOfGpusThatThereAre)
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/evaluation/published-logs.json";
    InputFile file(path);
    const std::vector<PublishedLogs> logs = ReadPublishedLogs(file.GetStream(), path);
    for (const char* gpu : {"A100-SXM4-80GB", "H100-SXM5-80GB", "B200"})
    {
        for (const GpuNetwork network : {GpuNetwork::NONE, GpuNetwork::DIRECT})
        {
            EXPECT_EQ(DescribePublishedLogs(logs, gpu, network).find("too few"), std::string::npos)
                << gpu;
        }
    }
    for (const GpuNetwork network : {GpuNetwork::PLUG_IN, GpuNetwork::OVER_CPU})
    {
        EXPECT_NE(DescribePublishedLogs(logs, "V100-SXM2-16GB", network).find("any GPUs (too few"),
                  std::string::npos);
    }
}

} // namespace proteus
} // namespace ns3
