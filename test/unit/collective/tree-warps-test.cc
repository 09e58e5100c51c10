/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

TEST(Tree, HopperGpusWithNicsOfTheirOwnHaveAllChildren)
{
    // By preset: most children of a rank in four servers, with the next one of its chain.
    for (const auto& [preset, most] :
         std::map<std::string, std::size_t>{{"dgx-a100", 2}, {"dgx-h100", 3}, {"hgx-b200", 3}})
    {
        const Cluster cluster = MakeCluster(preset, 4);
        const Paths paths(cluster);
        CollectiveRequest request;
        request.vertices = cluster.GetGpus();
        request.bytes = 1 << 30;
        request.algorithm = "tree";
        CollectiveChooser(cluster, paths).Complete(request);
        std::size_t found = 0;
        for (const RankTree& tree : MakeRankTrees(cluster, paths, request))
        {
            for (const auto& children : tree.children)
            {
                found = std::max(found, children.size());
            }
        }
        EXPECT_EQ(found, most) << preset;
    }
}

TEST(Tree, WarpsThatHandOnWriteEveryCopy)
{
    // GB/s of a warp: of few warps of a message, or, where known, of one of NVLS.
    for (const auto& [preset, capability, warp] :
         {std::tuple("hgx-b200", 100u, 3.54e9), {"dgx-h100", 90u, 3.15e9}})
    {
        const Cluster cluster = MakeCluster(preset, 4);
        const Paths paths(cluster);
        CollectiveRequest request;
        request.vertices = cluster.GetGpus();
        request.bytes = 1 << 28;
        request.algorithm = "tree";
        CollectiveChooser(cluster, paths).Complete(request);
        const std::vector<RankTree> trees = MakeRankTrees(cluster, paths, request);
        const CollectiveAlgorithm make = FindAlgorithm(request.collective, "tree");
        for (const Protocol protocol : {Protocol::SIMPLE, Protocol::LL128})
        {
            request.protocol = protocol;
            const CollectiveProgram program = make(cluster, paths, request);
            const BlockShares shares(program);
            std::set<std::size_t> counts; // of children
            for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
            {
                for (const ThreadBlock& block : program.ranks[rank].blocks)
                {
                    const RankTree& tree = trees[block.channel];
                    const auto& children = tree.children[rank];
                    const BlockShare share = shares.Get(rank, block);
                    const double psPerByte = GetBlockCost(GetCollectiveKernelCost(capability),
                                                          protocol,
                                                          share,
                                                          false,
                                                          {},
                                                          {})
                                                 .warpsPsPerByte;
                    // At the root all warps do both, which is not the least; lines of LL128 are not
                    // what warps copy so.
                    if (std::find(children.begin(), children.end(), block.sendPeer) ==
                            children.end() ||
                        tree.parent[rank] == NO_RANK || protocol != Protocol::SIMPLE)
                    {
                        EXPECT_EQ(psPerByte, 0);
                        EXPECT_GE(share.part, 0.5);
                        continue;
                    }
                    // Seven of eight warps copy, to the children and to the own result.
                    const double copies = static_cast<double>(children.size()) + 1;
                    EXPECT_NEAR(1e12 / psPerByte, warp * 7 / copies, 1);
                    EXPECT_DOUBLE_EQ(share.part, 1 / copies);
                    counts.insert(children.size());
                }
            }
            EXPECT_EQ(counts,
                      protocol == Protocol::SIMPLE ? (std::set<std::size_t>{1, 3})
                                                   : std::set<std::size_t>());
        }
    }
}

TEST(Tree, HalvesThatDoNotMeetHaveABlockEach)
{
    const Cluster cluster = MakeCluster("dgx-h100", 4);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.vertices = cluster.GetGpus();
    request.bytes = 1 << 28;
    request.algorithm = "tree";
    CollectiveChooser(cluster, paths).Complete(request);
    const auto findParts = [&](Protocol protocol, uint64_t chunks) {
        request.protocol = protocol;
        request.bytes = request.channels * request.chunkBytes * chunks;
        const CollectiveProgram program =
            FindAlgorithm(request.collective, "tree")(cluster, paths, request);
        const BlockShares shares(program);
        std::set<double> parts;
        for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
        {
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                parts.insert(shares.Get(rank, block).part);
            }
        }
        return parts;
    };
    // Up to half of the slots. Where halves meet, of a GPU with a NIC, which has all children of
    // its server, what hands on to three writes a quarter of the copies; ends of chains hand on
    // nothing.
    EXPECT_EQ(request.slots, 8u);
    EXPECT_EQ(findParts(Protocol::SIMPLE, 1), std::set<double>{1});
    EXPECT_EQ(findParts(Protocol::SIMPLE, 4), std::set<double>{1});
    EXPECT_EQ(findParts(Protocol::SIMPLE, 5), (std::set<double>{0.25, 0.5, 1}));
    EXPECT_EQ(findParts(Protocol::LL128, 1), (std::set<double>{0.5, 1}));
}

TEST(Tree, OtherBlocksOfOneProcessorShareItWhateverTheirChunks)
{
    CollectiveProgram program;
    program.algorithm = "ring";
    program.ranks.resize(3);
    for (const uint32_t peer : {1, 2})
    {
        ThreadBlock block;
        block.sendPeer = peer;
        block.processor = 0;
        block.steps.resize(1);
        block.steps.front().kind = StepKind::SEND;
        program.ranks[0].blocks.push_back(block);
    }
    EXPECT_EQ(BlockShares(program).Get(0, program.ranks[0].blocks.front()).part, 0.5);
}
