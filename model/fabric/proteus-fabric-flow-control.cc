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
 * Where credits, shared buffers and PFC meet the way of a unit; losses.
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
    const CreditControl::Answer answer = CreditControl::Take(port,
                                                             m_ports.Lane(id, trafficClass),
                                                             trafficClass,
                                                             wireBytes,
                                                             m_stepper.GetNowPs());
    if (answer.granted)
    {
        return true;
    }
    if (answer.stalls)
    {
        PacketRecord record;
        record.trafficClass = static_cast<uint8_t>(trafficClass);
        Trace(PortEvent::CREDIT_STALL, id, record);
    }
    RequestService(id, answer.retryPs); // never: the port is starved
    return false;
}

void
Fabric::ReturnCredit(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    PortState& port = m_ports[id];
    RequestService(id,
                   CreditControl::Return(port,
                                         m_ports.Lane(id, record.trafficClass),
                                         record.trafficClass,
                                         port.GetWireBytes(record),
                                         timePs));
}

void
Fabric::ReleaseIngress(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    PortState& port = m_ports[id];
    const std::size_t lane = m_ports.GetLane(id, record.trafficClass);
    if (port.credited)
    {
        ReturnCredit(record, timePs);
    }
    else if (port.bufferAt != 0 &&
             m_buffers.Discharge(port, lane, record.trafficClass, port.GetWireBytes(record)))
    {
        SendPause(id, record.trafficClass, false);
    }
    if (port.inputQueued)
    {
        PacketRecord next = record;
        if (m_inputs.Release(port, lane, next))
        {
            Forward(port.to, next);
        }
    }
}

bool
Fabric::Admit(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const uint32_t c = record.trafficClass;
    const std::size_t lane = m_ports.GetLane(id, c);
    const uint32_t wireBytes = port.GetWireBytes(record);
    SharedBuffers::Admission admission = SharedBuffers::Admission::REFUSED;
    if (m_buffers.IsLossless(c))
    {
        admission = m_buffers.Admit(port, lane, c, wireBytes);
    }
    else
    {
        const PortId out = Route(port.to, record);
        const uint64_t queued = out == NO_PORT ? 0 : GetQueueBytes(out, c);
        if (m_buffers.AdmitLossy(port, lane, queued, wireBytes))
        {
            admission = SharedBuffers::Admission::ADMITTED;
        }
    }
    if (admission == SharedBuffers::Admission::REFUSED)
    {
        ++port.statistics.droppedPackets;
        Drop(id, record);
        return false;
    }
    if (admission == SharedBuffers::Admission::PAUSE)
    {
        SendPause(id, c, true);
    }
    return true;
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
    record.timePs = m_stepper.GetNowPs();
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
            port.pausedSincePs = m_stepper.GetNowPs();
        }
        port.paused |= bit;
    }
    else
    {
        port.paused &= ~bit;
        if (port.paused == 0 && port.pausedSincePs >= 0)
        {
            port.statistics.pausedPs += m_stepper.GetNowPs() - port.pausedSincePs;
            port.pausedSincePs = -1;
        }
        RequestService(id, std::max(port.freeAtPs, m_stepper.GetNowPs()));
    }
    PacketRecord paused;
    paused.trafficClass = static_cast<uint8_t>(record.sequence);
    Trace(record.content != 0 ? PortEvent::PAUSE : PortEvent::RESUME, id, paused);
}

bool
Fabric::IsLost(const PortState& port, const PacketRecord& record) const
{
    if (record.kind == PacketKind::PAUSE)
    {
        return false; // real senders repeat them
    }
    const double intact = (1 - port.lossProbability) *
                          std::pow(1 - port.bitErrorRate, 8.0 * port.GetWireBytes(record));
    return m_settings.forwarding.lossRandom->GetValue(0, 1) >= intact;
}

} // namespace proteus
} // namespace ns3
