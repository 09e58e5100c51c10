/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-block-cost.h"

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

} // namespace

BlockShares::BlockShares(const CollectiveProgram& program)
    : m_senders(program.ranks.size())
{
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        auto& counts = m_senders[rank];
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.processor != NO_PROCESSOR)
            {
                counts.resize(std::max<std::size_t>(counts.size(), block.processor + 1));
                counts[block.processor] += block.sendPeer != NO_RANK;
            }
        }
    }
}

double
BlockShares::Get(uint32_t rank, const ThreadBlock& block) const
{
    if (block.processor == NO_PROCESSOR)
    {
        return 0;
    }
    // Half for what goes up a tree and half for what comes down, to however many children.
    return m_senders[rank][block.processor] > 1 ? 0.5 : 1;
}

BlockCost
GetBlockCost(const CollectiveKernelCost& costs,
             Protocol protocol,
             double share,
             bool inGroup,
             std::optional<HopKind> receive,
             std::optional<HopKind> send)
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
        const CollectiveStepCost& step = costs.Get(*receive, nccl);
        cost.latencyPs = step.latencyPs;
        cost.busyPs = step.busyPs;
    }
    if (send)
    {
        cost.busyPs = std::max(cost.busyPs, costs.Get(*send, nccl).busyPs);
    }
    const double rate = costs.Get(HopKind::NVLINK, nccl).blockBytesPerSecond;
    cost.psPerByte = rate > 0 ? PS_PER_SECOND / (rate * share) : 0;
    return cost;
}

double
GetBlockWireRate(const CollectiveKernelCost& costs, Protocol protocol, double share)
{
    const ProtocolTraits& traits = GetTraits(protocol);
    return costs.Get(HopKind::NVLINK, ToNcclProtocol(protocol)).blockBytesPerSecond *
           traits.lineBytes / traits.dataBytes * share;
}

} // namespace proteus
} // namespace ns3
