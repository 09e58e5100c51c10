/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include "ns3/proteus-cloud-machines.h"
#include "ns3/proteus-net-plugin.h"

#include <gtest/gtest.h>
#include <map>
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
        EXPECT_NO_THROW(GetNcclVariables(machine.plugin, machine.variables, 230));
        for (const std::string& name : machine.names)
        {
            const Outcome other = Start("cluster", {"--cluster=" + name});
            EXPECT_EQ(other.code, 1) << name;
            EXPECT_NE(other.error.find("--cluster=" + machine.cluster), std::string::npos)
                << other.error;
            EXPECT_NE(other.error.find(machine.variables), std::string::npos) << other.error;
        }
    }
    EXPECT_EQ(DescribeCloudMachine("dgx-h100"), "");
}

TEST(CloudMachines, GpusByThemselvesAreAnsweredWithTheirServers)
{
    for (const auto& [name, answer] :
         std::map<std::string, std::string>{{"l40s", "2x4xL40S on two sockets"},
                                            {"RTX 4090", "--cluster=8xRTX-4090"},
                                            {"mi300x", "GPUs of AMD, and RCCL, are not modelled"},
                                            {"8xMI250X", "GPUs of AMD, and RCCL, are not modelled"},
                                            {"no-such", "cards are written 8xL40S"},
                                            {"64xL40S", "a CPU has 1 to 16 cards"},
                                            {"0xL40S", "nodes is the number of servers: 8xL40S:"},
                                            {"3x4xL40S", "and a server 1, 2, 4 or 8 CPUs"},
                                            {"8x4090", "did you mean RTX-4090?"},
                                            {"8*l40s", "write 8xL40S"},
                                            {"L40S x 4", "write 4xL40S"},
                                            {"8xA100-SXM4-80GB", "is no PCI Express card"}})
    {
        const Outcome run = Start("cluster", {"--cluster=" + name});
        EXPECT_EQ(run.code, 1);
        EXPECT_NE(run.error.find(answer), std::string::npos) << run.error;
    }
}

TEST(CloudMachines, HaveAdaptersOfOneGeneration)
{
    EXPECT_EQ(DescribeOtherAdapters("efa", "A100-SXM4-80GB"),
              "--netPlugin=efa is of other machines than those with these GPUs, P4d and P4de, "
              "which have efa-v1");
    EXPECT_NE(DescribeOtherAdapters("efa-1.9", "B200").find("have efa-v3"), std::string::npos);
    for (const auto& [plugin, gpu] :
         std::map<std::string, std::string>{{"efa", "H100-SXM5-80GB"},
                                            {"efa-v1", "A100-SXM4-40GB"},
                                            {"efa-v1-1.16", "A100-SXM4-80GB"},
                                            {"efa-v3-1.16", "B300"},
                                            {"efa-v3", "H200"},
                                            {"efa-1.9", "T4"},
                                            {"fastrak", "A100-SXM4-80GB"},
                                            {"", "B200"}})
    {
        EXPECT_EQ(DescribeOtherAdapters(plugin, gpu), "");
    }
    const Outcome run = Start("collective",
                              {"--cluster=dgx-a100:nic=4x100G-roce",
                               "--nodes=2",
                               "--netPlugin=efa",
                               "--min=8",
                               "--max=8"});
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.error.find("P4d and P4de, which have efa-v1"), std::string::npos) << run.error;
}
