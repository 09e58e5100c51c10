/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include "ns3/proteus-cloud-machines.h"
#include "ns3/proteus-net-plugin.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

TEST(CloudMachines, HaveClustersAndPluginsThatThereAre)
{
    for (const CloudMachine& machine : GetCloudMachines())
    {
        const Outcome run = Start("cluster", {"--cluster=" + machine.cluster, "--nodes=2"});
        EXPECT_EQ(run.code, 0) << machine.cluster << "\n" << run.error;
        if (!machine.plugin.empty())
        {
            EXPECT_NO_THROW(FindNetPlugin(machine.plugin));
        }
        for (const std::string& name : machine.names)
        {
            const Outcome other = Start("cluster", {"--cluster=" + name});
            EXPECT_EQ(other.code, 1) << name;
            EXPECT_NE(other.error.find("--cluster=" + machine.cluster), std::string::npos)
                << other.error;
        }
    }
    EXPECT_EQ(DescribeCloudMachine("dgx-h100"), "");
}
