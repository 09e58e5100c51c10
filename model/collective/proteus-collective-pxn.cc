/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace proteus
{

CollectiveProgram
MakePxnProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    const auto n = static_cast<uint32_t>(request.vertices.size());
    const AllToAllLayout layout(request);
    const uint32_t localChannels = std::max(request.channels, 1u);
    const uint32_t networkChannels =
        request.networkChannels > 0 ? request.networkChannels : localChannels;
    CollectiveProgram program;
    program.algorithm = "pxn";
    program.channels = std::max(localChannels, networkChannels);
    program.inPlace = false;
    program.outputOffset = request.bytes;
    // What passes a rank lies behind all else.
    std::vector<uint64_t> passing(n, request.bytes + layout.GetMostReceived());
    program.ranks.resize(n);

    const auto server = [&](uint32_t rank) { return cluster.GetDomain(request.vertices[rank]); };
    // By server and rail (the number of the NIC in its server): a rank that has it.
    std::map<std::pair<int32_t, uint32_t>, uint32_t> onRail;
    std::vector<uint32_t> rails(n, NO_RANK);
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        const VertexId nic = cluster.GetNic(request.vertices[rank]);
        if (nic != Cluster::NO_VERTEX)
        {
            rails[rank] = cluster.GetVertices()[nic].index;
            onRail.emplace(std::make_pair(server(rank), rails[rank]), rank);
        }
    }
    // Connections between two ranks are numbered, since several senders may pass one rank.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> connections;
    const auto append = [&](uint32_t rank,
                            StepKind kind,
                            uint32_t receivePeer,
                            uint32_t sendPeer,
                            uint32_t channel,
                            uint32_t processor,
                            const Extent& extent) {
        ThreadBlock block;
        block.channel = static_cast<uint16_t>(channel);
        block.processor = static_cast<uint16_t>(processor);
        block.receivePeer = receivePeer;
        block.sendPeer = sendPeer;
        AppendSteps(block, kind, extent, request.chunkBytes);
        program.ranks[rank].blocks.push_back(std::move(block));
    };
    // Nearest first, so that no two ranks begin with the same receiver.
    for (uint32_t step = 1; step < n; ++step)
    {
        for (uint32_t from = 0; from < n; ++from)
        {
            const uint32_t to = (from + step) % n;
            const bool isLocal = server(from) == server(to);
            uint32_t relay = from;
            if (!isLocal && rails[to] != NO_RANK && rails[from] != rails[to])
            {
                const auto found = onRail.find({server(from), rails[to]});
                relay = found == onRail.end() ? from : found->second;
            }
            const uint32_t channels = isLocal ? localChannels : networkChannels;
            const Extent received = layout.Received(from, to);
            for (uint32_t channel = 0; channel < channels; ++channel)
            {
                const Extent source = CutExtent(layout.Sent(from, to), channels, channel);
                const Extent target =
                    CutExtent({program.outputOffset + received.offset, received.bytes},
                              channels,
                              channel);
                if (source.bytes == 0)
                {
                    continue;
                }
                if (relay == from)
                {
                    const uint32_t connection = connections[{from, to}]++;
                    append(from, StepKind::SEND, NO_RANK, to, connection, channel, source);
                    append(to, StepKind::RECV, from, NO_RANK, connection, channel, target);
                    continue;
                }
                const uint32_t first = connections[{from, relay}]++;
                const uint32_t second = connections[{relay, to}]++;
                const Extent between{passing[relay], source.bytes};
                passing[relay] += source.bytes;
                append(from, StepKind::SEND, NO_RANK, relay, first, channel, source);
                // The NIC reads from the memory of the relay what it got: two blocks, that differ
                // in their connections.
                append(relay, StepKind::RECV, from, NO_RANK, first, NO_PROCESSOR, between);
                auto& blocks = program.ranks[relay].blocks;
                const auto receiver = static_cast<uint32_t>(blocks.size() - 1);
                append(relay, StepKind::SEND, NO_RANK, to, second, NO_PROCESSOR, between);
                for (std::size_t i = 0; i < blocks.back().steps.size(); ++i)
                {
                    blocks.back().steps[i].waitBlock = receiver;
                    blocks.back().steps[i].waitStep = static_cast<uint32_t>(i);
                }
                append(to, StepKind::RECV, relay, NO_RANK, second, channel, target);
            }
        }
    }
    program.bufferBytes = *std::max_element(passing.begin(), passing.end());
    return program;
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_PXN([]() {
    AlgorithmTraits traits;
    traits.name = "pxn";
    traits.place = 90;
    traits.makers[Collective::ALL_TO_ALL] = &MakePxnProgram;
    traits.isLaunchedByPeer = true;
    traits.keepsRails = true;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
