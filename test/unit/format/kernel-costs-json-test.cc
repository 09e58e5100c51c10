/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Costs of NCCL's kernels: numbers with sources, and their file.

#include "../error-of.h"

#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-kernel-costs-json.h"
#include "ns3/proteus-warning.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

CollectiveCostTable
Read(const std::string& fields)
{
    std::istringstream input("{\"format\": \"proteus-kernel-costs\", \"version\": 1" + fields +
                             "}");
    return ReadKernelCostsJson(input, "c.json");
}

std::string
GetError(const std::string& fields)
{
    return ErrorOf([&] { Read(fields); });
}

std::string
Write(const CollectiveCostTable& table)
{
    std::ostringstream out;
    WriteKernelCostsJson(table, "made up by a test", out);
    return out.str();
}

const std::string START = R"(, "generations": {"A100": {"startUs": {"LL": )";

} // namespace

TEST(KernelCostsJson, NumbersInAnotherUnitAreNamed)
{
    const auto warningOf = [](double factor) {
        const CollectiveCostTable& builtIn = GetBuiltInCollectiveCostTable();
        double usual = 0;
        for (const CollectiveGeneration& generation : builtIn.generations)
        {
            usual = generation.name == "A100" ? generation.startUs[0].value : usual;
        }
        EXPECT_GT(usual, 0);
        std::string heard;
        const WarningListener listener([&heard](const std::string& text) {
            heard += text;
            return true;
        });
        Read(START + R"({"value": )" + std::to_string(usual * factor) +
             R"(, "source": "a test"}}}})");
        return heard;
    };
    EXPECT_EQ(warningOf(1), "");
    EXPECT_EQ(warningOf(20), "");
    EXPECT_EQ(warningOf(0.05), "");
    EXPECT_EQ(warningOf(0), "");                // none of it
    for (const double factor : {1000.0, 0.001}) // nanoseconds, milliseconds
    {
        const std::string heard = warningOf(factor);
        EXPECT_EQ(heard.find("c.json: /generations/A100/startUs/LL/value: is "), 0u) << heard;
        EXPECT_NE(heard.find(": is it in another unit?"), std::string::npos) << heard;
    }
}

TEST(KernelCostsJson, EveryNumberHasASource)
{
    const CollectiveCostTable& table = GetBuiltInCollectiveCostTable();
    ASSERT_EQ(table.generations.size(), 4u);
    EXPECT_EQ(table.generations.front().firstCapability, 0u);
    for (const CollectiveGeneration& generation : table.generations)
    {
        for (const CollectiveCostField& field : GetCollectiveCostFields())
        {
            for (const SourcedNumber& number : generation.*field.row)
            {
                EXPECT_EQ(number.value > 0, !number.source.empty())
                    << generation.name << " " << field.name;
            }
            for (std::size_t p = 0; field.only && p < NCCL_PROTOCOLS; ++p)
            {
                EXPECT_TRUE((generation.*field.row)[p].source.empty() ||
                            static_cast<NcclProtocol>(p) == *field.only)
                    << generation.name << " " << field.name;
            }
        }
    }
}

TEST(KernelCostsJson, WhatIsWrittenReadsBack)
{
    const std::string text = Write(GetBuiltInCollectiveCostTable());
    std::istringstream input(text);
    EXPECT_EQ(Write(ReadKernelCostsJson(input, "c.json")), text);
}

TEST(KernelCostsJson, WhatIsLeftOutIsAsBuiltIn)
{
    const CollectiveCosts costs(Read(START + R"({"value": 7.5, "source": "a test"}}}},
        "launch": {"channelUs": {"value": 3.2, "source": "a test"}})"));
    const CollectiveKernelCost& ampere = costs.GetKernel(86);
    EXPECT_EQ(ampere.GetKernelPs(NcclProtocol::LL), 7500000);
    EXPECT_EQ(ampere.GetKernelPs(NcclProtocol::LL128),
              GetCollectiveKernelCost(86).GetKernelPs(NcclProtocol::LL128));
    for (const uint32_t other : {0, 75, 90, 120})
    {
        EXPECT_EQ(costs.GetKernel(other).kernelPs, GetCollectiveKernelCost(other).kernelPs);
    }
    EXPECT_EQ(costs.GetLaunch(221).channelPs, 3200000);
    EXPECT_EQ(costs.GetLaunch(222).channelPs, 100000); // 16 bytes in the place of 512
    EXPECT_EQ(costs.GetLaunch(222).kernelPs, GetCollectiveLaunchCost(222).kernelPs);
    EXPECT_EQ(costs.GetLaunch(221).peerPs, 470000);
    EXPECT_EQ(costs.GetLaunch(222).peerPs, 470000 / 3);
    EXPECT_EQ(&CollectiveCosts::Get(nullptr).GetKernel(80), &GetCollectiveKernelCost(80));
}

TEST(KernelCostsJson, AFitThatIsKept)
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/measurements/costs-of-13-tables.json";
    std::ifstream input(path);
    ASSERT_TRUE(input.good());
    const CollectiveCosts costs(ReadKernelCostsJson(input, path));
    // What a fit leaves as NCCL's tuner counts it; of H100 and B200, logs have other rates of LL.
    const std::map<uint32_t, double> ofTuner{{70, 3.25e9}, {80, 3.65e9}, {90, 5.9e9}, {100, 8.8e9}};
    for (const auto& [capability, rate] : ofTuner)
    {
        const CollectiveKernelCost& fitted = costs.GetKernel(capability);
        EXPECT_NE(fitted.kernelPs, GetCollectiveKernelCost(capability).kernelPs) << capability;
        EXPECT_DOUBLE_EQ(fitted.Get(HopKind::NVLINK, NcclProtocol::LL).blockBytesPerSecond, rate);
    }
}

TEST(KernelCostsJson, SaysWhatIsWrong)
{
    const std::string end = "}}}";
    EXPECT_EQ(GetError(START + R"({"value": 7, "source": "x"})" + end), "");
    const auto expect = [&](const std::string& fields, const std::string& hint) {
        EXPECT_NE(GetError(fields).find(hint), std::string::npos) << GetError(fields);
    };
    expect("", "c.json: has no number");
    expect(START + "7" + end, "c.json: /generations/A100/startUs/LL: ");
    expect(START + R"({"value": 7})" + end, "/startUs/LL/source: ");
    expect(START + R"({"value": 7, "source": ""})" + end, "say where the value is from");
    expect(START + R"({"value": -7, "source": "x"})" + end, "/startUs/LL/value: ");
    expect(R"(, "generations": {"A200": {}})", "c.json: /generations/A200: ");
    expect(R"(, "generations": {"A100": {"stopUs": {}}})", "c.json: /generations/A100/stopUs: ");
    expect(R"(, "generations": {"A100": {"messageGBps": {"LL": {"value": 1, "source": "x"}}}})",
           "c.json: /generations/A100/messageGBps/LL: ");
    for (const std::string rate : {"0", "1e-300"}) // which would be no limit
    {
        expect(R"(, "generations": {"A100": {"gpuGBps": {"LL": {"value": )" + rate +
                   R"(, "source": "x"}}}})",
               "c.json: /generations/A100/gpuGBps/LL/value: must be a number from 0.001");
    }
    expect(R"(, "launch": {"cpuUs": {"value": 1, "source": "x"}})", "c.json: /launch/cpuUs: ");
}
