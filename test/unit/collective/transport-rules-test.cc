/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-server-links.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/proteus-transport-rules.h"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param vendor of the CPU @param gpus at it, each by itself @return the server
Cluster
MakePlain(CpuVendor vendor, uint32_t gpus)
{
    Cluster cluster("plain");
    const VertexId cpu = AddServerVertices(cluster, 0, MakeCpu(0, true, vendor), 1)[0];
    for (const VertexId gpu : AddServerVertices(cluster, 0, MakeGpu("V100-SXM2-16GB"), gpus))
    {
        AddPcieLink(cluster, gpu, cpu, 3);
    }
    return cluster;
}

/// @param version of NCCL @param text of its variables @return the rules
TransportRules
MakeRules(uint32_t version, const std::string& text)
{
    CollectivePreferences preferences;
    preferences.ncclVersion = version;
    preferences.variables = ParseNcclVariables(text, version);
    return MakeTransportRules(preferences);
}

/// @param cluster of the GPUs @param from a GPU @param to another one @param rules of transports
/// @return the connection of a communicator of all GPUs
Connection
Connect(const Cluster& cluster, DeviceId from, DeviceId to, const TransportRules& rules)
{
    const Paths paths(cluster);
    std::vector<DeviceId> all(cluster.GetGpus().size());
    std::iota(all.begin(), all.end(), 0);
    const bool reads = ListGdrReads(rules, cluster, paths, all)[from];
    return PlanConnection(cluster, paths, NicTable(cluster), 0, 0, from, to, true, rules, reads);
}

} // namespace

TEST(TransportRules, NcclStopsAtCpus)
{
    for (const auto& [vendor, gpus, version, isAllowed] :
         {std::make_tuple(CpuVendor::INTEL, 2u, 230u, false),
          std::make_tuple(CpuVendor::INTEL, 2u, 209u, false),
          std::make_tuple(CpuVendor::INTEL, 2u, 208u, true),
          std::make_tuple(CpuVendor::ARM, 2u, 208u, false),
          std::make_tuple(CpuVendor::AMD, 4u, 222u, true),
          std::make_tuple(CpuVendor::AMD, 4u, 223u, false),
          std::make_tuple(CpuVendor::AMD, 2u, 223u, true)})
    {
        const Cluster cluster = MakePlain(vendor, gpus);
        const Paths paths(cluster);
        const VertexId a = cluster.GetGpus()[0];
        const VertexId b = cluster.GetGpus()[1];
        const TransportRules rules = MakeRules(version, "");
        EXPECT_EQ(AllowsPeerToPeer(rules, cluster, paths, a, b), isAllowed)
            << ToString(vendor) << ' ' << gpus << ' ' << version;
        // Otherwise copies go through the memory of the host.
        const Connection connection = Connect(cluster, 0, 1, rules);
        EXPECT_EQ(connection.waypoints.empty(), isAllowed);
        EXPECT_EQ(connection.hostWrite.empty(), isAllowed);
        EXPECT_EQ(connection.hostRead.empty(), isAllowed);
        EXPECT_EQ(AllowsPeerToPeer(MakeRules(version, "NCCL_P2P_LEVEL=SYS"), cluster, paths, a, b),
                  true);
        EXPECT_EQ(AllowsPeerToPeer(MakeRules(version, "NCCL_P2P_LEVEL=PXB"), cluster, paths, a, b),
                  false);
    }
    // What the machine does not allow no variable changes.
    Cluster barred("barred");
    const VertexId cpu = AddServerVertices(barred, 0, MakeCpu(0, false), 1)[0];
    for (const VertexId gpu : AddServerVertices(barred, 0, MakeGpu("V100-SXM2-16GB"), 2))
    {
        AddPcieLink(barred, gpu, cpu, 3);
    }
    EXPECT_FALSE(Connect(barred, 0, 1, MakeRules(230, "NCCL_P2P_LEVEL=SYS")).hostWrite.empty());
}

TEST(TransportRules, NvlinksAreLeftWhereGpusMayNotReachEachOther)
{
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    const Paths paths(cluster);
    for (const char* text : {"NCCL_P2P_DISABLE=1", "NCCL_P2P_LEVEL=LOC", "NCCL_P2P_LEVEL=0"})
    {
        const TransportRules rules = MakeRules(230, text);
        const Connection connection = Connect(cluster, 0, 7, rules);
        EXPECT_EQ(connection.hop, HopKind::PCIE) << text;
        ASSERT_EQ(connection.waypoints.size(), 1u) << text;
        EXPECT_EQ(cluster.GetVertices()[connection.waypoints[0]].kind, VertexKind::CPU);
        for (const HostLink& link : connection.hostRead)
        {
            EXPECT_NE(cluster.GetLinks()[link.link].technology, LinkTechnology::NVLINK);
        }
        const ChannelSearch search =
            SearchChannels(cluster, paths, cluster.GetGpus(), 90, CpuVendor::INTEL, rules);
        EXPECT_GE(search.ring.typeIntra, PathType::PHB) << text;
        EXPECT_EQ(search.nvls.channels, 0u) << text;
        EXPECT_EQ(search.messageChannels, 2u) << text;
    }
    EXPECT_EQ(Connect(cluster, 0, 7, MakeRules(230, "NCCL_P2P_LEVEL=NVL")).hop, HopKind::NVLINK);
    // Levels below it leave switches of PCIe to the memory of the host.
    const Cluster pcie = MakeCluster("pcie-v100x4", 1);
    EXPECT_TRUE(Connect(pcie, 0, 1, MakeRules(230, "")).hostWrite.empty());
    EXPECT_FALSE(Connect(pcie, 0, 1, MakeRules(230, "NCCL_P2P_LEVEL=NVL")).hostWrite.empty());
    // Servers of one domain of NVLink would take the network.
    const Cluster rack = MakeCluster("gb200-nvl72", 1);
    EXPECT_THROW(Connect(rack, 0, 71, MakeRules(230, "NCCL_P2P_DISABLE=1")), std::invalid_argument);
}

TEST(TransportRules, ThirdGpusPassOnWhereNvbIsAllowed)
{
    EXPECT_TRUE(MakeRules(230, "").HasRelays());
    EXPECT_TRUE(MakeRules(230, "NCCL_P2P_LEVEL=PIX").HasRelays());
    EXPECT_FALSE(MakeRules(230, "NCCL_P2P_LEVEL=NVL").HasRelays());
    EXPECT_FALSE(MakeRules(230, "NCCL_P2P_DISABLE=1").HasRelays());
}

TEST(TransportRules, LevelsOfGpuDirectRdma)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const auto staged = [&](const char* text) {
        const Connection connection = Connect(cluster, 0, 8, MakeRules(230, text));
        return std::make_pair(!connection.hostWrite.empty(), !connection.hostRead.empty());
    };
    EXPECT_EQ(staged(""), std::make_pair(false, false));
    EXPECT_EQ(staged("NCCL_NET_GDR_LEVEL=PIX"), std::make_pair(false, false));
    EXPECT_EQ(staged("NCCL_NET_GDR_LEVEL=LOC"), std::make_pair(true, true));
    EXPECT_EQ(staged("NCCL_NET_GDR_READ=0"), std::make_pair(true, false));
    // A NIC at a CPU.
    Cluster far("far");
    const VertexId hub = far.AddVertex({"hub", VertexKind::SWITCH, -1});
    for (uint32_t server = 0; server < 2; ++server)
    {
        const VertexId cpu = AddServerVertices(far, server, MakeCpu(0), 1)[0];
        AddPcieLink(far, AddServerVertices(far, server, MakeGpu("L40S"), 1)[0], cpu, 4);
        const VertexId nic = AddServerVertices(far, server, VertexKind::NIC, 1)[0];
        AddPcieLink(far, nic, cpu, 4);
        AddDefaultLink(far, nic, hub, LinkTechnology::ROCE, 25e9);
    }
    EXPECT_FALSE(Connect(far, 0, 1, MakeRules(230, "")).hostWrite.empty());
    EXPECT_TRUE(Connect(far, 0, 1, MakeRules(230, "NCCL_NET_GDR_LEVEL=PHB")).hostWrite.empty());
    EXPECT_TRUE(Connect(far, 0, 1, MakeRules(230, "NCCL_NET_GDR_LEVEL=SYS")).hostRead.empty());
    EXPECT_FALSE(Connect(far, 0, 1, MakeRules(230, "NCCL_NET_GDR_LEVEL=PXB")).hostRead.empty());
}

TEST(TransportRules, NicsReadFromGpusWithNvlinksOrAlone)
{
    const auto reads = [](const std::string& name,
                          uint32_t version,
                          const std::vector<DeviceId>& group,
                          const char* text = "") {
        const Cluster cluster = MakeCluster(name, 2);
        return ListGdrReads(MakeRules(version, text), cluster, Paths(cluster), group);
    };
    using Answers = std::vector<bool>;
    // Without NVLinks a GPU that is not alone in its server leaves what it sends in host memory.
    EXPECT_EQ(reads("pcie-v100x4", 230, {0, 1, 4}), (Answers{false, false, true}));
    EXPECT_EQ(reads("pcie-v100x4", 230, {0, 4}), (Answers{true, true}));
    EXPECT_EQ(reads("pcie-v100x4", 230, {0, 1, 4}, "NCCL_NET_GDR_READ=1"),
              (Answers{true, true, true}));
    // GPU 0 of a DGX-1 has NVLinks to 1 to 4.
    EXPECT_EQ(reads("dgx1-v100", 230, {0, 1, 8}), (Answers{true, true, true}));
    EXPECT_EQ(reads("dgx1-v100", 230, {0, 5, 8}), (Answers{false, false, true}));
    EXPECT_EQ(reads("dgx1-v100", 230, {0, 1, 8}, "NCCL_P2P_DISABLE=1"),
              (Answers{false, false, true}));
    EXPECT_EQ(reads("dgx-a100", 217, {0, 1, 8}), (Answers{true, true, true}));
    // From Ampere on, and NCCL 2.19, NICs read from all.
    Cluster plain("plain");
    const VertexId cpu = AddServerVertices(plain, 0, MakeCpu(0), 1)[0];
    for (const VertexId gpu : AddServerVertices(plain, 0, MakeGpu("A40"), 2))
    {
        AddPcieLink(plain, gpu, cpu, 4);
    }
    const Paths paths(plain);
    EXPECT_EQ(ListGdrReads(MakeRules(219, ""), plain, paths, {0, 1}), (Answers{true, true}));
    EXPECT_EQ(ListGdrReads(MakeRules(218, ""), plain, paths, {0, 1}), (Answers{false, false}));
    // What leaves a GPU goes through the host, what comes does not.
    const Connection connection = Connect(MakeCluster("pcie-v100x4", 2), 0, 4, MakeRules(230, ""));
    EXPECT_FALSE(connection.hostWrite.empty());
    EXPECT_TRUE(connection.hostRead.empty());
}

TEST(TransportRules, MessagesAreHandedOnByGpusNextToTheirNics)
{
    const auto handsOn = [](const Cluster& cluster, uint32_t version, const char* text = "") {
        return HandsOnMessages(MakeRules(version, text),
                               cluster,
                               Paths(cluster),
                               cluster.GetGpus());
    };
    const Cluster dgx = MakeCluster("dgx-a100", 2);
    EXPECT_TRUE(handsOn(dgx, 212));
    EXPECT_FALSE(handsOn(dgx, 211));
    EXPECT_FALSE(handsOn(dgx, 230, "NCCL_PXN_DISABLE=1"));
    // C2C leads to the NICs of a Grace.
    const Cluster racks = MakeCluster("gb200-nvl72", 1);
    EXPECT_FALSE(handsOn(racks, 227));
    EXPECT_TRUE(handsOn(racks, 228));
    // NICs at CPUs: each GPU sends by its own, whatever NVLinks there are.
    Cluster far("far");
    const VertexId hub = far.AddVertex({"hub", VertexKind::SWITCH, -1});
    for (uint32_t server = 0; server < 2; ++server)
    {
        const VertexId cpu = AddServerVertices(far, server, MakeCpu(0), 1)[0];
        const auto gpus = AddServerVertices(far, server, MakeGpu("A100-SXM4-40GB"), 2);
        AddDefaultLink(far, gpus[0], gpus[1], LinkTechnology::NVLINK, 100e9, 3);
        const auto nics = AddServerVertices(far, server, VertexKind::NIC, 2);
        for (std::size_t i = 0; i < gpus.size(); ++i)
        {
            AddPcieLink(far, gpus[i], cpu, 4);
            AddPcieLink(far, nics[i], cpu, 4);
            AddDefaultLink(far, nics[i], hub, LinkTechnology::ROCE, 25e9);
        }
    }
    EXPECT_FALSE(handsOn(far, 230));
    const auto choose = [](const Cluster& cluster) {
        const Paths paths(cluster);
        CollectiveRequest request;
        request.collective = Collective::ALL_TO_ALL;
        request.bytes = 1 << 24;
        request.vertices = cluster.GetGpus();
        CollectiveChooser(cluster, paths).Complete(request);
        return request.algorithm;
    };
    EXPECT_EQ(choose(dgx), "pxn");
    EXPECT_EQ(choose(far), "direct");
}
