/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-nvls-plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t KIB = 1024;

/// @param version of NCCL @param capability of the GPUs @param servers with them
/// @return the plan of servers of eight GPUs, each with a NIC of 400 Gb/s at its PCIe switch
NvlsPlan
Plan(uint32_t version, uint32_t capability, uint32_t servers)
{
    return PlanNvls({version, capability, servers, 8, 50, PathType::PXB});
}

/// @param cluster of the ranks @param request with its ranks, completed to 64 MiB by an NVLS tree
/// @return its program
CollectiveProgram
MakeLargeTree(const Cluster& cluster, CollectiveRequest& request)
{
    const Paths paths(cluster);
    request.bytes = uint64_t{64} << 20;
    request.algorithm = "nvls-tree";
    CollectiveChooser(cluster, paths).Complete(request);
    return MakeNvlsTreeProgram(cluster, paths, request);
}

} // namespace

TEST(NvlsPlan, ChannelsDependOnGpuVersionAndServers)
{
    for (const uint32_t version : {217, 226, 230})
    {
        EXPECT_EQ(Plan(version, 90, 1).channels, 16u);
        EXPECT_EQ(Plan(version, 90, 4).channels, 16u);
    }
    EXPECT_EQ(Plan(226, 100, 1).channels, 32u);
    EXPECT_EQ(Plan(227, 100, 1).channels, 24u);
    EXPECT_EQ(Plan(227, 100, 4).channels, 32u);
    EXPECT_EQ(Plan(230, 100, 2).channels, 32u);
    EXPECT_EQ(Plan(230, 100, 4).channels, 24u);
}

TEST(NvlsPlan, ChunksDependOnServersAndCards)
{
    EXPECT_EQ(Plan(218, 90, 4).treeChunkBytes, WHOLE_SLOT_BYTES);
    EXPECT_EQ(Plan(219, 90, 4).treeChunkBytes, 64 * KIB);
    EXPECT_EQ(Plan(219, 90, 3).treeChunkBytes, WHOLE_SLOT_BYTES);
    EXPECT_EQ(Plan(220, 90, 3).chunkBytes, 128 * KIB);
    EXPECT_EQ(Plan(221, 90, 3).treeChunkBytes, 128 * KIB);
    EXPECT_EQ(Plan(229, 100, 2).treeChunkBytes, 128 * KIB);
    EXPECT_EQ(Plan(230, 100, 2).treeChunkBytes, 64 * KIB);
    EXPECT_EQ(Plan(230, 100, 2).chunkBytes, 128 * KIB);
    // Few GPUs for each server, and NICs of 800 Gb/s, get long chunks.
    EXPECT_EQ(PlanNvls({230, 100, 2, 4, 50, PathType::PXB}).treeChunkBytes, 256 * KIB);
    EXPECT_EQ(PlanNvls({230, 100, 4, 8, 100, PathType::PXB}).chunkBytes, 256 * KIB);
    EXPECT_EQ(PlanNvls({230, 100, 4, 32, 100, PathType::PXB}).treeChunkBytes, 64 * KIB);
    EXPECT_EQ(PlanNvls({230, 100, 4, 8, 50, PathType::PHB}).treeChunkBytes, 128 * KIB);
}

TEST(NvlsPlan, IsThatOfRequests)
{
    const auto complete = [](const char* preset,
                             uint32_t servers,
                             const char* algorithm,
                             uint32_t version = 230,
                             const char* variables = "") {
        const Cluster cluster = MakeCluster(preset, servers);
        const Paths paths(cluster);
        CollectiveRequest request;
        request.vertices = cluster.GetGpus();
        request.bytes = uint64_t{16} << 30;
        request.algorithm = algorithm;
        CollectivePreferences preferences;
        preferences.ncclVersion = version;
        preferences.variables = ParseNcclVariables(variables, version);
        CollectiveChooser(cluster, paths, preferences).Complete(request);
        return request;
    };
    // Trees up to 2.20 have as long chunks as a slot, whatever NVLS has.
    EXPECT_EQ(complete("dgx-h100", 2, "nvls-tree", 220).chunkBytes, 512 * KIB);
    EXPECT_EQ(complete("dgx-h100", 2, "nvls-tree", 220, "NCCL_BUFFSIZE=8M").chunkBytes, 1024 * KIB);
    EXPECT_EQ(
        complete("dgx-h100", 2, "nvls-tree", 230, "NCCL_NVLSTREE_MAX_CHUNKSIZE=512K").chunkBytes,
        128 * KIB);
    EXPECT_EQ(complete("hgx-b200", 1, "nvls").channels, 24u);
    EXPECT_EQ(complete("dgx-h100", 4, "nvls-tree").chunkBytes, 64 * KIB);
    EXPECT_EQ(complete("dgx-h100", 2, "nvls-tree").chunkBytes, 128 * KIB);
}

TEST(NvlsHeads, OfEveryRankOfHalfAnAllReduce)
{
    const auto timeUs = [](uint32_t ranks, Collective collective) {
        const Cluster cluster = MakeCluster("gb200-nvl72", 1);
        const Paths paths(cluster);
        const std::vector<VertexId> vertices(cluster.GetGpus().begin(),
                                             cluster.GetGpus().begin() + ranks);
        const NcclCostModel model(CollectiveChooser(cluster, paths).MakeSystem(vertices));
        return model.GetTimeUs(collective,
                               NcclAlgorithm::NVLS,
                               NcclProtocol::SIMPLE,
                               uint64_t{1} << 30);
    };
    EXPECT_TRUE(std::isfinite(timeUs(32, Collective::ALL_GATHER)));
    EXPECT_FALSE(std::isfinite(timeUs(36, Collective::ALL_GATHER)));
    EXPECT_FALSE(std::isfinite(timeUs(36, Collective::REDUCE_SCATTER)));
    EXPECT_TRUE(std::isfinite(timeUs(36, Collective::ALL_REDUCE)));
}

TEST(NvlsHeads, NeedThreeGpusOfAServerInSomeVersions)
{
    const auto timeUs = [](uint32_t version, uint32_t ranks, uint32_t servers) {
        const Cluster cluster = MakeCluster("dgx-h100", servers);
        const Paths paths(cluster);
        std::vector<VertexId> vertices;
        for (uint32_t rank = 0; rank < ranks * servers; ++rank)
        {
            vertices.push_back(cluster.GetGpus()[rank / ranks * 8 + rank % ranks]);
        }
        NcclSystem system = CollectiveChooser(cluster, paths).MakeSystem(vertices);
        system.version = version;
        return NcclCostModel(system).GetTimeUs(Collective::ALL_REDUCE,
                                               servers > 1 ? NcclAlgorithm::NVLS_TREE
                                                           : NcclAlgorithm::NVLS,
                                               NcclProtocol::SIMPLE,
                                               uint64_t{1} << 30);
    };
    for (const uint32_t servers : {1, 2})
    {
        EXPECT_FALSE(std::isfinite(timeUs(218, 2, servers)));
        EXPECT_FALSE(std::isfinite(timeUs(227, 2, servers)));
        EXPECT_TRUE(std::isfinite(timeUs(227, 3, servers)));
        EXPECT_TRUE(std::isfinite(timeUs(228, 2, servers)));
    }
    EXPECT_TRUE(std::isfinite(timeUs(217, 2, 1)));
}

TEST(NvlsTree, WarpsAreFewWhereServersHaveAParent)
{
    // By GPUs of each of two servers: warps that copy in blocks with a parent and without one.
    for (const auto& [ranks, few, many] :
         std::vector<std::array<uint32_t, 3>>{{8, 5, 7}, {3, 5, 6}})
    {
        const Cluster cluster = MakeCluster("dgx-h100", 2);
        CollectiveRequest request;
        for (uint32_t rank = 0; rank < 2 * ranks; ++rank)
        {
            request.vertices.push_back(cluster.GetGpus()[rank / ranks * 8 + rank % ranks]);
        }
        const CollectiveProgram program = MakeLargeTree(cluster, request);
        const BlockShares shares(program);
        const CollectiveKernelCost& costs = GetCollectiveKernelCost(90);
        for (uint32_t rank = 0; rank < 2 * ranks; ++rank)
        {
            std::set<uint32_t> counts;
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                // One tree has its root in each server: every other channel.
                const uint32_t warps = (rank < ranks) == (block.channel % 2 == 0) ? many : few;
                const BlockShare share = shares.Get(rank, block);
                counts.insert(share.warps);
                EXPECT_TRUE(share.warps == 0 || share.warps == warps) << rank << block.channel;
                const bool isGroup = block.group != NO_GROUP;
                const BlockCost cost =
                    GetBlockCost(costs, Protocol::SIMPLE, share, isGroup, {}, {});
                EXPECT_NEAR(isGroup && share.warps > 0 ? 1e12 / cost.warpsPsPerByte : 0,
                            share.warps * costs.groupWarpBytesPerSecond,
                            1);
            }
            EXPECT_EQ(counts, (std::set<uint32_t>{0, few, many})); // heads are not counted
        }
    }
}

TEST(NvlsTree, WarpsWaitForTheMemoryOfTheGpu)
{
    // 3.15 GB/s of each by the 3350 GB/s of an H100, of which 8.7 % of the time are memory's.
    const CollectiveKernelCost& costs = GetCollectiveKernelCost(90);
    BlockShare share;
    share.part = 1;
    share.warps = 5;
    const auto getPsPerByte = [&](double memoryBytesPerSecond) {
        share.memoryBytesPerSecond = memoryBytesPerSecond;
        return GetBlockCost(costs, Protocol::SIMPLE, share, true, {}, {}).warpsPsPerByte;
    };
    EXPECT_NEAR(getPsPerByte(3350e9), 1000 / (5 * 3.15), 1e-9);
    EXPECT_NEAR(getPsPerByte(0), 1000 / (5 * 3.15), 1e-9);
    EXPECT_NEAR(getPsPerByte(6700e9), 1000 / (5 * 3.15) * (1 - 0.087 / 2), 1e-9);
    EXPECT_NEAR(1000 / (5 * getPsPerByte(4800e9)), 3.235, 0.001); // H200
}

TEST(NvlsTree, HeadsPassOnInOneStep)
{
    // Three servers: on each channel one has a parent and a child, or two children.
    const Cluster cluster = MakeCluster("dgx-h100", 3);
    CollectiveRequest request;
    request.vertices = cluster.GetGpus();
    const CollectiveProgram program = MakeLargeTree(cluster, request);
    const BlockShares shares(program);
    const CollectiveKernelCost& costs = GetCollectiveKernelCost(90);
    const BlockHop hop{HopKind::NETWORK};
    std::set<bool> seen;
    for (uint32_t rank = 0; rank < request.vertices.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            const bool isGroup = block.group != NO_GROUP;
            const bool receives = block.receivePeer != NO_RANK;
            const bool sends = block.sendPeer != NO_RANK;
            const auto isOfSum = [](const Step& step) {
                return step.kind == StepKind::GROUP_RECV && step.peer == NO_RANK;
            };
            const bool isSum = std::any_of(block.steps.begin(), block.steps.end(), isOfSum);
            const BlockShare share = shares.Get(rank, block);
            EXPECT_EQ(share.passesOn, isSum || (receives && !sends)) << rank;
            const BlockCost cost = GetBlockCost(costs,
                                                Protocol::SIMPLE,
                                                share,
                                                isGroup,
                                                receives ? std::make_optional(hop) : std::nullopt,
                                                sends ? std::make_optional(hop) : std::nullopt);
            EXPECT_EQ(cost.GetOccupancyPs(block.steps.front()) == 0, share.passesOn) << rank;
            EXPECT_EQ(cost.latencyPs > 0, receives) << rank; // proxies take their time
            seen.insert(share.passesOn);
        }
    }
    EXPECT_EQ(seen.size(), 2u);
}
