/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../cluster/cluster-parts.h"
#include "nccl-topology-text.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-nccl-topology.h"
#include "ns3/proteus-nccl-values.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// Real dumps; they lie beside the clone where there are any.
const std::string SAMPLES = PROTEUS_SOURCE_DIR "/../shared/data/nccl-topo/";

/// @return rate of the link between two vertices, 0 where there is none
double
Rate(const Cluster& cluster, const char* a, const char* b)
{
    const VertexId other = cluster.FindVertex(b);
    double sum = 0;
    for (const Port& port : cluster.GetPorts(cluster.FindVertex(a)))
    {
        sum += port.neighbor == other ? cluster.GetLinks()[port.link].bytesPerSecond : 0;
    }
    return sum;
}

/// @return the sample of that name; skip the test if there is none
bool
HasSample(const std::string& name)
{
    return std::ifstream(SAMPLES + name).good();
}

} // namespace

#define NEED_SAMPLE(name)                                                                          \
    if (!HasSample(name))                                                                          \
    {                                                                                              \
        GTEST_SKIP() << "there is no " << SAMPLES << name;                                         \
    }

TEST(NcclTopology, Dgx1WithOneNic)
{
    NEED_SAMPLE("dgx1_v100_1ib_8gpu.xml");
    const Cluster cluster = LoadCluster(SAMPLES + "dgx1_v100_1ib_8gpu.xml");
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 1u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 0u);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "V100-SXM2-32GB");
        EXPECT_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 6 * 25e9);
        EXPECT_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 15753846154);
    }
    // As the file says of GPU 0 (busid 1a): 1b x 1, b2 x 2, 3e x 1, 3d x 2.
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.gpu1"), 25e9);
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.gpu7"), 50e9);
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.gpu3"), 25e9);
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.gpu2"), 50e9);
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.gpu4"), 0);
    EXPECT_EQ(Rate(cluster, "n0.nic0", "n0.pcie1"), 15753846154);
    EXPECT_EQ(Rate(cluster, "n0.cpu0", "n0.cpu1"), 10e9); // Skylake

    const Cluster two = LoadCluster(SAMPLES + "dgx1_v100_1ib_8gpu.xml", 2);
    EXPECT_EQ(two.GetGpus().size(), 16u);
    EXPECT_EQ(Rate(two, "n1.nic0", "switch0"), 12.5e9);
    EXPECT_EQ(two.GetLinks().back().technology, LinkTechnology::ROCE); // class 0x020000
}

TEST(NcclTopology, Dgx1WithTwoNics)
{
    NEED_SAMPLE("dgx1_v100_2ib_8gpu.xml");
    FabricOptions fabric;
    fabric.kind = "rail-optimised";
    const Cluster cluster = LoadCluster(SAMPLES + "dgx1_v100_2ib_8gpu.xml", 2, fabric);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 16u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 4u);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 6 * 25e9);
    }
    EXPECT_EQ(Rate(cluster, "n0.nic0", "n0.pcie0"), 15753846154);
    EXPECT_EQ(Rate(cluster, "n0.nic1", "n0.pcie2"), 15753846154);
    // What the file says, 600000 Mb/s, though PCIe does not carry it.
    EXPECT_EQ(Rate(cluster, "n1.nic1", "rail0.1"), 75e9);
    EXPECT_EQ(cluster.GetLinks().back().technology, LinkTechnology::INFINIBAND);
}

TEST(NcclTopology, TitanXp)
{
    NEED_SAMPLE("titanxp_8gpu.xml");
    const Cluster cluster = LoadCluster(SAMPLES + "titanxp_8gpu.xml");
    const Cluster preset = MakeCluster("titanxp-pcie", 1);
    // The preset is made after this file: the same parts and links.
    ASSERT_EQ(cluster.GetVertices().size(), preset.GetVertices().size());
    ASSERT_EQ(cluster.GetLinks().size(), preset.GetLinks().size());
    for (const Vertex& vertex : preset.GetVertices())
    {
        const Vertex& read = cluster.GetVertices()[cluster.FindVertex(vertex.name)];
        EXPECT_EQ(read.kind, vertex.kind);
        EXPECT_EQ(read.peerToPeer, vertex.peerToPeer);
        EXPECT_EQ(read.gpuDirectRdma, vertex.gpuDirectRdma);
        EXPECT_EQ(read.forwardBytesPerSecond, vertex.forwardBytesPerSecond);
    }
    for (const Link& link : preset.GetLinks())
    {
        EXPECT_EQ(Rate(cluster,
                       preset.GetVertices()[link.a].name.c_str(),
                       preset.GetVertices()[link.b].name.c_str()),
                  link.bytesPerSecond);
    }
    EXPECT_EQ(Rate(LoadCluster(SAMPLES + "titanxp_8gpu.xml", 2), "n0.nic0", "switch0"), 125e6);
}

TEST(NcclTopology, AzureNdv4)
{
    NEED_SAMPLE("azure_ndv4-topo.xml");
    // Written by hand: only sockets, one PCIe switch below each, and what hangs there.
    const Cluster cluster =
        LoadCluster(SAMPLES + "azure_ndv4-topo.xml:gpu=a100-sxm4-80gb,nvlink=none", 2);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 16u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 16u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 8u);
    EXPECT_EQ(cluster.GetVertices()[0].model, "A100-SXM4-80GB");
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.pcie0"), 31507692308);
    EXPECT_EQ(Rate(cluster, "n0.cpu0", "n0.cpu3"), 16e9); // AMD, all joined
    EXPECT_EQ(Rate(cluster, "n1.nic7", "switch0"), 25e9);
    for (uint32_t i = 0; i < 8; ++i)
    {
        EXPECT_EQ(cluster.GetVertices()[cluster.GetNic(cluster.GetGpus()[i])].index, i);
    }
}

TEST(NcclTopology, NvSwitchesAndNics)
{
    const Cluster cluster = Read(SWITCHED, 2);
    EXPECT_EQ(cluster.GetGpus().size(), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 4u);
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.nvswitch0"), 5 * 25e9);
    EXPECT_EQ(Rate(cluster, "n0.gpu1", "n0.nvswitch1"), 4 * 25e9);
    EXPECT_TRUE(cluster.GetVertices()[cluster.FindVertex("n0.nvswitch0")].multicast);
    EXPECT_EQ(cluster.GetVertices()[0].model, "H100-SXM5-80GB");
    // Ranked by dev: the second one in the file is GPU 0, at 8 GT/s x 16 for want of other news.
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.pcie0"), 15753846154);
    EXPECT_EQ(Rate(cluster, "n0.gpu1", "n0.pcie0"), 31507692308); // 32 GT/s x 8
    EXPECT_EQ(Rate(cluster, "n0.gpu0", "n0.cpu0"), 450e9);        // C2C
    EXPECT_EQ(Rate(cluster, "n0.pcie0", "n0.cpu0"), 63015384615);
    // Two ports of one card together; eth0 is left out, the disk is no device of ours.
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 4u);
    EXPECT_EQ(Rate(cluster, "n0.nic0", "n0.cpu0"), 31507692308);
    EXPECT_EQ(Rate(cluster, "n0.nic1", "n0.pcie0"), 121e9); // 64 GT/s, 242 of 256 bytes
    EXPECT_EQ(Rate(cluster, "n1.nic1", "switch0"), 50e9);
    EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 1u);
    EXPECT_EQ(Paths(cluster).Distance(0, 1), 2u);
}

namespace
{

/// @param family of a CPU of AMD @return what it forwards, bytes per second
double
ForwardOfAmd(uint64_t family)
{
    const std::string arch = "x86_64";
    const std::string vendor = "AuthenticAMD";
    return FindCpu(&arch, &vendor, family, 1).forward;
}

} // namespace

TEST(NcclTopology, LaterCpusOfAmdForwardMore)
{
    EXPECT_EQ(ForwardOfAmd(0x8f), 16e9); // Zen 2
    EXPECT_EQ(ForwardOfAmd(0xaf), 0);    // Zen 3 and 4: as its links
    EXPECT_EQ(ForwardOfAmd(0xbf), 0);    // Zen 5
    EXPECT_EQ(ForwardOfAmd(0), 16e9);    // not said
    EXPECT_EQ(ForwardOfAmd(23), 16e9);   // Zen 1 and 2, as AMD and newer NCCL count
    EXPECT_EQ(ForwardOfAmd(25), 0);      // Zen 3 and 4
    EXPECT_EQ(ForwardOfAmd(26), 0);      // Zen 5
    EXPECT_EQ(ForwardOfAmd(15), 16e9);   // before Zen, without an extended family
}

TEST(NcclTopology, AUserSaysWhetherNicsReachGpus)
{
    for (const bool reaches : {true, false})
    {
        std::istringstream text(SWITCHED);
        const Cluster cluster =
            ReadNcclTopology(text,
                             "t.xml",
                             2,
                             FabricOptions(),
                             ParseNcclTopologyOptions(reaches ? "gdr=on" : "gdr=off"));
        for (const Vertex& vertex : cluster.GetVertices())
        {
            EXPECT_EQ(vertex.gpuDirectRdma, reaches || vertex.kind != VertexKind::NIC)
                << vertex.name;
        }
    }
}

TEST(NcclTopology, DevicesReachEachOtherAsInNccl)
{
    const auto reach = [](const std::string& text) {
        const Cluster cluster = Read(text, 2);
        return cluster.GetVertices()[cluster.FindVertex("n0.cpu0")].peerToPeer;
    };
    const auto remove = [](std::string text, const std::string& from, const std::string& to) {
        const auto begin = text.find(from);
        EXPECT_NE(begin, std::string::npos);
        return text.erase(begin, text.find(to, begin) + to.size() - begin);
    };
    // One GPU that C2C joins with the CPU.
    EXPECT_TRUE(reach(SWITCHED));
    const std::string apart = remove(SWITCHED, "<c2c", "/>");
    EXPECT_FALSE(reach(apart));
    std::string amd = apart;
    amd.replace(amd.find("GenuineIntel"), 12, "AuthenticAMD"); // of two GPUs
    EXPECT_TRUE(reach(amd));
}

TEST(NcclTopology, DeviceIdsNameTheModel)
{
    // As dumped on two trays of GB300, and with an RTX 3090 whose sm alone stands for an A40.
    const auto dump = [](const std::string& device, const std::string& sm, const char* links) {
        return R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">)"
               R"(<pci busid="0000:01:00.0" class="0x030200" vendor="0x10de" device=")" +
               device + R"(" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm=")" + sm +
               R"(" rank="0" gdr="1">)" + links + "</gpu></pci></cpu></system>";
    };
    const auto modelOf = [](const std::string& text) { return Read(text).GetVertices()[0].model; };
    const char* switched = R"(<nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>)";
    EXPECT_EQ(modelOf(dump("0x31c2", "103", switched)), "GB300");
    EXPECT_EQ(Rate(Read(dump("0x31c2", "103", switched)), "n0.gpu0", "n0.nvswitch0"), 18 * 50e9);
    // C2C in the place of PCIe, where both go to the CPU
    EXPECT_EQ(
        Rate(Read(dump("0x31c2", "103", R"(<c2c bw="44712" count="5"/>)")), "n0.gpu0", "n0.cpu0"),
        5 * 44712e6);
    EXPECT_EQ(modelOf(dump("0x2204", "86", "")), "RTX-3090");
    EXPECT_EQ(modelOf(dump("0x2203", "86", "")), "RTX-3090-Ti");
    EXPECT_EQ(modelOf(dump("0xffff", "86", "")), "A40");
    EXPECT_EQ(modelOf(dump("nonsense", "86", "")), "A40");
    EXPECT_EQ(modelOf(dump("0x20b0", "80", "")), "A100-SXM4-40GB");
    const char* twelve = R"(<nvlink target="fffffff:ff:ff.0" count="12" tclass="0x068000"/>)";
    EXPECT_EQ(WarningsOf(dump("0x20b0", "80", twelve), ""), "");
    const std::string other = dump("0x20b0", "90", "");
    EXPECT_EQ(modelOf(other), "H100-SXM5-80GB");
    EXPECT_NE(WarningsOf(other, "").find("has the device id of A100-SXM4-40GB, but another sm, 90, "
                                         "which counts"),
              std::string::npos);
}

TEST(NcclTopology, WhatTheFileDoesNotSayIsAskedFor)
{
    const std::string both = WarningsOf(CLOUD, "");
    EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 2) << both;
    EXPECT_NE(both.find("t.xml:gpu=A100-SXM4-80GB"), std::string::npos) << both;
    EXPECT_NE(both.find("t.xml:nvlink=nvswitch"), std::string::npos) << both;
    EXPECT_EQ(WarningsOf(CLOUD, "gpu=a100-sxm4-40gb,nvlink=none"), "");
    EXPECT_EQ(WarningsOf(CLOUD, "gpu=T4"), ""); // which has no NVLink
    EXPECT_EQ(WarningsOf(SWITCHED, ""), "");
    // An sm alone is that of several GPUs.
    std::string text = SWITCHED;
    const std::size_t device = text.find(" device=\"0x2330\"");
    ASSERT_NE(device, std::string::npos);
    EXPECT_EQ(WarningsOf(text.replace(device, 16, ""), ""),
              "warning: t.xml: does not say which GPUs it has; taken for H100-SXM5-80GB by sm 90; "
              "to say it, add gpu=MODEL: t.xml:gpu=H100-SXM5-80GB\n");
    EXPECT_EQ(WarningsOf(text, "gpu=H200"), "");
    EXPECT_EQ(WarningsOf(Exchange("0x2330", "0x9999"), ""),
              "warning: t.xml: does not say which GPUs it has; taken for H100-SXM5-80GB by sm 90 "
              "(its device id '0x9999' is not known); to say it, add gpu=MODEL: "
              "t.xml:gpu=H100-SXM5-80GB\n");

    std::istringstream input(CLOUD);
    const Cluster cluster = ReadNcclTopology(input,
                                             "t.xml",
                                             1,
                                             FabricOptions(),
                                             ParseNcclTopologyOptions("gpu=h100-sxm5-80gb,"
                                                                      "nvlink=nvswitch"));
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 1u);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "H100-SXM5-80GB");
        EXPECT_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 18 * 25e9);
    }
    const auto errorOf = [](const std::string& text, const std::string& options) -> std::string {
        try
        {
            std::istringstream in(text);
            ReadNcclTopology(in, "t.xml", 1, FabricOptions(), ParseNcclTopologyOptions(options));
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(errorOf(CLOUD, "nvlink=none,nvlink=nvswitch"),
              "behind an NCCL topology: nvlink=none,nvlink=nvswitch: nvlink stands there twice");
    EXPECT_EQ(errorOf(CLOUD, "gpu=A1000").find("gpu=A1000: there is no data sheet of it"), 0u);
    EXPECT_EQ(errorOf(CLOUD, "nvlink=some").find("'nvlink=some': behind an NCCL topology"), 0u);
    EXPECT_NE(errorOf(SWITCHED, "nvlink=nvswitch").find("has NVLinks"), std::string::npos);
    EXPECT_NE(errorOf(CLOUD, "gpu=T4,nvlink=nvswitch").find("T4 has no NVLink"), std::string::npos);
}

TEST(NcclTopology, PeersMustAgree)
{
    auto pair = [](const char* first, const char* second) {
        return std::string("<system><cpu><pci class='0x030200' busid='a'><gpu dev='0' sm='70'>") +
               first + "</gpu></pci><pci class='0x030200' busid='B'><gpu dev='1' sm='70'>" +
               second + "</gpu></pci></cpu></system>";
    };
    const char* toB = "<nvlink target='b' count='2' tclass='0x030200'/>";
    const char* toA = "<nvlink target='A' count='2' tclass='0x030200'/>";
    EXPECT_EQ(Rate(Read(pair(toB, toA)), "n0.gpu0", "n0.gpu1"), 50e9);
    testing::internal::CaptureStderr();
    EXPECT_EQ(Rate(Read(pair(toB, toA)), "n0.gpu0", "n0.gpu1"), 50e9);
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("does not list"), std::string::npos);
    for (const std::string& text : {pair(toB, ""), pair("", toA)})
    {
        testing::internal::CaptureStderr();
        EXPECT_EQ(Rate(Read(text), "n0.gpu0", "n0.gpu1"), 50e9);
        EXPECT_NE(testing::internal::GetCapturedStderr().find(
                      "t.xml: 1 NVLink that one of both GPUs does not list, taken for both "
                      "directions: it is in line 1"),
                  std::string::npos);
    }
    EXPECT_NE(ErrorOf(pair(toB, "<nvlink target='a' count='1' tclass='0x030200'/>"))
                  .find("the other end lists another number of links"),
              std::string::npos);
    EXPECT_NE(ErrorOf(pair((std::string(toB) + toB).c_str(), "")).find("a second time"),
              std::string::npos);
    EXPECT_NE(
        ErrorOf(pair("<nvlink target='a' count='1' tclass='0x030200'/>", "")).find("to itself"),
        std::string::npos);
    // A GPU that the file does not have.
    EXPECT_EQ(Rate(Read(pair("<nvlink target='c' count='1' tclass='0x030200'/>", "")),
                   "n0.gpu0",
                   "n0.gpu1"),
              0);
}

TEST(NcclTopology, CorruptedAnywhere)
{
    CorruptAnywhere(SWITCHED, "t.xml", 2, [](const std::string& bad) {
        const Cluster cluster = Read(bad);
        EXPECT_NO_THROW(cluster.Validate());
    });
}
