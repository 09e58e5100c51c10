/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/config.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-nccl-options.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

TEST(NcclOptions, SetWhatAllExecutorsRead)
{
    NcclOptions options;
    options.SetDefaults();
    const CollectiveSettings untouched = ReadCollectiveSettings();
    EXPECT_EQ(untouched.algorithm, "");
    EXPECT_EQ(untouched.ncclVersion, 230u);
    options.algorithm = "tree";
    options.protocol = "LL";
    options.channels = 4;
    options.networkChannels = 2;
    options.ncclVersion = "2.18.3";
    options.cpuVendor = "amd";
    options.netPlugin = "efa";
    options.variables = "NCCL_BUFFSIZE=8M";
    options.SetDefaults();
    const CollectiveSettings settings = ReadCollectiveSettings();
    EXPECT_EQ(settings.algorithm, "tree");
    EXPECT_EQ(settings.protocol, "LL");
    EXPECT_EQ(settings.channels, 4u);
    EXPECT_EQ(settings.networkChannels, 2u);
    EXPECT_EQ(settings.ncclVersion, 218u);
    EXPECT_EQ(settings.cpuVendor, "amd");
    EXPECT_EQ(settings.netPlugin, "efa");
    EXPECT_EQ(settings.ncclVariables, "NCCL_BUFFSIZE=8M");
    EXPECT_THROW(options.SetDefaults(), std::invalid_argument); // the attributes are given by now
    Config::Reset();
    EXPECT_EQ(ReadCollectiveSettings().algorithm, "");
}

TEST(NcclOptions, SayWhereTheyDoNothing)
{
    const Cluster one = MakeCluster("dgx-a100", 1);
    const Cluster two = MakeCluster("dgx-a100", 2);
    EXPECT_NE(FindNoNetwork(one), "");
    EXPECT_EQ(FindNoNetwork(two), "");
    // Within a server of eight NVLinked GPUs, NCCL does not ask who made the CPUs; between servers
    // it does.
    EXPECT_NE(FindSameChoices(one, "intel"), "");
    EXPECT_EQ(FindSameChoices(two, "intel"), "");
    EXPECT_EQ(FindSameChoices(one, "amd"), ""); // as the cluster has it
    const std::string variables = "NCCL_ALGO=Ring,NCCL_BUFFSIZE=8M,NCCL_PROTO=LL";
    const auto lines = FindUntuned(Collective::ALL_TO_ALL, variables);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].find("NCCL_ALGO=Ring has no effect"), 0u) << lines[0];
    EXPECT_NE(lines[1].find("--protocol is obeyed"), std::string::npos) << lines[1];
    EXPECT_TRUE(FindUntuned(Collective::ALL_GATHER, variables).empty());
}
