/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-block-costs.h"

#include "ns3/proteus-network-exchange.h"

#include <optional>

namespace ns3
{
namespace proteus
{

uint64_t
NameHop(uint32_t from, uint32_t to)
{
    return uint64_t{from} << 32 | to;
}

std::vector<std::vector<BlockCost>>
ListBlockCosts(const CollectiveKernelCost& kernel,
               const CollectiveProgram& program,
               const BlockShares& shares,
               const BlockHops& hops,
               int64_t pluginPs,
               double memoryBytesPerSecond)
{
    const auto find =
        [&](uint32_t from, uint32_t to, BlockHop std::pair<BlockHop, BlockHop>::*end) {
            const auto place = hops.find(NameHop(from, to));
            return place == hops.end() ? std::optional<BlockHop>() : place->second.*end;
        };
    std::vector<std::vector<BlockCost>> costs;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        costs.emplace_back();
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            BlockCost cost;
            BlockShare share = shares.Get(rank, block);
            share.memoryBytesPerSecond = memoryBytesPerSecond;
            if (share.part > 0)
            {
                const auto receive =
                    find(block.receivePeer, rank, &std::pair<BlockHop, BlockHop>::second);
                cost =
                    GetBlockCost(kernel,
                                 program.protocol,
                                 share,
                                 block.group != NO_GROUP,
                                 receive,
                                 find(rank, block.sendPeer, &std::pair<BlockHop, BlockHop>::first));
                cost.latencyPs += receive && receive->Is(HopKind::NETWORK) ? pluginPs : 0;
            }
            costs.back().push_back(cost);
        }
    }
    return costs;
}

void
LimitSenders(const CollectiveKernelCost& kernel,
             const CollectiveProgram& program,
             const BlockShares& shares,
             const std::vector<ProgramFlow>& flows,
             ReplayCosts& costs)
{
    const FlowIndex index(flows);
    std::vector<bool> isKnown(flows.size(), false);
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            const uint32_t flow = index.Find(block.channel, rank, block.sendPeer);
            if (flow != NO_ID && !isKnown[flow] && !costs.sendsWhole[flow])
            {
                isKnown[flow] = true;
                costs.limits[flow] =
                    GetBlockWireRate(kernel, program.protocol, shares.Get(rank, block));
            }
        }
    }
}

void
LimitNetwork(const TransportRules& rules,
             const CollectiveProgram& program,
             const std::vector<ProgramFlow>& flows,
             const std::function<const Connection&(const ProgramFlow&)>& find,
             ReplayCosts& costs)
{
    std::vector<ProgramConnection> connections;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        if (costs.sendsWhole[i])
        {
            connections.push_back({flows[i].channel, flows[i].from, flows[i].to, &find(flows[i])});
            places.push_back(i);
        }
    }
    const std::vector<double> limits = LimitConnections(rules, program, connections);
    for (std::size_t k = 0; k < places.size(); ++k)
    {
        costs.limits[places[k]] = limits[k];
    }
}

} // namespace proteus
} // namespace ns3
