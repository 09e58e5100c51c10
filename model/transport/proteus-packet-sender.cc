/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-sender.h"

#include "proteus-rank-words.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

PacketSender::PacketSender(TransportCore& core,
                           SendPorts& ports,
                           QueuePairTimers& timers,
                           RateControl& rates,
                           LossRecovery& recovery)
    : m_core(core),
      m_ports(ports),
      m_timers(timers),
      m_rates(rates),
      m_recovery(recovery)
{
}

void
PacketSender::Append(uint32_t id, uint64_t bytes, uint64_t tag)
{
    if (bytes == 0)
    {
        throw std::invalid_argument("Transport: a message needs at least one byte");
    }
    SenderState& sender = m_core.pairs.GetSender(id);
    ReceiverState& receiver = m_core.pairs.GetReceiver(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const uint64_t packets = (bytes + sender.unitBytes - 1) / sender.unitBytes;
    if (packets >= (uint64_t{1} << 30))
    {
        throw std::invalid_argument("Transport: a message of " + std::to_string(bytes) +
                                    " bytes has too many packets");
    }
    QueuePairMessage message;
    message.tag = tag;
    message.bytes = bytes;
    message.position = sender.totalBytes;
    const uint32_t number = state.messages.GetTail();
    message.first = state.messages.IsEmpty() ? sender.highest : state.messages.At(number - 1).end;
    message.end = message.first + static_cast<uint32_t>(packets);
    if (sender.ackedBytes == sender.totalBytes)
    {
        sender.headEnd = message.end;
    }
    if (receiver.delivering == number)
    {
        receiver.messageEnd = message.end;
    }
    state.messages.Push(message);
    if (!m_core.fabric->IsLocal(state.destination))
    {
        m_core.fabric->TellRank(state.destination, MESSAGE_WORD, MessageWord{message, id});
    }
    sender.totalBytes += bytes;
    m_ports.Activate(id);
}

bool
PacketSender::Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs)
{
    const int64_t now = m_core.fabric->GetTimePs();
    while (true)
    {
        const uint32_t pair = m_ports.Choose(port, classes, now, nextPs);
        if (pair == SendPorts::NONE)
        {
            return false;
        }
        SenderState& sender = m_core.pairs.GetSender(pair);
        if ((sender.flags & SenderState::LOST) == 0)
        {
            FillNext(pair, sender, now, record);
        }
        else if (!FillLost(pair, sender, now, record))
        {
            continue; // all that was to be repeated has arrived meanwhile
        }
        nextPs = m_ports.FinishTurn(port, classes, pair, record.payloadBytes, now);
        return true;
    }
}

void
PacketSender::FillNext(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record)
{
    uint8_t flags = 0;
    if (sender.messageLeft == 0)
    {
        sender.messageLeft = m_core.pairs.GetState(id).messages.At(sender.sending).bytes;
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
        m_totals.bytes += payload;
    }
    else
    {
        flags |= PacketRecord::RETRANSMISSION;
        ++m_totals.retransmitted;
        ++m_core.pairs.GetState(id).statistics.retransmittedPackets;
    }
    ++m_totals.packets;
    record.queuePair = id;
    record.sequence = sender.next++;
    sender.turn = sender.turn + 1 < sender.nTurns ? sender.turn + 1 : 0;
    record.destination = sender.firstWaypoint;
    record.payloadBytes = payload;
    record.kind = PacketKind::DATA;
    record.trafficClass = sender.trafficClass;
    record.flags = flags;
    record.copyMethod = sender.GetCopyMethod();
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
PacketSender::Pace(SenderState& sender, int64_t now, uint32_t payloadBytes)
{
    sender.nextSend =
        PaceNext(sender.nextSend, sender.psPerByte, payloadBytes + sender.paceHeader, now);
}

bool
PacketSender::FillLost(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record)
{
    QueuePairState& state = m_core.pairs.GetState(id);
    uint32_t sequence = 0;
    if (!m_recovery.TakeLost(id, sequence))
    {
        return false;
    }
    const QueuePairMessage& message = state.messages.At(state.FindMessage(sequence));
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
                   (sequence + 1 == message.end ? PacketRecord::LAST : 0);
    record.copyMethod = sender.GetCopyMethod();
    ++m_totals.packets;
    ++m_totals.retransmitted;
    ++state.statistics.retransmittedPackets;
    if (sender.psPerByte > 0)
    {
        Pace(sender, now, payload);
    }
    sender.activePs = now;
    WatchPacket(id, sender, now, record);
    return true;
}

void
PacketSender::NoteSendTime(uint32_t id, uint32_t sequence, int64_t timePs)
{
    std::vector<int64_t>& times = m_core.pairs.GetState(id).sendTimes;
    if (!IsBefore(sequence, m_core.pairs.GetSender(id).unacked)) // no needless repetition
    {
        times[sequence & (times.size() - 1)] = timePs;
    }
}

void
PacketSender::WatchPacket(uint32_t id, SenderState& sender, int64_t now, const PacketRecord& record)
{
    QueuePairState& state = m_core.pairs.GetState(id);
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
            NoteSendTime(id, record.sequence, now);
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
        m_timers.Watch(id);
    }
    if (sender.nextBytes >= sender.byteMark)
    {
        m_rates.OnBytesSent(id, now);
    }
}

} // namespace proteus
} // namespace ns3
