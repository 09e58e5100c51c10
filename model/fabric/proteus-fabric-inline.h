/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_INLINE_H
#define PROTEUS_FABRIC_INLINE_H

#include "proteus-fabric.h"

/**
 * @file
 * @ingroup proteus
 * Members of Fabric that every unit calls at every hop: here, so that the compiler can put them
 * where they are called.
 */

namespace ns3
{
namespace proteus
{

inline void
Fabric::RequestService(PortId id, int64_t timePs)
{
    PortState& port = m_ports[id];
    if (timePs < port.serveAtPs)
    {
        port.serveAtPs = timePs;
        if (id != m_serving)
        {
            m_stepper.SetEarlier(SLOTS_PER_PORT * id + SERVICE, timePs);
        }
    }
}

inline bool
Fabric::IsBeyondCaches() const
{
    constexpr uint32_t CACHED_PORTS = 1024; // 320 bytes each
    return m_timerSlot > CACHED_PORTS * SLOTS_PER_PORT;
}

inline void
Fabric::PrefetchEnd(const PortState& port, const PacketRecord& record) const
{
    if (record.destination == port.to)
    {
        m_endpoint->Prepare(record);
    }
    else
    {
        m_routes.Prefetch(port.to, record.destination);
    }
}

inline void
Fabric::PrefetchPort(PortId id) const
{
    if (id < m_ports.GetSize())
    {
        const char* port = reinterpret_cast<const char*>(&m_ports[id]);
        __builtin_prefetch(port);
        __builtin_prefetch(port + 64);
        __builtin_prefetch(port + 128);
    }
}

inline void
Fabric::PrefetchNext() const
{
    const uint32_t slot = m_stepper.GetNextSlot();
    const PortId next = slot / SLOTS_PER_PORT;
    if (next < m_ports.GetSize())
    {
        PrefetchPort(next);
        m_stepper.Prefetch(slot);
        __builtin_prefetch(m_ports[next].flight.GetPlace());
    }
}

inline void
Fabric::PrefetchAhead() const
{
    const EventTree::Likely likely = m_stepper.GetLikelyNext();
    const PortId later = likely.third / SLOTS_PER_PORT;
    if (later < m_ports.GetSize())
    {
        PrefetchPort(later);
        __builtin_prefetch(&m_ports.Lane(later, 0));
        m_stepper.Prefetch(likely.third);
    }
    const PortId next = likely.second / SLOTS_PER_PORT;
    if (next < m_ports.GetSize())
    {
        __builtin_prefetch(likely.second % SLOTS_PER_PORT == ARRIVAL
                               ? m_ports[next].flight.GetPlace()
                               : m_ports.Lane(next, 0).queue.GetPlace());
    }
}

inline void
Fabric::PrefetchIngress(const PacketRecord& record) const
{
    if (record.ingress != NO_PORT)
    {
        const char* port = reinterpret_cast<const char*>(&m_ports[record.ingress]);
        __builtin_prefetch(port);
        __builtin_prefetch(port + 64);
        __builtin_prefetch(&m_ports.Lane(record.ingress, record.trafficClass));
    }
}

inline bool
Fabric::TakeCredit(PortId id, uint32_t trafficClass, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    if (!port.credited)
    {
        return true;
    }
    const bool flowed = port.stalledSincePs < 0;
    const int64_t whenPs = CreditControl::Take(port,
                                               m_ports.Lane(id, trafficClass),
                                               trafficClass,
                                               wireBytes,
                                               m_stepper.GetNowPs());
    if (whenPs == m_stepper.GetNowPs())
    {
        return true;
    }
    if (flowed)
    {
        PacketRecord record;
        record.trafficClass = static_cast<uint8_t>(trafficClass);
        Trace(PortEvent::CREDIT_STALL, id, record);
    }
    RequestService(id, whenPs); // never: the port is starved
    return false;
}

inline void
Fabric::ReturnCredit(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    PortState& port = m_ports[id];
    if (port.cut)
    {
        ReturnCreditAcross(record, timePs);
        return;
    }
    RequestService(id,
                   CreditControl::Return(port,
                                         m_ports.Lane(id, record.trafficClass),
                                         record.trafficClass,
                                         port.GetWireBytes(record),
                                         timePs,
                                         m_stepper.GetNowPs()));
}

inline void
Fabric::ReleaseIngress(const PacketRecord& record, int64_t timePs)
{
    const PortId id = record.ingress;
    PortState& port = m_ports[id];
    const std::size_t lane = m_ports.GetLane(id, record.trafficClass);
    if (port.credited)
    {
        ReturnCredit(record, timePs);
        if (port.reads)
        {
            m_endpoint->LeaveNic(record, timePs);
        }
    }
    else if (port.bufferAt != 0 &&
             m_buffers.Discharge(port, lane, record.trafficClass, port.GetWireBytes(record)))
    {
        RequestPause(id, record.trafficClass);
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_INLINE_H
