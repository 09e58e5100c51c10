/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-routes.h"

#include "proteus-flow-walker.h"

#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-flow-places.h"
#include "ns3/proteus-network-links.h"
#include "ns3/proteus-server-hosts.h"
#include "ns3/proteus-staging-rate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Ways that a flow takes at most, of equal ones: of more, those of many flows are all taken.
constexpr std::size_t MOST_WAYS = 64;

/// Bytes after which a switch at the end of a link forwards a unit: defaults of the packet engine
/// (ns3::proteus::Fabric::InternalCutThrough, InfinibandCutThrough, RoceCutThrough).
uint32_t
GetHeadBytes(const Link& link, uint32_t unitBytes)
{
    const LinkFraming& framing = link.framing;
    switch (link.technology)
    {
    case LinkTechnology::INFINIBAND:
        return 64;
    case LinkTechnology::ROCE:
        return static_cast<uint32_t>(framing.WireBytes(unitBytes));
    default:
        return static_cast<uint32_t>(framing.WireBytes(std::min(unitBytes, framing.packetBytes)));
    }
}

} // namespace

FlowRoutes::FlowRoutes(const Cluster& cluster, const Paths& paths, const FlowParameters& parameters)
    : m_cluster(cluster),
      m_paths(paths),
      m_parameters(parameters),
      m_flowPlaces(GetFlowPlaces(cluster))
{
    AddLinkResources();
    const auto& vertices = m_cluster.GetVertices();
    m_ofMemory.assign(vertices.size(), NO_RESOURCE);
    m_ofEngines.assign(vertices.size(), NO_RESOURCE);
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        const Vertex& vertex = vertices[id];
        if (vertex.memoryBytesPerSecond > 0)
        {
            m_ofMemory[id] = AddResource(vertex.memoryBytesPerSecond, 1);
        }
        if (vertex.copyEngines * vertex.copyEngineBytesPerSecond > 0)
        {
            m_ofEngines[id] = AddResource(vertex.copyEngines * vertex.copyEngineBytesPerSecond, 1);
        }
    }
    const auto& links = m_cluster.GetLinks();
    m_ofForward.assign(2 * links.size(), NO_RESOURCE);
    for (uint32_t port = 0; port < m_ofForward.size(); ++port)
    {
        const Vertex& to = vertices[port % 2 == 0 ? links[port / 2].b : links[port / 2].a];
        if (to.forwardBytesPerSecond > 0 && to.kind != VertexKind::GPU)
        {
            m_ofForward[port] = AddResource(to.forwardBytesPerSecond, 1);
        }
    }
    AddQueues();
}

void
FlowRoutes::AddQueues()
{
    m_ofQueue.assign(m_ofPort.size(), NO_RESOURCE);
    m_firstQueue = static_cast<uint32_t>(m_resources.size());
    m_endOfQueues = m_firstQueue;
    if (!m_parameters.cpuInputQueues)
    {
        return;
    }
    std::vector<double> comes;
    std::vector<double> goes;
    for (uint32_t port = 0; port < m_ofPort.size(); ++port)
    {
        const double link = m_resources[m_ofPort[port]].capacity;
        const uint32_t forward = m_ofForward[port];
        goes.push_back(1 / link);
        comes.push_back(
            1 / (forward == NO_RESOURCE ? link : std::min(link, m_resources[forward].capacity)));
    }
    m_queues.emplace(m_cluster, m_paths, std::move(comes), std::move(goes));
    for (const uint32_t port : m_queues->List())
    {
        m_ofQueue[port] = AddResource(1, m_resources[m_ofPort[port]].sharing);
    }
    m_endOfQueues = static_cast<uint32_t>(m_resources.size());
}

uint32_t
FlowRoutes::AddResource(double capacity, double sharing)
{
    m_resources.push_back({capacity, sharing, {}});
    return static_cast<uint32_t>(m_resources.size() - 1);
}

bool
FlowRoutes::AreAlike(VertexId at, const std::vector<uint16_t>& positions) const
{
    const auto name = [&](uint16_t position) {
        const Port& port = m_cluster.GetPorts(at)[position];
        const Link& link = m_cluster.GetLinks()[port.link];
        return std::make_tuple(port.neighbor,
                               m_ofPort[2 * port.link + (link.a == at ? 0 : 1)],
                               m_ofPort[2 * port.link + (link.a == at ? 1 : 0)],
                               m_ofForward[2 * port.link + (link.a == at ? 0 : 1)],
                               m_paths.GoesDown(at, position),
                               link.technology,
                               link.bytesPerSecond,
                               link.delayPs);
    };
    const auto framing = [&](uint16_t position) -> const LinkFraming& {
        return m_cluster.GetLinks()[m_cluster.GetPorts(at)[position].link].framing;
    };
    static_assert(std::has_unique_object_representations_v<LinkFraming>, "compared byte by byte");
    return std::all_of(positions.begin() + 1, positions.end(), [&](uint16_t position) {
        return name(position) == name(positions.front()) &&
               std::memcmp(&framing(position), &framing(positions.front()), sizeof(LinkFraming)) ==
                   0;
    });
}

void
FlowRoutes::Walk(Walker& walker, VertexId to) const
{
    while (walker.at != to)
    {
        const auto& choices = FindChoices(walker, to);
        walker.isOfFlow = walker.isOfFlow || !AreAlike(walker.at, choices);
        Take(walker, choices[Pick(walker, choices.size())]);
    }
}

const std::vector<uint16_t>&
FlowRoutes::FindChoices(const Walker& walker, VertexId to) const
{
    const auto& choices = m_paths.NextPorts(walker.at, to, walker.arrivedDown);
    if (choices.empty())
    {
        throw std::invalid_argument(
            "flow network: no path from " + m_cluster.GetVertices()[walker.source].name + " to " +
            m_cluster.GetVertices()[to].name + ": no links of the cluster lead there");
    }
    return choices;
}

std::size_t
FlowRoutes::Pick(const Walker& walker, std::size_t nChoices) const
{
    const uint32_t place = m_flowPlaces[walker.at];
    return walker.at == walker.source ? PickFirstPort(walker.hash, place, nChoices)
                                      : PickNextPort(walker.hash, place, nChoices);
}

void
FlowRoutes::Take(Walker& walker, std::size_t position) const
{
    const Port& port = m_cluster.GetPorts(walker.at)[position];
    walker.arrivedDown = m_paths.GoesDown(walker.at, position);
    walker.ports.push_back(2 * port.link +
                           (m_cluster.GetLinks()[port.link].a == walker.at ? 0 : 1));
    walker.at = port.neighbor;
    walker.forwarders.push_back(walker.at);
}

void
FlowRoutes::WalkAll(std::vector<Walker>& walkers, VertexId to) const
{
    for (bool hasMoved = true; hasMoved;)
    {
        hasMoved = false;
        // All by one link, so that what they may become is shared out evenly.
        const std::size_t before = walkers.size();
        for (std::size_t i = 0; i < before; ++i)
        {
            if (walkers[i].at == to)
            {
                continue;
            }
            hasMoved = true;
            const auto& choices = FindChoices(walkers[i], to);
            const bool isAlike = AreAlike(walkers[i].at, choices);
            const bool isSpread =
                m_cluster.GetVertices()[walkers[i].at].kind == VertexKind::SWITCH && !isAlike;
            const std::size_t ways =
                isSpread ? std::clamp<std::size_t>(MOST_WAYS / before, 1, choices.size()) : 1;
            walkers[i].isOfFlow |= ways < choices.size() && !isAlike;
            const std::size_t first = Pick(walkers[i], choices.size());
            walkers[i].share /= static_cast<double>(ways);
            for (std::size_t way = 1; way < ways; ++way)
            {
                walkers.push_back(walkers[i]);
                Take(walkers.back(),
                     choices[(first + way * choices.size() / ways) % choices.size()]);
            }
            Take(walkers[i], choices[first]);
        }
    }
}

void
FlowRoutes::AddUses(const Walker& walker, uint32_t unitBytes, FlowRoute& route)
{
    const double share = walker.share;
    const double unit = unitBytes;
    PerLink<double> slowness;
    for (const uint32_t port : walker.ports)
    {
        const LinkFraming framing = m_cluster.GetLinks()[port / 2].framing.For(walker.method);
        slowness.push_back(framing.WireBytes(unitBytes) / unit /
                           m_resources[m_ofPort[port]].capacity);
    }
    for (std::size_t i = 0; i < walker.ports.size(); ++i)
    {
        const uint32_t port = walker.ports[i];
        const LinkFraming framing = m_cluster.GetLinks()[port / 2].framing.For(walker.method);
        const double telemetry = FindTelemetry(m_cluster.GetLinks()[port / 2], unitBytes);
        const double wire =
            share * (static_cast<double>(framing.WireBytes(unitBytes)) + telemetry) / unit;
        route.uses.push_back({m_ofPort[port], wire, share});
        // The links of a tree are not one behind the other.
        if (m_ofQueue[port] != NO_RESOURCE && i + 1 < walker.forwarders.size() &&
            !walker.IsInMemory(i))
        {
            const double queues = share * FindQueueing(walker, i, slowness);
            route.uses.push_back({m_ofQueue[port], queues, share});
        }
        if (framing.reverseBytes > 0)
        {
            route.uses.push_back(
                {m_ofPort[port ^ 1],
                 share * static_cast<double>(framing.ReverseBytes(unitBytes)) / unit,
                 0,
                 true});
        }
    }
    for (std::size_t i = 0; i + 1 < walker.ports.size(); ++i)
    {
        const uint32_t forward = FindForward(walker, i);
        if (forward != NO_RESOURCE)
        {
            route.uses.push_back({forward, share, 0});
        }
    }
    AddAcknowledgements(walker, share, unitBytes, route);
}

double
FlowRoutes::FindTelemetry(const Link& link, uint32_t unitBytes) const
{
    const uint32_t packetBytes = link.framing.packetBytes;
    const uint32_t packets = (unitBytes + packetBytes - 1) / packetBytes;
    return IsOfNetwork(link) ? 1.0 * m_parameters.networkLoad.telemetryBytes * packets : 0;
}

std::size_t
FlowRoutes::CountLinksToNic(const Walker& walker) const
{
    std::size_t links = walker.ports.size();
    for (std::size_t i = 0; i < walker.ports.size(); ++i)
    {
        links = IsOfNetwork(m_cluster.GetLinks()[walker.ports[i] / 2]) ? i + 1 : links;
    }
    return links;
}

void
FlowRoutes::AddAcknowledgements(const Walker& walker,
                                double share,
                                uint32_t unitBytes,
                                FlowRoute& route) const
{
    const uint32_t every = m_parameters.networkLoad.ackEveryPackets;
    if (every == 0 || std::none_of(walker.ports.begin(), walker.ports.end(), [&](uint32_t port) {
            return IsOfNetwork(m_cluster.GetLinks()[port / 2]);
        }))
    {
        return; // one per message is little
    }
    const std::size_t toNic = CountLinksToNic(walker);
    for (std::size_t i = 0; i < toNic; ++i)
    {
        const uint32_t port = walker.ports[i];
        const double bytes = m_cluster.GetLinks()[port / 2].framing.controlBytes;
        route.uses.push_back({m_ofPort[port ^ 1], share * bytes / every / unitBytes, 0, true});
    }
}

void
FlowRoutes::AddShortUses(const Walker& walker,
                         uint32_t messageBytes,
                         uint32_t unitBytes,
                         FlowRoute& route) const
{
    const double bytes = messageBytes;
    for (const uint32_t port : walker.ports)
    {
        const Link& link = m_cluster.GetLinks()[port / 2];
        if (!IsOfNetwork(link))
        {
            continue;
        }
        const LinkFraming framing = link.framing.For(walker.method);
        const double whole = std::floor(bytes / unitBytes);
        const double rest = bytes - whole * unitBytes;
        const auto unit = static_cast<double>(framing.WireBytes(unitBytes));
        const double wire =
            whole * unit +
            (rest > 0 ? static_cast<double>(framing.WireBytes(std::llround(rest))) : 0);
        // With each message goes the acknowledgement of its clear-to-send; that and its own come,
        // as far as AddAcknowledgements() has not counted it.
        const double more = wire / bytes - unit / unitBytes + framing.controlBytes / bytes;
        const double every = m_parameters.networkLoad.ackEveryPackets;
        const double own =
            every > 0 ? (std::ceil(bytes / unitBytes) - bytes / unitBytes) / every : 1;
        route.uses.push_back({m_ofPort[port], walker.share * more, 0});
        route.uses.push_back(
            {m_ofPort[port ^ 1], walker.share * (1 + own) * framing.controlBytes / bytes, 0, true});
    }
}

void
FlowRoutes::AddInputs(const Walker& walker, FlowRoute& route) const
{
    for (std::size_t i = 1; i < walker.ports.size(); ++i)
    {
        const uint32_t out = m_ofPort[walker.ports[i]];
        if (m_cluster.GetLinks()[walker.ports[i] / 2].technology == LinkTechnology::INFINIBAND)
        {
            route.inputs.push_back({out, m_ofPort[walker.ports[i - 1]]});
        }
    }
}

uint32_t
FlowRoutes::FindForward(const Walker& walker, std::size_t position) const
{
    // What a CPU forwards between devices is limited, not what they do with its memory.
    const auto& vertices = m_cluster.GetVertices();
    const Vertex& end = vertices[walker.at];
    const bool isOfMemory =
        (IsHostMemory(vertices[walker.source]) && position == 0) ||
        (IsHostMemory(end) && vertices[walker.forwarders[position]].server == end.server) ||
        (walker.IsInMemory(position) && m_ofMemory[walker.forwarders[position]] != NO_RESOURCE);
    return isOfMemory ? NO_RESOURCE : m_ofForward[walker.ports[position]];
}

double
FlowRoutes::FindQueueing(const Walker& walker,
                         std::size_t position,
                         const PerLink<double>& slowness)
{
    const auto forwardOf = [&](std::size_t i) {
        const uint32_t forward = i + 1 < slowness.size() ? FindForward(walker, i) : NO_RESOURCE;
        return forward == NO_RESOURCE ? 0 : 1 / m_resources[forward].capacity;
    };
    const double comes = std::max(slowness[position], forwardOf(position));
    double goes = 0;
    bool isFromNetwork = false;
    for (std::size_t i = 0; i < slowness.size(); ++i)
    {
        if (i < position)
        {
            isFromNetwork |= IsOfNetwork(m_cluster.GetLinks()[walker.ports[i] / 2]);
            isFromNetwork &= !walker.IsInMemory(i);
        }
        else if (i > position)
        {
            goes = std::max({goes, slowness[i], forwardOf(i)});
        }
    }
    return isFromNetwork && goes > comes
               ? m_queues->FindSeconds(walker.ports[position], comes, goes)
               : comes;
}

void
FlowRoutes::SetTimes(const Walker& walker, uint32_t unitBytes, FlowRoute& route) const
{
    double latency = 0;
    double control = 0;
    double acknowledgement = 0;
    double begins = 0; // a unit on the next link, but for propagation
    double ends = 0;   // on the last one
    // The receiver's NIC acknowledges.
    const std::size_t toNic = CountLinksToNic(walker);
    for (std::size_t i = 0; i < walker.ports.size(); ++i)
    {
        const Link& link = m_cluster.GetLinks()[walker.ports[i] / 2];
        const double psPerByte = PS_PER_SECOND / link.bytesPerSecond;
        const double unitPs =
            static_cast<double>(link.framing.For(walker.method).WireBytes(unitBytes)) * psPerByte;
        route.unitPsPerByte = std::max(route.unitPsPerByte, unitPs / unitBytes);
        const double extra = static_cast<double>(m_parameters.Get(link.technology).latencyPs);
        const double wire = static_cast<double>(link.delayPs) + extra;
        const double back =
            static_cast<double>(link.delayPs) + link.framing.controlBytes * psPerByte;
        // The last byte cannot leave before it is there.
        ends = std::max(ends, begins + unitPs);
        const bool isStop =
            std::find(walker.stops.begin(), walker.stops.end(), i + 1) != walker.stops.end();
        const double head = GetHeadBytes(link, unitBytes) * psPerByte;
        begins = isStop ? ends : std::min(ends, begins + head);
        latency += wire;
        control += back;
        acknowledgement += i < toNic ? back : -wire;
        acknowledgement += i + 1 == toNic ? ends : 0;
        // A device that forwards at a rate of its own has all of a unit before it sends that on.
        const bool isForwarded = i + 1 < walker.ports.size() && i < walker.forwarders.size();
        const uint32_t forward = isForwarded ? FindForward(walker, i) : NO_RESOURCE;
        if (forward != NO_RESOURCE)
        {
            ends =
                std::max(ends, begins + unitBytes * PS_PER_SECOND / m_resources[forward].capacity);
            begins = ends;
        }
    }
    acknowledgement -= ends;
    // The unit's bytes are on the slowest link while those of its message move.
    latency += ends - route.unitPsPerByte * unitBytes;
    route.unitBytes = unitBytes;
    route.latencyPs = std::max<int64_t>(0, std::llround(latency));
    route.controlPs = std::llround(control);
    route.ackPs = std::llround(acknowledgement);
}

std::vector<FlowRoutes::Walker>
FlowRoutes::StartWalkers(const Connection& connection, uint64_t flow, VertexId firstStop) const
{
    const auto& links = m_cluster.GetLinks();
    Walker start;
    start.hash = MixHash(m_parameters.pathSeed, flow);
    start.source = connection.source;
    start.at = connection.source;
    start.method = connection.copyMethod;
    std::vector<Walker> walkers;
    for (const uint16_t position : m_paths.NextPorts(connection.source, firstStop))
    {
        const Port& port = m_cluster.GetPorts(connection.source)[position];
        if (links[port.link].technology == LinkTechnology::NVLINK)
        {
            walkers.push_back(start);
            Walker& walker = walkers.back();
            walker.arrivedDown = m_paths.GoesDown(walker.at, position);
            walker.ports.push_back(2 * port.link + (links[port.link].a == walker.at ? 0 : 1));
            walker.at = port.neighbor;
            walker.forwarders.push_back(walker.at);
        }
    }
    if (walkers.empty())
    {
        walkers.push_back(start);
        return walkers;
    }
    double rates = 0;
    for (const Walker& walker : walkers)
    {
        rates += links[walker.ports.front() / 2].bytesPerSecond;
    }
    for (Walker& walker : walkers)
    {
        walker.share = links[walker.ports.front() / 2].bytesPerSecond / rates;
    }
    return walkers;
}

uint32_t
FlowRoutes::FindUnitBytes(const Walker& walker) const
{
    uint32_t unitBytes = UINT32_MAX;
    for (const uint32_t port : walker.ports)
    {
        unitBytes = std::min(unitBytes, m_cluster.GetLinks()[port / 2].framing.unitBytes);
    }
    return unitBytes;
}

void
FlowRoutes::LimitByEnds(const Connection& connection, FlowRoute& route) const
{
    const Vertex& source = m_cluster.GetVertices()[connection.source];
    double limit = 0;
    if (connection.copyMethod != CopyMethod::DMA)
    {
        limit = source.smCopyBytesPerSecond;
    }
    else if (!route.isNetwork)
    {
        limit = source.copyEngineBytesPerSecond;
        if (m_ofEngines[connection.source] != NO_RESOURCE)
        {
            route.uses.push_back({m_ofEngines[connection.source], 1, 0});
        }
    }
    route.limit = limit > 0 ? limit : std::numeric_limits<double>::infinity();
    for (const VertexId end : {connection.source, connection.destination})
    {
        if (m_ofMemory[end] != NO_RESOURCE)
        {
            route.uses.push_back({m_ofMemory[end], 1, 0});
        }
    }
}

FlowRoutes::Planned
FlowRoutes::Plan(const Connection& connection, uint64_t flow, uint32_t messageBytes)
{
    std::vector<VertexId> stops = connection.waypoints;
    stops.push_back(connection.destination);
    std::vector<Walker> walkers = StartWalkers(connection, flow, stops.front());
    FlowRoute route;
    route.stripes = static_cast<uint32_t>(walkers.size());
    uint32_t unitBytes = UINT32_MAX;
    for (const VertexId stop : stops)
    {
        if (m_parameters.spreads)
        {
            WalkAll(walkers, stop);
        }
        for (Walker& walker : walkers)
        {
            Walk(walker, stop);
            walker.stops.push_back(walker.ports.size());
            if (HasStagingMemory(m_cluster.GetVertices()[stop]))
            {
                walker.memories.push_back(walker.forwarders.size() - 1);
            }
            unitBytes = std::min(unitBytes, FindUnitBytes(walker));
        }
    }
    for (const VertexId stop : connection.waypoints)
    {
        route.isNetwork |= m_cluster.GetVertices()[stop].kind == VertexKind::NIC;
    }
    for (const Walker& walker : walkers)
    {
        AddUses(walker, unitBytes, route);
    }
    if (IsShort(messageBytes))
    {
        for (const Walker& walker : walkers)
        {
            AddShortUses(walker, messageBytes, unitBytes, route);
        }
        // What forwards a unit has no more of it than a message.
        unitBytes = std::min(unitBytes, messageBytes);
    }
    if (walkers.size() == 1 && m_parameters.infinibandBufferBytes > 0)
    {
        AddInputs(walkers.front(), route);
    }
    SetTimes(walkers.front(), unitBytes, route);
    route.reading = FindReading(walkers, unitBytes);
    if (m_parameters.congestion)
    {
        FindMarkers(walkers, unitBytes, route);
        FindTurns(walkers.front(), route);
    }
    LimitByEnds(connection, route);
    for (const VertexId stop : connection.waypoints)
    {
        if (m_cluster.GetVertices()[stop].kind == VertexKind::CPU &&
            m_ofMemory[stop] != NO_RESOURCE)
        {
            route.uses.push_back({m_ofMemory[stop], ACCESSES_OF_STAGING, 0});
        }
    }
    const bool isOfFlow = std::any_of(walkers.begin(), walkers.end(), [](const Walker& walker) {
        return walker.isOfFlow;
    });
    return {m_routes.Add(std::move(route)), !isOfFlow};
}

} // namespace proteus
} // namespace ns3
