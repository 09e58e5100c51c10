/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-receiver.h"

#include <algorithm>
#include <utility>

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
    const bool isTaken = (receiver.flags & ReceiverState::NIC_ENDS) != 0;
    if (isTaken)
    {
        PutInOrder(record, receiver);
    }
    else if (!Take(record, receiver, m_core.pairs.GetState(id).held))
    {
        return;
    }
    receiver.receivedBytes += record.payloadBytes;
    if ((receiver.flags & ReceiverState::LIMITED) != 0)
    {
        m_limiters.CountArrival(receiver.vertex, m_core.fabric->GetTimePs(), record.payloadBytes);
    }
    if (!isTaken)
    {
        Answer(record, receiver);
    }
    if (IsBefore(record.sequence, receiver.expected) &&
        !IsBefore(receiver.expected, receiver.messageEnd))
    {
        DeliverMessages(id);
    }
}

bool
PacketReceiver::PassNic(const PacketRecord& record, VertexId at)
{
    NicEnd& end = *m_core.pairs.GetState(record.queuePair).nicEnd;
    if (at != end.receiver.vertex)
    {
        return true;
    }
    if (!Take(record, end.receiver, end.held))
    {
        return false;
    }
    Answer(record, end.receiver);
    return true;
}

void
PacketReceiver::Lose(const PacketRecord& record)
{
    const uint32_t id = record.queuePair;
    QueuePairState& state = m_core.pairs.GetState(id);
    NicEnd& end = *state.nicEnd;
    const auto& stops = state.waypoints;
    const auto nic = std::find(stops.begin(), stops.end(), end.receiver.vertex);
    if (record.destination != state.destination &&
        std::find(nic + 1, stops.end(), record.destination) == stops.end())
    {
        return; // on its way to the NIC, which will ask for it
    }
    PacketRecord again = record;
    again.destination = m_core.pairs.GetNextWaypoint(id, end.receiver.vertex, true);
    again.ingress = NO_PORT;
    end.lost.Push(again);
    if (end.duePs == NEVER_PS)
    {
        const uint64_t received = m_core.pairs.GetReceiver(id).receivedBytes;
        end.retries = received == end.receivedBytes ? end.retries : 0;
        end.receivedBytes = received;
        end.duePs =
            m_core.fabric->GetTimePs() + m_core.settings.retransmissionTimeout.GetPicoSeconds();
        m_timers.Watch(id);
    }
}

bool
PacketReceiver::Take(const PacketRecord& record, ReceiverState& receiver, SequenceSet& held)
{
    if ((record.flags & PacketRecord::CONGESTION_EXPERIENCED) != 0)
    {
        NoteMark(record, receiver);
    }
    if (record.sequence == receiver.expected && receiver.held == 0)
    {
        ++receiver.expected;
        receiver.flags &= ~ReceiverState::NAK_SENT;
        return true;
    }
    return TakeOutOfOrder(record, receiver, held);
}

void
PacketReceiver::PutInOrder(const PacketRecord& record, ReceiverState& receiver)
{
    if (record.sequence == receiver.expected && receiver.held == 0)
    {
        ++receiver.expected;
        return;
    }
    SequenceSet& held = m_core.pairs.GetState(record.queuePair).held;
    if (record.sequence == receiver.expected)
    {
        CloseGap(receiver, held);
        return;
    }
    held.Insert(receiver.expected, record.sequence);
    ++receiver.held;
}

void
PacketReceiver::Answer(const PacketRecord& record, ReceiverState& receiver)
{
    const uint32_t id = record.queuePair;
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
}

bool
PacketReceiver::IsDuplicate(const PacketRecord& record,
                            const ReceiverState& receiver,
                            const SequenceSet& held) const
{
    const uint32_t ahead = record.sequence - receiver.expected;
    return IsBefore(record.sequence, receiver.expected) ||
           (receiver.held > 0 && ahead < m_core.settings.reorderBuffer && ahead > 0 &&
            held.Has(receiver.expected, record.sequence));
}

void
PacketReceiver::CloseGap(ReceiverState& receiver, SequenceSet& held)
{
    ++receiver.expected;
    while (receiver.held > 0 && held.Remove(receiver.expected))
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
PacketReceiver::TakeOutOfOrder(const PacketRecord& record,
                               ReceiverState& receiver,
                               SequenceSet& held)
{
    const uint32_t id = record.queuePair;
    QueuePairState& state = m_core.pairs.GetState(id);
    const uint32_t sequence = record.sequence;
    const uint32_t ahead = sequence - receiver.expected;
    if (IsDuplicate(record, receiver, held))
    {
        ++state.statistics.duplicatePackets;
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
        return false;
    }
    if (ahead == 0)
    {
        CloseGap(receiver, held);
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
    held.Insert(receiver.expected, sequence);
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
        Notify(record.queuePair, receiver);
    }
}

void
PacketReceiver::Notify(uint32_t id, ReceiverState& receiver)
{
    const int64_t now = m_core.fabric->GetTimePs();
    if (now - receiver.notifiedPs >= m_core.pairs.GetState(id).notificationPs)
    {
        receiver.notifiedPs = now;
        PacketRecord notification;
        notification.kind = PacketKind::CONGESTION_NOTIFICATION;
        m_back.SendBackFrom(receiver.vertex, id, notification);
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
        if (m_core.fabric->IsLocal(state.source))
        {
            m_core.pairs.ForgetMessages(id);
        }
        else
        {
            state.messages.Pop();
        }
        m_core.GetUser(id).ReceiveMessage(id, message.tag, message.bytes);
    }
}

void
PacketReceiver::SendAcknowledgement(uint32_t id, PacketKind kind, int32_t offset)
{
    ReceiverState& receiver = m_core.pairs.GetResponder(id);
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
    m_back.SendBackFrom(receiver.vertex, id, record);
}

void
PacketReceiver::HandleTimer(uint32_t id, int64_t now)
{
    if (m_core.pairs.GetResponder(id).ackDuePs <= now)
    {
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
    }
    NicEnd* const end = m_core.pairs.GetState(id).nicEnd.get();
    if (!end || end->duePs > now)
    {
        return;
    }
    if (++end->retries > m_core.settings.retryLimit)
    {
        m_timers.GiveUp(id, "packets that its NIC sends on");
    }
    end->duePs = NEVER_PS;
    for (RingBuffer<PacketRecord> lost = std::exchange(end->lost, {}); !lost.IsEmpty(); lost.Pop())
    {
        m_core.fabric->Send(end->receiver.vertex, lost.Front());
    }
}

} // namespace proteus
} // namespace ns3
