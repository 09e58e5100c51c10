/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-simple-tree.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// First tree of NCCL: position 0 has one child, odd positions are leaves.
std::vector<TreeNode>
MakeFirstTree(uint32_t n)
{
    std::vector<TreeNode> nodes(n);
    for (uint32_t position = 1; position < n; ++position)
    {
        const uint32_t bit = position & (~position + 1); // lowest one
        uint32_t parent = (position ^ bit) | bit << 1;
        parent = parent >= n ? position ^ bit : parent;
        nodes[position].parent = parent;
        nodes[position].isSecondChild = position > parent;
        nodes[parent].children[position > parent] = position;
    }
    return nodes;
}

} // namespace

std::vector<TreeNode>
MakeBinaryTree(uint32_t n, bool second)
{
    const std::vector<TreeNode> first = MakeFirstTree(n);
    if (!second)
    {
        return first;
    }
    // The mirror image of an even number, the neighbour of an odd one.
    const auto map = [n](uint32_t position) {
        return position == NO_RANK ? NO_RANK : n % 2 == 0 ? n - 1 - position : (position + 1) % n;
    };
    std::vector<TreeNode> nodes(n);
    for (uint32_t position = 0; position < n; ++position)
    {
        TreeNode& node = nodes[map(position)];
        node.parent = map(first[position].parent);
        node.children[0] = map(first[position].children[0]);
        node.children[1] = map(first[position].children[1]);
        node.isSecondChild = first[position].isSecondChild;
    }
    return nodes;
}

namespace
{

/// See JoinChains(). @param isSimple whether the first rank of a chain has all children of its
/// server (HasSimpleTree()); otherwise the second one has the first of them
RankTree
JoinByTree(const std::vector<std::vector<uint32_t>>& chains, uint32_t n, bool second, bool isSimple)
{
    RankTree tree;
    tree.parent.assign(n, NO_RANK);
    tree.children.resize(n);
    const auto join = [&](uint32_t parent, uint32_t child) {
        tree.parent[child] = parent;
        tree.children[parent].push_back(child);
    };
    for (const auto& chain : chains)
    {
        for (std::size_t i = 1; i < chain.size(); ++i)
        {
            join(chain[i - 1], chain[i]);
        }
    }
    const auto servers = MakeBinaryTree(static_cast<uint32_t>(chains.size()), second);
    uint32_t root = NO_RANK;
    for (std::size_t s = 0; s < chains.size(); ++s)
    {
        if (servers[s].parent == NO_RANK)
        {
            root = chains[s][0];
            continue;
        }
        const auto& above = chains[servers[s].parent];
        const bool isNext = !isSimple && above.size() > 1 && !servers[s].isSecondChild;
        join(above[isNext ? 1 : 0], chains[s][0]);
    }
    tree.order.push_back(root);
    for (std::size_t i = 0; i < tree.order.size(); ++i)
    {
        const auto& children = tree.children[tree.order[i]];
        tree.order.insert(tree.order.end(), children.begin(), children.end());
    }
    return tree;
}

} // namespace

RankTree
JoinChains(const std::vector<std::vector<uint32_t>>& chains, uint32_t n, bool second)
{
    return JoinByTree(chains, n, second, false);
}

namespace
{

/// Appends what one rank does of a tree. @param isUp towards the root, or away from it
/// @param endsChunk see Step
void
AppendAt(ProgramBuilder& builder,
         const RankTree& tree,
         uint32_t rank,
         uint32_t channel,
         const Extent& chunk,
         bool isUp,
         bool endsChunk = true)
{
    const uint32_t parent = tree.parent[rank];
    const auto& children = tree.children[rank];
    const auto append = [&](uint32_t from, uint32_t to, StepKind kind) {
        Step step{kind, chunk.offset, chunk.bytes};
        step.endsChunk = endsChunk;
        builder.Append(rank, builder.GetBlock(rank, channel, from, to), step);
    };
    if (isUp)
    {
        if (children.empty())
        {
            append(NO_RANK, parent, StepKind::SEND);
        }
        for (const uint32_t child : children)
        {
            const bool passesOn = child == children.back() && parent != NO_RANK;
            append(child,
                   passesOn ? parent : NO_RANK,
                   passesOn ? StepKind::RECV_REDUCE_SEND : StepKind::RECV_REDUCE);
        }
        return;
    }
    std::size_t next = 0;
    if (parent != NO_RANK)
    {
        const uint32_t first = children.empty() ? NO_RANK : children[next++];
        append(parent, first, first == NO_RANK ? StepKind::RECV : StepKind::RECV_COPY_SEND);
    }
    for (; next < children.size(); ++next)
    {
        append(NO_RANK, children[next], StepKind::SEND);
    }
}

/**
 * Of the 640 threads of a thread block of a tree of Simple 384 sum up what comes from children, and
 * 256 hand on what comes from the parent, to the children and to where the rank has its result. One
 * warp of them does nothing but post. What a warp reads once it writes once for each of them. At
 * the root all 640 do both, which is never the least (NVIDIA/nccl v2.12.12 to v2.30.7, all_reduce.h
 * of the device, runTreeSplit(); prims_simple.h, NCCL_SIMPLE_EXTRA_GROUP_IF_NTHREADS_GE).
 * @param trees by channel @param program of an all-reduce by them, which gets the warps
 */
void
SetWarps(const std::vector<RankTree>& trees, CollectiveProgram& program)
{
    constexpr uint16_t WARPS_DOWN = 7;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (ThreadBlock& block : program.ranks[rank].blocks)
        {
            const RankTree& tree = trees[block.channel];
            const auto& children = tree.children[rank];
            const bool isDown =
                std::find(children.begin(), children.end(), block.sendPeer) != children.end();
            block.warps = isDown && tree.parent[rank] != NO_RANK ? WARPS_DOWN : 0;
        }
    }
}

} // namespace

void
AppendUp(ProgramBuilder& builder, const RankTree& tree, uint32_t channel, const Extent& chunk)
{
    for (auto rank = tree.order.rbegin(); rank != tree.order.rend(); ++rank)
    {
        AppendAt(builder, tree, *rank, channel, chunk, true);
    }
}

void
AppendDown(ProgramBuilder& builder, const RankTree& tree, uint32_t channel, const Extent& chunk)
{
    for (const uint32_t rank : tree.order)
    {
        AppendAt(builder, tree, rank, channel, chunk, false);
    }
}

std::vector<RankTree>
MakeRankTrees(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    const ServerChains known =
        MakeServerChains(cluster, paths, request.vertices, request.channels, request.rules);
    const auto channels = static_cast<uint32_t>(known.size());
    const bool isAllReduce = request.collective == Collective::ALL_REDUCE;
    const bool isSimple = HasSimpleTree(cluster, paths, request.vertices, request.rules.pxn);
    std::vector<RankTree> trees;
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        // Both halves take the same chains.
        const uint32_t half = (channels + 1) / 2;
        auto chains = known[isAllReduce ? channel % half : channel];
        if (!isAllReduce)
        {
            for (std::size_t s = 0; s < chains.size(); ++s)
            {
                const auto root = std::find(chains[s].begin(), chains[s].end(), request.root);
                if (root != chains[s].end())
                {
                    std::rotate(chains[s].begin(), root, chains[s].end());
                    std::rotate(chains.begin(), chains.begin() + s, chains.end());
                    break;
                }
            }
        }
        trees.push_back(JoinByTree(chains, n, isAllReduce && channel >= half, isSimple));
    }
    return trees;
}

CollectiveProgram
MakeTreeProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const auto trees = MakeRankTrees(cluster, paths, request);
    const auto channels = static_cast<uint32_t>(trees.size());
    ProgramBuilder builder(request, "tree", channels);
    std::vector<std::vector<Extent>> chunks;
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        chunks.push_back(builder.CutChunks(CutExtent({0, request.bytes}, channels, channel)));
    }
    // The order matters within a rank only; rank by rank, what it touches stays in the caches.
    for (uint32_t rank = 0; rank < builder.GetNRanks(); ++rank)
    {
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const std::size_t steps = chunks[channel].size();
            for (std::size_t i = 0; i < steps; ++i)
            {
                const Extent& chunk = chunks[channel][i];
                const bool ends = EndsChunk(i, steps, request.GetStepsOfMessage());
                if (request.collective != Collective::BROADCAST)
                {
                    AppendAt(builder, trees[channel], rank, channel, chunk, true, ends);
                }
                if (request.collective != Collective::REDUCE)
                {
                    AppendAt(builder, trees[channel], rank, channel, chunk, false, ends);
                }
            }
        }
    }
    CollectiveProgram program = builder.Finish();
    if (request.collective == Collective::ALL_REDUCE && request.protocol == Protocol::SIMPLE)
    {
        SetWarps(trees, program);
    }
    return program;
}

namespace
{

uint32_t
FloorLog2(uint32_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        ++log;
    }
    return log;
}

/// See AlgorithmTraits::planChunks.
void
PlanTreeChunks(const ChunkQuestion& question, ChunkPlan& plan)
{
    if (question.protocol == Protocol::SIMPLE)
    {
        return;
    }
    if (question.protocol == Protocol::LL128)
    {
        const uint32_t servers = std::max(question.servers, 1u);
        const uint64_t channels = std::max(question.channels, 1u);
        const double perServer = double(question.ranks) / servers;
        const double depth = 1 + FloorLog2(servers) + 0.1 * perServer;
        for (const auto& [factor, least] :
             {std::make_pair(64.0, uint64_t{131072}), std::make_pair(16.0, uint64_t{32768})})
        {
            while (double(question.bytes / (channels * plan.stepBytes)) <
                       depth * factor / perServer &&
                   plan.stepBytes > least)
            {
                plan.stepBytes /= 2;
            }
        }
    }
    const uint64_t round = GetTraits(question.protocol).RoundBytes();
    plan.stepsPerChunk = static_cast<uint32_t>((plan.stepBytes + round - 1) / round);
    plan.slots *= plan.stepsPerChunk;
    plan.stepBytes /= plan.stepsPerChunk;
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_TREE([]() {
    AlgorithmTraits traits;
    traits.name = "tree";
    traits.place = 10;
    traits.makers[Collective::ALL_REDUCE] = &MakeTreeProgram;
    traits.makers[Collective::BROADCAST] = &MakeTreeProgram;
    traits.makers[Collective::REDUCE] = &MakeTreeProgram;
    traits.tunable = NcclAlgorithm::TREE;
    traits.hasTreeSteps = true;
    traits.planChunks = &PlanTreeChunks;
    traits.hasCommonChunks = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
