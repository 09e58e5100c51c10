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
AppendSteps(ThreadBlock& block, StepKind kind, const Extent& extent, uint64_t chunkBytes)
{
    const uint64_t chunks = (extent.bytes + chunkBytes - 1) / chunkBytes;
    for (uint64_t i = 0; i < chunks; ++i)
    {
        const Extent chunk = CutExtent(extent, chunks, i);
        block.steps.push_back({kind, chunk.offset, chunk.bytes});
    }
}

CollectiveProgram
MakeChainProgram(const Cluster& cluster, const Paths& paths, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    CollectiveProgram program;
    program.algorithm = "chain";
    program.bufferBytes = request.bytes;
    auto orders = MakeRingOrders(cluster, paths, request.vertices, request.channels);
    program.channels = static_cast<uint32_t>(orders.size());
    program.ranks.resize(n);
    for (uint32_t channel = 0; channel < program.channels; ++channel)
    {
        auto& order = orders[channel];
        std::rotate(order.begin(),
                    std::find(order.begin(), order.end(), request.root),
                    order.end());
        const Extent share = CutExtent({0, request.bytes}, program.channels, channel);
        for (uint32_t p = 0; p < n; ++p)
        {
            ThreadBlock block;
            block.channel = static_cast<uint16_t>(channel);
            block.receivePeer = p > 0 ? order[p - 1] : NO_RANK;
            block.sendPeer = p + 1 < n ? order[p + 1] : NO_RANK;
            AppendSteps(block,
                        p == 0      ? StepKind::SEND
                        : p + 1 < n ? StepKind::RECV_COPY_SEND
                                    : StepKind::RECV,
                        share,
                        request.chunkBytes);
            program.ranks[order[p]].blocks.push_back(std::move(block));
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
        sender.sendPeer = 1;
        AppendSteps(sender, StepKind::SEND, share, request.chunkBytes);
        program.ranks[0].blocks.push_back(std::move(sender));
        ThreadBlock receiver;
        receiver.channel = static_cast<uint16_t>(channel);
        receiver.receivePeer = 0;
        AppendSteps(receiver, StepKind::RECV, share, request.chunkBytes);
        program.ranks[1].blocks.push_back(std::move(receiver));
    }
    return program;
}

} // namespace proteus
} // namespace ns3
