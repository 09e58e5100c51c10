/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

/**
 * @file
 * @ingroup proteus
 * What captures ask about queue pairs.
 */

namespace ns3
{
namespace proteus
{

QueuePairEnds
Transport::GetEnds(uint32_t queuePair) const
{
    QueuePairEnds ends;
    if (queuePair < m_states.size())
    {
        const QueuePairState& state = m_states[queuePair];
        ends.source = state.source;
        ends.destination = state.destination;
        ends.waypoints = &state.waypoints;
    }
    return ends;
}

uint64_t
Transport::GetMessageBytes(uint32_t queuePair, uint32_t sequence) const
{
    const auto& messages = m_states[queuePair].messages;
    uint32_t number = messages.GetHead();
    while (number != messages.GetTail() && !IsBefore(sequence, messages.At(number).end))
    {
        ++number;
    }
    return number != messages.GetTail() && !IsBefore(sequence, messages.At(number).first)
               ? messages.At(number).bytes
               : 0;
}

} // namespace proteus
} // namespace ns3
