/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rate-control.h"

#include <cmath>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param bytesPerSecond on the wire, or infinity @return SenderState::psPerByte
uint64_t
GetPace(double bytesPerSecond)
{
    return std::isinf(bytesPerSecond)
               ? 0
               : std::max<uint64_t>(
                     1,
                     std::llround(std::ldexp(1e12 / bytesPerSecond, PACE_FRACTION_BITS)));
}

} // namespace

RateControl::RateControl(TransportCore& core, QueuePairTimers& timers, Trace& trace)
    : m_core(core),
      m_timers(timers),
      m_trace(trace)
{
}

void
RateControl::OnAcknowledgement(uint32_t id,
                               const PacketRecord& record,
                               uint64_t ackedBytes,
                               uint32_t ackedPackets,
                               int64_t now)
{
    if (!m_core.pairs.GetState(id).control)
    {
        return;
    }
    const SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
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
        if (!state.sendTimes.empty() && !state.repeats.recovering)
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
    Apply(id);
}

void
RateControl::OnNotification(uint32_t id)
{
    QueuePairState& state = m_core.pairs.GetState(id);
    ++state.statistics.notifications;
    if (state.control)
    {
        state.control->OnNotification(m_core.fabric->GetTimePs());
        Apply(id);
    }
}

void
RateControl::OnBytesSent(uint32_t id, int64_t now)
{
    m_core.pairs.GetState(id).control->OnBytesSent(now);
    m_core.pairs.GetSender(id).byteMark = CongestionControl::UNLIMITED;
    Apply(id);
}

void
RateControl::OnTimeout(uint32_t id, int64_t now)
{
    QueuePairState& state = m_core.pairs.GetState(id);
    if (state.control)
    {
        state.control->OnTimeout(now, m_core.pairs.GetSender(id).GetInFlight());
        Apply(id);
    }
}

bool
RateControl::HandleTimer(uint32_t id, int64_t now)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    if (!state.control || sender.ackedBytes == sender.totalBytes ||
        state.control->GetTimerPs() > now)
    {
        return false;
    }
    state.control->OnTimer(now);
    Apply(id);
    return true;
}

void
RateControl::Apply(uint32_t id)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
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
    if (state.stage)
    {
        state.stage->psPerByte = GetPace(rate);
    }
    if (state.copyBytesPerSecond > 0)
    {
        // Copies are limited in payload.
        rate = std::min(rate,
                        state.copyBytesPerSecond *
                            (1 + static_cast<double>(sender.paceHeader) / sender.unitBytes));
    }
    sender.psPerByte = GetPace(rate);
    if (control && sender.ackedBytes != sender.totalBytes)
    {
        m_timers.Watch(id);
    }
    if (sender.windowBytes != oldWindow || sender.psPerByte != oldPace)
    {
        m_trace(id,
                control ? control->GetRate() : rate,
                sender.windowBytes,
                m_core.fabric->GetTimePs());
    }
}

} // namespace proteus
} // namespace ns3
