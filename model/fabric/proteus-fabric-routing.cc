/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"
#include "proteus-simulator-time.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/proteus-compat.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * Route tables, the choice among equal ports, and links that fail.
 */

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabricRouting");

namespace
{

/// Route table: not looked up yet.
constexpr uint16_t UNKNOWN_ROUTE = 0xffff;
/// Route table: there is no way.
constexpr uint16_t NO_ROUTE = 0xfffe;
/// Route table: from here on, several ports; below, the position of the only one.
constexpr uint16_t FIRST_CHOICE = 0x8000;

} // namespace

void
Fabric::ResetRoutes()
{
    const auto nVertices = static_cast<VertexId>(m_cluster->GetVertices().size());
    PathOptions options;
    options.rule = m_routing == UP_DOWN ? RoutingRule::UP_DOWN : RoutingRule::SHORTEST;
    for (LinkId link = 0; link < m_cluster->GetLinks().size(); ++link)
    {
        if (m_ports[2 * link].down)
        {
            options.disabledLinks.push_back(link);
        }
    }
    m_paths = std::make_unique<Paths>(*m_cluster, options);
    m_twoPhases = m_paths->HasPhases();
    m_routes.clear();
    m_routes.resize((m_twoPhases ? 2 : 1) * std::size_t{nVertices});
    m_choices.clear();
    for (VertexId vertex = 0; vertex < nVertices; ++vertex)
    {
        for (std::size_t i = 0; i < m_outPorts[vertex].size(); ++i)
        {
            m_ports[m_outPorts[vertex][i]].goesDown = m_paths->GoesDown(vertex, i);
        }
    }
    // Ways to a vertex with one link are the ways to its neighbour.
    m_anchors.resize(nVertices);
    m_lastPorts.assign(nVertices, NO_PORT);
    for (VertexId vertex = 0; vertex < nVertices; ++vertex)
    {
        const auto& out = m_outPorts[vertex];
        const bool leaf = out.size() == 1 && !m_ports[out[0]].down &&
                          m_cluster->GetVertices()[m_ports[out[0]].to].kind != VertexKind::GPU;
        m_anchors[vertex] = leaf ? m_ports[out[0]].to : vertex;
        m_lastPorts[vertex] = leaf ? out[0] ^ 1 : NO_PORT;
    }
}

uint16_t
Fabric::FindRoute(VertexId at, VertexId to, bool wentDown)
{
    const std::vector<uint16_t>& next = m_paths->NextPorts(at, to, wentDown);
    if (next.empty())
    {
        return NO_ROUTE;
    }
    if (next.size() == 1)
    {
        return next[0];
    }
    std::vector<PortId> ports;
    for (uint16_t index : next)
    {
        ports.push_back(m_outPorts[at][index]);
    }
    // Few distinct lists: most destinations of a switch share one.
    const auto known = std::find(m_choices.rbegin(), m_choices.rend(), ports);
    if (known != m_choices.rend())
    {
        return static_cast<uint16_t>(FIRST_CHOICE + (m_choices.rend() - known) - 1);
    }
    NS_ABORT_MSG_IF(FIRST_CHOICE + m_choices.size() >= NO_ROUTE,
                    "proteus::Fabric: more than " << NO_ROUTE - FIRST_CHOICE
                                                  << " different lists of equal ports");
    m_choices.push_back(std::move(ports));
    return static_cast<uint16_t>(FIRST_CHOICE + m_choices.size() - 1);
}

PortId
Fabric::Route(VertexId at, const PacketRecord& record)
{
    const VertexId anchor = m_anchors[record.destination];
    if (anchor == at && record.destination != at)
    {
        return m_lastPorts[record.destination];
    }
    std::size_t row = at;
    bool wentDown = false;
    if (m_twoPhases)
    {
        wentDown = record.ingress != NO_PORT && m_ports[record.ingress].goesDown;
        row += wentDown ? m_outPorts.size() : 0;
    }
    auto& routes = m_routes[row];
    if (!routes)
    {
        routes = std::make_unique<uint16_t[]>(m_outPorts.size());
        std::fill_n(routes.get(), m_outPorts.size(), UNKNOWN_ROUTE);
    }
    uint16_t& route = routes[anchor];
    if (route == UNKNOWN_ROUTE)
    {
        route = FindRoute(at, anchor, wentDown);
    }
    if (route < FIRST_CHOICE)
    {
        return m_outPorts[at][route];
    }
    return route == NO_ROUTE ? NO_PORT : Choose(at, record, m_choices[route - FIRST_CHOICE]);
}

PortId
Fabric::Choose(VertexId at, const PacketRecord& record, const std::vector<PortId>& choices) const
{
    const auto n = static_cast<uint32_t>(choices.size());
    const auto pick = [n](uint64_t hash) { return PickByHash(hash, n); };
    if (m_routing == FORWARDING_TABLE)
    {
        // Destinations in turn, as a subnet manager balances its tables.
        return choices[record.destination % n];
    }
    uint64_t hash = MixHash(m_endpoint->GetFlowHash(record.queuePair), at);
    if (m_routing == ECMP || m_routing == UP_DOWN)
    {
        return choices[pick(hash)];
    }
    hash = MixHash(hash, record.sequence);
    if (m_routing == SPRAY)
    {
        return choices[pick(hash)];
    }
    PortId best = NO_PORT;
    uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < n; ++i)
    {
        const PortId id = choices[(pick(hash) + i) % n];
        const PortState& port = m_ports[id];
        if (port.down)
        {
            continue;
        }
        uint64_t backlog = 0;
        for (uint32_t c = 0; c <= record.trafficClass; ++c)
        {
            backlog += m_lanes[(id << m_classShift) + c].queuedBytes;
        }
        // In time, with what is being sent, so that ports of several rates compare.
        uint64_t wait = (backlog * port.psPerByte >> TIME_FRACTION_BITS) +
                        static_cast<uint64_t>(std::max<int64_t>(port.freeAtPs - m_timePs, 0));
        wait += (port.paused >> record.trafficClass & 1) != 0 ? uint64_t{1} << 62 : 0;
        if (wait < least)
        {
            least = wait;
            best = id;
        }
    }
    return best == NO_PORT ? choices[pick(hash)] : best;
}

void
Fabric::Fail(PortId id)
{
    PortState& port = m_ports[id];
    port.down = true;
    for (; !port.flight.IsEmpty(); port.flight.Pop())
    {
        const PacketRecord& record = port.flight.Front();
        ++port.statistics.lostPackets;
        if (m_traced != 0)
        {
            Trace(PortEvent::DROP, id, record);
        }
        if (port.credited && record.kind == PacketKind::DATA)
        {
            // Credits are counted anew when the link trains again.
            m_lanes[(id << m_classShift) + record.trafficClass].creditBytes +=
                port.GetWireBytes(record);
        }
    }
    SetEvent(SLOTS_PER_PORT * id + ARRIVAL, EventTree::NEVER);
    SetEvent(SLOTS_PER_PORT * id + SERVICE, EventTree::NEVER);
    port.serveAtPs = EventTree::NEVER;
    port.starved = 0; // for the credits that have just come back, too
    if (port.paused != 0)
    {
        port.statistics.pausedPs += m_timePs - port.pausedSincePs;
        port.pausedSincePs = -1;
        port.paused = 0;
    }
    port.pausing = 0;
}

void
Fabric::SetLinkUp(LinkId link, bool up)
{
    NS_LOG_FUNCTION(this << link << up);
    NS_ABORT_MSG_IF(link >= m_cluster->GetLinks().size(),
                    "proteus::Fabric::SetLinkUp: there is no link " << link);
    Synchronize();
    if (IsLinkUp(link) == up)
    {
        return;
    }
    for (PortId id : {2 * link, 2 * link + 1})
    {
        if (up)
        {
            PortState& port = m_ports[id];
            port.down = false;
            port.freeAtPs = std::max(port.freeAtPs, m_timePs);
            RequestService(id, port.freeAtPs);
        }
        else
        {
            Fail(id);
        }
    }
    m_linkTrace(link, up);
    m_rerouteEvent.Cancel();
    m_rerouteEvent = Simulator::Schedule(m_rerouteDelay, &Fabric::Reroute, this);
}

void
Fabric::Reroute()
{
    NS_LOG_FUNCTION(this);
    Synchronize();
    ResetRoutes();
    m_endpoint->HandleTopologyChange();
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        PortState& port = m_ports[id];
        if (!port.down)
        {
            continue;
        }
        for (uint32_t c = 0; c < m_nClasses; ++c)
        {
            LaneState& lane = m_lanes[(id << m_classShift) + c];
            const uint32_t end = lane.queue.GetTail();
            while (!lane.queue.IsEmpty() && lane.queue.GetHead() != end)
            {
                const PacketRecord record = lane.queue.Front();
                lane.queue.Pop();
                lane.queuedBytes -= port.GetWireBytes(record);
                if (record.kind == PacketKind::PAUSE)
                {
                    continue; // its receiver has forgotten all pauses
                }
                Enqueue(Route(port.from, record), record);
            }
            if (lane.queue.IsEmpty())
            {
                port.waiting &= ~(1u << c);
            }
        }
    }
}

void
Fabric::SetLinkRate(LinkId link, double bytesPerSecond)
{
    NS_LOG_FUNCTION(this << link << bytesPerSecond);
    NS_ABORT_MSG_IF(link >= m_cluster->GetLinks().size() || !(bytesPerSecond > 0),
                    "proteus::Fabric::SetLinkRate: link " << link << ", " << bytesPerSecond
                                                          << " bytes/s");
    for (PortId id : {2 * link, 2 * link + 1})
    {
        SetUpRate(m_ports[id], GetFraming(link), bytesPerSecond);
    }
}

void
Fabric::SetLinkLoss(LinkId link, double lossProbability, double bitErrorRate)
{
    NS_LOG_FUNCTION(this << link << lossProbability << bitErrorRate);
    NS_ABORT_MSG_IF(link >= m_cluster->GetLinks().size() || !(lossProbability >= 0) ||
                        !(lossProbability <= 1) || !(bitErrorRate >= 0) || !(bitErrorRate <= 1),
                    "proteus::Fabric::SetLinkLoss: link " << link << ", probabilities "
                                                          << lossProbability << " and "
                                                          << bitErrorRate);
    for (PortId id : {2 * link, 2 * link + 1})
    {
        m_ports[id].lossProbability = lossProbability;
        m_ports[id].bitErrorRate = bitErrorRate;
        m_ports[id].unreliable = lossProbability > 0 || bitErrorRate > 0;
    }
}

} // namespace proteus
} // namespace ns3
