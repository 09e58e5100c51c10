/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"

#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return the GPUs of a cluster that need another one to send by their NIC
std::vector<VertexId>
ListSendersByRelay(const Cluster& cluster, bool hasRelays = true)
{
    const NicTable nics(cluster, hasRelays);
    std::vector<VertexId> senders;
    for (const VertexId gpu : cluster.GetGpus())
    {
        if (nics.FindRelay(gpu, nics.Get(gpu, 0)) != Cluster::NO_VERTEX)
        {
            senders.push_back(gpu);
        }
    }
    return senders;
}

/// @return seconds of the processor to find the NICs of all GPUs, least of three times
double
TimeNics(uint32_t servers)
{
    const Cluster cluster = MakeCluster("dgx-a100", servers, FabricOptions());
    double seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i)
    {
        const std::clock_t start = std::clock();
        const NicTable nics(cluster);
        for (const VertexId gpu : cluster.GetGpus())
        {
            EXPECT_EQ(nics.CountNics(gpu), 1u);
        }
        seconds = std::min(seconds, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return seconds;
}

} // namespace

// 8 times as many servers: a search through all GPUs for each of them would take 64 times as long.
TEST(NicTable, TimeGrowsWithTheServers)
{
    EXPECT_LT(TimeNics(1024) / TimeNics(128), 20);
}

// PXN: two GPUs are at the switch of the only NIC, and hand on what the six others send.
TEST(NicTable, GpusFarFromTheNicSendByANearOne)
{
    const Cluster cluster = MakeTextCluster("dgx-a100:nic=1x200G", 2, FabricOptions());
    const auto& gpus = cluster.GetGpus();
    const std::vector<VertexId> senders = ListSendersByRelay(cluster);
    EXPECT_EQ(senders.size(), 12u);
    EXPECT_TRUE(ListSendersByRelay(cluster, false).empty());

    const NicTable nics(cluster);
    const VertexId nic = nics.Get(gpus[7], 0);
    const VertexId relay = nics.FindRelay(gpus[7], nic);
    ASSERT_NE(relay, Cluster::NO_VERTEX);
    EXPECT_EQ(nics.FindRelay(relay, nic), Cluster::NO_VERTEX);
    const Paths paths(cluster);
    const Connection connection = PlanConnection(cluster, paths, nics, 0, 0, 7, 15);
    EXPECT_EQ(connection.waypoints.front(), relay);
    // What comes in takes no GPU but the receiver: the way back has the same relay of the sender.
    const Connection back = PlanConnection(cluster, paths, nics, 0, 0, 15, 7);
    EXPECT_EQ(back.waypoints.front(), nics.FindRelay(gpus[15], nics.Get(gpus[15], 0)));
    EXPECT_EQ(back.waypoints.back(), nic);
}

// The nearest memory, where none lies on the way: two sockets with a switch each, and GPU and NIC,
// which do not reach each other, below either.
TEST(NicTable, ANicWithoutGpuDirectUsesTheMemoryOfItsOwnSocket)
{
    Cluster cluster("two sockets");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
    const auto link = [&cluster](VertexId a, VertexId b, LinkTechnology technology, double rate) {
        cluster.AddLink({a, b, technology, rate, 250000, DefaultFraming(technology)});
    };
    for (int32_t server = 0; server < 2; ++server)
    {
        std::vector<VertexId> cpus;
        for (const std::string socket : {"0", "1"})
        {
            const auto add = [&](const std::string& what, VertexKind kind) {
                const std::string model = kind == VertexKind::GPU ? "V100-SXM2-32GB" : "";
                Vertex vertex{"n" + std::to_string(server) + "." + what + socket,
                              kind,
                              server,
                              0,
                              model};
                vertex.gpuDirectRdma = kind != VertexKind::NIC;
                return cluster.AddVertex(vertex);
            };
            cpus.push_back(add("cpu", VertexKind::CPU));
            const VertexId pcie = add("pcie", VertexKind::PCIE_SWITCH);
            const VertexId nic = add("nic", VertexKind::NIC);
            link(pcie, cpus.back(), LinkTechnology::PCIE, 16e9);
            link(add("gpu", VertexKind::GPU), pcie, LinkTechnology::PCIE, 16e9);
            link(nic, pcie, LinkTechnology::PCIE, 16e9);
            link(nic, hub, LinkTechnology::INFINIBAND, 12e9);
        }
        link(cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 8e9);
    }
    const Paths paths(cluster);
    const NicTable nics(cluster);
    for (const DeviceId gpu : {0U, 1U})
    {
        const auto& waypoints = PlanConnection(cluster, paths, nics, 0, 0, gpu, gpu + 2).waypoints;
        EXPECT_EQ(waypoints.front(), cluster.FindVertex("n0.cpu" + std::to_string(gpu)));
        EXPECT_EQ(waypoints.back(), cluster.FindVertex("n1.cpu" + std::to_string(gpu)));
    }
}

// GPUDirect RDMA ends at CPUs: four GPUs are at the switch of the NIC, and four at the other
// socket.
TEST(NicTable, GpusFarFromTheNicWithoutARelayUseTheMemoryOfTheHost)
{
    const Cluster cluster = MakeCluster("pcie-v100x8", 2);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    const auto listKinds = [&](DeviceId from, DeviceId to) {
        std::vector<VertexKind> kinds;
        for (const VertexId stop : PlanConnection(cluster, paths, nics, 0, 0, from, to).waypoints)
        {
            kinds.push_back(cluster.GetVertices()[stop].kind);
        }
        return kinds;
    };
    constexpr VertexKind NIC = VertexKind::NIC;
    constexpr VertexKind CPU = VertexKind::CPU;
    EXPECT_EQ(listKinds(0, 8), (std::vector{NIC, NIC}));
    EXPECT_EQ(listKinds(0, 15), (std::vector{NIC, NIC, CPU}));
    EXPECT_EQ(listKinds(7, 8), (std::vector{CPU, NIC, NIC}));
}

TEST(ClusterText, PacketsOfANetworkAreAsLongAsItsMtu)
{
    const Cluster cluster = MakeTextCluster("dgx1-v100:nic=2x100G-roce,mtu=1024", 2, {});
    uint32_t links = 0;
    for (const Link& link : cluster.GetLinks())
    {
        const bool isNetwork = link.technology == LinkTechnology::ROCE;
        EXPECT_EQ(link.framing.unitBytes, isNetwork ? 1024u : 4096u);
        links += isNetwork;
        if (isNetwork)
        {
            // Ethernet with an MTU of 1500 bytes: 1024 of every 1106 are payload.
            EXPECT_EQ(link.framing.packetBytes, 1024u);
            EXPECT_EQ(link.framing.packetHeaderBytes, 82u);
        }
    }
    EXPECT_EQ(links, 4u);
    for (const char* wrong : {"mtu=1500", "mtu=128", "mtu=9000", "mtu=1k"})
    {
        EXPECT_THROW(MakeTextCluster(std::string("dgx-a100:") + wrong, 2, {}),
                     std::invalid_argument)
            << wrong;
    }
}

TEST(ClusterText, GpusOfAnotherModelAreAtTheSameLinks)
{
    for (const uint32_t servers : {1u, 2u})
    {
        const Cluster preset = MakeCluster("dgx-a100", servers);
        const Cluster cluster =
            MakeTextCluster("dgx-a100:gpu=A100-SXM4-40GB", servers, FabricOptions());
        EXPECT_EQ(cluster.GetLinks().size(), preset.GetLinks().size());
        ASSERT_EQ(cluster.GetGpus(), preset.GetGpus());
        for (const VertexId gpu : cluster.GetGpus())
        {
            EXPECT_EQ(cluster.GetVertices()[gpu].model, "A100-SXM4-40GB");
            EXPECT_EQ(cluster.GetVertices()[gpu].memoryBytesPerSecond, 1555e9);
        }
    }
    EXPECT_THROW(MakeTextCluster("dgx-a100:gpu=A1000", 2, FabricOptions()), std::invalid_argument);
}

TEST(NicTable, NobodyRelaysWhereSwitchesLeadToNicsOrThereIsNoNvlink)
{
    for (const char* preset : {"dgx-a100", "dgx-h100", "dgx1-v100", "pcie-v100x8"})
    {
        EXPECT_TRUE(ListSendersByRelay(MakeCluster(preset, 2)).empty()) << preset;
    }
}

TEST(Connection, BlocksReadAndWriteHostMemoryWhereThereIsNoPeerToPeer)
{
    // Every two GPUs of the server have a switch below a CPU without peer-to-peer.
    const Cluster barred = MakeCluster("titanxp-pcie", 1);
    const Paths paths(barred);
    const NicTable nics(barred);
    const Connection host = PlanConnection(barred, paths, nics, 0, 0, 0, 7);
    EXPECT_TRUE(CrossesHostMemory(barred, paths, host.source, host.destination, TransportRules()));
    EXPECT_EQ(host.GetReceiveHop().kind, HopKind::PCIE);
    // PCIe Gen3 of 16 lanes, with the headers of SM copies.
    EXPECT_GT(host.GetReceiveHop().hostBytesPerSecond, 8e9);
    EXPECT_LT(host.GetReceiveHop().hostBytesPerSecond, 15.76e9);
    EXPECT_GT(host.GetSendHop().hostBytesPerSecond, 0);
    EXPECT_LT(host.GetSendHop().hostBytesPerSecond, 15.76e9);

    const Cluster open = MakeCluster("dgx-a100", 2);
    const Paths openPaths(open);
    const NicTable openNics(open);
    for (const DeviceId to : {1, 9})
    {
        const Connection direct = PlanConnection(open, openPaths, openNics, 0, 0, 0, to);
        EXPECT_FALSE(CrossesHostMemory(open, openPaths, direct.source, direct.destination, {}))
            << to;
        EXPECT_EQ(direct.GetSendHop().hostBytesPerSecond, 0) << to;
        EXPECT_EQ(direct.GetReceiveHop().hostBytesPerSecond, 0) << to;
    }
}
