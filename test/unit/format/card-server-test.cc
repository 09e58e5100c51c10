/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace ns3::proteus;

namespace
{

/// @param text of a cluster @return the message of what is wrong, or an empty text
std::string
Refusal(const std::string& text)
{
    try
    {
        LoadCluster(text);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// @param cluster with the link @param a kind of one end @param b kind of the other
/// @return the first such link
Link
FindLink(const Cluster& cluster, VertexKind a, VertexKind b)
{
    for (const Link& link : cluster.GetLinks())
    {
        const VertexKind first = cluster.GetVertices()[link.a].kind;
        const VertexKind second = cluster.GetVertices()[link.b].kind;
        if ((first == a && second == b) || (first == b && second == a))
        {
            return link;
        }
    }
    ADD_FAILURE() << "no such link";
    return {};
}

/// @return the first CPU
Vertex
FindCpu(const Cluster& cluster)
{
    for (const Vertex& vertex : cluster.GetVertices())
    {
        if (vertex.kind == VertexKind::CPU)
        {
            return vertex;
        }
    }
    ADD_FAILURE() << "no CPU";
    return {};
}

} // namespace

TEST(CardServer, HasSoManyCardsAtEachSocket)
{
    const Cluster cluster = LoadCluster("2x4xL40S", 2);
    ASSERT_EQ(cluster.GetGpus().size(), 16u);
    EXPECT_EQ(cluster.GetVertices()[cluster.GetGpus()[0]].model, "L40S");
    const auto findCpu = [&cluster](uint32_t device) {
        const VertexId gpu = cluster.GetGpus()[device];
        EXPECT_EQ(cluster.GetPorts(gpu).size(), 1u);
        return cluster.GetLinks()[cluster.GetPorts(gpu)[0].link].Other(gpu);
    };
    std::set<VertexId> cpus;
    for (uint32_t device = 0; device < 16; ++device)
    {
        cpus.insert(findCpu(device));
    }
    EXPECT_EQ(cpus.size(), 4u);
    EXPECT_EQ(findCpu(3), findCpu(0));
    EXPECT_NE(findCpu(4), findCpu(0));
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::CPU, VertexKind::CPU).bytesPerSecond, 21.5e9);
    EXPECT_FALSE(FindCpu(cluster).peerToPeer);
    EXPECT_EQ(FindCpu(cluster).model, "amd");
}

TEST(CardServer, HasTheSlotsOfItsGeneration)
{
    for (const auto& [name, generation] : {std::make_pair("4xT4", 3u),
                                           std::make_pair("8xRTX-4090", 4u),
                                           std::make_pair("2xA100-PCIE-40GB", 4u),
                                           std::make_pair("8xH100-PCIE-80GB", 5u),
                                           std::make_pair("2x4xRTX-5090", 5u)})
    {
        const Cluster cluster = LoadCluster(name, 1);
        EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::GPU, VertexKind::CPU).bytesPerSecond,
                         PcieX16BytesPerSecond(generation))
            << name;
    }
}

TEST(CardServer, IsChangedByKeys)
{
    const Cluster cluster = LoadCluster("2x2xL40S:nodes=2,pcie=3x8,cpu=intel,p2p=on,nic=1x200G");
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::GPU, VertexKind::CPU).bytesPerSecond,
                     PcieX16BytesPerSecond(3) / 2);
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::CPU, VertexKind::CPU).bytesPerSecond, 10e9);
    EXPECT_TRUE(FindCpu(cluster).peerToPeer);
    EXPECT_TRUE(FindCpu(cluster).gpuDirectRdma);
    EXPECT_EQ(FindCpu(cluster).model, "intel");
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::NIC, VertexKind::SWITCH).bytesPerSecond, 25e9);
    EXPECT_EQ(LoadCluster("2x2xL40S:p2p=on").GetGpus().size(), 4u);
    EXPECT_EQ(LoadCluster("2x2xL40S:p2p=on,nic=1x200G").GetGpus().size(), 8u);
    EXPECT_DOUBLE_EQ(
        FindLink(LoadCluster("2x2xH100-NVL:nodes=1,cpu=intel"), VertexKind::CPU, VertexKind::CPU)
            .bytesPerSecond,
        22e9);
}

TEST(CardServer, HasTheMemoryOfItsChannels)
{
    for (const auto& [name, rate] :
         {std::make_pair("2x1xL40S", 0.0),
          std::make_pair("2x1xL40S:memory=8xDDR4-3200", 0.715 * 204.8e9),
          std::make_pair("2x1xL40S:memory=12xddr5-4800", 0.715 * 460.8e9)})
    {
        const Cluster cluster = LoadCluster(name);
        EXPECT_DOUBLE_EQ(FindCpu(cluster).memoryBytesPerSecond, rate) << name;
    }
}

TEST(CardServer, HasAsManyNicsAsAreAskedFor)
{
    for (const auto& [name, nics] : {std::make_pair("2x4xL40S:nodes=2,nic=200G-ib", 2u),
                                     std::make_pair("2x4xL40S:nodes=2,nic=1x200G-ib", 1u),
                                     std::make_pair("2x4xL40S:nodes=2,nic=4x200G-ib", 4u),
                                     std::make_pair("4xL40S:nodes=2,nic=3x", 3u)})
    {
        const Cluster cluster = LoadCluster(name);
        std::map<VertexId, uint32_t> places; // that NICs have, of CPUs
        uint32_t plugged = 0;
        for (const Link& link : cluster.GetLinks())
        {
            const bool isA = cluster.GetVertices()[link.a].kind == VertexKind::NIC;
            if (!isA && cluster.GetVertices()[link.b].kind != VertexKind::NIC)
            {
                continue;
            }
            const VertexId other = isA ? link.b : link.a;
            if (cluster.GetVertices()[other].kind == VertexKind::CPU)
            {
                ++places[other];
            }
            else
            {
                ++plugged;
            }
        }
        EXPECT_EQ(plugged, 2 * nics) << name;
        for (const auto& [cpu, count] : places) // equal shares
        {
            EXPECT_EQ(count * places.size(), 2 * nics) << name;
        }
    }
}

TEST(CardServer, HasSwitchesWithEqualShares)
{
    const Cluster cluster = LoadCluster("2x4xA100-PCIE-80GB:switches=4,nic=4x200G,pcie=4x8");
    const auto& vertices = cluster.GetVertices();
    std::map<VertexId, std::map<VertexKind, uint32_t>> joined;
    for (const Link& link : cluster.GetLinks())
    {
        ++joined[link.a][vertices[link.b].kind];
        ++joined[link.b][vertices[link.a].kind];
    }
    uint32_t switches = 0;
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        if (vertices[id].kind == VertexKind::PCIE_SWITCH)
        {
            ++switches;
            EXPECT_EQ(joined[id][VertexKind::GPU], 2u);
            EXPECT_EQ(joined[id][VertexKind::NIC], 1u);
            EXPECT_EQ(joined[id][VertexKind::CPU], 1u);
        }
        EXPECT_TRUE(vertices[id].kind != VertexKind::CPU ||
                    (joined[id][VertexKind::PCIE_SWITCH] == 2 && joined[id].size() == 2));
    }
    EXPECT_EQ(switches, 8u); // of two servers
    const double x16 = PcieX16BytesPerSecond(4);
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::GPU, VertexKind::PCIE_SWITCH).bytesPerSecond,
                     x16 / 2);
    EXPECT_DOUBLE_EQ(FindLink(cluster, VertexKind::CPU, VertexKind::PCIE_SWITCH).bytesPerSecond,
                     x16);
    EXPECT_NE(Refusal("2x4xL40S:switches=3").find("a multiple of 2 that divides 8"),
              std::string::npos);
    EXPECT_NE(Refusal("2x3xL40S:switches=4").find("a multiple of 2 that divides 6"),
              std::string::npos);
    EXPECT_NE(Refusal("dgx-a100:switches=2").find("switches belongs to servers of cards"),
              std::string::npos);
}

TEST(CardServer, HasBridgesOfNvlink)
{
    for (const auto& [name, rate, links] :
         {std::make_tuple("4xA100-PCIE-80GB:bridges=2", 300e9, 2u),
          std::make_tuple("2x4xH100-NVL:bridges=2", 300e9, 4u),
          std::make_tuple("2xRTX-3090:bridges=2", 56.25e9, 1u),
          std::make_tuple("8xH200-NVL:bridges=4", 150e9, 12u),
          std::make_tuple("8xH200-NVL:bridges=2", 450e9, 4u)})
    {
        const Cluster cluster = LoadCluster(name);
        uint32_t count = 0;
        for (const Link& link : cluster.GetLinks())
        {
            if (link.technology == LinkTechnology::NVLINK)
            {
                ++count;
                EXPECT_DOUBLE_EQ(link.bytesPerSecond, rate) << name;
                EXPECT_LT(std::max(link.a, link.b) - std::min(link.a, link.b), 4u);
            }
        }
        EXPECT_EQ(count, links) << name;
    }
    EXPECT_NE(Refusal("8xL40S:bridges=2").find("there is no bridge of NVLink for L40S"),
              std::string::npos);
    EXPECT_NE(Refusal("4xA40:bridges=4").find("bridges of NVLink join 2 A40"), std::string::npos);
    EXPECT_NE(Refusal("8xH200-NVL:bridges=3").find("join 2 or 4 H200-NVL"), std::string::npos);
    EXPECT_NE(Refusal("3xA40:bridges=2").find("3 cards are no whole number"), std::string::npos);
    // Slots are changed, bridges are not.
    EXPECT_DOUBLE_EQ(
        FindLink(LoadCluster("2xA40:bridges=2,pcie=3x8"), VertexKind::GPU, VertexKind::GPU)
            .bytesPerSecond,
        56.25e9);
}

TEST(CardServer, IsNamedInAnySpellingAndOnlyOfCards)
{
    EXPECT_EQ(FindCardServer("8xl40s"), "8xL40S");
    EXPECT_EQ(FindCardServer("2x4xrtx4090"), "2x4xRTX-4090");
    EXPECT_EQ(FindServerPreset("1x8xL40S"), "8xL40S");
    for (const char* name : {"", "L40S", "8xA100-SXM4-80GB", "8xB200", "0xL40S", "3x4xL40S", "8xL"})
    {
        EXPECT_EQ(FindCardServer(name), "") << name;
    }
    EXPECT_THROW(MakeCardServer("8xB200"), std::invalid_argument);
    EXPECT_NE(Refusal("dgx-a100:p2p=on").find("belongs to servers of cards"), std::string::npos);
    EXPECT_NE(Refusal("8xL40S:gpu=T4").find("leave gpu out"), std::string::npos);
    EXPECT_NE(Refusal("8xL40S:pcie=7").find("GENERATIONxLANES"), std::string::npos);
    EXPECT_NE(Refusal("8xL40S:memory=144").find("CHANNELSxDDRn-RATE"), std::string::npos);
    EXPECT_NE(Refusal("8xL40S:cpu=via").find("cpu must be one of"), std::string::npos);
}
