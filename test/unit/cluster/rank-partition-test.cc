/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-rank-partition.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return servers of a preset, joined by a kind of fabric
Cluster
Make(const std::string& kind, uint32_t servers)
{
    FabricOptions options;
    options.kind = kind;
    options.serversPerLeaf = 2;
    options.serversPerGroup = 2;
    options.spines = 2;
    return MakeCluster("pcie-v100x4", servers, options);
}

/// Checks what holds for every division.
void
CheckPartition(const Cluster& cluster, const RankPartition& partition, uint32_t nRanks)
{
    const auto& vertices = cluster.GetVertices();
    ASSERT_EQ(partition.rankOf.size(), vertices.size());
    std::vector<std::set<uint32_t>> ranksOf(cluster.GetNServers());
    std::set<uint32_t> withServer;
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        ASSERT_LT(partition.rankOf[vertex], nRanks);
        if (vertices[vertex].server >= 0)
        {
            ranksOf[vertices[vertex].server].insert(partition.rankOf[vertex]);
            withServer.insert(partition.rankOf[vertex]);
        }
    }
    for (const auto& ranks : ranksOf)
    {
        EXPECT_EQ(ranks.size(), 1u);
    }
    EXPECT_EQ(withServer.size(), nRanks);
    std::vector<LinkId> cut;
    int64_t lookaheadPs = INT64_MAX;
    double rate = 0;
    for (LinkId id = 0; id < cluster.GetLinks().size(); ++id)
    {
        const Link& link = cluster.GetLinks()[id];
        if (partition.rankOf[link.a] != partition.rankOf[link.b])
        {
            cut.push_back(id);
            lookaheadPs = std::min(lookaheadPs, link.delayPs);
            rate += link.bytesPerSecond;
        }
    }
    EXPECT_EQ(partition.cutLinks, cut);
    EXPECT_EQ(partition.lookaheadPs, lookaheadPs);
    EXPECT_DOUBLE_EQ(partition.cutBytesPerSecond, rate);
}

} // namespace

TEST(RankPartition, KeepsServersWholeAndGivesEveryRankOne)
{
    for (const char* kind :
         {"single-switch", "leaf-spine", "rail-optimised", "fat-tree", "dragonfly+", "torus-2d"})
    {
        for (uint32_t nRanks = 2; nRanks <= 4; ++nRanks)
        {
            SCOPED_TRACE(std::string(kind) + ", " + std::to_string(nRanks) + " ranks");
            const Cluster cluster = Make(kind, 8);
            const RankPartition partition = PartitionCluster(cluster, nRanks);
            CheckPartition(cluster, partition, nRanks);
            // A single switch has half of all ports, and is not divided.
            EXPECT_LE(partition.heaviest, std::string(kind) == "single-switch" ? nRanks : 2);
        }
    }
}

TEST(RankPartition, CutsALeafSpineNetworkBetweenLeavesAndSpinesOnly)
{
    // Four leaves and two spines: each rank gets two leaves and a spine, so that each leaf has one
    // link to the other rank's spine.
    const Cluster cluster = Make("leaf-spine", 8);
    const RankPartition partition = PartitionCluster(cluster, 2);
    EXPECT_EQ(partition.cutLinks.size(), 4u);
    for (LinkId id : partition.cutLinks)
    {
        const Link& link = cluster.GetLinks()[id];
        EXPECT_EQ(cluster.GetVertices()[link.a].server, -1);
        EXPECT_EQ(cluster.GetVertices()[link.b].server, -1);
    }
    EXPECT_DOUBLE_EQ(partition.heaviest, 1);
}

TEST(RankPartition, LeavesOneRankUndivided)
{
    const RankPartition partition = PartitionCluster(Make("leaf-spine", 4), 1);
    EXPECT_TRUE(partition.cutLinks.empty());
    EXPECT_EQ(std::set<uint32_t>(partition.rankOf.begin(), partition.rankOf.end()).size(), 1u);
}

TEST(RankPartition, PrefersLongLinks)
{
    // Two sites, far from each other: of the second server's two links, the long one is cut.
    Cluster cluster("sites");
    const auto add = [&](const std::string& name, VertexKind kind, int32_t server) {
        Vertex vertex;
        vertex.name = name;
        vertex.kind = kind;
        vertex.server = server;
        return cluster.AddVertex(vertex);
    };
    const auto join = [&](VertexId a, VertexId b, int64_t delayPs) {
        Link link;
        link.a = a;
        link.b = b;
        link.technology = LinkTechnology::ROCE;
        link.bytesPerSecond = 1e9;
        link.delayPs = delayPs;
        cluster.AddLink(link);
    };
    const VertexId near = add("near", VertexKind::SWITCH, -1);
    const VertexId far = add("far", VertexKind::SWITCH, -1);
    for (int32_t server = 0; server < 4; ++server)
    {
        join(add("gpu" + std::to_string(server), VertexKind::GPU, server),
             server % 2 == 0 ? near : far,
             500000);
    }
    join(near, far, 5000000);
    const RankPartition partition = PartitionCluster(cluster, 2);
    EXPECT_EQ(partition.cutLinks, std::vector<LinkId>{4});
    EXPECT_EQ(partition.lookaheadPs, 5000000);
}

TEST(LookaheadBounds, AreNotBelowTheLookaheadOfAnyDivision)
{
    std::mt19937 random(3);
    int divided = 0;
    for (int number = 0; number < 60; ++number)
    {
        const std::vector<const char*> kinds{"single-switch",
                                             "leaf-spine",
                                             "rail-optimised",
                                             "fat-tree",
                                             "dragonfly+",
                                             "torus-2d"};
        const Cluster equal = Make(kinds[random() % kinds.size()], 4 + random() % 5);
        Cluster cluster("random");
        for (const Vertex& vertex : equal.GetVertices())
        {
            cluster.AddVertex(vertex);
        }
        for (Link link : equal.GetLinks())
        {
            link.delayPs = random() % 4 == 0 ? random() % 3 : random() % 2000000;
            cluster.AddLink(link);
        }
        const LookaheadBounds bounds(cluster);
        for (uint32_t nRanks = 2; nRanks <= 4; ++nRanks)
        {
            const RankPartition partition = PartitionCluster(cluster, nRanks);
            for (int pair = 0; pair < 50; ++pair)
            {
                const auto nVertices = static_cast<uint32_t>(partition.rankOf.size());
                const VertexId a = random() % nVertices;
                const VertexId b = random() % nVertices;
                if (partition.rankOf[a] != partition.rankOf[b])
                {
                    ++divided;
                    EXPECT_GE(bounds.Get({a, b}), partition.lookaheadPs);
                }
            }
        }
    }
    EXPECT_GT(divided, 1000);
}

TEST(LookaheadBounds, AreDelaysOfLinksThatJoin)
{
    // Two sites, far from each other.
    Cluster cluster("sites");
    const auto add = [&](VertexKind kind, int32_t server) {
        Vertex vertex;
        vertex.kind = kind;
        vertex.server = server;
        vertex.name = std::to_string(cluster.GetVertices().size());
        return cluster.AddVertex(vertex);
    };
    const auto join = [&](VertexId a, VertexId b, LinkTechnology technology, int64_t delayPs) {
        Link link;
        link.a = a;
        link.b = b;
        link.technology = technology;
        link.bytesPerSecond = 1e9;
        link.delayPs = delayPs;
        cluster.AddLink(link);
    };
    const VertexId near = add(VertexKind::SWITCH, -1);
    const VertexId far = add(VertexKind::SWITCH, -1);
    std::vector<VertexId> gpus;
    for (int32_t server = 0; server < 4; ++server)
    {
        gpus.push_back(add(VertexKind::GPU, server));
        join(gpus.back(), server < 3 ? near : far, LinkTechnology::ROCE, 500000 + 1000 * server);
    }
    join(near, far, LinkTechnology::ROCE, 5000000);
    gpus.push_back(add(VertexKind::GPU, 0));
    gpus.push_back(add(VertexKind::GPU, 4)); // of another server, but of its NVLink domain
    join(gpus[3], gpus[5], LinkTechnology::NVLINK, 700000);
    const LookaheadBounds bounds(cluster);
    EXPECT_EQ(bounds.Get({gpus[0], gpus[4]}), 0);
    EXPECT_EQ(bounds.Get({gpus[3], gpus[5]}), 0);
    EXPECT_EQ(bounds.Get({gpus[0], gpus[1]}), 501000);
    EXPECT_EQ(bounds.Get({gpus[0], gpus[1], gpus[2]}), 502000);
    EXPECT_EQ(bounds.Get({gpus[0], gpus[1], gpus[5]}), 5000000);
}

TEST(RankPartition, SaysWhenThereIsNothingToDivide)
{
    EXPECT_THROW(PartitionCluster(MakeCluster("dgx-a100", 1), 2), std::invalid_argument);
    EXPECT_THROW(PartitionCluster(Make("leaf-spine", 2), 3), std::invalid_argument);
}
