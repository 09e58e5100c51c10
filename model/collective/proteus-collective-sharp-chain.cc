/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-switch-sum.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Of 640 threads, 384 sum up on the way to the NIC, as of trees, and 256 hand on what comes back;
/// one warp of these does nothing but post (NVIDIA/nccl v2.14.3 to v2.30.7, all_reduce.h of the
/// device, NCCL_ALGO_COLLNET_CHAIN).
constexpr uint16_t WARPS_DOWN = 7;

/// Makes one program.
class SharpChainMaker
{
  public:
    SharpChainMaker(const CollectiveRequest& request, const ServerChains& chains)
        : m_request(request),
          m_chains(chains),
          m_builder(request, "sharp-chain", static_cast<uint32_t>(chains.size()))
    {
    }

    CollectiveProgram Make()
    {
        const std::size_t channels = m_chains.size();
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const auto chunks =
                m_builder.CutChunks(CutExtent({0, m_request.bytes}, channels, channel));
            for (const auto& chain : m_chains[channel])
            {
                for (std::size_t place = chain.size(); place-- > 0;)
                {
                    Append(channel, chain, place, chunks, true);
                }
            }
            std::vector<uint32_t> heads;
            for (const auto& chain : m_chains[channel])
            {
                heads.push_back(chain.front());
            }
            AppendSwitchSum(m_builder, heads, channel, chunks, m_request.slots);
            for (const auto& chain : m_chains[channel])
            {
                for (std::size_t place = 0; place < chain.size(); ++place)
                {
                    Append(channel, chain, place, chunks, false);
                }
            }
        }
        CollectiveProgram program = m_builder.Finish();
        SetWarps(program);
        return program;
    }

  private:
    /// Appends what the rank at a place of a chain does with chunks.
    /// @param isUp whether they are summed up towards the head, or sums come from there
    void Append(uint32_t channel,
                const std::vector<uint32_t>& chain,
                std::size_t place,
                const std::vector<Extent>& chunks,
                bool isUp)
    {
        const uint32_t before = place > 0 ? chain[place - 1] : NO_RANK;
        const uint32_t behind = place + 1 < chain.size() ? chain[place + 1] : NO_RANK;
        const uint32_t from = isUp ? behind : before;
        const uint32_t to = isUp ? before : behind;
        if (from == NO_RANK && to == NO_RANK)
        {
            return;
        }
        const StepKind last = isUp ? StepKind::RECV_REDUCE : StepKind::RECV;
        const StepKind between = isUp ? StepKind::RECV_REDUCE_SEND : StepKind::RECV_COPY_SEND;
        const StepKind kind = from == NO_RANK ? StepKind::SEND : to == NO_RANK ? last : between;
        for (std::size_t i = 0; i < chunks.size(); ++i)
        {
            Step step{kind, chunks[i].offset, chunks[i].bytes};
            step.endsChunk = EndsChunk(i, chunks.size(), m_request.GetStepsOfMessage());
            m_builder.Append(chain[place],
                             m_builder.GetBlock(chain[place], channel, from, to),
                             step);
        }
    }

    /// Gives the blocks that bring sums down the warps that they have. What has the sum of a server
    /// sends it to the switches, and what hands on takes what comes from them, in the same step, so
    /// that their blocks have no thread block of their own.
    static void SetWarps(CollectiveProgram& program)
    {
        for (RankProgram& rank : program.ranks)
        {
            const auto isOfGroup = [](const ThreadBlock& block) { return block.group != NO_GROUP; };
            const bool isAlone = std::all_of(rank.blocks.begin(), rank.blocks.end(), isOfGroup);
            std::set<uint16_t> heads; // channels whose chain begins here
            for (const ThreadBlock& block : rank.blocks)
            {
                if (isOfGroup(block))
                {
                    heads.insert(block.channel);
                }
            }
            for (ThreadBlock& block : rank.blocks)
            {
                if (isOfGroup(block))
                {
                    block.processor = isAlone ? block.processor : NO_PROCESSOR;
                    continue;
                }
                const StepKind kind = block.steps.front().kind;
                const bool isDown = kind == StepKind::RECV || kind == StepKind::RECV_COPY_SEND ||
                                    (kind == StepKind::SEND && heads.count(block.channel) > 0);
                block.warps = isDown ? WARPS_DOWN : 0;
            }
        }
    }

    const CollectiveRequest& m_request;
    const ServerChains& m_chains;
    ProgramBuilder m_builder;
};

/// See AlgorithmTraits::planChunks: NVIDIA/nccl v2.14.3 to v2.30.7, src/enqueue.cc, "Optimize
/// chunkSize / nSteps" of CollNetChain, and src/graph/connect.cc, collnetChain.depth.
void
PlanSharpChainChunks(const ChunkQuestion& question, ChunkPlan& plan)
{
    constexpr uint64_t MOST_BYTES = uint64_t{256} << 10;
    constexpr std::array<std::pair<uint64_t, uint64_t>, 3> LEAST{
        {{64, 131072}, {8, 65536}, {1, 32768}}}; // chunks of a chain's length, bytes of a chunk
    const uint64_t depth = question.ranks / std::max(question.servers, 1u);
    const uint64_t channels = std::max(question.channels, 1u);
    plan.stepBytes = std::min(MOST_BYTES, plan.stepBytes);
    for (const auto& [factor, least] : LEAST)
    {
        while (question.bytes / (channels * plan.stepBytes) < depth * factor &&
               plan.stepBytes > least)
        {
            plan.stepBytes /= 2;
        }
    }
}

/// All-reduce by the switches of the network, as NCCL's CollNet chain: each channel sums up along a
/// chain of the ranks of a server; its first ranks, one in every server, let the network sum up
/// what they have, and the result comes back along the chain.
/// @param cluster where the ranks are @param paths of the cluster
/// @param request what is wanted, two ranks or more @return the program
/// @throw std::invalid_argument if all are in one server, or there are no switches of the network
/// that copy and combine
CollectiveProgram
MakeSharpChainProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const ServerChains chains =
        MakeServerChains(cluster, paths, request.vertices, request.channels, request.rules);
    std::vector<std::vector<uint32_t>> heads;
    for (const auto& servers : chains)
    {
        heads.emplace_back();
        for (const auto& chain : servers)
        {
            heads.back().push_back(chain.front());
        }
    }
    CheckSwitchSums(cluster, request, "sharp-chain", heads);
    return SharpChainMaker(request, chains).Make();
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_SHARP_CHAIN([]() {
    AlgorithmTraits traits;
    traits.name = "sharp-chain";
    traits.place = 45;
    traits.makers[Collective::ALL_REDUCE] = &MakeSharpChainProgram;
    traits.planChunks = &PlanSharpChainChunks;
    traits.hasSwitchChannels = true;
    traits.hasTreeSteps = true;
    traits.hasCommonChunks = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
