/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"
#include "proteus-message-blocks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

MessageLayout::MessageLayout(const CollectiveRequest& request)
    : m_request(request),
      m_n(static_cast<uint32_t>(request.vertices.size())),
      m_sent(request.splits.size()),
      m_received(request.splits.size())
{
    for (std::size_t i = 0; i < m_sent.size(); ++i)
    {
        const std::size_t from = i / m_n;
        const std::size_t to = i % m_n;
        m_sent[i] = to > 0 ? m_sent[i - 1] + request.splits[i - 1] : 0;
        m_received[i] = from > 0 ? m_received[i - m_n] + request.splits[i - m_n] : 0;
    }
}

Extent
MessageLayout::Rooted(uint32_t from, uint32_t to) const
{
    const bool gathers = m_request.collective == Collective::GATHER;
    return (gathers ? to : from) == m_request.root
               ? CutExtent({0, m_request.bytes}, m_n, gathers ? from : to)
               : Extent{};
}

Extent
MessageLayout::Sent(uint32_t from, uint32_t to) const
{
    if (m_request.collective != Collective::ALL_TO_ALL)
    {
        return Rooted(from, to);
    }
    const std::size_t pair = std::size_t{from} * m_n + to;
    return m_sent.empty() ? CutExtent({0, m_request.bytes}, m_n, to)
                          : Extent{m_sent[pair], m_request.splits[pair]};
}

Extent
MessageLayout::Received(uint32_t from, uint32_t to) const
{
    if (m_request.collective != Collective::ALL_TO_ALL)
    {
        return Rooted(from, to);
    }
    if (m_sent.empty())
    {
        const uint64_t share = CutExtent({0, m_request.bytes}, m_n, to).bytes;
        return {from * share, share};
    }
    const std::size_t pair = std::size_t{from} * m_n + to;
    return {m_received[pair], m_request.splits[pair]};
}

uint64_t
MessageLayout::GetMostReceived() const
{
    uint64_t most = 0;
    for (uint32_t to = 0; to < m_n; ++to)
    {
        const Extent last = Received(m_n - 1, to);
        most = std::max(most, last.offset + last.bytes);
    }
    return most;
}

namespace
{

/// Appends a block that only sends, or only receives, unless there is nothing to do.
void
AppendBlock(RankProgram& rank,
            bool sends,
            uint32_t peer,
            uint32_t channel,
            uint32_t processor,
            const Extent& extent,
            const CollectiveRequest& request)
{
    ThreadBlock block;
    block.channel = static_cast<uint16_t>(channel);
    block.processor = static_cast<uint16_t>(processor);
    (sends ? block.sendPeer : block.receivePeer) = peer;
    AppendSteps(block, sends ? StepKind::SEND : StepKind::RECV, extent, request.chunkBytes);
    if (!block.steps.empty())
    {
        rank.blocks.push_back(std::move(block));
    }
}

/// @param rank of a program @param number of a block of it @param step of the block, its first one
/// that waits for nothing, which from now on waits until the other block is done
void
WaitForEnd(const RankProgram& rank, uint32_t number, Step& step)
{
    step.waitBlock = number;
    step.waitStep = static_cast<uint32_t>(rank.blocks[number].steps.size() - 1);
}

/**
 * NCCL 2.7: a thread block sends and receives over one distance of ranks after the other, and
 * copies what the rank has for itself before (NVIDIA/nccl v2.7.8, src/collectives/device/sendrecv.h
 * and src/enqueue.cc: each is a kernel operation of its own).
 * @param rank of the program @param number of it @param ranks how many there are
 */
void
DoOneByOne(RankProgram& rank, uint32_t number, uint32_t ranks)
{
    // By thread block and distance.
    std::map<std::pair<uint16_t, uint32_t>, std::vector<uint32_t>> operations;
    for (uint32_t i = 0; i < rank.blocks.size(); ++i)
    {
        const ThreadBlock& block = rank.blocks[i];
        const uint32_t distance = block.sendPeer != NO_RANK ? block.sendPeer + ranks - number
                                  : block.receivePeer != NO_RANK
                                      ? number + ranks - block.receivePeer
                                      : 0;
        operations[{block.processor, distance % ranks}].push_back(i);
    }
    for (auto later = operations.begin(); later != operations.end(); ++later)
    {
        if (later == operations.begin() || std::prev(later)->first.first != later->first.first)
        {
            continue; // the first one of its thread block
        }
        const std::vector<uint32_t>& before = std::prev(later)->second;
        for (const uint32_t i : later->second)
        {
            ThreadBlock& block = rank.blocks[i];
            for (std::size_t j = 1; j < before.size(); ++j)
            {
                Step wait{StepKind::WAIT};
                WaitForEnd(rank, before[j], wait);
                block.steps.insert(block.steps.begin(), wait);
            }
            // Steps of messages wait for no others.
            WaitForEnd(rank, before.front(), block.steps[before.size() - 1]);
        }
    }
}

} // namespace

CollectiveProgram
MakeDirectProgram(const Cluster& cluster,
                  const Paths& /* paths */,
                  const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    const MessageLayout layout(request);
    const uint32_t localChannels = std::max(request.channels, 1u);
    const uint32_t networkChannels =
        request.networkChannels > 0 ? request.networkChannels : localChannels;
    CollectiveProgram program;
    program.algorithm = "direct";
    program.channels = std::max(localChannels, networkChannels);
    program.bufferBytes = request.bytes;
    if (request.collective == Collective::ALL_TO_ALL)
    {
        program.inPlace = false;
        program.outputOffset = request.bytes;
        program.bufferBytes += layout.GetMostReceived();
    }
    program.ranks.resize(n);
    program.sharesWarps = true;
    const MessageBlocks spread(cluster, request);
    const auto server = [&](uint32_t rank) { return cluster.GetDomain(request.vertices[rank]); };
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        // Nearest first, so that no two ranks begin with the same receiver.
        for (uint32_t step = 1; step < n; ++step)
        {
            for (const bool sends : {true, false})
            {
                const uint32_t peer = (sends ? rank + step : rank + n - step) % n;
                const uint32_t from = sends ? rank : peer;
                const uint32_t to = sends ? peer : rank;
                Extent extent = sends ? layout.Sent(from, to) : layout.Received(from, to);
                extent.offset += sends ? 0 : program.outputOffset;
                const uint32_t channels =
                    server(rank) == server(peer) ? localChannels : networkChannels;
                for (uint32_t channel = 0; channel < channels; ++channel)
                {
                    AppendBlock(program.ranks[rank],
                                sends,
                                peer,
                                channel,
                                spread.GetProcessor(from, to, channel),
                                CutExtent(extent, channels, channel),
                                request);
                }
            }
        }
    }
    AppendOwnParts(program, cluster, request);
    for (uint32_t rank = 0; request.warpRule == WarpRule::BLOCK && rank < n; ++rank)
    {
        DoOneByOne(program.ranks[rank], rank, n);
    }
    InsertMessageRelays(program, cluster, request);
    return program;
}

CollectiveProgram
MakeDirectReductionProgram(const Cluster& /* cluster */,
                           const Paths& /* paths */,
                           const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    const uint32_t channels = std::max(request.channels, 1u);
    const Collective collective = request.collective;
    const bool hasRoot = HasRoot(collective);
    const bool reduces =
        collective != Collective::ALL_GATHER && collective != Collective::BROADCAST;
    const bool gathers =
        collective != Collective::REDUCE_SCATTER && collective != Collective::REDUCE;
    ProgramBuilder builder(request, "direct", channels);
    for (const bool gathering : {false, true})
    {
        if (gathering ? !gathers : !reduces)
        {
            continue;
        }
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            for (uint32_t step = 1; step < n; ++step)
            {
                for (uint32_t rank = 0; rank < n; ++rank)
                {
                    const uint32_t peer = (rank + step) % n;
                    // Who owns the segment that is exchanged.
                    const uint32_t owner = gathering ? rank : peer;
                    if (hasRoot && owner != request.root)
                    {
                        continue;
                    }
                    const Extent segment = hasRoot ? Extent{0, request.bytes}
                                                   : CutExtent({0, request.bytes}, n, owner);
                    builder.Transfer(rank,
                                     peer,
                                     channel,
                                     CutExtent(segment, channels, channel),
                                     !gathering);
                }
            }
        }
    }
    return builder.Finish();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_DIRECT([]() {
    AlgorithmTraits traits;
    traits.name = "direct";
    traits.place = 80;
    traits.makers[Collective::ALL_REDUCE] = &MakeDirectReductionProgram;
    traits.makers[Collective::ALL_GATHER] = &MakeDirectReductionProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakeDirectReductionProgram;
    traits.makers[Collective::BROADCAST] = &MakeDirectReductionProgram;
    traits.makers[Collective::REDUCE] = &MakeDirectReductionProgram;
    traits.makers[Collective::GATHER] = &MakeDirectProgram;
    traits.makers[Collective::SCATTER] = &MakeDirectProgram;
    traits.makers[Collective::ALL_TO_ALL] = &MakeDirectProgram;
    traits.makers[Collective::SEND_RECV] = &MakeSendReceiveProgram;
    traits.isLaunchedByPeer = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
