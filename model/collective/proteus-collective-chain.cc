/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
AppendSteps(ThreadBlock& block,
            StepKind kind,
            const Extent& extent,
            uint64_t chunkBytes,
            uint64_t least,
            uint64_t leastBytes,
            uint64_t together)
{
    const uint64_t chunks = std::max((extent.bytes + chunkBytes - 1) / chunkBytes,
                                     std::min(least, (extent.bytes + leastBytes - 1) / leastBytes));
    const bool isShort = chunks > 1 && extent.bytes < chunks * leastBytes;
    for (uint64_t i = 0; i < chunks; ++i)
    {
        const uint64_t begin = i * leastBytes;
        const Extent chunk =
            isShort ? Extent{extent.offset + begin, std::min(leastBytes, extent.bytes - begin)}
                    : CutExtent(extent, chunks, i);
        Step step{kind, chunk.offset, chunk.bytes};
        step.endsChunk = EndsChunk(i, chunks, together);
        block.steps.push_back(step);
    }
}

CollectiveProgram
MakeChainProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    CollectiveProgram program;
    program.algorithm = "ring";
    program.bufferBytes = request.bytes;
    auto orders = MakeRingOrders(cluster, paths, request.vertices, request.channels, request.rules);
    program.channels = static_cast<uint32_t>(orders.size());
    program.ranks.resize(n);
    const GroupRelays groupRelays = FindGroupRelays(cluster, request.vertices, request.rules);
    for (uint32_t channel = 0; channel < program.channels; ++channel)
    {
        auto& order = orders[channel];
        std::rotate(order.begin(),
                    std::find(order.begin(), order.end(), request.root),
                    order.end());
        // A reduction walks the chain of the broadcast backwards.
        const bool reduces = request.collective == Collective::REDUCE;
        if (reduces)
        {
            std::reverse(order.begin(), order.end());
        }
        const Extent share = CutExtent({0, request.bytes}, program.channels, channel);
        for (uint32_t p = 0; p < n; ++p)
        {
            ThreadBlock block;
            block.channel = static_cast<uint16_t>(channel);
            block.processor = block.channel;
            block.receivePeer = p > 0 ? order[p - 1] : NO_RANK;
            block.sendPeer = p + 1 < n ? order[p + 1] : NO_RANK;
            StepKind kind = StepKind::SEND;
            if (p > 0)
            {
                kind = p + 1 < n ? (reduces ? StepKind::RECV_REDUCE_SEND : StepKind::RECV_COPY_SEND)
                                 : (reduces ? StepKind::RECV_REDUCE : StepKind::RECV);
            }
            AppendSteps(block,
                        kind,
                        share,
                        request.chunkBytes,
                        request.stepsPerChunk,
                        request.leastStepBytes,
                        request.GetStepsOfMessage());
            program.ranks[order[p]].blocks.push_back(std::move(block));
        }
        const auto relays = FindRingRelays(groupRelays, order);
        for (uint32_t p = 0; p + 1 < n; ++p)
        {
            if (relays[p] != NO_RANK)
            {
                InsertRelay(program, order[p], order[p + 1], relays[p], channel, channel);
            }
        }
    }
    return program;
}

CollectiveProgram
MakeSendReceiveProgram(const Cluster& /* cluster */,
                       const Paths& /* paths */,
                       const CollectiveRequest& request)
{
    CollectiveProgram program;
    program.algorithm = "direct";
    program.bufferBytes = request.bytes;
    program.channels = std::max(request.channels, 1u);
    program.ranks.resize(2);
    for (uint32_t channel = 0; channel < program.channels; ++channel)
    {
        const Extent share = CutExtent({0, request.bytes}, program.channels, channel);
        ThreadBlock sender;
        sender.channel = static_cast<uint16_t>(channel);
        sender.processor = sender.channel;
        sender.sendPeer = 1;
        AppendSteps(sender, StepKind::SEND, share, request.chunkBytes);
        program.ranks[0].blocks.push_back(std::move(sender));
        ThreadBlock receiver;
        receiver.channel = static_cast<uint16_t>(channel);
        receiver.processor = receiver.channel;
        receiver.receivePeer = 0;
        AppendSteps(receiver, StepKind::RECV, share, request.chunkBytes);
        program.ranks[1].blocks.push_back(std::move(receiver));
    }
    return program;
}

} // namespace proteus
} // namespace ns3
