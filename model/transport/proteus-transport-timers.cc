/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/log.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransportTimers");

namespace
{

/// Doublings of the timeout, at most.
constexpr uint32_t MAX_BACK_OFF = 10;

} // namespace

int64_t
Transport::GetTimeoutPs(uint32_t id) const
{
    const QueuePairState& state = m_states[id];
    const int64_t own = state.control ? state.control->GetRetransmissionTimeoutPs() : 0;
    return own > 0 ? own : m_retransmissionTimeout.GetPicoSeconds();
}

bool
Transport::IsWaiting(uint32_t id) const
{
    const SenderState& sender = m_senders[id];
    return sender.unacked != sender.highest || m_receivers[id].ackDuePs != NEVER_PS ||
           !m_states[id].pendingControls.IsEmpty() ||
           (m_states[id].control && sender.ackedBytes != sender.totalBytes);
}

int64_t
Transport::GetDeadline(uint32_t id) const
{
    const SenderState& sender = m_senders[id];
    const QueuePairState& state = m_states[id];
    int64_t deadline = m_receivers[id].ackDuePs;
    if (sender.unacked != sender.highest)
    {
        deadline =
            std::min(deadline,
                     sender.activePs + (GetTimeoutPs(id) << std::min(state.retries, MAX_BACK_OFF)));
    }
    if (state.control && sender.ackedBytes != sender.totalBytes)
    {
        deadline = std::min(deadline, state.control->GetTimerPs());
    }
    if (!state.pendingControls.IsEmpty())
    {
        deadline =
            std::min(deadline,
                     state.controlActivePs + (m_retransmissionTimeout.GetPicoSeconds()
                                              << std::min(state.controlRetries, MAX_BACK_OFF)));
    }
    return deadline;
}

void
Transport::Watch(uint32_t id)
{
    SenderState& sender = m_senders[id];
    if ((sender.flags & SenderState::WAITING) == 0)
    {
        sender.flags |= SenderState::WAITING;
        ++m_waiting;
    }
    const int64_t deadline = GetDeadline(id);
    if (deadline < sender.armedPs)
    {
        sender.armedPs = deadline;
        m_timers.Push(deadline, id);
    }
    SetFabricTimer();
}

void
Transport::Unwatch(uint32_t id)
{
    SenderState& sender = m_senders[id];
    if ((sender.flags & SenderState::WAITING) != 0 && !IsWaiting(id))
    {
        sender.flags &= ~SenderState::WAITING;
        if (--m_waiting == 0)
        {
            SetFabricTimer(); // no timer keeps a run alive that has nothing to wait for
        }
    }
}

void
Transport::SetFabricTimer()
{
    int64_t next = NEVER_PS;
    if (m_waiting > 0 && !m_timers.IsEmpty())
    {
        next = m_timers.GetTop().first;
    }
    if (next != m_fabricTimerPs)
    {
        m_fabricTimerPs = next;
        m_fabric->SetTimer(next == NEVER_PS ? next : std::max(next, m_fabric->GetTimePs()));
    }
}

void
Transport::HandleTimer()
{
    const int64_t now = m_fabric->GetTimePs();
    m_fabricTimerPs = NEVER_PS;
    while (!m_timers.IsEmpty() && m_timers.GetTop().first <= now)
    {
        const auto [timePs, id] = m_timers.GetTop();
        m_timers.Pop();
        if (m_senders[id].armedPs != timePs)
        {
            continue; // an earlier entry has come in between
        }
        m_senders[id].armedPs = NEVER_PS;
        if ((m_senders[id].flags & SenderState::WAITING) == 0)
        {
            continue;
        }
        HandleDeadline(id, now);
        SenderState& sender = m_senders[id];
        if ((sender.flags & SenderState::WAITING) != 0)
        {
            const int64_t deadline = GetDeadline(id);
            if (deadline == NEVER_PS)
            {
                sender.flags &= ~SenderState::WAITING;
                --m_waiting;
            }
            else if (deadline < sender.armedPs)
            {
                sender.armedPs = deadline;
                m_timers.Push(deadline, id);
            }
        }
    }
    SetFabricTimer();
}

void
Transport::HandleDeadline(uint32_t id, int64_t now)
{
    QueuePairState& state = m_states[id];
    if (m_receivers[id].ackDuePs <= now)
    {
        SendAcknowledgement(id, PacketKind::ACKNOWLEDGE, AckContent::NO_OFFSET);
    }
    const SenderState& sender = m_senders[id];
    if (state.control && sender.ackedBytes != sender.totalBytes &&
        state.control->GetTimerPs() <= now)
    {
        state.control->OnTimer(now);
        ApplyControl(id);
        Activate(id);
    }
    if (sender.unacked != sender.highest &&
        sender.activePs + (GetTimeoutPs(id) << std::min(state.retries, MAX_BACK_OFF)) <= now)
    {
        HandleTimeout(id, now);
    }
    if (!state.pendingControls.IsEmpty() &&
        state.controlActivePs + (m_retransmissionTimeout.GetPicoSeconds()
                                 << std::min(state.controlRetries, MAX_BACK_OFF)) <=
            now)
    {
        if (++state.controlRetries > m_retryLimit)
        {
            Fail(id, "control units of the receiver");
        }
        state.controlActivePs = now;
        const uint32_t tail = state.pendingControls.GetTail();
        for (uint32_t i = state.pendingControls.GetHead(); i != tail; ++i)
        {
            PacketRecord record;
            record.kind = PacketKind::CONTROL;
            record.flags = PacketRecord::RETRANSMISSION;
            record.sequence = state.pendingControls.At(i).sequence;
            record.content = state.pendingControls.At(i).value;
            SendBack(id, record);
        }
    }
}

void
Transport::HandleTimeout(uint32_t id, int64_t now)
{
    NS_LOG_FUNCTION(this << id << now);
    SenderState& sender = m_senders[id];
    QueuePairState& state = m_states[id];
    ++state.statistics.timeouts;
    if (++state.retries > m_retryLimit)
    {
        Fail(id, "packets");
    }
    sender.activePs = now;
    if (state.control)
    {
        state.control->OnTimeout(now, sender.GetInFlight());
        ApplyControl(id);
    }
    if ((sender.flags & SenderState::SELECTIVE) != 0)
    {
        state.lost.Clear();
        state.recovering = true;
        state.recoverEnd = sender.highest;
        state.examined = sender.unacked;
        state.repeatEnd = sender.highest;
        RepeatWindow(id);
    }
    else
    {
        MoveCursor(id, sender.unacked);
    }
    Activate(id);
}

void
Transport::Fail(uint32_t id, const std::string& what) const
{
    const QueuePairState& state = m_states[id];
    const auto& vertices = m_fabric->GetCluster().GetVertices();
    std::ostringstream message;
    message << "transport: queue pair " << id << " from " << vertices[state.source].name << " to "
            << vertices[state.destination].name << " gives up at "
            << static_cast<double>(m_fabric->GetTimePs()) * 1e-9 << " ms: " << what
            << " had no acknowledgement in " << m_retryLimit
            << " repetitions (attributes RetryLimit and RetransmissionTimeout of "
               "ns3::proteus::Transport)";
    throw std::runtime_error(message.str());
}

} // namespace proteus
} // namespace ns3
