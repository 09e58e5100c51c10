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

NS_LOG_COMPONENT_DEFINE("ProteusTransportAcknowledge");

void
Transport::HandleAcknowledgement(const PacketRecord& record)
{
    const uint32_t id = record.queuePair;
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    const int64_t now = m_fabric->GetTimePs();
    const uint32_t sequence = record.sequence;
    const uint32_t ackedPackets = sequence - sender.unacked;
    if (IsBefore(sequence, sender.unacked) || IsBefore(sender.highest, sequence))
    {
        return; // overtaken by a later one
    }
    uint64_t ackedBytes = 0;
    if (ackedPackets > 0)
    {
        ackedBytes = AdvanceUnacked(id, sequence);
        state.retries = 0;
        sender.activePs = now;
        if ((sender.flags & SenderState::TIMING) != 0 && !IsBefore(sequence, sender.timedSequence))
        {
            sender.flags &= ~SenderState::TIMING;
            QueuePairStatistics& statistics = state.statistics;
            statistics.lastRttPs = now - state.timedPs;
            statistics.minRttPs = statistics.minRttPs < 0
                                      ? statistics.lastRttPs
                                      : std::min(statistics.minRttPs, statistics.lastRttPs);
        }
        if (state.recovering && !IsBefore(sequence, state.recoverEnd))
        {
            state.recovering = false;
        }
        if (state.recovering && IsBefore(sequence, state.repeatEnd) &&
            IsBefore(state.examined, state.repeatEnd))
        {
            RepeatWindow(id);
        }
    }
    if (record.kind == PacketKind::NEGATIVE_ACKNOWLEDGE)
    {
        if ((sender.flags & SenderState::SELECTIVE) != 0)
        {
            const int32_t offset = AckContent::GetOffset(record.content);
            if (offset != AckContent::NO_OFFSET)
            {
                NoteGap(id, sequence + static_cast<uint32_t>(offset), now);
            }
        }
        else if (IsBefore(sequence, sender.next))
        {
            if (state.control)
            {
                state.control->OnLoss(now, sender.GetInFlight());
            }
            MoveCursor(id, sequence);
        }
    }
    if (state.control)
    {
        TellControl(id, record, ackedBytes, ackedPackets, now);
    }
    if (sender.ackedBytes == sender.totalBytes)
    {
        Unwatch(id);
    }
    Activate(id);
    // The user may send on this queue pair, or make others, which moves the senders.
    while (!state.messages.IsEmpty() &&
           !IsBefore(m_senders[id].unacked, state.messages.Front().end))
    {
        const uint64_t tag = state.messages.Front().tag;
        state.messages.Pop();
        m_user->ReceiveAcknowledgement(id, tag);
    }
}

uint64_t
Transport::AdvanceUnacked(uint32_t id, uint32_t sequence)
{
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    const uint64_t before = sender.ackedBytes;
    for (uint32_t i = sender.unacked; state.nSelected > 0 && i != sequence; ++i)
    {
        state.nSelected -= state.selected.Remove(i) ? 1 : 0;
    }
    if (IsBefore(sequence, sender.headEnd))
    {
        sender.ackedBytes += uint64_t{sequence - sender.unacked} * sender.unitBytes;
    }
    else
    {
        uint32_t number = state.messages.GetHead();
        const uint32_t tail = state.messages.GetTail();
        while (number != tail && !IsBefore(sequence, state.messages.At(number).end))
        {
            ++number;
        }
        if (number != tail)
        {
            const QueuePairMessage& message = state.messages.At(number);
            sender.ackedBytes =
                message.position + uint64_t{sequence - message.first} * sender.unitBytes;
            sender.headEnd = message.end;
        }
        else
        {
            sender.ackedBytes = sender.totalBytes;
            sender.headEnd = sequence;
        }
    }
    sender.unacked = sequence;
    if (IsBefore(sender.next, sequence))
    {
        MoveCursor(id, sequence); // what was to be repeated had arrived
    }
    return sender.ackedBytes - before;
}

void
Transport::NoteGap(uint32_t id, uint32_t sequence, int64_t now)
{
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    if (IsBefore(sequence, sender.unacked) || !IsBefore(sequence, sender.highest))
    {
        return;
    }
    if (state.examined - sender.unacked > sender.highest - sender.unacked)
    {
        state.examined = sender.unacked;
    }
    if (state.nSelected == 0 || IsBefore(state.highestSelected, sequence))
    {
        state.highestSelected = sequence;
    }
    state.nSelected += state.selected.Insert(sender.unacked, sequence) ? 1 : 0;
    const uint32_t limit = state.highestSelected - state.reorderingDistance + 1;
    if (state.reorderingDistance == UINT32_MAX || !IsBefore(state.examined, limit))
    {
        return;
    }
    if (!state.recovering)
    {
        state.recovering = true;
        state.recoverEnd = sender.next;
        state.repeatEnd = sender.unacked;
        if (state.control)
        {
            state.control->OnLoss(now, sender.GetInFlight());
        }
    }
    RepeatBefore(id, limit);
}

void
Transport::RepeatBefore(uint32_t id, uint32_t limit)
{
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    for (uint32_t i = state.examined; IsBefore(i, limit); ++i)
    {
        if (state.nSelected == 0 || !state.selected.Has(sender.unacked, i))
        {
            state.lost.Push(i);
        }
    }
    state.examined = limit;
    sender.flags &= ~SenderState::TIMING;
    if (!state.lost.IsEmpty())
    {
        sender.flags |= SenderState::LOST;
    }
}

void
Transport::RepeatWindow(uint32_t id)
{
    const SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    if (state.examined - sender.unacked > sender.highest - sender.unacked)
    {
        state.examined = sender.unacked;
    }
    const uint32_t inFlight = state.repeatEnd - sender.unacked;
    const uint64_t packets = std::max<uint64_t>(1, sender.windowBytes / sender.unitBytes);
    const uint32_t limit =
        sender.unacked + static_cast<uint32_t>(std::min<uint64_t>(packets, inFlight));
    if (IsBefore(state.examined, limit))
    {
        RepeatBefore(id, limit);
    }
}

void
Transport::TellControl(uint32_t id,
                       const PacketRecord& record,
                       uint64_t ackedBytes,
                       uint32_t ackedPackets,
                       int64_t now)
{
    const SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    CongestionFeedback feedback;
    feedback.timePs = now;
    feedback.ackedBytes = ackedBytes;
    feedback.ackedPackets = ackedPackets;
    feedback.markedPackets = AckContent::GetMarks(record.content);
    feedback.unackedPosition = sender.ackedBytes;
    feedback.nextPosition = sender.nextBytes;
    const int32_t offset = AckContent::GetOffset(record.content);
    if (offset != AckContent::NO_OFFSET)
    {
        const uint32_t cause = record.sequence + static_cast<uint32_t>(offset);
        if (!state.sendTimes.empty() && !state.recovering)
        {
            feedback.rttPs = now - state.sendTimes[cause & (state.sendTimes.size() - 1)];
            state.statistics.lastRttPs = feedback.rttPs;
        }
        if (!state.stacks.empty())
        {
            const HopStack& stack = state.stacks[cause & (state.stacks.size() - 1)];
            feedback.hops = stack.hops;
            feedback.nHops = stack.nHops;
        }
    }
    state.control->OnAcknowledgement(feedback);
    ApplyControl(id);
}

void
Transport::ApplyControl(uint32_t id)
{
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    const CongestionControl* control = state.control.get();
    const uint64_t oldWindow = sender.windowBytes;
    const uint64_t oldPace = sender.psPerByte;
    double rate = control ? control->GetRate() : std::numeric_limits<double>::infinity();
    sender.windowBytes = state.windowLimit;
    if (control)
    {
        sender.windowBytes = std::min(sender.windowBytes, control->GetWindow());
        if (control->GetByteEpoch() != state.byteEpoch ||
            sender.byteMark == CongestionControl::UNLIMITED)
        {
            state.byteEpoch = control->GetByteEpoch();
            const uint64_t mark = control->GetByteMark();
            sender.byteMark = mark == CongestionControl::UNLIMITED ? mark : sender.nextBytes + mark;
        }
    }
    if (rate >= state.path.bytesPerSecond)
    {
        rate = std::numeric_limits<double>::infinity(); // the links themselves pace it
    }
    if (state.copyBytesPerSecond > 0)
    {
        // Copies are limited in payload.
        rate = std::min(rate,
                        state.copyBytesPerSecond *
                            (1 + static_cast<double>(sender.paceHeader) / sender.unitBytes));
    }
    sender.psPerByte =
        std::isinf(rate)
            ? 0
            : std::max<uint64_t>(1, std::llround(std::ldexp(1e12 / rate, PACE_FRACTION_BITS)));
    if (control && sender.ackedBytes != sender.totalBytes)
    {
        Watch(id);
    }
    if (sender.windowBytes != oldWindow || sender.psPerByte != oldPace)
    {
        m_congestionTrace(id,
                          control ? control->GetRate() : rate,
                          sender.windowBytes,
                          m_fabric->GetTimePs());
    }
}

} // namespace proteus
} // namespace ns3
