/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What ranks have for themselves of an all-to-all, a gather or a scatter.

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

CollectiveRequest
MakeRequest(const Cluster& cluster, Collective collective, const std::string& algorithm)
{
    CollectiveRequest request;
    request.collective = collective;
    request.algorithm = algorithm;
    request.bytes = 1 << 20;
    request.channels = 2;
    request.networkChannels = 2;
    request.messageProcessors = 32;
    request.root = HasRoot(collective) ? 3 : 0;
    request.vertices = cluster.GetGpus();
    return request;
}

bool
IsOwn(const ThreadBlock& block)
{
    return block.sendPeer == NO_RANK && block.receivePeer == NO_RANK;
}

} // namespace

TEST(OwnPart, IsCopiedOnce)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    for (const char* algorithm : {"direct", "pxn"})
    {
        for (const Collective collective :
             {Collective::ALL_TO_ALL, Collective::GATHER, Collective::SCATTER})
        {
            const CollectiveRequest request = MakeRequest(cluster, collective, algorithm);
            const CollectiveProgram program = MakeProgram(cluster, paths, request);
            EXPECT_EQ(CheckProgram(program, request), "") << algorithm;
            for (uint32_t rank = 0; rank < 16; ++rank)
            {
                uint64_t copied = 0;
                for (const ThreadBlock& block : program.ranks[rank].blocks)
                {
                    for (const Step& step : block.steps)
                    {
                        EXPECT_EQ(step.kind == StepKind::COPY, IsOwn(block));
                        if (step.kind == StepKind::COPY)
                        {
                            EXPECT_EQ(step.Source(), rank * 65536u + copied);
                            EXPECT_EQ(step.offset, program.outputOffset + step.Source());
                            copied += step.bytes;
                        }
                    }
                }
                const bool has = collective == Collective::ALL_TO_ALL || rank == 3;
                EXPECT_EQ(copied, has ? 65536u : 0) << algorithm << rank;
            }
        }
    }
}

TEST(OwnPart, IsWhatTheSplitsSay)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const Paths paths(cluster);
    CollectiveRequest request = MakeRequest(cluster, Collective::ALL_TO_ALL, "direct");
    for (uint64_t i = 0; i < 64; ++i)
    {
        request.splits.push_back(i == 0 ? 0 : 100 * i);
    }
    const CollectiveProgram program = MakeProgram(cluster, paths, request);
    EXPECT_EQ(CheckProgram(program, request), "");
    for (uint32_t rank = 0; rank < 8; ++rank)
    {
        uint64_t copied = 0;
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            copied += IsOwn(block) ? block.steps[0].bytes : 0;
        }
        EXPECT_EQ(copied, request.splits[rank * 9]);
    }
}

// NVIDIA/nccl v2.30.7, src/device/sendrecv.h (20 warps), v2.18.5, src/enqueue.cc, finishWorkP2p(),
// and v2.8.4, saveP2pOp().
TEST(OwnPart, WarpsAreThoseOfTheVersion)
{
    struct Known
    {
        std::vector<uint32_t> exchange; // by number of works: of a send or receive,
        std::vector<uint32_t> oneWay;   // of a send or receive without the other,
        std::vector<uint32_t> own;      // and of what the rank has for itself, beside exchanges
    };

    const std::map<WarpRule, Known> known{
        {WarpRule::WORKS,
         {{9, 4, 2, 2, 2, 1, 1, 1, 1}, {18, 8, 4, 4, 3, 2, 2, 2, 2}, {19, 9, 5, 5, 4, 2, 2, 2, 2}}},
        {WarpRule::HALVES,
         {{8, 4, 2, 2, 1, 1, 1, 1, 1}, {8, 4, 2, 2, 1, 1, 1, 1, 1}, {9, 5, 3, 3, 1, 1, 1, 1, 1}}},
        {WarpRule::SEGMENTS,
         {{8, 4, 2, 2, 1, 1, 1, 1, 1}, {8, 4, 2, 2, 1, 1, 1, 1, 1}, {16, 8, 4, 4, 2, 2, 2, 2, 2}}},
        {WarpRule::BLOCK,
         {{8, 8, 8, 8, 8, 8, 8, 8, 8},
          {8, 8, 8, 8, 8, 8, 8, 8, 8},
          {16, 16, 16, 16, 16, 16, 16, 16, 16}}}};
    for (const auto& [rule, warps] : known)
    {
        for (uint16_t works = 1; works <= warps.own.size(); ++works)
        {
            const auto others = static_cast<uint16_t>(works - 1);
            EXPECT_EQ(CountMessageWarps(rule, {works, works, 0}, false), warps.exchange[works - 1]);
            EXPECT_EQ(CountMessageWarps(rule, {works, 0, 0}, false), warps.oneWay[works - 1]);
            EXPECT_EQ(CountMessageWarps(rule, {others, others, 1}, true), warps.own[works - 1]);
            if (works > 1)
            {
                EXPECT_EQ(CountMessageWarps(rule, {others, others, 1}, false),
                          warps.exchange[works - 1]);
            }
        }
    }
    EXPECT_EQ(CountMessageWarps(WarpRule::HALVES, {0, 1, 0}, false), 16u); // a receive by itself
    EXPECT_EQ(CountMessageWarps(WarpRule::HALVES, {0, 1, 1}, false), 4u);
}

TEST(OwnPart, SharesItsThreadBlockWithMessages)
{
    const CollectiveKernelCost& costs = GetCollectiveKernelCost(90);
    const auto getRate = [&](const BlockShare& share) {
        const BlockCost cost = GetBlockCost(costs, Protocol::SIMPLE, share, false, {}, {});
        return 1e12 / std::max(cost.psPerByte, cost.warpsPsPerByte);
    };
    // By servers: one GPU each, so that a message and what the rank has for itself share a block,
    // and eight, where seven messages do so.
    for (const uint32_t gpus : {1, 8})
    {
        const Cluster cluster = MakeCluster("dgx-h100", 2);
        const Paths paths(cluster);
        for (const bool isOut : {true, false})
        {
            CollectiveRequest request = MakeRequest(cluster, Collective::ALL_TO_ALL, "direct");
            request.messageProcessors = gpus == 1 ? 2 : 32;
            request.bytes = uint64_t{256} << 20; // messages of several chunks
            request.vertices.clear();
            for (uint32_t rank = 0; rank < 2 * gpus; ++rank)
            {
                request.vertices.push_back(cluster.GetGpus()[rank / gpus * 8 + rank % gpus]);
            }
            CollectiveProgram program = MakeProgram(cluster, paths, request);
            auto& blocks = program.ranks[1].blocks;
            if (!isOut)
            {
                blocks.erase(std::remove_if(blocks.begin(), blocks.end(), IsOwn), blocks.end());
            }
            const BlockShares shares(program);
            uint32_t own = 0;
            for (const ThreadBlock& block : blocks)
            {
                const BlockShare share = shares.Get(1, block);
                EXPECT_EQ(share.isOwn, IsOwn(block));
                own += share.isOwn;
                if (gpus == 1 && !isOut)
                {
                    EXPECT_DOUBLE_EQ(getRate(share), costs.messageBytesPerSecond);
                }
                else if (gpus == 1 && !share.isOwn)
                {
                    EXPECT_DOUBLE_EQ(getRate(share), 4 * costs.warpBytesPerSecond);
                }
                else if (gpus == 8 && share.isOwn)
                {
                    EXPECT_DOUBLE_EQ(share.part, 1 / 7.0);
                    EXPECT_EQ(share.warps, 2u);
                    EXPECT_DOUBLE_EQ(getRate(share), costs.messageBytesPerSecond / 7);
                }
            }
            EXPECT_EQ(own, isOut ? 2u : 0u);
        }
    }
}

TEST(OwnPart, NcclSevenDoesOneAfterTheOther)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const Paths paths(cluster);
    CollectiveRequest request = MakeRequest(cluster, Collective::ALL_TO_ALL, "direct");
    request.channels = 8; // more than there are thread blocks for all distances
    request.warpRule = WarpRule::BLOCK;
    const CollectiveProgram program = MakeProgram(cluster, paths, request);
    EXPECT_EQ(CheckProgram(program, request), "");
    const BlockShares shares(program);
    for (const ThreadBlock& block : program.ranks[2].blocks)
    {
        EXPECT_EQ(shares.Get(2, block).part, 1);
        if (IsOwn(block))
        {
            EXPECT_EQ(block.steps[0].waitBlock, NO_BLOCK); // it is first
            continue;
        }
        // A distance waits for the one before, or for the own part: for a send and a receive, or a
        // copy, of the same thread block.
        std::set<uint32_t> awaited;
        for (const Step& step : block.steps)
        {
            if (step.waitBlock != NO_BLOCK)
            {
                const ThreadBlock& before = program.ranks[2].blocks[step.waitBlock];
                EXPECT_EQ(before.processor, block.processor);
                EXPECT_EQ(step.waitStep, before.steps.size() - 1);
                awaited.insert(step.waitBlock);
            }
        }
        EXPECT_LE(awaited.size(), 2u);
    }
}
