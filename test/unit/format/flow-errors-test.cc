/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-flow-errors.h"
#include "ns3/proteus-input-file.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Differences of flows from packets: what is said of a run.
 */

namespace ns3
{
namespace proteus
{

namespace
{

const std::string HEAD = R"({"format": "proteus-flow-errors", "version": 1, "errors": [)";
const std::string ONE =
    R"({"executor": "flow", "work": "models", "setting": "one server with NVLink", "jobs": 90,
    "halfWithin": 0.001, "nineOfTenWithin": 0.02, "most": 0.183})";

std::vector<FlowErrors>
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadFlowErrors(input, "errors.json");
}

} // namespace

TEST(FlowErrors, OfASettingAreDescribed)
{
    EXPECT_EQ(
        DescribeFlowErrors(Read(HEAD + ONE + "]}"), "flow", "models", "one server with NVLink"),
        "of 90 random models on one server with NVLink half take as long as by packets within 0.1 "
        "%, nine of ten within 2.0 %, all within 18.3 % (doc/flow-level.rst)");
}

TEST(FlowErrors, OfOtherWorkAndSettingsAreSaidToBeTooFew)
{
    const std::vector<FlowErrors> errors = Read(HEAD + ONE + "]}");
    EXPECT_EQ(DescribeFlowErrors(errors, "flow", "models", "servers on the moon"),
              "too few random models on servers on the moon were compared to say how far 'flow' is "
              "from packets (doc/flow-level.rst)");
    EXPECT_EQ(DescribeFlowErrors(errors, "flow", "collectives", "one server with NVLink")
                  .find("too few random collectives"),
              0u);
    EXPECT_EQ(DescribeFlowErrors(errors, "packet", "models", "one server with NVLink"), "");
}

TEST(FlowErrors, OfAKindStandOnceAndInOrder)
{
    EXPECT_EQ(
        ErrorOf([] { Read(HEAD + ONE + ", " + ONE + "]}"); }),
        "errors.json: /errors/1: is of an executor, work and setting that have errors already");
    std::string wrong = ONE;
    wrong.replace(wrong.find("0.183"), 5, "0.019");
    EXPECT_EQ(ErrorOf([&] { Read(HEAD + wrong + "]}"); }).find("errors.json: /errors/0/most: "),
              0u);
}

TEST(FlowErrors, OursAreOfTheUsualSettings)
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/evaluation/flow-errors.json";
    InputFile file(path);
    const std::vector<FlowErrors> errors = ReadFlowErrors(file.GetStream(), path);
    for (const char* work : {"models", "collectives"})
    {
        for (const char* setting : {"one server with NVLink",
                                    "one server without NVLink",
                                    "servers with NVLink, InfiniBand on one switch",
                                    "servers with NVLink, RoCE on one switch",
                                    "servers with NVLink, RoCE on several switches"})
        {
            EXPECT_EQ(DescribeFlowErrors(errors, "flow", work, setting).find("of "), 0u) << setting;
        }
    }
}

} // namespace proteus
} // namespace ns3
