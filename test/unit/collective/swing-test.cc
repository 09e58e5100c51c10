/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-program.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param name of an algorithm @param n ranks @param bytes of the all-reduce @return its program
CollectiveProgram
MakeAllReduce(const std::string& name, uint32_t n, uint64_t bytes)
{
    const Cluster cluster = MakeReducingCluster(n, 1);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.algorithm = name;
    request.bytes = bytes;
    request.vertices = cluster.GetGpus();
    const CollectiveProgram program = MakeProgram(cluster, paths, request);
    EXPECT_EQ(CheckProgram(program, request), "") << name << " over " << n;
    return program;
}

/// @param program to look at @param rank of it @return bytes that it sends, by receiver
std::map<uint32_t, uint64_t>
CountSent(const CollectiveProgram& program, uint32_t rank)
{
    std::map<uint32_t, uint64_t> sent;
    for (const ThreadBlock& block : program.ranks[rank].blocks)
    {
        for (const Step& step : block.steps)
        {
            if (Sends(step.kind))
            {
                sent[block.sendPeer] += step.bytes;
            }
        }
    }
    return sent;
}

/// @param program to look at @return sum of bytes times links that they cross if the ranks stand on
/// a ring, each way the shorter one
uint64_t
CountRingTraffic(const CollectiveProgram& program)
{
    const auto n = static_cast<int64_t>(program.ranks.size());
    uint64_t traffic = 0;
    for (int64_t rank = 0; rank < n; ++rank)
    {
        for (const auto& [peer, bytes] : CountSent(program, static_cast<uint32_t>(rank)))
        {
            const int64_t distance = std::abs(rank - static_cast<int64_t>(peer));
            traffic += bytes * static_cast<uint64_t>(std::min(distance, n - distance));
        }
    }
    return traffic;
}

} // namespace

TEST(CollectiveSwing, ExchangesHalfAsMuchWithEveryFurtherPeer)
{
    // Distances of the paper, figure 1.
    const int64_t distances[] = {1, -1, 3, -5, 11, -21};
    uint32_t steps = 1;
    for (uint32_t n = 2; n <= 64; n *= 2, ++steps)
    {
        const uint64_t bytes = uint64_t{n} * 100;
        const CollectiveProgram program = MakeAllReduce("swing", n, bytes);
        EXPECT_EQ(program.algorithm, "swing");
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            std::map<uint32_t, uint64_t> expected;
            for (uint32_t step = 0; step < steps; ++step)
            {
                const int64_t distance = rank % 2 == 0 ? distances[step] : -distances[step];
                const auto peer = static_cast<uint32_t>((rank + distance + n) % n);
                // In the reduce-scatter and in the all-gather.
                expected[peer] += 2 * (bytes >> (step + 1));
            }
            ASSERT_EQ(CountSent(program, rank), expected) << "rank " << rank << " of " << n;
            ASSERT_EQ(SentBytes(program.ranks[rank]), 2 * (bytes - bytes / n));
        }
    }
}

TEST(CollectiveSwing, CrossesFewerLinksOfARingThanHalvingAndDoubling)
{
    for (uint32_t n = 8; n <= 64; n *= 2)
    {
        const uint64_t swing = CountRingTraffic(MakeAllReduce("swing", n, uint64_t{n} * 60));
        const uint64_t doubling =
            CountRingTraffic(MakeAllReduce("halving-doubling", n, uint64_t{n} * 60));
        // Halving sends most over the longest ways; Swing over the shortest.
        EXPECT_LT(2 * swing, doubling) << n;
    }
}

TEST(CollectiveSwing, RanksBeyondAPowerOfTwoTakePartThroughOneOfTheOthers)
{
    for (const uint32_t n : {3, 5, 6, 7, 12, 33})
    {
        const uint64_t bytes = 32 * 31 * 10;
        const CollectiveProgram program = MakeAllReduce("swing", n, bytes);
        uint32_t core = 1;
        while (2 * core <= n)
        {
            core *= 2;
        }
        for (uint32_t rank = core; rank < n; ++rank)
        {
            const std::map<uint32_t, uint64_t> expected{{rank - core, bytes}};
            EXPECT_EQ(CountSent(program, rank), expected) << n;
        }
    }
}

TEST(CollectiveSwing, IsFoundByItsNameInTheListOfAllReduces)
{
    const auto names = GetAlgorithms(Collective::ALL_REDUCE);
    EXPECT_EQ(std::count(names.begin(), names.end(), "swing"), 1);
    EXPECT_NE(names.front(), "swing");
    EXPECT_NE(ListAlgorithms([](const AlgorithmTraits&) { return true; }).find("swing, "),
              std::string::npos);
    EXPECT_THROW(FindAlgorithm(Collective::ALL_TO_ALL, "swing"), std::invalid_argument);
}
