/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-program.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// GPUs on one switch.
Cluster
MakeStar(uint32_t gpus)
{
    Cluster cluster("star");
    for (uint32_t i = 0; i < gpus; ++i)
    {
        Vertex gpu;
        gpu.name = "gpu" + std::to_string(i);
        gpu.server = 0;
        gpu.index = i;
        gpu.model = "A100-SXM4-80GB";
        cluster.AddVertex(gpu);
    }
    Vertex hub;
    hub.name = "hub";
    hub.kind = VertexKind::NVSWITCH;
    hub.server = 0;
    const VertexId center = cluster.AddVertex(hub);
    for (uint32_t i = 0; i < gpus; ++i)
    {
        Link link;
        link.a = i;
        link.b = center;
        link.bytesPerSecond = 300e9;
        cluster.AddLink(link);
    }
    return cluster;
}

} // namespace

TEST(Collective, DefaultAlgorithmsComputeTheirCollective)
{
    const Cluster cluster = MakeStar(64);
    const Paths paths(cluster);
    for (uint32_t n : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64})
    {
        for (Collective collective : GroupCollectives())
        {
            // Sizes: less than a byte per rank, one that nothing divides, several loops.
            for (uint64_t bytes : {uint64_t{1}, uint64_t{100003}, uint64_t{n} * 10000})
            {
                CollectiveRequest request;
                request.collective = collective;
                request.bytes = bytes;
                request.chunkBytes = 1000;
                request.channels = 1 + n % 3;
                request.root = HasRoot(collective) ? n / 2 : 0;
                request.vertices = FirstGpus(cluster, n);
                const auto program = MakeProgram(cluster, paths, request);
                EXPECT_EQ(CheckProgram(program, request), "")
                    << ToString(collective) << " of " << bytes << " bytes over " << n;
            }
        }
    }
}

TEST(Collective, SendReceiveComputesItsCollective)
{
    const Cluster cluster = MakeStar(2);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.collective = Collective::SEND_RECV;
    request.bytes = 12345;
    request.chunkBytes = 1000;
    request.vertices = FirstGpus(cluster, 2);
    for (uint32_t channels : {0, 1, 3})
    {
        request.channels = channels;
        const auto program = MakeProgram(cluster, paths, request);
        EXPECT_EQ(CheckProgram(program, request), "");
        EXPECT_EQ(SentBytes(program.ranks[0]), 12345u);
        EXPECT_EQ(SentBytes(program.ranks[1]), 0u);
    }
}

TEST(Collective, RanksSendTheBytesOfTheFormula)
{
    const Cluster cluster = MakeStar(8);
    const Paths paths(cluster);
    for (uint32_t n : {2, 3, 4, 8})
    {
        CollectiveRequest request;
        request.bytes = uint64_t{n} * 1000000;
        request.vertices = FirstGpus(cluster, n);
        const auto sent = [&](Collective collective) {
            request.collective = collective;
            const auto program = MakeProgram(cluster, paths, request);
            std::set<uint64_t> bytes;
            for (const auto& rank : program.ranks)
            {
                bytes.insert(SentBytes(rank));
            }
            return bytes;
        };
        EXPECT_EQ(sent(Collective::ALL_REDUCE), std::set<uint64_t>{2 * (n - 1) * 1000000});
        EXPECT_EQ(sent(Collective::ALL_GATHER), std::set<uint64_t>{(n - 1) * 1000000});
        EXPECT_EQ(sent(Collective::REDUCE_SCATTER), std::set<uint64_t>{(n - 1) * 1000000});
        EXPECT_EQ(sent(Collective::BROADCAST), (std::set<uint64_t>{0, request.bytes}));
        EXPECT_EQ(sent(Collective::REDUCE), (std::set<uint64_t>{0, request.bytes}));
        EXPECT_EQ(sent(Collective::GATHER), (std::set<uint64_t>{0, 1000000}));
        EXPECT_EQ(sent(Collective::SCATTER), (std::set<uint64_t>{0, (n - 1) * uint64_t{1000000}}));
        EXPECT_EQ(sent(Collective::ALL_TO_ALL), std::set<uint64_t>{(n - 1) * 1000000});
    }
}

TEST(Collective, CheckFindsWhatIsWrong)
{
    const Cluster cluster = MakeStar(4);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.bytes = 4000;
    request.channels = 1;
    request.vertices = FirstGpus(cluster, 4);
    const auto good = MakeProgram(cluster, paths, request);
    ASSERT_EQ(CheckProgram(good, request), "");

    auto bad = good;
    bad.ranks[1].blocks[0].steps.pop_back();
    EXPECT_NE(CheckProgram(bad, request).find("unread"), std::string::npos);

    CollectiveRequest broadcast = request;
    broadcast.collective = Collective::BROADCAST;
    bad = MakeProgram(cluster, paths, broadcast);
    bad.ranks[0].blocks[0].steps.pop_back();
    EXPECT_NE(CheckProgram(bad, broadcast).find("waits for ever"), std::string::npos);

    bad = good;
    for (auto& step : bad.ranks[0].blocks[0].steps)
    {
        if (step.kind == StepKind::RECV_COPY_SEND)
        {
            step.kind = StepKind::RECV_REDUCE_COPY_SEND;
        }
    }
    EXPECT_NE(CheckProgram(bad, request).find("twice"), std::string::npos);

    bad = good;
    bad.ranks[3].blocks[0].sendPeer = 1;
    EXPECT_NE(CheckProgram(bad, request).find("senders"), std::string::npos);

    bad = good;
    for (auto& rank : bad.ranks)
    {
        for (auto& step : rank.blocks[0].steps)
        {
            step.kind =
                step.kind == StepKind::RECV_REDUCE_COPY_SEND ? StepKind::RECV_COPY_SEND : step.kind;
        }
    }
    EXPECT_NE(CheckProgram(bad, request).find("wrong contributions"), std::string::npos);
}

TEST(Collective, RequestsThatMakeNoSenseAreRefused)
{
    const Cluster cluster = MakeStar(4);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.vertices = FirstGpus(cluster, 4);
    EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument); // no bytes
    request.bytes = 8;
    request.root = 4;
    EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument);
    request.root = 0;
    request.collective = Collective::SEND_RECV;
    EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument); // four ranks
    request.vertices.clear();
    EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument);
}

TEST(Collective, AGroupOfOneHasNothingToDo)
{
    const Cluster cluster = MakeStar(2);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.bytes = 8;
    request.vertices = FirstGpus(cluster, 1);
    const auto program = MakeProgram(cluster, paths, request);
    EXPECT_TRUE(program.ranks.at(0).blocks.empty());
    EXPECT_EQ(CheckProgram(program, request), "");
}

TEST(RingOrder, ChannelsOfTheCubeMeshShareNoLane)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    const Paths paths(cluster);
    const auto& all = cluster.GetGpus();
    // NCCL's search finds as many rings: 6 over the eight GPUs, 4 over a quad.
    for (const auto& [n, rings] : std::vector<std::pair<uint32_t, uint32_t>>{{8, 6}, {4, 4}})
    {
        const std::vector<VertexId> gpus(all.begin(), all.begin() + n);
        EXPECT_EQ(MakeRingOrders(cluster, paths, gpus).size(), 2 * rings);
        const auto orders = MakeRingOrders(cluster, paths, gpus, rings);
        ASSERT_EQ(orders.size(), rings);
        std::map<std::pair<VertexId, VertexId>, double> used;
        for (const auto& order : orders)
        {
            ASSERT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), n);
            for (uint32_t i = 0; i < n; ++i)
            {
                used[{gpus[order[i]], gpus[order[(i + 1) % n]]}] += 25e9;
            }
        }
        for (const auto& [ends, rate] : used)
        {
            const auto links = paths.Walk(ends.first, ends.second, [](auto, auto) { return 0; });
            ASSERT_EQ(links.size(), 1u);
            const Link& link = cluster.GetLinks()[links[0]];
            EXPECT_EQ(link.technology, LinkTechnology::NVLINK);
            EXPECT_LE(rate, link.bytesPerSecond);
        }
    }
}

TEST(RingOrder, TakesAnyGpusOfTheCubeMesh)
{
    // Every subset of a DGX-1 gets a ring over its members, with NVLinks or without.
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    const Paths paths(cluster);
    for (uint32_t subset = 1; subset < 256; ++subset)
    {
        std::vector<VertexId> gpus;
        for (uint32_t i = 0; i < 8; ++i)
        {
            if (subset >> i & 1)
            {
                gpus.push_back(cluster.GetGpus()[i]);
            }
        }
        const auto orders = MakeRingOrders(cluster, paths, gpus);
        ASSERT_GE(orders.size(), 2u);
        for (const auto& order : orders)
        {
            EXPECT_EQ(order.size(), gpus.size());
            EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), gpus.size());
        }
    }
}

TEST(RingOrder, CrossesServersOnOneRail)
{
    for (const auto& [preset, nics] :
         std::vector<std::pair<const char*, uint32_t>>{{"dgx-a100", 8}, {"dgx1-v100", 4}})
    {
        const Cluster cluster = MakeCluster(preset, 4);
        const Paths paths(cluster);
        const auto& gpus = cluster.GetGpus();
        const auto orders = MakeRingOrders(cluster, paths, gpus);
        ASSERT_EQ(orders.size(), nics);
        std::map<VertexId, uint32_t> out;
        std::map<VertexId, uint32_t> in;
        for (uint32_t channel = 0; channel < nics; ++channel)
        {
            const auto& order = orders[channel];
            ASSERT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 32u);
            uint32_t crossings = 0;
            for (uint32_t i = 0; i < 32; ++i)
            {
                const uint32_t a = order[i];
                const uint32_t b = order[(i + 1) % 32];
                if (a / 8 != b / 8)
                {
                    ++crossings;
                    EXPECT_EQ(a % 8, b % 8) << preset << ", channel " << channel;
                    ++out[cluster.GetNic(gpus[a])];
                    ++in[cluster.GetNic(gpus[b])];
                }
            }
            EXPECT_EQ(crossings, 4u);
        }
        EXPECT_EQ(out.size(), 4 * nics) << "every NIC carries one channel outwards";
        EXPECT_EQ(in.size(), 4 * nics) << "and one inwards";
    }
}

// Four NICs next to GPUs 0, 2, 4 and 6 (NVIDIA/nccl, issue 1357): a ring comes in by one of these,
// and the last GPU, which has no NIC at its switch, sends by way of the first (PXN).
TEST(RingOrder, ComesInNextToANicAndLeavesByIt)
{
    const Cluster cluster = MakeTextCluster("dgx-h100:nic=4x400G", 3, FabricOptions());
    const Paths paths(cluster);
    const NicTable nics(cluster);
    const auto& gpus = cluster.GetGpus();
    const auto orders = MakeRingOrders(cluster, paths, gpus);
    ASSERT_EQ(orders.size(), 4u);
    std::set<VertexId> used;
    for (uint32_t channel = 0; channel < orders.size(); ++channel)
    {
        for (uint32_t i = 0; i < gpus.size(); ++i)
        {
            const VertexId from = gpus[orders[channel][i]];
            const VertexId to = gpus[orders[channel][(i + 1) % gpus.size()]];
            if (cluster.GetDomain(from) != cluster.GetDomain(to))
            {
                const VertexId out = nics.Get(from, channel);
                const VertexId in = nics.Get(to, channel);
                EXPECT_EQ(cluster.GetVertices()[out].index, cluster.GetVertices()[in].index);
                EXPECT_EQ(nics.FindRelay(to, in), Cluster::NO_VERTEX);
                EXPECT_NE(nics.FindRelay(from, out), Cluster::NO_VERTEX);
                used.insert(out);
            }
        }
    }
    EXPECT_EQ(used.size(), 12u);
}

TEST(Extent, CutsWithTheRemainderFirst)
{
    // Proteus B1: 10 in 3 gives [0,4) [4,7) [7,10).
    const Extent whole{0, 10};
    EXPECT_EQ(CutExtent(whole, 3, 0).offset, 0u);
    EXPECT_EQ(CutExtent(whole, 3, 0).bytes, 4u);
    EXPECT_EQ(CutExtent(whole, 3, 1).offset, 4u);
    EXPECT_EQ(CutExtent(whole, 3, 1).bytes, 3u);
    EXPECT_EQ(CutExtent(whole, 3, 2).offset, 7u);
    EXPECT_EQ(CutExtent(whole, 3, 2).bytes, 3u);
}
