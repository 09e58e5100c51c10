/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-paths.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// @return options of a fabric
FabricOptions
Kind(const std::string& kind)
{
    FabricOptions options;
    options.kind = kind;
    return options;
}

/// @return plain hosts at 50 GB/s
Cluster
Hosts(uint32_t n, const FabricOptions& options)
{
    return MakeHostCluster(n,
                           options,
                           LinkTechnology::ROCE,
                           50e9,
                           500000,
                           DefaultFraming(LinkTechnology::ROCE));
}

/// @return number of vertices whose name begins so
std::size_t
CountNamed(const Cluster& cluster, const std::string& stem)
{
    std::size_t n = 0;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        n += vertex.name.compare(0, stem.size(), stem) == 0 ? 1 : 0;
    }
    return n;
}

/// @return summed rate of the links between a vertex and those whose name begins so
double
RateTo(const Cluster& cluster, const std::string& vertex, const std::string& stem)
{
    double sum = 0;
    for (const Port& port : cluster.GetPorts(cluster.FindVertex(vertex)))
    {
        const std::string& name = cluster.GetVertices()[port.neighbor].name;
        sum += name.compare(0, stem.size(), stem) == 0
                   ? cluster.GetLinks()[port.link].bytesPerSecond
                   : 0;
    }
    return sum;
}

/// @return network hops between two vertices
uint32_t
Hops(const Paths& paths, VertexId from, VertexId to)
{
    return paths.Distance(from, to) / DefaultCost(LinkTechnology::ROCE);
}

} // namespace

TEST(HostCluster, HostsComeFirst)
{
    for (const std::string& kind : GetFabricKinds())
    {
        if (kind == "nvlink-domain")
        {
            EXPECT_EQ(ErrorOf([&] { Hosts(8, Kind(kind)); }),
                      "nvlink-domain: the servers have no NVSwitch");
            continue;
        }
        const Cluster cluster = Hosts(12, Kind(kind));
        ASSERT_EQ(cluster.GetGpus().size(), 12u) << kind;
        for (VertexId host = 0; host < 12; ++host)
        {
            EXPECT_EQ(cluster.GetGpus()[host], host);
            EXPECT_EQ(cluster.GetVertices()[host].name, "host" + std::to_string(host));
            EXPECT_EQ(cluster.GetVertices()[host].server, static_cast<int32_t>(host));
            ASSERT_EQ(cluster.GetPorts(host).size(), 1u);
            const Link& link = cluster.GetLinks()[cluster.GetPorts(host)[0].link];
            EXPECT_EQ(link.bytesPerSecond, 50e9);
            EXPECT_EQ(link.delayPs, 500000);
            EXPECT_EQ(link.technology, LinkTechnology::ROCE);
            EXPECT_EQ(cluster.GetVertices()[cluster.GetPorts(host)[0].neighbor].kind,
                      VertexKind::SWITCH);
        }
        EXPECT_NO_THROW(cluster.Validate());
    }
    EXPECT_EQ(ErrorOf([] { Hosts(0, Kind("fat-tree")); }),
              "the number of hosts must be 1 to 65536, is 0");
}

TEST(Fabrics, OptionsAreNamed)
{
    for (const std::string& kind : GetFabricKinds())
    {
        for (const FabricOptionField& field : GetFabricOptionFields(kind))
        {
            ASSERT_NE(field.whole == nullptr, field.real == nullptr) << kind << field.name;
            if (field.least == 0)
            {
                continue;
            }
            FabricOptions options = Kind(kind);
            if (field.real != nullptr)
            {
                options.*field.real = 0.5;
            }
            else
            {
                options.*field.whole = 0;
            }
            EXPECT_EQ(ErrorOf([&] { MakeCluster("dgx-a100", 4, options); }),
                      kind + ": " + field.name + " must be 1 or more");
        }
    }
    EXPECT_EQ(ErrorOf([] { GetFabricOptionFields("mesh"); }).substr(0, 22),
              "unknown fabric 'mesh';");
    FabricOptions options = Kind("leaf-spine");
    options.spines = 4000000000;
    EXPECT_EQ(ErrorOf([&] { MakeCluster("dgx-a100", 8, options); }),
              "leaf-spine: takes 4000000002 switches and 8000000000 links, more than 1000000 and "
              "10000000; choose other options");
    options = Kind("dragonfly+");
    options.leavesPerGroup = 4000000000;
    options.spinesPerGroup = 4000000000;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 8, options); }), "");
}

TEST(FatTree, OfEightPorts)
{
    FabricOptions options = Kind("fat-tree");
    options.switchPorts = 8;
    const Cluster cluster = Hosts(128, options);
    EXPECT_EQ(CountNamed(cluster, "edge"), 32u);
    EXPECT_EQ(CountNamed(cluster, "aggregation"), 32u);
    EXPECT_EQ(CountNamed(cluster, "core"), 16u);
    EXPECT_EQ(cluster.GetLinks().size(), 3u * 128);
    for (VertexId id = 128; id < cluster.GetVertices().size(); ++id)
    {
        EXPECT_EQ(cluster.GetPorts(id).size(), 8u) << cluster.GetVertices()[id].name;
    }
    for (const Link& link : cluster.GetLinks())
    {
        EXPECT_EQ(link.bytesPerSecond, 50e9);
    }
    const Paths paths(cluster);
    std::map<uint32_t, int> distances;
    for (VertexId host = 1; host < 128; ++host)
    {
        ++distances[Hops(paths, 0, host)];
    }
    EXPECT_EQ(distances, (std::map<uint32_t, int>{{2, 3}, {4, 12}, {6, 112}}));
    // Sixteen ways to another pod: four aggregation switches, four cores each.
    EXPECT_EQ(paths.NextPorts(cluster.FindVertex("edge0.0"), 127).size(), 4u);
    EXPECT_EQ(paths.NextPorts(cluster.FindVertex("aggregation0.0"), 127).size(), 4u);
    EXPECT_EQ(paths.NextPorts(cluster.FindVertex("core0"), 127).size(), 1u);
}

TEST(FatTree, ChoosesPorts)
{
    for (const auto& [hosts, ports] :
         std::map<uint32_t, uint32_t>{{1, 2}, {2, 2}, {3, 4}, {16, 4}, {17, 6}, {54, 6}, {55, 8}})
    {
        const Cluster cluster = Hosts(hosts, Kind("fat-tree"));
        EXPECT_EQ(CountNamed(cluster, "core"), ports * ports / 4) << hosts;
    }
    FabricOptions options = Kind("fat-tree");
    for (uint32_t ports : {2u, 5u, 65536u})
    {
        options.switchPorts = ports;
        EXPECT_EQ(ErrorOf([&] { Hosts(16, options); }),
                  "fat-tree: switch_ports must be an even number from 4 to 65534 for what plugs in "
                  "(16), is " +
                      std::to_string(ports));
    }
    // Oversubscribed above the edge; NICs of servers count one by one.
    options.switchPorts = 4;
    options.oversubscription = 2;
    const Cluster cluster = MakeCluster("dgx-a100", 2, options);
    EXPECT_EQ(RateTo(cluster, "edge0.0", "n0.nic"), 50e9);
    EXPECT_EQ(RateTo(cluster, "edge0.0", "aggregation"), 25e9);
    // Half of the aggregation switches and cores; their links have the rate of a NIC.
    EXPECT_EQ(CountNamed(cluster, "core"), 2u);
    EXPECT_EQ(RateTo(cluster, "core1", "aggregation3.0"), 25e9);
}

TEST(RailOptimised, NicsOfOneRailMeet)
{
    FabricOptions options = Kind("rail-optimised");
    options.serversPerGroup = 2;
    options.spines = 4;
    options.oversubscription = 2;
    const Cluster cluster = MakeCluster("dgx-h100", 4, options);
    EXPECT_EQ(CountNamed(cluster, "rail"), 16u);
    EXPECT_EQ(CountNamed(cluster, "spine"), 4u);
    EXPECT_EQ(RateTo(cluster, "rail1.3", "n2.nic3"), 50e9);
    EXPECT_EQ(RateTo(cluster, "rail1.3", "n"), 100e9);
    EXPECT_EQ(RateTo(cluster, "rail1.3", "spine"), 50e9);
    const Paths paths(cluster);
    auto hops = [&](const char* from, const char* to) {
        return Hops(paths, cluster.FindVertex(from), cluster.FindVertex(to));
    };
    EXPECT_EQ(hops("n0.nic3", "n1.nic3"), 2u);
    EXPECT_EQ(hops("n0.nic3", "n2.nic3"), 4u);
    EXPECT_EQ(hops("rail0.3", "rail0.4"), 2u); // over a spine, not through a server
    EXPECT_EQ(paths.NextPorts(cluster.FindVertex("rail0.3"), cluster.FindVertex("rail0.4")).size(),
              4u);
}

TEST(DragonflyPlus, GroupsAreJoinedDirectly)
{
    FabricOptions options = Kind("dragonfly+");
    options.serversPerLeaf = 2;
    options.leavesPerGroup = 3;
    options.spinesPerGroup = 2;
    const Cluster cluster = Hosts(24, options); // four groups
    EXPECT_EQ(CountNamed(cluster, "leaf"), 12u);
    EXPECT_EQ(CountNamed(cluster, "spine"), 8u);
    EXPECT_EQ(RateTo(cluster, "leaf1.0", "host"), 100e9);
    EXPECT_EQ(RateTo(cluster, "leaf1.0", "spine1."), 100e9);
    EXPECT_EQ(RateTo(cluster, "spine1.0", "leaf"), 150e9);
    EXPECT_EQ(RateTo(cluster, "spine1.0", "spine"), 150e9); // to three other groups
    EXPECT_EQ(RateTo(cluster, "spine1.0", "spine3.1"), 0);
    const Paths paths(cluster);
    EXPECT_EQ(Hops(paths, 0, 1), 2u);
    EXPECT_EQ(Hops(paths, 0, 2), 4u);
    EXPECT_EQ(Hops(paths, 0, 23), 5u);
    EXPECT_EQ(CountNamed(Hosts(4, options), "spine"), 2u); // one group
}

TEST(Torus, Sizes)
{
    const Cluster even = Hosts(12, Kind("torus-2d")); // 4 x 3
    EXPECT_NO_THROW(even.FindVertex("router3.2"));
    EXPECT_EQ(even.GetLinks().size(), 12u + 2 * 12);
    const Cluster cube = Hosts(64, Kind("torus-3d"));
    EXPECT_NO_THROW(cube.FindVertex("router3.3.3"));
    EXPECT_EQ(cube.GetLinks().size(), 64u + 3 * 64);
    FabricOptions options = Kind("torus-3d");
    options.sizeX = 8;
    const Cluster flat = Hosts(16, options); // 8 x 2 x 1
    EXPECT_NO_THROW(flat.FindVertex("router7.1.0"));
    EXPECT_EQ(flat.GetLinks().size(), 16u + 16 + 8); // two routers share one link of twice the rate
    EXPECT_EQ(RateTo(flat, "router0.0.0", "router0.1.0"), 100e9);
    EXPECT_EQ(RateTo(flat, "router0.0.0", "router7.0.0"), 50e9);
    options.sizeY = 3;
    EXPECT_EQ(ErrorOf([&] { Hosts(16, options); }),
              "torus-3d: size_x x size_y x size_z must be the number of servers, 16");
    options = Kind("torus-2d");
    options.sizeX = 65536;
    options.sizeY = 65536;
    EXPECT_NE(ErrorOf([&] { Hosts(16, options); }), "");
    EXPECT_EQ(Hosts(7, Kind("torus-2d")).GetLinks().size(), 7u + 7); // a ring
    EXPECT_EQ(Hosts(1, Kind("torus-2d")).GetLinks().size(), 1u);
    // A server's router takes all its NICs.
    const Cluster servers = MakeCluster("dgx-a100", 9, Kind("torus-2d"));
    EXPECT_EQ(RateTo(servers, "router1.1", "n4.nic"), 8 * 25e9);
    EXPECT_EQ(RateTo(servers, "router1.1", "router"), 4 * 8 * 25e9);
}

TEST(Torus, WrapsAround)
{
    const Cluster cluster = Hosts(25, Kind("torus-2d"));
    const Paths paths(cluster);
    EXPECT_EQ(Hops(paths, cluster.FindVertex("router0.0"), cluster.FindVertex("router4.4")), 2u);
    EXPECT_EQ(Hops(paths, cluster.FindVertex("router0.0"), cluster.FindVertex("router2.2")), 4u);
    EXPECT_EQ(
        paths.NextPorts(cluster.FindVertex("router0.0"), cluster.FindVertex("router4.4")).size(),
        2u);
}

TEST(NvlinkDomain, OfSeveralRacks)
{
    FabricOptions options = Kind("nvlink-domain");
    options.spines = 2;
    options.oversubscription = 2;
    const Cluster cluster = MakeCluster("gb200-nvl72", 2, options);
    EXPECT_EQ(cluster.GetGpus().size(), 144u);
    EXPECT_EQ(CountNamed(cluster, "nvspine"), 36u);
    EXPECT_EQ(RateTo(cluster, "n0.nvswitch0", "n0.gpu"), 72 * 50e9);
    EXPECT_EQ(RateTo(cluster, "n0.nvswitch0", "nvspine0."), 36 * 50e9);
    EXPECT_TRUE(cluster.GetVertices()[cluster.FindVertex("nvspine17.1")].multicast);
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(0, 71), 2u);
    EXPECT_EQ(paths.Distance(0, cluster.GetGpus()[143]), 4u);
    EXPECT_EQ(paths.NextPorts(0, cluster.GetGpus()[143]).size(), 18u);
}

// What NVLink joins is one machine to collectives, whatever the number of servers.
TEST(NvlinkDomain, IsOneDomain)
{
    const Cluster joined = MakeCluster("dgx-h100", 3, Kind("nvlink-domain"));
    const Cluster apart = MakeCluster("dgx-h100", 3);
    const Cluster pcie = MakeCluster("pcie-v100x4", 2);
    for (std::size_t gpu = 0; gpu < 24; ++gpu)
    {
        EXPECT_EQ(joined.GetDomain(joined.GetGpus()[gpu]), 0);
        EXPECT_EQ(apart.GetDomain(apart.GetGpus()[gpu]), gpu / 8);
    }
    EXPECT_EQ(joined.GetDomain(joined.FindVertex("nvspine0.0")), 0);
    EXPECT_LT(apart.GetDomain(apart.FindVertex("switch0")), 0);
    EXPECT_EQ(pcie.GetDomain(pcie.GetGpus()[3]), 0);
    EXPECT_EQ(pcie.GetDomain(pcie.GetGpus()[4]), 1);
}

TEST(Presets, Dgx2)
{
    const Cluster cluster = MakeCluster("dgx2", 1);
    EXPECT_EQ(cluster.GetGpus().size(), 16u);
    EXPECT_EQ(CountNamed(cluster, "n0.nvswitch"), 12u);
    EXPECT_EQ(CountNamed(cluster, "n0.nic"), 8u);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_EQ(RateTo(cluster, cluster.GetVertices()[gpu].name, "n0.nvswitch"), 6 * 25e9);
    }
    // The halves are joined by all NVLinks of one half: 2.4 TB/s in both directions.
    EXPECT_EQ(RateTo(cluster, "n0.nvswitch0", "n0.nvswitch6"), 8 * 25e9);
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(cluster.GetGpus()[0], cluster.GetGpus()[7]), 2u);
    EXPECT_EQ(paths.Distance(cluster.GetGpus()[0], cluster.GetGpus()[8]), 3u);
    EXPECT_FALSE(cluster.GetVertices()[cluster.FindVertex("n0.nvswitch0")].multicast);
    for (uint32_t i = 0; i < 16; ++i)
    {
        EXPECT_EQ(cluster.GetVertices()[cluster.GetNic(cluster.GetGpus()[i])].index, i / 2);
    }
}

TEST(Presets, HgxB200)
{
    const Cluster cluster = MakeCluster("hgx-b200", 2);
    for (VertexId gpu : cluster.GetGpus())
    {
        const Vertex& vertex = cluster.GetVertices()[gpu];
        // 1.8 TB/s in both directions together, says the data sheet.
        EXPECT_EQ(RateTo(cluster, vertex.name, "n" + std::to_string(vertex.server) + ".nvswitch"),
                  1800e9 / 2);
        EXPECT_EQ(cluster.GetVertices()[cluster.GetNic(gpu)].index, vertex.index);
    }
    EXPECT_TRUE(cluster.GetVertices()[cluster.FindVertex("n1.nvswitch1")].reduction);
    EXPECT_EQ(RateTo(cluster, "switch0", "n1.nic7"), 50e9);
}

TEST(Presets, Gb200Nvl72)
{
    const Cluster cluster = MakeCluster("gb200-nvl72", 2);
    EXPECT_EQ(cluster.GetGpus().size(), 144u);
    EXPECT_EQ(CountNamed(cluster, "n0.nvswitch"), 18u);
    EXPECT_EQ(CountNamed(cluster, "n0.cpu"), 36u);
    EXPECT_EQ(RateTo(cluster, "n0.gpu71", "n0.nvswitch"), 1800e9 / 2);
    const Paths paths(cluster);
    std::set<VertexId> nics;
    for (VertexId gpu : cluster.GetGpus())
    {
        nics.insert(cluster.GetNic(gpu));
        EXPECT_LE(paths.Distance(cluster.GetGpus()[0], gpu),
                  cluster.GetVertices()[gpu].server == 0 ? 2u : 1000u);
    }
    EXPECT_EQ(nics.size(), 144u);
}

TEST(Presets, Gb300Nvl72)
{
    const Cluster cluster = MakeCluster("gb300-nvl72", 1);
    EXPECT_EQ(cluster.GetGpus().size(), 72u);
    EXPECT_EQ(RateTo(cluster, "n0.gpu71", "n0.nvswitch"), 1800e9 / 2);
    for (uint32_t i = 0; i < 72; ++i)
    {
        const std::string number = std::to_string(i);
        EXPECT_EQ(cluster.GetVertices()[cluster.GetNic(cluster.GetGpus()[i])].index, i);
        // Past the CPU, at the rate of the NIC.
        EXPECT_GT(RateTo(cluster, "n0.gpu" + number, "n0.pcie" + number), 800e9 / 8);
        EXPECT_GT(RateTo(cluster, "n0.nic" + number, "n0.pcie" + number), 800e9 / 8);
    }
}

TEST(Presets, DgxSpark)
{
    const Cluster cluster = MakeCluster("dgx-spark", 2);
    EXPECT_EQ(cluster.GetGpus().size(), 2u);
    EXPECT_EQ(cluster.GetVertices()[0].model, "GB10");
    EXPECT_EQ(RateTo(cluster, "n0.gpu0", "n0.cpu"), 600e9 / 2);
    EXPECT_EQ(CountNamed(cluster, "n0.nic"), 2u);
    for (const char* nic : {"n0.nic0", "n1.nic1"})
    {
        const std::string cpu = std::string(nic).substr(0, 2) + ".cpu";
        EXPECT_NEAR(RateTo(cluster, nic, cpu), 32e9 / 8 * 4 * 128 / 130, 1); // four lanes of Gen5
        EXPECT_EQ(RateTo(cluster, nic, "switch"), 100e9 / 8);
    }
}

TEST(Presets, BoxesWithoutNvlink)
{
    const Cluster four = MakeCluster("pcie-v100x4", 1);
    EXPECT_EQ(four.GetGpus().size(), 4u);
    EXPECT_EQ(CountNamed(four, "n0.pcie"), 1u);
    EXPECT_EQ(Paths(four).Distance(0, 3), 2 * DefaultCost(LinkTechnology::PCIE));

    const Cluster titan = MakeCluster("titanxp-pcie", 1);
    EXPECT_EQ(titan.GetGpus().size(), 8u);
    EXPECT_EQ(titan.GetVertices()[0].model, "TITAN-Xp");
    for (const Link& link : titan.GetLinks())
    {
        EXPECT_NE(link.technology, LinkTechnology::NVLINK);
    }
    for (const Vertex& vertex : titan.GetVertices())
    {
        EXPECT_EQ(vertex.peerToPeer, vertex.kind != VertexKind::CPU) << vertex.name;
    }
}

TEST(Presets, SwitchesThatCompute)
{
    for (const std::string& preset : GetServerPresets())
    {
        const std::set<std::string> all{"dgx-h100",
                                        "hgx-h800",
                                        "dgx-h200",
                                        "hgx-b200",
                                        "hgx-b300",
                                        "gb200-nvl72",
                                        "gb300-nvl72"};
        const bool isNew = all.count(preset) > 0;
        const std::set<std::string> hdr{"dgx-a100",
                                        "hgx-a800",
                                        "hgx-a100-4gpu",
                                        "hgx-h100-4gpu",
                                        "hgx-h200-4gpu",
                                        "quad-gh200"};
        const bool hasSharp = isNew || hdr.count(preset) > 0; // InfiniBand from HDR on
        const Cluster cluster = MakeCluster(preset, 2);
        for (const Vertex& vertex : cluster.GetVertices())
        {
            EXPECT_EQ(vertex.multicast, vertex.reduction);
            EXPECT_EQ(vertex.multicast,
                      (vertex.kind == VertexKind::NVSWITCH && isNew) ||
                          (vertex.kind == VertexKind::SWITCH && hasSharp))
                << preset << " " << vertex.name;
            EXPECT_EQ(vertex.memoryBytesPerSecond > 0, vertex.kind == VertexKind::GPU);
        }
    }
}

TEST(Fabrics, ThousandHostsAreBuiltAndRoutedAtOnce)
{
    // Both routing rules, all destinations; far less than a second each, but with room for a
    // machine under load and a build without optimisation.
    const auto start = std::chrono::steady_clock::now();
    const Cluster cluster = Hosts(1024, Kind("fat-tree"));
    ASSERT_EQ(cluster.GetVertices().size(), 1024u + 320);
    std::size_t ways = 0;
    for (RoutingRule rule : {RoutingRule::SHORTEST, RoutingRule::UP_DOWN})
    {
        PathOptions options;
        options.rule = rule;
        const Paths paths(cluster, options);
        for (VertexId to : cluster.GetGpus())
        {
            for (VertexId from = 0; from < cluster.GetVertices().size(); ++from)
            {
                ways += paths.NextPorts(from, to).size();
            }
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_GT(ways, 2u * 1024 * 1024);
    EXPECT_LT(took.count(), 10);
    RecordProperty("seconds", std::to_string(took.count()));
}
