/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"
#include "proteus-required-arguments.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * What whoever repeats a piece of work, instead of doing it again, has to know of a fabric.
 */

namespace ns3
{
namespace proteus
{

std::string
Fabric::FindObstacle() const
{
    const RoutingMode routing = m_settings.forwarding.routing;
    return !m_stepper.CanGoBack() ? "the simulator's clock or scheduler does not let events be late"
           : m_tracer.IsOn()      ? "units on links are traced"
           : m_watch.IsRead()     ? "links or queue pairs are sampled over time"
           : m_watch.IsShared()   ? "other traffic crosses the network"
           : m_scheduler.IsWeighted() ? "traffic classes have weights"
           : routing == RoutingMode::SPRAY || routing == RoutingMode::ADAPTIVE
               ? "routes are chosen packet by packet"
               : "";
}

bool
Fabric::IsSelfContained(LinkId link) const
{
    RequireIndex(link, m_ports.GetSize() / 2, "link", "the fabric");
    const auto isSo = [this](PortId id) {
        const PortState& port = m_ports[id];
        return !port.down && !port.unreliable && !(m_telemetry && port.telemetric);
    };
    return isSo(2 * link) && isSo(2 * link + 1);
}

int64_t
Fabric::GetRestPs(LinkId link) const
{
    RequireIndex(link, m_ports.GetSize() / 2, "link", "the fabric");
    int64_t restPs = LONG_AGO;
    const auto add = [&](PortId id) {
        const PortState& port = m_ports[id];
        const bool busy = !port.flight.IsEmpty() || port.serveAtPs != EventTree::NEVER ||
                          port.offered || port.stalledSincePs >= 0 ||
                          (port.waiting | port.paused | port.starved | port.pausing |
                           port.pauseDue | port.inputBusy) != 0;
        const uint64_t debtPs = port.debtBytes * port.psPerByte >> TIME_FRACTION_BITS;
        restPs = busy ? EventTree::NEVER
                      : std::max(restPs,
                                 port.freeAtPs +
                                     std::max(static_cast<int64_t>(debtPs) + 1, port.delayPs) + 1);
        for (uint32_t c = 0; c < m_ports.GetNClasses() && restPs != EventTree::NEVER; ++c)
        {
            const LaneState& lane = m_ports.Lane(id, c);
            if (!lane.queue.IsEmpty() ||
                (port.credited && CreditControl::GetTotal(lane) != port.bufferBytes))
            {
                restPs = EventTree::NEVER;
            }
            else if (!lane.returns.IsEmpty())
            {
                restPs = std::max(restPs, CreditControl::GetLastHome(lane) + 1);
            }
        }
    };
    for (const PortId id : {2 * link, 2 * link + 1})
    {
        if (restPs != EventTree::NEVER)
        {
            add(id);
        }
        if (restPs != EventTree::NEVER && !m_internalPorts.empty() &&
            m_internalPorts[id] != NO_PORT)
        {
            add(m_internalPorts[id]);
        }
    }
    return restPs;
}

bool
Fabric::Carries(LinkId link, const std::vector<uint32_t>& queuePairs) const
{
    const auto has = [&](const RingBuffer<PacketRecord>& units) {
        for (uint32_t i = units.GetHead(); i != units.GetTail(); ++i)
        {
            const PacketRecord& record = units.At(i);
            if (record.kind != PacketKind::PAUSE &&
                std::binary_search(queuePairs.begin(), queuePairs.end(), record.queuePair))
            {
                return true;
            }
        }
        return false;
    };
    const auto hasPort = [&](PortId id) {
        bool found = has(m_ports[id].flight);
        for (uint32_t c = 0; c < m_ports.GetNClasses() && !found; ++c)
        {
            found = has(m_ports.Lane(id, c).queue) ||
                    (m_ports[id].inputQueued && has(m_inputs.GetQueue(m_ports.GetLane(id, c))));
        }
        return found;
    };
    const auto hasDirection = [&](PortId id) {
        return hasPort(id) || (!m_internalPorts.empty() && m_internalPorts[id] != NO_PORT &&
                               hasPort(m_internalPorts[id]));
    };
    return hasDirection(2 * link) || hasDirection(2 * link + 1);
}

void
Fabric::AppendWay(const std::vector<VertexId>& stops,
                  PortId first,
                  uint32_t queuePair,
                  std::vector<PortId>& ports)
{
    PacketRecord record;
    record.queuePair = queuePair;
    record.ingress = NO_PORT;
    VertexId at = stops.front();
    for (std::size_t i = 1; i < stops.size(); ++i)
    {
        record.destination = stops[i];
        while (at != record.destination)
        {
            const bool fixed = record.ingress == NO_PORT && first != NO_PORT;
            const PortId port = fixed ? first : Route(at, record);
            if (port == NO_PORT)
            {
                return;
            }
            ports.push_back(port);
            record.ingress = port;
            at = m_ports[port].to;
        }
    }
}

bool
Fabric::ExchangeDrawn(PortId port, bool drawn)
{
    RequireIndex(port, m_ports.GetSize(), "port", "the fabric");
    return std::exchange(m_ports[port].drawn, drawn);
}

uint64_t
Fabric::ExchangeMaxQueue(PortId port, uint64_t bytes)
{
    RequireIndex(port, m_ports.GetSize(), "port", "the fabric");
    return std::exchange(m_ports[port].statistics.maxQueueBytes, bytes);
}

void
Fabric::AddStatistics(PortId port, const LinkStatistics& more, int64_t startPs, int64_t endPs)
{
    RequireIndex(port, m_ports.GetSize(), "port", "the fabric");
    AddTo(m_ports[port].statistics, more);
    m_packetHops += more.receivedPackets;
    m_watch.TellRepeat(port, more, startPs, endPs);
}

} // namespace proteus
} // namespace ns3
