/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include "ns3/proteus-read-requests.h"
#include "ns3/proteus-server-hosts.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr double GB = 1e9;
constexpr uint64_t MB = 1000000;
/// Behind the GPUs, which are ranks 0 to 3.
constexpr uint32_t FIRST_MEMORY = 4;
constexpr uint32_t SECOND_MEMORY = 5;

/// @param loss of units on the way from the first memory to its NIC
/// @return two servers of two sockets with a GPU each, and a NIC at the first: fast inside, and
/// slow between sockets and servers. The memory of each is at the first socket.
Cluster
MakeServers(double loss = 0)
{
    Cluster cluster("two servers");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
    const auto link = [&cluster](VertexId a,
                                 VertexId b,
                                 LinkTechnology technology,
                                 double rate,
                                 double lossProbability = 0) {
        Link made{a, b, technology, rate, 250000, DefaultFraming(technology)};
        made.lossProbability = lossProbability;
        cluster.AddLink(made);
    };
    for (int32_t server = 0; server < 2; ++server)
    {
        const std::string name = "n" + std::to_string(server);
        VertexId sockets[2];
        for (int32_t i = 0; i < 2; ++i)
        {
            const std::string number = std::to_string(i);
            sockets[i] = cluster.AddVertex({name + ".cpu" + number, VertexKind::CPU, server});
            const VertexId gpu = cluster.AddVertex(
                {name + ".gpu" + number, VertexKind::GPU, server, 0, "V100-SXM2-32GB"});
            link(gpu, sockets[i], LinkTechnology::PCIE, 16 * GB);
        }
        link(sockets[0], sockets[1], LinkTechnology::CPU_INTERCONNECT, 2 * GB);
        const VertexId nic = cluster.AddVertex({name + ".nic", VertexKind::NIC, server});
        link(nic, sockets[0], LinkTechnology::PCIE, 16 * GB, server == 0 ? loss : 0);
        link(nic, hub, LinkTechnology::INFINIBAND, 1 * GB);
    }
    AddHostMemories(cluster, {0, 1});
    return cluster;
}

/// @param cluster a cluster of MakeServers() @return how messages between its memories go
QueuePairOptions
ThroughNics(const Cluster& cluster)
{
    QueuePairOptions options;
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        if (cluster.GetVertices()[id].kind == VertexKind::NIC)
        {
            options.waypoints.push_back(id);
        }
    }
    return options;
}

/// @param pushes messages that wait for the network meanwhile @param far a copy to the other socket
/// goes on meanwhile @return what a copy from the memory to the first GPU takes, seconds
double
TimeCopy(uint32_t pushes, bool far)
{
    const Cluster cluster = MakeServers();
    TransportRig rig(cluster);
    for (uint32_t i = 0; i < pushes; ++i)
    {
        QueuePairOptions options = ThroughNics(cluster);
        options.flow = i + 1;
        rig.Send(rig.Connect(FIRST_MEMORY, SECOND_MEMORY, options), 4 * MB);
    }
    if (far)
    {
        rig.Send(rig.Connect(FIRST_MEMORY, 1), 8 * MB);
    }
    const uint32_t copy = rig.Connect(FIRST_MEMORY, 0);
    rig.Send(copy, 16 * MB);
    rig.Run();
    return rig.GetReceived(copy);
}

/// @param servers how many @return servers of two sockets with a GPU each; the first one and a NIC
/// that does not reach GPUs are below a switch
Cluster
MakeStagingServers(int32_t servers)
{
    Cluster cluster("staging servers");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
    const auto link = [&cluster](VertexId a, VertexId b, LinkTechnology technology, double rate) {
        cluster.AddLink({a, b, technology, rate, 250000, DefaultFraming(technology)});
    };
    for (int32_t server = 0; server < servers; ++server)
    {
        const std::string name = "n" + std::to_string(server);
        const auto add = [&](const std::string& what, VertexKind kind) {
            const std::string model = kind == VertexKind::GPU ? "V100-SXM2-32GB" : "";
            Vertex vertex{name + what, kind, server, 0, model};
            vertex.gpuDirectRdma = kind != VertexKind::NIC;
            return cluster.AddVertex(vertex);
        };
        const VertexId near = add(".cpu0", VertexKind::CPU);
        const VertexId far = add(".cpu1", VertexKind::CPU);
        const VertexId pcie = add(".pcie0", VertexKind::PCIE_SWITCH);
        const VertexId nic = add(".nic", VertexKind::NIC);
        link(near, far, LinkTechnology::CPU_INTERCONNECT, 8 * GB);
        link(pcie, near, LinkTechnology::PCIE, 16 * GB);
        link(add(".gpu0", VertexKind::GPU), pcie, LinkTechnology::PCIE, 16 * GB);
        link(add(".gpu1", VertexKind::GPU), far, LinkTechnology::PCIE, 16 * GB);
        link(nic, pcie, LinkTechnology::PCIE, 16 * GB);
        link(nic, hub, LinkTechnology::INFINIBAND, 1 * GB);
    }
    return cluster;
}

/// @param cluster a cluster of MakeStagingServers() @param from a rank @param to another one
/// @return how a message goes: by memory and NIC of both servers, if there are two
QueuePairOptions
ThroughMemory(const Cluster& cluster, uint32_t from, uint32_t to)
{
    QueuePairOptions options;
    const auto add = [&](uint32_t rank, const std::string& what) {
        options.waypoints.push_back(cluster.FindVertex("n" + std::to_string(rank / 2) + what));
    };
    if (from / 2 != to / 2)
    {
        add(from, ".cpu0");
        add(from, ".nic");
        add(to, ".nic");
        add(to, ".cpu0");
    }
    return options;
}

/// @param servers how many @param technology of the network
/// @return servers of two GPUs that NVLink joins, with a NIC below the switch of the first one
Cluster
MakeRelayServers(int32_t servers, LinkTechnology technology)
{
    Cluster cluster("servers with one NIC");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
    const auto link = [&cluster](VertexId a, VertexId b, LinkTechnology of, double rate) {
        cluster.AddLink({a, b, of, rate, 250000, DefaultFraming(of)});
    };
    for (int32_t server = 0; server < servers; ++server)
    {
        const std::string name = "n" + std::to_string(server);
        const auto add = [&](const std::string& what, VertexKind kind) {
            const std::string model = kind == VertexKind::GPU ? "V100-SXM2-32GB" : "";
            return cluster.AddVertex({name + what, kind, server, 0, model});
        };
        const VertexId pcie = add(".pcie", VertexKind::PCIE_SWITCH);
        const VertexId nic = add(".nic", VertexKind::NIC);
        const VertexId near = add(".gpu0", VertexKind::GPU);
        link(near, add(".gpu1", VertexKind::GPU), LinkTechnology::NVLINK, 50 * GB);
        link(near, pcie, LinkTechnology::PCIE, 16 * GB);
        link(nic, pcie, LinkTechnology::PCIE, 16 * GB);
        link(nic, hub, technology, 1 * GB);
    }
    return cluster;
}

/// @param cluster of MakeRelayServers() @param from a rank @param to a rank of another server
/// @return how a message goes: by the GPU next to the NIC, if that is another one
QueuePairOptions
ThroughRelay(const Cluster& cluster, uint32_t from, uint32_t to)
{
    QueuePairOptions options;
    const auto add = [&](uint32_t rank, const std::string& what) {
        options.waypoints.push_back(cluster.FindVertex("n" + std::to_string(rank / 2) + what));
    };
    if (from % 2 == 1)
    {
        add(from, ".gpu0");
    }
    add(from, ".nic");
    add(to, ".nic");
    return options;
}

} // namespace

TEST(ReadRequests, WhatWaitsInAnotherGpuForTheNetworkHoldsUpNoCopy)
{
    const Cluster cluster = MakeRelayServers(2, LinkTechnology::INFINIBAND);
    const auto timeCopy = [&cluster](uint32_t pushes) {
        TransportRig rig(cluster);
        for (uint32_t i = 0; i < pushes; ++i)
        {
            QueuePairOptions options = ThroughRelay(cluster, 1, 2);
            options.flow = i + 1;
            rig.Send(rig.Connect(1, 2, options), MB);
        }
        const uint32_t copy = rig.Connect(1, 0);
        rig.Send(copy, 64 * MB);
        rig.Run();
        return rig.GetReceived(copy);
    };
    const double aloneS = timeCopy(0);
    for (const uint32_t pushes : {1U, 8U})
    {
        EXPECT_NEAR(timeCopy(pushes) - aloneS, pushes * MB / (50 * GB), 0.01 * aloneS) << pushes;
    }
}

TEST(ReadRequests, NicsPaceWhatTheyReadInAnotherGpu)
{
    // Four servers send to a fifth: by the GPU next to the NIC, or from that.
    const Cluster cluster = MakeRelayServers(5, LinkTechnology::ROCE);
    const auto countMarks = [&cluster](uint32_t sender) {
        TransportRig rig(cluster);
        std::vector<uint32_t> pairs;
        for (uint32_t server = 1; server < 5; ++server)
        {
            const uint32_t from = 2 * server + sender;
            pairs.push_back(rig.Connect(from, 0, ThroughRelay(cluster, from, 0)));
            rig.Send(pairs.back(), 8 * MB);
        }
        rig.Run();
        uint64_t marks = 0;
        for (const uint32_t pair : pairs)
        {
            marks += rig.transport->GetStatistics(pair).markedPackets;
        }
        return marks;
    };
    EXPECT_NEAR(countMarks(1), countMarks(0), 0.1 * countMarks(0));
}

TEST(ReadRequests, WhatWaitsInMemoryForTheNetworkHoldsUpNoCopy)
{
    const Cluster cluster = MakeStagingServers(2);
    const auto timeCopy = [&cluster](uint32_t pushes) {
        TransportRig rig(cluster);
        for (uint32_t i = 0; i < pushes; ++i)
        {
            QueuePairOptions options = ThroughMemory(cluster, 0, 2);
            options.flow = i + 1;
            rig.Send(rig.Connect(0, 2, options), 4 * MB);
        }
        const uint32_t copy = rig.Connect(1, 0); // by the switch that the NIC is below
        rig.Send(copy, 16 * MB);
        rig.Run();
        return rig.GetReceived(copy);
    };
    for (const uint32_t pushes : {1U, 8U})
    {
        EXPECT_NEAR(timeCopy(pushes), timeCopy(0), 0.02 * timeCopy(0)) << pushes;
    }
}

TEST(ReadRequests, TrafficThroughMemoryInBothDirectionsEnds)
{
    constexpr uint32_t SERVERS = 3;
    const Cluster cluster = MakeStagingServers(SERVERS);
    std::mt19937 random(1);
    for (uint32_t round = 0; round < 20; ++round)
    {
        TransportRig rig(cluster);
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < 40; ++i)
        {
            const uint32_t from = random() % (2 * SERVERS);
            const uint32_t to = (from + 1 + random() % (2 * SERVERS - 1)) % (2 * SERVERS);
            QueuePairOptions options = ThroughMemory(cluster, from, to);
            options.flow = i + 1;
            const uint64_t size = 1 + random() % MB;
            rig.Send(rig.Connect(from, to, options), size);
            bytes += size;
        }
        rig.Run(); // expects that every message has come, once
        uint64_t received = 0;
        for (const auto& [pair, messages] : rig.sent)
        {
            received += rig.transport->GetStatistics(pair).receivedBytes;
        }
        EXPECT_EQ(received, bytes);
    }
}

TEST(ReadRequests, WhatWaitsForTheNetworkHoldsUpNoCopy)
{
    const double aloneS = TimeCopy(0, false);
    for (const uint32_t pushes : {1U, 4U, 16U})
    {
        EXPECT_NEAR(TimeCopy(pushes, false), aloneS, 0.01 * aloneS) << pushes;
    }
}

TEST(ReadRequests, WhatWaitsForTheOtherSocketHoldsUpNoCopy)
{
    const double aloneS = TimeCopy(0, false);
    EXPECT_NEAR(TimeCopy(0, true), aloneS, 0.01 * aloneS);
    EXPECT_NEAR(TimeCopy(4, true), aloneS, 0.01 * aloneS);
}

TEST(ReadRequests, WhatWaitsForTheNetworkHoldsUpNoOtherGpu)
{
    const Cluster cluster = MakeServers();
    const auto timeCopy = [&cluster](bool pushes) {
        TransportRig rig(cluster);
        if (pushes)
        {
            rig.Send(rig.Connect(0, 2, ThroughNics(cluster)), 4 * MB);
        }
        const uint32_t copy = rig.Connect(0, 1); // over the other socket
        rig.Send(copy, 4 * MB);
        rig.Run();
        return rig.GetReceived(copy);
    };
    EXPECT_NEAR(timeCopy(true), timeCopy(false), 0.01 * timeCopy(false));
}

TEST(ReadRequests, MessagesShareWhatTheirNicSends)
{
    const Cluster cluster = MakeServers();
    TransportRig rig(cluster);
    std::vector<uint32_t> pairs;
    for (uint32_t i = 0; i < 8; ++i)
    {
        QueuePairOptions options = ThroughNics(cluster);
        options.flow = i + 1;
        pairs.push_back(rig.Connect(FIRST_MEMORY, SECOND_MEMORY, options));
        rig.Send(pairs.back(), 2 * MB);
    }
    rig.Run();
    const double allS = 16.0 * MB / GB;
    for (const uint32_t pair : pairs)
    {
        EXPECT_NEAR(rig.GetReceived(pair), allS, 0.03 * allS); // headers are 1.5 %
    }
}

TEST(ReadRequests, WhatIsLostOnTheWayToTheNicGivesItsRoomBack)
{
    const Cluster cluster = MakeServers(0.02);
    TransportRig rig(cluster);
    const uint32_t pair = rig.Connect(FIRST_MEMORY, SECOND_MEMORY, ThroughNics(cluster));
    rig.Send(pair, 16 * MB); // of 3,900 units some 80 are lost; the NIC has room for 30
    rig.Run();
    uint64_t lost = 0;
    for (const LinkStatistics& link : rig.fabric->GetLinkStatistics())
    {
        lost += link.lostPackets;
    }
    EXPECT_GT(lost, 40U);
}

TEST(ReadRequests, AFailedLinkGivesRoomBack)
{
    const Cluster cluster = MakeServers();
    for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
    {
        TransportRig rig(cluster);
        const uint32_t push = rig.Connect(FIRST_MEMORY, SECOND_MEMORY, ThroughNics(cluster));
        const uint32_t copy = rig.Connect(FIRST_MEMORY, 0);
        rig.Send(push, 4 * MB);
        rig.Send(copy, 4 * MB);
        Simulator::Schedule(MicroSeconds(50), &Fabric::SetLinkUp, rig.fabric, link, false);
        Simulator::Schedule(MicroSeconds(900), &Fabric::SetLinkUp, rig.fabric, link, true);
        rig.Run();
    }
}

TEST(ReadRequests, CountsByReaderAndTime)
{
    ReadRequests reads;
    reads.Add(3, 7, 1, 2);
    reads.Add(5, 7, 1, 2);
    reads.Add(4, 8, 1, 1);
    reads.Add(6, 7, 2, 1);
    ASSERT_TRUE(reads.HasRoom(3, 0));
    reads.Ask(3);
    ASSERT_TRUE(reads.HasRoom(5, 0));
    reads.Ask(5);
    EXPECT_FALSE(reads.HasRoom(3, 0));
    EXPECT_TRUE(reads.HasRoom(4, 0)) << "of another device";
    EXPECT_TRUE(reads.HasRoom(6, 0)) << "of another class";
    reads.Wait(3, {30, false});
    reads.Wait(5, {50, true});
    EXPECT_FALSE(reads.IsAtRest());
    reads.Return(5, 100);
    const ReadRequests::Turn first = reads.TakeWaiting(5);
    EXPECT_EQ(first.number, 30U) << "in the order in which they came";
    EXPECT_FALSE(first.isStaged);
    const ReadRequests::Turn second = reads.TakeWaiting(3);
    EXPECT_EQ(second.number, 50U);
    EXPECT_TRUE(second.isStaged);
    EXPECT_TRUE(reads.TakeWaiting(3).IsNobodys());
    EXPECT_FALSE(reads.HasRoom(3, 99));
    EXPECT_TRUE(reads.HasRoom(3, 100));
    EXPECT_FALSE(reads.IsAtRest());
    reads.Return(3, 200);
    EXPECT_TRUE(reads.IsAtRest());
}
