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
    const Cluster cluster = MakeCluster("hgx-b200", 4);
    const Paths paths(cluster);
    CollectiveRequest request;
    request.vertices = cluster.GetGpus();
    request.bytes = 1 << 28;
    request.algorithm = "tree";
    CollectiveChooser(cluster, paths).Complete(request);
    ASSERT_EQ(request.protocol, Protocol::SIMPLE);
    const std::vector<RankTree> trees = MakeRankTrees(cluster, paths, request);
    const CollectiveProgram program =
        FindAlgorithm(request.collective, "tree")(cluster, paths, request);
    const BlockShares shares(program);
    const CollectiveKernelCost& costs = GetCollectiveKernelCost(100);
    std::set<std::size_t> counts;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            const RankTree& tree = trees[block.channel];
            const auto& children = tree.children[rank];
            const bool isDown =
                std::find(children.begin(), children.end(), block.sendPeer) != children.end();
            const BlockShare share = shares.Get(rank, block);
            const BlockCost cost = GetBlockCost(costs, Protocol::SIMPLE, share, false, {}, {});
            if (!isDown)
            {
                EXPECT_EQ(cost.warpsPsPerByte, 0);
                continue;
            }
            // At the root all warps do both, which is not the least.
            if (tree.parent[rank] == NO_RANK)
            {
                EXPECT_EQ(cost.warpsPsPerByte, 0);
                EXPECT_DOUBLE_EQ(share.part, 0.5);
                continue;
            }
            // Seven of eight warps copy, to the children and to the own result.
            const double copies = static_cast<double>(children.size()) + 1;
            EXPECT_NEAR(1e12 / cost.warpsPsPerByte, costs.warpBytesPerSecond * 7 / copies, 1);
            EXPECT_DOUBLE_EQ(share.part, 1 / copies);
            counts.insert(children.size());
            // Lines of LL and LL128 are not what warps copy so.
            EXPECT_EQ(GetBlockCost(costs, Protocol::LL128, share, false, {}, {}).warpsPsPerByte, 0);
        }
    }
    EXPECT_EQ(counts, (std::set<std::size_t>{1, 3}));
}
