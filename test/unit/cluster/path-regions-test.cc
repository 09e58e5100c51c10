/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-paths.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param cluster any @return the same, with a dead end at a GPU of every server, so that no server
/// is a region of its own; vertices and ports keep their numbers
Cluster
OpenServers(const Cluster& cluster)
{
    Cluster open;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        open.AddVertex(vertex);
    }
    for (const Link& link : cluster.GetLinks())
    {
        open.AddLink(link);
    }
    for (const VertexId gpu : cluster.GetGpus())
    {
        Vertex end;
        end.name = "end" + std::to_string(gpu);
        end.kind = VertexKind::SWITCH;
        const VertexId id = open.AddVertex(end);
        Link link;
        link.a = gpu;
        link.b = id;
        link.technology = LinkTechnology::ROCE;
        link.bytesPerSecond = 1e9;
        open.AddLink(link);
    }
    return open;
}

/// Expects of two clusters, of which the second has more vertices, the same paths.
void
ExpectSame(const Cluster& cluster,
           const Cluster& open,
           const PathOptions& options,
           const std::string& what)
{
    const Paths paths(cluster, options);
    const Paths expected(open, options);
    const auto n = static_cast<VertexId>(cluster.GetVertices().size());
    for (VertexId to = 0; to < n; ++to)
    {
        for (VertexId from = 0; from < n; ++from)
        {
            ASSERT_EQ(paths.Distance(from, to), expected.Distance(from, to))
                << what << ' ' << from << " -> " << to;
            for (const bool down : {false, true})
            {
                ASSERT_EQ(paths.NextPorts(from, to, down), expected.NextPorts(from, to, down))
                    << what << ' ' << from << " -> " << to << ' ' << down;
            }
        }
    }
}

TEST(PathRegions, AreAsIfTheWholeWereSearched)
{
    for (const std::string preset : {"dgx-a100", "dgx1-v100", "titanxp-pcie"})
    {
        for (const std::string kind : {"single-switch", "rail-optimised", "fat-tree"})
        {
            FabricOptions fabric;
            fabric.kind = kind;
            fabric.serversPerGroup = 2;
            const Cluster cluster = MakeCluster(preset, 3, fabric);
            const Cluster open = OpenServers(cluster);
            ASSERT_NE(Paths(cluster).GetRegion(0), 0u);
            ASSERT_EQ(Paths(open).GetRegion(0), 0u);
            for (const RoutingRule rule : {RoutingRule::SHORTEST, RoutingRule::UP_DOWN})
            {
                PathOptions options;
                options.rule = rule;
                ExpectSame(cluster, open, options, preset + ' ' + kind);
                // A NIC is cut off, and a link inside a server.
                options.disabledLinks = {0};
                for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
                {
                    if (cluster.GetLinks()[link].technology == LinkTechnology::INFINIBAND)
                    {
                        options.disabledLinks.push_back(link);
                        break;
                    }
                }
                ExpectSame(cluster, open, options, preset + ' ' + kind + " with failures");
            }
        }
    }
}

TEST(PathRegions, ADetourThroughTheNetworkMayBeShorter)
{
    // Links of random costs, so that ways through the network compete with those inside.
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round)
    {
        Cluster cluster = MakeCluster("dgx-a100", 2);
        Cluster costly;
        for (const Vertex& vertex : cluster.GetVertices())
        {
            Vertex changed = vertex;
            changed.peerToPeer = vertex.kind != VertexKind::PCIE_SWITCH || random() % 4 != 0;
            costly.AddVertex(changed);
        }
        for (const Link& link : cluster.GetLinks())
        {
            Link changed = link;
            changed.cost = 1 + random() % 6;
            costly.AddLink(changed);
        }
        ExpectSame(costly, OpenServers(costly), PathOptions(), std::to_string(round));
        if (HasFatalFailure())
        {
            return;
        }
    }
}

} // namespace
