/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-send-ports.h"

#include "proteus-group.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Ports that one queue pair may take turns on.
constexpr uint32_t MAX_CANDIDATE_PORTS = 64;
/// Turns of a queue pair after which they repeat.
constexpr uint32_t MAX_TURNS = UINT8_MAX;
/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

SendPorts::SendPorts(TransportCore& core,
                     CopyLimiters& limiters,
                     ReadRequests& reads,
                     StagingMemories& memories)
    : m_core(core),
      m_limiters(limiters),
      m_reads(reads),
      m_memories(memories)
{
}

void
SendPorts::SetUp()
{
    m_active.resize(2 * m_core.fabric->GetCluster().GetLinks().size());
}

void
SendPorts::Assign(uint32_t id)
{
    const Cluster& cluster = m_core.fabric->GetCluster();
    SenderState& sender = m_core.pairs.GetSender(id);
    const VertexId source = m_core.pairs.GetState(id).source;
    sender.firstSlot = static_cast<uint32_t>(m_slots.size());
    sender.nSlots = 0;
    sender.turn = 0;
    const auto& choices = m_core.fabric->GetPaths().NextPorts(source, sender.firstWaypoint);
    if (choices.empty())
    {
        return; // links have failed; the queue pair waits, and gives up after its retries
    }
    std::vector<PortId> ports;
    for (uint16_t choice : choices)
    {
        const PortId port = m_core.fabric->GetPort(source, choice);
        if (m_core.fabric->GetLink(port).technology == LinkTechnology::NVLINK &&
            ports.size() < MAX_CANDIDATE_PORTS)
        {
            ports.push_back(port);
        }
    }
    if (ports.empty() || (sender.flags & SenderState::GROUP) != 0)
    {
        const std::size_t choice = PickFirstPort(m_core.pairs.GetFlowHash(id),
                                                 m_core.fabric->GetFlowPlace(source),
                                                 choices.size());
        ports.assign(1, m_core.fabric->GetPort(source, choices[choice]));
    }
    const std::size_t first = m_core.pairs.GetState(id).firstPort % ports.size();
    std::rotate(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(first), ports.end());
    for (PortId port : ports)
    {
        ActiveSlot slot;
        slot.queuePair = id;
        slot.port = port;
        m_slots.push_back(slot);
        const Link& link = cluster.GetLinks()[port / 2];
        ActiveQueues& active = m_active[port];
        // Of a full unit of the link, whoever sends: it must not depend on what was made last.
        const LinkFraming framing = m_core.fabric->GetFraming(port / 2);
        active.unitPs =
            static_cast<int64_t>(static_cast<double>(framing.WireBytes(framing.unitBytes)) *
                                 PS_PER_SECOND / link.bytesPerSecond);
        active.limiter = m_limiters.Find(source);
    }
    sender.nSlots = static_cast<uint8_t>(ports.size());
    sender.nTurns = sender.nSlots;
    if (ports.size() > 1)
    {
        std::vector<double> rates;
        for (PortId port : ports)
        {
            rates.push_back(m_core.fabric->GetLink(port).bytesPerSecond);
        }
        const std::vector<uint8_t>& turns = GetTurns(rates);
        m_core.pairs.GetState(id).turns = turns.data();
        sender.nTurns = static_cast<uint8_t>(turns.size());
    }
}

const std::vector<uint8_t>&
SendPorts::GetTurns(const std::vector<double>& rates)
{
    std::vector<uint8_t>& turns = m_turns[rates];
    if (turns.empty())
    {
        const PlanePattern pattern(rates);
        // Of a longer one the begin has nearly the same shares.
        const uint32_t length = std::min(pattern.GetLength(), MAX_TURNS);
        for (uint32_t turn = 0; turn < length; ++turn)
        {
            turns.push_back(static_cast<uint8_t>(pattern.GetPlane(turn)));
        }
        std::rotate(turns.begin(), std::find(turns.begin(), turns.end(), 0), turns.end());
    }
    return turns;
}

void
SendPorts::Reassign(uint32_t id)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    for (uint32_t i = 0; i < sender.nSlots; ++i)
    {
        // A slot that stands in a list leaves it when its turn comes.
        m_slots[sender.firstSlot + i].queuePair = ActiveSlot::NO_QUEUE_PAIR;
    }
    Assign(id);
    Activate(id);
}

std::vector<PortId>
SendPorts::GetPorts(uint32_t id) const
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    std::vector<PortId> ports;
    for (uint32_t i = 0; i < sender.nSlots; ++i)
    {
        ports.push_back(m_slots[sender.firstSlot + i].port);
    }
    return ports;
}

void
SendPorts::Activate(uint32_t id)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    if (!sender.CanSend())
    {
        return;
    }
    if (sender.psPerByte > 0 && sender.nSlots > 1)
    {
        const uint32_t turn = GetTurnSlot(sender);
        if (m_active[m_slots[turn].port].busy == 0)
        {
            List(turn); // of ports that are all idle the first one would get the most
            return;
        }
    }
    for (uint32_t i = 0; i < sender.nSlots; ++i)
    {
        List(sender.firstSlot + i);
    }
}

uint32_t
SendPorts::GetTurnSlot(const SenderState& sender) const
{
    return sender.firstSlot +
           (sender.nTurns == sender.nSlots
                ? sender.turn
                : m_core.pairs.GetState(m_slots[sender.firstSlot].queuePair).turns[sender.turn]);
}

void
SendPorts::List(uint32_t slot)
{
    if (m_slots[slot].next == ActiveSlot::UNLISTED)
    {
        const PortId port = m_slots[slot].port;
        const uint32_t trafficClass = m_core.pairs.GetSender(m_slots[slot].queuePair).trafficClass;
        const bool idle = (m_active[port].busy >> trafficClass & 1) == 0;
        m_active[port].Append(m_slots, slot, trafficClass);
        if (idle)
        {
            m_core.fabric->Offer(port);
        }
    }
}

inline void
SendPorts::ReleasePaced(ActiveQueues& port, int64_t now)
{
    while (port.paced.GetTime() <= now)
    {
        const uint32_t slot = port.paced.GetTop().second;
        port.paced.Pop();
        const uint32_t id = m_slots[slot].queuePair;
        if (id == ActiveSlot::NO_QUEUE_PAIR)
        {
            m_slots[slot].next = ActiveSlot::UNLISTED;
        }
        else
        {
            port.Append(m_slots, slot, m_core.pairs.GetSender(id).trafficClass);
        }
    }
}

void
SendPorts::PaceFirst(ActiveQueues& port, uint32_t trafficClass)
{
    uint32_t slot = port.lists[trafficClass].head;
    const uint32_t pair = m_slots[slot].queuePair;
    const SenderState& sender = m_core.pairs.GetSender(pair);
    port.RemoveFirst(m_slots, trafficClass);
    const int64_t timePs = GetSendPs(sender.nextSend);
    if (sender.nSlots > 1)
    {
        // It waits at one of its ports only: at each in turn, at faster ones more often.
        const uint32_t turn = GetTurnSlot(sender);
        if (m_slots[turn].next == ActiveSlot::PACED)
        {
            return;
        }
        if (turn != slot)
        {
            if (m_slots[turn].next != ActiveSlot::UNLISTED)
            {
                return; // still in its list, where it will come to its turn
            }
            slot = turn;
            m_slots[slot].next = ActiveSlot::PACED;
            m_active[m_slots[slot].port].paced.Push(timePs, slot);
            m_core.fabric->Offer(m_slots[slot].port, timePs);
            return;
        }
    }
    m_slots[slot].next = ActiveSlot::PACED;
    port.paced.Push(timePs, slot);
}

uint32_t
SendPorts::Choose(PortId id, uint32_t classes, int64_t now, int64_t& nextPs)
{
    ActiveQueues& port = m_active[id];
    ReleasePaced(port, now);
    while ((port.busy & classes) != 0)
    {
        const auto trafficClass = static_cast<uint32_t>(__builtin_ctz(port.busy & classes));
        const uint32_t pair = m_slots[port.lists[trafficClass].head].queuePair;
        if (pair == NONE || !m_core.pairs.GetSender(pair).CanSend())
        {
            port.RemoveFirst(m_slots, trafficClass);
            if (pair != NONE && (m_core.pairs.GetSender(pair).flags & SenderState::READ) != 0)
            {
                WakeReader(pair, now); // whose turn it would have been
            }
            continue;
        }
        const SenderState& sender = m_core.pairs.GetSender(pair);
        if (sender.psPerByte > 0 && (sender.nextSend >> PACING_BITS) > now)
        {
            PaceFirst(port, trafficClass);
            continue;
        }
        if ((sender.flags & SenderState::READ) != 0 && !m_reads.HasRoom(pair, now))
        {
            const uint32_t slot = port.lists[trafficClass].head;
            port.RemoveFirst(m_slots, trafficClass);
            m_slots[slot].next = ActiveSlot::UNREAD;
            m_reads.Wait(pair, {slot, false});
            continue;
        }
        if (m_limiters.Concerns(port, sender) && !m_limiters.TakeTurn(port, now, nextPs))
        {
            return NONE;
        }
        return pair;
    }
    nextPs = port.paced.GetTime();
    return NONE;
}

int64_t
SendPorts::FinishTurn(PortId id,
                      uint32_t classes,
                      uint32_t pair,
                      uint32_t payloadBytes,
                      int64_t now)
{
    ActiveQueues& port = m_active[id];
    const SenderState& sender = m_core.pairs.GetSender(pair);
    const uint32_t trafficClass = sender.trafficClass;
    if (m_limiters.Concerns(port, sender))
    {
        m_limiters.CountCopy(port, sender, now, payloadBytes);
    }
    if ((sender.flags & SenderState::READ) != 0)
    {
        m_reads.Ask(pair);
    }
    if (!sender.CanSend())
    {
        port.RemoveFirst(m_slots, trafficClass);
    }
    else if (sender.psPerByte > 0 && (sender.nextSend >> PACING_BITS) > now + port.unitPs)
    {
        PaceFirst(port, trafficClass);
    }
    else
    {
        port.Rotate(m_slots, trafficClass);
        if (sender.psPerByte > 0 && sender.nSlots > 1)
        {
            Activate(pair); // it is behind its pace: any of its ports may help
        }
    }
    return (port.busy & classes) != 0 ? now : port.paced.GetTime();
}

void
SendPorts::ReturnRead(uint32_t pair, int64_t timePs)
{
    m_reads.Return(pair, timePs);
    WakeReader(pair, timePs);
}

void
SendPorts::WakeReader(uint32_t pair, int64_t timePs)
{
    ReadRequests::Turn turn = m_reads.TakeWaiting(pair);
    while (!turn.IsNobodys() && !turn.isStaged && m_slots[turn.number].queuePair == NONE)
    {
        m_slots[turn.number].next = ActiveSlot::UNLISTED; // of Reassign()
        turn = m_reads.TakeWaiting(pair);
    }
    if (turn.isStaged)
    {
        m_memories.ReadAt(turn.number, timePs);
    }
    else if (!turn.IsNobodys())
    {
        ActiveSlot& slot = m_slots[turn.number];
        slot.next = ActiveSlot::PACED;
        m_active[slot.port].paced.Push(timePs, turn.number);
        m_core.fabric->Offer(slot.port, timePs);
    }
}

} // namespace proteus
} // namespace ns3
