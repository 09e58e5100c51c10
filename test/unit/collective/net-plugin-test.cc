/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-program-cache.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <utility>

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
        EXPECT_NE(std::string(error.what())
                      .find("cxi, cxi-2022, efa, efa-1.16, efa-1.9, efa-v1, efa-v1-1.16, "
                            "efa-v1-2022, efa-v3, "
                            "efa-v3-1.16, "
                            "fastrak, fastrak-simple, gib, ib, ib-one-core, sockets, sockets-aws, "
                            "sockets-gcp"),
                  std::string::npos)
            << error.what();
    }
}

TEST(NetPlugin, AdaptersUpToP5TakeLongerThanTheirSoftware)
{
    // 20 us of the cost model of the plug-in for NCCL's 14, and of P4d to P5 the 15 us of a message
    // through the adapter for the 2 of any RDMA.
    constexpr int64_t US = 1000000;
    EXPECT_EQ(FindNetPlugin("efa-v3").GetChunkPs(), (20 - 14) * US);
    for (const char* name : {"efa-v1", "efa-v1-2022", "efa", "efa-1.16"})
    {
        EXPECT_EQ(FindNetPlugin(name).GetChunkPs(), (20 - 14 + 15 - 2) * US) << name;
    }
    EXPECT_EQ(FindNetPlugin("ib").GetChunkPs(), 0);
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
    for (const char* name : {"efa", "efa-v1", "efa-v3"})
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

TEST(NetPlugin, TellsTheTunerBefore218WhatItCountsInPlaceOfItsOwn)
{
    // v2.12.7 to v2.17.1, src/graph/tuning.cc: interLat = latencyInter ? latencyInter : hwLat. A
    // ring of all-reduce counts four hops over the network there, a tree two, of all protocols.
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    const auto choose = [&](const char* name) {
        CollectivePreferences preferences;
        preferences.netPlugin = name;
        preferences.ncclVersion = 217;
        return NcclCostModel(
            CollectiveChooser(cluster, paths, preferences).MakeSystem(cluster.GetGpus()));
    };
    const auto latency = [&](const char* name, NcclAlgorithm algorithm) {
        return choose(name)
            .GetCost(Collective::ALL_REDUCE, algorithm, NcclProtocol::SIMPLE)
            .latencyUs;
    };
    EXPECT_NEAR(latency("efa-v1-2022", NcclAlgorithm::RING), 8.4 + 26 * 3.4 + 4 * 150, 1e-9);
    EXPECT_NEAR(latency("efa-v1-2022", NcclAlgorithm::TREE), 2 * (7 * 28 + 150), 1e-9);
    EXPECT_NEAR(latency("efa-v1", NcclAlgorithm::RING), 8.4 + 26 * 3.4 + 4 * 75, 1e-9);
    EXPECT_NEAR(latency("", NcclAlgorithm::RING), 8.4 + 26 * 3.4 + 4 * 9.6, 1e-9);
    // So small sizes take trees with the plug-in of that time, and rings without one.
    const auto algorithm = [&](const char* name) {
        CollectivePreferences preferences;
        preferences.netPlugin = name;
        preferences.ncclVersion = 217;
        preferences.protocol = "Simple";
        CollectiveRequest request;
        request.collective = Collective::ALL_REDUCE;
        request.bytes = 1024;
        request.vertices = cluster.GetGpus();
        CollectiveChooser(cluster, paths, preferences).Complete(request);
        return request.algorithm;
    };
    EXPECT_EQ(algorithm("efa-v1-2022"), "tree");
    EXPECT_EQ(algorithm(""), "ring");
}

TEST(NetPlugin, TellsTheTunerNothingBefore212)
{
    // ncclNetProperties_v5_t is the first with a latency (v2.12.7, src/include/nccl_net.h).
    const Cluster cluster = MakeCluster("dgx1-v100", 2);
    const Paths paths(cluster);
    const auto latency = [&](const char* name, uint32_t version) {
        CollectivePreferences preferences;
        preferences.netPlugin = name;
        preferences.ncclVersion = version;
        return NcclCostModel(
                   CollectiveChooser(cluster, paths, preferences).MakeSystem(cluster.GetGpus()))
            .GetCost(Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::LL)
            .latencyUs;
    };
    for (const uint32_t version : {206, 208, 211})
    {
        EXPECT_EQ(latency("efa", version), latency("", version)) << version;
    }
    EXPECT_GT(latency("efa", 212), latency("", 212) + 75);
}

TEST(NetPlugin, SetsVariablesThatTheUserMaySetOtherwise)
{
    constexpr uint64_t KIB = 1024;
    const NcclVariables now = GetNcclVariables("efa-1.16", "", 230);
    EXPECT_EQ(now.bufferBytes[0], 8192 * KIB);
    EXPECT_EQ(now.networkChunkBytes, 512 * KIB);
    EXPECT_EQ(now.nvlsChunkBytes, 512 * KIB);
    EXPECT_EQ(GetNcclVariables("efa-1.16", "NCCL_BUFFSIZE=4M", 230).bufferBytes[0], 4096 * KIB);
    EXPECT_EQ(GetNcclVariables("efa-1.16", "NCCL_BUFFSIZE=4M", 230).networkChunkBytes, 512 * KIB);
    EXPECT_EQ(GetNcclVariables("efa-1.9", "", 230).bufferBytes[0], 0u);
    EXPECT_EQ(GetNcclVariables("efa-1.9", "", 230).nvlsTreeChunkBytes, 512 * KIB);
    EXPECT_EQ(GetNcclVariables("efa-1.9", "", 219).nvlsTreeChunkBytes, 0u); // not read yet
    EXPECT_EQ(GetNcclVariables("efa-v1-1.16", "", 230).nvlsChunkBytes, 0u);
    EXPECT_EQ(GetNcclVariables("", "", 230).bufferBytes[0], 0u);
    // Two servers send messages in chunks of half a slot of 1 MiB then.
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    ProgramSettings settings;
    settings.netPlugin = "efa-1.16";
    settings.protocol.clear();
    CollectiveRequest request;
    request.collective = Collective::ALL_TO_ALL;
    request.bytes = uint64_t{1} << 30;
    request.vertices = cluster.GetGpus();
    CollectiveChooser(cluster, paths, MakePreferences(settings)).Complete(request);
    EXPECT_EQ(request.chunkBytes, 512 * KIB);
}

TEST(NetPlugin, SaysWhatMayBeChosen)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    const auto choose = [&](const char* name, const char* protocol, uint64_t bytes) {
        CollectivePreferences preferences;
        preferences.netPlugin = name;
        preferences.protocol = protocol;
        const CollectiveChooser chooser(cluster, paths, preferences);
        CollectiveRequest request;
        request.collective = Collective::ALL_REDUCE;
        request.bytes = bytes;
        request.vertices = cluster.GetGpus();
        chooser.Complete(request);
        return request;
    };
    EXPECT_EQ(choose("efa", "", 1024).protocol, Protocol::LL);
    EXPECT_EQ(choose("efa-v1", "", 1024).protocol, Protocol::SIMPLE);
    EXPECT_EQ(choose("efa-v1", "LL128", 1024).protocol, Protocol::LL128); // as the user says
    EXPECT_EQ(choose("fastrak-simple", "", 1024).protocol, Protocol::SIMPLE);
    EXPECT_EQ(choose("fastrak", "", 64 << 20).algorithm, "nvls-tree");
    for (const uint64_t bytes : {uint64_t(1024), uint64_t(64) << 20, uint64_t(1) << 30})
    {
        const std::string algorithm = choose("fastrak-simple", "", bytes).algorithm;
        EXPECT_TRUE(algorithm == "ring" || algorithm == "tree") << algorithm;
    }
}

TEST(NetPlugin, SocketsHaveTheThreadsOfTheirNicUnlessVariablesSayOthers)
{
    const auto find = [](const char* plugin, uint32_t version, const char* variables) {
        ProgramSettings settings;
        settings.netPlugin = plugin;
        settings.ncclVersion = version;
        settings.ncclVariables = variables;
        return MakeTransportRules(MakePreferences(settings));
    };
    const auto describe = [&](const char* plugin, uint32_t version, const char* variables) {
        const TransportRules rules = find(plugin, version, variables);
        return std::make_pair(rules.sockets.value().threads, rules.sockets.value().perThread);
    };
    using Sockets = std::pair<uint32_t, uint32_t>;
    EXPECT_EQ(describe("sockets", 230, ""), Sockets(0, 1));
    EXPECT_EQ(describe("sockets", 204, ""), Sockets(1, 1));
    EXPECT_EQ(describe("sockets-aws", 204, ""), Sockets(2, 8));
    EXPECT_EQ(describe("sockets-gcp", 212, ""), Sockets(4, 1));
    EXPECT_EQ(describe("sockets", 209, "NCCL_SOCKET_NTHREADS=4,NCCL_NSOCKS_PERTHREAD=8"),
              Sockets(4, 8));
    EXPECT_EQ(describe("sockets-aws", 230, "NCCL_SOCKET_NTHREADS=1"), Sockets(1, 8));
    EXPECT_FALSE(find("ib", 230, "NCCL_SOCKET_NTHREADS=4").sockets);
    EXPECT_FALSE(find("", 230, "").LimitsNetwork(Protocol::SIMPLE));
    EXPECT_FALSE(find("ib", 230, "").sharesCore);
    EXPECT_TRUE(find("ib-one-core", 230, "").sharesCore);
    EXPECT_THROW(find("sockets", 230, "NCCL_SOCKET_NTHREADS=16,NCCL_NSOCKS_PERTHREAD=8"),
                 std::invalid_argument);
}
