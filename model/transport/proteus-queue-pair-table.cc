/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-queue-pair-table.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

uint32_t
QueuePairTable::Add(const QueuePairOptions& options,
                    uint64_t flowHash,
                    uint32_t firstSequence,
                    uint32_t ackClass)
{
    const uint32_t id = GetN();
    SenderState sender;
    sender.next = firstSequence;
    sender.unacked = firstSequence;
    sender.highest = firstSequence;
    sender.headEnd = firstSequence;
    sender.trafficClass = static_cast<uint8_t>(options.trafficClass);
    sender.firstWaypoint =
        options.waypoints.empty() ? options.destination : options.waypoints.front();
    sender.SetCopyMethod(options.copyMethod);
    m_senders.push_back(sender);
    ReceiverState receiver;
    receiver.vertex = options.destination;
    receiver.expected = firstSequence;
    receiver.messageEnd = firstSequence;
    receiver.trafficClass = static_cast<uint8_t>(ackClass);
    m_receivers.push_back(receiver);
    m_hashes.push_back(flowHash);
    m_lanes.emplace_back();
    QueuePairState& state = m_states.emplace_back();
    state.source = options.source;
    state.destination = options.destination;
    state.user = options.user;
    state.waypoints = options.waypoints;
    state.copyBytesPerSecond = options.copyBytesPerSecond;
    state.firstPort = options.firstPort;
    state.flow = options.flow;
    state.repeats.examined = firstSequence;
    state.repeats.repeatEnd = firstSequence;
    return id;
}

void
QueuePairTable::ForgetMessages(uint32_t id)
{
    QueuePairState& state = m_states[id];
    auto& messages = state.messages;
    while (messages.GetHead() != state.acknowledged &&
           messages.GetHead() != m_receivers[id].delivering)
    {
        messages.Pop();
    }
}

QueuePairStatistics
QueuePairTable::GetStatistics(uint32_t id) const
{
    const SenderState& sender = m_senders[id];
    const QueuePairState& state = m_states[id];
    QueuePairStatistics statistics = state.statistics;
    statistics.sentBytes = std::max(state.statistics.sentBytes, sender.nextBytes);
    statistics.receivedBytes = m_receivers[id].receivedBytes;
    statistics.acknowledgedBytes = sender.ackedBytes;
    statistics.messages += m_receivers[id].delivering;
    statistics.windowBytes = sender.windowBytes;
    statistics.bytesPerSecond =
        state.control ? state.control->GetRate() : std::numeric_limits<double>::infinity();
    return statistics;
}

QueuePairEnds
QueuePairTable::GetEnds(uint32_t id) const
{
    QueuePairEnds ends;
    if (id < m_states.size())
    {
        const QueuePairState& state = m_states[id];
        ends.source = state.source;
        ends.destination = state.destination;
        ends.waypoints = &state.waypoints;
    }
    return ends;
}

uint64_t
QueuePairTable::GetMessageBytes(uint32_t id, uint32_t sequence) const
{
    const QueuePairState& state = m_states[id];
    const uint32_t number = state.FindMessage(sequence);
    return number != state.messages.GetTail() &&
                   !IsBefore(sequence, state.messages.At(number).first)
               ? state.messages.At(number).bytes
               : 0;
}

VertexId
QueuePairTable::GetNextWaypoint(uint32_t id, VertexId at, bool forward) const
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

std::string
QueuePairTable::CheckAtRest(uint32_t id, bool sends, bool receives) const
{
    const SenderState& sender = m_senders[id];
    const ReceiverState& receiver = m_receivers[id];
    const QueuePairState& state = m_states[id];
    if (sender.nextBytes != sender.totalBytes)
    {
        return std::to_string(sender.totalBytes - sender.nextBytes) + " bytes not sent";
    }
    if (sender.ackedBytes != sender.totalBytes)
    {
        return std::to_string(sender.GetInFlight()) + " bytes not acknowledged";
    }
    if (receives && !sends && receiver.delivering != state.messages.GetTail())
    {
        return std::to_string(state.messages.GetSize()) + " messages not received";
    }
    if (sends && receives && (sender.flags & SenderState::GROUP) == 0 &&
        (receiver.receivedBytes != sender.totalBytes || receiver.held > 0))
    {
        return "received " + std::to_string(receiver.receivedBytes) + " of " +
               std::to_string(sender.totalBytes) + " bytes";
    }
    if (!state.controls.pending.IsEmpty())
    {
        return std::to_string(state.controls.pending.GetSize()) + " control units not acknowledged";
    }
    return "";
}

} // namespace proteus
} // namespace ns3
