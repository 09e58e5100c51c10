/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-block-cost.h"

#include "proteus-algorithm-traits.h"
#include "proteus-collective-choice.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

/// @param costs of the GPU @param protocol of the program @param share of the block
/// @return payload that it moves, bytes per second; 0: no limit
double
GetBlockRate(const CollectiveKernelCost& costs, NcclProtocol protocol, BlockShare share)
{
    const double all = costs.gpuBytesPerSecond[static_cast<std::size_t>(protocol)];
    const double rate = share.isMessage && protocol == NcclProtocol::SIMPLE
                            ? costs.messageBytesPerSecond
                            : costs.Get(HopKind::NVLINK, protocol).blockBytesPerSecond;
    return share.part * (all > 0 ? std::min(rate, all / share.processors) : rate);
}

/// @param hop of a block @param bytesPerSecond of payload that it has of its links, all blocks
/// together @param protocol of the program @param share of the block
/// @return picoseconds for a byte of payload between its GPU and host memory; 0: it goes elsewhere
double
GetHostPsPerByte(const BlockHop& hop, double bytesPerSecond, Protocol protocol, BlockShare share)
{
    const ProtocolTraits& traits = GetTraits(protocol);
    // Others of the GPU's blocks may have NVLink for what they move meanwhile.
    const uint32_t blocks =
        hop.hostBlocks > 0 ? std::min(hop.hostBlocks, share.processors) : share.processors;
    return bytesPerSecond > 0
               ? PS_PER_SECOND / bytesPerSecond * blocks * traits.lineBytes / traits.dataBytes
               : 0;
}

/// @param costs of the GPU @param protocol of the program @param hop that is crossed
/// @return picoseconds that a block is busy with a step: lines of LL and LL128 come from a network,
/// and go to one, as they do inside a server, but that a chunk must be posted when it is whole
int64_t
GetPassPs(const CollectiveKernelCost& costs, NcclProtocol protocol, HopKind hop)
{
    const bool isLines = protocol != NcclProtocol::SIMPLE;
    return costs.Get(isLines && hop == HopKind::NETWORK ? HopKind::NVLINK : hop, protocol).busyPs;
}

} // namespace

BlockShares::BlockShares(const CollectiveProgram& program)
    : m_counts(program.ranks.size()),
      m_processors(program.ranks.size()),
      m_isMessage(GetAlgorithmTraits(program.algorithm).isLaunchedByPeer),
      m_isTree(GetAlgorithmTraits(program.algorithm).tunable == NcclAlgorithm::TREE),
      m_sharesWarps(program.sharesWarps)
{
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        auto& counts = m_counts[rank];
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.processor != NO_PROCESSOR)
            {
                counts.resize(std::max<std::size_t>(counts.size(), block.processor + 1));
                m_processors[rank] += counts[block.processor].blocks++ == 0;
                counts[block.processor].senders += block.sendPeer != NO_RANK;
                counts[block.processor].receivers += block.receivePeer != NO_RANK;
            }
        }
    }
}

BlockShare
BlockShares::Get(uint32_t rank, const ThreadBlock& block) const
{
    if (block.processor == NO_PROCESSOR)
    {
        return {};
    }
    const Count& count = m_counts[rank][block.processor];
    // Of trees half for what goes up and half for what comes down, to however many children.
    const double part = m_sharesWarps       ? 1.0 / std::max(count.senders, count.receivers)
                        : count.senders > 1 ? 0.5
                                            : 1;
    // A message by itself is part of an exchange, as far as its program can tell.
    const bool isOneWay = m_sharesWarps && (count.senders == 0 || count.receivers == 0);
    return {part, m_processors[rank], m_isMessage && !isOneWay, m_isTree};
}

BlockCost
GetBlockCost(const CollectiveKernelCost& costs,
             Protocol protocol,
             BlockShare share,
             bool inGroup,
             std::optional<BlockHop> receive,
             std::optional<BlockHop> send)
{
    const NcclProtocol nccl = ToNcclProtocol(protocol);
    BlockCost cost;
    if (inGroup)
    {
        const CollectiveStepCost& step = costs.Get(HopKind::SWITCH, nccl);
        cost.busyPs = step.busyPs;
        cost.psPerByte =
            step.blockBytesPerSecond > 0 ? PS_PER_SECOND / step.blockBytesPerSecond : 0;
        return cost;
    }
    if (receive)
    {
        const CollectiveStepCost& step = costs.Get(receive->kind, nccl);
        cost.latencyPs = share.isTree && receive->Is(HopKind::NVLINK)
                             ? costs.treeLatencyPs[static_cast<std::size_t>(nccl)]
                             : step.latencyPs;
        cost.busyPs = GetPassPs(costs, nccl, receive->kind);
    }
    if (send)
    {
        cost.busyPs = std::max(cost.busyPs, GetPassPs(costs, nccl, send->kind));
        cost.postPs = costs.Get(send->kind, nccl).busyPs - GetPassPs(costs, nccl, send->kind);
    }
    const double rate = GetBlockRate(costs, nccl, share);
    cost.psPerByte = rate > 0 ? PS_PER_SECOND / rate : 0;
    const auto getHostPs = [&](const BlockHop& hop, double bytesPerSecond) {
        return GetHostPsPerByte(hop, bytesPerSecond, protocol, share);
    };
    cost.receivePsPerByte = receive ? getHostPs(*receive, receive->hostBytesPerSecond) : 0;
    cost.sendPsPerByte = send ? getHostPs(*send, send->hostBytesPerSecond) : 0;
    if (cost.sendPsPerByte > 0 && cost.receivePsPerByte > 0)
    {
        cost.exchangePsPerByte = getHostPs(*receive, receive->exchangeBytesPerSecond);
    }
    return cost;
}

double
GetBlockWireRate(const CollectiveKernelCost& costs, Protocol protocol, BlockShare share)
{
    const ProtocolTraits& traits = GetTraits(protocol);
    return GetBlockRate(costs, ToNcclProtocol(protocol), share) * traits.lineBytes /
           traits.dataBytes;
}

} // namespace proteus
} // namespace ns3
