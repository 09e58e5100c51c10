/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-receiver.h"

namespace ns3
{
namespace proteus
{

PacketReceiver::PacketReceiver(TransportCore& core,
                               CopyLimiters& limiters,
                               QueuePairTimers& timers,
                               ReturnPath& back)
    : m_core(core),
      m_limiters(limiters),
      m_timers(timers),
      m_back(back)
{
}

void
PacketReceiver::Receive(const PacketRecord& record, ReceiverState& receiver)
{
    const uint32_t id = record.queuePair;
    if ((record.flags & PacketRecord::CONGESTION_EXPERIENCED) != 0)
    {
        NoteMark(record, receiver);
    }
    if (record.sequence == receiver.expected && receiver.held == 0)
    {
        ++receiver.expected;
        receiver.flags &= ~ReceiverState::NAK_SENT;
    }
    else if (!TakeOutOfOrder(record, receiver))
    {
        return;
    }
    receiver.receivedBytes += record.payloadBytes;
    if ((receiver.flags & ReceiverState::LIMITED) != 0)
    {
        m_limiters.CountArrival(receiver.vertex, m_core.fabric->GetTimePs(), record.payloadBytes);
    }
    const bool inOrder = IsBefore(record.sequence, receiver.expected);
    bool acknowledge = inOrder && (record.flags & PacketRecord::ACK_REQUEST) != 0;
    if ((receiver.flags & ReceiverState::REQUESTED) != 0 &&
        !IsBefore(receiver.expected, receiver.requestEnd))
    {
        receiver.flags &= ~ReceiverState::REQUESTED;
        acknowledge = true;
    }
    if (acknowledge)
    {
        SendAcknowledgement(id,
                            PacketKind::ACKNOWLEDGE,
                            static_cast<int32_t>(record.sequence - receiver.expected));
    }
    else if (receiver.ackDuePs == NEVER_PS && (receiver.flags & ReceiverState::DELAYS_ACK) != 0)
    {
        receiver.ackDuePs = m_core.fabric->GetTimePs() + m_core.pairs.GetState(id).ackDelayPs;
        m_timers.Watch(id);
    }
    if (inOrder && !IsBefore(receiver.expected, receiver.messageEnd))
    {
        DeliverMessages(id);
    }
}

bool
PacketReceiver::IsDuplicate(const PacketRecord& record, const ReceiverState& receiver) const
{
    const uint32_t ahead = record.sequence - receiver.expected;
    return IsBefore(record.sequence, receiver.expected) ||
           (receiver.held > 0 && ahead < m_core.settings.reorderBuffer && ahead > 0 &&
            m_core.pairs.GetState(record.queuePair).held.Has(receiver.expected, record.sequence));
}

void
PacketReceiver::CloseGap(uint32_t id, ReceiverState& receiver)
{
    QueuePairState& state = m_core.pairs.GetState(id);
    ++receiver.expected;
    while (receiver.held > 0 && state.held.Remove(receiver.expected))
    {
        --receiver.held;
        ++receiver.expected;
    }
    receiver.flags &= ~ReceiverState::NAK_SENT;
}

void
PacketReceiver::AskAgain(uint32_t id, ReceiverState& receiver)
{
    const int64_t now = m_core.fabric->GetTimePs();
    if ((receiver.flags & ReceiverState::NAK_SENT) == 0 ||
        now - receiver.nakPs >= m_core.settings.nakInterval.GetPicoSeconds())
    {
        receiver.flags |= ReceiverState::NAK_SENT;
        receiver.nakPs = now;
        SendAcknowledgement(id, PacketKind::NEGATIVE_ACKNOWLEDGE, AckContent::NO_OFFSET);
    }
}

bool
PacketReceiver::TakeOutOfOrder(const PacketRecord& record, ReceiverState& receiver)
{
    const uint32_t id = record.queuePair;
    QueuePairState& state = m_core.pairs.GetState(id);
    const uint32_t sequence = record.sequence;
    const uint32_t ahead = sequence - receiver.expected;
    if (IsDuplicate(record, receiver))
    {
        ++state.statistics.duplicatePackets;
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
        return false;
    }
    if (ahead == 0)
    {
        CloseGap(id, receiver);
        return true;
    }
    if ((receiver.flags & ReceiverState::IN_ORDER) != 0)
    {
        ++state.statistics.droppedPackets;
        AskAgain(id, receiver);
        return false;
    }
    if (ahead >= m_core.settings.reorderBuffer)
    {
        ++state.statistics.droppedPackets;
        return false;
    }
    state.held.Insert(receiver.expected, sequence);
    ++receiver.held;
    if ((record.flags & PacketRecord::ACK_REQUEST) != 0 &&
        ((receiver.flags & ReceiverState::REQUESTED) == 0 ||
         IsBefore(receiver.requestEnd, sequence + 1)))
    {
        receiver.flags |= ReceiverState::REQUESTED;
        receiver.requestEnd = sequence + 1;
    }
    if ((receiver.flags & ReceiverState::REPORT_GAPS) != 0)
    {
        SendAcknowledgement(id,
                            PacketKind::NEGATIVE_ACKNOWLEDGE,
                            static_cast<int32_t>(sequence - receiver.expected));
    }
    return true;
}

void
PacketReceiver::NoteMark(const PacketRecord& record, ReceiverState& receiver)
{
    ++receiver.marks;
    ++m_core.pairs.GetState(record.queuePair).statistics.markedPackets;
    if ((receiver.flags & ReceiverState::NOTIFY) != 0)
    {
        Notify(record.queuePair, receiver, receiver.vertex);
    }
}

void
PacketReceiver::PassMark(const PacketRecord& record, ReceiverState& receiver, VertexId at)
{
    if (m_core.IsNicOf(at, receiver.vertex))
    {
        Notify(record.queuePair, receiver, at);
    }
}

void
PacketReceiver::Notify(uint32_t id, ReceiverState& receiver, VertexId from)
{
    const int64_t now = m_core.fabric->GetTimePs();
    if (now - receiver.notifiedPs >= m_core.pairs.GetState(id).notificationPs)
    {
        receiver.notifiedPs = now;
        PacketRecord notification;
        notification.kind = PacketKind::CONGESTION_NOTIFICATION;
        m_back.SendBackFrom(from, id, notification);
    }
}

void
PacketReceiver::Expect(uint32_t id, const QueuePairMessage& message)
{
    ReceiverState& receiver = m_core.pairs.GetReceiver(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    if (receiver.delivering == state.messages.GetTail())
    {
        receiver.messageEnd = message.end;
    }
    state.messages.Push(message);
}

void
PacketReceiver::DeliverMessages(uint32_t id)
{
    // The user may make queue pairs, which moves the receivers: refer to it afresh.
    QueuePairState& state = m_core.pairs.GetState(id);
    while (
        m_core.pairs.GetReceiver(id).delivering != state.messages.GetTail() &&
        !IsBefore(m_core.pairs.GetReceiver(id).expected, m_core.pairs.GetReceiver(id).messageEnd))
    {
        ReceiverState& receiver = m_core.pairs.GetReceiver(id);
        const QueuePairMessage message = state.messages.At(receiver.delivering++);
        if (receiver.delivering != state.messages.GetTail())
        {
            receiver.messageEnd = state.messages.At(receiver.delivering).end;
        }
        if (!m_core.fabric->IsLocal(state.source))
        {
            state.messages.Pop(); // which its acknowledgement does where the sender is
        }
        m_core.GetUser(id).ReceiveMessage(id, message.tag, message.bytes);
    }
}

void
PacketReceiver::SendAcknowledgement(uint32_t id, PacketKind kind, int32_t offset)
{
    ReceiverState& receiver = m_core.pairs.GetReceiver(id);
    PacketRecord record;
    record.kind = kind;
    record.sequence = receiver.expected;
    record.content = AckContent::Make(receiver.marks, offset);
    if (receiver.marks > 0)
    {
        record.flags = PacketRecord::CONGESTION_EXPERIENCED;
        receiver.marks = 0;
    }
    if (receiver.ackDuePs != NEVER_PS)
    {
        receiver.ackDuePs = NEVER_PS;
        m_timers.Unwatch(id);
    }
    m_back.SendBack(id, record);
}

void
PacketReceiver::HandleTimer(uint32_t id, int64_t now)
{
    if (m_core.pairs.GetReceiver(id).ackDuePs <= now)
    {
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
    }
}

} // namespace proteus
} // namespace ns3
