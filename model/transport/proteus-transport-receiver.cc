/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransportReceiver");

VertexId
Transport::Deliver(const PacketRecord& record, VertexId at)
{
    const uint32_t id = record.queuePair;
    if (record.kind == PacketKind::DATA)
    {
        ReceiverState& receiver = m_receivers[id];
        if (at == receiver.vertex)
        {
            ReceiveData(record, receiver);
            return CONSUMED;
        }
        return (m_senders[id].flags & SenderState::GROUP) != 0 ? DeliverGroup(record, at)
                                                               : GetNextWaypoint(id, at, true);
    }
    const bool forward = (record.flags & PacketRecord::TURNED) != 0;
    QueuePairState& state = m_states[id];
    if (at != (forward ? state.destination : state.source))
    {
        return GetNextWaypoint(id, at, forward);
    }
    switch (record.kind)
    {
    case PacketKind::ACKNOWLEDGE:
    case PacketKind::NEGATIVE_ACKNOWLEDGE:
        if (forward)
        {
            HandleControl(record);
        }
        else
        {
            HandleAcknowledgement(record);
        }
        break;
    case PacketKind::CONGESTION_NOTIFICATION:
        ++state.statistics.notifications;
        if (state.control)
        {
            state.control->OnNotification(m_fabric->GetTimePs());
            ApplyControl(id);
        }
        break;
    case PacketKind::CONTROL:
        HandleControl(record);
        break;
    case PacketKind::DATA:
    case PacketKind::PAUSE:
        break; // handled above; handled by the fabric
    }
    return CONSUMED;
}

VertexId
Transport::GetNextWaypoint(uint32_t id, VertexId at, bool forward) const
{
    const QueuePairState& state = m_states[id];
    const auto& waypoints = state.waypoints;
    const auto here = std::find(waypoints.begin(), waypoints.end(), at);
    if (forward)
    {
        const auto next = here == waypoints.end() ? here : here + 1;
        return next == waypoints.end() ? state.destination : *next;
    }
    return here == waypoints.begin() || here == waypoints.end() ? state.source : *(here - 1);
}

void
Transport::ReceiveData(const PacketRecord& record, ReceiverState& receiver)
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
        CopyLimiter& limiter = m_limiters[m_limiterOf[receiver.vertex]];
        limiter.freePs = std::max(limiter.freePs, static_cast<double>(m_fabric->GetTimePs())) +
                         record.payloadBytes * limiter.psPerByte;
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
    else if (receiver.ackDuePs == NEVER_PS && m_states[id].ackDelayPs > 0)
    {
        receiver.ackDuePs = m_fabric->GetTimePs() + m_states[id].ackDelayPs;
        Watch(id);
    }
    if (inOrder && !IsBefore(receiver.expected, receiver.messageEnd))
    {
        DeliverMessages(id);
    }
}

bool
Transport::TakeOutOfOrder(const PacketRecord& record, ReceiverState& receiver)
{
    const uint32_t id = record.queuePair;
    QueuePairState& state = m_states[id];
    const uint32_t sequence = record.sequence;
    const uint32_t ahead = sequence - receiver.expected;
    if (IsBefore(sequence, receiver.expected) ||
        (receiver.held > 0 && ahead < m_reorderBuffer && ahead > 0 &&
         state.held.Has(receiver.expected, sequence)))
    {
        ++state.statistics.duplicatePackets;
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
        return false;
    }
    if (ahead == 0)
    {
        do
        {
            ++receiver.expected;
            if (receiver.held == 0 || !state.held.Remove(receiver.expected))
            {
                break;
            }
            --receiver.held;
        } while (true);
        receiver.flags &= ~ReceiverState::NAK_SENT;
        return true;
    }
    if ((receiver.flags & ReceiverState::IN_ORDER) != 0)
    {
        ++state.statistics.droppedPackets;
        const int64_t now = m_fabric->GetTimePs();
        if ((receiver.flags & ReceiverState::NAK_SENT) == 0 ||
            now - receiver.nakPs >= m_nakInterval.GetPicoSeconds())
        {
            receiver.flags |= ReceiverState::NAK_SENT;
            receiver.nakPs = now;
            SendAcknowledgement(id, PacketKind::NEGATIVE_ACKNOWLEDGE, AckContent::NO_OFFSET);
        }
        return false;
    }
    if (ahead >= m_reorderBuffer)
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
Transport::NoteMark(const PacketRecord& record, ReceiverState& receiver)
{
    QueuePairState& state = m_states[record.queuePair];
    ++receiver.marks;
    ++state.statistics.markedPackets;
    if ((receiver.flags & ReceiverState::NOTIFY) != 0)
    {
        const int64_t now = m_fabric->GetTimePs();
        if (now - receiver.notifiedPs >= state.notificationPs)
        {
            receiver.notifiedPs = now;
            PacketRecord notification;
            notification.kind = PacketKind::CONGESTION_NOTIFICATION;
            SendBack(record.queuePair, notification);
        }
    }
}

void
Transport::DeliverMessages(uint32_t id)
{
    // The user may make queue pairs, which moves the receivers: refer to it afresh.
    QueuePairState& state = m_states[id];
    while (m_receivers[id].delivering != state.messages.GetTail() &&
           !IsBefore(m_receivers[id].expected, m_receivers[id].messageEnd))
    {
        ReceiverState& receiver = m_receivers[id];
        const QueuePairMessage message = state.messages.At(receiver.delivering++);
        if (receiver.delivering != state.messages.GetTail())
        {
            receiver.messageEnd = state.messages.At(receiver.delivering).end;
        }
        m_user->ReceiveMessage(id, message.tag, message.bytes);
    }
}

void
Transport::SendAcknowledgement(uint32_t id, PacketKind kind, int32_t offset)
{
    ReceiverState& receiver = m_receivers[id];
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
        Unwatch(id);
    }
    SendBack(id, record);
}

void
Transport::SendBack(uint32_t id, PacketRecord& record)
{
    const QueuePairState& state = m_states[id];
    record.queuePair = id;
    record.trafficClass = m_receivers[id].trafficClass;
    record.destination = state.waypoints.empty() ? state.source : state.waypoints.back();
    ++m_controlPackets;
    m_fabric->SendControl(state.destination, record);
}

void
Transport::SendControl(uint32_t queuePair, uint32_t value)
{
    NS_LOG_FUNCTION(this << queuePair << value);
    QueuePairState& state = m_states[queuePair];
    PacketRecord record;
    record.kind = PacketKind::CONTROL;
    record.sequence = state.nextControl++;
    record.content = value;
    if (state.controlReliable)
    {
        if (state.pendingControls.IsEmpty())
        {
            state.controlActivePs = m_fabric->GetTimePs();
        }
        state.pendingControls.Push({record.sequence, value});
        Watch(queuePair);
    }
    SendBack(queuePair, record);
}

void
Transport::HandleControl(const PacketRecord& record)
{
    const uint32_t id = record.queuePair;
    QueuePairState& state = m_states[id];
    if (record.kind == PacketKind::ACKNOWLEDGE)
    {
        while (!state.pendingControls.IsEmpty() &&
               IsBefore(state.pendingControls.Front().sequence, record.sequence))
        {
            state.pendingControls.Pop();
            state.controlRetries = 0;
            state.controlActivePs = m_fabric->GetTimePs();
        }
        Unwatch(id);
        return;
    }
    if (!state.controlReliable)
    {
        m_user->ReceiveControl(id, record.content);
        return;
    }
    std::vector<uint32_t> values;
    auto& ahead = state.aheadControls;
    if (record.sequence == state.expectedControl)
    {
        values.push_back(record.content);
        ++state.expectedControl;
        for (auto i = ahead.begin(); i != ahead.end();)
        {
            if (i->sequence == state.expectedControl)
            {
                values.push_back(i->value);
                ++state.expectedControl;
                ahead.erase(i);
                i = ahead.begin();
            }
            else
            {
                ++i;
            }
        }
    }
    else if (IsBefore(state.expectedControl, record.sequence) &&
             std::none_of(ahead.begin(), ahead.end(), [&](const PendingControl& control) {
                 return control.sequence == record.sequence;
             }))
    {
        ahead.push_back({record.sequence, record.content});
    }
    PacketRecord answer;
    answer.kind = PacketKind::ACKNOWLEDGE;
    answer.queuePair = id;
    answer.flags = PacketRecord::TURNED;
    answer.sequence = state.expectedControl;
    answer.trafficClass = m_receivers[id].trafficClass;
    answer.destination = m_senders[id].firstWaypoint;
    ++m_controlPackets;
    m_fabric->SendControl(state.source, answer);
    for (uint32_t value : values)
    {
        m_user->ReceiveControl(id, value);
    }
}

} // namespace proteus
} // namespace ns3
