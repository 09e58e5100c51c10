/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-nccl-thresholds.h"

#include <gtest/gtest.h>
#include <tuple>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t KIB = 1024;
constexpr uint64_t MIB = 1024 * KIB;

/// @param servers how many, of eight V100 @param channels of all @return such a communicator
NcclThresholdQuestion
AskV100(uint32_t servers, uint32_t channels)
{
    NcclThresholdQuestion question;
    question.ranks = 8 * servers;
    question.servers = servers;
    question.channels = channels;
    return question;
}

} // namespace

TEST(NcclThresholds, LlHasSoManyBytesOfAThread)
{
    // 12 channels of 256 threads, 64 bytes of each of eight chunks: 1.5 MiB. 16 KiB, 8 bytes of a
    // thread and a chunk, for each channel until there are no more.
    NcclThresholdQuestion question = AskV100(1, 12);
    for (const auto& [bytes, channels] : {std::make_tuple(uint64_t{8}, 1u),
                                          std::make_tuple(16 * KIB, 1u),
                                          std::make_tuple(16 * KIB + 1, 2u),
                                          std::make_tuple(128 * KIB, 8u),
                                          std::make_tuple(1536 * KIB, 12u)})
    {
        question.bytes = bytes;
        EXPECT_TRUE(PlanLlByThreshold(question, false).isTaken) << bytes;
        EXPECT_EQ(PlanLlByThreshold(question, false).channels, channels) << bytes;
    }
    question.bytes = 1536 * KIB + 1;
    EXPECT_FALSE(PlanLlByThreshold(question, false).isTaken);
    // A tree has one chunk, and four times as many bytes of a thread.
    question.bytes = 12 * 256 * 64 * 4;
    EXPECT_TRUE(PlanLlByThreshold(question, true).isTaken);
    ++question.bytes;
    EXPECT_FALSE(PlanLlByThreshold(question, true).isTaken);
    // So has a broadcast, without that; before Volta half of the bytes.
    question.collective = Collective::BROADCAST;
    question.bytes = 12 * 256 * 64;
    EXPECT_TRUE(PlanLlByThreshold(question, false).isTaken);
    question.computeCapability = 61;
    EXPECT_FALSE(PlanLlByThreshold(question, false).isTaken);
    question.bytes /= 2;
    EXPECT_TRUE(PlanLlByThreshold(question, false).isTaken);
    question.llBytes = 0;
    EXPECT_FALSE(PlanLlByThreshold(question, false).isTaken);
}

TEST(NcclThresholds, SeveralServersHaveTwice)
{
    // Two P3dn, whose plug-in says that the NIC is four: eight channels, LL up to 4 MiB, which is
    // where their times leave it.
    NcclThresholdQuestion question = AskV100(2, 8);
    question.bytes = 4 * MIB;
    EXPECT_TRUE(PlanLlByThreshold(question, false).isTaken);
    ++question.bytes;
    EXPECT_FALSE(PlanLlByThreshold(question, false).isTaken);
}

TEST(NcclThresholds, TreesAreOfSeveralServers)
{
    NcclThresholdQuestion question = AskV100(1, 12);
    EXPECT_FALSE(IsTreeByThreshold(question));
    // Two servers with NVLinks: the tree has the higher rate, whatever the size.
    question = AskV100(2, 8);
    question.bytes = uint64_t{1} << 34;
    EXPECT_TRUE(IsTreeByThreshold(question));
    question.treeBytes = 0;
    EXPECT_FALSE(IsTreeByThreshold(question));
    question.treeBytes.reset();
    question.collective = Collective::ALL_GATHER;
    EXPECT_FALSE(IsTreeByThreshold(question));
    // Four: 40 and 30 GB/s, 186 and 58 us, so 120 GB/s times 128 us.
    question = AskV100(4, 8);
    question.bytes = 120 * 1000 * 128;
    EXPECT_TRUE(IsTreeByThreshold(question));
    ++question.bytes;
    EXPECT_FALSE(IsTreeByThreshold(question));
    // One GPU in each of two: 6 us by a ring, 15 by a tree.
    question = AskV100(2, 2);
    question.ranks = 2;
    question.bytes = 8;
    EXPECT_FALSE(IsTreeByThreshold(question));
}
