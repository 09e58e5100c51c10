/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-loss-recovery.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

LossRecovery::LossRecovery(TransportCore& core)
    : m_core(core)
{
}

void
LossRecovery::MoveCursor(uint32_t id, uint32_t sequence)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    state.statistics.sentBytes = std::max(state.statistics.sentBytes, sender.nextBytes);
    const uint32_t number = state.FindMessage(sequence);
    sender.next = sequence;
    sender.sending = number;
    sender.messageLeft = 0;
    sender.nextBytes = sender.totalBytes;
    if (number != state.messages.GetTail())
    {
        const QueuePairMessage& message = state.messages.At(number);
        const uint64_t offset = uint64_t{sequence - message.first} * sender.unitBytes;
        sender.nextBytes = message.position + offset;
        sender.messageLeft = offset > 0 ? message.bytes - offset : 0;
    }
    sender.flags &= ~SenderState::TIMING;
}

void
LossRecovery::OnProgress(uint32_t id, uint32_t sequence)
{
    RepeatState& repeats = m_core.pairs.GetState(id).repeats;
    if (repeats.recovering && !IsBefore(sequence, repeats.recoverEnd))
    {
        repeats.recovering = false;
    }
    if (repeats.recovering && IsBefore(sequence, repeats.repeatEnd) &&
        IsBefore(repeats.examined, repeats.repeatEnd))
    {
        RepeatWindow(id);
    }
}

void
LossRecovery::OnNegative(uint32_t id, const PacketRecord& record, int64_t now)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    const uint32_t sequence = record.sequence;
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
        const QueuePairState& state = m_core.pairs.GetState(id);
        if (state.control)
        {
            state.control->OnLoss(now, sender.GetInFlight());
        }
        MoveCursor(id, sequence);
    }
}

void
LossRecovery::OnTimeout(uint32_t id)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    if ((sender.flags & SenderState::SELECTIVE) == 0)
    {
        MoveCursor(id, sender.unacked);
        return;
    }
    RepeatState& repeats = m_core.pairs.GetState(id).repeats;
    repeats.lost.Clear();
    repeats.recovering = true;
    repeats.recoverEnd = sender.highest;
    repeats.examined = sender.unacked;
    repeats.repeatEnd = sender.highest;
    RepeatWindow(id);
}

void
LossRecovery::NoteGap(uint32_t id, uint32_t sequence, int64_t now)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    if (IsBefore(sequence, sender.unacked) || !IsBefore(sequence, sender.highest))
    {
        return;
    }
    if (state.repeats.examined - sender.unacked > sender.highest - sender.unacked)
    {
        state.repeats.examined = sender.unacked;
    }
    if (state.repeats.nSelected == 0 || IsBefore(state.repeats.highestSelected, sequence))
    {
        state.repeats.highestSelected = sequence;
    }
    state.repeats.nSelected += state.repeats.selected.Insert(sender.unacked, sequence) ? 1 : 0;
    const uint32_t limit = state.repeats.highestSelected - state.reorderingDistance + 1;
    if (state.reorderingDistance == UINT32_MAX || !IsBefore(state.repeats.examined, limit))
    {
        return;
    }
    if (!state.repeats.recovering)
    {
        state.repeats.recovering = true;
        state.repeats.recoverEnd = sender.next;
        state.repeats.repeatEnd = sender.unacked;
        if (state.control)
        {
            state.control->OnLoss(now, sender.GetInFlight());
        }
    }
    RepeatBefore(id, limit);
}

void
LossRecovery::RepeatBefore(uint32_t id, uint32_t limit)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    for (uint32_t i = state.repeats.examined; IsBefore(i, limit); ++i)
    {
        if (state.repeats.nSelected == 0 || !state.repeats.selected.Has(sender.unacked, i))
        {
            state.repeats.lost.Push(i);
        }
    }
    state.repeats.examined = limit;
    sender.flags &= ~SenderState::TIMING;
    if (!state.repeats.lost.IsEmpty())
    {
        sender.flags |= SenderState::LOST;
    }
}

void
LossRecovery::RepeatWindow(uint32_t id)
{
    const SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    if (state.repeats.examined - sender.unacked > sender.highest - sender.unacked)
    {
        state.repeats.examined = sender.unacked;
    }
    const uint32_t inFlight = state.repeats.repeatEnd - sender.unacked;
    const uint64_t packets = std::max<uint64_t>(1, sender.windowBytes / sender.unitBytes);
    const uint32_t limit =
        sender.unacked + static_cast<uint32_t>(std::min<uint64_t>(packets, inFlight));
    if (IsBefore(state.repeats.examined, limit))
    {
        RepeatBefore(id, limit);
    }
}

bool
LossRecovery::TakeLost(uint32_t id, uint32_t& sequence)
{
    SenderState& sender = m_core.pairs.GetSender(id);
    RepeatState& repeats = m_core.pairs.GetState(id).repeats;
    while (!repeats.lost.IsEmpty())
    {
        sequence = repeats.lost.Front();
        repeats.lost.Pop();
        if (repeats.lost.IsEmpty())
        {
            sender.flags &= ~SenderState::LOST;
        }
        if (!IsBefore(sequence, sender.unacked) &&
            (repeats.nSelected == 0 || !repeats.selected.Has(sender.unacked, sequence)))
        {
            return true;
        }
    }
    sender.flags &= ~SenderState::LOST;
    return false;
}

} // namespace proteus
} // namespace ns3
