/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-inline.h"
#include "proteus-link-rate.h"
#include "proteus-required-arguments.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Links that fail, change their rate or lose units, and what they have carried.
 */

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabricLinks");

void
Fabric::Fail(PortId id)
{
    PortState& port = m_ports[id];
    port.down = true;
    for (; !port.flight.IsEmpty(); port.flight.Pop())
    {
        const PacketRecord& record = port.flight.Front();
        if (IsLocal(port.to))
        {
            ++port.statistics.lostPackets;
            Trace(PortEvent::DROP, id, record);
            TellLoss(record);
        }
        else if (port.GetArrivalPs(record) < m_stepper.GetNowPs())
        {
            continue; // the rank at the other end has it
        }
        if (IsLocal(port.from) && port.credited && record.kind == PacketKind::DATA)
        {
            // Credits are counted anew when the link trains again.
            m_ports.Lane(id, record.trafficClass).creditBytes += port.GetWireBytes(record);
        }
    }
    m_stepper.Set(SLOTS_PER_PORT * id + ARRIVAL, EventTree::NEVER);
    m_stepper.Set(SLOTS_PER_PORT * id + SERVICE, EventTree::NEVER);
    port.serveAtPs = EventTree::NEVER;
    port.debtBytes = 0; // of units that have left it long ago, or are lost
    port.starved = 0;   // for the credits that have just come back, too
    if (port.paused != 0)
    {
        port.statistics.pausedPs += m_stepper.GetNowPs() - port.pausedSincePs;
        port.pausedSincePs = -1;
        port.paused = 0;
    }
    port.pausing = 0;
    port.pauseDue = 0;
    ++port.failures;
}

void
Fabric::SetLinkUp(LinkId link, bool up)
{
    NS_LOG_FUNCTION(this << link << up);
    RequireLink(*m_cluster, link);
    if (IsLinkUp(link) == up)
    {
        return;
    }
    m_watch.TellChange();
    m_stepper.Synchronize();
    for (PortId id : {2 * link, 2 * link + 1})
    {
        if (up)
        {
            PortState& port = m_ports[id];
            port.down = false;
            port.freeAtPs = std::max(port.freeAtPs, m_stepper.GetNowPs());
            RequestService(id, port.freeAtPs);
            if (port.stormed)
            {
                SetPauseStorm(id, true);
            }
        }
        else
        {
            Fail(id);
        }
    }
    m_linkTrace(link, up);
    m_rerouteEvent.Cancel();
    m_rerouteEvent =
        Simulator::Schedule(m_settings.forwarding.rerouteDelay, &Fabric::Reroute, this);
}

void
Fabric::Reroute()
{
    NS_LOG_FUNCTION(this);
    m_stepper.Synchronize();
    m_routes.Reset(m_ports, m_settings.forwarding.routing == RoutingMode::UP_DOWN);
    m_endpoint->HandleTopologyChange();
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        if (m_ports[id].down)
        {
            MoveWaiting(id);
        }
    }
}

void
Fabric::MoveWaiting(PortId id)
{
    PortState& port = m_ports[id];
    for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
    {
        LaneState& lane = m_ports.Lane(id, c);
        const uint32_t end = lane.queue.GetTail();
        while (!lane.queue.IsEmpty() && lane.queue.GetHead() != end)
        {
            const PacketRecord record = lane.queue.Front();
            lane.queue.Pop();
            lane.queuedBytes -= port.GetWireBytes(record);
            if (lane.queue.IsEmpty())
            {
                port.waiting &= ~(1u << c);
            }
            Enqueue(Route(port.from, record), record);
        }
    }
}

void
Fabric::SetLinkRate(LinkId link, double bytesPerSecond)
{
    NS_LOG_FUNCTION(this << link << bytesPerSecond);
    RequireLink(*m_cluster, link);
    if (!(bytesPerSecond > 0))
    {
        throw std::invalid_argument("a rate of " + std::to_string(bytesPerSecond) +
                                    " bytes/s: must be above 0; Fabric::SetLinkUp() ends a link");
    }
    RequireLinkRate(*m_cluster, link, GetFraming(link), bytesPerSecond);
    m_watch.TellChange();
    for (PortId id : {2 * link, 2 * link + 1})
    {
        m_ports.SetRate(id, GetFraming(link), bytesPerSecond);
    }
    m_buffers.Update(*m_cluster, m_ports, m_ports[2 * link].from);
    m_buffers.Update(*m_cluster, m_ports, m_ports[2 * link].to);
}

void
Fabric::SetLinkLoss(LinkId link, double lossProbability, double bitErrorRate)
{
    NS_LOG_FUNCTION(this << link << lossProbability << bitErrorRate);
    RequireLink(*m_cluster, link);
    for (const double share : {lossProbability, bitErrorRate})
    {
        if (!(share >= 0) || !(share <= 1))
        {
            throw std::invalid_argument("a probability of " + std::to_string(share) +
                                        ": must be 0 to 1");
        }
    }
    m_watch.TellChange();
    for (PortId id : {2 * link, 2 * link + 1})
    {
        m_ports[id].lossProbability = lossProbability;
        m_ports[id].bitErrorRate = bitErrorRate;
        m_ports[id].unreliable = lossProbability > 0 || bitErrorRate > 0;
    }
}

} // namespace proteus
} // namespace ns3
