/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-ring-search.h"

#include <algorithm>
#include <set>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * GPUs that pass on what two others, without NVLink between them, send each other.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Two ranks have one connection on a ring: what would need a second one goes without a relay.
/// @param order ranks in the order of the ring @param relays by position; some are taken out
void
KeepSingleConnections(const std::vector<uint32_t>& order, std::vector<uint32_t>& relays)
{
    std::set<std::pair<uint32_t, uint32_t>> connected;
    const auto next = [&](std::size_t i) { return order[(i + 1) % order.size()]; };
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        if (relays[i] == NO_RANK)
        {
            connected.emplace(order[i], next(i));
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        if (relays[i] == NO_RANK)
        {
            continue;
        }
        const std::pair<uint32_t, uint32_t> in(order[i], relays[i]);
        const std::pair<uint32_t, uint32_t> out(relays[i], next(i));
        if (connected.count(in) > 0 || connected.count(out) > 0)
        {
            relays[i] = NO_RANK;
            continue;
        }
        connected.insert({in, out});
    }
}

} // namespace

GroupRelays
FindGroupRelays(const Cluster& cluster,
                const std::vector<VertexId>& vertices,
                const TransportRules& rules)
{
    GroupRelays result;
    if (!rules.HasRelays())
    {
        return result;
    }
    for (const auto& members : GroupByServer(cluster, vertices))
    {
        std::vector<VertexId> gpus;
        for (const uint32_t rank : members)
        {
            gpus.push_back(vertices[rank]);
        }
        const auto relays = FindRelays(cluster, gpus);
        for (std::size_t from = 0; from < members.size(); ++from)
        {
            for (std::size_t to = 0; to < members.size(); ++to)
            {
                if (relays[from][to] != NO_RANK)
                {
                    result[{members[from], members[to]}] = members[relays[from][to]];
                }
            }
        }
    }
    return result;
}

std::vector<uint32_t>
FindRingRelays(const GroupRelays& relays, const std::vector<uint32_t>& order)
{
    std::vector<uint32_t> result(order.size(), NO_RANK);
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        const auto relay = relays.find({order[i], order[(i + 1) % order.size()]});
        result[i] = relay == relays.end() ? NO_RANK : relay->second;
    }
    KeepSingleConnections(order, result);
    return result;
}

void
InsertRelay(CollectiveProgram& program,
            uint32_t from,
            uint32_t to,
            uint32_t relay,
            uint32_t channel,
            uint32_t relayChannel)
{
    const auto find = [&](uint32_t rank, uint32_t ThreadBlock::*peer, uint32_t other) {
        auto& blocks = program.ranks[rank].blocks;
        return std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
            return block.channel == channel && block.*peer == other;
        });
    };
    const auto sender = find(from, &ThreadBlock::sendPeer, to);
    const auto receiver = find(to, &ThreadBlock::receivePeer, from);
    sender->sendPeer = relay;
    receiver->receivePeer = relay;
    ThreadBlock in;
    in.channel = static_cast<uint16_t>(relayChannel);
    sender->channel = in.channel;
    receiver->channel = in.channel;
    in.processor = NO_PROCESSOR;
    ThreadBlock out = in;
    in.receivePeer = from;
    out.sendPeer = to;
    // All that passes has a place of its own behind the buffer.
    auto& blocks = program.ranks[relay].blocks;
    for (const Step& step : sender->steps)
    {
        if (Sends(step.kind))
        {
            Step send{StepKind::SEND, program.bufferBytes, step.bytes};
            send.waitBlock = static_cast<uint32_t>(blocks.size());
            send.waitStep = static_cast<uint32_t>(out.steps.size());
            in.steps.push_back({StepKind::RECV, program.bufferBytes, step.bytes});
            out.steps.push_back(send);
            program.bufferBytes += step.bytes;
        }
    }
    if (!in.steps.empty())
    {
        blocks.push_back(std::move(in));
        blocks.push_back(std::move(out));
    }
}

void
InsertMessageRelays(CollectiveProgram& program,
                    const Cluster& cluster,
                    const CollectiveRequest& request)
{
    if (!request.relaysMessages)
    {
        return;
    }

    struct Message
    {
        uint32_t from;
        uint32_t to;
        uint32_t relay;
        uint32_t channel;
    };

    const auto relays = FindGroupRelays(cluster, request.vertices, request.rules);
    std::vector<Message> messages;
    uint32_t next = program.channels; // of connections of their own
    for (uint32_t from = 0; from < program.ranks.size(); ++from)
    {
        for (const ThreadBlock& block : program.ranks[from].blocks)
        {
            next = std::max(next, block.channel + 1u);
            const auto relay = relays.find({from, block.sendPeer});
            if (relay != relays.end())
            {
                messages.push_back({from, block.sendPeer, relay->second, block.channel});
            }
        }
    }
    for (const Message& message : messages)
    {
        InsertRelay(program, message.from, message.to, message.relay, message.channel, next++);
    }
}

} // namespace proteus
} // namespace ns3
