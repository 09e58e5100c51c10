/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-published-errors.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Errors of published iterations: what is said of a job, and that manual and data agree.
 */

namespace ns3
{
namespace proteus
{

namespace
{

const std::string HEAD = R"({"format": "proteus-published-errors", "version": 1, "errors": [)";
const std::string ONE = R"({"framework": "apex", "gpu": "V100", "gpus": ["V100-SXM2-16GB"],
    "what": "BERT", "rows": 23, "halfWithin": 0.053, "nineOfTenWithin": 0.22, "mean": -0.054})";

std::vector<PublishedErrors>
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadPublishedErrors(input, "errors.json");
}

std::vector<PublishedErrors>
LoadOurs()
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/evaluation/published-errors.json";
    InputFile file(path);
    return ReadPublishedErrors(file.GetStream(), path);
}

} // namespace

TEST(PublishedErrors, OfAKindAreDescribed)
{
    EXPECT_EQ(DescribePublishedErrors(Read(HEAD + ONE + "]}"), "apex", "V100-SXM2-16GB"),
              "of 23 published iterations of apex on V100 (BERT) half are computed within 5.3 %, "
              "nine of ten within 22.0 %, 5.4 % too short in the mean "
              "(doc/published-iterations.rst)");
}

TEST(PublishedErrors, OfOtherKindsAreSaidToBeTooFew)
{
    const std::vector<PublishedErrors> errors = Read(HEAD + ONE + "]}");
    for (const auto& [framework, gpu] : {std::pair{"ddp", "V100-SXM2-16GB"}, {"apex", "T4"}})
    {
        EXPECT_EQ(DescribePublishedErrors(errors, framework, gpu),
                  std::string("too few published iterations of ") + framework + " on " + gpu +
                      " were compared to say how far its times are off "
                      "(doc/published-iterations.rst)");
    }
}

TEST(PublishedErrors, AreOfOneKindOnce)
{
    EXPECT_EQ(ErrorOf([] { Read(HEAD + ONE + ", " + ONE + "]}"); }),
              "errors.json: /errors/1/gpus/0: has errors of apex already");
}

TEST(PublishedErrors, AreThoseOfTheManual)
{
    std::ifstream manual(PROTEUS_SOURCE_DIR "/doc/published-iterations.rst");
    std::vector<std::string> lines;
    for (std::string line; std::getline(manual, line);)
    {
        lines.push_back(line);
    }
    for (const PublishedErrors& kind : LoadOurs())
    {
        bool found = false;
        for (const std::string& line : lines)
        {
            std::istringstream words(line);
            std::string name;
            words >> name;
            if (name != "``" + kind.framework + "``")
            {
                continue;
            }
            std::ostringstream numbers;
            numbers << std::fixed << std::setprecision(1) << kind.rows << ' '
                    << 100 * kind.halfWithin << ' ' << 100 * kind.nineOfTenWithin << ' '
                    << std::showpos << 100 * kind.mean;
            std::string rest;
            for (std::string word; words >> word;)
            {
                rest += ' ' + word;
            }
            found = found || rest.find(' ' + numbers.str() + ' ') != std::string::npos;
        }
        EXPECT_TRUE(found) << kind.framework << " on " << kind.gpu;
    }
}

} // namespace proteus
} // namespace ns3
