/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "corruptions.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-paths.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

const std::string CLUSTERS = PROTEUS_SOURCE_DIR "/workloads/clusters/";

/// An explicit file with one of everything.
const char* const PAIR = R"({"format": "proteus-cluster", "version": 1, "name": "pair",
 "vertices": [
  {"name": "n0.gpu0", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"},
  {"name": "n1.gpu0", "kind": "gpu", "server": 1, "model": "T4"},
  {"name": "switch0", "kind": "switch"}],
 "links": [
  {"a": "n0.gpu0", "b": "switch0", "technology": "roce", "rate_gbytes_per_s": 12.5},
  {"a": "n1.gpu0", "b": "switch0", "technology": "pcie", "rate_gbytes_per_s": 31.5,
   "delay_ns": 300.5, "cost": 5,
   "framing": {"packet_bytes": 96}}]})";

/// @return the cluster in a text
Cluster
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadClusterJson(input, "c.json");
}

/// @return the message that reading a text ends with, "" if it is accepted
std::string
ErrorOf(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] { Read(text); });
}

/// @return PAIR with a part of it exchanged
std::string
Exchange(const std::string& what, const std::string& with)
{
    return ns3::proteus::Exchange(PAIR, what, with);
}

/// @return the cluster as text
std::string
Write(const Cluster& cluster)
{
    std::ostringstream output;
    WriteClusterJson(cluster, output);
    return output.str();
}

/// Expects that two clusters are the same in everything.
void
ExpectEqual(const Cluster& x, const Cluster& y)
{
    EXPECT_EQ(x.GetName(), y.GetName());
    EXPECT_EQ(x.GetGpus(), y.GetGpus());
    EXPECT_EQ(x.GetNServers(), y.GetNServers());
    ASSERT_EQ(x.GetVertices().size(), y.GetVertices().size());
    for (VertexId i = 0; i < x.GetVertices().size(); ++i)
    {
        const Vertex& a = x.GetVertices()[i];
        const Vertex& b = y.GetVertices()[i];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.server, b.server);
        EXPECT_EQ(a.index, b.index);
        EXPECT_EQ(a.model, b.model);
        EXPECT_EQ(a.memoryBytesPerSecond, b.memoryBytesPerSecond);
        EXPECT_EQ(a.copyEngines, b.copyEngines);
        EXPECT_EQ(a.copyEngineBytesPerSecond, b.copyEngineBytesPerSecond);
        EXPECT_EQ(a.smCopyBytesPerSecond, b.smCopyBytesPerSecond);
        EXPECT_EQ(a.forwardBytesPerSecond, b.forwardBytesPerSecond);
        EXPECT_EQ(a.peerToPeer, b.peerToPeer);
        EXPECT_EQ(a.gpuDirectRdma, b.gpuDirectRdma);
        EXPECT_EQ(a.multicast, b.multicast);
        EXPECT_EQ(a.reduction, b.reduction);
        EXPECT_EQ(a.bufferBytes, b.bufferBytes);
    }
    ASSERT_EQ(x.GetLinks().size(), y.GetLinks().size());
    for (LinkId i = 0; i < x.GetLinks().size(); ++i)
    {
        const Link& a = x.GetLinks()[i];
        const Link& b = y.GetLinks()[i];
        EXPECT_EQ(a.a, b.a);
        EXPECT_EQ(a.b, b.b);
        EXPECT_EQ(a.technology, b.technology);
        EXPECT_EQ(a.bytesPerSecond, b.bytesPerSecond); // exactly
        EXPECT_EQ(a.delayPs, b.delayPs);
        EXPECT_EQ(a.cost, b.cost);
        EXPECT_EQ(a.framing.unitBytes, b.framing.unitBytes);
        EXPECT_EQ(a.framing.unitHeaderBytes, b.framing.unitHeaderBytes);
        EXPECT_EQ(a.framing.packetBytes, b.framing.packetBytes);
        EXPECT_EQ(a.framing.packetHeaderBytes, b.framing.packetHeaderBytes);
        EXPECT_EQ(a.framing.controlBytes, b.framing.controlBytes);
        EXPECT_EQ(a.framing.reverseBytes, b.framing.reverseBytes);
        EXPECT_EQ(a.framing.smPacketHeaderBytes, b.framing.smPacketHeaderBytes);
        EXPECT_EQ(a.framing.smReverseBytes, b.framing.smReverseBytes);
        EXPECT_EQ(a.framing.multimemPacketBytes, b.framing.multimemPacketBytes);
        EXPECT_EQ(a.framing.reduceHeaderBytes, b.framing.reduceHeaderBytes);
        EXPECT_EQ(a.framing.reduceReverseBytes, b.framing.reduceReverseBytes);
        EXPECT_EQ(a.framing.multicastHeaderBytes, b.framing.multicastHeaderBytes);
        EXPECT_EQ(a.framing.multicastReverseBytes, b.framing.multicastReverseBytes);
        EXPECT_EQ(a.lossProbability, b.lossProbability);
        EXPECT_EQ(a.bitErrorRate, b.bitErrorRate);
    }
}

} // namespace

TEST(ClusterJson, ReadsWhatIsWritten)
{
    const Cluster cluster = Read(PAIR);
    EXPECT_EQ(cluster.GetName(), "pair");
    ASSERT_EQ(cluster.GetLinks().size(), 2u);
    const Link& first = cluster.GetLinks()[0];
    EXPECT_EQ(first.technology, LinkTechnology::ROCE);
    EXPECT_EQ(first.bytesPerSecond, 12.5e9);
    EXPECT_EQ(first.delayPs, DefaultDelayPs(LinkTechnology::ROCE));
    EXPECT_EQ(first.cost, DefaultCost(LinkTechnology::ROCE));
    EXPECT_EQ(first.framing.packetHeaderBytes, 82u);
    const Link& second = cluster.GetLinks()[1];
    EXPECT_EQ(second.delayPs, 300500);
    EXPECT_EQ(second.cost, 5u);
    EXPECT_EQ(second.framing.packetBytes, 96u);
    EXPECT_EQ(second.framing.packetHeaderBytes,
              DefaultFraming(LinkTechnology::PCIE).packetHeaderBytes);
    EXPECT_EQ(cluster.GetVertices()[1].model, "T4");
    EXPECT_EQ(cluster.GetVertices()[2].server, -1);
}

TEST(ClusterJson, RoundTripsPresets)
{
    for (const std::string& preset : GetServerPresets())
    {
        for (const std::string& kind : GetFabricKinds())
        {
            FabricOptions options;
            options.kind = kind;
            options.oversubscription = 3; // uplink rates that are no round numbers
            options.serversPerLeaf = 2;
            options.spines = 7;
            const std::string text = Write(MakeCluster(preset, 1));
            if (kind == "nvlink-domain" && text.find("nvswitch") == std::string::npos)
            {
                continue;
            }
            const Cluster cluster = MakeCluster(preset, 3, options);
            ExpectEqual(Read(Write(cluster)), cluster);
        }
    }
}

TEST(ClusterJson, RoundTripsAnything)
{
    std::mt19937_64 random(3);
    Cluster cluster("quotes \" and \\");
    for (int i = 0; i < 20; ++i)
    {
        Vertex vertex;
        vertex.name = "v/~" + std::to_string(i);
        vertex.kind = i % 5 == 0 ? VertexKind::GPU : VertexKind::PCIE_SWITCH;
        vertex.server = i % 3;
        vertex.model = i % 5 == 0 ? "T4" : "";
        const auto rate = static_cast<double>(random() % 2 * (random() % 2000000000000));
        if (vertex.kind == VertexKind::GPU)
        {
            vertex.memoryBytesPerSecond = rate;
            vertex.copyEngines = random() % 8;
            vertex.copyEngineBytesPerSecond = std::floor(rate / 3);
            vertex.smCopyBytesPerSecond = std::floor(rate / 7);
        }
        else
        {
            vertex.forwardBytesPerSecond = rate;
            vertex.memoryBytesPerSecond = vertex.kind == VertexKind::CPU ? std::floor(rate / 5) : 0;
            vertex.peerToPeer = random() % 2 == 0;
        }
        cluster.AddVertex(vertex);
    }
    for (int i = 0; i < 1000; ++i)
    {
        Link link;
        link.a = random() % 20;
        link.b = (link.a + 1 + random() % 19) % 20;
        link.technology = static_cast<LinkTechnology>(random() % 5);
        link.bytesPerSecond = static_cast<double>(1 + random() % 2000000000000);
        link.delayPs = static_cast<int64_t>(random() % 100000000000);
        link.cost = 1 + random() % Link::MAX_COST;
        link.framing.unitBytes = 1 + random() % 100000;
        link.framing.unitHeaderBytes = random() % 100;
        link.framing.packetBytes = 1 + random() % 100000;
        link.framing.packetHeaderBytes = random() % 100;
        link.framing.controlBytes = 1 + random() % 100;
        link.framing.reverseBytes = random() % 100;
        link.framing.smPacketHeaderBytes = random() % 100;
        link.framing.smReverseBytes = random() % 100;
        link.framing.multimemPacketBytes = random() % 500;
        link.framing.reduceHeaderBytes = random() % 100;
        link.framing.reduceReverseBytes = random() % 100;
        link.framing.multicastHeaderBytes = random() % 100;
        link.framing.multicastReverseBytes = random() % 100;
        link.lossProbability = std::ldexp(static_cast<double>(random() >> 12), -52);
        link.bitErrorRate = std::ldexp(static_cast<double>(random() >> 12), -90);
        cluster.AddLink(link);
    }
    ExpectEqual(Read(Write(cluster)), cluster);
}

TEST(ClusterJson, LeavesDefaultsOut)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    const std::string text = Write(MakeHostCluster(16,
                                                   options,
                                                   LinkTechnology::ROCE,
                                                   50e9,
                                                   DefaultDelayPs(LinkTechnology::ROCE),
                                                   DefaultFraming(LinkTechnology::ROCE)));
    for (const char* key : {"delay_ns",
                            "cost",
                            "framing",
                            "generation",
                            "probability",
                            "gbytes_per_s\": 0",
                            "peer",
                            "multicast",
                            "buffer"})
    {
        EXPECT_EQ(text.find(key), std::string::npos) << key;
    }
    // Framings of other generations are named, not listed.
    const std::string h100 = Write(MakeCluster("dgx-h100", 1));
    EXPECT_NE(h100.find("\"generation\":4"), std::string::npos);
    EXPECT_NE(h100.find("\"generation\":5"), std::string::npos);
    EXPECT_EQ(h100.find("framing"), std::string::npos);
}

TEST(ClusterJson, GpusAndNicsReachEachOtherAsTheFileSays)
{
    const auto read = [](const std::string& kind, const std::string& flags) {
        return Read(R"({"format": "proteus-cluster", "version": 1, "vertices": [
          {"name": "g", "kind": "gpu", "server": 0, "model": "T4"},
          {"name": "v", "server": 0, "kind": ")" +
                    kind + "\"" + flags + R"(}],
          "links": [{"a": "g", "b": "v", "technology": "pcie", "rate_gbytes_per_s": 1}]})");
    };
    const auto reach = [&](const std::string& kind, const std::string& flags) {
        const Cluster cluster = read(kind, flags);
        ExpectEqual(Read(Write(cluster)), cluster);
        const Vertex& vertex = cluster.GetVertices()[1];
        return std::make_pair(vertex.peerToPeer, vertex.gpuDirectRdma);
    };
    const std::string noPeers = ", \"peer_to_peer\": false";
    const std::string noRdma = ", \"gpu_direct_rdma\": false";
    EXPECT_EQ(reach("cpu", ""), std::make_pair(true, true));
    EXPECT_EQ(reach("cpu", noPeers), std::make_pair(false, false));
    EXPECT_EQ(reach("cpu", noRdma), std::make_pair(true, false));
    EXPECT_EQ(reach("cpu", noPeers + noRdma), std::make_pair(false, false));
    EXPECT_EQ(reach("cpu", noPeers + ", \"gpu_direct_rdma\": true"), std::make_pair(false, true));
    EXPECT_EQ(reach("nic", noPeers), std::make_pair(true, false));
    EXPECT_EQ(reach("nic", noRdma), std::make_pair(true, false));
    EXPECT_EQ(reach("pcie-switch", noPeers), std::make_pair(false, true));
    EXPECT_EQ(ErrorOf([&] { read("nic", noPeers + noRdma); }),
              "c.json: /vertices/1/peer_to_peer: a NIC that has gpu_direct_rdma has no "
              "peer_to_peer, which means the same");
    EXPECT_EQ(ErrorOf([&] { read("pcie-switch", noRdma); }),
              "c.json: /vertices/1: vertex 'v': a pcie-switch has no GPUDirect RDMA to be "
              "disabled");
}

TEST(ClusterJson, GpusThatReachPeersByBarFillPackets)
{
    const auto read = [](const std::string& model, const std::string& framing) {
        return Read(R"({"format": "proteus-cluster", "version": 1,
         "vertices": [{"name": "g", "kind": "gpu", "server": 0, "model": ")" +
                    model + R"("}, {"name": "c", "kind": "cpu", "server": 0}],
         "links": [{"a": "g", "b": "c", "technology": "pcie", "rate_gbytes_per_s": 31.5)" +
                    framing + "}]}");
    };
    const auto get = [&](const std::string& model, const std::string& framing = "") {
        const Cluster cluster = read(model, framing);
        ExpectEqual(Read(Write(cluster)), cluster);
        const LinkFraming used = cluster.GetLinks()[0].framing.For(CopyMethod::SM);
        return std::make_pair(used.packetHeaderBytes, used.reverseBytes);
    };
    // Stores of a kernel are as what copy engines move: 128 bytes of payload behind 24.
    EXPECT_EQ(get("RTX-4090"), std::make_pair(24u, 8u));
    EXPECT_EQ(get("RTX-3090", ", \"generation\": 3"), std::make_pair(24u, 8u));
    EXPECT_EQ(get("A100-PCIE-40GB"), std::make_pair(48u, 16u));
    // What a file says counts.
    EXPECT_EQ(get("RTX-4090",
                  ", \"framing\": {\"sm_packet_header_bytes\": 48, \"sm_reverse_bytes\": 16}"),
              std::make_pair(48u, 16u));
    EXPECT_EQ(get("A100-PCIE-40GB",
                  ", \"framing\": {\"sm_packet_header_bytes\": 0, \"sm_reverse_bytes\": 0}"),
              std::make_pair(24u, 8u));
}

TEST(ClusterJson, CapabilitiesAndFaults)
{
    const Cluster cluster = Read(R"({"format": "proteus-cluster", "version": 1,
     "vertices": [
      {"name": "g", "kind": "gpu", "server": 0, "model": "T4", "memory_gbytes_per_s": 320,
       "copy_engines": 3, "copy_engine_gbytes_per_s": 12.5, "sm_copy_gbytes_per_s": 0.25},
      {"name": "p", "kind": "pcie-switch", "server": 0, "peer_to_peer": false,
       "forward_gbytes_per_s": 16},
      {"name": "s", "kind": "switch", "multicast": true, "reduction": true,
       "buffer_bytes": 33554432}],
     "links": [
      {"a": "g", "b": "p", "technology": "pcie", "rate_gbytes_per_s": 15.75, "generation": 5,
       "loss_probability": 0.125, "bit_error_rate": 1e-12,
       "framing": {"reverse_bytes": 7, "sm_packet_header_bytes": 9, "sm_reverse_bytes": 11}},
      {"a": "p", "b": "s", "technology": "nvlink", "rate_gbytes_per_s": 1, "generation": 2}]})");
    const Vertex& gpu = cluster.GetVertices()[0];
    EXPECT_EQ(gpu.memoryBytesPerSecond, 320e9);
    EXPECT_EQ(gpu.copyEngines, 3u);
    EXPECT_EQ(gpu.copyEngineBytesPerSecond, 12.5e9);
    EXPECT_EQ(gpu.smCopyBytesPerSecond, 0.25e9);
    EXPECT_TRUE(gpu.peerToPeer);
    const Vertex& pcie = cluster.GetVertices()[1];
    EXPECT_FALSE(pcie.peerToPeer);
    EXPECT_FALSE(pcie.multicast);
    EXPECT_EQ(pcie.forwardBytesPerSecond, 16e9);
    const Vertex& network = cluster.GetVertices()[2];
    EXPECT_TRUE(network.multicast);
    EXPECT_TRUE(network.reduction);
    EXPECT_EQ(network.bufferBytes, 33554432u);
    const Link& link = cluster.GetLinks()[0];
    EXPECT_EQ(link.lossProbability, 0.125);
    EXPECT_EQ(link.bitErrorRate, 1e-12);
    EXPECT_EQ(link.framing.reverseBytes, 7u);
    EXPECT_EQ(link.framing.smPacketHeaderBytes, 9u);
    EXPECT_EQ(link.framing.smReverseBytes, 11u);
    EXPECT_EQ(link.framing.packetBytes, DefaultFraming(LinkTechnology::PCIE, 5).packetBytes);
    ExpectEqual(Read(Write(cluster)), cluster);

    const auto with = [](const char* what, const char* value) {
        return ErrorOf(Exchange("\"cost\": 5", std::string("\"") + what + "\": " + value));
    };
    EXPECT_EQ(with("loss_probability", "1.5"),
              "c.json: /links/1/loss_probability: must be a number from 0 to 1, not 1.5");
    EXPECT_EQ(with("generation", "9"),
              "c.json: /links/1/generation: PCI Express generation 9 is not known; known: 3 to 6");
    EXPECT_EQ(ErrorOf(Exchange("\"roce\"", "\"roce\", \"generation\": 3")),
              "c.json: /links/0/generation: only nvlink and pcie have generations");
    EXPECT_EQ(ErrorOf(Exchange("\"T4\"", "\"T4\", \"forward_gbytes_per_s\": 1")).substr(0, 53),
              "c.json: /vertices/1/forward_gbytes_per_s: unknown fie");
    EXPECT_EQ(
        ErrorOf(Exchange("\"kind\": \"switch\"", "\"kind\": \"switch\", \"peer_to_peer\": false")),
        "c.json: /vertices/2: vertex 'switch0': a switch has no peer-to-peer to be disabled");
    EXPECT_EQ(ErrorOf(Exchange("\"kind\": \"switch\"", "\"kind\": \"switch\", \"multicast\": 1")),
              "c.json: /vertices/2/multicast: must be true or false, not 1");
}

TEST(ClusterJson, PlainHosts)
{
    FabricOptions options;
    options.kind = "fat-tree";
    options.switchPorts = 4;
    LinkFraming framing = DefaultFraming(LinkTechnology::ROCE);
    framing.unitBytes = 1000;
    framing.packetHeaderBytes = 48;
    const Cluster cluster = Read(R"({"format": "proteus-cluster", "version": 1, "hosts": 16,
        "link": {"technology": "roce", "rate_gbytes_per_s": 12.5, "delay_ns": 500,
                 "framing": {"unit_bytes": 1000, "packet_header_bytes": 48}},
        "fabric": {"kind": "fat-tree", "switch_ports": 4}, "model": "T4"})");
    ExpectEqual(cluster,
                MakeHostCluster(16, options, LinkTechnology::ROCE, 12.5e9, 500000, framing, "T4"));
    ExpectEqual(Read(Write(cluster)), cluster);
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "hosts": 17,
        "link": {"technology": "roce", "rate_gbytes_per_s": 12.5},
        "fabric": {"kind": "fat-tree", "switch_ports": 4}})"),
              "c.json: fat-tree: switch_ports must be an even number from 6 to 65534 for what "
              "plugs in (17), is 4");
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "hosts": 17})"),
              "c.json: /link: is missing");
}

TEST(ClusterJson, ShortForm)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.oversubscription = 2;
    options.serversPerLeaf = 2;
    options.spines = 3;
    ExpectEqual(Read(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-a100",
                         "servers": 5, "fabric": {"kind": "leaf-spine", "oversubscription": 2,
                         "servers_per_leaf": 2, "spines": 3}})"),
                MakeCluster("dgx-a100", 5, options));
    ExpectEqual(Read(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-h100"})"),
                MakeCluster("dgx-h100", 1));
}

TEST(ClusterJson, FilesThatComeWithIt)
{
    ExpectEqual(LoadCluster(CLUSTERS + "2-x-dgx1-v100.json"), MakeCluster("dgx1-v100", 2));
    ExpectEqual(LoadCluster(CLUSTERS + "2-x-dgx-a100.json", 2), MakeCluster("dgx-a100", 2));
    const Cluster h100 = LoadCluster(CLUSTERS + "8-x-dgx-h100-leaf-spine.json");
    EXPECT_EQ(h100.GetGpus().size(), 64u);
    EXPECT_NO_THROW(h100.FindVertex("spine3"));

    const Cluster four = LoadCluster(CLUSTERS + "4-gpus-1-pcie-switch.json");
    EXPECT_EQ(four.GetName(), "four V100 on one PCIe switch");
    EXPECT_EQ(four.GetGpus().size(), 4u);
    const Paths paths(four);
    for (VertexId gpu : four.GetGpus())
    {
        EXPECT_EQ(paths.Distance(four.FindVertex("n0.pcie0"), gpu),
                  DefaultCost(LinkTechnology::PCIE));
    }
    const Link& uplink = four.GetLinks().back();
    EXPECT_EQ(uplink.delayPs, 300000);
    EXPECT_EQ(uplink.framing.packetBytes, 128u);
}

TEST(ClusterJson, EveryFileThatComesWithIt)
{
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(CLUSTERS))
    {
        const Cluster cluster = LoadCluster(entry.path().string());
        EXPECT_NO_THROW(cluster.Validate()) << entry.path();
        ExpectEqual(Read(Write(cluster)), cluster);
        ++n;
    }
    EXPECT_GE(n, 8u);
    // The hosts of a text file have the ids of the file.
    const Cluster nine = LoadCluster(CLUSTERS + "9-hosts-1-switch.txt");
    EXPECT_EQ(nine.GetGpus().back(), 8u);
    EXPECT_EQ(nine.GetLinks().back().bytesPerSecond, 50e9);
    EXPECT_EQ(nine.GetLinks().back().delayPs, 500000);
    EXPECT_EQ(LoadCluster(CLUSTERS + "2-x-gb200-nvl72.json").GetGpus().size(), 144u);
}

TEST(LoadCluster, PresetsAndErrors)
{
    ExpectEqual(LoadCluster("dgx-a100", 2), MakeCluster("dgx-a100", 2));
    ExpectEqual(LoadCluster("dgx-a100"), MakeCluster("dgx-a100", 1));
    auto errorOf = [](const std::string& name, uint32_t servers) {
        try
        {
            LoadCluster(name, servers);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(errorOf("dgx-b300", 1),
              "there is neither a preset nor a file 'dgx-b300'; presets: " +
                  ListNames(GetServerPresets()));
    const std::string file = CLUSTERS + "2-x-dgx-a100.json";
    EXPECT_EQ(errorOf(file, 3),
              file + ": has 2 servers, but nodes = 3; say as many, or leave it out");
    EXPECT_EQ(errorOf(CLUSTERS, 0), CLUSTERS + ": cannot be read: it is a directory");
}

// A text topology is known by its first character, whatever stands before it.
TEST(LoadCluster, TextsAreKnownByTheirBeginning)
{
    const std::string path = testing::TempDir() + "proteus-cluster-text";
    const auto load = [&path](const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
        return LoadCluster(path);
    };
    const std::string topology = "2 0 1\n\n0 1 100Gbps 1us 0\n";
    EXPECT_EQ(load(topology).GetGpus().size(), 2u);
    EXPECT_EQ(load("\xef\xbb\xbf" + topology).GetGpus().size(), 2u);
    EXPECT_EQ(load("\n  " + topology).GetGpus().size(), 2u);
    const auto errorOf = [&load](const std::string& text) { return ErrorOf([&] { load(text); }); };
    EXPECT_EQ(errorOf(std::string("\xff\xfe"
                                  "2\0",
                                  4)),
              path + ":1:1: the file is UTF-16: save it as UTF-8");
    EXPECT_EQ(errorOf(""), path + ": there is nothing in the file");
    EXPECT_EQ(errorOf("two hosts"),
              path + ": is none of a cluster JSON file, an NCCL topology XML file, a text "
                     "topology that begins with 'nodes switches links', and a topology of htsim "
                     "that begins with 'Nodes N'");
    for (const auto& [text, what] :
         {std::pair("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-63\nGPU1\tNV12\t X \t0-63\n",
                    "this is a table of nvidia-smi topo -m"),
          {"#\n# Topology file\n#\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb8599f\n"
           "switchguid=0xb8599f(b8599f)\nSwitch 41 \"S-b8599f\"\n",
           "this is a list of ibnetdiscover"},
          {R"({"schema": "1.1.0", "nodes": []})", "this is an execution trace of PyTorch"}})
    {
        EXPECT_NE(errorOf(text).find(what), std::string::npos) << errorOf(text);
    }
    std::filesystem::remove(path);
}

TEST(ClusterJson, SyntaxErrorsHaveAPlace)
{
    for (const char* empty : {"", " \n"})
    {
        const std::string error = ErrorOf(empty);
        EXPECT_EQ(error.substr(0, 7), "c.json:");
        EXPECT_EQ(error.substr(error.rfind(':')), ": the file is empty");
    }
    EXPECT_EQ(ErrorOf("{\"version\": 1"),
              "c.json:1:14: syntax error while parsing object - unexpected end of input; expected "
              "'}'; the file was cut off");
    const std::string wide = "{\"version\": 1}";
    for (const bool isBigEnd : {false, true})
    {
        std::string text;
        for (const char c : wide)
        {
            text += isBigEnd ? std::string{'\0', c} : std::string{c, '\0'};
        }
        EXPECT_EQ(ErrorOf(text), "c.json:1:1: the file is UTF-16: save it as UTF-8");
    }
    EXPECT_EQ(ErrorOf(wide + std::string(2, '\0')).substr(0, 28), "c.json:1:15: a byte of zero,");
    EXPECT_NE(ErrorOf("{\"\xff\": 1}").find("; save the file as UTF-8"), std::string::npos);
    EXPECT_EQ(ErrorOf("{\"x\": NaN}"),
              "c.json:1:7: syntax error while parsing value - invalid literal; JSON has no NaN, no "
              "infinity and no None: write a number, or null");
    EXPECT_EQ(ErrorOf("{\"format\":\n  oops}"),
              "c.json:2:3: syntax error while parsing value - invalid literal");
    EXPECT_EQ(ErrorOf("{\"format\": 1,\n \"x\": {\"format\": 2}, \"format\": 3}"),
              "c.json: /format: appears twice");
    EXPECT_EQ(ErrorOf("{\"links\": " + std::string(1000000, '[')),
              "c.json: /links/0/0/0/0/0/0/0: is nested too deeply");
    EXPECT_EQ(ErrorOf("{\"version\": 1e999}"), "c.json:1:18: number overflow parsing '1e999'");
    EXPECT_EQ(ErrorOf("{\"\xff\": 1}").substr(0, 11), "c.json:1:3:");
    // What people take for JSON.
    const std::string key = "syntax error while parsing object key - ";
    const std::string value = "syntax error while parsing value - ";
    EXPECT_EQ(ErrorOf("{\"version\": 1,}"),
              "c.json:1:15: " + key +
                  "unexpected '}'; expected string literal; leave out the comma "
                  "before it");
    EXPECT_EQ(ErrorOf("{\"links\": [1,]}"),
              "c.json:1:14: " + value +
                  "unexpected ']'; expected '[', '{', or a literal; leave out "
                  "the comma before it");
    EXPECT_EQ(ErrorOf("{ // two servers\n}"),
              "c.json:1:3: " + key +
                  "invalid literal; expected string literal; JSON has no "
                  "comments: leave it out");
    EXPECT_EQ(ErrorOf("{'version': 1}"),
              "c.json:1:2: " + key +
                  "invalid literal; expected string literal; texts stand in "
                  "double quotes");
    EXPECT_EQ(ErrorOf("{\"x\": True}"),
              "c.json:1:7: " + value + "invalid literal; write true or false");
}

TEST(ClusterJson, ContentErrorsHaveAPointer)
{
    EXPECT_EQ(ErrorOf(PAIR), "");
    EXPECT_EQ(ErrorOf("[]"), "c.json: must hold an object, not a list");
    EXPECT_EQ(ErrorOf("{}"), "c.json: /format: is missing; it must be \"proteus-cluster\"");
    EXPECT_EQ(ErrorOf(Exchange("proteus-cluster", "proteus-graph")),
              "c.json: /format: must be \"proteus-cluster\", not \"proteus-graph\"");
    EXPECT_EQ(ErrorOf(Exchange("\"version\": 1", "\"version\": 2")),
              "c.json: /version: must be 1, not 2");
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1})"),
              "c.json: needs either the key 'server', with the name of a preset, or 'hosts' and "
              "'link', or 'vertices' and 'links'");
    EXPECT_EQ(ErrorOf(Exchange("\"name\": \"pair\"", "\"names\": 0")),
              "c.json: /names: unknown field; did you mean name? a cluster has format, version, "
              "name, vertices, links");
    EXPECT_EQ(ErrorOf(Exchange("\"b\": \"switch0\"", "\"b\": \"switch1\"")),
              "c.json: /links/0/b: there is no vertex 'switch1'");
    EXPECT_EQ(ErrorOf(Exchange("300.5", "0.0001")),
              "c.json: /links/1/delay_ns: must be 0 or at least 0.001, a picosecond, not 0.0001");
    EXPECT_EQ(ErrorOf(Exchange("\"b\": \"switch0\"", "\"b\": 2")),
              "c.json: /links/0/b: must be a string, not 2");
    EXPECT_EQ(ErrorOf(Exchange("\"b\": \"switch0\"", "\"b\": \"n0.gpu0\"")),
              "c.json: /links/0: link from 'n0.gpu0' to 'n0.gpu0': the ends must be two vertices");
    EXPECT_EQ(
        ErrorOf(Exchange("\"roce\"", "\"rocky\"")),
        "c.json: /links/0/technology: unknown link technology 'rocky'; known are nvlink, pcie, "
        "cpu-interconnect, infiniband, roce");
    EXPECT_EQ(ErrorOf(Exchange("12.5", "-1")),
              "c.json: /links/0/rate_gbytes_per_s: must be a number from 1e-09 to 1e+06, not -1");
    EXPECT_EQ(ErrorOf(Exchange(", \"rate_gbytes_per_s\": 12.5", "")),
              "c.json: /links/0/rate_gbytes_per_s: is missing");
    EXPECT_EQ(ErrorOf(Exchange("\"cost\": 5", "\"cost\": 0")),
              "c.json: /links/1/cost: must be an integer from 1 to 65535, not 0");
    EXPECT_EQ(ErrorOf(Exchange("\"cost\": 5", "\"cost\": 1.5")),
              "c.json: /links/1/cost: must be an integer from 1 to 65535, not 1.5");
    EXPECT_EQ(ErrorOf(Exchange("\"packet_bytes\": 96", "\"packet_bytes\": 0")),
              "c.json: /links/1/framing/packet_bytes: must be an integer from 1 to 1073741824, not "
              "0");
    EXPECT_EQ(ErrorOf(Exchange("\"packet_bytes\"", "\"packet/bytes\"")),
              "c.json: /links/1/framing/packet~1bytes: unknown field; did you mean packet_bytes? a "
              "framing has unit_bytes, "
              "unit_header_bytes, packet_bytes, packet_header_bytes, control_bytes, reverse_bytes, "
              "sm_packet_header_bytes, sm_reverse_bytes, multimem_packet_bytes, "
              "reduce_header_bytes, reduce_reverse_bytes, multicast_header_bytes, "
              "multicast_reverse_bytes");
    EXPECT_EQ(ErrorOf(Exchange("\"kind\": \"switch\"", "\"kind\": \"hub\"")),
              "c.json: /vertices/2/kind: unknown kind of vertex 'hub'; known are gpu, nvswitch, "
              "pcie-switch, cpu, nic, switch");
    EXPECT_EQ(ErrorOf(Exchange("\"name\": \"n1.gpu0\"", "\"name\": \"n0.gpu0\"")),
              "c.json: /vertices/1: vertex 'n0.gpu0' exists twice");
    EXPECT_EQ(ErrorOf(Exchange(", \"model\": \"T4\"", "")),
              "c.json: /vertices/1/model: is missing");
    EXPECT_EQ(ErrorOf(Exchange("\"kind\": \"switch\"", "\"kind\": \"switch\", \"model\": \"T4\"")),
              "c.json: /vertices/2/model: unknown field; a vertex that is no GPU has name, kind, "
              "server, forward_gbytes_per_s, peer_to_peer, gpu_direct_rdma, multicast, reduction, "
              "buffer_bytes");
    EXPECT_EQ(ErrorOf(Exchange("\"server\": 1, ", "")),
              "c.json: /vertices/1: vertex 'n1.gpu0': a gpu must be in a server; give its number");
    EXPECT_EQ(
        ErrorOf(Exchange("\"server\": 1", "\"server\": 4")),
        "c.json: there is a server 4 but no server 1; number the servers from 0 without gaps");
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-3"})"),
              "c.json: /server: unknown server preset 'dgx-3'; known: " +
                  ListNames(GetServerPresets()));
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-a100\u0000"})"),
              "c.json: /server: must be a name without control characters, not "
              "\"dgx-a100\\u0000\"");
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-a100",
                          "fabric": {"kind": "single-switch", "spines": 2}})"),
              "c.json: /fabric/spines: unknown field; the fabric single-switch has kind");
    EXPECT_EQ(ErrorOf(R"({"format": "proteus-cluster", "version": 1, "server": "dgx-a100",
                          "fabric": {"kind": "ring", "spines": 2}})"),
              "c.json: /fabric/kind: unknown fabric 'ring'; known: " + ListNames(GetFabricKinds()));
}

TEST(ClusterJson, CorruptedAnywhere)
{
    for (std::size_t length = 0; length < std::string(PAIR).size(); ++length)
    {
        EXPECT_NE(ErrorOf(std::string(PAIR).substr(0, length)), "") << length;
    }
    CorruptAnywhere(PAIR, "c.json", 4, [](const std::string& bad) {
        const Cluster cluster = Read(bad);
        EXPECT_NO_THROW(cluster.Validate());
        ExpectEqual(Read(Write(cluster)), cluster);
    });
}
