/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include "ns3/proteus-nvls-heads.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

bool
AreJoinedByReducingSwitches(const Cluster& cluster,
                            const std::vector<VertexId>& endpoints,
                            VertexKind kind)
{
    std::set<VertexId> reached{endpoints.front()};
    std::vector<VertexId> open{endpoints.front()};
    while (!open.empty())
    {
        const VertexId at = open.back();
        open.pop_back();
        for (const Port& port : cluster.GetPorts(at))
        {
            const Vertex& next = cluster.GetVertices()[port.neighbor];
            const bool isSwitch = next.kind == kind && next.multicast && next.reduction;
            // Through switches only; endpoints are where ways end.
            const bool isEnd = cluster.GetVertices()[at].kind == kind &&
                               next.kind == cluster.GetVertices()[endpoints.front()].kind;
            if ((isSwitch || isEnd) && reached.insert(port.neighbor).second && isSwitch)
            {
                open.push_back(port.neighbor);
            }
        }
    }
    return std::all_of(endpoints.begin(), endpoints.end(), [&](VertexId endpoint) {
        return reached.count(endpoint) > 0;
    });
}

namespace
{

constexpr uint32_t DEFAULT_CHANNELS = 16; // NCCL's on H100

/// The loops that a channel makes over a part of the buffer.
std::vector<Extent>
CutLoops(const Extent& extent, uint64_t loopBytes)
{
    std::vector<Extent> loops((extent.bytes + loopBytes - 1) / loopBytes);
    for (std::size_t i = 0; i < loops.size(); ++i)
    {
        loops[i] = CutExtent(extent, loops.size(), i);
    }
    return loops;
}

/**
 * Of the 20 warps of a thread block of NVLSTree nine sum up, send to a parent and multicast what
 * comes from it; without a parent five do, or seven for up to six ranks. Of the others half gather,
 * or one less than half: they are the fewest (NVIDIA/nccl v2.18.3 to v2.30.7, all_reduce.h of the
 * device).
 * @param hasParent whether the server has one @param ranks of the program
 * @return warps that gather
 */
uint16_t
CountGatherWarps(bool hasParent, uint32_t ranks)
{
    constexpr uint16_t WARPS = 20;
    constexpr uint32_t FEW_RANKS = 6;
    const uint16_t others = hasParent ? 9 : ranks <= FEW_RANKS ? 7 : 5;
    return (WARPS - others) / 2;
}

/// The ranks of an NVLink domain, with their blocks on one channel.
class NvlsChannel
{
  public:
    /**
     * @param builder of the program @param request for it @param members of the domain
     * @param heads how many of the members, from the first one on, sum up and multicast a slice
     * @param channel of the program @param isTree whether heads go on to other domains
     * @param gatherWarps of a thread block, which copy what is multicast to where users have it; 0:
     * not counted
     */
    NvlsChannel(ProgramBuilder& builder,
                const CollectiveRequest& request,
                const std::vector<uint32_t>& members,
                std::size_t heads,
                uint32_t channel,
                bool isTree,
                uint16_t gatherWarps)
        : m_builder(builder),
          m_slots(request.slots),
          m_members(members),
          m_nHeads(heads),
          m_channel(channel),
          m_group(builder.AddGroup(members)),
          m_loopEnds(members.size())
    {
        for (std::size_t i = 0; i < members.size(); ++i)
        {
            const uint32_t member = members[i];
            m_givers.push_back(builder.AddGroupBlock(member, channel, m_group));
            if (i < heads)
            {
                m_heads.push_back(builder.AddGroupBlock(member, channel, m_group));
                // Other warps than those that get sums multicast what comes down a tree.
                m_casters.push_back(isTree ? builder.AddGroupBlock(member, channel, m_group)
                                           : m_heads.back());
            }
            m_takers.push_back(builder.AddGroupBlock(member, channel, m_group, gatherWarps));
        }
    }

    /// Slice h of the loop is summed up by the switches for head h.
    void Reduce(const Extent& loop)
    {
        // A member gives to a loop when it has the result of the one that had the same slot: then
        // all that the heads send has room everywhere.
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            const auto& ends = m_loopEnds[i];
            if (ends.size() >= m_slots && ends[ends.size() - m_slots] > 0)
            {
                m_builder.WaitForStep(m_members[i],
                                      m_givers[i],
                                      m_takers[i],
                                      ends[ends.size() - m_slots] - 1);
            }
        }
        for (std::size_t turn = 0; turn < m_nHeads; ++turn)
        {
            GiveSlice(Head(turn), CutExtent(loop, m_nHeads, Head(turn)));
        }
        // The warps that scatter a loop over all heads post it when all of it is there.
        for (std::size_t h = 0; h < m_nHeads; ++h)
        {
            m_builder.WaitFor(m_members[h], m_heads[h], m_givers[h]);
            TakeSum(h, CutExtent(loop, m_nHeads, h));
        }
    }

    /// @param turn within a loop @return the head whose turn it is: on every channel another one
    /// is the first, so that at any time all of them are busy
    std::size_t Head(std::size_t turn) const
    {
        return (turn + m_channel) % m_nHeads;
    }

    /// A slice is summed up for head h.
    void ReduceSlice(std::size_t h, const Extent& slice)
    {
        GiveSlice(h, slice);
        TakeSum(h, slice);
    }

    /// All members give a slice to the sum for head h.
    void GiveSlice(std::size_t h, const Extent& slice)
    {
        if (slice.bytes == 0)
        {
            return;
        }
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            Step give{StepKind::GROUP_REDUCE, slice.offset, slice.bytes};
            give.peer = m_members[h];
            m_builder.Append(m_members[i], m_givers[i], give);
        }
    }

    /// Head h takes the sum of a slice.
    void TakeSum(std::size_t h, const Extent& slice)
    {
        if (slice.bytes > 0)
        {
            m_builder.Append(m_members[h],
                             m_heads[h],
                             {StepKind::GROUP_RECV, slice.offset, slice.bytes});
        }
    }

    /// Every head of the loop gives its slice to all.
    void Multicast(const Extent& loop)
    {
        for (std::size_t turn = 0; turn < m_nHeads; ++turn)
        {
            MulticastSlice(Head(turn), CutExtent(loop, m_nHeads, Head(turn)));
        }
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            m_loopEnds[i].push_back(m_builder.GetNSteps(m_members[i], m_takers[i]));
        }
    }

    /// Head h gives a slice to all.
    void MulticastSlice(std::size_t h, const Extent& slice)
    {
        if (slice.bytes == 0)
        {
            return;
        }
        m_builder.Append(m_members[h],
                         m_casters[h],
                         {StepKind::GROUP_MULTICAST, slice.offset, slice.bytes});
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            Step take{StepKind::GROUP_RECV, slice.offset, slice.bytes};
            take.peer = m_members[h];
            m_builder.Append(m_members[i], m_takers[i], take);
        }
    }

    /**
     * Members wait for each other by a sum of no bytes, whose flags the switches give to all.
     * @param taken a member takes part when it has taken all that was multicast to it so far; else
     * when its head has got all sums so far
     */
    void Synchronise(bool taken)
    {
        if (m_flags.empty())
        {
            const uint32_t group = m_builder.AddGroup(m_members);
            for (const uint32_t member : m_members)
            {
                m_flags.push_back(m_builder.AddGroupBlock(member, m_channel, group));
            }
        }
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            m_builder.WaitFor(m_members[i], m_flags[i], taken ? m_takers[i] : m_heads[i]);
            m_builder.Append(m_members[i], m_flags[i], {StepKind::GROUP_ALL_REDUCE, 0, 0});
        }
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            m_builder.Append(m_members[i], m_flags[i], {StepKind::GROUP_RECV, 0, 0});
        }
        m_flagEnds.push_back(m_builder.GetNSteps(m_members.front(), m_flags.front()) - 1);
    }

    /**
     * What members send next waits until a synchronisation is done.
     * @param number which synchronisation, counted from 0
     * @param heads whether it holds back what heads multicast, or what members give to sums
     */
    void WaitForFlags(std::size_t number, bool heads)
    {
        for (std::size_t i = 0; i < m_members.size(); ++i)
        {
            m_builder.WaitForStep(m_members[i],
                                  heads ? m_casters[i] : m_givers[i],
                                  m_flags[i],
                                  m_flagEnds[number]);
        }
    }

  private:
    ProgramBuilder& m_builder;
    uint32_t m_slots;
    const std::vector<uint32_t>& m_members;
    std::size_t m_nHeads; //!< the first members
    uint32_t m_channel;
    uint32_t m_group;
    std::vector<uint32_t> m_givers;                //!< by member: block that gives to sums
    std::vector<uint32_t> m_heads;                 //!< by head: block that gets its sums
    std::vector<uint32_t> m_casters;               //!< by head: block that multicasts
    std::vector<uint32_t> m_takers;                //!< by member: block that takes multicasts
    std::vector<uint32_t> m_flags;                 //!< by member: block of synchronisations
    std::vector<std::vector<uint32_t>> m_loopEnds; //!< by member and loop: steps of the taker
    std::vector<uint32_t> m_flagEnds;              //!< by synchronisation: step that ends it
};

/// The ranks of each server, or all of them, that NVSwitches join.
void
RequireNvls(const Cluster& cluster,
            const CollectiveRequest& request,
            const std::vector<uint32_t>& members,
            const char* algorithm)
{
    std::vector<VertexId> vertices;
    for (const uint32_t rank : members)
    {
        vertices.push_back(request.vertices[rank]);
    }
    if (!AreJoinedByReducingSwitches(cluster, vertices, VertexKind::NVSWITCH))
    {
        throw std::invalid_argument(std::string(ToString(request.collective)) + ": algorithm " +
                                    algorithm +
                                    " needs ranks that NVSwitches with multicast and reduction "
                                    "join, from H100 on");
    }
}

} // namespace

CollectiveProgram
MakeNvlsProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    const uint32_t channels = request.channels > 0 ? request.channels : DEFAULT_CHANNELS;
    ProgramBuilder builder(request, "nvls", channels);
    const uint32_t n = builder.GetNRanks();
    std::vector<uint32_t> members(n);
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        members[rank] = rank;
    }
    RequireNvls(cluster, request, members, "nvls");
    const Extent whole{0, request.bytes};
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        NvlsChannel nvls(builder, request, members, members.size(), channel, false, 0);
        if (request.collective == Collective::ALL_REDUCE)
        {
            for (const Extent& loop :
                 CutLoops(CutExtent(whole, channels, channel), request.chunkBytes * n))
            {
                nvls.Reduce(loop);
                nvls.Multicast(loop);
            }
            continue;
        }
        // Every rank has a segment; a loop takes a slice of each. Half of the slots make a window
        // of loops, which begins when all ranks are done with the window before the last, so that
        // the slots of that one are free.
        const bool gathers = request.collective == Collective::ALL_GATHER;
        const std::size_t window = request.slots / 2;
        constexpr std::size_t lag = 2;
        const uint64_t longest = CutExtent(CutExtent(whole, n, 0), channels, channel).bytes;
        const std::size_t loops = CutLoops({0, longest}, request.chunkBytes).size();
        if (gathers && loops > 0)
        {
            nvls.Synchronise(true); // all have room
            nvls.WaitForFlags(0, true);
        }
        for (std::size_t loop = 0; loop < loops; ++loop)
        {
            const std::size_t number = loop / window;
            if (loop % window == 0 && number >= lag)
            {
                nvls.WaitForFlags(number - lag + (gathers ? 1 : 0), gathers);
            }
            for (uint32_t i = 0; i < n; ++i)
            {
                const auto h = static_cast<uint32_t>(nvls.Head(i));
                const Extent slice =
                    CutExtent(CutExtent(CutExtent(whole, n, h), channels, channel), loops, loop);
                gathers ? nvls.MulticastSlice(h, slice) : nvls.ReduceSlice(h, slice);
            }
            const bool isLast = (loop + 1) % window == 0;
            if (isLast && (number + lag) * window < loops)
            {
                nvls.Synchronise(gathers);
            }
        }
    }
    return builder.Finish();
}

CollectiveProgram
MakeNvlsTreeProgram(const Cluster& cluster,
                    const Paths& /* paths */,
                    const CollectiveRequest& request)
{
    const auto servers = GroupByServer(cluster, request.vertices);
    const uint32_t channels = request.channels > 0 ? request.channels : DEFAULT_CHANNELS;
    // Every server has as many heads as the one with fewest ranks: ncclTopoPostset() of NCCL
    // (github.com/NVIDIA/nccl, src/graph/connect.cc, minHeadNum).
    const std::size_t places = CountLeastRanks(servers);
    if (places < 2)
    {
        throw std::invalid_argument(
            std::string(ToString(request.collective)) +
            ": algorithm nvls-tree needs two ranks or more in every server");
    }
    ProgramBuilder builder(request, "nvls-tree", channels);
    for (const auto& server : servers)
    {
        RequireNvls(cluster, request, server, "nvls-tree");
    }
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        // Of each place: the heads of all servers.
        std::vector<RankTree> trees;
        for (std::size_t place = 0; place < places; ++place)
        {
            std::vector<std::vector<uint32_t>> heads;
            for (const auto& server : servers)
            {
                heads.push_back({server[place]});
            }
            trees.push_back(JoinChains(heads, builder.GetNRanks(), channel % 2 == 1));
        }
        std::vector<NvlsChannel> domains;
        for (const auto& server : servers)
        {
            const bool hasParent = trees.front().parent[server.front()] != NO_RANK;
            const uint16_t warps = CountGatherWarps(hasParent, builder.GetNRanks());
            domains.emplace_back(builder, request, server, places, channel, true, warps);
        }
        const Extent share = CutExtent({0, request.bytes}, channels, channel);
        for (const Extent& loop : CutLoops(share, request.chunkBytes * places))
        {
            for (NvlsChannel& domain : domains)
            {
                domain.Reduce(loop);
            }
            for (std::size_t place = 0; place < places && servers.size() > 1; ++place)
            {
                const Extent slice = CutExtent(loop, places, place);
                if (slice.bytes > 0)
                {
                    AppendUp(builder, trees[place], channel, slice);
                    AppendDown(builder, trees[place], channel, slice);
                }
            }
            for (NvlsChannel& domain : domains)
            {
                domain.Multicast(loop);
            }
        }
    }
    return builder.Finish();
}

namespace
{

/// A chunk is halved, at most to `bytes`, while there are less loops than these over all channels
/// and heads.
struct LeastLoops
{
    uint64_t loops; //!< least number of loops
    uint64_t bytes; //!< chunk then
};

/// See AlgorithmTraits::planChunks. @param most bytes of a chunk
void
PlanNvlsChunks(const ChunkQuestion& question,
               uint64_t most,
               const std::vector<LeastLoops>& limits,
               ChunkPlan& plan)
{
    const uint64_t heads =
        std::max(GetNvlsRanks(question.leastRanks, question.ranks, std::max(question.servers, 1u)),
                 1u);
    const uint64_t operations = std::max(question.channels, 1u) * heads;
    plan.stepBytes = std::min(plan.stepBytes, most);
    for (const auto& [loops, bytes] : limits)
    {
        if (question.bytes < loops * operations * plan.stepBytes && plan.stepBytes > bytes)
        {
            plan.stepBytes = bytes;
        }
    }
}

/// @return what both have in common
AlgorithmTraits
MakeNvlsTraits()
{
    AlgorithmTraits traits;
    traits.hasNvlsChannels = true;
    traits.hasCommonChunks = true;
    return traits;
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_NVLS([]() {
    AlgorithmTraits traits = MakeNvlsTraits();
    traits.name = "nvls";
    traits.place = 20;
    traits.makers[Collective::ALL_REDUCE] = &MakeNvlsProgram;
    traits.makers[Collective::ALL_GATHER] = &MakeNvlsProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakeNvlsProgram;
    traits.tunable = NcclAlgorithm::NVLS;
    traits.planChunks = [](const ChunkQuestion& question, ChunkPlan& plan) {
        PlanNvlsChunks(question,
                       question.nvlsChunkBytes,
                       {{64, 65536}, {8, 32768}, {2, 16384}},
                       plan);
    };
    return traits;
}());

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_NVLS_TREE([]() {
    AlgorithmTraits traits = MakeNvlsTraits();
    traits.name = "nvls-tree";
    traits.place = 30;
    traits.makers[Collective::ALL_REDUCE] = &MakeNvlsTreeProgram;
    traits.tunable = NcclAlgorithm::NVLS_TREE;
    traits.planChunks = [](const ChunkQuestion& question, ChunkPlan& plan) {
        PlanNvlsChunks(question,
                       question.nvlsTreeChunkBytes,
                       {{32, 262144}, {16, 131072}, {4, 65536}, {1, 32768}},
                       plan);
    };
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
