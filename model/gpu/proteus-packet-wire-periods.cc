/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include <algorithm>
#include <limits>
#include <tuple>

/**
 * @file
 * @ingroup proteus
 * What a PeriodFinder has to know of ranks under way.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether two steps take the same time and bytes, and wait for the same block
bool
AreAlike(const Step& a, const Step& b)
{
    return std::tie(a.kind, a.bytes, a.waitBlock, a.peer, a.endsChunk) ==
           std::tie(b.kind, b.bytes, b.waitBlock, b.peer, b.endsChunk);
}

} // namespace

void
PacketWire::WatchSteps(uint32_t rank, std::function<void()> onStep)
{
    m_watchedRank = onStep ? rank : NO_ID;
    m_watchedBlock = NO_ID; // until the rank begins
    m_onStep = std::move(onStep);
}

uint64_t
PacketWire::GetControlWord(uint32_t value) const
{
    const ControlMessage& message = m_control[value];
    return MixHash(MixHash(uint64_t{message.receiverBlock} << 32 | message.senderBlock,
                           uint64_t{message.block} << 32 | message.chunks),
                   uint64_t{message.task} << 32 | message.microBatch);
}

bool
PacketWire::AppendState(const std::vector<uint32_t>& ranks, std::vector<uint64_t>& words) const
{
    for (const uint32_t id : ranks)
    {
        const PacketRank& rank = m_machine.GetRank(id);
        if (!rank.program || rank.blocks.empty())
        {
            return false; // it is done, or has not begun
        }
        words.push_back(uint64_t{rank.unacknowledged} << 32 | rank.blocksLeft);
        for (const uint32_t number : rank.blocks)
        {
            const PacketBlock& block = m_machine.GetBlock(number);
            words.push_back(uint64_t{block.grants} << 32 | block.arrived);
            words.push_back(uint64_t{block.busy} << 2 | uint64_t{block.IsOver()} << 1 |
                            uint64_t{block.ungranted == 0});
            words.push_back(uint64_t{block.sendPeerBlock} << 32 | block.receivePeerBlock);
        }
    }
    for (const FabricCall& call : m_fabric->GetCalls(this))
    {
        words.push_back(static_cast<uint64_t>(call.timePs - m_fabric->GetTimePs()));
        words.push_back(uint64_t{call.kind} << 32 | call.value);
    }
    return true;
}

RankPosition
PacketWire::GetPosition(uint32_t id) const
{
    const PacketRank& rank = m_machine.GetRank(id);
    RankPosition position;
    for (const uint32_t block : rank.blocks)
    {
        position.steps.push_back(m_machine.GetBlock(block).next);
        position.ungranted.push_back(m_machine.GetBlock(block).ungranted);
    }
    position.work.messages = rank.messages;
    position.work.traffic = rank.traffic;
    return position;
}

uint64_t
PacketWire::CountPeriods(uint32_t id, const RankPosition& before) const
{
    const PacketRank& rank = m_machine.GetRank(id);
    const RankPosition now = GetPosition(id);
    uint64_t periods = std::numeric_limits<uint64_t>::max();
    for (std::size_t i = 0; i < rank.blocks.size(); ++i)
    {
        const PacketBlock& block = m_machine.GetBlock(rank.blocks[i]);
        const uint32_t period = now.steps[i] - before.steps[i];
        if (period == 0)
        {
            continue; // it waits all the time, or is over
        }
        const auto isAgain = [&](uint32_t step) {
            const Step& again = block.steps[step];
            const Step& first = block.steps[step - period];
            return AreAlike(again, first) &&
                   (again.waitBlock == NO_BLOCK ||
                    again.waitStep - first.waitStep ==
                        now.steps[again.waitBlock] - before.steps[again.waitBlock]);
        };
        uint32_t end = now.steps[i];
        while (end < block.nSteps && isAgain(end))
        {
            ++end;
        }
        // The step behind the last period is looked at, too.
        const uint64_t whole = end == now.steps[i] ? 0 : (end - 1 - now.steps[i]) / period;
        const uint32_t granted = before.ungranted[i] - now.ungranted[i];
        periods =
            std::min(periods,
                     granted == 0 ? whole : std::min<uint64_t>(whole, now.ungranted[i] / granted));
    }
    return periods;
}

void
PacketWire::Skip(uint32_t id, const RankPosition& before, uint64_t periods)
{
    PacketRank& rank = m_machine.GetRank(id);
    const RankPosition now = GetPosition(id);
    for (std::size_t i = 0; i < rank.blocks.size(); ++i)
    {
        PacketBlock& block = m_machine.GetBlock(rank.blocks[i]);
        block.next += static_cast<uint32_t>(periods * (now.steps[i] - before.steps[i]));
        block.ungranted -=
            static_cast<uint32_t>(periods * (before.ungranted[i] - now.ungranted[i]));
    }
    const auto add = [&](uint64_t& value, uint64_t first, uint64_t second) {
        value += periods * (second - first);
    };
    add(rank.messages, before.work.messages, now.work.messages);
    add(rank.traffic.sentBytes, before.work.traffic.sentBytes, now.work.traffic.sentBytes);
    add(rank.traffic.expectedBytes,
        before.work.traffic.expectedBytes,
        now.work.traffic.expectedBytes);
    add(rank.traffic.receivedBytes,
        before.work.traffic.receivedBytes,
        now.work.traffic.receivedBytes);
}

} // namespace proteus
} // namespace ns3
