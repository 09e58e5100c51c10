/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * The way of a unit: from its arrival at the end of a link, through the queue of the next port, to
 * its departure.
 */

namespace ns3
{
namespace proteus
{

void
Fabric::HandleArrival(PortId id)
{
    PortState& port = m_ports[id];
    PacketRecord record = port.flight.Front();
    port.flight.Pop();
    SetEvent(SLOTS_PER_PORT * id + ARRIVAL,
             port.flight.IsEmpty() ? EventTree::NEVER : port.GetArrivalPs(port.flight.Front()));
    PrefetchNext();
    if (port.internal)
    {
        Enqueue(Route(port.to, record), record);
        return;
    }
    ++m_packetHops;
    record.ingress = id;
    const bool data = record.kind == PacketKind::DATA;
    if (data)
    {
        m_ports[id ^ 1].debtBytes += port.GetReverseBytes(record);
    }
    if (port.unreliable && IsLost(port, record))
    {
        ++port.statistics.lostPackets;
        Drop(id, record);
        return;
    }
    ++port.statistics.receivedPackets;
    port.statistics.receivedPayloadBytes += data ? record.payloadBytes : 0;
    if (m_traced != 0)
    {
        Trace(PortEvent::RECEIVE, id, record);
    }
    if (record.kind == PacketKind::PAUSE)
    {
        HandlePause(id ^ 1, record);
        return;
    }
    const VertexId at = port.to;
    if (at == record.destination)
    {
        const VertexId next = m_endpoint->Deliver(record, at);
        if (next == FabricEndpoint::CONSUMED)
        {
            if (port.credited && data)
            {
                ReturnCredit(record, m_timePs);
            }
            return;
        }
        if (next == FabricEndpoint::REPLICATED)
        {
            if (port.bufferAt != 0 && data && !Admit(id, record))
            {
                return;
            }
            std::vector<PacketRecord> copies;
            copies.swap(m_copies); // sending one copy may replicate another
            copies.clear();
            m_endpoint->Replicate(record, at, copies);
            NS_ABORT_MSG_IF(copies.empty(), "proteus::Fabric: a unit has no copies to go on as");
            for (PacketRecord& copy : copies)
            {
                // The buffer is free again when the last copy has left.
                copy.ingress = &copy == &copies.back() ? record.ingress : NO_PORT;
                copy.timePs = record.timePs;
                Enqueue(Route(at, copy), copy);
            }
            copies.swap(m_copies);
            return;
        }
        record.destination = next;
    }
    if (port.bufferAt != 0 && data && !Admit(id, record))
    {
        return;
    }
    Forward(at, record);
}

void
Fabric::Forward(VertexId at, const PacketRecord& record)
{
    if (record.ingress != NO_PORT && m_ports[record.ingress].inputQueued &&
        record.kind == PacketKind::DATA)
    {
        PortState& in = m_ports[record.ingress];
        const uint8_t bit = 1u << record.trafficClass;
        if ((in.inputBusy & bit) != 0)
        {
            m_inputs[(record.ingress << m_classShift) + record.trafficClass].Push(record);
            return;
        }
        in.inputBusy |= bit; // until the unit leaves: ReleaseIngress()
    }
    if (!m_internalPorts.empty() && m_internalPorts[at] != NO_PORT)
    {
        Enqueue(m_internalPorts[at], record);
        return;
    }
    Enqueue(Route(at, record), record);
}

void
Fabric::Drop(PortId id, const PacketRecord& record)
{
    if (m_traced != 0)
    {
        Trace(PortEvent::DROP, id, record);
    }
    if (m_ports[id].credited && record.kind == PacketKind::DATA)
    {
        ReturnCredit(record, m_timePs);
    }
}

void
Fabric::Offer(PortId id, int64_t fromPs)
{
    Synchronize();
    PortState& port = m_ports[id];
    port.pullAtPs = port.offered ? std::min(port.pullAtPs, fromPs) : fromPs;
    port.offered = true;
    if (!port.down)
    {
        RequestService(id, std::max({port.freeAtPs, port.pullAtPs, m_timePs}));
    }
}

void
Fabric::SendControl(VertexId from, PacketRecord record)
{
    Synchronize();
    record.ingress = NO_PORT;
    record.timePs = m_timePs;
    Enqueue(Route(from, record), record);
}

void
Fabric::Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    uint64_t bytes = wireBytes;
    if (port.debtBytes > 0)
    {
        // What the opposite direction owes has gone out as far as the port was idle.
        const auto idlePs = static_cast<uint64_t>(m_timePs - port.freeAtPs);
        const uint64_t paidPs = port.debtBytes * port.psPerByte >> TIME_FRACTION_BITS;
        if (idlePs < paidPs)
        {
            bytes += port.debtBytes - (idlePs << TIME_FRACTION_BITS) / port.psPerByte;
        }
        port.debtBytes = 0;
    }
    const bool backToBack = m_timePs == port.freeAtPs;
    const uint64_t fixed = bytes * port.psPerByte + (backToBack ? port.fraction : 0);
    const int64_t tx = std::max<int64_t>(static_cast<int64_t>(fixed >> TIME_FRACTION_BITS), 1);
    port.fraction = static_cast<uint32_t>(fixed & ((1u << TIME_FRACTION_BITS) - 1));
    // The last byte cannot leave before it is there.
    const int64_t end = std::max(m_timePs + tx, record.timePs);
    port.freeAtPs = end;

    const bool data = record.kind == PacketKind::DATA;
    if (m_telemetry && port.telemetric && data)
    {
        HopTelemetry hop;
        hop.timePs = m_timePs;
        hop.sentBytes = port.statistics.wireBytes;
        hop.queueBytes = m_lanes[(id << m_classShift) + record.trafficClass].queuedBytes;
        hop.bytesPerSecond = m_cluster->GetLinks()[id / 2].bytesPerSecond;
        hop.port = id;
        m_endpoint->CollectTelemetry(record, hop);
    }
    LinkStatistics& statistics = port.statistics;
    ++statistics.packets;
    statistics.payloadBytes += data ? record.payloadBytes : 0;
    statistics.wireBytes += wireBytes;
    statistics.busyPs += tx;
    if (data && port.credited)
    {
        m_lanes[(id << m_classShift) + record.trafficClass].creditBytes -= wireBytes;
    }
    if (m_traced != 0)
    {
        Trace(PortEvent::TRANSMIT, id, record);
    }
    const bool idle = port.flight.IsEmpty();
    port.flight.Push(record);
    PacketRecord& sent = port.flight.At(port.flight.GetTail() - 1);
    sent.timePs = end + port.delayPs;
    if (idle)
    {
        SetEarlierEvent(SLOTS_PER_PORT * id + ARRIVAL, port.GetArrivalPs(sent));
    }
    if (m_reference)
    {
        Simulator::Schedule(PicoSeconds(end + port.delayPs) - Simulator::Now(),
                            &Fabric::Step,
                            this);
        RequestService(id, end);
    }
    if (data && record.ingress != NO_PORT && !port.internal)
    {
        ReleaseIngress(record, end); // last: it may send units on other ports
    }
}

void
Fabric::Enqueue(PortId id, const PacketRecord& record)
{
    if (id == NO_PORT)
    {
        // No way on: links have failed.
        if (record.ingress != NO_PORT)
        {
            ++m_ports[record.ingress].statistics.droppedPackets;
            if (m_traced != 0)
            {
                Trace(PortEvent::DROP, record.ingress, record);
            }
            if (record.kind == PacketKind::DATA)
            {
                ReleaseIngress(record, m_timePs);
            }
        }
        return;
    }
    PortState& port = m_ports[id];
    const uint32_t trafficClass = record.trafficClass;
    const uint8_t bit = 1u << trafficClass;
    LaneState& lane = m_lanes[(id << m_classShift) + trafficClass];
    const uint32_t wireBytes = port.GetWireBytes(record);
    const bool data = record.kind == PacketKind::DATA;
    const bool blocked = ((port.paused | port.starved) & bit) != 0 || port.down;
    bool tried = false;
    if (m_timePs >= port.freeAtPs && port.serveAtPs == EventTree::NEVER && lane.queue.IsEmpty() &&
        !blocked)
    {
        tried = true;
        if (!data || TakeCredit(id, trafficClass, wireBytes))
        {
            Transmit(id, record, wireBytes);
            return;
        }
    }
    lane.queuedBytes += wireBytes;
    if (port.markBytes > 0 && data && lane.queuedBytes > port.markBytes)
    {
        lane.queue.Push(Mark(id, record));
    }
    else
    {
        lane.queue.Push(record);
    }
    port.waiting |= bit;
    port.statistics.maxQueueBytes = std::max(port.statistics.maxQueueBytes, lane.queuedBytes);
    if (m_traced != 0)
    {
        Trace(PortEvent::ENQUEUE, id, record);
        TraceQueue(id, trafficClass);
    }
    if (!tried && !blocked)
    {
        RequestService(id, std::max(port.freeAtPs, m_timePs));
    }
}

uint32_t
Fabric::PickClass(PortId id, uint32_t classes) const
{
    const auto first = static_cast<uint32_t>(__builtin_ctz(classes));
    if (m_weights.empty() || m_weights[first] == 0)
    {
        return first;
    }
    uint32_t best = first;
    for (uint32_t c = first + 1; c < m_nClasses; ++c)
    {
        if ((classes >> c & 1) == 0)
        {
            continue;
        }
        if (m_weights[c] == 0)
        {
            return c; // strict priority over those with a weight
        }
        if (m_served[(id << m_classShift) + c] < m_served[(id << m_classShift) + best])
        {
            best = c;
        }
    }
    return best;
}

void
Fabric::CountService(PortId id, uint32_t trafficClass, uint32_t wireBytes)
{
    // Self-clocked fair queueing (Golestani, INFOCOM 1994): a class that comes back starts from
    // the virtual time of the one in service.
    uint64_t& served = m_served[(id << m_classShift) + trafficClass];
    uint64_t& now = m_virtualNow[id];
    served = std::max(served, now);
    now = served;
    served += (uint64_t{wireBytes} << 16) / m_weights[trafficClass];
}

bool
Fabric::SendQueued(PortId id)
{
    PortState& port = m_ports[id];
    uint32_t classes = port.waiting & ~(port.paused | port.starved);
    while (classes != 0)
    {
        const uint32_t c = PickClass(id, classes);
        LaneState& lane = m_lanes[(id << m_classShift) + c];
        const PacketRecord record = lane.queue.Front();
        const uint32_t wireBytes = port.GetWireBytes(record);
        if (record.kind != PacketKind::DATA || TakeCredit(id, c, wireBytes))
        {
            lane.queue.Pop();
            lane.queuedBytes -= wireBytes;
            if (lane.queue.IsEmpty())
            {
                port.waiting &= ~(1u << c);
            }
            if (!m_weights.empty() && m_weights[c] > 0)
            {
                CountService(id, c, wireBytes);
            }
            if (m_traced != 0)
            {
                Trace(PortEvent::DEQUEUE, id, record);
                TraceQueue(id, c);
            }
            Transmit(id, record, wireBytes);
            return true;
        }
        classes &= ~(1u << c);
    }
    return false;
}

bool
Fabric::SendPulled(PortId id)
{
    PortState& port = m_ports[id];
    if (!port.offered)
    {
        return false;
    }
    if (port.pullAtPs > m_timePs)
    {
        RequestService(id, port.pullAtPs);
        return false;
    }
    uint32_t classes = m_pullClasses & ~(port.paused | port.starved);
    if (port.credited)
    {
        for (uint32_t c = 0; c < m_nClasses; ++c)
        {
            if ((classes >> c & 1) != 0 && !TakeCredit(id, c, port.mostWire))
            {
                classes &= ~(1u << c);
            }
        }
    }
    int64_t next = EventTree::NEVER;
    uint32_t untried = classes;
    while (untried != 0)
    {
        // By weight, the classes are asked one at a time.
        const uint32_t asked = m_weights.empty() ? untried : 1u << PickClass(id, untried);
        untried &= ~asked;
        PacketRecord record;
        int64_t nextOfAsked = EventTree::NEVER;
        const bool pulled = m_endpoint->Pull(id, asked, record, nextOfAsked);
        next = std::min(next, nextOfAsked);
        if (pulled)
        {
            // Classes that were not asked may have units at once.
            port.offered = next != EventTree::NEVER || asked != m_pullClasses;
            port.pullAtPs = asked != m_pullClasses ? m_timePs : next;
            record.ingress = NO_PORT;
            record.timePs = 0;
            const uint32_t wireBytes = port.GetWireBytes(record);
            if (!m_weights.empty() && m_weights[record.trafficClass] > 0)
            {
                CountService(id, record.trafficClass, wireBytes);
            }
            Transmit(id, record, wireBytes);
            return true;
        }
    }
    if (next != EventTree::NEVER)
    {
        port.pullAtPs = std::max(next, m_timePs + 1);
        RequestService(id, port.pullAtPs);
    }
    else if (classes == m_pullClasses)
    {
        port.offered = false;
    }
    return false;
}

void
Fabric::Serve(PortId id)
{
    PortState& port = m_ports[id];
    port.serveAtPs = EventTree::NEVER;
    m_serving = id; // one change of the event set in the end
    if (m_timePs < port.freeAtPs)
    {
        port.serveAtPs = port.freeAtPs;
    }
    else if (!port.down && (SendQueued(id) || SendPulled(id)))
    {
        if ((port.waiting & ~(port.paused | port.starved)) != 0)
        {
            RequestService(id, port.freeAtPs);
        }
        else if (port.offered)
        {
            RequestService(id, std::max(port.freeAtPs, port.pullAtPs));
        }
    }
    m_serving = NO_PORT;
    SetEvent(SLOTS_PER_PORT * id + SERVICE, port.serveAtPs);
}

} // namespace proteus
} // namespace ns3
