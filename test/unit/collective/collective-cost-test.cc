/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-protocol.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace ns3::proteus;

namespace
{

/// @param capability of the GPU @param protocol of the program @param share of the block
/// @return picoseconds per byte of a block between GPUs of a server
double
GetPsPerByte(uint32_t capability, Protocol protocol, BlockShare share)
{
    return GetBlockCost(GetCollectiveKernelCost(capability),
                        protocol,
                        share,
                        false,
                        BlockHop{HopKind::NVLINK},
                        BlockHop{HopKind::NVLINK})
        .psPerByte;
}

} // namespace

TEST(CollectiveCost, BlocksShareWhatTheGpuMoves)
{
    const CollectiveKernelCost& cost = GetCollectiveKernelCost(80);
    const double gpu = cost.gpuBytesPerSecond[static_cast<std::size_t>(NcclProtocol::SIMPLE)];
    const double block = cost.Get(HopKind::NVLINK, NcclProtocol::SIMPLE).blockBytesPerSecond;
    ASSERT_GT(gpu, block);
    EXPECT_DOUBLE_EQ(GetPsPerByte(80, Protocol::SIMPLE, {1, 1}), 1e12 / block);
    EXPECT_DOUBLE_EQ(GetPsPerByte(80, Protocol::SIMPLE, {1, 1000}), 1e12 / gpu * 1000);
    EXPECT_DOUBLE_EQ(GetPsPerByte(80, Protocol::SIMPLE, {0.5, 1}), 2e12 / block);
    // Where no limit of the GPU is known, blocks do not disturb each other.
    EXPECT_DOUBLE_EQ(GetPsPerByte(70, Protocol::SIMPLE, {1, 1000}),
                     GetPsPerByte(70, Protocol::SIMPLE, {1, 1}));
}

TEST(CollectiveCost, SendsAndReceivesOfMessagesShareWarps)
{
    const CollectiveKernelCost& cost = GetCollectiveKernelCost(100);
    EXPECT_DOUBLE_EQ(GetPsPerByte(100, Protocol::SIMPLE, {1, 1, true}),
                     1e12 / cost.messageBytesPerSecond);
    EXPECT_LT(GetPsPerByte(100, Protocol::SIMPLE, {1, 1, false}),
              GetPsPerByte(100, Protocol::SIMPLE, {1, 1, true}));
    EXPECT_DOUBLE_EQ(GetPsPerByte(100, Protocol::LL, {1, 1, true}),
                     GetPsPerByte(100, Protocol::LL, {1, 1, false}));
}

TEST(CollectiveCost, TreesGoThroughNvlinksFasterThanRings)
{
    const BlockShare ring{1, 1};
    const BlockShare tree{1, 1, false, true};
    for (const uint32_t capability : {70, 80, 90, 100})
    {
        const CollectiveKernelCost& costs = GetCollectiveKernelCost(capability);
        const auto get = [&](Protocol protocol, HopKind hop, BlockShare share) {
            return GetBlockCost(costs, protocol, share, false, BlockHop{hop}, BlockHop{hop})
                .latencyPs;
        };
        // LL128 alone, and NVLink alone, has two numbers; a chunk of Simple has one slice in trees.
        for (const HopKind hop : {HopKind::NVLINK, HopKind::PCIE, HopKind::NETWORK})
        {
            for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
            {
                const int64_t ringPs = get(protocol, hop, ring);
                const int64_t treePs = get(protocol, hop, tree);
                EXPECT_EQ(ringPs, costs.Get(hop, ToNcclProtocol(protocol)).latencyPs);
                if (protocol == Protocol::LL128 && hop == HopKind::NVLINK)
                {
                    EXPECT_LT(treePs, ringPs) << capability;
                }
                else if (protocol == Protocol::SIMPLE && hop == HopKind::NVLINK)
                {
                    EXPECT_EQ(treePs, std::min<int64_t>(ringPs, 3000000)) << capability;
                }
                else
                {
                    EXPECT_EQ(treePs, ringPs) << capability;
                }
            }
        }
    }
    // The shares of a program say which it is.
    for (const auto& [name, isTree] : {std::pair("ring", false), {"tree", true}, {"nvls", false}})
    {
        CollectiveProgram program;
        program.algorithm = name;
        program.ranks.resize(1);
        program.ranks[0].blocks.emplace_back();
        program.ranks[0].blocks[0].processor = 0;
        EXPECT_EQ(BlockShares(program).Get(0, program.ranks[0].blocks[0]).isTree, isTree) << name;
    }
}

TEST(CollectiveCost, MessagesShareWarpsWhereThereAreBothWays)
{
    // A block that sends and one that receives, of one thread block or of two. One chunk has been
    // sent when one has come: they take turns.
    for (const auto& [second, chunks] :
         {std::pair<uint16_t, uint32_t>(0, 2), {1, 2}, {0, 1}, {1, 1}})
    {
        CollectiveProgram program;
        program.algorithm = "direct";
        program.sharesWarps = true;
        program.ranks.resize(1);
        auto& blocks = program.ranks[0].blocks;
        blocks.resize(2);
        blocks[0].processor = 0;
        blocks[0].sendPeer = 1;
        blocks[1].processor = second;
        blocks[1].receivePeer = 1;
        blocks[0].steps.assign(chunks, {StepKind::SEND, 0, 4096});
        blocks[1].steps.assign(chunks, {StepKind::RECV, 0, 4096});
        const BlockShares shares(program);
        EXPECT_EQ(shares.Get(0, blocks[0]).isMessage, second == 0 && chunks > 1);
        EXPECT_EQ(shares.Get(0, blocks[1]).isMessage, second == 0 && chunks > 1);
        program.sharesWarps = false; // a message of two ranks, beside others
        EXPECT_TRUE(BlockShares(program).Get(0, blocks[0]).isMessage);
    }
}

TEST(CollectiveCost, DirectStoresSpareTheLastCopy)
{
    BlockCost cost;
    cost.latencyPs = 1000;
    cost.busyPs = 200;
    cost.psPerByte = 50;
    const Step take{StepKind::RECV, 0, 100};
    const Step pass{StepKind::RECV_COPY_SEND, 0, 100};
    EXPECT_EQ(cost.GetOccupancyPs(take), 200 + 100 * 50);
    cost.isDirect = true;
    EXPECT_EQ(cost.GetOccupancyPs(take), 200);
    EXPECT_EQ(cost.GetOccupancyPs(pass), 200 + 100 * 50);
}

TEST(CollectiveCost, BlocksAreOccupiedUntilHostMemoryIsWrittenOrRead)
{
    const BlockShare share{1, 2};
    const auto get = [&](Protocol protocol) {
        return GetBlockCost(GetCollectiveKernelCost(70),
                            protocol,
                            share,
                            false,
                            BlockHop{HopKind::PCIE, 10e9},
                            BlockHop{HopKind::PCIE, 8e9});
    };
    // Two blocks share the link.
    const BlockCost simple = get(Protocol::SIMPLE);
    EXPECT_DOUBLE_EQ(simple.receivePsPerByte, 200);
    EXPECT_DOUBLE_EQ(simple.sendPsPerByte, 250);
    const auto busyPs = static_cast<double>(simple.busyPs);
    EXPECT_DOUBLE_EQ(simple.GetOccupancyPs({StepKind::RECV, 0, 1000}), busyPs + 200000);
    EXPECT_DOUBLE_EQ(simple.GetOccupancyPs({StepKind::SEND, 0, 1000}), busyPs + 250000);
    // Both directions at once.
    EXPECT_DOUBLE_EQ(simple.GetOccupancyPs({StepKind::RECV_COPY_SEND, 0, 1000}), busyPs + 250000);
    EXPECT_DOUBLE_EQ(simple.GetOccupancyPs({StepKind::COPY, 0, 1000}),
                     busyPs + 1000 * simple.psPerByte);
    // A flag for every four bytes.
    EXPECT_DOUBLE_EQ(get(Protocol::LL).receivePsPerByte, 400);
    // What is written takes from what is read.
    const BlockCost exchange = GetBlockCost(GetCollectiveKernelCost(70),
                                            Protocol::SIMPLE,
                                            share,
                                            false,
                                            BlockHop{HopKind::PCIE, 10e9, 0, 5e9},
                                            BlockHop{HopKind::PCIE, 8e9, 0, 8e9});
    EXPECT_DOUBLE_EQ(exchange.GetOccupancyPs({StepKind::RECV, 0, 1000}), busyPs + 200000);
    EXPECT_DOUBLE_EQ(exchange.GetOccupancyPs({StepKind::SEND, 0, 1000}), busyPs + 250000);
    EXPECT_DOUBLE_EQ(exchange.GetOccupancyPs({StepKind::RECV_COPY_SEND, 0, 1000}), busyPs + 400000);
    // One of the blocks has NVLink for what it moves; no more than all of them use the link.
    for (const auto& [blocks, psPerByte] : {std::pair(1u, 125), std::pair(7u, 250)})
    {
        EXPECT_DOUBLE_EQ(GetBlockCost(GetCollectiveKernelCost(70),
                                      Protocol::SIMPLE,
                                      share,
                                      false,
                                      {},
                                      BlockHop{HopKind::PCIE, 8e9, blocks})
                             .sendPsPerByte,
                         psPerByte);
    }
}

TEST(CollectiveCost, LaterProtocolsAreFasterAndStartLater)
{
    for (const uint32_t capability : {70, 75, 80, 86, 90, 100, 120})
    {
        const CollectiveKernelCost& cost = GetCollectiveKernelCost(capability);
        for (const HopKind hop : {HopKind::NVLINK, HopKind::PCIE, HopKind::NETWORK})
        {
            const auto& ll = cost.Get(hop, NcclProtocol::LL);
            const auto& ll128 = cost.Get(hop, NcclProtocol::LL128);
            const auto& simple = cost.Get(hop, NcclProtocol::SIMPLE);
            EXPECT_LT(ll.blockBytesPerSecond, ll128.blockBytesPerSecond) << capability;
            EXPECT_LT(ll128.blockBytesPerSecond, simple.blockBytesPerSecond) << capability;
            EXPECT_LE(ll.busyPs, ll128.busyPs) << capability;
            // From Hopper on a chunk of LL128 for a NIC is waited for.
            EXPECT_TRUE(ll128.busyPs <= simple.busyPs ||
                        (capability >= 90 && hop == HopKind::NETWORK))
                << capability;
        }
        EXPECT_LT(cost.GetKernelPs(NcclProtocol::LL), cost.GetKernelPs(NcclProtocol::LL128));
        EXPECT_LT(cost.GetKernelPs(NcclProtocol::LL), cost.GetKernelPs(NcclProtocol::SIMPLE));
    }
}

TEST(CollectiveCost, PartsOfAChunkArePostedOnce)
{
    const auto& costs = GetCollectiveKernelCost(90);
    const auto get = [&](Protocol protocol, HopKind hop) {
        return GetBlockCost(costs, protocol, {1, 1}, false, BlockHop{hop}, BlockHop{hop});
    };
    for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
    {
        const NcclProtocol nccl = ToNcclProtocol(protocol);
        const BlockCost inside = get(protocol, HopKind::NVLINK);
        const BlockCost across = get(protocol, HopKind::NETWORK);
        Step step{StepKind::RECV_COPY_SEND, 0, 0};
        EXPECT_EQ(across.GetOccupancyPs(step),
                  costs.Get(HopKind::NETWORK, nccl).busyPs + across.chunkPs);
        step.endsChunk = false;
        EXPECT_EQ(across.GetOccupancyPs(step),
                  protocol == Protocol::SIMPLE ? across.busyPs : inside.busyPs);
        step = {StepKind::RECV, 0, 0}; // nothing is posted
        EXPECT_EQ(across.GetOccupancyPs(step),
                  across.chunkPs + (protocol == Protocol::SIMPLE ? across.busyPs : inside.busyPs));
        EXPECT_EQ(inside.postPs, 0);
    }
}

TEST(CollectiveCost, PartsOfAChunkAreMarked)
{
    // Two servers, chunks of LL128 in parts: as many chunks end as there are, on all ways.
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    for (const char* algorithm : {"ring", "tree"})
    {
        CollectiveRequest request;
        request.algorithm = algorithm;
        request.protocol = Protocol::LL128;
        request.bytes = uint64_t{1} << 20;
        request.channels = 2;
        request.vertices = cluster.GetGpus();
        request.chunkBytes = 9600;
        request.slots = 16;
        request.stepsPerChunk = 2;
        const CollectiveProgram program = MakeProgram(cluster, paths, request);
        for (const RankProgram& rank : program.ranks)
        {
            for (const ThreadBlock& block : rank.blocks)
            {
                uint32_t together = 0;
                for (const Step& step : block.steps)
                {
                    together += Sends(step.kind) || Receives(step.kind) ? 1 : 0;
                    EXPECT_LE(together, 2u) << algorithm;
                    together = step.endsChunk && step.kind != StepKind::WAIT ? 0 : together;
                }
                EXPECT_EQ(together, 0u) << algorithm << ": the last chunk ends";
            }
        }
        EXPECT_EQ(CheckProgram(program, request), "");
    }
}

TEST(CollectiveCost, NetworkOfLlIsThatOfTheHost)
{
    const CollectiveCosts& costs = CollectiveCosts::Get(nullptr);
    const auto getUs = [&costs](uint32_t capability, CpuVendor cpu, NcclProtocol protocol) {
        return costs.GetKernel(capability, cpu).Get(HopKind::NETWORK, protocol).latencyPs / 1e6;
    };
    for (const uint32_t capability : {80u, 86u, 89u})
    {
        EXPECT_EQ(getUs(capability, CpuVendor::AMD, NcclProtocol::LL), 10.4);
        for (const CpuVendor other : {CpuVendor::INTEL, CpuVendor::ARM, CpuVendor::POWER})
        {
            EXPECT_EQ(getUs(capability, other, NcclProtocol::LL),
                      getUs(90, other, NcclProtocol::LL));
        }
        for (const NcclProtocol protocol : {NcclProtocol::LL128, NcclProtocol::SIMPLE})
        {
            EXPECT_EQ(getUs(capability, CpuVendor::AMD, protocol),
                      getUs(capability, CpuVendor::INTEL, protocol));
        }
    }
    EXPECT_EQ(getUs(100, CpuVendor::AMD, NcclProtocol::LL),
              getUs(100, CpuVendor::INTEL, NcclProtocol::LL));
}

TEST(CollectiveCost, LinesOfAChunkFollowEachOther)
{
    // The parts of a chunk take the room of a chunk, however it is cut.
    for (const char* algorithm : {"ring", "tree"})
    {
        for (const Protocol protocol : {Protocol::LL, Protocol::LL128})
        {
            ChunkQuestion question;
            question.algorithm = algorithm;
            question.protocol = protocol;
            question.ranks = 8;
            question.channels = 1;
            question.bytes = uint64_t{1} << 34;
            for (const Collective collective : {Collective::ALL_REDUCE, Collective::BROADCAST})
            {
                question.collective = collective;
                const ChunkPlan plan = PlanChunks(question);
                const uint64_t slot = GetTraits(protocol).SlotBytes();
                EXPECT_LT(plan.stepBytes, slot) << algorithm;
                EXPECT_LE(plan.stepBytes * plan.slots, 8 * slot) << algorithm;
                EXPECT_GT(plan.stepBytes * plan.slots, 7 * slot) << algorithm;
            }
        }
    }
}
