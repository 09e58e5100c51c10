/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-staging-memories.h"

namespace ns3
{
namespace proteus
{

StagingMemories::StagingMemories(TransportCore& core, ReadRequests& reads, QueuePairTimers& timers)
    : m_core(core),
      m_reads(reads),
      m_timers(timers)
{
}

bool
StagingMemories::LetPass(const PacketRecord& record, VertexId next)
{
    const uint32_t id = record.queuePair;
    MemoryStage& stage = *m_core.pairs.GetState(id).stage;
    if (next != stage.reader)
    {
        return true; // at another waypoint
    }
    if (stage.units.IsEmpty())
    {
        const int64_t now = m_core.fabric->GetTimePs();
        if (GetSendPs(stage.nextSend) <= now && m_reads.HasRoom(id, now))
        {
            Read(record, now);
            return true;
        }
        Wait(id, now);
    }
    stage.units.Push(record);
    stage.units.At(stage.units.GetTail() - 1).destination = next;
    return false;
}

void
StagingMemories::Read(const PacketRecord& record, int64_t now)
{
    const uint32_t id = record.queuePair;
    m_reads.Ask(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    SenderState& sender = m_core.pairs.GetSender(id);
    sender.activePs = now;
    if ((sender.flags & SenderState::TIMING) != 0 && sender.timedSequence == record.sequence + 1)
    {
        state.timedPs = now;
    }
    MemoryStage& stage = *state.stage;
    if (stage.psPerByte > 0)
    {
        stage.nextSend = PaceNext(stage.nextSend,
                                  stage.psPerByte,
                                  record.GetPayloadBytes() + sender.paceHeader,
                                  now);
    }
}

void
StagingMemories::Wait(uint32_t id, int64_t now)
{
    const int64_t pacedPs = GetSendPs(m_core.pairs.GetState(id).stage->nextSend);
    if (pacedPs > now)
    {
        ReadAt(id, pacedPs);
    }
    else
    {
        m_reads.Wait(id, {id, true});
    }
}

void
StagingMemories::ReadAt(uint32_t id, int64_t timePs)
{
    m_core.pairs.GetState(id).stage->duePs = timePs;
    m_timers.Watch(id);
}

bool
StagingMemories::HandleTimer(uint32_t id, int64_t now)
{
    if (m_timers.GetStagePs(id) > now)
    {
        return false;
    }
    MemoryStage& stage = *m_core.pairs.GetState(id).stage;
    stage.duePs = NEVER_PS;
    if (!m_reads.HasRoom(id, now))
    {
        m_reads.Wait(id, {id, true}); // somebody else was faster
        return false;
    }
    const PacketRecord record = stage.units.Front();
    stage.units.Pop();
    Read(record, now);
    if (!stage.units.IsEmpty())
    {
        Wait(id, now);
    }
    m_core.fabric->Send(stage.holder, record);
    return m_reads.HasRoom(id, now);
}

} // namespace proteus
} // namespace ns3
