/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Which thread blocks work for the messages of an all-to-all, and what they have of them.

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-message-blocks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

using namespace ns3::proteus;

namespace
{

CollectiveRequest
MakeRequest(const Cluster& cluster, const std::string& algorithm)
{
    CollectiveRequest request;
    request.collective = Collective::ALL_TO_ALL;
    request.algorithm = algorithm;
    request.bytes = 1 << 20;
    request.channels = 2;
    request.networkChannels = 2;
    request.vertices = cluster.GetGpus();
    return request;
}

} // namespace

TEST(MessageBlocks, EveryDistanceInAServer)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const MessageBlocks blocks(cluster, MakeRequest(cluster, "direct"));
    std::set<uint32_t> groups;
    for (uint32_t to = 1; to < 8; ++to)
    {
        groups.insert(blocks.Get(0, to));
        EXPECT_EQ(blocks.Get(0, to), blocks.Get(3, (3 + to) % 8));
    }
    EXPECT_EQ(groups, (std::set<uint32_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(MessageBlocks, EightPeersOfAnotherServerShare)
{
    const Cluster cluster = MakeCluster("dgx-a100", 3);
    CollectiveRequest request = MakeRequest(cluster, "pxn");
    const MessageBlocks blocks(cluster, request);
    for (uint32_t from = 0; from < 24; ++from)
    {
        for (uint32_t to = 0; to < 24; ++to)
        {
            EXPECT_EQ(blocks.Get(from, to), (to / 8 + 3 - from / 8) % 3);
        }
    }
    // Before NCCL 2.12, none did.
    request.messagesOfBlock = 1;
    EXPECT_EQ(MessageBlocks(cluster, request).Get(0, 9), 9u);
    // Sixteen ranks of a server are two groups; of six in each, two share.
    const Cluster large = MakeCluster("dgx2", 2);
    const MessageBlocks ofSixteen(large, MakeRequest(large, "pxn"));
    EXPECT_EQ(ofSixteen.Get(0, 15), 1u);
    EXPECT_EQ(ofSixteen.Get(0, 16), 2u);
    EXPECT_EQ(ofSixteen.Get(31, 0), 1u);
    request = MakeRequest(cluster, "pxn");
    request.vertices = {};
    for (uint32_t rank = 0; rank < 12; ++rank)
    {
        request.vertices.push_back(cluster.GetGpus()[rank / 6 * 8 + rank % 6]);
    }
    const MessageBlocks ofSix(cluster, request);
    EXPECT_EQ(ofSix.Get(0, 6), ofSix.Get(1, 7));
    EXPECT_NE(ofSix.Get(0, 6), ofSix.Get(0, 8));
}

// NVIDIA/nccl v2.30.7: base of a round is the round with its bits in reverse order, parts follow.
TEST(MessageBlocks, AKernelHasOnlySoManyThreadBlocks)
{
    const Cluster cluster = MakeCluster("hgx-b200", 1);
    const Paths paths(cluster);
    CollectiveRequest request = MakeRequest(cluster, "direct");
    request.messageProcessors = 32;
    for (const uint32_t channels : {4u, 8u})
    {
        request.channels = channels;
        const MessageBlocks blocks(cluster, request);
        EXPECT_EQ(blocks.GetProcessor(0, 1, 0), 16u);
        EXPECT_EQ(blocks.GetProcessor(5, 0, 1), 24u + 1); // round 3
        EXPECT_EQ(blocks.GetProcessor(1, 0, 3), 28u + 3); // round 7
        const auto program = MakeProgram(cluster, paths, request);
        const BlockShares shares(program);
        std::map<uint16_t, uint32_t> senders;
        double slowest = 1;
        uint32_t own = 0;
        for (const ThreadBlock& block : program.ranks[2].blocks)
        {
            if (block.sendPeer == NO_RANK && block.receivePeer == NO_RANK)
            {
                EXPECT_EQ(block.processor, own++); // round 0
                continue;
            }
            senders[block.processor] += block.sendPeer != NO_RANK ? 1 : 0;
            const BlockShare share = shares.Get(2, block);
            slowest = std::min(slowest, share.part);
            EXPECT_EQ(share.processors, channels == 4 ? 28u : 32u);
        }
        EXPECT_EQ(own, channels);
        // Four channels for each of seven peers and the rank itself are all there are.
        EXPECT_EQ(senders.size(), channels == 4 ? 28u : 32u);
        EXPECT_EQ(slowest, channels == 4 ? 1 : 0.5);
        for (const auto& [processor, count] : senders)
        {
            EXPECT_LT(processor, 32);
            EXPECT_LE(count, channels / 4);
        }
    }
}

// What the messages of a thread block have together is a thread block, however many there are.
TEST(MessageBlocks, MessagesShareAThreadBlock)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    for (const char* algorithm : {"direct", "pxn"})
    {
        const auto program = MakeProgram(cluster, paths, MakeRequest(cluster, algorithm));
        const BlockShares shares(program);
        std::map<uint16_t, double> sent;
        std::map<uint16_t, uint32_t> remote;
        for (const ThreadBlock& block : program.ranks[3].blocks)
        {
            if (block.sendPeer != NO_RANK && block.processor != NO_PROCESSOR)
            {
                sent[block.processor] += shares.Get(3, block).part;
            }
            if (block.receivePeer != NO_RANK && block.receivePeer >= 8 &&
                block.processor != NO_PROCESSOR)
            {
                ++remote[block.processor];
            }
        }
        EXPECT_EQ(sent.size(), 4u) << algorithm; // two channels for each of two servers
        for (const auto& [processor, part] : sent)
        {
            EXPECT_NEAR(part, 1, 1e-12) << algorithm << " " << processor;
        }
        EXPECT_EQ(remote, (std::map<uint16_t, uint32_t>{{2, 8}, {3, 8}})) << algorithm;
    }
}

TEST(MessageBlocks, AsTheVersionHasIt)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    for (const auto& [version, messages] :
         {std::make_pair(211u, 1u), std::make_pair(212u, 8u), std::make_pair(230u, 8u)})
    {
        CollectivePreferences preferences;
        preferences.ncclVersion = version;
        CollectiveRequest request;
        request.collective = Collective::ALL_TO_ALL;
        request.bytes = 1 << 20;
        request.vertices = cluster.GetGpus();
        CollectiveChooser(cluster, paths, preferences).Complete(request);
        EXPECT_EQ(request.messagesOfBlock, messages) << version;
        EXPECT_EQ(request.messageProcessors, 16u); // channels of that
    }
}
