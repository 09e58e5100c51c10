/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../cluster/cluster-parts.h"
#include "nccl-topology-text.h"

#include "ns3/proteus-nccl-topology.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

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
    EXPECT_NE(ErrorOf("<machine/>").find("as in what NCCL_TOPO_DUMP_FILE writes"),
              std::string::npos);
    const std::string hwloc = "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology/>";
    for (const std::string& text : {std::string("<topology/>"), hwloc})
    {
        EXPECT_NE(ErrorOf(text).find("this is a topology of hwloc (lstopo)"), std::string::npos);
    }
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
    for (const auto& [text, what] :
         std::vector<std::pair<std::string, std::string>>{{"<system ver", "'='"},
                                                          {"<system version=\"1", "'\"'"},
                                                          {"<system", "white space, '>' or '/>'"},
                                                          {"<system><", "the name of an element"}})
    {
        EXPECT_EQ(ErrorOf(text),
                  "t.xml:1: the file ends where " + what +
                      " is expected: it may have been cut off");
    }
    EXPECT_EQ(ErrorOf("<system ver>"), "t.xml:1: expected '='");
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
    expect("\"mlx5_0\" dev",
           "\"eth0\" port=\"0\" maxconn=\"65536\" dev",
           "1 interface that NCCL used by sockets (port 0, maxconn 65536), simulated as a NIC with "
           "RDMA of that speed: that of line 28");
    for (const char* ofVerbs :
         {"port=\"1\" maxconn=\"65536\"", "port=\"0\" maxconn=\"131072\"", "port=\"0\""})
    {
        EXPECT_EQ(
            WarningsOf(Exchange("\"mlx5_0\" dev", std::string("\"mlx5_0\" ") + ofVerbs + " dev"),
                       ""),
            "");
    }
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
