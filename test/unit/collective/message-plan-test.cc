/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-message-plan.h"

#include <gtest/gtest.h>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t KIB = 1024;

/// @param bytes of a pair @return what eight A100 behind NVSwitches ask
MessageQuestion
AskA100(uint64_t bytes)
{
    MessageQuestion question;
    question.bytes = bytes;
    question.ranks = 8;
    question.channels = 24;
    question.localChannels = 24;
    question.chunkBytes = P2P_NVLINK_BYTES;
    return question;
}

} // namespace

TEST(MessagePlan, InsideAServer)
{
    // 24 channels are 32, of which each of eight peers has four; a part is no shorter than an
    // eighth of a chunk, 64 KiB.
    for (const auto& [bytes, channels, protocol] :
         {std::make_tuple(uint64_t{1}, 1u, Protocol::LL),
          std::make_tuple(16 * KIB, 1u, Protocol::LL),
          std::make_tuple(16 * KIB + 1, 1u, Protocol::SIMPLE),
          std::make_tuple(64 * KIB, 1u, Protocol::SIMPLE),
          std::make_tuple(64 * KIB + 1, 2u, Protocol::SIMPLE),
          std::make_tuple(256 * KIB, 4u, Protocol::SIMPLE),
          std::make_tuple(64 * 1024 * KIB, 4u, Protocol::SIMPLE),
          // Parts of 32 chunks of 512 KiB and more are made two.
          std::make_tuple(64 * 1024 * KIB + 1, 8u, Protocol::SIMPLE),
          std::make_tuple(uint64_t{1} << 30, 32u, Protocol::SIMPLE)})
    {
        const MessagePlan plan = PlanMessage(AskA100(bytes));
        EXPECT_EQ(plan.channels, channels) << bytes;
        EXPECT_EQ(plan.protocol, protocol) << bytes;
        EXPECT_EQ(plan.chunkBytes, P2P_NVLINK_BYTES) << bytes;
    }
    // Over PCIe a peer has two channels, and parts of 16 KiB go by LL.
    MessageQuestion question = AskA100(32 * KIB);
    question.ranks = 4;
    question.localChannels = 2;
    question.chunkBytes = P2P_NETWORK_BYTES;
    EXPECT_EQ(PlanMessage(question).channels, 2u);
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::LL);
    question.bytes = 32 * KIB + 1;
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::SIMPLE);
    // From 2.22 to 2.28 the limit counts all channels that a peer may have; before, none but one.
    question = AskA100(256 * KIB);
    question.version = 228;
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::LL);
    question.version = 218;
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::SIMPLE);
    question.bytes = 16 * KIB;
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::LL);
}

// NCCL 2.7.8 and 2.12.12, src/group.cc; 2.13.4 and 2.18.3, src/enqueue.cc.
TEST(MessagePlan, PartsOfOlderVersions)
{
    const auto count = [](uint32_t version, uint64_t bytes, uint64_t chunkBytes) {
        MessageQuestion question = AskA100(bytes);
        question.version = version;
        question.chunkBytes = chunkBytes;
        return PlanMessage(question);
    };
    for (const auto& [kib, of207, of208, of213] :
         {std::make_tuple(16u, 1u, 1u, 1u),
          {256u, 1u, 1u, 4u},
          {1024u, 1u, 2u, 4u},
          {3 * 1024u, 2u, 3u, 4u}, // 768 KiB of four channels are two slots
          {16 * 1024u, 8u, 8u, 4u},
          {60 * 1024u, 30u, 15u, 4u},
          {1024 * 1024u, 32u, 16u, 16u}})
    {
        // A quarter of a slot of 512 KiB, and from 2.13 on the whole.
        EXPECT_EQ(count(207, kib * KIB, 128 * KIB).channels, of207) << kib;
        EXPECT_EQ(count(208, kib * KIB, 128 * KIB).channels, of208) << kib;
        EXPECT_EQ(count(212, kib * KIB, 128 * KIB).channels, of208) << kib;
        EXPECT_EQ(count(213, kib * KIB, 512 * KIB).channels, of213) << kib;
        EXPECT_EQ(count(219, kib * KIB, 512 * KIB).channels, of213) << kib;
    }
    // Eight peers of 32 channels have no more than sixteen each up to 2.19.
    EXPECT_EQ(count(220, 1024 * 1024 * KIB, 512 * KIB).channels, 32u);
    // 320 KiB for four channels are three parts of 128 KiB, at least.
    EXPECT_EQ(count(218, 5 * 64 * KIB, 512 * KIB).channels, 3u);
    EXPECT_EQ(count(222, 5 * 64 * KIB + 1, 512 * KIB).channels, 4u);
    // LL of messages is of 2.14; over PCIe two parts of 16 KiB go by it.
    EXPECT_EQ(count(213, 16 * KIB, 512 * KIB).protocol, Protocol::SIMPLE);
    EXPECT_EQ(count(214, 16 * KIB, 512 * KIB).protocol, Protocol::LL);
    EXPECT_EQ(count(218, 32 * KIB, 128 * KIB).protocol, Protocol::LL);
    EXPECT_EQ(count(218, 32 * KIB, 512 * KIB).protocol, Protocol::SIMPLE);
    // Between servers parts of 16 KiB were possible, and are of 64 from 2.20 on.
    MessageQuestion question = AskA100(32 * KIB);
    question.servers = 2;
    question.networkChannels = 2;
    question.chunkBytes = P2P_NETWORK_BYTES;
    for (const auto& [version, channels] : {std::make_pair(213u, 2u), {219u, 2u}, {220u, 1u}})
    {
        question.version = version;
        EXPECT_EQ(PlanMessage(question).channels, channels) << version;
    }
}

TEST(MessagePlan, PartsOfLl)
{
    // From 2.22 to 2.28 a part is no shorter than an eighth of a step of its protocol: with LL, of
    // 64 KiB.
    for (const uint32_t version : {222, 228})
    {
        for (const auto& [bytes, channels] : {std::make_pair(8 * KIB, 1u),
                                              std::make_pair(8 * KIB + 1, 2u),
                                              std::make_pair(16 * KIB, 2u),
                                              std::make_pair(32 * KIB, 4u),
                                              std::make_pair(512 * KIB, 4u)})
        {
            MessageQuestion question = AskA100(bytes);
            question.version = version;
            const MessagePlan plan = PlanMessage(question);
            EXPECT_EQ(plan.channels, channels) << bytes;
            EXPECT_EQ(plan.protocol, Protocol::LL) << bytes;
        }
    }
    MessageQuestion question = AskA100(16 * KIB);
    for (const uint32_t version : {221, 229})
    {
        question.version = version;
        EXPECT_EQ(PlanMessage(question).channels, 1u);
    }
    // What is too long for LL has parts of Simple.
    question = AskA100(512 * KIB + 1);
    question.version = 228;
    EXPECT_EQ(PlanMessage(question).protocol, Protocol::SIMPLE);
    EXPECT_EQ(PlanMessage(question).channels, 4u);
}

TEST(MessagePlan, FewerChannelsAtScale)
{
    // Servers of four GH200, a NIC of 25 GB/s each: from 2.12 to 2.28 a peer has two channels; one,
    // where all peers together have more than four times those that there are (NVIDIA/nccl, issue
    // 1272).
    MessageQuestion question;
    question.bytes = 512 * 1024 * KIB;
    question.channels = 8;
    question.localChannels = 12;
    question.networkGBps = 25;
    for (const auto& [version, few] :
         {std::make_pair(212u, 1u), {217, 1}, {218, 2}, {219, 2}, {220, 1}, {221, 1}, {228, 1}})
    {
        question.version = version;
        question.servers = 4;
        question.ranks = 16;
        EXPECT_EQ(PlanMessage(question).channels, 2u) << version;
        question.servers = 8;
        question.ranks = 32;
        EXPECT_EQ(PlanMessage(question).channels, few) << version;
    }
}

TEST(MessagePlan, AcrossServers)
{
    // Two servers of eight B200, a NIC of 50 GB/s each: one channel for every 14 GB/s of it.
    MessageQuestion question;
    question.ranks = 16;
    question.servers = 2;
    question.channels = 32;
    question.localChannels = 36;
    question.networkGBps = 50;
    for (const auto& [bytes, channels, chunk] :
         {std::make_tuple(uint64_t{8}, 1u, 32 * KIB),
          std::make_tuple(128 * KIB, 2u, 64 * KIB),
          // Parts of more than 128 KiB get the other two channels.
          std::make_tuple(256 * KIB + 1, 4u, 64 * KIB),
          std::make_tuple(1024 * KIB, 4u, 128 * KIB)})
    {
        question.bytes = bytes;
        const MessagePlan plan = PlanMessage(question);
        EXPECT_EQ(plan.channels, channels) << bytes;
        EXPECT_EQ(plan.protocol, Protocol::SIMPLE) << bytes;
        EXPECT_EQ(plan.chunkBytes, chunk) << bytes;
    }
    // Two from 2.12 on, one before, and as the user says.
    question.version = 218;
    EXPECT_EQ(PlanMessage(question).channels, 2u);
    question.version = 210;
    EXPECT_EQ(PlanMessage(question).channels, 1u);
    question.networkChannels = 2;
    EXPECT_EQ(PlanMessage(question).channels, 2u);
    // 128 servers: 128 batches of eight peers have one of 32 channels.
    question = MessageQuestion();
    question.bytes = 1024 * KIB;
    question.ranks = 1024;
    question.servers = 128;
    question.channels = 32;
    question.localChannels = 36;
    question.networkGBps = 50;
    EXPECT_EQ(PlanMessage(question).channels, 1u);
}

TEST(MessagePlan, OfManyServersHaveFewerChannels)
{
    // Of a send-receive of B200 the NICs see so many channels for each peer: 42, 44, 26, 14.6 and
    // 14.4 GB/s of 2, 4, 8, 16 and 32 servers. Pairs inside a server have as many.
    MessageQuestion question;
    question.bytes = 1 << 30;
    question.channels = 16;
    question.localChannels = 36;
    question.networkGBps = 50;
    for (const auto& [servers, channels] :
         {std::make_pair(2u, 4u), {4u, 4u}, {8u, 2u}, {16u, 1u}, {32u, 1u}})
    {
        question.servers = servers;
        question.ranks = 8 * servers;
        for (const bool isInside : {true, false})
        {
            question.isInside = isInside;
            EXPECT_EQ(PlanMessage(question).channels, channels) << servers;
        }
    }
}
