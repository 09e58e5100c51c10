/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// --kernelCosts: what it reads, and when it does nothing.

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/proteus-kernel-costs-option.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param preset of the servers @param path of the file @return what FindIdle() says
std::vector<std::string>
FindIdle(const std::string& preset, const std::string& path)
{
    KernelCostsOption option;
    OptionList command("test");
    option.AddTo(command, [preset]() { return MakeCluster(preset, 1); });
    std::ostringstream out;
    EXPECT_TRUE(command.Parse({"test", "--kernelCosts=" + path}, out));
    return command.FindIdle();
}

} // namespace

TEST(KernelCostsOption, NumbersOfOtherGpusAreNamed)
{
    const std::string path = testing::TempDir() + "proteus-kernel-costs-option.json";
    std::ofstream(path) << R"({"format": "proteus-kernel-costs", "version": 1, "generations":
        {"B200": {"startUs": {"LL": {"value": 1, "source": "a test"}}}}})";
    EXPECT_TRUE(FindIdle("hgx-b200", path).empty());
    const auto idle = FindIdle("dgx-a100", path);
    ASSERT_EQ(idle.size(), 1u);
    EXPECT_NE(idle[0].find("what it says of these GPUs is as it is built in"), std::string::npos)
        << idle[0];
    std::ofstream(path) << R"({"format": "proteus-kernel-costs", "version": 1,
        "launch": {"kernelUs": {"value": 1, "source": "a test"}}})";
    EXPECT_TRUE(FindIdle("dgx-a100", path).empty());
    ns3::Config::SetDefault("ns3::proteus::PacketNetwork::KernelCosts", ns3::BooleanValue(false));
    const auto off = FindIdle("dgx-a100", path);
    ns3::Config::Reset();
    ASSERT_EQ(off.size(), 1u);
    EXPECT_NE(off[0].find("KernelCosts=false leaves them out"), std::string::npos) << off[0];
    std::remove(path.c_str());
}

TEST(KernelCostsOption, WithoutAFileCostsAreBuiltIn)
{
    KernelCostsOption option;
    EXPECT_EQ(option.Load(), nullptr);
    EXPECT_EQ(option.LoadTable().generations[1].startUs[0].value,
              GetBuiltInCollectiveCostTable().generations[1].startUs[0].value);
    option.file = "none.json";
    EXPECT_THROW(option.Load(), std::invalid_argument);
}
