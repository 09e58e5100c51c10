/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-connection.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-server-preset.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Raw rate of a Gen3 x16 link.
const double GEN3 = PcieX16BytesPerSecond(3);
/// Packets of 128 bytes with headers of 24 that fill a unit of 4096.
constexpr double STORES = 4096.0 / (4096 + 32 * 24);
/// Part of a link that reads of host memory have.
constexpr double READS = 0.8;

/// @param generation of PCI Express @param gpusOfSwitch GPUs below each switch
/// @param switches below one CPU @return GPUs without peer-to-peer
Cluster
MakeBarred(uint32_t generation, uint32_t gpusOfSwitch, uint32_t switches)
{
    Cluster cluster("barred");
    Vertex inside;
    inside.kind = VertexKind::PCIE_SWITCH;
    inside.peerToPeer = false;
    const auto gpus =
        AddServerVertices(cluster, 0, MakeGpu("RTX-2080-Ti"), gpusOfSwitch * switches);
    const auto slots = AddServerVertices(cluster, 0, inside, switches);
    const auto cpus = AddServerVertices(cluster, 0, MakeCpu(0, false), 1);
    for (uint32_t i = 0; i < gpus.size(); ++i)
    {
        AddPcieLink(cluster, gpus[i], slots[i / gpusOfSwitch], generation);
    }
    for (const VertexId slot : slots)
    {
        AddPcieLink(cluster, slot, cpus[0], generation);
    }
    return cluster;
}

/// What is between a GPU and the NIC of its server.
enum class Between
{
    SWITCHES,
    CPU,
    CPU_WITH_NVLINK
};

/// @param between the GPU and the NIC of each of two servers @return the servers
Cluster
MakePair(Between between)
{
    Cluster cluster("pair");
    Vertex network;
    network.kind = VertexKind::SWITCH;
    network.name = "network";
    std::vector<VertexId> nics;
    for (uint32_t server = 0; server < 2; ++server)
    {
        const VertexId gpu = AddServerVertices(cluster, server, MakeGpu("L40S"), 1)[0];
        const auto slots = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 2);
        const VertexId cpu = AddServerVertices(cluster, server, MakeCpu(0), 1)[0];
        nics.push_back(AddServerVertices(cluster, server, VertexKind::NIC, 1)[0]);
        AddPcieLink(cluster, slots[0], between == Between::SWITCHES ? slots[1] : cpu, 4);
        AddPcieLink(cluster, slots[1], cpu, 4);
        AddPcieLink(cluster, nics.back(), slots[0], 4);
        if (between == Between::CPU_WITH_NVLINK)
        {
            AddDefaultLink(cluster, gpu, cpu, LinkTechnology::NVLINK, 400e9, 4);
        }
        else
        {
            AddPcieLink(cluster, gpu, slots[1], 4);
        }
    }
    const VertexId hub = cluster.AddVertex(network);
    for (const VertexId nic : nics)
    {
        AddDefaultLink(cluster, nic, hub, LinkTechnology::ROCE, 25e9);
    }
    return cluster;
}

/// @param cluster with the GPUs @param pairs that send, of devices
/// @return what each pair has, when it writes and when it reads
std::vector<std::pair<double, double>>
GetShares(const Cluster& cluster, const std::vector<std::pair<DeviceId, DeviceId>>& pairs)
{
    const Paths paths(cluster);
    const NicTable nics(cluster);
    HostLinkShares shares;
    std::vector<Connection> connections;
    for (const auto& [from, to] : pairs)
    {
        connections.push_back(PlanConnection(cluster, paths, nics, 0, 0, from, to));
        shares.Add(connections.back());
    }
    std::vector<std::pair<double, double>> result;
    for (const Connection& connection : connections)
    {
        result.emplace_back(shares.GetSendHop(connection).hostBytesPerSecond,
                            shares.GetReceiveHop(connection).hostBytesPerSecond);
    }
    return result;
}

} // namespace

TEST(HostLinkShares, ALinkEachCarriesAllOfThem)
{
    for (const auto& [write, read] : GetShares(MakeBarred(3, 1, 2), {{0, 1}, {1, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS);
    }
}

TEST(HostLinkShares, RanksOfARingShareTheLinkOfTheirSwitch)
{
    for (const auto& [write, read] : GetShares(MakeBarred(3, 2, 1), {{0, 1}, {1, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES / 2);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS / 2);
    }
    // Each switch has two that write and two that read.
    for (const auto& [write, read] :
         GetShares(MakeBarred(3, 2, 2), {{0, 1}, {1, 2}, {2, 3}, {3, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES / 2);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS / 2);
    }
}

TEST(HostLinkShares, ReadsLoseToWritesOfTheSameGpu)
{
    const auto get = [](uint32_t generation, uint32_t gpus, uint32_t switches) {
        const Cluster cluster = MakeBarred(generation, gpus, switches);
        const Paths paths(cluster);
        HostLinkShares shares;
        const Connection there = PlanConnection(cluster, paths, NicTable(cluster), 0, 0, 0, 1);
        shares.Add(there);
        shares.Add(PlanConnection(cluster, paths, NicTable(cluster), 0, 0, 1, 0));
        return shares.GetReceiveHop(there);
    };
    // 25 GB/s into an A100 alone, 11 and 12.5 beside 25 and 24 out of it: 0.54 of these are lost.
    const BlockHop each = get(3, 1, 2);
    EXPECT_DOUBLE_EQ(each.exchangeBytesPerSecond, each.hostBytesPerSecond / 1.54);
    // Where a link is shared, each GPU has requests enough for its part.
    const BlockHop shared = get(3, 2, 1);
    EXPECT_DOUBLE_EQ(shared.exchangeBytesPerSecond, shared.hostBytesPerSecond);
    const BlockHop gen5 = get(5, 1, 2);
    EXPECT_DOUBLE_EQ(gen5.exchangeBytesPerSecond, gen5.hostBytesPerSecond);
}

TEST(HostLinkShares, DirectionsAreNotShared)
{
    // A broadcast of two: one writes, the other one reads.
    for (const auto& [write, read] : GetShares(MakeBarred(3, 2, 1), {{0, 1}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS);
    }
}

TEST(HostLinkShares, AChannelMoreOfTheSameRanksIsNoOtherRank)
{
    for (const auto& [write, read] :
         GetShares(MakeBarred(3, 2, 1), {{0, 1}, {1, 0}, {0, 1}, {1, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES / 2);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS / 2);
    }
}

TEST(HostLinkShares, OnlyThoseConnectionsCountThatCrossHostMemory)
{
    const Cluster cluster = MakeBarred(3, 1, 3);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    HostLinkShares shares;
    const Connection once = PlanConnection(cluster, paths, nics, 0, 0, 0, 1);
    const Connection twice = PlanConnection(cluster, paths, nics, 0, 0, 1, 2);
    for (const Connection& connection : {once, twice, twice})
    {
        shares.Add(connection);
    }
    EXPECT_EQ(shares.GetSendHop(once).hostBlocks, 1u);
    EXPECT_EQ(shares.GetReceiveHop(once).hostBlocks, 1u);
    EXPECT_EQ(shares.GetSendHop(twice).hostBlocks, 2u);
    EXPECT_EQ(shares.GetReceiveHop(twice).hostBlocks, 2u);
    // By itself it may be that all blocks do as this one.
    EXPECT_EQ(once.GetSendHop().hostBlocks, 0u);
}

TEST(Connection, GpuDirectRdmaGoesNoFurtherThanPcieSwitches)
{
    for (const Between between : {Between::SWITCHES, Between::CPU, Between::CPU_WITH_NVLINK})
    {
        const bool isFar = between == Between::CPU;
        const Cluster cluster = MakePair(between);
        const Paths paths(cluster);
        const Connection connection = PlanConnection(cluster, paths, NicTable(cluster), 0, 0, 0, 1);
        const auto& stops = connection.waypoints;
        ASSERT_EQ(stops.size(), isFar ? 4u : 2u);
        EXPECT_EQ(cluster.GetVertices()[stops.front()].kind,
                  isFar ? VertexKind::CPU : VertexKind::NIC);
        EXPECT_EQ(cluster.GetVertices()[stops.back()].kind,
                  isFar ? VertexKind::CPU : VertexKind::NIC);
        EXPECT_EQ(!connection.hostWrite.empty(), isFar);
        EXPECT_EQ(!connection.hostRead.empty(), isFar);
        EXPECT_EQ(connection.hop, HopKind::NETWORK);
    }
}

TEST(HostLinkShares, RequestsLimitReadsOfFastLinks)
{
    const auto [write, read] = GetShares(MakeBarred(5, 1, 2), {{0, 1}}).front();
    EXPECT_GT(write, 50e9);
    EXPECT_DOUBLE_EQ(read, 35.2e9);
    EXPECT_DOUBLE_EQ(GetShares(MakeBarred(4, 1, 2), {{0, 1}}).front().second,
                     PcieX16BytesPerSecond(4) * READS);
}
