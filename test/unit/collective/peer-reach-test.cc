/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-cluster-changes.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-first-way.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-peer-reach.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param peers whether GPUs reach each other, as far as NCCL is concerned @return rules
TransportRules
MakeRules(bool peers)
{
    TransportRules rules;
    rules.peerToPeer = peers;
    rules.pxn = peers;
    return rules;
}

/// @param servers how many @return two sockets with four cards each, two at a switch and a NIC,
/// which reach each other by CPUs as well
Cluster
MakeCards(uint32_t servers)
{
    CardLayout layout;
    layout.switches = 4;
    layout.nics = 4;
    CardChanges changes;
    changes.peers = true;
    return ChangeCards(MakeCluster(MakeCardServer("2x4xRTX-PRO-6000", layout), servers), changes);
}

/// @param cluster any @return how NCCL would take all its GPUs
NcclSystem
FindSystem(const Cluster& cluster)
{
    const Paths paths(cluster);
    CollectivePreferences preferences;
    preferences.variables = ParseNcclVariables("NCCL_P2P_DISABLE=1", 230);
    return CollectiveChooser(cluster, paths, preferences).MakeSystem(cluster.GetGpus());
}

TEST(PeerReach, IsOfPairsOfOneServer)
{
    const auto find = [](const Cluster& cluster, bool peers) {
        return FindPeerReach(MakeRules(peers), cluster, Paths(cluster));
    };
    for (const char* preset : {"dgx-a100", "dgx1-v100", "gb200-nvl72"})
    {
        const Cluster cluster = MakeCluster(preset, 1);
        EXPECT_EQ(find(cluster, true), PeerReach::ALL) << preset;
        EXPECT_EQ(find(cluster, false), PeerReach::NONE) << preset;
    }
    // Switches join pairs, and pairs meet at CPUs.
    const Cluster cards = MakeCards(1);
    EXPECT_EQ(find(cards, true), PeerReach::SOME);
    EXPECT_EQ(find(cards, false), PeerReach::NONE);
    // One GPU has none beside it.
    EXPECT_EQ(find(MakeCluster("dgx-spark", 2), false), PeerReach::ALL);
}

TEST(PeerReach, GpusThatDoNotReachEachOtherAreServersOfTheirOwn)
{
    const Cluster whole = MakeCluster("dgx-a100", 2);
    const Cluster cluster = WithoutHostMemory(MakeRules(false), whole);
    EXPECT_EQ(GroupByServer(whole, whole.GetGpus()).size(), 2u);
    EXPECT_EQ(GroupByServer(cluster, cluster.GetGpus()).size(), 16u);
    const NcclSystem system = FindSystem(cluster);
    EXPECT_EQ(system.servers, 16u);
    EXPECT_EQ(system.leastRanks, 1u);
    EXPECT_EQ(system.nvls.channels, 0u);
    EXPECT_TRUE(HasPartedServers(cluster));
    EXPECT_FALSE(HasPartedServers(whole));
    EXPECT_EQ(FindSystem(whole).servers, 2u);
    // The same as if it had been a file that says so.
    std::stringstream file;
    WriteClusterJson(cluster, file);
    const Cluster read = ReadClusterJson(file, "c.json");
    EXPECT_EQ(GroupByServer(read, read.GetGpus()).size(), 16u);
    // Where all reach each other, nothing changes.
    const Cluster same = WithoutHostMemory(MakeRules(true), whole);
    EXPECT_EQ(GroupByServer(same, same.GetGpus()).size(), 2u);
}

TEST(PeerReach, NicsOfOneServerReachEachOtherByTheNetwork)
{
    const Cluster cluster = WithoutHostMemory(MakeRules(false), MakeCluster("dgx-a100", 2));
    const Paths paths(cluster);
    const NicTable nics(cluster, false);
    const auto isNetwork = [&](LinkId link) {
        return cluster.GetLinks()[link].technology == LinkTechnology::INFINIBAND;
    };
    for (const DeviceId other : {1u, 7u, 8u})
    {
        const Connection connection =
            PlanConnection(cluster, paths, nics, 0, 0, 0, other, true, MakeRules(false));
        EXPECT_EQ(connection.hop, HopKind::NETWORK) << other;
        ASSERT_EQ(connection.waypoints.size(), 2u) << other;
        EXPECT_EQ(connection.waypoints[0], nics.Get(cluster.GetGpus()[0], 0));
        EXPECT_EQ(connection.waypoints[1], nics.Get(cluster.GetGpus()[other], 0));
        const auto links = WalkFirst(paths, connection.waypoints[0], connection.waypoints[1]);
        EXPECT_EQ(std::count_if(links.begin(), links.end(), isNetwork), 2) << other;
        EXPECT_EQ(links.size(), 2u) << other;
    }
    // The search counts the NIC, and no NVLink.
    const ChannelSearch search =
        SearchChannels(cluster, paths, cluster.GetGpus(), 80, CpuVendor::AMD, MakeRules(false));
    EXPECT_EQ(search.leastRanks, 1u);
    EXPECT_DOUBLE_EQ(search.ring.interGBps, search.ring.intraGBps);
}

TEST(PeerReach, TwoGpusOfOneNicMeetInIt)
{
    const Cluster cluster = WithoutHostMemory(MakeRules(false), MakeCluster("dgx1-v100", 2));
    const Paths paths(cluster);
    const Connection connection = PlanConnection(cluster,
                                                 paths,
                                                 NicTable(cluster, false),
                                                 0,
                                                 0,
                                                 0,
                                                 1,
                                                 true,
                                                 MakeRules(false));
    EXPECT_EQ(std::count_if(connection.waypoints.begin(),
                            connection.waypoints.end(),
                            [&](VertexId stop) {
                                return cluster.GetVertices()[stop].kind == VertexKind::NIC;
                            }),
              1);
}

TEST(PeerReach, CpusWhoseGpusReachEachOtherAreServersOfTheirOwn)
{
    TransportRules rules;
    rules.p2pLevel = PathType::PHB;
    const Cluster whole = MakeCards(2);
    const Cluster cluster = WithoutHostMemory(rules, whole);
    EXPECT_EQ(cluster.GetNServers(), 4u);
    EXPECT_TRUE(HasPartedServers(cluster));
    EXPECT_FALSE(HasPartedServers(whole));
    EXPECT_EQ(cluster.GetVertices().size(), whole.GetVertices().size());
    const auto servers = GroupByServer(cluster, cluster.GetGpus());
    ASSERT_EQ(servers.size(), 4u);
    for (uint32_t s = 0; s < 4; ++s)
    {
        const std::vector<uint32_t> four{4 * s, 4 * s + 1, 4 * s + 2, 4 * s + 3};
        EXPECT_EQ(servers[s], four);
    }
    // NICs of both CPUs meet at the network's switch.
    const Paths paths(cluster);
    const NicTable nics(cluster, false);
    const Connection connection = PlanConnection(cluster, paths, nics, 0, 0, 3, 4, true, rules);
    ASSERT_EQ(connection.waypoints.size(), 2u);
    EXPECT_EQ(connection.hop, HopKind::NETWORK);
    EXPECT_EQ(WalkFirst(paths, connection.waypoints[0], connection.waypoints[1]).size(), 2u);
    // A server of one CPU, or of NVSwitches, is not divided.
    EXPECT_EQ(DivideAtCpus(MakeCluster("dgx-a100", 2)).GetNServers(), 2u);
}

TEST(PeerReach, RefusesWhatWouldBeSeveralServersOrHasNoWay)
{
    const auto refuse = [](const Cluster& cluster, bool peers) -> std::string {
        try
        {
            WithoutHostMemory(MakeRules(peers), cluster);
            return "";
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
    };
    EXPECT_NE(
        refuse(MakeCards(2), true).find("some GPUs of a server reach each other and others do not"),
        std::string::npos);
    EXPECT_NE(refuse(MakeCluster("dgx-a100", 1), false).find("which no network joins"),
              std::string::npos);
    Cluster plain("plain"); // without NICs
    const VertexId cpu = AddServerVertices(plain, 0, MakeCpu(0, true, CpuVendor::INTEL), 1)[0];
    for (const VertexId gpu : AddServerVertices(plain, 0, MakeGpu("V100-SXM2-16GB"), 2))
    {
        AddPcieLink(plain, gpu, cpu, 3);
    }
    EXPECT_NE(refuse(plain, false).find("has none"), std::string::npos);
}

} // namespace
