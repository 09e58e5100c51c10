/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-protocol.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param cluster to run on @param paths of it @param algorithm by name @param bytes of all-reduce
/// @return a request of all GPUs, with NCCL's channels and chunks
CollectiveRequest
Choose(const Cluster& cluster, const Paths& paths, const std::string& algorithm, uint64_t bytes)
{
    CollectiveRequest request;
    request.vertices = cluster.GetGpus();
    request.bytes = bytes;
    request.algorithm = algorithm;
    CollectiveChooser(cluster, paths).Complete(request);
    return request;
}

} // namespace

TEST(SharpChain, HasHalfAsManyChannelsAgain)
{
    const Cluster cluster = MakeCluster("hgx-b200", 2);
    const Paths paths(cluster);
    const auto channels = [&](const char* algorithm) {
        return Choose(cluster, paths, algorithm, uint64_t{1} << 30).channels;
    };
    EXPECT_EQ(channels("ring"), 16u);
    EXPECT_EQ(channels("sharp"), 24u);
    EXPECT_EQ(channels("sharp-chain"), 24u);
    // One GPU in each server has no chain to fill.
    CollectiveRequest alone;
    alone.vertices = {cluster.GetGpus()[0], cluster.GetGpus()[8]};
    alone.bytes = uint64_t{1} << 30;
    alone.algorithm = "ring";
    CollectiveChooser(cluster, paths).Complete(alone);
    const uint32_t rings = alone.channels;
    alone.algorithm = "sharp-chain";
    CollectiveChooser(cluster, paths).Complete(alone);
    EXPECT_EQ(alone.channels, rings);
}

TEST(SharpChain, CutsWhatFillsTheChain)
{
    // Sixteen GPUs in two servers: a chain of eight. 24 channels of 256 KiB have 6 MiB in a round.
    ChunkQuestion question;
    question.algorithm = "sharp-chain";
    question.ranks = 16;
    question.servers = 2;
    question.channels = 24;
    const auto chunk = [&](uint64_t mebibytes) {
        question.bytes = mebibytes << 20;
        return PlanChunks(question).stepBytes >> 10;
    };
    EXPECT_EQ(chunk(6 * 8 * 64), 256u); // as many chunks as 64 chains are long
    EXPECT_EQ(chunk(6 * 8 * 64 - 1), 128u);
    EXPECT_EQ(chunk(3 * 8 * 8), 128u);
    EXPECT_EQ(chunk(3 * 8 * 8 - 1), 64u);
    EXPECT_EQ(chunk(12), 64u);
    EXPECT_EQ(chunk(11), 32u);
    question.bufferBytes = 1 << 20; // eight slots of 128 KiB
    EXPECT_EQ(chunk(6 * 8 * 64), 128u);
}

TEST(SharpChain, WarpsThatHandOnWriteTwice)
{
    const Cluster cluster = MakeCluster("hgx-b200", 2);
    const Paths paths(cluster);
    const CollectiveRequest request = Choose(cluster, paths, "sharp-chain", 1 << 28);
    const CollectiveProgram program = MakeProgram(cluster, paths, request);
    const BlockShares shares(program);
    constexpr double BYTES_PER_SECOND = 7 * 3.54e9; // seven warps of B200
    uint32_t handsOn = 0;
    uint32_t ends = 0;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            const BlockShare share = shares.Get(rank, block);
            if (block.group != NO_GROUP)
            {
                EXPECT_EQ(share.part, 0) << "the steps beside it do what it has to do";
                continue;
            }
            const double psPerByte =
                GetBlockCost(GetCollectiveKernelCost(100), Protocol::SIMPLE, share, false, {}, {})
                    .warpsPsPerByte;
            const StepKind kind = block.steps.front().kind;
            const bool isUp = kind == StepKind::RECV_REDUCE || kind == StepKind::RECV_REDUCE_SEND ||
                              block.warps == 0;
            const bool isEnd = kind == StepKind::RECV;
            EXPECT_NEAR(psPerByte,
                        isUp    ? 0
                        : isEnd ? 1e12 / BYTES_PER_SECOND
                                : 2e12 / BYTES_PER_SECOND,
                        1e-6);
            handsOn += !isUp && !isEnd;
            ends += isEnd;
        }
    }
    EXPECT_EQ(handsOn, 2 * 24 * 7u);
    EXPECT_EQ(ends, 2 * 24u);
}
