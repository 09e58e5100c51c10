/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * How ranks of communications begin and end, executed or not.
 */

namespace ns3
{
namespace proteus
{

const RepetitionPlan&
PacketWire::GetPlan(TaskId id, const CollectiveProgram& program, const ProgramFacts& facts)
{
    const Task& task = m_graph.GetTask(id);
    if (const RepetitionPlan* plan = m_repetition.GetPlans().Find(task.place, program))
    {
        return *plan;
    }
    std::vector<uint32_t> pairs;
    std::vector<uint64_t> hops;
    for (uint32_t from = 0; from < program.ranks.size(); ++from)
    {
        for (const ThreadBlock& block : program.ranks[from].blocks)
        {
            if (block.sendPeer != NO_RANK)
            {
                pairs.push_back(
                    GetQueuePair(id, program, facts, block.channel, from, block.sendPeer));
                hops.push_back(static_cast<uint64_t>(m_pairs.GetHopKind(pairs.back())));
            }
        }
    }
    const auto lanes = MakeGroups(task.place, program);
    pairs.insert(pairs.end(), lanes.begin(), lanes.end());
    return m_repetition.GetPlans().Add(task.collective, task.place, program, pairs, hops);
}

void
PacketWire::JoinRepetition(uint32_t id)
{
    PacketRank& rank = m_machine.GetRank(id);
    const RepetitionPlan& plan = GetPlan(rank.traffic.task, *rank.program, *rank.facts);
    if (!plan.crosses)
    {
        rank.communication = m_repetition.Join(rank.traffic.task,
                                               rank.microBatch,
                                               plan,
                                               *rank.program,
                                               rank.rank,
                                               id);
    }
    else if (rank.rank == 0)
    {
        m_repetition.CountCrossing();
    }
}

void
PacketWire::CallStart(uint32_t id)
{
    PacketRank& rank = m_machine.GetRank(id);
    rank.isStartCertain = true;
    CallOf(rank, rank.startPs, START, id);
}

int64_t
PacketWire::GetStartPs(uint32_t id) const
{
    const PacketRank& rank = m_machine.GetRank(id);
    return rank.isStartCertain ? rank.startPs : -1;
}

void
PacketWire::CallOf(const PacketRank& rank, int64_t timePs, CallKind kind, uint32_t value)
{
    FabricCall call;
    call.timePs = timePs;
    call.order = GetOrder(rank);
    call.number = rank.number;
    call.target = this;
    call.kind = kind;
    call.value = value;
    m_fabric->CallAt(call);
}

uint32_t
PacketWire::CallEnd(PacketRank& rank, int64_t timePs)
{
    RankEnd end;
    end.device = rank.device;
    end.done = std::move(rank.done);
    FabricCall call;
    call.timePs = timePs;
    call.order = GetOrder(rank);
    call.number = rank.number;
    call.target = this;
    call.kind = END;
    call.value = m_ends.Add(std::move(end));
    m_fabric->CallFinally(call);
    return call.value;
}

void
PacketWire::Repeat(uint32_t id, const RankWork& work, const std::vector<int64_t>& blockEndsPs)
{
    PacketRank& rank = m_machine.GetRank(id);
    rank.end = CallEnd(rank, work.endPs);
    m_ends[rank.end].isRepeated = true;
    m_ends[rank.end].rank = id;
    m_ends[rank.end].work = work;
    m_ends[rank.end].work.traffic.task = rank.traffic.task;
    const auto& blocks = rank.program->ranks[rank.rank].blocks;
    for (uint32_t i = 0; i < blockEndsPs.size(); ++i)
    {
        if (blockEndsPs[i] != RepetitionRecord::NOT_DONE)
        {
            m_ends[rank.end].channels.push_back({rank.device,
                                                 rank.traffic.task,
                                                 rank.microBatch,
                                                 blocks[i].channel,
                                                 i,
                                                 rank.startPs,
                                                 blockEndsPs[i]});
        }
    }
}

bool
PacketWire::RecordsBlocks() const
{
    return m_channels != nullptr;
}

void
PacketWire::TakeBack(uint32_t id)
{
    PacketRank& rank = m_machine.GetRank(id);
    if (rank.toldPs < 0)
    {
        rank.done = std::move(m_ends[rank.end].done);
        m_ends[rank.end].done = nullptr;
        m_ends[rank.end].rank = NO_ID;
    }
}

void
PacketWire::TellEnd(uint32_t value)
{
    const RankEnd end = std::move(m_ends[value]);
    m_ends[value] = RankEnd();
    m_ends.GiveBack(value);
    if (!end.done)
    {
        return; // taken back
    }
    if (end.rank != NO_ID)
    {
        m_machine.GetRank(end.rank).toldPs = end.work.endPs;
    }
    if (end.isRepeated)
    {
        m_ledger.Add(end.work.traffic);
        m_messages += end.work.messages;
        if (m_channels)
        {
            m_channels->insert(m_channels->end(), end.channels.begin(), end.channels.end());
        }
    }
    m_fabric->CallAtPresent(m_fabric->GetCluster().GetGpus()[end.device], end.done);
}

void
PacketWire::Forget(uint32_t id)
{
    const PacketRank& rank = m_machine.GetRank(id);
    if (rank.toldPs < 0)
    {
        // Its links can be at rest before it has used what came last: its end is still to be told,
        // when another rank may have its place.
        m_ends[rank.end].rank = NO_ID;
    }
    m_rankIndex.erase(BlockKey{rank.traffic.task, rank.microBatch, rank.device, 0});
    m_machine.FreeRank(id);
}

bool
PacketWire::IsWatched() const
{
    return !m_channelEnd.IsEmpty();
}

bool
PacketWire::IsWaiting(uint32_t id) const
{
    const PacketRank& rank = m_machine.GetRank(id);
    return !rank.blocks.empty() && rank.unacknowledged == 0 &&
           std::none_of(rank.blocks.begin(), rank.blocks.end(), [this](uint32_t block) {
               return m_machine.GetBlock(block).busy || m_machine.IsReady(block);
           });
}

} // namespace proteus
} // namespace ns3
