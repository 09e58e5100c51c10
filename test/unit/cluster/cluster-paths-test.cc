/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-parts.h"

#include "ns3/proteus-paths.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

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

} // namespace

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
