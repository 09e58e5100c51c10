/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-network-exchange.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <gtest/gtest.h>
#include <map>
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

/// @param between the GPU and the NIC of each of two servers @param rules of transports
/// @param isBothWays whether the second sends, too @param channels of each direction
/// @return what the first has of the network at most, of each channel; 0: no limit
double
GetNetworkLimit(Between between, const TransportRules& rules, bool isBothWays, uint32_t channels)
{
    const Cluster cluster = MakePair(between);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    const Connection there = PlanConnection(cluster, paths, nics, 0, 0, 0, 1, true, rules);
    const Connection back = PlanConnection(cluster, paths, nics, 0, 0, 1, 0, true, rules);
    NetworkShares shares(rules);
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        shares.Add(there);
        if (isBothWays)
        {
            shares.Add(back);
        }
    }
    return shares.GetLimit(there);
}

} // namespace

TEST(HostLinkShares, ALinkEachCarriesAllOfThem)
{
    for (const auto& [write, read] : GetShares(MakeBarred(3, 1, 2), {{0, 1}, {1, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, GEN3 * STORES);
        EXPECT_DOUBLE_EQ(read, GEN3 * READS);
    }
    // Packets of Gen5 may be longer, stores are not.
    for (const auto& [write, read] : GetShares(MakeBarred(5, 1, 2), {{0, 1}, {1, 0}}))
    {
        EXPECT_DOUBLE_EQ(write, PcieX16BytesPerSecond(5) * STORES);
        EXPECT_DOUBLE_EQ(read, 35.2e9); // so many requests are under way
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

TEST(NetworkShares, NicsReadLessOfAGpuBehindACpuWhileTheyWriteToIt)
{
    TransportRules rules;
    rules.gdrLevel = PathType::SYS;
    const double gen4 = PcieX16BytesPerSecond(4) * READS;
    EXPECT_EQ(GetNetworkLimit(Between::CPU, rules, false, 1), 0);
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 1), gen4 / 1.54);
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 2), gen4 / 1.54 / 2);
    // Of what the host's memory is between, kernels know.
    EXPECT_EQ(GetNetworkLimit(Between::CPU, TransportRules(), true, 1), 0);
    EXPECT_EQ(GetNetworkLimit(Between::SWITCHES, rules, true, 1), 0);
    EXPECT_EQ(GetNetworkLimit(Between::CPU_WITH_NVLINK, rules, true, 1), 0);
}

TEST(NetworkShares, AMessageByItselfIsPartOfAnExchange)
{
    const Cluster cluster = MakePair(Between::CPU);
    const Paths paths(cluster);
    TransportRules rules;
    rules.gdrLevel = PathType::SYS;
    const Connection there =
        PlanConnection(cluster, paths, NicTable(cluster), 0, 0, 0, 1, true, rules);
    CollectiveProgram program;
    program.algorithm = "direct";
    program.ranks.resize(2);
    const auto find = [&]() {
        NetworkShares shares(rules);
        AddConnection(program, there, shares);
        return shares.GetLimit(there);
    };
    EXPECT_DOUBLE_EQ(find(), PcieX16BytesPerSecond(4) * READS / 1.54);
    program.sharesWarps = true; // as a gather is
    EXPECT_EQ(find(), 0);
}

TEST(NetworkShares, TheProxyOfARankReadsTheLinesOfAllItsChannels)
{
    constexpr double LINES = 5.8e9;
    const TransportRules rules;
    const Cluster cluster = MakePair(Between::SWITCHES);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    const Connection there = PlanConnection(cluster, paths, nics, 0, 0, 0, 1, true, rules);
    const Connection back = PlanConnection(cluster, paths, nics, 0, 0, 1, 0, true, rules);
    for (const Protocol protocol : {Protocol::SIMPLE, Protocol::LL128, Protocol::LL})
    {
        NetworkShares shares(rules, protocol);
        shares.Add(there);
        shares.Add(there);
        shares.Add(back);
        const bool isLl = protocol == Protocol::LL;
        EXPECT_EQ(rules.LimitsNetwork(protocol), isLl);
        EXPECT_DOUBLE_EQ(shares.GetLimit(there), isLl ? LINES / 2 : 0);
        EXPECT_DOUBLE_EQ(shares.GetLimit(back), isLl ? LINES : 0);
    }
}

TEST(NetworkShares, ProxiesOfAServerThatShareACoreReadAsMuchAsOne)
{
    // Of two servers, GPUs 0 and 3 of the first send by two and one channels, and GPU 8 sends back.
    constexpr double LINES = 5.8e9;
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    for (const bool isShared : {false, true})
    {
        TransportRules rules;
        rules.sharesCore = isShared;
        const auto plan = [&](DeviceId from, DeviceId to) {
            return PlanConnection(cluster, paths, nics, 0, 0, from, to, true, rules);
        };
        const Connection first = plan(0, 8);
        const Connection third = plan(3, 11);
        const Connection back = plan(8, 0);
        NetworkShares shares(rules, Protocol::LL);
        for (const Connection& connection : {first, first, third, back})
        {
            shares.Add(connection);
        }
        EXPECT_DOUBLE_EQ(shares.GetLimit(first), LINES / (isShared ? 3 : 2));
        EXPECT_DOUBLE_EQ(shares.GetLimit(third), LINES / (isShared ? 3 : 1));
        EXPECT_DOUBLE_EQ(shares.GetLimit(back), LINES);
    }
}

TEST(NetworkShares, ACoreOfAServerTakesTimeForEveryMessage)
{
    // Rings of two servers by two channels: a server sends and receives a message for each, 0.5 us.
    constexpr double MESSAGE_S = 0.5e-6;
    constexpr double LINES = 5.8e9;
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    CollectiveRequest request;
    request.algorithm = "ring";
    request.channels = 2;
    request.vertices = cluster.GetGpus();
    request.bytes = 16 * 2 * 65536;
    for (const Protocol protocol : {Protocol::SIMPLE, Protocol::LL})
    {
        request.protocol = protocol;
        const CollectiveProgram program = MakeProgram(cluster, paths, request);
        for (const bool isShared : {false, true})
        {
            TransportRules rules;
            rules.sharesCore = isShared;
            EXPECT_EQ(HasNetworkLimits(rules, Protocol::SIMPLE), isShared);
            std::vector<ProgramConnection> connections;
            std::deque<Connection> plans;
            std::vector<double> messages;
            for (uint32_t from = 0; from < program.ranks.size(); ++from)
            {
                for (const ThreadBlock& block : program.ranks[from].blocks)
                {
                    plans.push_back(PlanConnection(cluster,
                                                   paths,
                                                   nics,
                                                   0,
                                                   block.channel,
                                                   from,
                                                   block.sendPeer,
                                                   true,
                                                   rules));
                    connections.push_back({block.channel, from, block.sendPeer, &plans.back()});
                    uint64_t bytes = 0;
                    uint64_t longest = 0;
                    for (const Step& step : block.steps)
                    {
                        bytes += Sends(step.kind) ? GetTraits(protocol).WireBytes(step.bytes) : 0;
                        longest = std::max(longest, bytes);
                        bytes = Sends(step.kind) && step.endsChunk ? 0 : bytes;
                    }
                    messages.push_back(static_cast<double>(longest));
                }
            }
            const auto limits = LimitConnections(rules, program, connections);
            uint32_t crossings = 0;
            for (std::size_t i = 0; i < connections.size(); ++i)
            {
                const bool crosses = plans[i].hop == HopKind::NETWORK;
                crossings += crosses ? 1 : 0;
                const double lines = protocol == Protocol::LL ? messages[i] / LINES : 0;
                const double shared = messages[i] / (4 * MESSAGE_S + 2 * lines);
                const double alone = lines > 0 ? LINES : 0;
                EXPECT_NEAR(limits[i], crosses ? (isShared ? shared : alone) : 0, 1);
            }
            EXPECT_EQ(crossings, 4u);
        }
    }
}

TEST(NetworkShares, ShortTreesOfLlReadLinesOfOneHalfAtATime)
{
    // Four servers of one GPU; a tree 0 - 2, of which 1 and 3 hang on 2, by two channels of LL.
    constexpr double LINES = 5.8e9;
    constexpr uint32_t CHANNELS = 2;
    const Cluster cluster = MakeCluster("dgx-spark", 4);
    const Paths paths(cluster);
    const NicTable nics(cluster);
    CollectiveRequest request;
    request.algorithm = "tree";
    request.protocol = Protocol::LL;
    request.channels = CHANNELS;
    request.vertices = cluster.GetGpus();
    request.chunkBytes = 1024;
    const auto find = [&](uint64_t chunks, const TransportRules& rules) {
        request.bytes = chunks * request.chunkBytes * CHANNELS;
        const CollectiveProgram program = MakeProgram(cluster, paths, request);
        std::vector<ProgramConnection> connections;
        std::vector<Connection> plans;
        for (uint32_t from = 0; from < program.ranks.size(); ++from)
        {
            for (const ThreadBlock& block : program.ranks[from].blocks)
            {
                if (block.sendPeer != NO_RANK)
                {
                    connections.push_back({block.channel, from, block.sendPeer, nullptr});
                    plans.push_back(PlanConnection(cluster,
                                                   paths,
                                                   nics,
                                                   0,
                                                   block.channel,
                                                   from,
                                                   block.sendPeer,
                                                   true,
                                                   rules));
                }
            }
        }
        for (std::size_t i = 0; i < plans.size(); ++i)
        {
            connections[i].connection = &plans[i];
        }
        // By rank that sends and what it gets: how many connections do.
        std::map<std::pair<uint32_t, long>, uint32_t> counts;
        const auto limits = LimitConnections(rules, program, connections);
        for (std::size_t i = 0; i < limits.size(); ++i)
        {
            ++counts[{connections[i].from, std::lround(LINES / limits[i])}];
        }
        return counts;
    };
    // A connection has eight slots. Those of one half have equal parts, and of a rank that has both
    // halves none shares with all.
    bool hasBoth = false;
    for (const auto& [place, count] : find(4, TransportRules()))
    {
        EXPECT_EQ(count % place.second, 0u) << place.first;
        hasBoth = hasBoth || count > place.second;
    }
    EXPECT_TRUE(hasBoth);
    // Longer ones do both at a time: all connections of a rank share its thread.
    for (const auto& [place, count] : find(8, TransportRules()))
    {
        EXPECT_EQ(count, place.second) << place.first;
    }
    // So do short ones whose NICs read of GPUs behind CPUs, of which the one may be the limit.
    TransportRules far;
    far.gdrLevel = PathType::SYS;
    for (const auto& [place, count] : find(4, far))
    {
        EXPECT_EQ(count, place.second) << place.first;
    }
}

TEST(NetworkShares, TheThreadOfARankCopiesAllThatGoesThroughItsSockets)
{
    constexpr double SENT = 89e9 / 8;
    constexpr double RECEIVED = 42e9 / 8;
    TransportRules rules;
    rules.sockets = SocketRules();
    // One of the two servers only receives, which is what holds up.
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::SWITCHES, rules, false, 1), RECEIVED);
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::SWITCHES, rules, false, 2), RECEIVED / 2);
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 2), 1 / (2 / SENT + 2 / RECEIVED));
}

TEST(NetworkShares, ThreadsOfAConnectionCopyForItAlone)
{
    TransportRules rules;
    rules.sockets = SocketRules{2, 8, 0};
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 2), 2 * 42e9 / 8);
    rules.sockets->flowBytesPerSecond = 0.5e9;
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 2), 16 * 0.5e9);
    rules.sockets->threads = 0; // the proxy's socket is the only one
    EXPECT_DOUBLE_EQ(GetNetworkLimit(Between::CPU, rules, true, 1), 0.5e9);
}
