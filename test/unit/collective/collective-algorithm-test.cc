/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-algorithms.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// Checks all programs of all collectives for a group.
/// @param share check one of so many algorithms of a collective only, others for another group size
void
CheckAll(const Cluster& cluster,
         const std::vector<VertexId>& vertices,
         const std::vector<uint64_t>& sizes,
         uint32_t share = 1)
{
    const Paths paths(cluster);
    const auto n = static_cast<uint32_t>(vertices.size());
    for (Collective collective : GroupCollectives())
    {
        uint32_t turn = n;
        for (const std::string& algorithm : GetAlgorithms(collective))
        {
            if (turn++ % share != 0)
            {
                continue;
            }
            for (uint64_t bytes : sizes)
            {
                CollectiveRequest request;
                request.collective = collective;
                request.algorithm = algorithm;
                request.bytes = bytes;
                request.chunkBytes = 1000;
                request.channels = 1 + n % 3;
                request.slots = 2 + n % 4;
                request.root = HasRoot(collective) ? n / 2 : 0;
                request.vertices = vertices;
                CollectiveProgram program;
                try
                {
                    program = MakeProgram(cluster, paths, request);
                }
                catch (const std::invalid_argument& error)
                {
                    const std::string cause = error.what();
                    // What only some clusters have.
                    const bool mayFail = algorithm == "sharp" || algorithm == "sharp-chain" ||
                                         algorithm == "nvls" || algorithm == "nvls-tree" ||
                                         algorithm == "hierarchical" ||
                                         algorithm == "host-parameter-server";
                    EXPECT_TRUE(mayFail && cause.find("needs") != std::string::npos) << cause;
                    continue;
                }
                ASSERT_EQ(CheckProgram(program, request), "")
                    << ToString(collective) << " by " << algorithm << " of " << bytes
                    << " bytes over " << n;
                EXPECT_EQ(program.slots, request.slots);
            }
        }
    }
}

} // namespace

TEST(CollectiveAlgorithms, ComputeTheirCollectiveFor2To64RanksOfOneServer)
{
    const Cluster cluster = MakeReducingCluster(1, 64);
    for (uint32_t n = 2; n <= 64; ++n)
    {
        // Sizes: one that nothing divides, less than a byte per rank, several loops. Large groups
        // take long: of 33 to 63 ranks every algorithm has every fourth.
        CheckAll(cluster,
                 FirstGpus(cluster, n),
                 n <= 9 ? std::vector<uint64_t>{10007, 1, uint64_t{n} * 3000}
                        : std::vector<uint64_t>{10007},
                 n <= 32 || n == 64 ? 1 : 4);
    }
}

TEST(CollectiveAlgorithms, ComputeTheirCollectiveAcrossServers)
{
    for (const auto& [servers, gpus] : std::vector<std::pair<uint32_t, uint32_t>>{{2, 1},
                                                                                  {2, 2},
                                                                                  {2, 8},
                                                                                  {3, 1},
                                                                                  {3, 3},
                                                                                  {4, 4},
                                                                                  {5, 2},
                                                                                  {7, 3},
                                                                                  {13, 1}})
    {
        const Cluster cluster = MakeReducingCluster(servers, gpus);
        CheckAll(cluster, cluster.GetGpus(), {1, 30011, uint64_t{servers} * gpus * 5000});
    }
}

TEST(CollectiveAlgorithms, ComputeTheirCollectiveForUpTo64RanksOfManyServers)
{
    // Also what needs several servers: nvls-tree, sharp, hierarchical, pxn.
    for (const auto& [servers, gpus] :
         std::vector<std::pair<uint32_t, uint32_t>>{{8, 8}, {31, 2}, {6, 5}, {64, 1}})
    {
        const Cluster cluster = MakeReducingCluster(servers, gpus);
        CheckAll(cluster, cluster.GetGpus(), {10007});
    }
}

TEST(CollectiveAlgorithms, ComputeTheirCollectiveOnPresets)
{
    for (const char* preset : {"dgx1-v100", "dgx-a100", "dgx-h100", "pcie-v100x4"})
    {
        for (uint32_t servers : {1, 2})
        {
            const Cluster cluster = MakeCluster(preset, servers);
            CheckAll(cluster, cluster.GetGpus(), {50021});
        }
    }
}

TEST(CollectiveAlgorithms, TakeRanksThatAreSpreadUnevenly)
{
    const Cluster cluster = MakeReducingCluster(3, 4);
    const auto& gpus = cluster.GetGpus();
    CheckAll(cluster, {gpus[0], gpus[1], gpus[2], gpus[5], gpus[10], gpus[11]}, {1, 60013});
    CheckAll(cluster, {gpus[11], gpus[3], gpus[7]}, {2, 60013}); // servers in another order
    CheckAll(cluster,
             {gpus[9], gpus[0], gpus[1], gpus[2], gpus[5], gpus[6], gpus[3], gpus[8]},
             {1, 60013}); // at least two on every server
}

TEST(CollectiveAlgorithms, ThatNeedHardwareSayWhatTheyMiss)
{
    const Cluster cluster = MakeReducingCluster(2, 8, false);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.bytes = 1000;
    const auto message = [&](const char* algorithm, const std::vector<VertexId>& vertices) {
        request.algorithm = algorithm;
        request.vertices = vertices;
        try
        {
            MakeProgram(cluster, paths, request);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message("nvls", FirstGpus(cluster, 8)).find("NVSwitches with multicast"),
              std::string::npos);
    EXPECT_NE(message("nvls-tree", cluster.GetGpus()).find("NVSwitches with multicast"),
              std::string::npos);
    EXPECT_NE(message("sharp", cluster.GetGpus()).find("network switches"), std::string::npos);
    EXPECT_NE(message("sharp", FirstGpus(cluster, 8)).find("two servers"), std::string::npos);
    EXPECT_NE(message("sharp-chain", cluster.GetGpus()).find("network switches"),
              std::string::npos);
    EXPECT_NE(message("sharp-chain", FirstGpus(cluster, 8)).find("two servers"), std::string::npos);
    EXPECT_NE(message("hierarchical", FirstGpus(cluster, 9)).find("equally many"),
              std::string::npos);
    EXPECT_NE(message("no-such", FirstGpus(cluster, 8)).find("ring"), std::string::npos);
    EXPECT_EQ(message("ring", FirstGpus(cluster, 9)), "");
}

TEST(CollectiveAlgorithms, AllToAllWithUnequalSplits)
{
    const Cluster cluster = MakeReducingCluster(3, 3);
    const Paths paths(cluster);
    const uint32_t n = 9;
    for (const std::string& algorithm : GetAlgorithms(Collective::ALL_TO_ALL))
    {
        CollectiveRequest request;
        request.collective = Collective::ALL_TO_ALL;
        request.algorithm = algorithm;
        request.chunkBytes = 100;
        request.channels = 2;
        request.networkChannels = 3;
        request.vertices = cluster.GetGpus();
        for (uint32_t i = 0; i < n * n; ++i)
        {
            request.splits.push_back(i % 5 == 0 ? 0 : (i * 37) % 401); // with pairs that have none
        }
        request.bytes = 4000;
        const auto program = MakeProgram(cluster, paths, request);
        EXPECT_EQ(CheckProgram(program, request), "") << algorithm;
        uint64_t wanted = 0;
        uint64_t sent = 0;
        for (uint32_t from = 0; from < n; ++from)
        {
            sent += SentBytes(program.ranks[from]);
            for (uint32_t to = 0; to < n; ++to)
            {
                wanted += from == to ? 0 : request.splits[from * n + to];
            }
        }
        if (algorithm == "direct")
        {
            EXPECT_EQ(sent, wanted);
        }
        else
        {
            EXPECT_GT(sent, wanted); // what passes a relay is sent twice
        }
        request.splits[3] = 5000;
        EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument);
        request.splits.pop_back();
        EXPECT_THROW(MakeProgram(cluster, paths, request), std::invalid_argument);
    }
}

TEST(CollectiveAlgorithms, PxnCrossesServersOnOneRail)
{
    const Cluster cluster = MakeCluster("dgx-h100", 3);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.collective = Collective::ALL_TO_ALL;
    request.bytes = 24000;
    request.vertices = cluster.GetGpus();
    const auto crossings = [&](const char* algorithm) {
        request.algorithm = algorithm;
        const auto program = MakeProgram(cluster, paths, request);
        std::pair<uint32_t, uint32_t> count; // on one rail, and across
        for (uint32_t rank = 0; rank < 24; ++rank)
        {
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                if (block.sendPeer != NO_RANK && block.sendPeer / 8 != rank / 8)
                {
                    ++(block.sendPeer % 8 == rank % 8 ? count.first : count.second);
                }
            }
        }
        return count;
    };
    EXPECT_EQ(crossings("pxn"), std::make_pair(24u * 16, 0u));
    EXPECT_EQ(crossings("direct"), std::make_pair(24u * 2, 24u * 14));
    // All to the root or all from it: two of 16 are on its rail.
    request.root = 3;
    for (const Collective collective : {Collective::GATHER, Collective::SCATTER})
    {
        request.collective = collective;
        EXPECT_EQ(crossings("pxn"), std::make_pair(16u, 0u));
        EXPECT_EQ(crossings("direct"), std::make_pair(2u, 14u));
    }
}

TEST(CollectiveAlgorithms, ABarrierMakesAllRanksWaitForEachOther)
{
    const Cluster cluster = MakeReducingCluster(2, 4);
    const Paths paths(cluster);
    const auto request = MakeBarrierRequest(cluster.GetGpus());
    const auto program = MakeProgram(cluster, paths, request);
    EXPECT_EQ(CheckProgram(program, request), "");
    for (const RankProgram& rank : program.ranks)
    {
        EXPECT_EQ(SentBytes(rank) > 0 && ReceivedBytes(rank) > 0, true);
    }
}

TEST(BinaryTree, IsNcclsDoubleTree)
{
    // The pictures of NVIDIA/nccl v2.30.7, src/graph/trees.cc: 12 servers (mirrored), 13 (shifted).
    const auto parents = [](uint32_t n, bool second) {
        std::vector<uint32_t> result;
        for (const TreeNode& node : MakeBinaryTree(n, second))
        {
            result.push_back(node.parent);
        }
        return result;
    };
    const uint32_t none = NO_RANK;
    EXPECT_EQ(parents(12, false), (std::vector<uint32_t>{none, 2, 4, 2, 8, 6, 4, 6, 0, 10, 8, 10}));
    EXPECT_EQ(parents(12, true), (std::vector<uint32_t>{1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, none}));
    EXPECT_EQ(parents(13, true),
              (std::vector<uint32_t>{9, none, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11}));
    // A server that passes on in one tree is a leaf of the other.
    for (uint32_t n : {2, 4, 8, 16, 64})
    {
        const auto first = MakeBinaryTree(n, false);
        const auto second = MakeBinaryTree(n, true);
        for (uint32_t i = 0; i < n; ++i)
        {
            const bool passesOn = first[i].children[0] != none && first[i].parent != none;
            const bool isLeaf = second[i].children[0] == none && second[i].children[1] == none;
            EXPECT_TRUE(!passesOn || isLeaf) << i << " of " << n;
        }
    }
}

TEST(CollectiveAlgorithms, RingsPassOtherGpusWhereThereIsNoNvlink)
{
    // Five GPUs of a DGX-1: the last has NVLinks to the first only.
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    const Paths paths(cluster);
    for (Collective collective : {Collective::ALL_REDUCE, Collective::ALL_GATHER})
    {
        CollectiveRequest request;
        request.collective = collective;
        request.bytes = 50021;
        request.chunkBytes = 1000;
        request.vertices = FirstGpus(cluster, 5);
        const auto program = MakeProgram(cluster, paths, request);
        EXPECT_EQ(CheckProgram(program, request), "");
        uint32_t passing = 0;
        for (uint32_t rank = 0; rank < 5; ++rank)
        {
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                passing += block.processor == NO_PROCESSOR;
                if (block.sendPeer != NO_RANK)
                {
                    const auto links = paths.Walk(request.vertices[rank],
                                                  request.vertices[block.sendPeer],
                                                  [](auto, auto) { return 0; });
                    EXPECT_EQ(links.size(), 1u) << rank << " to " << block.sendPeer;
                }
            }
        }
        EXPECT_EQ(passing, 2 * program.channels); // a block in and a block out
    }
}

TEST(CollectiveAlgorithms, MessagesPassOtherGpusWhereThereIsNoNvlink)
{
    // On a DGX-1 every GPU has NVLinks to four others.
    for (const uint32_t servers : {1, 2})
    {
        const Cluster cluster = MakeCluster("dgx1-v100", servers);
        const Paths paths(cluster);
        for (const auto& [collective, algorithm] :
             std::vector<std::pair<Collective, const char*>>{{Collective::ALL_TO_ALL, "direct"},
                                                             {Collective::ALL_TO_ALL, "pxn"},
                                                             {Collective::GATHER, "direct"},
                                                             {Collective::GATHER, "pxn"},
                                                             {Collective::SCATTER, "direct"},
                                                             {Collective::SCATTER, "pxn"}})
        {
            CollectiveRequest request;
            request.collective = collective;
            request.algorithm = algorithm;
            request.bytes = 50021;
            request.chunkBytes = 1000;
            request.channels = 2;
            request.vertices = cluster.GetGpus();
            const auto isFar = [&](uint32_t from, uint32_t to) {
                return from / 8 == to / 8 &&
                       paths.Walk(request.vertices[from], request.vertices[to], [](auto, auto) {
                                return 0;
                            }).size() > 1;
            };
            const auto countFar = [&]() {
                const auto program = MakeProgram(cluster, paths, request);
                EXPECT_EQ(CheckProgram(program, request), "") << algorithm;
                uint32_t far = 0;
                for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
                {
                    for (const ThreadBlock& block : program.ranks[rank].blocks)
                    {
                        far += block.sendPeer != NO_RANK && isFar(rank, block.sendPeer);
                    }
                }
                return far;
            };
            EXPECT_EQ(countFar(), 0u) << algorithm << ", " << servers;
            request.relaysMessages = false;
            EXPECT_GT(countFar(), 0u) << algorithm << ", " << servers;
        }
    }
}
