/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-collective-cluster.h"
#include "ns3/proteus-collective-log.h"
#include "ns3/proteus-logged-variables.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace ns3::proteus;

namespace
{

/// @param settings of a log @param cause why they are not taken over
void
ExpectLeft(const std::set<std::string>& settings, const std::string& cause, NcclOptions typed = {})
{
    const LoggedVariables sorted = SortLoggedVariables(settings, typed);
    EXPECT_EQ(sorted.taken, "");
    ASSERT_EQ(sorted.doubts.size(), 1u);
    EXPECT_NE(sorted.doubts[0].find(cause), std::string::npos) << sorted.doubts[0];
    for (const std::string& setting : settings)
    {
        EXPECT_NE(sorted.doubts[0].find(setting), std::string::npos) << sorted.doubts[0];
    }
}

} // namespace

TEST(LoggedVariables, TakesWhatIsModelled)
{
    const LoggedVariables sorted = SortLoggedVariables({"NCCL_ALGO=Ring,Tree",
                                                        "NCCL_BUFFSIZE=8388608",
                                                        "NCCL_MIN_NCHANNELS=4",
                                                        "NCCL_NVLS_ENABLE=0",
                                                        "NCCL_P2P_LEVEL=SYS",
                                                        "NCCL_PROTO=Simple"},
                                                       {});
    EXPECT_EQ(sorted.taken,
              "NCCL_ALGO=Ring,Tree,NCCL_BUFFSIZE=8388608,NCCL_MIN_NCHANNELS=4,NCCL_NVLS_ENABLE=0,"
              "NCCL_P2P_LEVEL=SYS,NCCL_PROTO=Simple");
    EXPECT_TRUE(sorted.doubts.empty());
}

TEST(LoggedVariables, TakesLevelsByNumberAndByName)
{
    // What was typed, and what NCCL says of it.
    const LoggedVariables sorted = SortLoggedVariables({"NCCL_NET_GDR_LEVEL=2",
                                                        "NCCL_NET_GDR_LEVEL=PXB",
                                                        "NCCL_P2P_LEVEL=5",
                                                        "NCCL_P2P_LEVEL=SYS"},
                                                       {});
    EXPECT_EQ(sorted.taken, "NCCL_NET_GDR_LEVEL=PXB,NCCL_P2P_LEVEL=SYS");
    EXPECT_TRUE(sorted.doubts.empty());
    ExpectLeft({"NCCL_NET_GDR_LEVEL=2", "NCCL_NET_GDR_LEVEL=PHB"}, "in several ways");
    ExpectLeft({"NCCL_NET_GDR_LEVEL=2", "NCCL_NET_GDR_LEVEL=PXB", "NCCL_NET_GDR_LEVEL=SYS"},
               "in several ways");
}

TEST(LoggedVariables, NamesAllOthers)
{
    ExpectLeft({"NCCL_IB_HCA=mlx5_0,mlx5_1"}, "the NICs are those of the cluster");
    ExpectLeft({"NCCL_IB_DISABLE=1"}, "--netPlugin=sockets says it");
    ExpectLeft({"NCCL_IB_TC=41", "NCCL_IB_SL=0"}, "traffic classes");
    ExpectLeft({"NCCL_MADE_UP=1"}, "not known");
    ExpectLeft({"NCCL_ALGO=Star"}, "Star");
    ExpectLeft({"NCCL_CROSS_NIC=3"}, "from 0 to 2");
    ExpectLeft({"NCCL_NET=Socket"}, "sockets (\"Socket\")");
    ExpectLeft({"NCCL_ALGO=Ring", "NCCL_ALGO=Tree"}, "in several ways");
    // NCCL takes this for 8 bytes.
    ExpectLeft({"NCCL_BUFFSIZE=8M"}, "digits");
    NcclOptions old;
    old.ncclVersion = "2.12";
    ExpectLeft({"NCCL_NVLS_ENABLE=0"}, "does not read it", old);
}

TEST(LoggedVariables, CountLessThanWhatTheUserSays)
{
    NcclOptions typed;
    typed.variables = "NCCL_PROTO=LL";
    ExpectLeft({"NCCL_PROTO=Simple"}, "--nccl says it", typed);
    typed.algorithm = "ring";
    ExpectLeft({"NCCL_ALGO=Tree"}, "--algorithm says it", typed);
}

TEST(LoggedVariables, ALogOfOneHostIsOfOneServer)
{
    NcclTestsTable log;
    log.ranks = 4;
    CollectiveProgramOptions options;
    options.measured = "log";
    // By cluster: servers for logs of one and of two hosts; 0: as the cluster says.
    for (const auto& [cluster, one, two] : {std::tuple("quad-gh200:nic=4x200G", 1, 2),
                                            {"quad-gh200:nic=4x200G,nodes=2", 0, 2},
                                            {"quad-gh200", 0, 2}})
    {
        options.cluster = cluster;
        log.nodes = 1;
        EXPECT_EQ(TakeFromLog(options, log).nodes, one) << cluster;
        log.nodes = 2;
        EXPECT_EQ(TakeFromLog(options, log).nodes, two) << cluster;
    }
}

TEST(LoggedVariables, ShmDisableIsLeftWhereTheClusterCannotHonourIt)
{
    const std::string both = "NCCL_P2P_DISABLE=1,NCCL_SHM_DISABLE=1";
    CollectiveProgramOptions typed;
    typed.cluster = "dgx-a100";
    typed.measured = "log";
    typed.nodes = 2;
    CollectiveProgramOptions options = typed;
    options.nccl.variables = both + ",NCCL_ALGO=Ring,Tree";
    const Cluster two = MakeCollectiveCluster(typed, options);
    EXPECT_EQ(GroupByServer(two, two.GetGpus()).size(), 16u);
    EXPECT_EQ(options.nccl.variables, both + ",NCCL_ALGO=Ring,Tree");
    // One server has no network.
    options.nodes = 1;
    const Cluster one = MakeCollectiveCluster(typed, options);
    EXPECT_EQ(GroupByServer(one, one.GetGpus()).size(), 1u);
    EXPECT_EQ(options.nccl.variables, "NCCL_P2P_DISABLE=1,NCCL_ALGO=Ring,Tree");
    typed.nccl.variables = both;
    options.nccl.variables = both;
    EXPECT_THROW(MakeCollectiveCluster(typed, options), std::invalid_argument);
}
