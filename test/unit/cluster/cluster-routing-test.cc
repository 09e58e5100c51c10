/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "channel-dependencies.h"

#include "ns3/proteus-paths.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

PathOptions
UpDown()
{
    PathOptions options;
    options.rule = RoutingRule::UP_DOWN;
    return options;
}

/// Expects of up/down routing what it promises, on a cluster with some links disabled.
void
ExpectUpDown(const Cluster& cluster, const PathOptions& options, const std::string& what)
{
    const Paths paths(cluster, options);
    PathOptions shortest = options;
    shortest.rule = RoutingRule::SHORTEST;
    const Paths free(cluster, shortest);
    ASSERT_TRUE(paths.HasPhases());
    const Dependencies dependencies(cluster, paths);
    EXPECT_EQ(dependencies.GetIllegal(), 0u) << what;
    EXPECT_FALSE(dependencies.HasCycle()) << what;
    std::mt19937 random(9);
    for (VertexId from : cluster.GetGpus())
    {
        for (VertexId to : cluster.GetGpus())
        {
            const uint32_t distance = paths.Distance(from, to);
            ASSERT_EQ(distance == Paths::UNREACHABLE, free.Distance(from, to) == Paths::UNREACHABLE)
                << what << " " << from << " " << to;
            if (distance == Paths::UNREACHABLE)
            {
                continue;
            }
            EXPECT_GE(distance, free.Distance(from, to));
            uint32_t cost = 0;
            VertexId at = from;
            for (LinkId link :
                 paths.Walk(from, to, [&](VertexId, std::size_t n) { return random() % n; }))
            {
                EXPECT_EQ(
                    std::count(options.disabledLinks.begin(), options.disabledLinks.end(), link),
                    0);
                cost += cluster.GetLinks()[link].cost;
                at = cluster.GetLinks()[link].Other(at);
            }
            EXPECT_EQ(at, to) << what;
            EXPECT_EQ(cost, distance) << what;
        }
    }
}

/// @return plain hosts
Cluster
Hosts(uint32_t n, const FabricOptions& options)
{
    return MakeHostCluster(n,
                           options,
                           LinkTechnology::INFINIBAND,
                           25e9,
                           1000,
                           DefaultFraming(LinkTechnology::INFINIBAND));
}

/// @return one small cluster of plain hosts of every fabric, and some of servers
std::vector<Cluster>
Samples()
{
    std::vector<Cluster> samples;
    FabricOptions options;
    options.serversPerLeaf = 2;
    options.spines = 3;
    options.serversPerGroup = 3;
    options.leavesPerGroup = 2;
    options.spinesPerGroup = 2;
    for (const std::string& kind : GetFabricKinds())
    {
        options.kind = kind;
        if (kind != "nvlink-domain")
        {
            samples.push_back(Hosts(kind == "torus-3d"   ? 27
                                    : kind == "torus-2d" ? 25
                                                         : 16,
                                    options));
        }
        samples.push_back(MakeCluster("dgx-a100", 4, options));
    }
    for (const std::string& preset : GetServerPresets())
    {
        samples.push_back(MakeCluster(preset, preset.find("nvl72") != std::string::npos ? 1 : 2));
    }
    return samples;
}

/// @return random switches, joined or not, with hosts on some of them
Cluster
RandomCluster(std::mt19937& random)
{
    Cluster cluster("random");
    const uint32_t nSwitches = 2 + random() % 14;
    const uint32_t nHosts = 2 + random() % 14;
    for (uint32_t i = 0; i < nHosts + nSwitches; ++i)
    {
        Vertex vertex;
        vertex.name = "v" + std::to_string(i);
        vertex.kind = i < nHosts ? VertexKind::GPU : VertexKind::SWITCH;
        vertex.server = i < nHosts ? static_cast<int32_t>(i) : -1;
        cluster.AddVertex(vertex);
    }
    auto add = [&](VertexId a, VertexId b) {
        if (a != b)
        {
            Link link;
            link.a = a;
            link.b = b;
            link.technology = LinkTechnology::ROCE;
            link.bytesPerSecond = 1e9;
            link.cost = 1 + random() % 3;
            cluster.AddLink(link);
        }
    };
    for (uint32_t i = 0; i < nHosts; ++i)
    {
        for (uint32_t j = 0; j < 1 + random() % 2; ++j)
        {
            add(i, nHosts + random() % nSwitches);
        }
    }
    for (uint32_t i = 0; i < random() % (4 * nSwitches); ++i)
    {
        add(nHosts + random() % nSwitches, nHosts + random() % nSwitches);
    }
    return cluster;
}

} // namespace

TEST(UpDown, ShortestPathsOnATorusHaveCycles)
{
    // What up/down routing is for; and the search for cycles finds some.
    FabricOptions options;
    options.kind = "torus-2d";
    const Cluster cluster = Hosts(25, options);
    const Paths paths(cluster);
    EXPECT_FALSE(paths.HasPhases());
    EXPECT_TRUE(Dependencies(cluster, paths).HasCycle());
}

TEST(UpDown, AllFabricsAndPresets)
{
    for (const Cluster& cluster : Samples())
    {
        ExpectUpDown(cluster, UpDown(), cluster.GetName());
    }
}

TEST(UpDown, CostsNothingOnTrees)
{
    // On fat trees and leaves and spines, every shortest path goes up and then down.
    for (const char* kind : {"fat-tree", "leaf-spine", "single-switch", "dragonfly+"})
    {
        FabricOptions options;
        options.kind = kind;
        options.serversPerLeaf = 2;
        options.leavesPerGroup = 2;
        const Cluster cluster = Hosts(32, options);
        const Paths paths(cluster, UpDown());
        const Paths free(cluster);
        for (VertexId from : cluster.GetGpus())
        {
            for (VertexId to : cluster.GetGpus())
            {
                ASSERT_EQ(paths.Distance(from, to), free.Distance(from, to)) << kind;
                ASSERT_EQ(paths.NextPorts(from, to), free.NextPorts(from, to)) << kind;
            }
        }
    }
}

TEST(UpDown, NextPortsDependOnTheWayThere)
{
    // A square of switches with a host each: after a step down only a step down is left.
    FabricOptions options;
    options.kind = "torus-2d";
    options.sizeX = 4;
    options.sizeY = 1;
    const Cluster cluster = Hosts(4, options); // a ring of routers 0, 1, 2, 3
    const Paths paths(cluster, UpDown());
    const VertexId middle = cluster.FindVertex("router1.0");
    const VertexId far = cluster.FindVertex("router2.0");
    bool differs = false;
    for (VertexId to : cluster.GetGpus())
    {
        differs = differs || paths.NextPorts(middle, to, true) != paths.NextPorts(middle, to);
        differs = differs || paths.NextPorts(far, to, true) != paths.NextPorts(far, to);
    }
    EXPECT_TRUE(differs);
}

TEST(UpDown, RandomTopologiesAndFailures)
{
    std::mt19937 random(17);
    for (int round = 0; round < 300; ++round)
    {
        const Cluster cluster = RandomCluster(random);
        PathOptions options = UpDown();
        for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
        {
            if (random() % 8 == 0)
            {
                options.disabledLinks.push_back(link);
            }
        }
        ExpectUpDown(cluster, options, "random " + std::to_string(round));
        options.roots = {static_cast<VertexId>(cluster.GetVertices().size() - 1 - random() % 2)};
        ExpectUpDown(cluster, options, "random with root " + std::to_string(round));
    }
}

TEST(UpDown, FailuresOfFabrics)
{
    std::mt19937 random(3);
    for (const Cluster& cluster : Samples())
    {
        if (cluster.GetGpus().size() > 40)
        {
            continue; // enough of them
        }
        for (int round = 0; round < 5; ++round)
        {
            PathOptions options = UpDown();
            for (int i = 0; i < 4; ++i)
            {
                options.disabledLinks.push_back(random() % cluster.GetLinks().size());
            }
            ExpectUpDown(cluster, options, cluster.GetName() + " " + std::to_string(round));
        }
    }
}

TEST(Paths, DisabledLinksAreAsIfTheyWereNotThere)
{
    std::mt19937 random(23);
    for (int round = 0; round < 100; ++round)
    {
        const Cluster cluster = RandomCluster(random);
        PathOptions options;
        Cluster without;
        for (const Vertex& vertex : cluster.GetVertices())
        {
            without.AddVertex(vertex);
        }
        for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
        {
            if (random() % 4 == 0)
            {
                options.disabledLinks.push_back(link);
            }
            else
            {
                without.AddLink(cluster.GetLinks()[link]);
            }
        }
        const Paths paths(cluster, options);
        const Paths expected(without);
        for (VertexId from = 0; from < cluster.GetVertices().size(); ++from)
        {
            for (VertexId to = 0; to < cluster.GetVertices().size(); ++to)
            {
                ASSERT_EQ(paths.Distance(from, to), expected.Distance(from, to));
                ASSERT_EQ(paths.NextPorts(from, to).size(), expected.NextPorts(from, to).size());
                for (uint16_t port : paths.NextPorts(from, to))
                {
                    const LinkId link = cluster.GetPorts(from)[port].link;
                    ASSERT_EQ(std::count(options.disabledLinks.begin(),
                                         options.disabledLinks.end(),
                                         link),
                              0);
                }
            }
        }
    }
}

TEST(Paths, FailedSpineIsPassedBy)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 2;
    fabric.spines = 2;
    const Cluster cluster = Hosts(4, fabric);
    const VertexId leaf = cluster.FindVertex("leaf0");
    ASSERT_EQ(Paths(cluster).NextPorts(leaf, 3).size(), 2u);
    PathOptions options;
    for (const Port& port : cluster.GetPorts(cluster.FindVertex("spine0")))
    {
        options.disabledLinks.push_back(port.link);
    }
    const Paths one(cluster, options);
    ASSERT_EQ(one.NextPorts(leaf, 3).size(), 1u);
    EXPECT_EQ(cluster.GetPorts(leaf)[one.NextPorts(leaf, 3)[0]].neighbor,
              cluster.FindVertex("spine1"));
    EXPECT_EQ(one.Distance(0, 3), Paths(cluster).Distance(0, 3));
    for (const Port& port : cluster.GetPorts(3)) // the only link of a host
    {
        options.disabledLinks.push_back(port.link);
    }
    const Paths none(cluster, options);
    EXPECT_EQ(none.Distance(0, 3), Paths::UNREACHABLE);
    EXPECT_TRUE(none.NextPorts(leaf, 3).empty());
    EXPECT_NE(none.Distance(0, 2), Paths::UNREACHABLE);
}

TEST(Paths, ServersDoNotForwardForOthers)
{
    // The NICs of a server are spread over two pods; a way from pod to pod through its PCIe would
    // cost less than that over the cores.
    FabricOptions fabric;
    fabric.kind = "fat-tree";
    fabric.switchPorts = 4;
    const Cluster cluster = MakeCluster("dgx-a100", 2, fabric);
    for (RoutingRule rule : {RoutingRule::SHORTEST, RoutingRule::UP_DOWN})
    {
        PathOptions options;
        options.rule = rule;
        const Paths paths(cluster, options);
        std::mt19937 random(2);
        for (VertexId from = 0; from < cluster.GetVertices().size(); ++from)
        {
            for (VertexId to = 0; to < cluster.GetVertices().size(); ++to)
            {
                const Vertex& target = cluster.GetVertices()[to];
                VertexId at = from;
                for (LinkId link :
                     paths.Walk(from, to, [&](VertexId, std::size_t n) { return random() % n; }))
                {
                    const Vertex& before = cluster.GetVertices()[at];
                    at = cluster.GetLinks()[link].Other(at);
                    const Vertex& vertex = cluster.GetVertices()[at];
                    EXPECT_TRUE(vertex.server < 0 || vertex.server == before.server ||
                                vertex.server == target.server);
                }
            }
        }
    }
    const Paths paths(cluster);
    EXPECT_EQ(paths.Distance(cluster.FindVertex("edge0.0"), cluster.FindVertex("edge1.0")),
              4 * DefaultCost(LinkTechnology::INFINIBAND));

    // Three servers in a row: the middle one is no way through, and Validate() knows.
    Cluster row;
    auto add = [&](const char* name, VertexKind kind, int32_t server) {
        Vertex vertex;
        vertex.name = name;
        vertex.kind = kind;
        vertex.server = server;
        return row.AddVertex(vertex);
    };
    auto link = [&](VertexId a, VertexId b) {
        Link l;
        l.a = a;
        l.b = b;
        l.bytesPerSecond = 1e9;
        row.AddLink(l);
    };
    const VertexId g0 = add("g0", VertexKind::GPU, 0);
    const VertexId n0 = add("n0", VertexKind::NIC, 0);
    const VertexId g1 = add("g1", VertexKind::GPU, 1);
    const VertexId n1 = add("n1", VertexKind::NIC, 1);
    link(g0, n0);
    link(g1, n1);
    link(n0, n1);
    EXPECT_NO_THROW(row.Validate());
    EXPECT_EQ(Paths(row).Distance(g0, g1), 3u);
    const VertexId g2 = add("g2", VertexKind::GPU, 2);
    const VertexId n2 = add("n2", VertexKind::NIC, 2);
    link(g2, n2);
    link(n1, n2);
    EXPECT_EQ(Paths(row).Distance(g0, g2), Paths::UNREACHABLE);
    EXPECT_EQ(Paths(row).Distance(g1, g2), 3u);
    EXPECT_THROW(row.Validate(), std::invalid_argument);
    const VertexId hub = add("hub", VertexKind::SWITCH, -1);
    link(hub, n0);
    link(hub, n2);
    EXPECT_NO_THROW(row.Validate());
    EXPECT_EQ(Paths(row).Distance(g0, g2), 4u);
}

// From a NIC to one of another server a path keeps to the network, even where the way through PCIe
// would be shorter: two NICs of a server on one switch are no way to a third.
TEST(Paths, BetweenNicsOnlyTheNetwork)
{
    for (const Cluster& cluster : Samples())
    {
        const Paths paths(cluster);
        const auto& vertices = cluster.GetVertices();
        std::vector<VertexId> nics;
        for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
        {
            if (vertices[vertex].kind == VertexKind::NIC)
            {
                nics.push_back(vertex);
            }
        }
        for (VertexId from : nics)
        {
            for (VertexId to : nics)
            {
                if (vertices[from].server == vertices[to].server ||
                    paths.Distance(from, to) == Paths::UNREACHABLE)
                {
                    continue;
                }
                std::set<VertexId> passed{from};
                std::vector<VertexId> pending{from};
                while (!pending.empty())
                {
                    const VertexId at = pending.back();
                    pending.pop_back();
                    ASSERT_TRUE(at == from || at == to || vertices[at].server == -1)
                        << cluster.GetName() << ": " << vertices[from].name << " to "
                        << vertices[to].name << " by " << vertices[at].name;
                    for (uint16_t port : paths.NextPorts(at, to))
                    {
                        const VertexId next = cluster.GetPorts(at)[port].neighbor;
                        if (passed.insert(next).second)
                        {
                            pending.push_back(next);
                        }
                    }
                }
                ASSERT_EQ(passed.count(to), 1u);
            }
        }
    }
}

TEST(Paths, RefusesNonsense)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    PathOptions options;
    options.disabledLinks = {100000};
    EXPECT_THROW(Paths(cluster, options), std::invalid_argument);
    options = UpDown();
    options.roots = {0}; // a GPU
    EXPECT_THROW(Paths(cluster, options), std::invalid_argument);
    options.roots = {100000};
    EXPECT_THROW(Paths(cluster, options), std::invalid_argument);
}

TEST(Paths, ForgetsAndFindsAgain)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    const std::vector<uint16_t> ports = paths.NextPorts(0, cluster.GetGpus().back());
    const uint32_t distance = paths.Distance(0, cluster.GetGpus().back());
    paths.Forget();
    EXPECT_EQ(paths.NextPorts(0, cluster.GetGpus().back()), ports);
    EXPECT_EQ(paths.Distance(0, cluster.GetGpus().back()), distance);
}

TEST(Paths, AccessControlSendsPeersToTheRoot)
{
    // Two GPUs on each of two switches under one CPU; the first switch has no peer-to-peer.
    for (RoutingRule rule : {RoutingRule::SHORTEST, RoutingRule::UP_DOWN})
    {
        Cluster cluster;
        auto add = [&](const char* name, VertexKind kind, bool peerToPeer) {
            Vertex vertex;
            vertex.name = name;
            vertex.kind = kind;
            vertex.server = 0;
            vertex.peerToPeer = peerToPeer;
            return cluster.AddVertex(vertex);
        };
        auto link = [&](VertexId a, VertexId b) {
            Link l;
            l.a = a;
            l.b = b;
            l.technology = LinkTechnology::PCIE;
            l.bytesPerSecond = 1e9;
            cluster.AddLink(l);
        };
        const VertexId g0 = add("g0", VertexKind::GPU, true);
        const VertexId g1 = add("g1", VertexKind::GPU, true);
        const VertexId g2 = add("g2", VertexKind::GPU, true);
        const VertexId g3 = add("g3", VertexKind::GPU, true);
        const VertexId s0 = add("s0", VertexKind::PCIE_SWITCH, false);
        const VertexId s1 = add("s1", VertexKind::PCIE_SWITCH, true);
        const VertexId cpu = add("cpu", VertexKind::CPU, true);
        link(g0, s0);
        link(g1, s0);
        link(g2, s1);
        link(g3, s1);
        link(s0, cpu);
        link(s1, cpu);
        PathOptions options;
        options.rule = rule;
        const Paths paths(cluster, options);
        EXPECT_TRUE(paths.HasPhases());
        auto walk = [&](VertexId from, VertexId to) {
            std::vector<VertexId> vertices;
            VertexId at = from;
            for (LinkId l : paths.Walk(from, to, [](VertexId, std::size_t) { return 0; }))
            {
                at = cluster.GetLinks()[l].Other(at);
                vertices.push_back(at);
            }
            return vertices;
        };
        using Vertices = std::vector<VertexId>;
        EXPECT_EQ(walk(g0, g1), (Vertices{s0, cpu, s0, g1}));
        EXPECT_EQ(paths.Distance(g0, g1), 4u);
        EXPECT_EQ(walk(g2, g3), (Vertices{s1, g3}));
        EXPECT_EQ(walk(g0, g3), (Vertices{s0, cpu, s1, g3}));
        EXPECT_EQ(walk(g3, g0), (Vertices{s1, cpu, s0, g0}));
    }
}
