/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-host-memories.h"

namespace ns3
{
namespace proteus
{

HostMemories::HostMemories(TransportCore& core, ReadRequests& reads, QueuePairTimers& timers)
    : m_core(core),
      m_reads(reads),
      m_timers(timers)
{
}

bool
HostMemories::LetPass(const PacketRecord& record, VertexId next)
{
    const uint32_t id = record.queuePair;
    HostStage& stage = *m_core.pairs.GetState(id).stage;
    if (next != stage.reader)
    {
        return true; // at another waypoint
    }
    if (stage.units.IsEmpty())
    {
        if (m_reads.HasRoom(id, m_core.fabric->GetTimePs()))
        {
            m_reads.Ask(id);
            return true;
        }
        m_reads.Wait(id, {id, true});
    }
    stage.units.Push(record);
    stage.units.At(stage.units.GetTail() - 1).destination = next;
    return false;
}

void
HostMemories::ReadAt(uint32_t id, int64_t timePs)
{
    m_core.pairs.GetState(id).stage->duePs = timePs;
    m_timers.Watch(id);
}

bool
HostMemories::HandleTimer(uint32_t id, int64_t now)
{
    if (m_timers.GetStagePs(id) > now)
    {
        return false;
    }
    HostStage& stage = *m_core.pairs.GetState(id).stage;
    stage.duePs = NEVER_PS;
    if (!m_reads.HasRoom(id, now))
    {
        m_reads.Wait(id, {id, true}); // somebody else was faster
        return false;
    }
    m_reads.Ask(id);
    const PacketRecord record = stage.units.Front();
    stage.units.Pop();
    if (!stage.units.IsEmpty())
    {
        m_reads.Wait(id, {id, true});
    }
    m_core.fabric->Send(stage.host, record);
    return m_reads.HasRoom(id, now);
}

} // namespace proteus
} // namespace ns3
