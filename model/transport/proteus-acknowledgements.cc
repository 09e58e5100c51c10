/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-acknowledgements.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

Acknowledgements::Acknowledgements(TransportCore& core,
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
Acknowledgements::Handle(const PacketRecord& record)
{
    const uint32_t id = record.queuePair;
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const int64_t now = m_core.fabric->GetTimePs();
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
        MeasureRoundTrip(id, sequence, now);
        m_recovery.OnProgress(id, sequence);
    }
    if (record.kind == PacketKind::NEGATIVE_ACKNOWLEDGE)
    {
        m_recovery.OnNegative(id, record, now);
    }
    m_rates.OnAcknowledgement(id, record, ackedBytes, ackedPackets, now);
    if (sender.ackedBytes == sender.totalBytes)
    {
        m_timers.Unwatch(id);
    }
    m_ports.Activate(id);
    // The user may send on this queue pair, or make others, which moves the senders.
    const bool isReceivedHere = m_core.fabric->IsLocal(state.destination);
    while (state.acknowledged != state.messages.GetTail() &&
           !IsBefore(m_core.pairs.GetSender(id).unacked, state.messages.At(state.acknowledged).end))
    {
        const uint64_t tag = state.messages.At(state.acknowledged++).tag;
        if (isReceivedHere)
        {
            m_core.pairs.ForgetMessages(id);
        }
        else
        {
            state.messages.Pop();
        }
        m_core.GetUser(id).ReceiveAcknowledgement(id, tag);
    }
}

void
Acknowledgements::MeasureRoundTrip(uint32_t id, uint32_t sequence, int64_t now)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    if ((sender.flags & SenderState::TIMING) != 0 && !IsBefore(sequence, sender.timedSequence))
    {
        sender.flags &= ~SenderState::TIMING;
        QueuePairState& state = m_core.pairs.GetState(id);
        QueuePairStatistics& statistics = state.statistics;
        statistics.lastRttPs = now - state.timedPs;
        statistics.minRttPs = statistics.minRttPs < 0
                                  ? statistics.lastRttPs
                                  : std::min(statistics.minRttPs, statistics.lastRttPs);
    }
}

uint64_t
Acknowledgements::AdvanceUnacked(uint32_t id, uint32_t sequence)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const uint64_t before = sender.ackedBytes;
    for (uint32_t i = sender.unacked; state.repeats.nSelected > 0 && i != sequence; ++i)
    {
        state.repeats.nSelected -= state.repeats.selected.Remove(i) ? 1 : 0;
    }
    if (IsBefore(sequence, sender.headEnd))
    {
        sender.ackedBytes += uint64_t{sequence - sender.unacked} * sender.unitBytes;
    }
    else
    {
        const uint32_t number = state.FindMessage(sequence);
        if (number != state.messages.GetTail())
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
        m_recovery.MoveCursor(id, sequence); // what was to be repeated had arrived
    }
    return sender.ackedBytes - before;
}

void
Acknowledgements::HandleTimer(uint32_t id, int64_t now)
{
    if (!m_timers.IsOverdue(id, now))
    {
        return;
    }
    QueuePairState& state = m_core.pairs.GetState(id);
    ++m_timeouts;
    ++state.statistics.timeouts;
    if (++state.retries > m_core.settings.retryLimit)
    {
        m_timers.GiveUp(id, "packets");
    }
    m_core.pairs.GetSender(id).activePs = now;
    m_rates.OnTimeout(id, now);
    m_recovery.OnTimeout(id);
    m_ports.Activate(id);
}

} // namespace proteus
} // namespace ns3
