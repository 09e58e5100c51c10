/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * @ingroup proteus
 * Credits, shared buffers, PFC, ECN marks and losses.
 */

namespace ns3
{
namespace proteus
{

bool
Fabric::TakeCredit(PortId id, uint32_t trafficClass, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    if (!port.credited)
    {
        return true;
    }
    LaneState& lane = m_lanes[(id << m_classShift) + trafficClass];
    while (!lane.returns.IsEmpty() && lane.returns.Front().timePs <= m_timePs)
    {
        lane.creditBytes += lane.returns.Front().bytes;
        lane.returns.Pop();
    }
    if (lane.creditBytes >= wireBytes)
    {
        if (port.stalledSincePs >= 0)
        {
            port.statistics.creditStallPs += m_timePs - port.stalledSincePs;
            port.stalledSincePs = -1;
        }
        return true;
    }
    if (port.stalledSincePs < 0)
    {
        port.stalledSincePs = m_timePs;
        if (m_traced != 0)
        {
            PacketRecord record;
            record.trafficClass = static_cast<uint8_t>(trafficClass);
            Trace(PortEvent::CREDIT_STALL, id, record);
        }
    }
    int64_t credit = lane.creditBytes;
    for (uint32_t i = lane.returns.GetHead(); i != lane.returns.GetTail(); ++i)
    {
        credit += lane.returns.At(i).bytes;
        if (credit >= wireBytes)
        {
            RequestService(id, lane.returns.At(i).timePs);
            return false;
        }
    }
    port.starved |= 1u << trafficClass;
    return false;
}

void
Fabric::ReturnCredit(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    const uint32_t c = record.trafficClass;
    PortState& port = m_ports[id];
    LaneState& lane = m_lanes[(id << m_classShift) + c];
    // The credit travels back over the link. Units leave the switch through several ports, so that
    // they may become free out of order; a later one then holds an earlier one up.
    int64_t home = timePs + port.delayPs;
    if (!lane.returns.IsEmpty())
    {
        home = std::max(home, lane.returns.At(lane.returns.GetTail() - 1).timePs);
    }
    lane.returns.Push({home, static_cast<int64_t>(port.GetWireBytes(record))});
    if ((port.starved >> c & 1) != 0)
    {
        port.starved &= ~(1u << c);
        RequestService(id, std::max(home, port.freeAtPs));
    }
}

void
Fabric::ReleaseIngress(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    PortState& port = m_ports[id];
    if (port.credited)
    {
        ReturnCredit(record, timePs);
    }
    else if (port.bufferAt != 0)
    {
        Discharge(id, record);
    }
    const auto bit = static_cast<uint8_t>(1u << record.trafficClass);
    if (port.inputQueued && (port.inputBusy & bit) != 0)
    {
        port.inputBusy &= ~bit;
        RingBuffer<PacketRecord>& input = m_inputs[(id << m_classShift) + record.trafficClass];
        if (!input.IsEmpty())
        {
            const PacketRecord next = input.Front();
            input.Pop();
            Forward(port.to, next);
        }
    }
}

uint64_t
Fabric::GetThreshold(const BufferState& buffer) const
{
    return (buffer.sharedBytes - std::min(buffer.usedBytes, buffer.sharedBytes)) >>
           m_thresholdShift;
}

bool
Fabric::Admit(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const uint32_t c = record.trafficClass;
    const uint32_t wireBytes = port.GetWireBytes(record);
    BufferState& buffer = m_buffers[port.bufferAt - 1];
    IngressState& ingress = m_ingress[(id << m_classShift) + c];
    if ((m_losslessClasses >> c & 1) == 0)
    {
        // Lossy: what waits for an egress port may not pass the threshold.
        const PortId out = Route(port.to, record);
        const uint64_t queued = out == NO_PORT ? 0 : m_lanes[(out << m_classShift) + c].queuedBytes;
        if (queued + wireBytes > GetThreshold(buffer))
        {
            ++port.statistics.droppedPackets;
            Drop(id, record);
            return false;
        }
        ingress.bytes += wireBytes;
        buffer.usedBytes += wireBytes;
        return true;
    }
    const uint32_t reserve = m_bufferReserve;
    const uint32_t bytes = ingress.bytes + wireBytes;
    if (bytes <= reserve)
    {
        ingress.bytes = bytes;
        return true;
    }
    if (bytes - reserve > GetThreshold(buffer) || ingress.headroomBytes > 0)
    {
        if (ingress.headroomBytes + wireBytes > port.headroomBytes)
        {
            ++port.statistics.droppedPackets;
            Drop(id, record);
            return false;
        }
        ingress.headroomBytes += wireBytes;
        if ((port.pausing >> c & 1) == 0)
        {
            SendPause(id, c, true);
        }
        return true;
    }
    buffer.usedBytes += std::min(wireBytes, bytes - reserve);
    ingress.bytes = bytes;
    return true;
}

void
Fabric::Discharge(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const uint32_t c = record.trafficClass;
    const uint32_t wireBytes = port.GetWireBytes(record);
    BufferState& buffer = m_buffers[port.bufferAt - 1];
    IngressState& ingress = m_ingress[(id << m_classShift) + c];
    if ((m_losslessClasses >> c & 1) == 0)
    {
        ingress.bytes -= wireBytes;
        buffer.usedBytes -= wireBytes;
        return;
    }
    const uint32_t fromHeadroom = std::min(ingress.headroomBytes, wireBytes);
    const uint32_t rest = wireBytes - fromHeadroom;
    const uint32_t shared =
        ingress.bytes > m_bufferReserve ? std::min(rest, ingress.bytes - m_bufferReserve) : 0;
    ingress.headroomBytes -= fromHeadroom;
    ingress.bytes -= rest;
    buffer.usedBytes -= shared;
    if ((port.pausing >> c & 1) != 0 && ingress.headroomBytes == 0 &&
        (ingress.bytes <= m_bufferReserve ||
         ingress.bytes - m_bufferReserve + m_resumeOffset <= GetThreshold(buffer)))
    {
        SendPause(id, c, false);
    }
}

void
Fabric::SendPause(PortId id, uint32_t trafficClass, bool pause)
{
    PortState& port = m_ports[id];
    port.pausing ^= 1u << trafficClass;
    PacketRecord record;
    record.kind = PacketKind::PAUSE;
    record.sequence = trafficClass;
    record.content = pause ? 1 : 0;
    record.destination = port.from;
    record.timePs = m_timePs;
    Enqueue(id ^ 1, record);
}

void
Fabric::HandlePause(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const auto bit = static_cast<uint8_t>(1u << record.sequence);
    if (record.content != 0)
    {
        ++port.statistics.pauses;
        if (port.paused == 0)
        {
            port.pausedSincePs = m_timePs;
        }
        port.paused |= bit;
    }
    else
    {
        port.paused &= ~bit;
        if (port.paused == 0 && port.pausedSincePs >= 0)
        {
            port.statistics.pausedPs += m_timePs - port.pausedSincePs;
            port.pausedSincePs = -1;
        }
        RequestService(id, std::max(port.freeAtPs, m_timePs));
    }
    if (m_traced != 0)
    {
        PacketRecord paused;
        paused.trafficClass = static_cast<uint8_t>(record.sequence);
        Trace(record.content != 0 ? PortEvent::PAUSE : PortEvent::RESUME, id, paused);
    }
}

PacketRecord
Fabric::Mark(PortId id, const PacketRecord& record)
{
    // RED on the instantaneous queue, as DCQCN sets it (Zhu et al., SIGCOMM 2015, section 3.1).
    PortState& port = m_ports[id];
    const uint64_t queued = m_lanes[(id << m_classShift) + record.trafficClass].queuedBytes;
    PacketRecord marked = record;
    if (queued < port.markAllBytes)
    {
        const double probability = m_ecnMaxProbability *
                                   static_cast<double>(queued - port.markBytes) /
                                   static_cast<double>(port.markAllBytes - port.markBytes);
        if (m_markRandom->GetValue(0, 1) >= probability)
        {
            return marked;
        }
    }
    marked.flags |= PacketRecord::CONGESTION_EXPERIENCED;
    ++port.statistics.markedPackets;
    if (m_traced != 0)
    {
        Trace(PortEvent::MARK, id, marked);
    }
    return marked;
}

bool
Fabric::IsLost(const PortState& port, const PacketRecord& record)
{
    if (record.kind == PacketKind::PAUSE)
    {
        return false; // real senders repeat them
    }
    const double intact = (1 - port.lossProbability) *
                          std::pow(1 - port.bitErrorRate, 8.0 * port.GetWireBytes(record));
    return m_lossRandom->GetValue(0, 1) >= intact;
}

} // namespace proteus
} // namespace ns3
