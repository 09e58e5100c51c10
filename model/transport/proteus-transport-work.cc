/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * What whoever repeats a piece of work, instead of doing it again, has to know of a transport.
 */

namespace ns3
{
namespace proteus
{

bool
Transport::IsSelfContained(uint32_t queuePair) const
{
    RequirePair(queuePair);
    const SenderState& sender = m_core.pairs.GetSender(queuePair);
    const QueuePairState& state = m_core.pairs.GetState(queuePair);
    const bool copies = (sender.flags & SenderState::COPY_ENGINE) != 0 &&
                        m_limiters.Find(state.source) != CopyLimiters::NONE;
    const auto isLimited = [this](VertexId vertex) { return m_limiters.LimitsMemory(vertex); };
    return (!state.control || state.control->IsAsNew()) && state.ackDelayPs == 0 &&
           m_core.settings.ackEveryMessage && !copies && !isLimited(state.source) &&
           !isLimited(state.destination) &&
           std::none_of(state.waypoints.begin(), state.waypoints.end(), isLimited);
}

bool
Transport::IsLossless(uint32_t queuePair) const
{
    return m_core.fabric->GetBuffers().IsLossless(m_core.pairs.GetSender(queuePair).trafficClass);
}

int64_t
Transport::GetRestPs(uint32_t queuePair) const
{
    RequirePair(queuePair);
    const SenderState& sender = m_core.pairs.GetSender(queuePair);
    const QueuePairState& state = m_core.pairs.GetState(queuePair);
    // What a timeout has sent again may wait in a memory when all is acknowledged.
    const bool isStaged =
        (sender.flags & SenderState::STAGED) != 0 && !state.stage->units.IsEmpty();
    if (sender.ackedBytes != sender.totalBytes || !state.controls.pending.IsEmpty() ||
        !state.messages.IsEmpty() || isStaged)
    {
        return NEVER_PS;
    }
    return GetPacedPs(queuePair);
}

int64_t
Transport::GetPacedPs(uint32_t queuePair) const
{
    const SenderState& sender = m_core.pairs.GetSender(queuePair);
    if (sender.psPerByte == 0)
    {
        return LONG_AGO;
    }
    // From when on PaceNext() begins with the present time.
    const int64_t interval =
        GetPaceInterval(sender.psPerByte, sender.unitBytes + sender.paceHeader);
    return ((sender.nextSend + interval) >> PACING_BITS) + 1;
}

std::vector<PortId>
Transport::GetWays(uint32_t queuePair) const
{
    RequirePair(queuePair);
    const QueuePairState& state = m_core.pairs.GetState(queuePair);
    std::vector<VertexId> stops{state.source};
    stops.insert(stops.end(), state.waypoints.begin(), state.waypoints.end());
    stops.push_back(state.destination);
    std::vector<PortId> ports;
    const auto append = [&](PortId first) {
        m_core.fabric->AppendWay(stops, first, queuePair, ports);
        ports.push_back(NO_PORT);
    };
    for (const PortId first : m_ports.GetPorts(queuePair))
    {
        append(first);
    }
    append(NO_PORT);
    std::reverse(stops.begin(), stops.end());
    append(NO_PORT);
    return ports;
}

std::vector<uint64_t>
Transport::Describe(uint32_t queuePair) const
{
    RequirePair(queuePair);
    const SenderState& sender = m_core.pairs.GetSender(queuePair);
    const ReceiverState& receiver = m_core.pairs.GetReceiver(queuePair);
    const QueuePairState& state = m_core.pairs.GetState(queuePair);
    constexpr uint16_t MOMENTARY = SenderState::LOST | SenderState::TIMING | SenderState::WAITING;
    return {sender.unitBytes,
            sender.psPerByte,
            sender.paceHeader,
            sender.ackEvery,
            sender.windowBytes,
            sender.nSlots,
            uint64_t{sender.trafficClass} | uint64_t{receiver.trafficClass} << 16,
            static_cast<uint64_t>(sender.flags & ~MOMENTARY),
            state.waypoints.size(),
            uint64_t{state.controls.isReliable},
            (sender.flags & SenderState::GROUP) != 0 ? m_core.pairs.GetFlowHash(queuePair) : 0};
}

QueuePairWork
Transport::GetWork(uint32_t queuePair) const
{
    RequirePair(queuePair);
    const SenderState& sender = m_core.pairs.GetSender(queuePair);
    const ReceiverState& receiver = m_core.pairs.GetReceiver(queuePair);
    const QueuePairState& state = m_core.pairs.GetState(queuePair);
    QueuePairWork work;
    work.bytes = sender.totalBytes;
    work.packets = sender.highest - m_core.settings.firstSequence;
    work.messages = receiver.delivering + state.statistics.messages;
    work.controlPackets = state.statistics.controlPackets;
    work.repairs = state.statistics.retransmittedPackets + state.statistics.duplicatePackets +
                   state.statistics.droppedPackets + state.statistics.timeouts;
    work.lastRttPs = state.statistics.lastRttPs;
    work.minRttPs = state.statistics.minRttPs;
    return work;
}

int64_t
Transport::ExchangeMinRtt(uint32_t queuePair, int64_t minRttPs)
{
    RequirePair(queuePair);
    return std::exchange(m_core.pairs.GetState(queuePair).statistics.minRttPs, minRttPs);
}

void
Transport::AddWork(uint32_t queuePair, const QueuePairWork& work)
{
    RequirePair(queuePair);
    SenderState& sender = m_core.pairs.GetSender(queuePair);
    QueuePairStatistics& statistics = m_core.pairs.GetState(queuePair).statistics;
    sender.totalBytes += work.bytes;
    sender.nextBytes += work.bytes;
    sender.ackedBytes += work.bytes;
    if ((sender.flags & SenderState::GROUP) == 0)
    {
        m_core.pairs.GetReceiver(queuePair).receivedBytes += work.bytes;
    }
    statistics.messages += work.messages;
    statistics.controlPackets += work.controlPackets;
    if (work.lastRttPs >= 0)
    {
        statistics.lastRttPs = work.lastRttPs;
        statistics.minRttPs =
            statistics.minRttPs < 0 ? work.minRttPs : std::min(statistics.minRttPs, work.minRttPs);
    }
    m_sender.AddTotals(work.packets, work.bytes);
    m_returnPath.AddUnits(work.controlPackets);
}

} // namespace proteus
} // namespace ns3
