/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"

#include <gtest/gtest.h>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t CHUNK = 1000;
constexpr uint64_t LOOP = 2 * CHUNK; // half of four slots

/// @param servers of the ring @param gpus of each @param collective of it
/// @param loops that hold what a channel has
/// @return by channel, what the first rank sends of itself in each loop
std::vector<std::vector<uint64_t>>
ListLoops(uint32_t servers, uint32_t gpus, Collective collective, uint64_t loops)
{
    const Cluster cluster = MakeReducingCluster(servers, gpus);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.collective = collective;
    request.algorithm = "ring";
    request.channels = 2;
    request.chunkBytes = CHUNK;
    request.slots = 4;
    request.vertices = FirstGpus(cluster, servers * gpus);
    request.bytes = loops * LOOP * request.channels * request.vertices.size();
    const CollectiveProgram program = MakeProgram(cluster, paths, request);
    EXPECT_EQ(CheckProgram(program, request), "");
    std::vector<std::vector<uint64_t>> parts;
    for (const ThreadBlock& block : program.ranks.front().blocks)
    {
        parts.emplace_back();
        bool wasSend = false;
        for (const Step& step : block.steps)
        {
            const bool isSend = step.kind == StepKind::SEND;
            if (isSend && !wasSend)
            {
                parts.back().push_back(0);
            }
            if (isSend)
            {
                parts.back().back() += step.bytes;
            }
            wasSend = isSend;
        }
    }
    return parts;
}

/// @param before loops of all channels @param after those behind the half loop
/// @return loops of a channel that leaves the others
std::vector<uint64_t>
Leave(std::size_t before, std::size_t after)
{
    std::vector<uint64_t> parts(before, LOOP);
    parts.push_back(LOOP / 2);
    parts.insert(parts.end(), after, LOOP);
    parts.push_back(LOOP / 2);
    return parts;
}

} // namespace

TEST(RingLoops, ChannelsOfAServerBeginTogetherAndLeaveEachOther)
{
    // 100 steps are 25 loops of four ranks, and 12 of eight; 18 are two all-reduces of four.
    const auto gather = ListLoops(1, 4, Collective::ALL_GATHER, 40);
    EXPECT_EQ(gather.at(0), std::vector<uint64_t>(40, LOOP));
    EXPECT_EQ(gather.at(1), Leave(25, 14));
    EXPECT_EQ(ListLoops(1, 8, Collective::REDUCE_SCATTER, 40).at(1), Leave(12, 27));
    EXPECT_EQ(ListLoops(1, 4, Collective::ALL_REDUCE, 40).at(1), Leave(2, 37));
}

TEST(RingLoops, ChannelsThatHaveLittleStayTogether)
{
    EXPECT_EQ(ListLoops(1, 4, Collective::ALL_GATHER, 25).at(1), std::vector<uint64_t>(25, LOOP));
    EXPECT_EQ(ListLoops(2, 2, Collective::ALL_GATHER, 1).at(1), std::vector<uint64_t>(1, LOOP));
}

TEST(RingLoops, ChannelsOfSeveralServersBeginApart)
{
    EXPECT_EQ(ListLoops(2, 2, Collective::ALL_GATHER, 40).at(1), Leave(0, 39));
}

TEST(RingLoops, SlicesOfSimpleAreNoShorterThanA32ndOfTwoSlots)
{
    const Cluster cluster = MakeReducingCluster(1, 4);
    const Paths paths(cluster);
    CollectivePreferences preferences;
    preferences.protocol = "Simple";
    preferences.algorithm = "ring";
    preferences.channels = 1;
    const CollectiveChooser chooser(cluster, paths, preferences);
    // What a rank sends first, of its own part.
    const auto cut = [&](uint64_t bytes) {
        CollectiveRequest request;
        request.collective = Collective::ALL_GATHER;
        request.vertices = FirstGpus(cluster, 4);
        request.bytes = bytes * 4;
        chooser.Complete(request);
        const CollectiveProgram program = MakeProgram(cluster, paths, request);
        EXPECT_EQ(CheckProgram(program, request), "");
        std::vector<uint64_t> slices;
        for (const Step& step : program.ranks.front().blocks.front().steps)
        {
            if (step.kind != StepKind::SEND)
            {
                break;
            }
            slices.push_back(step.bytes);
        }
        return slices;
    };
    using Slices = std::vector<uint64_t>;
    EXPECT_EQ(cut(32768), (Slices{32768}));
    EXPECT_EQ(cut(49152), (Slices{32768, 16384}));
    EXPECT_EQ(cut(65536), (Slices{32768, 32768}));
    EXPECT_EQ(cut(98304), (Slices{49152, 49152}));
}

TEST(RingLoops, AChunkOfLl128TakesItsTimeOnceFromHopperOn)
{
    Step part{StepKind::RECV_COPY_SEND};
    part.bytes = 1000;
    Step last = part;
    part.endsChunk = false;
    const auto wait = [&](uint32_t capability, Protocol protocol) {
        const BlockCost cost = GetBlockCost(GetCollectiveKernelCost(capability),
                                            protocol,
                                            BlockShare{1, 1},
                                            false,
                                            BlockHop{HopKind::NVLINK},
                                            BlockHop{HopKind::NVLINK});
        return cost.GetOccupancyPs(last) - cost.GetOccupancyPs(part);
    };
    EXPECT_DOUBLE_EQ(wait(100, Protocol::LL128), 1.2e6);
    EXPECT_DOUBLE_EQ(wait(100, Protocol::LL), 0);
    EXPECT_DOUBLE_EQ(wait(90, Protocol::LL128), 0.7e6);
    EXPECT_DOUBLE_EQ(wait(80, Protocol::LL128), 0);
}
