/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-connection.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * The part of its share that a channel handles in one of its loops. On GPUs, channels that share a
 * link drift apart, until one uses the link while the other copies what it received last. To have
 * them apart from the beginning, odd channels begin and end with half a loop. Through the memory of
 * a host no rank copies without its link, and channels stay together.
 * @param share of the channel, bytes @param isApart whether it begins with half a loop
 * @param loops that others make @param loop which one, from 0 to GetNLoops() - 1
 * @return the part
 */
Extent
CutLoop(const Extent& share, bool isApart, uint64_t loops, uint64_t loop)
{
    if (!isApart || loops == 1)
    {
        return CutExtent(share, loops, loop);
    }
    Extent part = CutExtent(share, 2 * loops, loop == 0 ? 0 : 2 * loop - 1);
    if (loop > 0 && loop < loops)
    {
        part.bytes += CutExtent(share, 2 * loops, 2 * loop).bytes;
    }
    return part;
}

/// @param isApart whether a channel begins with half a loop @param loops of others
/// @return how many it makes
uint64_t
GetNLoops(bool isApart, uint64_t loops)
{
    return !isApart || loops == 1 ? loops : loops + 1;
}

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
 * @param isApart whether it begins with half a loop
 * @return what the rank at that place does
 */
ThreadBlock
MakeRingBlock(const CollectiveRequest& request,
              const std::vector<uint32_t>& order,
              uint32_t p,
              uint32_t channel,
              uint32_t channels,
              bool isApart)
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
    for (uint64_t loop = 0; loop < GetNLoops(isApart, loops); ++loop)
    {
        AppendTurn(request.collective, n, [&](StepKind kind, uint32_t back) {
            const Extent segment = CutExtent(whole, n, order[(p + 2 * n - back) % n]);
            const Extent share = CutExtent(segment, channels, channel);
            AppendSteps(block,
                        kind,
                        CutLoop(share, isApart, loops, loop),
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
    const bool staysTogether =
        !orders.empty() && HasHostMemory(cluster, paths, request, orders.front());
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
                              channel % 2 == 1 && !staysTogether));
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
        // CHUNKSTEPS 4, SLICESTEPS 2; no slice below a 32nd of a slot.
        plan.leastStepBytes = plan.stepBytes / 32;
        plan.stepBytes *= 2;
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
