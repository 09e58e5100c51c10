/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-inline.h"
#include "proteus-required-arguments.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

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

namespace
{

/// Events between two calls of "Progress".
constexpr uint64_t PROGRESS_EVENTS = 1 << 18;

} // namespace

void
Fabric::HandleArrival(PortId id)
{
    PortState& port = m_ports[id];
    PacketRecord record = port.flight.Front();
    if (IsBeyondCaches())
    {
        PrefetchEnd(port, record);
    }
    port.flight.PopAndRewind();
    m_stepper.Set(SLOTS_PER_PORT * id + ARRIVAL,
                  port.flight.IsEmpty() ? EventTree::NEVER
                                        : port.GetArrivalPs(port.flight.Front()));
    PrefetchNext();
    if (port.internal)
    {
        Enqueue(Route(port.to, record), record);
        return;
    }
    ++m_packetHops;
    const bool data = record.kind == PacketKind::DATA;
    if (data && port.reverses)
    {
        m_ports[id ^ 1].debtBytes += port.GetReverseBytes(record);
    }
    if (port.unreliable && IsLost(id, record))
    {
        ++port.statistics.lostPackets;
        Drop(id, record);
        return;
    }
    ++port.statistics.receivedPackets;
    port.statistics.receivedPayloadBytes += data ? record.payloadBytes : 0;
    Trace(PortEvent::RECEIVE, id, record);
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
                ReturnCredit(record, m_stepper.GetNowPs());
            }
            return;
        }
        if (next == FabricEndpoint::REPLICATED)
        {
            if (port.bufferAt != 0 && data && !Admit(id, record))
            {
                return;
            }
            Replicate(at, record);
            return;
        }
        record.destination = next;
        if (m_absorbs[at])
        {
            Absorb(id, record);
            return;
        }
    }
    if (port.bufferAt != 0 && data && !Admit(id, record))
    {
        return;
    }
    Forward(at, record);
}

void
Fabric::Absorb(PortId id, PacketRecord& record)
{
    // It leaves the receive buffer at once, whatever it waits for behind it: what comes in by a NIC
    // and what goes out would else wait for each other, where GPUs and the NIC share a switch.
    if (m_ports[id].credited && record.kind == PacketKind::DATA)
    {
        ReturnCredit(record, m_stepper.GetNowPs());
    }
    record.ingress = NO_PORT;
    SendFrom(m_ports[id].to, id, record);
}

void
Fabric::SendFrom(VertexId at, PortId id, const PacketRecord& record)
{
    if (id == NO_PORT || m_internalPorts.empty())
    {
        Enqueue(Route(at, record), record);
        return;
    }
    // Memory writes a unit and reads it, one access at a time whoever asks. Flags are few, and what
    // a memory of known rate takes in is not what its CPU forwards between devices.
    const PortId memory = m_internalPorts[GetNPorts() + at];
    const PortId inside =
        memory != NO_PORT && record.kind == PacketKind::DATA ? memory : m_internalPorts[id];
    Enqueue(inside != NO_PORT ? inside : Route(at, record), record);
}

void
Fabric::Forward(VertexId at, const PacketRecord& record)
{
    if (record.ingress != NO_PORT && m_ports[record.ingress].inputQueued &&
        record.kind == PacketKind::DATA &&
        m_inputs.Hold(m_ports[record.ingress],
                      m_ports.GetLane(record.ingress, record.trafficClass),
                      record))
    {
        return;
    }
    if (!m_internalPorts.empty() && record.ingress != NO_PORT &&
        m_internalPorts[record.ingress] != NO_PORT && !m_isMemory[record.destination])
    {
        Enqueue(m_internalPorts[record.ingress], record);
        return;
    }
    Enqueue(Route(at, record), record);
}

PortId
Fabric::Route(VertexId at, const PacketRecord& record)
{
    const bool wentDown =
        m_routes.HasPhases() && record.ingress != NO_PORT && m_ports[record.ingress].goesDown;
    const NextHop next = m_routes.Find(at, record.destination, wentDown);
    return next.choices == nullptr
               ? next.port
               : m_selector.Choose(at, record, *next.choices, *m_endpoint, m_stepper.GetNowPs());
}

void
Fabric::Replicate(VertexId at, const PacketRecord& record)
{
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
}

void
Fabric::DropStray(const PacketRecord& record)
{
    if (record.ingress == NO_PORT)
    {
        TellLoss(record);
        return;
    }
    ++m_ports[record.ingress].statistics.droppedPackets;
    Trace(PortEvent::DROP, record.ingress, record);
    TellLoss(record);
    if (record.kind == PacketKind::DATA)
    {
        ReleaseIngress(record, m_stepper.GetNowPs());
    }
}

void
Fabric::TellLoss(const PacketRecord& record)
{
    if (record.kind == PacketKind::DATA || record.kind == PacketKind::CONTROL)
    {
        m_endpoint->Lose(record);
    }
}

void
Fabric::Drop(PortId id, const PacketRecord& record)
{
    Trace(PortEvent::DROP, id, record);
    TellLoss(record);
    if (m_ports[id].credited && record.kind == PacketKind::DATA)
    {
        ReturnCredit(record, m_stepper.GetNowPs());
    }
}

void
Fabric::Offer(PortId id, int64_t fromPs)
{
    RequireIndex(id, m_ports.GetSize(), "port", "the fabric");
    m_stepper.Synchronize();
    PortState& port = m_ports[id];
    port.pullAtPs = port.offered ? std::min(port.pullAtPs, fromPs) : fromPs;
    port.offered = true;
    if (!port.down)
    {
        RequestService(id, std::max({port.freeAtPs, port.pullAtPs, m_stepper.GetNowPs()}));
    }
}

void
Fabric::Send(VertexId from, PacketRecord record)
{
    m_stepper.Synchronize();
    const PortId by = std::exchange(record.ingress, NO_PORT);
    record.timePs = m_stepper.GetNowPs();
    SendFrom(from, by, record);
}

void
Fabric::Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    uint64_t bytes = wireBytes;
    if (port.debtBytes > 0)
    {
        // What the opposite direction owes has gone out as far as the port was idle.
        const auto idlePs = static_cast<uint64_t>(m_stepper.GetNowPs() - port.freeAtPs);
        const uint64_t paidPs = port.debtBytes * port.psPerByte >> TIME_FRACTION_BITS;
        if (idlePs < paidPs)
        {
            // Most units follow each other, and a division is slow.
            bytes += port.debtBytes -
                     (idlePs == 0 ? 0 : (idlePs << TIME_FRACTION_BITS) / port.psPerByte);
        }
        port.debtBytes = 0;
    }
    const bool backToBack = m_stepper.GetNowPs() == port.freeAtPs;
    const uint64_t fixed = bytes * port.psPerByte + (backToBack ? port.fraction : 0);
    const int64_t tx = std::max<int64_t>(static_cast<int64_t>(fixed >> TIME_FRACTION_BITS), 1);
    port.fraction = static_cast<uint32_t>(fixed & ((1u << TIME_FRACTION_BITS) - 1));
    // The last byte cannot leave before it is there.
    const int64_t end = std::max(m_stepper.GetNowPs() + tx, record.timePs);
    port.freeAtPs = end;

    const bool data = record.kind == PacketKind::DATA;
    if (m_telemetry && port.telemetric && data)
    {
        CollectTelemetry(id, record);
    }
    LinkStatistics& statistics = port.statistics;
    ++statistics.packets;
    statistics.payloadBytes += data ? record.payloadBytes : 0;
    statistics.wireBytes += wireBytes;
    statistics.busyPs += tx;
    if (data && port.credited)
    {
        CreditControl::Spend(m_ports.Lane(id, record.trafficClass), wireBytes);
    }
    Trace(PortEvent::TRANSMIT, id, record);
    const bool idle = port.flight.IsEmpty();
    port.flight.Push(record);
    PacketRecord& sent = port.flight.At(port.flight.GetTail() - 1);
    sent.timePs = end + port.delayPs;
    if (!port.internal)
    {
        // Not where it arrives: a copy right behind a write of a part of it would be slow.
        sent.ingress = id;
    }
    if (port.cut)
    {
        SendAcross(id);
    }
    else if (idle)
    {
        m_stepper.SetEarlier(SLOTS_PER_PORT * id + ARRIVAL, port.GetArrivalPs(sent));
    }
    if (m_stepper.IsReference())
    {
        m_stepper.ScheduleStep(end + port.delayPs);
        RequestService(id, end);
    }
    if (data && record.ingress != NO_PORT && !port.internal)
    {
        ReleaseIngress(record, end); // last: it may send units on other ports
    }
}

void
Fabric::CollectTelemetry(PortId id, const PacketRecord& record)
{
    HopTelemetry hop;
    hop.timePs = m_stepper.GetNowPs();
    hop.sentBytes = m_ports[id].statistics.wireBytes;
    hop.queueBytes = GetQueueBytes(id, record.trafficClass);
    hop.bytesPerSecond = m_cluster->GetLinks()[id / 2].bytesPerSecond;
    hop.port = id;
    m_endpoint->CollectTelemetry(record, hop);
}

void
Fabric::Enqueue(PortId id, const PacketRecord& record)
{
    if (id == NO_PORT)
    {
        DropStray(record);
        return;
    }
    PortState& port = m_ports[id];
    const uint32_t trafficClass = record.trafficClass;
    const uint8_t bit = 1u << trafficClass;
    const uint32_t wireBytes = port.GetWireBytes(record);
    const bool data = record.kind == PacketKind::DATA;
    const bool blocked = ((port.paused | port.starved) & bit) != 0 || port.down;
    bool tried = false;
    // A unit that needs no credit does not wait for one of another unit. (So on links that ranks
    // may cut, as there the port does not know when it comes.)
    const bool idle = port.serveAtPs == EventTree::NEVER ||
                      (port.overtakes && port.credited && port.serveAtPs > m_stepper.GetNowPs());
    if (m_stepper.GetNowPs() >= port.freeAtPs && idle && (port.waiting & bit) == 0 && !blocked)
    {
        tried = true;
        if (!data || TakeCredit(id, trafficClass, wireBytes))
        {
            Transmit(id, record, wireBytes);
            return;
        }
    }
    LaneState& lane = m_ports.Lane(id, trafficClass); // which is not looked at before: elsewhere
    lane.queuedBytes += wireBytes;
    if (port.markBytes > 0 && data && lane.queuedBytes > port.markBytes)
    {
        NoteDraw(id);
        PacketRecord marked = record;
        if (!m_marker.MarksAtDequeue() &&
            m_marker.Draw(port,
                          lane.queuedBytes,
                          m_ports.GetLane(id, trafficClass),
                          static_cast<uint32_t>(port.statistics.packets + lane.queue.GetSize())))
        {
            Mark(id, marked);
        }
        lane.queue.Push(marked);
    }
    else
    {
        lane.queue.Push(record);
    }
    port.waiting |= bit;
    port.statistics.maxQueueBytes = std::max(port.statistics.maxQueueBytes, lane.queuedBytes);
    Trace(PortEvent::ENQUEUE, id, record);
    TraceQueue(id, trafficClass);
    if (!tried && !blocked)
    {
        RequestService(id, std::max(port.freeAtPs, m_stepper.GetNowPs()));
    }
}

void
Fabric::Mark(PortId id, PacketRecord& record)
{
    record.flags |= PacketRecord::CONGESTION_EXPERIENCED;
    ++m_ports[id].statistics.markedPackets;
    Trace(PortEvent::MARK, id, record);
}

void
Fabric::NoteDraw(PortId id)
{
    if (!std::exchange(m_ports[id].drawn, true))
    {
        m_watch.TellDraw(id / 2);
    }
}

bool
Fabric::SendQueued(PortId id)
{
    PortState& port = m_ports[id];
    uint32_t classes = port.GetReady();
    while (classes != 0)
    {
        const uint32_t c = m_scheduler.Pick(m_ports, id, classes);
        LaneState& lane = m_ports.Lane(id, c);
        PacketRecord record = lane.queue.Front();
        PrefetchIngress(record);
        const uint32_t wireBytes = port.GetWireBytes(record);
        const bool data = record.kind == PacketKind::DATA;
        if (!data || TakeCredit(id, c, wireBytes))
        {
            lane.queue.PopAndRewind();
            __builtin_prefetch(lane.queue.GetPlace()); // long queues are read from the memory
            lane.queuedBytes -= wireBytes;
            if (port.markBytes > 0 && data && lane.queuedBytes > port.markBytes &&
                m_marker.MarksAtDequeue())
            {
                NoteDraw(id);
                if (m_marker.Draw(port,
                                  lane.queuedBytes,
                                  m_ports.GetLane(id, c),
                                  static_cast<uint32_t>(port.statistics.packets)))
                {
                    Mark(id, record);
                }
            }
            if (lane.queue.IsEmpty())
            {
                port.waiting &= ~(1u << c);
            }
            m_scheduler.Count(m_ports, id, c, wireBytes);
            Trace(PortEvent::DEQUEUE, id, record);
            TraceQueue(id, c);
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
    if (port.pullAtPs > m_stepper.GetNowPs())
    {
        RequestService(id, port.pullAtPs);
        return false;
    }
    uint32_t classes = m_pullClasses & ~(port.paused | port.starved);
    for (uint32_t left = port.credited ? classes : 0; left != 0; left &= left - 1)
    {
        const auto c = static_cast<uint32_t>(__builtin_ctz(left));
        if (!TakeCredit(id, c, port.sizes->mostWire))
        {
            classes &= ~(1u << c);
        }
    }
    return PullFrom(id, classes);
}

uint32_t
Fabric::PullByWeight(PortId id, uint32_t classes, PacketRecord& record, int64_t& nextPs)
{
    while (classes != 0)
    {
        const uint32_t asked = 1u << m_scheduler.Pick(m_ports, id, classes);
        classes &= ~asked;
        int64_t nextOfAsked = EventTree::NEVER;
        const bool pulled = m_endpoint->Pull(id, asked, record, nextOfAsked);
        nextPs = std::min(nextPs, nextOfAsked);
        if (pulled)
        {
            return asked;
        }
    }
    return 0;
}

bool
Fabric::PullFrom(PortId id, uint32_t classes)
{
    PortState& port = m_ports[id];
    PacketRecord record;
    int64_t next = EventTree::NEVER;
    uint32_t asked = 0; // for the unit
    if (m_scheduler.IsWeighted())
    {
        asked = PullByWeight(id, classes, record, next);
    }
    else if (classes != 0 && m_endpoint->Pull(id, classes, record, next))
    {
        asked = classes;
    }
    if (asked != 0)
    {
        // Classes that were not asked may have units at once.
        port.offered = next != EventTree::NEVER || asked != m_pullClasses;
        port.pullAtPs = asked != m_pullClasses ? m_stepper.GetNowPs() : next;
        record.ingress = NO_PORT;
        record.timePs = 0;
        const uint32_t wireBytes = port.GetWireBytes(record);
        m_scheduler.Count(m_ports, id, record.trafficClass, wireBytes);
        Transmit(id, record, wireBytes);
        return true;
    }
    if (next != EventTree::NEVER)
    {
        port.pullAtPs = std::max(next, m_stepper.GetNowPs() + 1);
        RequestService(id, port.pullAtPs);
    }
    else if (classes == m_pullClasses)
    {
        port.offered = false;
    }
    return false;
}

inline bool
Fabric::SendNext(PortId id)
{
    const PortState& port = m_ports[id];
    if (port.pauseDue != 0)
    {
        SendPause(id);
        return true;
    }
    return (port.GetReady() != 0 && SendQueued(id)) || (port.offered && SendPulled(id));
}

void
Fabric::Serve(PortId id)
{
    PortState& port = m_ports[id];
    port.serveAtPs = EventTree::NEVER;
    m_serving = id; // one change of the event set in the end
    if (m_stepper.GetNowPs() < port.freeAtPs)
    {
        port.serveAtPs = port.freeAtPs;
    }
    else if (!port.down && SendNext(id))
    {
        if ((port.GetReady() | port.pauseDue) != 0)
        {
            RequestService(id, port.freeAtPs);
        }
        else if (port.offered)
        {
            RequestService(id, std::max(port.freeAtPs, port.pullAtPs));
        }
    }
    m_serving = NO_PORT;
    m_stepper.Set(SLOTS_PER_PORT * id + SERVICE, port.serveAtPs);
}

inline void
Fabric::HandleEvent(uint32_t slot)
{
    if ((m_stepper.GetEventCount() & (PROGRESS_EVENTS - 1)) == 0 && !m_isAlone)
    {
        m_progressTrace(m_stepper.GetEventCount());
    }
    if (IsBeyondCaches())
    {
        PrefetchAhead();
    }
    if (slot % SLOTS_PER_PORT != ARRIVAL)
    {
        Serve(slot / SLOTS_PER_PORT);
    }
    else if (slot != m_timerSlot)
    {
        HandleArrival(slot / SLOTS_PER_PORT);
    }
    else
    {
        m_stepper.Set(slot, EventTree::NEVER);
        m_endpoint->HandleTimer();
    }
}

void
Fabric::Step()
{
    m_tracer.Update();
    m_stepper.Step(!m_tracer.IsOn(), [this](uint32_t slot) { HandleEvent(slot); });
    FlushRanks();
}

void
Fabric::CatchUp()
{
    m_stepper.CatchUp([this](uint32_t slot) { HandleEvent(slot); });
}

void
Fabric::RunAlone(const std::function<void()>& begin)
{
    m_isAlone = true;
    m_stepper.RunAlone(begin, [this](uint32_t slot) { HandleEvent(slot); });
}

} // namespace proteus
} // namespace ns3
