/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-net-plugin.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

TEST(NetPlugin, IsFoundByName)
{
    EXPECT_EQ(FindNetPlugin("").reportedUs, 0);
    EXPECT_EQ(&FindNetPlugin(""), &FindNetPlugin("ib"));
    EXPECT_EQ(FindNetPlugin("sockets").GetChunkPs(), 40000000);
    try
    {
        FindNetPlugin("pigeons");
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what()).find("efa, efa-v3, fastrak, ib, sockets"),
                  std::string::npos)
            << error.what();
    }
}

TEST(NetPlugin, TellsTheTunerItsLatency)
{
    // A ring of all-reduce crosses two servers twice, with Simple there and back.
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    const auto cost = [&](const char* name, NcclProtocol protocol) {
        CollectivePreferences preferences;
        preferences.netPlugin = name;
        const CollectiveChooser chooser(cluster, paths, preferences);
        return NcclCostModel(chooser.MakeSystem(cluster.GetGpus()))
            .GetCost(Collective::ALL_REDUCE, NcclAlgorithm::RING, protocol)
            .latencyUs;
    };
    for (const char* name : {"efa", "efa-v3"})
    {
        const double reported = FindNetPlugin(name).reportedUs;
        ASSERT_GT(reported, 0);
        EXPECT_NEAR(cost(name, NcclProtocol::LL), cost("", NcclProtocol::LL) + 2 * reported, 1e-9);
        EXPECT_NEAR(cost(name, NcclProtocol::SIMPLE),
                    cost("", NcclProtocol::SIMPLE) + 4 * reported,
                    1e-9);
    }
    EXPECT_EQ(cost("sockets", NcclProtocol::LL), cost("ib", NcclProtocol::LL));
}
