/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-parts.h"

#include "ns3/proteus-cluster.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

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
    // Of a server with a network, NICs that it does not reach are none: ports that are down.
    for (const VertexId gpu : gpus)
    {
        EXPECT_EQ(cluster.GetNic(gpu), x);
    }
}
