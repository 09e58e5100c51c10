/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "../temporary-file.h"
#include "corruptions.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-hpcc-topology.h"
#include "ns3/proteus-paths.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// Three hosts at one switch, with the switch's id in between.
const char* const SMALL = "4 1 3\n"
                          "2\n"
                          "0 2 400Gbps 0.0005ms 0\n"
                          "1 2 12.5GB/s 500ns 0.25 # degraded\n"
                          "\n"
                          "3 2 1e9bps 1us 0\n";

/// Two servers of two GPUs, each with an NVSwitch, at one switch.
const char* const SERVERS = "7 2 2 1 8 H100\n"
                            "4 5 6\n"
                            "0 4 2880Gbps 0.000025ms 0\n"
                            "1 4 2880Gbps 0.000025ms 0\n"
                            "2 5 2880Gbps 0.000025ms 0\n"
                            "3 5 2880Gbps 0.000025ms 0\n"
                            "0 6 400Gbps 0.0005ms 0\n"
                            "1 6 400Gbps 0.0005ms 0\n"
                            "2 6 400Gbps 0.0005ms 0\n"
                            "3 6 400Gbps 0.0005ms 0\n";

Cluster
Read(const std::string& text, const HpccTopologyOptions& options = HpccTopologyOptions())
{
    std::istringstream input(text);
    return ReadHpccTopology(input, "some/t.txt", options);
}

std::string
ErrorOf(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] { Read(text); });
}

std::string
Exchange(const std::string& what, const std::string& with)
{
    return ns3::proteus::Exchange(SMALL, what, with);
}

std::string
LoadErrorOf(const std::string& path, uint32_t servers = 0)
{
    try
    {
        LoadCluster(path, servers);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(HpccTopology, Hosts)
{
    HpccTopologyOptions options;
    options.payloadBytes = 4096;
    options.overheadBytes = 36;
    const Cluster cluster = Read(SMALL, options);
    EXPECT_EQ(cluster.GetName(), "t.txt");
    ASSERT_EQ(cluster.GetVertices().size(), 4u);
    EXPECT_EQ(cluster.GetGpus(), (std::vector<VertexId>{0, 1, 3})); // ids are those of the file
    EXPECT_EQ(cluster.GetVertices()[2].kind, VertexKind::SWITCH);
    EXPECT_EQ(cluster.GetVertices()[3].server, 2);
    ASSERT_EQ(cluster.GetLinks().size(), 3u);
    const Link& first = cluster.GetLinks()[0];
    EXPECT_EQ(first.bytesPerSecond, 50e9);
    EXPECT_EQ(first.delayPs, 500000);
    EXPECT_EQ(first.technology, LinkTechnology::ROCE);
    EXPECT_EQ(first.framing.WireBytes(4096), 4132u);
    EXPECT_EQ(first.framing.unitBytes, 4096u);
    EXPECT_EQ(first.framing.WireBytes(0), 64u);
    EXPECT_EQ(cluster.GetLinks()[1].bytesPerSecond, 12.5e9);
    EXPECT_EQ(cluster.GetLinks()[1].delayPs, 500000);
    EXPECT_EQ(cluster.GetLinks()[1].lossProbability, 0.25);
    EXPECT_EQ(cluster.GetLinks()[2].bytesPerSecond, 125e6);
    EXPECT_EQ(cluster.GetLinks()[2].delayPs, 1000000);
    EXPECT_EQ(Read(SMALL).GetLinks()[0].framing.WireBytes(1000), 1048u); // as HPCC counts
}

TEST(HpccTopology, Servers)
{
    const Cluster cluster = Read(SERVERS);
    EXPECT_EQ(cluster.GetNServers(), 2u);
    EXPECT_EQ(cluster.GetGpus().size(), 4u);
    EXPECT_EQ(cluster.GetVertices()[0].model, "H100-SXM5-80GB");
    EXPECT_EQ(cluster.GetVertices()[3].server, 1);
    EXPECT_EQ(cluster.GetVertices()[4].kind, VertexKind::NVSWITCH);
    EXPECT_EQ(cluster.GetVertices()[5].server, 1);
    EXPECT_EQ(cluster.GetVertices()[6].kind, VertexKind::SWITCH);
    EXPECT_EQ(cluster.GetLinks()[0].technology, LinkTechnology::NVLINK);
    EXPECT_EQ(cluster.GetLinks()[0].bytesPerSecond, 360e9);
    EXPECT_EQ(cluster.GetLinks()[0].delayPs, 25000);
    EXPECT_EQ(cluster.GetLinks()[4].technology, LinkTechnology::ROCE);
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(0, 1), 2u); // NVLink
    EXPECT_EQ(paths.Distance(0, 2), 200u);
}

TEST(HpccTopology, RatesAndDelays)
{
    auto rate = [](const char* text) {
        return Read(Exchange("400Gbps", text)).GetLinks()[0].bytesPerSecond;
    };
    EXPECT_EQ(rate("100Gb/s"), 12.5e9);
    EXPECT_EQ(rate("8kbps"), 1000);
    EXPECT_EQ(rate("8Kib/s"), 1024);
    EXPECT_EQ(rate("1.6Tbps"), 200e9);
    EXPECT_EQ(rate("25GBps"), 25e9);
    auto delay = [](const char* text) {
        return Read(Exchange("0.0005ms", text)).GetLinks()[0].delayPs;
    };
    EXPECT_EQ(delay("0"), 0);
    EXPECT_EQ(delay("1e-6"), 1000000); // seconds
    EXPECT_EQ(delay("1ps"), 1);
    EXPECT_EQ(delay("2.5us"), 2500000);
}

TEST(HpccTopology, ErrorsNameTheLine)
{
    EXPECT_EQ(ErrorOf(SMALL), "");
    EXPECT_EQ(ErrorOf("").substr(0, 49), "some/t.txt:1: the first line must be 'nodes switc");
    EXPECT_EQ(ErrorOf("4 1 3 7 8\n").substr(0, 37), "some/t.txt:1: the first line must be ");
    EXPECT_EQ(
        ErrorOf("4 1 3 7\n"),
        "some/t.txt:1: the number of switches that hosts are at must be a whole number from 0 "
        "to 1, not '3'");
    EXPECT_EQ(ErrorOf(Exchange("400Gbps", "400Gbqs")),
              "some/t.txt:3: the rate must be above 0 and like 400Gbps or 50GB/s, not '400Gbqs'");
    EXPECT_EQ(ErrorOf(Exchange("400Gbps", "0Gbps")),
              "some/t.txt:3: the rate must be above 0 and like 400Gbps or 50GB/s, not '0Gbps'");
    EXPECT_EQ(ErrorOf(Exchange("500ns", "500 ns")),
              "some/t.txt:4: the error rate must begin with a number, 0 or above, not 'ns'");
    EXPECT_EQ(ErrorOf(Exchange("500ns", "-500ns")),
              "some/t.txt:4: the delay must begin with a number, 0 or above, not '-500ns'");
    EXPECT_EQ(ErrorOf(Exchange("500ns", "5minutes")),
              "some/t.txt:4: the delay must be a time of at most 1000 s such as 500ns or 0.0005ms, "
              "not '5minutes'");
    EXPECT_EQ(ErrorOf(Exchange("500ns", "1e-4ns")),
              "some/t.txt:4: the delay must be 0 or at least a picosecond, not '1e-4ns'");
    EXPECT_EQ(ErrorOf(Exchange("0.25", "1.25")),
              "some/t.txt:4: the error rate must be a number from 0 to less than 1, not '1.25'");
    EXPECT_EQ(ErrorOf(Exchange("3 2", "4 2")),
              "some/t.txt:6: an end of a link must be a whole number from 0 to 3, not '4'");
    EXPECT_EQ(ErrorOf(Exchange("3 2", "2 2")),
              "some/t.txt:6: link from 'node2' to 'node2': the ends must be two vertices");
    EXPECT_EQ(ErrorOf(Exchange("4 1 3", "4 1 4")),
              "some/t.txt:6: the file ends where a link must follow");
    EXPECT_EQ(ErrorOf(Exchange("4 1 3", "4 1 2")), "some/t.txt:1: 2 links cannot join 4 nodes");
    EXPECT_EQ(ErrorOf(std::string(SMALL) + "and what nobody counted\n"), "");
    EXPECT_EQ(ErrorOf(std::string(SMALL) + '\0'),
              "some/t.txt:7: has a NUL character: this is no text file, or a damaged one");
    EXPECT_EQ(ErrorOf(Exchange("4 1 3", "16777216 1 3")),
              "some/t.txt:1: there must be 1 to 65536 nodes that are no switches, not 16777215");
    EXPECT_EQ(ErrorOf(Exchange("4 1 3", "60000 1 3")),
              "some/t.txt:1: 3 links cannot join 60000 nodes");
    EXPECT_EQ(ErrorOf(Exchange("3 2 1e9", "3 1 1e9")),
              "some/t.txt:1: GPU 'node0' does not reach GPU 'node3' (paths do not run through "
              "other GPUs or servers); add a link or a switch");
    EXPECT_EQ(ErrorOf("4 2 2\n2 2\n0 2 1bps 0 0\n1 2 1bps 0 0\n").substr(0, 30),
              "some/t.txt:3: the rate must be");
    EXPECT_EQ(ErrorOf("4 2 3\n2 2\n0 2 8bps 0 0\n1 2 8bps 0 0\n3 2 8bps 0 0\n"),
              "some/t.txt:1: switch 2 is listed twice");
    EXPECT_EQ(ErrorOf("5 2 1 1 4 A100\n3 4\n"),
              "some/t.txt:1: the 3 GPUs cannot be divided into servers of 2");
}

// As PowerTCP and Reverie have them.
TEST(HpccTopology, HeadsWithSwitchesOfHosts)
{
    const std::string links = "2\n0 2 25000000000.0 1us 0\n1 2 25000000000 1us 0\n";
    const auto read = [&](const std::string& head) {
        testing::internal::CaptureStderr();
        const Cluster cluster = Read(head + "\n" + links);
        EXPECT_EQ(cluster.GetGpus().size(), 2u);
        EXPECT_EQ(cluster.GetLinks().at(1).bytesPerSecond, 25e9 / 8);
        return testing::internal::GetCapturedStderr();
    };
    const std::string unit = "warning: some/t.txt:3: the rate 25000000000.0 has no unit and is in "
                             "bits per second, as ns-3 takes it\n";
    EXPECT_EQ(read("3 1 1 2"), unit);
    EXPECT_EQ(read("3 1 1 2 25000000000 100000000000"),
              "warning: some/t.txt:1: the rates 25000000000 and 100000000000 are not read: each "
              "link has its own\n" +
                  unit);
}

TEST(HpccTopology, NamesWordsThatAreTooMany)
{
    const auto warning = [](const std::string& text) {
        testing::internal::CaptureStderr();
        Read(text);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(warning("2 0 1\n\n0 1 100Gbps 1us 0\n"), "");
    EXPECT_EQ(warning("2 0 1\n\n0 1 100Gbps 0 0\n"), "");
    EXPECT_EQ(
        warning("2 0 1\n\n0 1 100Gbps 0.0005 0\n"),
        "warning: some/t.txt:3: the delay 0.0005 has no unit and is in seconds, as ns-3 takes "
        "it; 500ns is 5e-7\n");
    EXPECT_EQ(warning(SERVERS), "");
    EXPECT_EQ(warning(std::string(SERVERS).replace(10, 4, "XPU")),
              "warning: some/t.txt:1: the GPU 'XPU' has no data sheet: its GPUs are taken for "
              "A100-SXM4-80GB\n");
    EXPECT_EQ(warning("2 0 1\n\n0 1 100Gbps 1us 0 7\n"),
              "warning: some/t.txt:3: '7' stands behind the last link, and is not read\n");
    const std::string whole = "2 0 1\n\n0 1 100Gbps 1us 0\n";
    EXPECT_EQ(warning(whole + "src dst rate delay error_rate\n# 0 1 100Gbps 1us 0\n"), "");
    EXPECT_EQ(warning(whole + "host0 1 100Gbps 1us 0\n"),
              "warning: some/t.txt:4: the first line of the file says 1 link; 1 more line is not "
              "read\n");
}

TEST(HpccTopology, CorruptedAnywhere)
{
    CorruptAnywhere(SERVERS, "some/t.txt", 9, [](const std::string& bad) {
        const Cluster cluster = Read(bad);
        EXPECT_NO_THROW(cluster.Validate());
    });
}

TEST(LoadCluster, ByContentAndSuffix)
{
    const TemporaryFile text(".topo", SMALL);
    EXPECT_EQ(LoadCluster(text.GetPath()).GetGpus().size(), 3u);
    EXPECT_EQ(LoadCluster(text.GetPath(), 3).GetGpus().size(), 3u);
    EXPECT_EQ(LoadErrorOf(text.GetPath(), 2),
              text.GetPath() + ": has 3 servers, but nodes = 2; say as many, or leave it out");
    HpccTopologyOptions options;
    options.overheadBytes = 36;
    EXPECT_EQ(LoadCluster(text.GetPath(), 0, FabricOptions(), options)
                  .GetLinks()[0]
                  .framing.packetHeaderBytes,
              36u);
    const char* const xml = "\n <system><cpu><pci class='0x030200'/><pci class='0x030200'/>"
                            "</cpu></system>";
    const TemporaryFile noSuffix(".dump", xml);
    EXPECT_EQ(LoadCluster(noSuffix.GetPath()).GetGpus().size(), 2u);
    const TemporaryFile json(
        ".cluster",
        " {\"format\": \"proteus-cluster\", \"version\": 1, \"server\": \"dgx-a100\"}");
    EXPECT_EQ(LoadCluster(json.GetPath()).GetGpus().size(), 8u);
    // The suffix is believed, so that errors are those of the format that was meant.
    const TemporaryFile wrong(".json", SMALL);
    EXPECT_EQ(LoadErrorOf(wrong.GetPath()), wrong.GetPath() + ": must hold an object, not 4");
    const TemporaryFile none(".dat", "hello");
    EXPECT_EQ(LoadErrorOf(none.GetPath()),
              none.GetPath() +
                  ": is none of a cluster JSON file, an NCCL topology XML file, a text "
                  "topology that begins with 'nodes switches links', and a "
                  "topology of htsim that begins with 'Nodes N'");
}
