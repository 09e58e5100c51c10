/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-connection.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// How a channel handles its share, loop by loop.
struct LoopPlan
{
    uint64_t loops{1};  //!< that a channel makes which stays with the others
    uint64_t inStep{1}; //!< the first of them before it does not; of one loop it always does

    /// @return whether there are loops in which it does not
    bool Leaves() const
    {
        return loops > 1 && inStep < loops;
    }

    /// @return how many loops it makes
    uint64_t Count() const
    {
        return Leaves() ? loops + 1 : loops;
    }

    /// @param share of the channel, bytes @param loop which one, from 0 to Count() - 1
    /// @return the part of the share that it handles
    Extent Cut(const Extent& share, uint64_t loop) const
    {
        if (!Leaves())
        {
            return CutExtent(share, loops, loop);
        }
        const uint64_t shift = loop > inStep ? 1 : 0;
        Extent part = CutExtent(share, 2 * loops, 2 * loop - shift);
        if (loop != inStep && loop != loops)
        {
            part.bytes += CutExtent(share, 2 * loops, 2 * loop + 1 - shift).bytes;
        }
        return part;
    }
};

/// @param cluster of the ranks @param paths of it @param request what is wanted
/// @param order of the ranks on a ring
/// @return whether some of them send to the next through the memory of their host
bool
HasHostMemory(const Cluster& cluster,
              const Paths& paths,
              const CollectiveRequest& request,
              const std::vector<uint32_t>& order)
{
    for (std::size_t p = 0; p < order.size(); ++p)
    {
        const VertexId from = request.vertices[order[p]];
        const VertexId to = request.vertices[order[(p + 1) % order.size()]];
        if (cluster.GetDomain(from) == cluster.GetDomain(to) &&
            CrossesHostMemory(cluster, paths, from, to, request.rules))
        {
            return true;
        }
    }
    return false;
}

/// LoopPlan::inStep of a channel that never leaves the others.
constexpr uint64_t ALWAYS = std::numeric_limits<uint64_t>::max();

// Steps of a channel until it no longer is where the others are. Public logs of nccl-tests on two,
// four, six and eight H100 tell it (xxrjun/nccl-tests-cluster and
// waynehacking8/nccl-collectives-bench, NCCL 2.29.2): what rings take beyond a link that is always
// used grows with the loops, by what the last step of each takes, and no longer after that many.
constexpr uint64_t STEPS_TOGETHER = 100;
/// The same of an all-reduce, whose steps last unlike each other: some copy, some add up, some
/// both.
constexpr uint64_t STEPS_TOGETHER_UNLIKE = 18;

/**
 * On GPUs, channels that share a link begin together, and all leave it idle while they copy what
 * they received last. They drift apart, until one uses the link while the other copies. Through the
 * memory of a host no rank copies without its link, and channels stay together. Across servers
 * proxies hold chunks between them, and channels are apart from the beginning.
 * @param cluster of the ranks @param paths of it @param request what is wanted
 * @param order of the ranks on a ring
 * @return LoopPlan::inStep of every other channel
 */
uint64_t
CountLoopsTogether(const Cluster& cluster,
                   const Paths& paths,
                   const CollectiveRequest& request,
                   const std::vector<uint32_t>& order)
{
    if (HasHostMemory(cluster, paths, request, order))
    {
        return ALWAYS;
    }
    const bool isOneDomain = std::all_of(order.begin(), order.end(), [&](uint32_t rank) {
        return cluster.GetDomain(request.vertices[rank]) ==
               cluster.GetDomain(request.vertices[order.front()]);
    });
    if (!isOneDomain)
    {
        return 0;
    }
    return request.collective == Collective::ALL_REDUCE
               ? STEPS_TOGETHER_UNLIKE / (2 * order.size() - 1)
               : STEPS_TOGETHER / order.size();
}

/// Appends what a rank does in one turn of a ring of n ranks. @param append gets a kind of step,
/// and by how many places back the rank stands whose segment it is for
template <typename F>
void
AppendTurn(Collective collective, uint32_t n, F append)
{
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        append(StepKind::SEND, 0);
        for (uint32_t j = 1; j + 1 < n; ++j)
        {
            append(StepKind::RECV_REDUCE_SEND, j);
        }
        append(StepKind::RECV_REDUCE_COPY_SEND, n - 1);
        for (uint32_t j = 0; j + 2 < n; ++j)
        {
            append(StepKind::RECV_COPY_SEND, j);
        }
        append(StepKind::RECV, n - 2);
        break;
    case Collective::ALL_GATHER:
        append(StepKind::SEND, 0);
        for (uint32_t j = 1; j + 1 < n; ++j)
        {
            append(StepKind::RECV_COPY_SEND, j);
        }
        append(StepKind::RECV, n - 1);
        break;
    default: // reduce-scatter; the registry sends nothing else here
        append(StepKind::SEND, 1);
        for (uint32_t j = 2; j < n; ++j)
        {
            append(StepKind::RECV_REDUCE_SEND, j);
        }
        append(StepKind::RECV_REDUCE, 0);
        break;
    }
}

/**
 * @param request what is wanted
 * @param order of the ranks on the ring
 * @param p place on the ring
 * @param channel number of the ring @param channels number of rings
 * @param inStep see LoopPlan
 * @return what the rank at that place does
 */
ThreadBlock
MakeRingBlock(const CollectiveRequest& request,
              const std::vector<uint32_t>& order,
              uint32_t p,
              uint32_t channel,
              uint32_t channels,
              uint64_t inStep)
{
    const auto n = static_cast<uint32_t>(order.size());
    const Extent whole{0, request.bytes};
    // Loops, so that a loop's part of a segment is at most half of the receiver's room.
    const uint32_t loopSteps = request.slots / 2;
    const uint64_t loopBytes = loopSteps * request.chunkBytes;
    const uint64_t longest = CutExtent(CutExtent(whole, n, 0), channels, 0).bytes;
    const uint64_t loops = std::max<uint64_t>((longest + loopBytes - 1) / loopBytes, 1);

    ThreadBlock block;
    block.channel = static_cast<uint16_t>(channel);
    block.processor = block.channel;
    block.sendPeer = order[(p + 1) % n];
    block.receivePeer = order[(p + n - 1) % n];
    const LoopPlan plan{loops, inStep};
    for (uint64_t loop = 0; loop < plan.Count(); ++loop)
    {
        AppendTurn(request.collective, n, [&](StepKind kind, uint32_t back) {
            const Extent segment = CutExtent(whole, n, order[(p + 2 * n - back) % n]);
            const Extent share = CutExtent(segment, channels, channel);
            AppendSteps(block,
                        kind,
                        plan.Cut(share, loop),
                        request.chunkBytes,
                        std::min(request.stepsPerChunk, loopSteps),
                        request.leastStepBytes,
                        std::min(request.GetStepsOfMessage(), loopSteps));
        });
    }
    return block;
}

} // namespace

CollectiveProgram
MakeRingProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    CollectiveProgram program;
    program.algorithm = "ring";
    program.bufferBytes = request.bytes;
    const auto orders =
        MakeRingOrders(cluster, paths, request.vertices, request.channels, request.rules);
    program.channels = static_cast<uint32_t>(orders.size());
    program.ranks.resize(n);
    const uint64_t inStep =
        orders.empty() ? ALWAYS : CountLoopsTogether(cluster, paths, request, orders.front());
    const GroupRelays groupRelays = FindGroupRelays(cluster, request.vertices, request.rules);
    for (uint32_t channel = 0; channel < program.channels; ++channel)
    {
        const auto& order = orders[channel];
        for (uint32_t p = 0; p < n; ++p)
        {
            program.ranks[order[p]].blocks.push_back(
                MakeRingBlock(request,
                              order,
                              p,
                              channel,
                              program.channels,
                              channel % 2 == 1 ? inStep : ALWAYS));
        }
        const auto relays = FindRingRelays(groupRelays, order);
        for (uint32_t p = 0; p < n; ++p)
        {
            if (relays[p] != NO_RANK)
            {
                InsertRelay(program, order[p], order[(p + 1) % n], relays[p], channel, channel);
            }
        }
    }
    return program;
}

namespace
{

/// Parts of a chunk of LL or LL128 that follow each other through a ring.
constexpr uint32_t LINE_PARTS = 4;
/// The same through the chain of a broadcast or reduction, where a rank has nothing else to do
/// while the first lines of a chunk are on their way through all others.
constexpr uint32_t CHAIN_LINE_PARTS = 16;

/// See AlgorithmTraits::planChunks.
void
PlanRingChunks(const ChunkQuestion& question, ChunkPlan& plan)
{
    if (question.protocol != Protocol::SIMPLE)
    {
        // A few parts are enough: a rank is busy with the others of one chunk while the first of
        // the next is on its way.
        plan.leastStepBytes = GetTraits(question.protocol).RoundBytes();
        const uint64_t most = HasRoot(question.collective) ? CHAIN_LINE_PARTS : LINE_PARTS;
        const auto parts =
            static_cast<uint32_t>(std::min(most, plan.stepBytes / plan.leastStepBytes));
        plan.stepsPerChunk = parts;
        plan.slots *= parts;
        plan.stepBytes /= parts;
    }
    else if (question.collective != Collective::BROADCAST &&
             question.collective != Collective::REDUCE)
    {
        // CHUNKSTEPS 4, SLICESTEPS 2: a slice is two slots, and none but the last of a chunk is
        // below a 32nd of that (NVIDIA/nccl v2.7.8 to v2.30.7, prims_simple.h, genericOp()).
        plan.stepBytes *= 2;
        plan.leastStepBytes = plan.stepBytes / 32;
        plan.slots /= 2;
        plan.stepsPerChunk = 2;
    }
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_RING([]() {
    AlgorithmTraits traits;
    traits.name = "ring";
    traits.place = 0;
    traits.makers[Collective::ALL_REDUCE] = &MakeRingProgram;
    traits.makers[Collective::ALL_GATHER] = &MakeRingProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakeRingProgram;
    traits.makers[Collective::BROADCAST] = &MakeChainProgram;
    traits.makers[Collective::REDUCE] = &MakeChainProgram;
    traits.tunable = NcclAlgorithm::RING;
    traits.planChunks = &PlanRingChunks;
    traits.dividesThreadsByRanks = true;
    traits.slowThreads = 256;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
