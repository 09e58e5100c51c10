/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include <algorithm>
#include <random>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// The cluster with switches that multiply and combine.
Cluster
MakeCapable(const Cluster& plain)
{
    Cluster capable(plain.GetName());
    for (Vertex vertex : plain.GetVertices())
    {
        if (vertex.kind == VertexKind::NVSWITCH || vertex.kind == VertexKind::SWITCH)
        {
            vertex.multicast = true;
            vertex.reduction = true;
        }
        capable.AddVertex(vertex);
    }
    for (const Link& link : plain.GetLinks())
    {
        capable.AddLink(link);
    }
    return capable;
}

/// Payload that a vertex has sent and received.
std::pair<uint64_t, uint64_t>
CountPayload(const TransportRig& rig, VertexId vertex)
{
    uint64_t sent = 0;
    uint64_t received = 0;
    const Cluster& cluster = rig.fabric->GetCluster();
    for (const LinkStatistics& link : rig.fabric->GetLinkStatistics())
    {
        const Link& ends = cluster.GetLinks()[link.link];
        if ((link.forward ? ends.a : ends.b) == vertex)
        {
            sent += link.payloadBytes;
        }
        if ((link.forward ? ends.b : ends.a) == vertex)
        {
            received += link.payloadBytes;
        }
    }
    return {sent, received};
}

constexpr uint64_t N = 10'000'001;

TEST(Groups, NvlsMulticast)
{
    TransportRig rig(MakeCapable(MakeCluster("dgx-h100", 1)));
    GroupOptions options;
    options.members = rig.fabric->GetCluster().GetGpus();
    const uint32_t group = rig.transport->CreateGroup(options);
    rig.transport->SendGroup(group, GroupOperation::MULTICAST, 3, N, 77);
    rig.Run();
    EXPECT_EQ(rig.groupMessages.size(), 8u);
    for (uint32_t member = 0; member < 8; ++member)
    {
        const auto [sent, received] = CountPayload(rig, options.members[member]);
        EXPECT_EQ(sent, member == 3 ? N : 0);
        EXPECT_EQ(received, N);
    }
}

TEST(Groups, NvlsReduce)
{
    TransportRig rig(MakeCapable(MakeCluster("dgx-h100", 1)));
    GroupOptions options;
    options.members = rig.fabric->GetCluster().GetGpus();
    const uint32_t group = rig.transport->CreateGroup(options);
    for (uint32_t member = 0; member < 8; ++member)
    {
        rig.transport->SendGroup(group, GroupOperation::REDUCE, member, N, 77, 5);
    }
    rig.Run();
    ASSERT_EQ(rig.groupMessages.size(), 1u);
    EXPECT_EQ(rig.groupMessages[0].member, 5u);
    EXPECT_EQ(rig.groupMessages[0].bytes, N);
    for (uint32_t member = 0; member < 8; ++member)
    {
        const auto [sent, received] = CountPayload(rig, options.members[member]);
        EXPECT_EQ(sent, N);
        EXPECT_EQ(received, member == 5 ? N : 0);
    }
}

/// Operations of fewer units than there are planes do not all take the first ones.
TEST(Groups, SmallOperationsOfManyGroupsSpreadOverThePlanes)
{
    TransportRig rig(MakeCapable(MakeCluster("gb200-nvl72", 1)));
    const Cluster& cluster = rig.fabric->GetCluster();
    GroupOptions options;
    options.members.assign(cluster.GetGpus().begin(), cluster.GetGpus().begin() + 4);
    constexpr uint64_t GROUPS = 90; // five for each of 18 switches
    for (options.flow = 0; options.flow < GROUPS; ++options.flow)
    {
        rig.transport->SendGroup(rig.transport->CreateGroup(options),
                                 GroupOperation::MULTICAST,
                                 0,
                                 1,
                                 options.flow);
    }
    rig.Run();
    uint32_t taken = 0;
    for (VertexId vertex = 0; vertex < cluster.GetVertices().size(); ++vertex)
    {
        if (cluster.GetVertices()[vertex].kind == VertexKind::NVSWITCH)
        {
            const uint64_t received = CountPayload(rig, vertex).second;
            EXPECT_LE(received, GROUPS / 6);
            taken += received > 0;
        }
    }
    EXPECT_GE(taken, 16u);
}

/// An all-reduce in the switches: N up and N down per member, at the rate of its links, where a
/// ring needs 2 N (n - 1) / n both ways.
TEST(Groups, NvlsAllReduce)
{
    TransportRig rig(MakeCapable(MakeCluster("dgx-h100", 1)));
    GroupOptions options;
    options.members = rig.fabric->GetCluster().GetGpus();
    const uint32_t group = rig.transport->CreateGroup(options);
    for (uint32_t member = 0; member < 8; ++member)
    {
        for (int i = 0; i < 10; ++i)
        {
            rig.transport->SendGroup(group, GroupOperation::ALL_REDUCE, member, N, i);
        }
    }
    int64_t end = 0;
    rig.fabric->TraceConnectWithoutContext(
        "Receive",
        Callback<void, PortId, const PacketRecord&, int64_t>(
            [&end](PortId, const PacketRecord&, int64_t timePs) { end = std::max(end, timePs); }));
    rig.Run();
    EXPECT_EQ(rig.groupMessages.size(), 80u);
    for (uint32_t member = 0; member < 8; ++member)
    {
        const auto [sent, received] = CountPayload(rig, options.members[member]);
        EXPECT_EQ(sent, 10 * N);
        EXPECT_EQ(received, 10 * N);
    }
    const double rate = 10.0 * N / (static_cast<double>(end) * 1e-12);
    // NVLink 4: 18 links of 25 GB/s, each with what answers cost both ways.
    const LinkFraming framing =
        DefaultFraming(LinkTechnology::NVLINK, 4).For(CopyMethod::SM_REDUCE);
    const double expected = 450e9 * 4096 / (framing.WireBytes(4096) + framing.ReverseBytes(4096));
    EXPECT_NEAR(rate, expected, 0.03 * expected);
}

/// SHARP: trees over two levels of InfiniBand switches, through NICs.
TEST(Groups, SharpTree)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 2;
    fabric.spines = 2;
    TransportRig rig(MakeCapable(MakeCluster("dgx-a100", 4, fabric)));
    const Cluster& cluster = rig.fabric->GetCluster();
    GroupOptions options;
    options.copyMethod = CopyMethod::DMA;
    for (uint32_t server = 0; server < 4; ++server)
    {
        options.members.push_back(cluster.GetGpus()[8 * server + 2]);
        options.nics.push_back(cluster.GetNic(options.members.back()));
    }
    const uint32_t group = rig.transport->CreateGroup(options);
    for (uint32_t member = 0; member < 4; ++member)
    {
        rig.transport->SendGroup(group, GroupOperation::ALL_REDUCE, member, N, member);
        rig.transport->SendGroup(group, GroupOperation::REDUCE, member, 1, member, 1);
    }
    rig.transport->SendGroup(group, GroupOperation::MULTICAST, 2, 4097, 9);
    rig.Run();
    EXPECT_EQ(rig.groupMessages.size(), 4u + 1u + 4u);
    for (uint32_t member = 0; member < 4; ++member)
    {
        const auto [sent, received] = CountPayload(rig, options.members[member]);
        EXPECT_EQ(sent, N + 1 + (member == 2 ? 4097 : 0));
        EXPECT_EQ(received, N + (member == 1 ? 1 : 0) + 4097);
    }
    // A leaf has two members below it, and one tree link above it: N up and N down.
    for (const char* name : {"leaf0", "leaf1"})
    {
        const VertexId leaf = cluster.FindVertex(name);
        const auto [sent, received] = CountPayload(rig, leaf);
        EXPECT_EQ(sent,
                  3 * N + 2 * 4097 + 1 + (name[4] == '1' ? 4097 : 0) + (name[4] == '0' ? 1 : 0));
        EXPECT_GE(received, 3 * N);
    }
}

TEST(Groups, ManyOperationsAtRandomTimes)
{
    TransportRig rig(MakeCapable(MakeCluster("dgx-a100", 1)));
    GroupOptions options;
    options.members = rig.fabric->GetCluster().GetGpus();
    const uint32_t group = rig.transport->CreateGroup(options);
    std::mt19937 random(3);
    uint64_t expected = 0;
    std::vector<uint64_t> sizes;
    std::vector<uint32_t> roots;
    for (int i = 0; i < 50; ++i)
    {
        sizes.push_back(1 + random() % 100'000);
        roots.push_back(random() % 8);
        expected += i % 2 == 0 ? 8 : 1;
    }
    for (uint32_t member = 0; member < 8; ++member)
    {
        int64_t time = 0;
        for (int i = 0; i < 50; ++i)
        {
            time += random() % 2'000'000;
            Simulator::Schedule(PicoSeconds(time), [&, member, i]() {
                rig.transport->SendGroup(group,
                                         i % 2 == 0 ? GroupOperation::ALL_REDUCE
                                                    : GroupOperation::REDUCE,
                                         member,
                                         sizes[i],
                                         100 * member + i,
                                         i % 2 == 0 ? 0 : roots[i]);
            });
        }
    }
    rig.Run();
    EXPECT_EQ(rig.groupMessages.size(), expected);
    for (const auto& message : rig.groupMessages)
    {
        EXPECT_EQ(message.tag / 100, message.member);
        EXPECT_EQ(message.bytes, sizes[message.tag % 100]);
    }
}

TEST(Groups, Errors)
{
    TransportRig plain(MakeCluster("dgx-a100", 1));
    GroupOptions options;
    options.members = plain.fabric->GetCluster().GetGpus();
    // The preset's own switches decide; without capable ones there is no group.
    Cluster incapable("incapable");
    for (Vertex vertex : plain.fabric->GetCluster().GetVertices())
    {
        vertex.multicast = false;
        vertex.reduction = false;
        incapable.AddVertex(vertex);
    }
    for (const Link& link : plain.fabric->GetCluster().GetLinks())
    {
        incapable.AddLink(link);
    }
    TransportRig rig(incapable);
    EXPECT_THROW(rig.transport->CreateGroup(options), std::invalid_argument);
    options.members.resize(1);
    EXPECT_THROW(rig.transport->CreateGroup(options), std::invalid_argument);
}

} // namespace
