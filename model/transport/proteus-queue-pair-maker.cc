/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-queue-pair-maker.h"

#include "ns3/proteus-server-hosts.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

QueuePairMaker::QueuePairMaker(TransportCore& core,
                               CopyLimiters& limiters,
                               ReadRequests& reads,
                               SendPorts& ports,
                               RateControl& rates)
    : m_core(core),
      m_limiters(limiters),
      m_reads(reads),
      m_ports(ports),
      m_rates(rates)
{
}

void
QueuePairMaker::SetUp(uint64_t pathSeed)
{
    if (!m_core.settings.ackEveryMessage && m_core.settings.ackDelay.IsZero())
    {
        throw std::invalid_argument("transport: without AckEveryMessage, the last packets would "
                                    "never be acknowledged: set AckDelay, too");
    }
    m_pathSeed = pathSeed;
    StringValue routing;
    m_core.fabric->GetAttribute("Routing", routing);
    m_multipath = routing.Get() == "Spray" || routing.Get() == "Adaptive";
}

uint32_t
QueuePairMaker::Add(const QueuePairOptions& options)
{
    const uint32_t id = m_core.pairs.Add(options,
                                         MixHash(m_pathSeed, options.flow),
                                         m_core.settings.firstSequence,
                                         m_core.settings.ackClass);
    m_core.fabric->UseTrafficClass(options.trafficClass);
    return id;
}

uint32_t
QueuePairMaker::Create(const QueuePairOptions& options)
{
    std::vector<VertexId> all = options.waypoints;
    all.push_back(options.source);
    all.push_back(options.destination);
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end())
    {
        throw std::invalid_argument("transport: a queue pair needs a source, a destination and "
                                    "waypoints that are all different");
    }
    const uint32_t id = Add(options);
    const std::vector<LinkId> links = WalkPath(id);
    const PathKind kind = Classify(links);
    m_core.pairs.GetState(id).controls.isReliable = kind != PathKind::LOCAL;
    SetUpNicEnd(id);
    // First, as telemetry makes packets longer.
    const Ptr<CongestionType> type =
        GetCongestionType(ChooseControl(options.congestionControl, kind));
    MeasurePath(id, links);
    m_ports.Assign(id);
    SetUpControl(id, *type);
    SetUpRepetition(id, type->GetNeeds());
    SetUpCopies(id);
    SetUpReads(id, links);
    m_rates.Apply(id);
    return id;
}

std::vector<LinkId>
QueuePairMaker::WalkPath(uint32_t id) const
{
    const auto& vertices = m_core.fabric->GetCluster().GetVertices();
    const QueuePairState& state = m_core.pairs.GetState(id);
    std::vector<LinkId> links;
    VertexId from = state.source;
    std::vector<VertexId> stops = state.waypoints;
    stops.push_back(state.destination);
    for (VertexId to : stops)
    {
        const auto part =
            m_core.fabric->GetWholePaths().Walk(from, to, [&](VertexId at, std::size_t choices) {
                return MixHash(m_core.pairs.GetFlowHash(id), m_core.fabric->GetFlowPlace(at)) %
                       choices;
            });
        if (part.empty())
        {
            throw std::invalid_argument("transport: no path from " + vertices[from].name + " to " +
                                        vertices[to].name + ": no links of the cluster lead there");
        }
        links.insert(links.end(), part.begin(), part.end());
        from = to;
    }
    return links;
}

QueuePairMaker::PathKind
QueuePairMaker::Classify(const std::vector<LinkId>& links) const
{
    PathKind kind = PathKind::LOCAL;
    for (LinkId link : links)
    {
        const LinkTechnology technology = m_core.fabric->GetCluster().GetLinks()[link].technology;
        if (technology == LinkTechnology::ROCE)
        {
            kind = PathKind::ROCE;
        }
        else if (technology == LinkTechnology::INFINIBAND && kind == PathKind::LOCAL)
        {
            kind = PathKind::INFINIBAND;
        }
    }
    return kind;
}

void
QueuePairMaker::MeasurePath(uint32_t id, const std::vector<LinkId>& links)
{
    uint32_t unitBytes = UINT32_MAX;
    for (LinkId link : links)
    {
        unitBytes = std::min(unitBytes, m_core.fabric->GetFraming(link).unitBytes);
    }
    CongestionPath path;
    path.packetBytes = unitBytes;
    path.bytesPerSecond = std::numeric_limits<double>::infinity();
    path.hops = 0;
    double rtt = 0;
    double beforeNic = 0;
    const QueuePairState& state = m_core.pairs.GetState(id);
    const auto nic =
        std::find_if(state.waypoints.begin(), state.waypoints.end(), [&](VertexId stop) {
            return m_core.IsNicOf(stop, state.source);
        });
    bool isBeforeNic = nic != state.waypoints.end();
    bool isAcknowledged = false;
    for (LinkId linkId : links)
    {
        const Link& link = m_core.fabric->GetCluster().GetLinks()[linkId];
        const LinkFraming framing = m_core.fabric->GetFraming(linkId);
        const auto wireBytes = static_cast<uint32_t>(framing.WireBytes(unitBytes));
        if (!isAcknowledged)
        {
            const double there =
                static_cast<double>(link.delayPs) + wireBytes * PS_PER_SECOND / link.bytesPerSecond;
            ++path.hops;
            rtt += there + static_cast<double>(link.delayPs) +
                   framing.controlBytes * PS_PER_SECOND / link.bytesPerSecond;
            beforeNic += isBeforeNic ? there : 0;
            isBeforeNic = isBeforeNic && link.a != *nic && link.b != *nic;
        }
        const VertexId responder = m_core.pairs.GetResponder(id).vertex;
        isAcknowledged |= link.a == responder || link.b == responder;
        if (link.bytesPerSecond < path.bytesPerSecond)
        {
            path.bytesPerSecond = link.bytesPerSecond;
            path.wireBytes = wireBytes;
        }
    }
    path.baseRttPs = static_cast<int64_t>(rtt);
    path.beforeNicPs = static_cast<int64_t>(beforeNic);
    m_core.pairs.GetState(id).path = path;
    SenderState& sender = m_core.pairs.GetSender(id);
    sender.unitBytes = unitBytes;
    sender.paceHeader =
        static_cast<uint16_t>(std::min<uint32_t>(path.wireBytes - unitBytes, UINT16_MAX));
}

Ptr<CongestionType>
QueuePairMaker::GetCongestionType(const std::string& name)
{
    Ptr<CongestionType>& type = m_congestionTypes[name];
    if (!type)
    {
        type = MakeCongestionType(name);
        if (type->GetNeeds().telemetry)
        {
            m_core.fabric->SetTelemetry(true);
        }
    }
    return type;
}

std::string
QueuePairMaker::ChooseControl(const std::string& name, PathKind kind) const
{
    if (!name.empty())
    {
        return name;
    }
    const bool automatic = m_core.settings.congestionControl == "auto";
    if (kind == PathKind::ROCE && automatic)
    {
        return "dcqcn";
    }
    return kind == PathKind::LOCAL || automatic ? "none" : m_core.settings.congestionControl;
}

void
QueuePairMaker::SetUpControl(uint32_t id, const CongestionType& type)
{
    const TransportSettings& settings = m_core.settings;
    SenderState& sender = m_core.pairs.GetSender(id);
    ReceiverState& receiver = m_core.pairs.GetResponder(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const CongestionNeeds needs = type.GetNeeds();
    state.control = type.Create(state.path);
    if (settings.window > 0)
    {
        state.windowLimit = settings.window;
    }
    if (settings.windowProducts > 0)
    {
        const double window = settings.windowProducts * state.path.GetBandwidthDelayProduct();
        state.windowLimit =
            std::min(state.windowLimit, std::max<uint64_t>(1, std::llround(window)));
    }
    const bool windowed = state.windowLimit != CongestionControl::UNLIMITED;
    sender.ackEvery = static_cast<uint16_t>(settings.ackEveryPackets > 0 ? settings.ackEveryPackets
                                            : needs.ackEveryPackets > 0  ? needs.ackEveryPackets
                                            : windowed                   ? 1
                                                                         : 0);
    sender.flags |= settings.ackEveryMessage ? SenderState::ACK_MESSAGES : 0;
    sender.flags |= needs.sendTimes ? SenderState::SEND_TIMES : 0;
    sender.flags |= needs.telemetry ? SenderState::TELEMETRY : 0;
    state.ackDelayPs =
        settings.ackDelay.IsZero() ? needs.ackDelayPs : settings.ackDelay.GetPicoSeconds();
    receiver.flags |= state.ackDelayPs > 0 ? ReceiverState::DELAYS_ACK : 0;
    state.notificationPs = needs.notificationPs;
    receiver.flags |= needs.notifications ? ReceiverState::NOTIFY : 0;
}

void
QueuePairMaker::SetUpNicEnd(uint32_t id)
{
    QueuePairState& state = m_core.pairs.GetState(id);
    const auto& stops = state.waypoints;
    const auto nic = std::find_if(stops.rbegin(), stops.rend(), [&](VertexId stop) {
        return m_core.IsNicOf(stop, state.destination);
    });
    if (nic != stops.rend())
    {
        ReceiverState& receiver = m_core.pairs.GetReceiver(id);
        state.nicEnd = std::make_unique<NicEnd>();
        state.nicEnd->receiver = receiver;
        state.nicEnd->receiver.vertex = *nic;
        receiver.flags |= ReceiverState::NIC_ENDS;
    }
}

void
QueuePairMaker::SetUpRepetition(uint32_t id, const CongestionNeeds& needs)
{
    const TransportSettings& settings = m_core.settings;
    SenderState& sender = m_core.pairs.GetSender(id);
    ReceiverState& receiver = m_core.pairs.GetResponder(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const bool reorders = sender.nSlots > 1 || m_multipath;
    if (!reorders && !needs.selectiveRepeat && settings.reliability != SELECTIVE_REPEAT)
    {
        receiver.flags |= ReceiverState::IN_ORDER;
        return;
    }
    sender.flags |= SenderState::SELECTIVE;
    state.reorderingDistance = settings.reorderingDistance > 0 ? settings.reorderingDistance
                               : reorders                      ? UINT32_MAX
                               : needs.reorderingDistance > 0  ? needs.reorderingDistance
                                                               : 1;
    receiver.flags |= state.reorderingDistance < UINT32_MAX ? ReceiverState::REPORT_GAPS : 0;
}

void
QueuePairMaker::SetUpCopies(uint32_t id)
{
    const auto& vertices = m_core.fabric->GetCluster().GetVertices();
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    const Vertex& source = vertices[state.source];
    const bool throughNic =
        std::any_of(state.waypoints.begin(), state.waypoints.end(), [&](VertexId vertex) {
            return vertices[vertex].kind == VertexKind::NIC;
        });
    if (sender.GetCopyMethod() != CopyMethod::DMA)
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
    if (m_limiters.LimitsMemory(state.destination))
    {
        m_core.pairs.GetReceiver(id).flags |= ReceiverState::LIMITED;
    }
}

std::unique_ptr<MemoryStage>
QueuePairMaker::MakeStage(uint32_t id) const
{
    const auto& vertices = m_core.fabric->GetCluster().GetVertices();
    const auto& stops = m_core.pairs.GetState(id).waypoints;
    for (std::size_t i = 1; i < stops.size(); ++i)
    {
        const Vertex& holder = vertices[stops[i - 1]];
        const Vertex& next = vertices[stops[i]];
        if (HasStagingMemory(holder) && next.kind == VertexKind::NIC &&
            next.server == holder.server)
        {
            auto stage = std::make_unique<MemoryStage>();
            stage->holder = stops[i - 1];
            stage->reader = stops[i];
            return stage;
        }
    }
    return nullptr;
}

void
QueuePairMaker::SetUpReads(uint32_t id, const std::vector<LinkId>& links)
{
    const Cluster& cluster = m_core.fabric->GetCluster();
    const auto& vertices = cluster.GetVertices();
    SenderState& sender = m_core.pairs.GetSender(id);
    QueuePairState& state = m_core.pairs.GetState(id);
    std::unique_ptr<MemoryStage> stage = MakeStage(id);
    const VertexId reader = stage ? stage->reader : sender.firstWaypoint;
    if (vertices[reader].kind != VertexKind::NIC && !IsHostMemory(vertices[state.source]))
    {
        return;
    }
    const auto last = std::find_if(links.begin(), links.end(), [&](LinkId link) {
        return cluster.GetLinks()[link].a == reader || cluster.GetLinks()[link].b == reader;
    });
    const PortId port = 2 * *last + (cluster.GetLinks()[*last].b == reader ? 0 : 1);
    const uint64_t buffer = m_core.fabric->GetReceiveBuffer(port);
    if (buffer == 0)
    {
        return;
    }
    // In full units of the link, whoever sends: it must not depend on what was made first.
    const LinkFraming framing = m_core.fabric->GetFraming(*last);
    m_reads.Add(id,
                reader,
                sender.trafficClass,
                static_cast<uint32_t>(buffer / framing.WireBytes(framing.unitBytes)));
    if (stage)
    {
        sender.flags |= SenderState::STAGED;
        state.stage = std::move(stage);
        return;
    }
    sender.flags |= SenderState::READ;
    if (reader == state.destination)
    {
        m_core.pairs.GetReceiver(id).flags |= ReceiverState::READ;
    }
}

} // namespace proteus
} // namespace ns3
