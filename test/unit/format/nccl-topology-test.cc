/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../cluster/cluster-parts.h"
#include "../error-of.h"
#include "corruptions.h"

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

/// A server with NVSwitches, a CPU link, and NICs of two speeds.
const char* const SWITCHED = R"(<?xml version="1.0"?>
<!-- two GPUs -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:07:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:08:00.0" class="0x030200" device="0x2330" link_speed="32 GT/s" link_width="8">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:C4:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:c5:00.0" count="4" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:09:00.0" class="0x030200" device="0x2330" link_speed="8.0 GT/s" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:c4:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:c5:00.0" count="4" tclass="0x068000"/>
          <c2c bw="25000" count="18"/>
        </gpu>
      </pci>
      <pci busid="0000:0a:00.0" class="0x010802" link_speed="8 GT/s" link_width="4"/>
      <pci busid="0000:0b:00.0" class="0x020700" link_speed="64 GT/s" link_width="16">
        <nic>
          <net name="mlx5_1" dev="1" speed="200000"/>
          <net name="mlx5_2" dev="2" speed="200000"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:0d:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="400000"/></nic>
    </pci>
    <nic><net name="eth0" dev="3" speed="10000"/></nic>
  </cpu>
</system>
)";

Cluster
Read(const std::string& text, uint32_t servers = 1)
{
    std::istringstream input(text);
    return ReadNcclTopology(input, "t.xml", servers);
}

std::string
ErrorOf(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] { Read(text); });
}

/// @return SWITCHED with a part of it exchanged
std::string
Exchange(const std::string& what, const std::string& with)
{
    return ns3::proteus::Exchange(SWITCHED, what, with);
}

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

TEST(NcclTopology, WarningsAreOfOneLine)
{
    std::string heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard += text + '|';
        return false;
    });
    for (const std::string key : {"arch=\"x86_64", "vendor=\"GenuineIntel"})
    {
        Read(Exchange(key, key.substr(0, key.find('"') + 1) + "x\n86"));
    }
    EXPECT_NE(heard.find("arch 'x"), std::string::npos) << heard;
    EXPECT_NE(heard.find("vendor 'x"), std::string::npos) << heard;
    EXPECT_EQ(heard.find('\n'), std::string::npos) << heard;
}

TEST(NcclTopology, ErrorsNameLineAndElement)
{
    EXPECT_EQ(ErrorOf(SWITCHED), "");
    EXPECT_EQ(ErrorOf(Exchange("sm=\"90\"", "sm=\"91\""))
                  .find("t.xml:7: /system/cpu[0]/pci[0]/pci[0]/gpu[0]: there is no data sheet of a "
                        "GPU with sm 91; known: 52, 60, 61, 70, 75, 80, "),
              0u);
    EXPECT_EQ(ErrorOf(Exchange("count=\"5\"", "count=\"-5\"")),
              "t.xml:8: /system/cpu[0]/pci[0]/pci[0]/gpu[0]/nvlink[0]: count must be a whole "
              "number from 0 to 1000, not '-5'");
    EXPECT_EQ(ErrorOf(Exchange("tclass=\"0x068000\"", "tclass=\"0x0\"")),
              "t.xml:8: /system/cpu[0]/pci[0]/pci[0]/gpu[0]/nvlink[0]: tclass must be that of a "
              "GPU (0x03....), of an NVSwitch (0x068000) or of a CPU (0x068001), not '0x0'");
    EXPECT_EQ(ErrorOf(Exchange("32.0 GT/s PCIe", "33 GT/s")),
              "t.xml:5: /system/cpu[0]/pci[0]: link_speed must be like '16 GT/s' (2.5, 5, 8, 16, "
              "32, 64) or empty, not '33 GT/s'");
    EXPECT_EQ(ErrorOf(Exchange("0000:09", "0000:08")),
              "t.xml:12: /system/cpu[0]/pci[0]/pci[1]: there are two GPUs with the busid "
              "'0000:08:00.0'");
    EXPECT_EQ(ErrorOf(Exchange("sm=\"90\"", "sm=\"75\"")),
              "t.xml:8: /system/cpu[0]/pci[0]/pci[0]/gpu[0]/nvlink[0]: a T4 has no NVLink; its sm, "
              "75, must be another");
    EXPECT_EQ(ErrorOf("<system/>"), "t.xml:1: /system: there is no 'cpu'");
    EXPECT_EQ(
        ErrorOf("<graphs/>"),
        "t.xml:1: /graphs: the outermost element must be 'system': this is what NCCL's search "
        "has found (NCCL_GRAPH_DUMP_FILE), which is not read: the search is done here, on "
        "the topology (NCCL_TOPO_DUMP_FILE), which --cluster reads; proteus-collective "
        "--topology shows what it finds");
    EXPECT_NE(ErrorOf("<algo/>").find("this is a schedule of MSCCL, which proteus-collective "
                                      "--msccl reads"),
              std::string::npos);
    EXPECT_NE(ErrorOf("<topology/>").find("as in what NCCL_TOPO_DUMP_FILE writes"),
              std::string::npos);
    EXPECT_EQ(ErrorOf("<system>\n<gpu/></system>"),
              "t.xml:1: /system: there is no 'cpu'; unknown, and not read: line 2: element gpu in "
              "system");
    EXPECT_EQ(
        ErrorOf("<system>\n<cpu/></system>"),
        "t.xml:1: /system: has no GPU, as files for NCCL_TOPO_FILE that leave GPUs to NCCL; take "
        "what NCCL_TOPO_DUMP_FILE writes on such a machine");
    EXPECT_EQ(ErrorOf(Exchange("numaid=\"0", "numaid=\"0x")),
              "t.xml:4: /system/cpu[0]: numaid must be a whole number, not '0x'");
    EXPECT_EQ(
        ErrorOf(Exchange("familyid=\"6", "familyid=\"6x")),
        "t.xml:4: /system/cpu[0]: familyid must be a whole number from 0 to 100000, not '6x'");
    EXPECT_EQ(ErrorOf(Exchange("numaid=\"0", "numaid=\"-1")), "");
    EXPECT_EQ(ErrorOf(""), "t.xml:1: there is no element");
    EXPECT_EQ(ErrorOf("\n<system>"), "t.xml:2: the file ends inside 'system' of line 2");
    EXPECT_EQ(ErrorOf("<system>\n</sytem>"),
              "t.xml:2: 'sytem' ends here, but 'system' of line 1 has not");
    EXPECT_EQ(ErrorOf("</system>"), "t.xml:1: 'system' ends here, but nothing has begun");
    EXPECT_EQ(ErrorOf("<system>\n<cpu numaid=0/></system>"),
              "t.xml:2: the value of an attribute must be in quotes");
    EXPECT_EQ(ErrorOf("<system/>\n<system/>"), "t.xml:2: there is a second outermost element");
    EXPECT_EQ(ErrorOf("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<system/>"),
              "t.xml:1: document types and CDATA sections are not allowed");
    EXPECT_EQ(ErrorOf(std::string("<system>\n\0</system>", 19)),
              "t.xml:2: there is a zero byte; this is no XML text");
    // Boost's parser would recurse as deep as this goes.
    std::string deep;
    for (int i = 0; i < 1000000; ++i)
    {
        deep += "<a \"='>";
    }
    EXPECT_NE(ErrorOf(deep), "");
    deep.clear();
    for (int i = 0; i < 1000000; ++i)
    {
        deep += "<a>";
    }
    EXPECT_EQ(ErrorOf(deep), "t.xml:1: elements are nested more than 32 deep");
    EXPECT_EQ(ErrorOf(std::string((16u << 20) + 1, ' ')),
              "t.xml:1: the file has more than 16777216 bytes");
    std::istringstream input(SWITCHED);
    EXPECT_THROW(ReadNcclTopology(input, "t.xml", 0), std::invalid_argument);
}

namespace
{

/// Four GPUs and two NICs as a cloud writes them: no types, no NVLinks.
const char* const CLOUD = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="1:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="2:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="3:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="4:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
  </cpu>
</system>
)";

/// @param family of a CPU of AMD @return what it forwards, bytes per second
double
ForwardOfAmd(uint64_t family)
{
    const std::string arch = "x86_64";
    const std::string vendor = "AuthenticAMD";
    return FindCpu(&arch, &vendor, family, 1).forward;
}

/// @return what is printed on the standard error output while a topology is read
std::string
WarningsOf(const std::string& text, const std::string& options, uint32_t servers = 1)
{
    std::ostringstream printed;
    std::streambuf* const original = std::cerr.rdbuf(printed.rdbuf());
    std::istringstream input(text);
    ReadNcclTopology(input, "t.xml", servers, FabricOptions(), ParseNcclTopologyOptions(options));
    std::cerr.rdbuf(original);
    return printed.str();
}

} // namespace

TEST(NcclTopology, LaterCpusOfAmdForwardMore)
{
    EXPECT_EQ(ForwardOfAmd(0x8f), 16e9); // Zen 2
    EXPECT_EQ(ForwardOfAmd(0xaf), 0);    // Zen 3 and 4: as its links
    EXPECT_EQ(ForwardOfAmd(0xbf), 0);    // Zen 5
    EXPECT_EQ(ForwardOfAmd(0), 16e9);    // not said
    EXPECT_EQ(ForwardOfAmd(23), 16e9);   // Zen 1 and 2, as AMD and NCCL since 2.30 count
    EXPECT_EQ(ForwardOfAmd(25), 0);      // Zen 3 and 4
    EXPECT_EQ(ForwardOfAmd(26), 0);      // Zen 5
    EXPECT_EQ(ForwardOfAmd(15), 16e9);   // before Zen, without an extended family
}

TEST(NcclTopology, Utf16IsRefusedByName)
{
    EXPECT_EQ(ErrorOf(std::string("\xff\xfe<\0", 4)),
              "t.xml:1: the file is UTF-16: save it as UTF-8");
}

TEST(NcclTopology, TextBetweenElementsIsNamed)
{
    std::string text = SWITCHED;
    EXPECT_EQ(WarningsOf("\xef\xbb\xbf" + text, "").find("text between"), std::string::npos);
    text.insert(text.find("</cpu>"), "two more GPUs");
    EXPECT_NE(WarningsOf(text, "").find(": text between elements"), std::string::npos);
}

TEST(NcclTopology, WhatIsNoPartOfTheFormatIsNamed)
{
    std::string text = SWITCHED;
    const std::size_t gpu = text.find("<gpu ");
    ASSERT_NE(gpu, std::string::npos);
    text.insert(gpu + 5, "color=\"red\" ");
    text.insert(text.find("</cpu>"), "<fan><blade/></fan>");
    const std::string warning = WarningsOf(text, "");
    EXPECT_NE(warning.find("t.xml: unknown, and not read: line "), std::string::npos) << warning;
    EXPECT_NE(warning.find(": attribute color of gpu, line "), std::string::npos) << warning;
    EXPECT_NE(warning.find(": element fan\n"), std::string::npos) << warning;
    text.insert(gpu + 5, "color=\"red\" ");
    std::istringstream twice(text);
    EXPECT_THROW(ReadNcclTopology(twice, "t.xml"), std::invalid_argument);
}

TEST(NcclTopology, WhatIsNotHeededIsNamed)
{
    std::string text = SWITCHED;
    EXPECT_EQ(WarningsOf(text, "", 2),
              "warning: t.xml: 1 NIC left out, slower than the fastest one, or of another "
              "technology\n");
    text[text.find("gdr=\"1\"") + 5] = '0';
    EXPECT_EQ(WarningsOf(text, ""), ""); // there is no other server
    EXPECT_NE(WarningsOf(text, "", 2).find("gdr=\"0\" (of 1 device) is not heeded"),
              std::string::npos);
    EXPECT_EQ(WarningsOf(text, "gdr=on", 2).find("gdr"), std::string::npos);
    EXPECT_EQ(WarningsOf(text, "gdr=off", 2).find("gdr"), std::string::npos);
    text = SWITCHED;
    text.insert(text.find("GenuineIntel"), "My");
    EXPECT_NE(WarningsOf(text, "").find("unknown CPUs"), std::string::npos);
    EXPECT_NE(WarningsOf(Exchange("x86_64", "aarch64"), "").find("unknown CPUs"),
              std::string::npos);
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

TEST(NcclTopology, WhatIsGuessedOrThereTwiceIsNamed)
{
    const std::string options = "gpu=a100-sxm4-40gb,nvlink=none";
    EXPECT_EQ(WarningsOf(CLOUD, options), ""); // there is no network
    EXPECT_EQ(
        WarningsOf(CLOUD, options, 2),
        "warning: t.xml: does not say the speed of 1 NIC, taken for 200 Gb/s by the generation "
        "of PCIe; <nic><net speed=\"MBITS\"/></nic> within its pci says it\n");
    // What programs of both CPUs use, once below each.
    std::string text = CLOUD;
    const std::string nic = "<nic><net name=\"eth0\" dev=\"0\" speed=\"100000\"/></nic>";
    text.replace(text.find("    <pci busid=\"4"),
                 text.find("  </cpu>") - text.find("    <pci busid=\"4"),
                 nic);
    text.insert(text.find("</system>"),
                "<cpu numaid=\"1\" arch=\"x86_64\" vendor=\"AuthenticAMD\">" + nic + "</cpu>");
    EXPECT_NE(WarningsOf(text, options, 2)
                  .find("t.xml: lists 'eth0' below several CPUs, which is one NIC and is taken for "
                        "that of the first"),
              std::string::npos);
    std::istringstream input(text);
    const Cluster cluster =
        ReadNcclTopology(input, "t.xml", 1, FabricOptions(), ParseNcclTopologyOptions(options));
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 1u);
    text = SWITCHED;
    const std::size_t begin = text.find("          <nvlink");
    text.erase(begin, text.find("        </gpu>") - begin);
    EXPECT_EQ(WarningsOf(text, ""),
              "warning: t.xml: 1 GPU without an NVLink, beside others that have some\n");
    text = SWITCHED;
    text.insert(text.find("</system>"),
                "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\"/>");
    EXPECT_EQ(WarningsOf(text, ""),
              "warning: t.xml: 1 CPU with the numaid of another one, which counts besides: that of "
              "line 32\n");
}

TEST(NcclTopology, OddNumbersClassesAndSpeedsAreNamed)
{
    const auto expect = [](const std::string& what, const std::string& with, const char* warning) {
        EXPECT_EQ(WarningsOf(Exchange(what, with), ""),
                  "warning: t.xml: " + std::string(warning) + "\n");
    };
    EXPECT_EQ(WarningsOf(SWITCHED, ""), "");
    expect("rank=\"0\"",
           "rank=\"5\"",
           "the ranks of GPUs are in another order than their devs, which count");
    expect("\"mlx5_0\" dev=\"0\"",
           "\"mlx5_0\" dev=\"3\"",
           "1 NIC with the dev of another one, numbered in the order of the file: that of line 30");
    expect("0000:0d:00.0",
           "0000:0B:00.0",
           "1 device with the busid of another one: that of line 27");
    expect("0x030200",
           "0x068000",
           "1 PCI device whose class is that of another thing than it has inside, which counts: "
           "that of line 6");
    expect("0x010802",
           "0x040300",
           "1 PCI device left out, neither a GPU, a NIC nor a switch: that of line 19");
    expect("64 GT/s",
           "Unknown speed",
           "1 PCI device of unknown speed, taken for 8 GT/s as in NCCL: that of line 20");
    for (const char* speed : {" link_speed=\"\"", ""})
    {
        expect(" link_speed=\"8.0 GT/s\"",
               speed,
               "1 PCI device of unknown speed, taken for 8 GT/s as in NCCL: that of line 12");
    }
    for (const char* width : {" link_width=\"0\"", " link_width=\"\"", ""})
    {
        expect("8.0 GT/s\" link_width=\"16\"",
               (std::string("8.0 GT/s\"") + width).c_str(),
               "1 PCI device of unknown lanes, taken for 16 as in NCCL: that of line 12");
    }
    expect("count=\"4\"", "count=\"0\"", "1 NVLink with a count of 0 left out: that of line 9");
    expect("\"mlx5_0\" dev",
           "\"mlx5_0\" latency=\"3.5\" dev",
           "1 NIC whose latency is not heeded; --netPlugin, or the attribute PluginLatency, says "
           "what a plug-in takes: that of line 28");
    EXPECT_EQ(WarningsOf(Exchange("\"mlx5_0\" dev", "\"mlx5_0\" latency=\"0.000000\" dev"), ""),
              "");
    expect("rank=\"0\"",
           "rank=\"1\"",
           "1 GPU with the rank of another one, whose devs count: that of line 13");
    expect(" version=\"1\"", "", "does not say its version; known is 1, as which it is read");
    expect("\"mlx5_0\" dev",
           "\"mlx5_0\" maxconn=\"2\" dev",
           "1 NIC whose maxconn, of fewer than the 64 channels that NCCL may have, is not heeded: "
           "that of line 28");
    EXPECT_EQ(WarningsOf(Exchange("\"mlx5_0\" dev", "\"mlx5_0\" maxconn=\"131072\" dev"), ""), "");
    for (const char* speed : {"400", "400000000"}) // Gb/s and kb/s
    {
        expect("400000",
               speed,
               "1 NIC of less than 1 or more than 1600 Gb/s (speed is in Mb/s, 100000 for 100 "
               "Gb/s): that of line 28");
    }
    EXPECT_EQ(WarningsOf(Exchange("10000\"", "1000\""), ""), "");
    expect("count=\"4\"",
           "count=\"14\"",
           "more NVLinks than a GPU of its kind has: 19 of the H100-SXM5-80GB in line 7, which "
           "has 18");
    expect("gdr=\"1\"",
           "gdr=\"yes\"",
           "1 device whose gdr is neither 0 nor 1, taken for 1: that of line 7");
    expect("</cpu>",
           "</cpu><cpu arch=\"x86_64\" vendor=\"GenuineIntel\" host_hash=\"0x1\"/>"
           "<cpu arch=\"x86_64\" vendor=\"GenuineIntel\" host_hash=\"0x2\"/>",
           "has the host_hash of 2 servers, and is read as one");
    // In a place where nothing is read.
    const std::string gpu = "<pci busid=\"0:1.0\" class=\"0x030200\"/>";
    const std::string nic = "<nic><net name=\"a\" dev=\"7\" speed=\"100000\"/></nic>";
    expect("<gpu dev=\"1\"",
           nic + "<gpu dev=\"1\"",
           "1 element not read, since it is beside a GPU or a NIC: that of line 7");
    for (const std::string& hidden : {gpu, "<pci class=\"0x060400\">" + gpu + "</pci>"})
    {
        EXPECT_NE(ErrorOf(Exchange("<gpu dev=\"1\"", hidden + "<gpu dev=\"1\""))
                      .find("a GPU inside another GPU or NIC: put it beside that"),
                  std::string::npos);
    }
    expect("</cpu>", "</cpu>" + gpu, "unknown, and not read: line 31: element pci in system");
    EXPECT_EQ(ErrorOf(Exchange("0x010802", "nvme")),
              "t.xml:19: /system/cpu[0]/pci[0]/pci[2]: class must be like 0x030200 (a GPU), "
              "0x020700 (a NIC) or 0x060400 (a switch), not 'nvme'");
    EXPECT_EQ(ErrorOf(Exchange("link_width=\"16\"", "link_width=\"15\"")),
              "t.xml:5: /system/cpu[0]/pci[0]: link_width must be 1, 2, 4, 8, 12, 16 or 32 lanes, "
              "or 0 for 16, not 15");
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
