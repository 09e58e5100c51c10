/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "cluster-parts.h"

#include "ns3/proteus-cluster.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

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
    EXPECT_EQ(ErrorOf([] { LinkTechnologyFromString("pci"); }),
              "unknown link technology 'pci'; did you mean pcie? known are nvlink, pcie, "
              "cpu-interconnect, infiniband, roce");
    EXPECT_EQ(ErrorOf([] { VertexKindFromString("GPU"); }),
              "unknown kind of vertex 'GPU'; did you mean gpu? known are gpu, nvswitch, "
              "pcie-switch, cpu, nic, switch");
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
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.memoryBytesPerSecond = 1; }),
              "vertex 'v': a nic has no memory rate");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.memoryBytesPerSecond = -1; }),
              "vertex 'v': the memory rate must be at least 1 byte per second, or 0 for no limit");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.forwardBytesPerSecond = 1; }),
              "vertex 'v': a gpu has no forwarding rate");
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.copyEngines = 1; }),
              "vertex 'v': a nic has no copy engines");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.peerToPeer = false; }), "");
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.multicast = true; }),
              "vertex 'v': a cpu has no multicast");
    EXPECT_EQ(message(VertexKind::GPU, [](Vertex& vertex) { vertex.reduction = true; }),
              "vertex 'v': a gpu has no reduction");
    EXPECT_EQ(message(VertexKind::NVSWITCH, [](Vertex& vertex) { vertex.bufferBytes = 1; }),
              "vertex 'v': a nvswitch has no shared buffer");
    EXPECT_EQ(message(VertexKind::SWITCH, [](Vertex& vertex) { vertex.bufferBytes = 1; }), "");
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.peerToPeer = false; }), "");
    EXPECT_EQ(message(VertexKind::CPU, [](Vertex& vertex) { vertex.gpuDirectRdma = false; }), "");
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.gpuDirectRdma = false; }), "");
    EXPECT_EQ(message(VertexKind::NIC, [](Vertex& vertex) { vertex.peerToPeer = false; }),
              "vertex 'v': a nic has no peer-to-peer to be disabled");
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
