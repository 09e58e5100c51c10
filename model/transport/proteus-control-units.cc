/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-control-units.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

ControlUnits::ControlUnits(TransportCore& core, QueuePairTimers& timers, ReturnPath& back)
    : m_core(core),
      m_timers(timers),
      m_back(back)
{
}

void
ControlUnits::Send(uint32_t id, uint32_t value)
{
    ControlUnitState& controls = m_core.pairs.GetState(id).controls;
    PacketRecord record;
    record.kind = PacketKind::CONTROL;
    record.sequence = controls.next++;
    record.content = value;
    if (controls.isReliable)
    {
        if (controls.pending.IsEmpty())
        {
            controls.activePs = m_core.fabric->GetTimePs();
        }
        controls.pending.Push({record.sequence, value});
        m_timers.Watch(id);
    }
    m_back.SendBack(id, record);
}

void
ControlUnits::NoteLost(const PacketRecord& record)
{
    ControlUnitState& controls = m_core.pairs.GetState(record.queuePair).controls;
    if (controls.isReliable)
    {
        return; // its acknowledgement will be missing
    }
    const bool isAgain = (record.flags & PacketRecord::RETRANSMISSION) != 0;
    controls.retries = isAgain ? controls.retries : 0;
    if (controls.pending.IsEmpty())
    {
        controls.activePs = m_core.fabric->GetTimePs();
    }
    controls.pending.Push({record.sequence, record.content});
    m_timers.Watch(record.queuePair);
}

void
ControlUnits::ReceiveAcknowledgement(const PacketRecord& record)
{
    ControlUnitState& controls = m_core.pairs.GetState(record.queuePair).controls;
    while (!controls.pending.IsEmpty() &&
           IsBefore(controls.pending.Front().sequence, record.sequence))
    {
        controls.pending.PopAndRewind();
        controls.retries = 0;
        controls.activePs = m_core.fabric->GetTimePs();
    }
    m_timers.Unwatch(record.queuePair);
}

void
ControlUnits::Receive(const PacketRecord& record)
{
    const uint32_t id = record.queuePair;
    const ControlUnitState& controls = m_core.pairs.GetState(id).controls;
    if (!controls.isReliable)
    {
        m_core.GetUser(id).ReceiveControl(id, record.content);
        return;
    }
    std::vector<uint32_t> values;
    PutInOrder(record, values);
    PacketRecord answer;
    answer.kind = PacketKind::ACKNOWLEDGE;
    answer.sequence = controls.expected;
    m_back.SendForward(id, answer);
    for (uint32_t value : values)
    {
        m_core.GetUser(id).ReceiveControl(id, value);
    }
}

void
ControlUnits::PutInOrder(const PacketRecord& record, std::vector<uint32_t>& values)
{
    ControlUnitState& controls = m_core.pairs.GetState(record.queuePair).controls;
    auto& ahead = controls.ahead;
    const auto find = [&ahead](uint32_t sequence) {
        return std::find_if(ahead.begin(), ahead.end(), [sequence](const PendingControl& control) {
            return control.sequence == sequence;
        });
    };
    if (record.sequence == controls.expected)
    {
        values.push_back(record.content);
        ++controls.expected;
        for (auto next = find(controls.expected); next != ahead.end();
             next = find(controls.expected))
        {
            values.push_back(next->value);
            ++controls.expected;
            ahead.erase(next);
        }
    }
    else if (IsBefore(controls.expected, record.sequence) && find(record.sequence) == ahead.end())
    {
        ahead.push_back({record.sequence, record.content});
    }
}

void
ControlUnits::HandleTimer(uint32_t id, int64_t now)
{
    if (!m_timers.AreControlsOverdue(id, now))
    {
        return;
    }
    ControlUnitState& controls = m_core.pairs.GetState(id).controls;
    if (++controls.retries > m_core.settings.retryLimit)
    {
        m_timers.GiveUp(id, "control units of the receiver");
    }
    controls.activePs = now;
    ++m_timeouts;
    ++m_core.pairs.GetState(id).statistics.timeouts;
    std::vector<PendingControl> overdue;
    const uint32_t tail = controls.pending.GetTail();
    for (uint32_t i = controls.pending.GetHead(); i != tail; ++i)
    {
        overdue.push_back(controls.pending.At(i));
    }
    if (!controls.isReliable)
    {
        controls.pending.Clear(); // nobody acknowledges them; what is lost again comes back here
        m_timers.Unwatch(id);
    }
    for (const PendingControl& control : overdue)
    {
        PacketRecord record;
        record.kind = PacketKind::CONTROL;
        record.flags = PacketRecord::RETRANSMISSION;
        record.sequence = control.sequence;
        record.content = control.value;
        m_back.SendBack(id, record);
        ++m_repeated;
    }
}

} // namespace proteus
} // namespace ns3
