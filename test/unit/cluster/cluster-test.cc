/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-paths.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// @return how many vertices of this kind the cluster has
std::size_t
Count(const Cluster& cluster, VertexKind kind)
{
    const auto& vertices = cluster.GetVertices();
    return std::count_if(vertices.begin(), vertices.end(), [kind](const Vertex& vertex) {
        return vertex.kind == kind;
    });
}

/// @return how many links of this technology the cluster has
std::size_t
Count(const Cluster& cluster, LinkTechnology technology)
{
    const auto& links = cluster.GetLinks();
    return std::count_if(links.begin(), links.end(), [technology](const Link& link) {
        return link.technology == technology;
    });
}

/// @return summed rate of the links of this technology at a vertex
double
SummedRate(const Cluster& cluster, VertexId vertex, LinkTechnology technology)
{
    double sum = 0;
    for (const Port& port : cluster.GetPorts(vertex))
    {
        const Link& link = cluster.GetLinks()[port.link];
        sum += link.technology == technology ? link.bytesPerSecond : 0;
    }
    return sum;
}

/// @return rate of the NVLink between two GPUs, 0 where there is none
double
NvlinkRate(const Cluster& cluster, VertexId a, VertexId b)
{
    for (const Port& port : cluster.GetPorts(a))
    {
        if (port.neighbor == b)
        {
            return cluster.GetLinks()[port.link].bytesPerSecond;
        }
    }
    return 0;
}

/// @return names of the vertices on the path that always takes the first choice, `from` left out
std::vector<std::string>
FirstPath(const Cluster& cluster, const Paths& paths, const char* from, const char* to)
{
    VertexId at = cluster.FindVertex(from);
    std::vector<std::string> names;
    for (LinkId link :
         paths.Walk(at, cluster.FindVertex(to), [](VertexId, std::size_t) { return 0; }))
    {
        at = cluster.GetLinks()[link].Other(at);
        names.push_back(cluster.GetVertices()[at].name);
    }
    return names;
}

/// @return names of the vertices that a vertex may send to next on the way to another
std::set<std::string>
NextNames(const Cluster& cluster, const Paths& paths, const char* from, const char* to)
{
    std::set<std::string> names;
    const VertexId vertex = cluster.FindVertex(from);
    for (uint16_t port : paths.NextPorts(vertex, cluster.FindVertex(to)))
    {
        names.insert(cluster.GetVertices()[cluster.GetPorts(vertex)[port].neighbor].name);
    }
    return names;
}

/// @return names as messages list them
std::string
List(const std::vector<std::string>& names)
{
    std::string list;
    for (const std::string& name : names)
    {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

/// @return a vertex
Vertex
MakeVertex(const std::string& name, VertexKind kind, int32_t server = 0)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = kind;
    vertex.server = server;
    return vertex;
}

/// @return a link that AddLink() takes
Link
MakeLink(VertexId a, VertexId b, uint32_t cost = 1)
{
    Link link;
    link.a = a;
    link.b = b;
    link.bytesPerSecond = 1e9;
    link.cost = cost;
    return link;
}

} // namespace

TEST(ClusterNames, RoundTrip)
{
    for (auto kind : {VertexKind::GPU,
                      VertexKind::NVSWITCH,
                      VertexKind::PCIE_SWITCH,
                      VertexKind::CPU,
                      VertexKind::NIC,
                      VertexKind::SWITCH})
    {
        EXPECT_EQ(VertexKindFromString(ToString(kind)), kind);
    }
    for (auto technology : {LinkTechnology::NVLINK,
                            LinkTechnology::PCIE,
                            LinkTechnology::CPU_INTERCONNECT,
                            LinkTechnology::INFINIBAND,
                            LinkTechnology::ROCE})
    {
        EXPECT_EQ(LinkTechnologyFromString(ToString(technology)), technology);
    }
    EXPECT_STREQ(ToString(VertexKind::PCIE_SWITCH), "pcie-switch");
    EXPECT_STREQ(ToString(LinkTechnology::CPU_INTERCONNECT), "cpu-interconnect");
    EXPECT_EQ(
        ErrorOf([] { LinkTechnologyFromString("pci"); }),
        "unknown link technology 'pci'; known are nvlink, pcie, cpu-interconnect, infiniband, "
        "roce");
    EXPECT_EQ(
        ErrorOf([] { VertexKindFromString("GPU"); }),
        "unknown kind of vertex 'GPU'; known are gpu, nvswitch, pcie-switch, cpu, nic, switch");
}

TEST(Cluster, RefusesNonsense)
{
    Cluster cluster;
    const VertexId gpu = cluster.AddVertex(MakeVertex("a", VertexKind::GPU));
    const VertexId nic = cluster.AddVertex(MakeVertex("b", VertexKind::NIC));
    EXPECT_EQ(ErrorOf([&] { cluster.AddVertex(MakeVertex("a", VertexKind::CPU)); }),
              "vertex 'a' exists twice");
    EXPECT_NE(ErrorOf([&] { cluster.AddVertex(MakeVertex("", VertexKind::CPU)); }), "");
    EXPECT_NE(ErrorOf([&] { cluster.AddVertex(MakeVertex("c", VertexKind::GPU, -1)); }), "");
    EXPECT_NE(ErrorOf([&] { cluster.AddVertex(MakeVertex("c", VertexKind::GPU, -2)); }), "");
    EXPECT_EQ(cluster.GetVertices().size(), 2u);
    EXPECT_EQ(ErrorOf([&] { cluster.FindVertex("c"); }), "there is no vertex 'c'");

    auto refused = [&](const std::function<void(Link&)>& spoil) {
        Link link = MakeLink(gpu, nic);
        spoil(link);
        return !ErrorOf([&] { cluster.AddLink(link); }).empty();
    };
    EXPECT_TRUE(refused([](Link& link) { link.a = 2; }));
    EXPECT_TRUE(refused([](Link& link) { link.b = link.a; }));
    EXPECT_TRUE(refused([](Link& link) { link.bytesPerSecond = 0; }));
    EXPECT_TRUE(refused(
        [](Link& link) { link.bytesPerSecond = std::numeric_limits<double>::quiet_NaN(); }));
    EXPECT_TRUE(
        refused([](Link& link) { link.bytesPerSecond = std::numeric_limits<double>::infinity(); }));
    EXPECT_TRUE(refused([](Link& link) { link.delayPs = -1; }));
    EXPECT_TRUE(refused([](Link& link) { link.framing.unitBytes = 0; }));
    EXPECT_TRUE(refused([](Link& link) { link.framing.packetBytes = 0; }));
    EXPECT_TRUE(refused([](Link& link) { link.framing.controlBytes = 0; }));
    EXPECT_TRUE(refused([](Link& link) { link.cost = 0; }));
    EXPECT_TRUE(refused([](Link& link) { link.cost = Link::MAX_COST + 1; }));
    EXPECT_TRUE(refused([](Link& link) { link.lossProbability = -0.1; }));
    EXPECT_TRUE(refused([](Link& link) { link.lossProbability = 1.1; }));
    EXPECT_TRUE(
        refused([](Link& link) { link.bitErrorRate = std::numeric_limits<double>::quiet_NaN(); }));
    EXPECT_FALSE(refused([](Link&) {}));
    EXPECT_EQ(cluster.GetLinks().size(), 1u);
}

TEST(Cluster, RefusesWhatAVertexCannotHave)
{
    auto message = [](VertexKind kind, const std::function<void(Vertex&)>& spoil) {
        Vertex vertex = MakeVertex("v", kind);
        spoil(vertex);
        return ErrorOf([&] { Cluster().AddVertex(vertex); });
    };
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.memoryBytesPerSecond = 1; }),
              "vertex 'v': a cpu has no memory rate");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.memoryBytesPerSecond = -1; }),
              "vertex 'v': the memory rate must be at least 1 byte per second, or 0 for no limit");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.forwardBytesPerSecond = 1; }),
              "vertex 'v': a gpu has no forwarding rate");
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.copyEngines = 1; }),
              "vertex 'v': a nic has no copy engines");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.peerToPeer = false; }),
              "vertex 'v': a gpu has no peer-to-peer to be disabled");
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.multicast = true; }),
              "vertex 'v': a cpu has no multicast");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.reduction = true; }),
              "vertex 'v': a gpu has no reduction");
    EXPECT_EQ(message(VertexKind::NVSWITCH, [](Vertex& vertex) { vertex.bufferBytes = 1; }),
              "vertex 'v': a nvswitch has no shared buffer");
    EXPECT_EQ(message(VertexKind::SWITCH, [](Vertex& vertex) { vertex.bufferBytes = 1; }), "");
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.peerToPeer = false; }), "");
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.peerToPeer = false; }), "");
}

TEST(Cluster, Validate)
{
    Cluster empty;
    EXPECT_EQ(ErrorOf([&] { empty.Validate(); }), "the cluster has no GPU");

    Cluster gap;
    gap.AddVertex(MakeVertex("a", VertexKind::GPU, 1));
    EXPECT_NE(ErrorOf([&] { gap.Validate(); }).find("no server 0"), std::string::npos);

    // A chain of GPUs: the outer ones meet only through the middle one.
    Cluster chain;
    const VertexId a = chain.AddVertex(MakeVertex("a", VertexKind::GPU));
    const VertexId b = chain.AddVertex(MakeVertex("b", VertexKind::GPU));
    const VertexId c = chain.AddVertex(MakeVertex("c", VertexKind::GPU));
    const VertexId hub = chain.AddVertex(MakeVertex("hub", VertexKind::NVSWITCH));
    chain.AddLink(MakeLink(a, b));
    chain.AddLink(MakeLink(b, c));
    chain.AddLink(MakeLink(a, hub));
    EXPECT_NE(ErrorOf([&] { chain.Validate(); }).find("'a' does not reach GPU 'c'"),
              std::string::npos);
    chain.AddLink(MakeLink(hub, c));
    EXPECT_NO_THROW(chain.Validate());
}

TEST(Presets, Dgx1V100)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 0u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 0u);
    // The cube mesh joins each GPU to four others: 16 pairs.
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 16u);
    EXPECT_EQ(Count(cluster, LinkTechnology::PCIE), 8u + 4 + 4);
    EXPECT_EQ(Count(cluster, LinkTechnology::CPU_INTERCONNECT), 1u);

    const auto& gpus = cluster.GetGpus();
    for (VertexId gpu : gpus)
    {
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 6 * 25e9);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 15753846154);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "V100-SXM2-32GB");
    }
    // The rings of doubled links, as NCCL finds them, and the two quads.
    for (auto [a, b] : {std::pair{0, 3}, {3, 2}, {2, 1}, {1, 5}, {5, 6}, {6, 7}, {7, 4}, {4, 0}})
    {
        EXPECT_DOUBLE_EQ(NvlinkRate(cluster, gpus[a], gpus[b]), 50e9) << a << " " << b;
    }
    for (auto [a, b] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}})
    {
        EXPECT_DOUBLE_EQ(NvlinkRate(cluster, gpus[a], gpus[b]), 25e9) << a << " " << b;
    }
}

TEST(Presets, DgxA100)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 6u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 8u);
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 8u * 6);
    EXPECT_EQ(Count(cluster, LinkTechnology::PCIE), 8u + 8 + 4);
    for (VertexId gpu : cluster.GetGpus())
    {
        // 600 GB/s in both directions together, says the data sheet.
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 600e9 / 2);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 31507692308);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "A100-SXM4-80GB");
    }
}

TEST(Presets, DgxH100)
{
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 8u);
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 8u * 4);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 900e9 / 2);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 63015384615);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "H100-SXM5-80GB");
    }
    std::map<std::string, double> switches;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        if (vertex.kind == VertexKind::NVSWITCH)
        {
            switches[vertex.name] =
                SummedRate(cluster, cluster.FindVertex(vertex.name), LinkTechnology::NVLINK);
        }
    }
    EXPECT_DOUBLE_EQ(switches["n0.nvswitch0"], 8 * 5 * 25e9);
    EXPECT_DOUBLE_EQ(switches["n0.nvswitch1"], 8 * 4 * 25e9);
}

TEST(Presets, NamesAndIndices)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 1;
    options.spines = 3;
    const Cluster cluster = MakeCluster("dgx-a100", 2, options);
    EXPECT_EQ(cluster.GetNServers(), 2u);
    EXPECT_EQ(cluster.GetGpus().size(), 16u);
    for (const char* name : {"n0.gpu3", "n1.nvswitch2", "n0.pcie1", "n1.cpu0", "n0.nic5"})
    {
        const Vertex& vertex = cluster.GetVertices()[cluster.FindVertex(name)];
        EXPECT_EQ(vertex.server, name[1] - '0');
        EXPECT_EQ(vertex.index, static_cast<uint32_t>(vertex.name.back() - '0'));
    }
    for (const char* name : {"leaf1", "spine2"})
    {
        EXPECT_EQ(cluster.GetVertices()[cluster.FindVertex(name)].server, -1);
    }
    // Ranks count through the servers.
    EXPECT_EQ(cluster.GetVertices()[cluster.GetGpus()[11]].name, "n1.gpu3");
    EXPECT_EQ(MakeCluster("dgx-a100", 2).GetVertices().back().name, "switch0");
}

TEST(Presets, RefuseNonsense)
{
    EXPECT_EQ(ErrorOf([] { MakeCluster("dgx-2", 1); }),
              "unknown server preset 'dgx-2'; known: " + List(GetServerPresets()));
    FabricOptions options;
    options.kind = "torus";
    EXPECT_EQ(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }),
              "unknown fabric 'torus'; known: " + List(GetFabricKinds()));
    EXPECT_NE(ErrorOf([] { MakeCluster("dgx-a100", 0); }), "");
    EXPECT_NE(ErrorOf([] { MakeCluster("dgx-a100", MAX_SERVERS + 1); }), "");
    EXPECT_EQ(ErrorOf([] { MakeCluster("gb200-nvl72", MAX_SERVERS); }),
              "65536 servers with 1458 links each are more than 10000000 links; ask for fewer");
    options.kind = "leaf-spine";
    options.oversubscription = 0.5;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
    options = FabricOptions();
    options.kind = "leaf-spine";
    options.serversPerLeaf = 0;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
    options = FabricOptions();
    options.kind = "leaf-spine";
    options.spines = 0;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
}

TEST(Fabrics, SingleSwitchTakesEveryNic)
{
    for (const std::string& preset : GetServerPresets())
    {
        const Cluster cluster = MakeCluster(preset, 3);
        const VertexId theSwitch = cluster.FindVertex("switch0");
        EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 1u);
        EXPECT_EQ(cluster.GetPorts(theSwitch).size(), Count(cluster, VertexKind::NIC));
        EXPECT_EQ(Count(cluster, LinkTechnology::INFINIBAND) + Count(cluster, LinkTechnology::ROCE),
                  Count(cluster, VertexKind::NIC));
    }
    const std::map<std::string, double> rates{{"dgx1-v100", 12.5e9},
                                              {"dgx-a100", 25e9},
                                              {"dgx-h100", 50e9}};
    for (const auto& [preset, rate] : rates)
    {
        const Cluster cluster = MakeCluster(preset, 2);
        EXPECT_DOUBLE_EQ(
            SummedRate(cluster, cluster.FindVertex("n1.nic2"), LinkTechnology::INFINIBAND),
            rate);
    }
}

TEST(Fabrics, OversubscriptionIsTheRatioOfCapacities)
{
    for (double oversubscription : {1.0, 2.0, 4.0, 1.6})
    {
        for (uint32_t spines : {1u, 4u, 8u})
        {
            FabricOptions options;
            options.kind = "leaf-spine";
            options.oversubscription = oversubscription;
            options.serversPerLeaf = 2;
            options.spines = spines;
            const Cluster cluster = MakeCluster("dgx-a100", 6, options);
            EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 3 + spines);
            for (const char* name : {"leaf0", "leaf1", "leaf2"})
            {
                double down = 0;
                double up = 0;
                uint32_t uplinks = 0;
                const VertexId leaf = cluster.FindVertex(name);
                for (const Port& port : cluster.GetPorts(leaf))
                {
                    const double rate = cluster.GetLinks()[port.link].bytesPerSecond;
                    const bool isHost =
                        cluster.GetVertices()[port.neighbor].kind == VertexKind::NIC;
                    (isHost ? down : up) += rate;
                    uplinks += isHost ? 0 : 1;
                }
                EXPECT_EQ(uplinks, spines);
                EXPECT_DOUBLE_EQ(down, 2 * 8 * 25e9);
                EXPECT_NEAR(down / up, oversubscription, 1e-9);
            }
        }
    }
}

TEST(Rails, OneNicPerGpuWhereThereAreEnough)
{
    for (const char* preset : {"dgx-a100", "dgx-h100"})
    {
        const Cluster cluster = MakeCluster(preset, 2);
        std::set<VertexId> nics;
        for (uint32_t rank = 0; rank < 16; ++rank)
        {
            const VertexId nic = cluster.GetNic(cluster.GetGpus()[rank]);
            const Vertex& vertex = cluster.GetVertices()[nic];
            EXPECT_EQ(vertex.kind, VertexKind::NIC);
            EXPECT_EQ(vertex.server, static_cast<int32_t>(rank / 8));
            EXPECT_EQ(vertex.index, rank % 8); // aligned: same rail in every server
            nics.insert(nic);
        }
        EXPECT_EQ(nics.size(), 16u);
    }
}

TEST(Rails, SharedByPairsOnDgx1)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    for (uint32_t rank = 0; rank < 8; ++rank)
    {
        EXPECT_EQ(cluster.GetVertices()[cluster.GetNic(cluster.GetGpus()[rank])].name,
                  "n0.nic" + std::to_string(rank / 2));
    }
}

TEST(Rails, TakenInTurn)
{
    // Three GPUs and two NICs on one switch, a nearer NIC for the last GPU, and a GPU without NIC.
    Cluster cluster;
    std::vector<VertexId> gpus;
    for (const char* name : {"g0", "g1", "g2"})
    {
        gpus.push_back(cluster.AddVertex(MakeVertex(name, VertexKind::GPU)));
    }
    const VertexId hub = cluster.AddVertex(MakeVertex("hub", VertexKind::PCIE_SWITCH));
    const VertexId x = cluster.AddVertex(MakeVertex("x", VertexKind::NIC));
    const VertexId y = cluster.AddVertex(MakeVertex("y", VertexKind::NIC));
    const VertexId own = cluster.AddVertex(MakeVertex("own", VertexKind::NIC));
    const VertexId lonely = cluster.AddVertex(MakeVertex("lonely", VertexKind::GPU, 1));
    for (VertexId vertex : {gpus[0], gpus[1], gpus[2], x, y})
    {
        cluster.AddLink(MakeLink(vertex, hub, 2));
    }
    EXPECT_EQ(cluster.GetNic(gpus[0]), x);
    EXPECT_EQ(cluster.GetNic(gpus[1]), y);
    EXPECT_EQ(cluster.GetNic(gpus[2]), x);
    cluster.AddLink(MakeLink(gpus[2], own, 3));
    EXPECT_EQ(cluster.GetNic(gpus[2]), own);
    // It is not the others' nearest: the way there runs through a GPU.
    EXPECT_EQ(cluster.GetNic(gpus[1]), y);
    EXPECT_EQ(cluster.GetNic(lonely), Cluster::NO_VERTEX);
    // A NIC of another server is none of one's own.
    const VertexId network = cluster.AddVertex(MakeVertex("network", VertexKind::SWITCH, -1));
    cluster.AddLink(MakeLink(lonely, network));
    cluster.AddLink(MakeLink(x, network));
    EXPECT_EQ(cluster.GetNic(lonely), Cluster::NO_VERTEX);
}

TEST(Paths, NvlinkBeforePcie)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 2);
    const Paths paths(cluster);
    using Names = std::vector<std::string>;
    EXPECT_EQ(FirstPath(cluster, paths, "n0.gpu0", "n0.gpu1"), Names{"n0.gpu1"});
    // No NVLink between 0 and 5, and GPUs are not transit: over PCIe and both sockets.
    EXPECT_EQ(FirstPath(cluster, paths, "n0.gpu0", "n0.gpu5"),
              (Names{"n0.pcie0", "n0.cpu0", "n0.cpu1", "n0.pcie2", "n0.gpu5"}));
    EXPECT_EQ(FirstPath(cluster, paths, "n0.gpu0", "n0.nic0"), (Names{"n0.pcie0", "n0.nic0"}));
    EXPECT_EQ(FirstPath(cluster, paths, "n0.gpu0", "n1.gpu7"),
              (Names{"n0.pcie0", "n0.nic0", "switch0", "n1.nic3", "n1.pcie3", "n1.gpu7"}));
}

TEST(Paths, AlternativesOverNvSwitches)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    std::set<std::string> expected;
    for (int i = 0; i < 6; ++i)
    {
        expected.insert("n0.nvswitch" + std::to_string(i));
    }
    EXPECT_EQ(NextNames(cluster, paths, "n0.gpu0", "n0.gpu7"), expected);
    EXPECT_EQ(NextNames(cluster, paths, "n0.nvswitch3", "n0.gpu7"),
              std::set<std::string>{"n0.gpu7"});
    EXPECT_EQ(NextNames(cluster, paths, "n0.pcie0", "n1.gpu0"),
              (std::set<std::string>{"n0.nic0", "n0.nic1"}));
    const auto& ports = paths.NextPorts(0, 7);
    EXPECT_TRUE(std::is_sorted(ports.begin(), ports.end()));
    EXPECT_TRUE(paths.NextPorts(3, 3).empty());
    EXPECT_EQ(paths.Distance(3, 3), 0u);
}

TEST(Paths, AlternativesOverSpines)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 2;
    options.spines = 4;
    const Cluster cluster = MakeCluster("dgx-h100", 4, options);
    const Paths paths(cluster);
    EXPECT_EQ(NextNames(cluster, paths, "leaf0", "n3.gpu5"),
              (std::set<std::string>{"spine0", "spine1", "spine2", "spine3"}));
    EXPECT_EQ(NextNames(cluster, paths, "spine2", "n3.gpu5"), std::set<std::string>{"leaf1"});
    EXPECT_EQ(NextNames(cluster, paths, "leaf0", "n1.gpu5"), std::set<std::string>{"n1.nic5"});
    // Different choices, different spines; Walk() offers each vertex and its number of choices.
    std::set<std::string> spines;
    for (std::size_t choice = 0; choice < 4; ++choice)
    {
        VertexId at = cluster.FindVertex("n0.gpu0");
        const auto links =
            paths.Walk(at, cluster.FindVertex("n3.gpu5"), [&](VertexId vertex, std::size_t n) {
                const bool isLeaf = cluster.GetVertices()[vertex].name == "leaf0";
                EXPECT_EQ(n, isLeaf ? 4u : 1u);
                return isLeaf ? choice : 0;
            });
        EXPECT_EQ(links.size(), 8u);
        for (LinkId link : links)
        {
            at = cluster.GetLinks()[link].Other(at);
            if (cluster.GetVertices()[at].name.compare(0, 5, "spine") == 0)
            {
                spines.insert(cluster.GetVertices()[at].name);
            }
        }
        EXPECT_EQ(at, cluster.FindVertex("n3.gpu5"));
    }
    EXPECT_EQ(spines.size(), 4u);
}

TEST(Paths, InsideAServerStaysInside)
{
    for (const std::string& preset : GetServerPresets())
    {
        const Cluster cluster = MakeCluster(preset, 2);
        const Paths paths(cluster);
        std::mt19937 random(1);
        for (VertexId from : cluster.GetGpus())
        {
            for (VertexId to : cluster.GetGpus())
            {
                VertexId at = from;
                for (LinkId link :
                     paths.Walk(from, to, [&](VertexId, std::size_t n) { return random() % n; }))
                {
                    at = cluster.GetLinks()[link].Other(at);
                    const Vertex& vertex = cluster.GetVertices()[at];
                    EXPECT_TRUE(at == to || vertex.kind != VertexKind::GPU);
                    if (cluster.GetVertices()[from].server == cluster.GetVertices()[to].server)
                    {
                        EXPECT_EQ(vertex.server, cluster.GetVertices()[from].server);
                    }
                }
                EXPECT_EQ(at, to);
            }
        }
    }
}

TEST(Paths, Unreachable)
{
    Cluster cluster;
    const VertexId a = cluster.AddVertex(MakeVertex("a", VertexKind::GPU));
    const VertexId b = cluster.AddVertex(MakeVertex("b", VertexKind::GPU));
    const VertexId c = cluster.AddVertex(MakeVertex("c", VertexKind::GPU));
    cluster.AddLink(MakeLink(a, b));
    cluster.AddLink(MakeLink(b, c));
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(a, c), Paths::UNREACHABLE);
    EXPECT_TRUE(paths.NextPorts(a, c).empty());
    EXPECT_TRUE(paths.Walk(a, c, [](VertexId, std::size_t) { return 0; }).empty());
    EXPECT_EQ(paths.Distance(a, b), 1u);
}

TEST(Paths, ParallelLinksOfDifferentCost)
{
    Cluster cluster;
    const VertexId a = cluster.AddVertex(MakeVertex("a", VertexKind::GPU));
    const VertexId b = cluster.AddVertex(MakeVertex("b", VertexKind::GPU));
    cluster.AddLink(MakeLink(a, b, 7));
    cluster.AddLink(MakeLink(a, b, 3));
    cluster.AddLink(MakeLink(a, b, 3));
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(a, b), 3u);
    EXPECT_EQ(paths.NextPorts(a, b), (std::vector<uint16_t>{1, 2}));
}

TEST(Paths, AgreeWithBellmanFord)
{
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round)
    {
        Cluster cluster;
        const uint32_t n = 3 + random() % 20;
        for (uint32_t i = 0; i < n; ++i)
        {
            cluster.AddVertex(
                MakeVertex("v" + std::to_string(i),
                           random() % 3 == 0 ? VertexKind::GPU : VertexKind::NVSWITCH));
        }
        for (uint32_t i = 0; i < 2 * n; ++i)
        {
            const VertexId a = random() % n;
            const VertexId b = random() % n;
            if (a != b)
            {
                cluster.AddLink(MakeLink(a, b, 1 + random() % 4));
            }
        }
        const Paths paths(cluster);
        for (VertexId to = 0; to < n; ++to)
        {
            constexpr uint64_t FAR = 1000000;
            std::vector<uint64_t> distance(n, FAR);
            distance[to] = 0;
            for (uint32_t pass = 0; pass < n; ++pass)
            {
                for (const Link& link : cluster.GetLinks())
                {
                    for (auto [from, via] : {std::pair{link.a, link.b}, {link.b, link.a}})
                    {
                        if (via == to || cluster.GetVertices()[via].kind != VertexKind::GPU)
                        {
                            distance[from] = std::min(distance[from], distance[via] + link.cost);
                        }
                    }
                }
            }
            for (VertexId from = 0; from < n; ++from)
            {
                const bool reached = distance[from] < FAR;
                ASSERT_EQ(paths.Distance(from, to), reached ? distance[from] : Paths::UNREACHABLE);
                std::vector<uint16_t> ports;
                for (std::size_t i = 0; reached && from != to && i < cluster.GetPorts(from).size();
                     ++i)
                {
                    const Port& port = cluster.GetPorts(from)[i];
                    if ((port.neighbor == to ||
                         cluster.GetVertices()[port.neighbor].kind != VertexKind::GPU) &&
                        distance[port.neighbor] + cluster.GetLinks()[port.link].cost ==
                            distance[from])
                    {
                        ports.push_back(static_cast<uint16_t>(i));
                    }
                }
                ASSERT_EQ(paths.NextPorts(from, to), ports);
            }
        }
    }
}

TEST(Paths, LargeCluster)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.spines = 16;
    const Cluster cluster = MakeCluster("dgx-a100", 128, options);
    ASSERT_EQ(cluster.GetGpus().size(), 1024u);
    const Paths paths(cluster);
    std::set<uint32_t> distances;
    for (VertexId to : cluster.GetGpus())
    {
        distances.insert(paths.Distance(cluster.GetGpus().front(), to));
    }
    // Itself, the server, the leaf, beyond the spines.
    EXPECT_EQ(distances.size(), 4u);
    EXPECT_EQ(distances.count(Paths::UNREACHABLE), 0u);
}
