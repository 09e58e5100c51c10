/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransportSetUp");

namespace
{

/// Ports that one queue pair may take turns on.
constexpr uint32_t MAX_CANDIDATE_PORTS = 64;
/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

void
Transport::SetFabric(Ptr<Fabric> fabric, TransportUser* user)
{
    NS_LOG_FUNCTION(this << fabric);
    if (!m_ackEveryMessage && m_ackDelay.IsZero())
    {
        throw std::invalid_argument("transport: without AckEveryMessage, the last packets would "
                                    "never be acknowledged: set AckDelay, too");
    }
    m_fabric = fabric;
    m_user = user;
    m_fabric->SetEndpoint(this);
    m_active.resize(2 * m_fabric->GetCluster().GetLinks().size());
    m_pathSeed = m_pathRandom->GetInteger(0, UINT32_MAX - 1);
    StringValue routing;
    m_fabric->GetAttribute("Routing", routing);
    m_multipath = routing.Get() == "Spray" || routing.Get() == "Adaptive";
    SetUpLimiters();
}

void
Transport::SetUpLimiters()
{
    const auto& vertices = m_fabric->GetCluster().GetVertices();
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        const Vertex& vertex = vertices[id];
        CopyLimiter limiter;
        if (vertex.memoryBytesPerSecond > 0)
        {
            limiter.psPerByte = PS_PER_SECOND / vertex.memoryBytesPerSecond;
        }
        const double engines = vertex.copyEngines * vertex.copyEngineBytesPerSecond;
        if (engines > 0)
        {
            limiter.enginePsPerByte = PS_PER_SECOND / engines;
        }
        if (limiter.psPerByte > 0 || limiter.enginePsPerByte > 0)
        {
            if (m_limiterOf.empty())
            {
                m_limiterOf.assign(vertices.size(), UINT32_MAX);
            }
            m_limiterOf[id] = static_cast<uint32_t>(m_limiters.size());
            m_limiters.push_back(limiter);
        }
    }
}

Ptr<CongestionType>
Transport::GetCongestionType(const std::string& name)
{
    Ptr<CongestionType>& type = m_congestionTypes[name];
    if (!type)
    {
        type = MakeCongestionType(name);
        if (type->GetNeeds().telemetry)
        {
            m_fabric->SetTelemetry(true);
        }
    }
    return type;
}

uint32_t
Transport::AddQueuePair(const QueuePairOptions& options)
{
    const auto id = static_cast<uint32_t>(m_senders.size());
    SenderState sender;
    sender.next = m_firstSequence;
    sender.unacked = m_firstSequence;
    sender.highest = m_firstSequence;
    sender.headEnd = m_firstSequence;
    sender.trafficClass = static_cast<uint8_t>(options.trafficClass);
    sender.firstWaypoint =
        options.waypoints.empty() ? options.destination : options.waypoints.front();
    if (options.copyMethod == CopyMethod::SM)
    {
        sender.flags |= SenderState::SM_COPY;
    }
    m_senders.push_back(sender);
    ReceiverState receiver;
    receiver.vertex = options.destination;
    receiver.expected = m_firstSequence;
    receiver.messageEnd = m_firstSequence;
    receiver.trafficClass = static_cast<uint8_t>(m_ackClass);
    m_receivers.push_back(receiver);
    m_hashes.push_back(MixHash(m_pathSeed, options.flow));
    QueuePairState& state = m_states.emplace_back();
    state.source = options.source;
    state.destination = options.destination;
    state.waypoints = options.waypoints;
    state.copyBytesPerSecond = options.copyBytesPerSecond;
    state.flow = options.flow;
    state.examined = m_firstSequence;
    state.repeatEnd = m_firstSequence;
    m_fabric->UseTrafficClass(options.trafficClass);
    return id;
}

uint32_t
Transport::CreateQueuePair(const QueuePairOptions& options)
{
    NS_LOG_FUNCTION(this << options.source << options.destination << options.flow);
    std::vector<VertexId> all = options.waypoints;
    all.push_back(options.source);
    all.push_back(options.destination);
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end())
    {
        throw std::invalid_argument("transport: a queue pair needs a source, a destination and "
                                    "waypoints that are all different");
    }
    const uint32_t id = AddQueuePair(options);
    const PathKind kind = MeasurePath(id);
    AssignPorts(id);
    std::string name = options.congestionControl;
    if (name.empty())
    {
        const bool automatic = m_congestionControl == "auto";
        name = kind == PathKind::ROCE && automatic    ? "dcqcn"
               : kind == PathKind::LOCAL || automatic ? "none"
                                                      : m_congestionControl;
    }
    SetUpControl(id, kind, name);
    return id;
}

Transport::PathKind
Transport::MeasurePath(uint32_t id)
{
    const Cluster& cluster = m_fabric->GetCluster();
    QueuePairState& state = m_states[id];
    std::vector<LinkId> links;
    VertexId from = state.source;
    std::vector<VertexId> stops = state.waypoints;
    stops.push_back(state.destination);
    for (VertexId to : stops)
    {
        const auto part =
            m_fabric->GetPaths().Walk(from, to, [&](VertexId at, std::size_t choices) {
                return MixHash(m_hashes[id], at) % choices;
            });
        if (part.empty())
        {
            throw std::invalid_argument("transport: no path from " +
                                        cluster.GetVertices()[from].name + " to " +
                                        cluster.GetVertices()[to].name);
        }
        links.insert(links.end(), part.begin(), part.end());
        from = to;
    }
    PathKind kind = PathKind::LOCAL;
    uint32_t unitBytes = UINT32_MAX;
    for (LinkId link : links)
    {
        unitBytes = std::min(unitBytes, m_fabric->GetFraming(link).unitBytes);
        const LinkTechnology technology = cluster.GetLinks()[link].technology;
        if (technology == LinkTechnology::ROCE)
        {
            kind = PathKind::ROCE;
        }
        else if (technology == LinkTechnology::INFINIBAND && kind == PathKind::LOCAL)
        {
            kind = PathKind::INFINIBAND;
        }
    }
    CongestionPath path;
    path.packetBytes = unitBytes;
    path.bytesPerSecond = std::numeric_limits<double>::infinity();
    path.hops = static_cast<uint32_t>(links.size());
    double rtt = 0;
    for (LinkId id : links)
    {
        const Link& link = cluster.GetLinks()[id];
        const LinkFraming framing = m_fabric->GetFraming(id);
        const auto wireBytes = static_cast<uint32_t>(framing.WireBytes(unitBytes));
        rtt += 2 * static_cast<double>(link.delayPs) +
               (wireBytes + framing.controlBytes) * PS_PER_SECOND / link.bytesPerSecond;
        if (link.bytesPerSecond < path.bytesPerSecond)
        {
            path.bytesPerSecond = link.bytesPerSecond;
            path.wireBytes = wireBytes;
        }
    }
    path.baseRttPs = static_cast<int64_t>(rtt);
    state.path = path;
    m_senders[id].unitBytes = unitBytes;
    m_senders[id].paceHeader =
        static_cast<uint16_t>(std::min<uint32_t>(path.wireBytes - unitBytes, UINT16_MAX));
    return kind;
}

void
Transport::AssignPorts(uint32_t id)
{
    const Cluster& cluster = m_fabric->GetCluster();
    SenderState& sender = m_senders[id];
    const VertexId source = m_states[id].source;
    sender.firstSlot = static_cast<uint32_t>(m_slots.size());
    sender.nSlots = 0;
    const auto& choices = m_fabric->GetPaths().NextPorts(source, sender.firstWaypoint);
    if (choices.empty())
    {
        return; // links have failed; the queue pair waits, and gives up after its retries
    }
    std::vector<PortId> ports;
    for (uint16_t choice : choices)
    {
        const PortId port = m_fabric->GetPort(source, choice);
        if (m_fabric->GetLink(port).technology == LinkTechnology::NVLINK &&
            ports.size() < MAX_CANDIDATE_PORTS)
        {
            ports.push_back(port);
        }
    }
    if (ports.empty() || (sender.flags & SenderState::GROUP) != 0)
    {
        const std::size_t choice = PickFirstPort(m_hashes[id], source, choices.size());
        ports.assign(1, m_fabric->GetPort(source, choices[choice]));
    }
    for (PortId port : ports)
    {
        ActiveSlot slot;
        slot.queuePair = id;
        slot.port = port;
        m_slots.push_back(slot);
        const Link& link = cluster.GetLinks()[port / 2];
        ActiveQueues& active = m_active[port];
        active.unitPs = static_cast<int64_t>(
            static_cast<double>(m_fabric->GetFraming(port / 2).WireBytes(sender.unitBytes)) *
            PS_PER_SECOND / link.bytesPerSecond);
        if (!m_limiterOf.empty())
        {
            active.limiter = m_limiterOf[source];
        }
    }
    sender.nSlots = static_cast<uint8_t>(ports.size());
}

void
Transport::SetUpControl(uint32_t id, PathKind kind, const std::string& name)
{
    SenderState& sender = m_senders[id];
    ReceiverState& receiver = m_receivers[id];
    QueuePairState& state = m_states[id];
    const auto& vertices = m_fabric->GetCluster().GetVertices();
    const Ptr<CongestionType> type = GetCongestionType(name);
    const CongestionNeeds needs = type->GetNeeds();
    state.control = type->Create(state.path);
    if (m_window > 0)
    {
        state.windowLimit = m_window;
    }
    if (m_windowProducts > 0)
    {
        const double window = m_windowProducts * state.path.GetBandwidthDelayProduct();
        state.windowLimit =
            std::min(state.windowLimit, std::max<uint64_t>(1, std::llround(window)));
    }
    const bool windowed = state.windowLimit != CongestionControl::UNLIMITED;
    sender.ackEvery = static_cast<uint16_t>(m_ackEveryPackets > 0       ? m_ackEveryPackets
                                            : needs.ackEveryPackets > 0 ? needs.ackEveryPackets
                                            : windowed                  ? 1
                                                                        : 0);
    sender.flags |= m_ackEveryMessage ? SenderState::ACK_MESSAGES : 0;
    sender.flags |= needs.sendTimes ? SenderState::SEND_TIMES : 0;
    sender.flags |= needs.telemetry ? SenderState::TELEMETRY : 0;
    state.ackDelayPs = m_ackDelay.IsZero() ? needs.ackDelayPs : m_ackDelay.GetPicoSeconds();
    state.notificationPs = needs.notificationPs;
    receiver.flags |= needs.notificationPs > 0 ? ReceiverState::NOTIFY : 0;

    const bool reorders = sender.nSlots > 1 || m_multipath;
    if (reorders || needs.selectiveRepeat || m_reliability == SELECTIVE_REPEAT)
    {
        sender.flags |= SenderState::SELECTIVE;
        state.reorderingDistance = m_reorderingDistance > 0       ? m_reorderingDistance
                                   : reorders                     ? UINT32_MAX
                                   : needs.reorderingDistance > 0 ? needs.reorderingDistance
                                                                  : 1;
        receiver.flags |= state.reorderingDistance < UINT32_MAX ? ReceiverState::REPORT_GAPS : 0;
    }
    else
    {
        receiver.flags |= ReceiverState::IN_ORDER;
    }
    state.controlReliable = kind != PathKind::LOCAL;

    const Vertex& source = vertices[state.source];
    const bool throughNic =
        std::any_of(state.waypoints.begin(), state.waypoints.end(), [&](VertexId vertex) {
            return vertices[vertex].kind == VertexKind::NIC;
        });
    if ((sender.flags & SenderState::SM_COPY) != 0)
    {
        if (state.copyBytesPerSecond == 0)
        {
            state.copyBytesPerSecond = source.smCopyBytesPerSecond;
        }
    }
    else if (!throughNic)
    {
        sender.flags |= SenderState::COPY_ENGINE;
        state.copyBytesPerSecond = source.copyEngineBytesPerSecond;
    }
    if (!m_limiterOf.empty() && m_limiterOf[state.destination] != UINT32_MAX)
    {
        receiver.flags |= ReceiverState::LIMITED;
    }
    ApplyControl(id);
}

void
Transport::HandleTopologyChange()
{
    NS_LOG_FUNCTION(this);
    for (uint32_t id = 0; id < m_senders.size(); ++id)
    {
        SenderState& sender = m_senders[id];
        for (uint32_t i = 0; i < sender.nSlots; ++i)
        {
            // A slot that stands in a list leaves it when its turn comes.
            m_slots[sender.firstSlot + i].queuePair = ActiveSlot::NO_QUEUE_PAIR;
        }
        AssignPorts(id);
        Activate(id);
    }
    CheckGroupLinks();
}

} // namespace proteus
} // namespace ns3
