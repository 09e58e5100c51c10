/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-queue-pair-timers.h"

#include "ns3/proteus-link-losses.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Doublings of the timeout, at most.
constexpr uint32_t MAX_BACK_OFF = 10;

} // namespace

QueuePairTimers::QueuePairTimers(TransportCore& core)
    : m_core(core)
{
}

int64_t
QueuePairTimers::GetRetransmissionPs(uint32_t id) const
{
    const QueuePairState& state = m_core.pairs.GetState(id);
    const int64_t own = state.control ? state.control->GetRetransmissionTimeoutPs() : 0;
    const int64_t timeout = own > 0 ? own : m_core.settings.retransmissionTimeout.GetPicoSeconds();
    // What waits in a memory has not been sent yet.
    const bool isStaged = (m_core.pairs.GetSender(id).flags & SenderState::STAGED) != 0 &&
                          !state.stage->units.IsEmpty();
    const int64_t since =
        isStaged ? m_core.fabric->GetTimePs() : m_core.pairs.GetSender(id).activePs;
    return since + (timeout << std::min(state.retries, MAX_BACK_OFF));
}

int64_t
QueuePairTimers::GetControlPs(uint32_t id) const
{
    const ControlUnitState& controls = m_core.pairs.GetState(id).controls;
    return controls.activePs + (m_core.settings.retransmissionTimeout.GetPicoSeconds()
                                << std::min(controls.retries, MAX_BACK_OFF));
}

bool
QueuePairTimers::IsOverdue(uint32_t id, int64_t now) const
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    return sender.unacked != sender.highest && GetRetransmissionPs(id) <= now;
}

bool
QueuePairTimers::AreControlsOverdue(uint32_t id, int64_t now) const
{
    return !m_core.pairs.GetState(id).controls.pending.IsEmpty() && GetControlPs(id) <= now;
}

int64_t
QueuePairTimers::GetStagePs(uint32_t id) const
{
    // The flag is beside what is read anyway, the stage is not.
    return (m_core.pairs.GetSender(id).flags & SenderState::STAGED) != 0
               ? m_core.pairs.GetState(id).stage->duePs
               : NEVER_PS;
}

bool
QueuePairTimers::IsWaiting(uint32_t id) const
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    const QueuePairState& state = m_core.pairs.GetState(id);
    return sender.unacked != sender.highest || m_core.pairs.GetResponder(id).ackDuePs != NEVER_PS ||
           (state.nicEnd && state.nicEnd->duePs != NEVER_PS) || !state.controls.pending.IsEmpty() ||
           GetStagePs(id) != NEVER_PS || (state.control && sender.ackedBytes != sender.totalBytes);
}

int64_t
QueuePairTimers::GetDeadline(uint32_t id) const
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    const QueuePairState& state = m_core.pairs.GetState(id);
    int64_t deadline = m_core.pairs.GetResponder(id).ackDuePs;
    if (state.nicEnd)
    {
        deadline = std::min(deadline, state.nicEnd->duePs);
    }
    if (sender.unacked != sender.highest)
    {
        deadline = std::min(deadline, GetRetransmissionPs(id));
    }
    if (state.control && sender.ackedBytes != sender.totalBytes)
    {
        deadline = std::min(deadline, state.control->GetTimerPs());
    }
    if (!state.controls.pending.IsEmpty())
    {
        deadline = std::min(deadline, GetControlPs(id));
    }
    return std::min(deadline, GetStagePs(id));
}

void
QueuePairTimers::Watch(uint32_t id)
{
    SenderState& sender = m_core.pairs.GetSender(id);
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
QueuePairTimers::Unwatch(uint32_t id)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    if ((sender.flags & SenderState::WAITING) != 0 && !IsWaiting(id))
    {
        sender.flags &= ~SenderState::WAITING;
        if (--m_waiting == 0)
        {
            SetFabricTimer();
        }
    }
}

bool
QueuePairTimers::TakeEntry(uint32_t id, int64_t timePs)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    if (sender.armedPs != timePs)
    {
        return false; // an earlier entry has come in between
    }
    sender.armedPs = NEVER_PS;
    return (sender.flags & SenderState::WAITING) != 0;
}

void
QueuePairTimers::Rearm(uint32_t id)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    if ((sender.flags & SenderState::WAITING) == 0)
    {
        return;
    }
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

void
QueuePairTimers::SetFabricTimer()
{
    const int64_t next = m_waiting > 0 ? m_timers.GetTime() : NEVER_PS;
    if (next != m_fabricTimerPs)
    {
        m_fabricTimerPs = next;
        m_core.fabric->SetTimer(next == NEVER_PS ? next
                                                 : std::max(next, m_core.fabric->GetTimePs()));
    }
}

void
QueuePairTimers::Clear()
{
    m_timers = TimeHeap();
    m_waiting = 0;
    m_fabricTimerPs = NEVER_PS;
    for (uint32_t id = 0; id < m_core.pairs.GetN(); ++id)
    {
        m_core.pairs.GetSender(id).armedPs = NEVER_PS;
        m_core.pairs.GetSender(id).flags &= ~SenderState::WAITING;
    }
}

void
QueuePairTimers::GiveUp(uint32_t id, const std::string& what) const
{
    std::ostringstream message;
    message << "transport: " << m_core.Describe(id) << " gives up at "
            << static_cast<double>(m_core.fabric->GetTimePs()) * 1e-9 << " ms: " << what
            << " had no acknowledgement in " << m_core.settings.retryLimit
            << " repetitions (attributes RetryLimit and RetransmissionTimeout of "
               "ns3::proteus::Transport)"
            << DescribeLinkFaults(*m_core.fabric);
    throw std::runtime_error(message.str());
}

} // namespace proteus
} // namespace ns3
