/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/log.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransportSender");

void
Transport::Activate(uint32_t id)
{
    const SenderState& sender = m_senders[id];
    if (!sender.CanSend())
    {
        return;
    }
    for (uint32_t i = 0; i < sender.nSlots; ++i)
    {
        const uint32_t slot = sender.firstSlot + i;
        if (m_slots[slot].next == ActiveSlot::UNLISTED)
        {
            const PortId port = m_slots[slot].port;
            const bool idle = (m_active[port].busy >> sender.trafficClass & 1) == 0;
            m_active[port].Append(m_slots, slot, sender.trafficClass);
            if (idle)
            {
                m_fabric->Offer(port);
            }
        }
    }
}

void
Transport::ReleasePaced(ActiveQueues& port, int64_t now)
{
    while (!port.paced.IsEmpty() && port.paced.GetTop().first <= now)
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
            port.Append(m_slots, slot, m_senders[id].trafficClass);
        }
    }
}

void
Transport::PaceFirst(ActiveQueues& port, uint32_t trafficClass)
{
    uint32_t slot = port.lists[trafficClass].head;
    const SenderState& sender = m_senders[m_slots[slot].queuePair];
    port.RemoveFirst(m_slots, trafficClass);
    const int64_t timePs = (sender.nextSend + (int64_t{1} << PACING_BITS) - 1) >> PACING_BITS;
    if (sender.nSlots > 1)
    {
        // It waits at one of its ports only, at each in turn.
        const uint32_t turn = sender.firstSlot + sender.next % sender.nSlots;
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
            m_fabric->Offer(m_slots[slot].port, timePs);
            return;
        }
    }
    m_slots[slot].next = ActiveSlot::PACED;
    port.paced.Push(timePs, slot);
}

bool
Transport::TakeTurn(ActiveQueues& port, int64_t now, int64_t& nextPs)
{
    CopyLimiter& limiter = m_limiters[port.limiter];
    if (port.reservedPs < 0)
    {
        if (limiter.freePs <= static_cast<double>(now))
        {
            return true;
        }
        port.reservedPs = static_cast<int64_t>(std::ceil(limiter.freePs));
        limiter.freePs += limiter.unitPs;
    }
    nextPs = port.reservedPs;
    return port.reservedPs <= now;
}

void
Transport::CountCopy(ActiveQueues& port,
                     const SenderState& sender,
                     int64_t now,
                     uint32_t payloadBytes)
{
    CopyLimiter& limiter = m_limiters[port.limiter];
    double psPerByte = limiter.psPerByte;
    if ((sender.flags & SenderState::COPY_ENGINE) != 0)
    {
        psPerByte = std::max(psPerByte, limiter.enginePsPerByte);
    }
    if (port.reservedPs >= 0)
    {
        port.reservedPs = -1;
        limiter.freePs += payloadBytes * psPerByte - limiter.unitPs;
    }
    else
    {
        limiter.freePs =
            std::max(limiter.freePs, static_cast<double>(now)) + payloadBytes * psPerByte;
    }
    limiter.unitPs = sender.unitBytes * psPerByte;
}

bool
Transport::Pull(PortId id, uint32_t classes, PacketRecord& record, int64_t& nextPs)
{
    ActiveQueues& port = m_active[id];
    const int64_t now = m_fabric->GetTimePs();
    if (!port.paced.IsEmpty())
    {
        ReleasePaced(port, now);
    }
    while ((port.busy & classes) != 0)
    {
        const auto trafficClass = static_cast<uint32_t>(__builtin_ctz(port.busy & classes));
        const uint32_t slot = port.lists[trafficClass].head;
        const uint32_t pair = m_slots[slot].queuePair;
        if (pair == ActiveSlot::NO_QUEUE_PAIR || !m_senders[pair].CanSend())
        {
            port.RemoveFirst(m_slots, trafficClass);
            continue;
        }
        SenderState& sender = m_senders[pair];
        if (sender.psPerByte > 0 && (sender.nextSend >> PACING_BITS) > now)
        {
            PaceFirst(port, trafficClass);
            continue;
        }
        if (port.limiter != UINT32_MAX && !TakeTurn(port, now, nextPs))
        {
            return false;
        }
        if ((sender.flags & SenderState::LOST) == 0)
        {
            FillNext(pair, sender, now, record);
        }
        else if (!FillLost(pair, sender, now, record))
        {
            continue;
        }
        if (port.limiter != UINT32_MAX)
        {
            CountCopy(port, sender, now, record.payloadBytes);
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
        nextPs = (port.busy & classes) != 0 ? now
                 : port.paced.IsEmpty()     ? NEVER_PS
                                            : port.paced.GetTop().first;
        return true;
    }
    nextPs = port.paced.IsEmpty() ? NEVER_PS : port.paced.GetTop().first;
    return false;
}

void
Transport::FillNext(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record)
{
    uint8_t flags = (sender.flags & SenderState::SM_COPY) != 0 ? PacketRecord::SM_COPY : 0;
    if (sender.messageLeft == 0)
    {
        sender.messageLeft = m_states[id].messages.At(sender.sending).bytes;
        flags |= PacketRecord::FIRST;
    }
    const auto payload =
        static_cast<uint32_t>(std::min<uint64_t>(sender.unitBytes, sender.messageLeft));
    sender.messageLeft -= payload;
    sender.nextBytes += payload;
    ++sender.sinceRequest;
    bool request = (sender.ackEvery > 0 && sender.sinceRequest >= sender.ackEvery) ||
                   sender.nextBytes - sender.ackedBytes >= sender.windowBytes;
    if (sender.messageLeft == 0)
    {
        ++sender.sending;
        flags |= PacketRecord::LAST;
        request |= (sender.flags & SenderState::ACK_MESSAGES) != 0;
    }
    if (request)
    {
        flags |= PacketRecord::ACK_REQUEST;
        sender.sinceRequest = 0;
    }
    if (sender.next == sender.highest)
    {
        ++sender.highest;
        m_sentBytes += payload;
    }
    else
    {
        flags |= PacketRecord::RETRANSMISSION;
        ++m_retransmitted;
        ++m_states[id].statistics.retransmittedPackets;
    }
    ++m_packets;
    record.queuePair = id;
    record.sequence = sender.next++;
    record.destination = sender.firstWaypoint;
    record.payloadBytes = payload;
    record.kind = PacketKind::DATA;
    record.trafficClass = sender.trafficClass;
    record.flags = flags;
    record.multimem = sender.multimem;
    if (sender.ackEvery == 0)
    {
        sender.activePs = now; // nothing is to be heard before the message is out
    }
    if (sender.psPerByte > 0)
    {
        Pace(sender, now, payload);
    }
    constexpr uint16_t WATCHED =
        SenderState::SEND_TIMES | SenderState::TELEMETRY | SenderState::GROUP;
    if ((sender.flags & WATCHED) != 0 || record.sequence == sender.unacked ||
        (request && (sender.flags & SenderState::TIMING) == 0) ||
        sender.nextBytes >= sender.byteMark)
    {
        WatchPacket(id, sender, now, record);
    }
}

void
Transport::Pace(SenderState& sender, int64_t now, uint32_t payloadBytes)
{
    // A queue pair that had to wait for its port may catch up by one packet.
    const auto interval =
        static_cast<int64_t>((payloadBytes + sender.paceHeader) * sender.psPerByte >>
                             (PACE_FRACTION_BITS - PACING_BITS));
    sender.nextSend = std::max(sender.nextSend, (now << PACING_BITS) - interval) + interval;
}

bool
Transport::FillLost(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record)
{
    QueuePairState& state = m_states[id];
    while (!state.lost.IsEmpty())
    {
        const uint32_t sequence = state.lost.Front();
        state.lost.Pop();
        if (state.lost.IsEmpty())
        {
            sender.flags &= ~SenderState::LOST;
        }
        if (IsBefore(sequence, sender.unacked) ||
            (state.nSelected > 0 && state.selected.Has(sender.unacked, sequence)))
        {
            continue;
        }
        uint32_t number = state.messages.GetHead();
        while (!IsBefore(sequence, state.messages.At(number).end))
        {
            ++number;
        }
        const QueuePairMessage& message = state.messages.At(number);
        const uint64_t offset = uint64_t{sequence - message.first} * sender.unitBytes;
        const auto payload =
            static_cast<uint32_t>(std::min<uint64_t>(sender.unitBytes, message.bytes - offset));
        record.queuePair = id;
        record.sequence = sequence;
        record.destination = sender.firstWaypoint;
        record.payloadBytes = payload;
        record.kind = PacketKind::DATA;
        record.trafficClass = sender.trafficClass;
        record.flags = PacketRecord::RETRANSMISSION | PacketRecord::ACK_REQUEST |
                       (sequence == message.first ? PacketRecord::FIRST : 0) |
                       (sequence + 1 == message.end ? PacketRecord::LAST : 0) |
                       ((sender.flags & SenderState::SM_COPY) != 0 ? PacketRecord::SM_COPY : 0);
        ++m_packets;
        ++m_retransmitted;
        ++state.statistics.retransmittedPackets;
        if (sender.psPerByte > 0)
        {
            Pace(sender, now, payload);
        }
        sender.activePs = now;
        WatchPacket(id, sender, now, record);
        return true;
    }
    sender.flags &= ~SenderState::LOST;
    return false;
}

void
Transport::WatchPacket(uint32_t id, SenderState& sender, int64_t now, const PacketRecord& record)
{
    QueuePairState& state = m_states[id];
    const uint16_t flags = sender.flags;
    if ((flags & SenderState::GROUP) != 0)
    {
        // The switches of a group acknowledge nothing, and lose nothing.
        sender.ackedBytes = sender.nextBytes;
        sender.unacked = sender.next;
        if ((record.flags & PacketRecord::LAST) != 0)
        {
            state.messages.Pop();
        }
        return;
    }
    if ((flags & (SenderState::SEND_TIMES | SenderState::TELEMETRY)) != 0)
    {
        const uint32_t inFlight = sender.highest - sender.unacked;
        if ((flags & SenderState::SEND_TIMES) != 0)
        {
            GrowBySequence(state.sendTimes, sender.unacked, inFlight);
            state.sendTimes[record.sequence & (state.sendTimes.size() - 1)] = now;
        }
        if ((flags & SenderState::TELEMETRY) != 0)
        {
            GrowBySequence(state.stacks, sender.unacked, inFlight);
            state.stacks[record.sequence & (state.stacks.size() - 1)].nHops = 0;
        }
    }
    if ((record.flags & PacketRecord::ACK_REQUEST) != 0 && (flags & SenderState::TIMING) == 0 &&
        (record.flags & PacketRecord::RETRANSMISSION) == 0)
    {
        sender.flags |= SenderState::TIMING;
        sender.timedSequence = record.sequence + 1;
        state.timedPs = now;
    }
    if (record.sequence == sender.unacked)
    {
        sender.activePs = now;
        Watch(id);
    }
    if (sender.nextBytes >= sender.byteMark)
    {
        state.control->OnBytesSent(now);
        sender.byteMark = CongestionControl::UNLIMITED;
        ApplyControl(id);
    }
}

void
Transport::MoveCursor(uint32_t id, uint32_t sequence)
{
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    state.statistics.sentBytes = std::max(state.statistics.sentBytes, sender.nextBytes);
    uint32_t number = state.messages.GetHead();
    const uint32_t tail = state.messages.GetTail();
    while (number != tail && !IsBefore(sequence, state.messages.At(number).end))
    {
        ++number;
    }
    sender.next = sequence;
    sender.sending = number;
    sender.messageLeft = 0;
    sender.nextBytes = sender.totalBytes;
    if (number != tail)
    {
        const QueuePairMessage& message = state.messages.At(number);
        const uint64_t offset = uint64_t{sequence - message.first} * sender.unitBytes;
        sender.nextBytes = message.position + offset;
        sender.messageLeft = offset > 0 ? message.bytes - offset : 0;
    }
    sender.flags &= ~SenderState::TIMING;
}

} // namespace proteus
} // namespace ns3
