/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * The state of queue pairs as words, to see whether they have been in it before. Numbers of packets
 * and bytes count from the oldest packet that is not acknowledged, times from now.
 */

namespace ns3
{
namespace proteus
{

void
ReadRequests::AppendState(uint32_t pair, int64_t nowPs, std::vector<uint64_t>& words) const
{
    const Reader& reader = m_readers[m_readerOf[pair]];
    std::vector<int64_t> returns;
    for (const int64_t timePs : reader.returns)
    {
        if (timePs > nowPs)
        {
            returns.push_back(timePs - nowPs);
        }
    }
    std::sort(returns.begin(), returns.end());
    words.push_back(reader.asked - (reader.returns.size() - returns.size()));
    words.insert(words.end(), returns.begin(), returns.end());
    words.push_back(reader.waiting.size());
    for (const Turn& turn : reader.waiting)
    {
        words.push_back(uint64_t{turn.isStaged} << 32 | turn.number);
    }
}

void
SendPorts::AppendState(uint32_t pair, int64_t nowPs, std::vector<uint64_t>& words) const
{
    const SenderState& sender = m_core.pairs.GetSender(pair);
    for (uint32_t i = 0; i < sender.nSlots; ++i)
    {
        // Who is behind whom says all of a list; its ends follow from that.
        const ActiveSlot& slot = m_slots[sender.firstSlot + i];
        const ActiveQueues& port = m_active[slot.port];
        words.push_back(slot.next);
        words.push_back(uint64_t{port.busy} << 32 | port.lists[sender.trafficClass].head);
        if (slot.next == ActiveSlot::PACED)
        {
            for (const auto& [timePs, paced] : port.paced.GetEntries())
            {
                words.push_back(static_cast<uint64_t>(timePs - nowPs));
                words.push_back(paced);
            }
        }
    }
}

void
Transport::AppendContent(const PacketRecord& record, std::vector<uint64_t>& words) const
{
    const SenderState& sender = m_core.pairs.GetSender(record.queuePair);
    const ControlUnitState& controls = m_core.pairs.GetState(record.queuePair).controls;
    const bool isOfControls =
        record.kind == PacketKind::CONTROL || (record.flags & PacketRecord::TURNED) != 0;
    words.push_back(record.sequence - (isOfControls ? controls.next : sender.unacked));
    words.push_back(record.kind == PacketKind::CONTROL
                        ? m_core.GetUser(record.queuePair).GetControlWord(record.content)
                        : record.content);
}

void
Transport::AppendState(uint32_t pair, std::vector<uint64_t>& words) const
{
    RequirePair(pair);
    const SenderState& sender = m_core.pairs.GetSender(pair);
    const ReceiverState& receiver = m_core.pairs.GetReceiver(pair);
    const QueuePairState& state = m_core.pairs.GetState(pair);
    const int64_t nowPs = m_core.fabric->GetTimePs();
    const uint32_t oldest = sender.unacked;
    const auto add = [&](uint64_t high, uint32_t low) { words.push_back(high << 32 | low); };
    add(sender.next - oldest, sender.highest - oldest);
    add(state.messages.GetSize(), sender.sending - state.messages.GetHead());
    words.push_back(sender.totalBytes - sender.ackedBytes);
    words.push_back(sender.nextBytes - sender.ackedBytes);
    words.push_back(sender.messageLeft);
    const int64_t pacedPs = GetPacedPs(pair);
    words.push_back(
        pacedPs <= nowPs ? 0 : static_cast<uint64_t>(sender.nextSend - (nowPs << PACING_BITS)));
    const bool isTiming = (sender.flags & SenderState::TIMING) != 0;
    words.push_back(isTiming ? static_cast<uint64_t>(state.timedPs - nowPs) : 0);
    add(isTiming ? sender.timedSequence - oldest : 0, sender.sinceRequest);
    add(sender.flags & ~SenderState::WAITING, sender.turn);
    for (uint32_t i = state.messages.GetHead(); i != state.messages.GetTail(); ++i)
    {
        const QueuePairMessage& message = state.messages.At(i);
        words.push_back(message.tag);
        words.push_back(message.bytes);
        add(message.first - oldest, message.end - oldest);
    }
    add(receiver.expected - oldest, receiver.held);
    // Ends of what has been received whole say nothing.
    const auto getEnd = [&](uint32_t end) {
        return IsBefore(receiver.expected, end) ? end - oldest : 0;
    };
    add(getEnd(receiver.messageEnd), receiver.delivering - state.messages.GetHead());
    add((receiver.flags & ReceiverState::REQUESTED) != 0 ? getEnd(receiver.requestEnd) : 0,
        receiver.marks);
    words.push_back(receiver.flags);
    for (uint32_t i = receiver.expected; receiver.held > 0 && IsBefore(i, sender.highest); ++i)
    {
        words.push_back(state.held.Has(receiver.expected, i) ? 1 : 0);
    }
    if (state.nicEnd)
    {
        const ReceiverState& nic = state.nicEnd->receiver;
        add(nic.expected - oldest, nic.held);
        add((nic.flags & ReceiverState::REQUESTED) != 0 ? nic.requestEnd - oldest : 0, nic.marks);
        add(nic.flags, state.acknowledged - state.messages.GetHead());
        for (uint32_t i = nic.expected; nic.held > 0 && IsBefore(i, sender.highest); ++i)
        {
            words.push_back(state.nicEnd->held.Has(nic.expected, i) ? 1 : 0);
        }
    }
    const ControlUnitState& controls = state.controls;
    add(controls.pending.GetSize(), controls.isReliable ? controls.next - controls.expected : 0);
    words.push_back(controls.ahead.size());
    if ((sender.flags & (SenderState::READ | SenderState::STAGED)) != 0)
    {
        m_reads.AppendState(pair, nowPs, words);
    }
    if (state.stage)
    {
        const RingBuffer<PacketRecord>& units = state.stage->units;
        words.push_back(units.GetSize());
        for (uint32_t i = units.GetHead(); i != units.GetTail(); ++i)
        {
            words.push_back(uint64_t{units.At(i).ingress} << 32 | units.At(i).flags);
            AppendContent(units.At(i), words);
        }
        const int64_t duePs = state.stage->duePs;
        words.push_back(static_cast<uint64_t>(duePs == NEVER_PS ? duePs : duePs - nowPs));
    }
    m_ports.AppendState(pair, nowPs, words);
}

} // namespace proteus
} // namespace ns3
