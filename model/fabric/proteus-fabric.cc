/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include "proteus-link-rate.h"
#include "proteus-required-arguments.h"
#include "proteus-simulator-time.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-flow-places.h"
#include "ns3/proteus-network-links.h"
#include "ns3/proteus-server-hosts.h"
#include "ns3/proteus-staging-rate.h"
#include "ns3/proteus-warning.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Set-up of a fabric, and its steps.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @param technology of links with receive buffers @return the attribute that says how large they
/// are
std::string
GetBufferName(LinkTechnology technology)
{
    return technology == LinkTechnology::NVLINK       ? "NvlinkBuffer"
           : technology == LinkTechnology::INFINIBAND ? "InfinibandBuffer"
                                                      : "PcieBuffer";
}

/// @param link any @param burstBytes attribute BurstBytes
/// @throw std::invalid_argument if bursts on the link would not be whole packets
void
RequireWholePackets(const Link& link, uint32_t burstBytes)
{
    const bool hasPackets =
        link.technology == LinkTechnology::NVLINK || link.technology == LinkTechnology::PCIE;
    if (hasPackets && link.framing.packetBytes > 0 && burstBytes % link.framing.packetBytes != 0)
    {
        throw std::invalid_argument(
            "ns3::proteus::Fabric::BurstBytes, " + std::to_string(burstBytes) +
            ", is no multiple of the payload of a packet on links " + ToString(link.technology) +
            ", " + std::to_string(link.framing.packetBytes));
    }
}

/// @param link a link @param id one of its two ports @return who sends on it, and who receives
std::pair<VertexId, VertexId>
GetEnds(const Link& link, PortId id)
{
    return id % 2 == 0 ? std::pair(link.a, link.b) : std::pair(link.b, link.a);
}

} // namespace

NS_LOG_COMPONENT_DEFINE("ProteusFabric");

Fabric::Fabric()
{
    m_cluster = std::make_shared<const Cluster>(); // so that it can be asked
    NS_LOG_FUNCTION(this);
}

Fabric::~Fabric()
{
    NS_LOG_FUNCTION(this);
}

void
Fabric::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_ranks = nullptr;
    m_stepper.Dispose();
    m_rerouteEvent.Cancel();
    m_endpoint = nullptr;
    m_tracer.Dispose();
    m_settings.marks.random = nullptr;
    m_settings.forwarding.lossRandom = nullptr;
    m_nodes = NodeContainer();
    Object::DoDispose();
}

int64_t
Fabric::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_settings.marks.random->SetStream(stream);
    m_settings.forwarding.lossRandom->SetStream(stream + 1);
    m_marker.Reset();
    m_losses.Reset();
    return 2;
}

uint64_t
Fabric::GetBufferBytes(LinkTechnology technology) const
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        return m_settings.credits.nvlinkBytes;
    case LinkTechnology::PCIE:
    case LinkTechnology::CPU_INTERCONNECT:
        return m_settings.credits.pcieBytes;
    case LinkTechnology::INFINIBAND:
        return m_settings.credits.infinibandBytes;
    case LinkTechnology::ROCE:
        return 0; // PFC
    }
    return 0;
}

LinkFraming
Fabric::GetFraming(LinkId id) const
{
    const Link& link = m_cluster->GetLinks()[id];
    LinkFraming framing = link.framing;
    if (IsOfNetwork(link))
    {
        framing.unitBytes *= m_settings.forwarding.trainPackets;
        framing.packetHeaderBytes += m_telemetry ? m_settings.forwarding.telemetryBytes : 0;
    }
    else if (m_settings.forwarding.burstBytes > 0)
    {
        framing.unitBytes = m_settings.forwarding.burstBytes;
    }
    return framing;
}

void
Fabric::SetUpPort(PortId id, const Link& link)
{
    PortState& port = m_ports[id];
    const auto& vertices = m_cluster->GetVertices();
    std::tie(port.from, port.to) = GetEnds(link, id);
    port.delayPs = link.delayPs;
    const LinkFraming framing = GetFraming(id / 2);
    RequireLinkRate(*m_cluster, id / 2, framing, link.bytesPerSecond);
    m_ports.SetRate(id, framing, link.bytesPerSecond);

    const uint64_t buffer = GetBufferBytes(link.technology);
    // Who reads the memory of a host asks for no more than it has room for.
    port.credited = buffer > 0 && !IsHostMemory(vertices[port.from]);
    port.reads = port.credited && vertices[port.to].kind == VertexKind::NIC &&
                 vertices[port.from].server == vertices[port.to].server;
    // A buffer that no unit fits in could never be used.
    port.bufferBytes = std::max<int64_t>(buffer, port.sizes->mostWire);
    if (port.reads)
    {
        const double seconds = m_settings.credits.nicReadTime.GetSeconds();
        port.bufferBytes =
            std::max<int64_t>(port.bufferBytes, std::llround(link.bytesPerSecond * seconds));
    }
    for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
    {
        m_ports.Lane(id, c).creditBytes = port.bufferBytes;
    }
    port.cutBytes = GetCutBytes(link, vertices[port.to].kind, framing);

    const VertexKind fromKind = vertices[port.from].kind;
    const bool network = IsOfNetwork(link);
    if (fromKind == VertexKind::SWITCH) // a NIC reads no faster than it sends, and tells nothing
    {
        port.telemetric = network;
        m_marker.SetUpPort(port, link);
    }
    port.lossProbability = link.lossProbability;
    port.bitErrorRate = link.bitErrorRate;
    port.unreliable = link.lossProbability > 0 || link.bitErrorRate > 0;
    port.overtakes = link.technology == LinkTechnology::INFINIBAND;
    port.cut = IsLocal(port.from) != IsLocal(port.to);
    port.statistics.link = id / 2;
    port.statistics.forward = id % 2 == 0;
}

uint32_t
Fabric::GetCutBytes(const Link& link, VertexKind kind, const LinkFraming& framing) const
{
    const ForwardingSettings& settings = m_settings.forwarding;
    const bool ethernet = link.technology == LinkTechnology::ROCE;
    const bool cutThrough = kind == VertexKind::GPU      ? false
                            : kind != VertexKind::SWITCH ? settings.internalCutThrough
                            : ethernet                   ? settings.roceCutThrough
                                                         : settings.infinibandCutThrough;
    if (!cutThrough)
    {
        return 0;
    }
    // What has to be there: the head of a packet, or the first packet of a burst.
    if (ethernet || link.technology == LinkTechnology::INFINIBAND)
    {
        return settings.cutThroughBytes;
    }
    return static_cast<uint32_t>(
        framing.WireBytes(std::min(framing.packetBytes, framing.unitBytes)));
}

void
Fabric::SetUpInputQueues()
{
    std::vector<VertexKind> kinds;
    std::istringstream list(m_settings.forwarding.inputQueuedKinds);
    for (std::string kind; std::getline(list, kind, ',');)
    {
        kinds.push_back(VertexKindFromString(kind));
    }
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        PortState& port = m_ports[id];
        const VertexKind kind = m_cluster->GetVertices()[port.to].kind;
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
        {
            port.inputQueued = port.credited || port.bufferAt != 0;
            m_inputs.SetUp(m_ports.GetNLanes());
        }
    }
}

PortId
Fabric::NumberInternalPorts()
{
    // What enters a device that forwards at a limited rate crosses a link inside it, one for each
    // link and direction. The memory of a host is no device, as in Forward(). What lies in the
    // memory of a CPU meanwhile crosses one link for all that the memory takes in, see SendFrom().
    const auto& vertices = m_cluster->GetVertices();
    m_isMemory.resize(vertices.size());
    std::transform(vertices.begin(), vertices.end(), m_isMemory.begin(), IsHostMemory);
    m_absorbs.resize(vertices.size());
    std::transform(vertices.begin(), vertices.end(), m_absorbs.begin(), HasStagingMemory);
    const PortId nPorts = GetNPorts();
    PortId next = nPorts;
    for (PortId id = 0; id < nPorts; ++id)
    {
        const Link& link = m_cluster->GetLinks()[id / 2];
        const auto [from, to] = GetEnds(link, id);
        if (vertices[to].forwardBytesPerSecond > 0 && vertices[to].kind != VertexKind::GPU &&
            !m_isMemory[from])
        {
            m_internalPorts.resize(nPorts + vertices.size(), NO_PORT);
            m_internalPorts[id] = next++;
        }
    }
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        if (vertices[id].kind == VertexKind::CPU && vertices[id].memoryBytesPerSecond > 0)
        {
            m_internalPorts.resize(nPorts + vertices.size(), NO_PORT);
            m_internalPorts[nPorts + id] = next++;
        }
    }
    return next;
}

void
Fabric::SetUpInternalPorts()
{
    LinkFraming framing;
    framing.controlBytes = 8;
    const PortId nPorts = GetNPorts();
    for (PortId id = 0; id < m_internalPorts.size(); ++id)
    {
        if (m_internalPorts[id] != NO_PORT)
        {
            const bool isOfMemory = id >= nPorts;
            const VertexId vertex = isOfMemory ? id - nPorts : m_ports[id].to;
            const Vertex& device = m_cluster->GetVertices()[vertex];
            PortState& port = m_ports[m_internalPorts[id]];
            port.from = vertex;
            port.to = vertex;
            port.internal = true;
            m_ports.SetRate(m_internalPorts[id],
                            framing,
                            isOfMemory ? device.memoryBytesPerSecond / ACCESSES_OF_STAGING
                                       : device.forwardBytesPerSecond);
        }
    }
}

void
Fabric::SetCluster(std::shared_ptr<const Cluster> cluster)
{
    NS_LOG_FUNCTION(this);
    RequireThere(cluster, "the cluster");
    if (m_nodes.GetN() > 0)
    {
        throw std::logic_error("Fabric::SetCluster(): it has a cluster already");
    }
    m_cluster = cluster;
    const auto& links = m_cluster->GetLinks();
    SetUpRanks();
    CreateNodes();
    m_marker.SetUp(m_settings.marks);
    m_buffers.SetUp(m_settings.buffers);
    m_buffers.SetContentionCallback([this](uint32_t buffer) { m_watch.TellContention(buffer); });
    m_ports.Create(NumberInternalPorts(), m_settings.classes.nClasses);
    std::map<LinkTechnology, int64_t> raised;
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        const Link& link = links[id / 2];
        RequireWholePackets(link, m_settings.forwarding.burstBytes);
        SetUpPort(id, link);
        const auto buffer = static_cast<int64_t>(GetBufferBytes(link.technology));
        const int64_t least = m_ports[id].sizes->mostWire;
        if (buffer > 0 && buffer < least)
        {
            raised[link.technology] = std::max(raised[link.technology], least);
        }
    }
    for (const auto& [technology, bytes] : raised)
    {
        Warn("ns3::proteus::Fabric::" + GetBufferName(technology) + "=" +
             std::to_string(GetBufferBytes(technology)) + " is taken as up to " +
             std::to_string(bytes) + " on links " + ToString(technology) +
             ": a unit has to find room");
    }
    m_buffers.Build(*m_cluster, m_ports);
    SetUpInputQueues();
    SetUpInternalPorts();
    m_scheduler.SetUp(ParseNumbers("ClassWeights", m_settings.classes.weights, 1 << 16), m_ports);
    m_flowPlaces = GetFlowPlaces(*m_cluster);
    m_selector.SetUp(m_settings.forwarding.routing, m_ports, m_flowPlaces);
    m_tracer.SetUp(GetNPorts());
    m_timerSlot = static_cast<uint32_t>(SLOTS_PER_PORT * m_ports.GetSize());
    m_stepper.SetUp(m_timerSlot + 1, m_settings.forwarding.reference, [this] { Step(); });
    m_routes.SetUp(*m_cluster);
    m_routes.Reset(m_ports, m_settings.forwarding.routing == RoutingMode::UP_DOWN);
}

void
Fabric::SetEndpoint(FabricEndpoint* endpoint)
{
    if (m_endpoint && endpoint && m_endpoint != endpoint)
    {
        throw std::logic_error(
            "the fabric serves a network already; jobs that share a fabric are "
            "one graph (ComposeJobs()), and each TrainingJob or FlowPlayer has a "
            "fabric of its own");
    }
    m_endpoint = endpoint;
}

void
Fabric::UseTrafficClass(uint32_t trafficClass)
{
    if (trafficClass >= m_ports.GetNClasses())
    {
        throw std::invalid_argument("traffic class " + std::to_string(trafficClass) +
                                    " of a fabric with " + std::to_string(m_ports.GetNClasses()) +
                                    "; raise ns3::proteus::Fabric::TrafficClasses");
    }
    m_pullClasses |= 1u << trafficClass;
}

void
Fabric::SetTimer(int64_t timePs)
{
    RequireCluster(*this);
    m_stepper.Synchronize();
    m_stepper.Set(m_timerSlot,
                  timePs == EventTree::NEVER ? timePs : std::max(timePs, m_stepper.GetNowPs()));
}

void
Fabric::SetTelemetry(bool on)
{
    if (m_telemetry == on)
    {
        return;
    }
    m_telemetry = on;
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        if (IsOfNetwork(GetLink(id)))
        {
            if (m_ports[id].statistics.packets > 0)
            {
                throw std::logic_error("Fabric::SetTelemetry(): network links carry packets "
                                       "already");
            }
            m_ports.SetFraming(id, GetFraming(id / 2));
        }
    }
    for (VertexId vertex = 0; vertex < m_cluster->GetVertices().size(); ++vertex)
    {
        m_buffers.Update(*m_cluster, m_ports, vertex);
    }
}

void
Fabric::SetObserver(PortId port, PortObserver* observer)
{
    RequireIndex(port, m_ports.GetSize(), "port", "the fabric");
    m_tracer.SetObserver(port, observer);
}

void
Fabric::CallAtPresent(VertexId vertex, std::function<void()> callback)
{
    RequireIndex(vertex, m_nodes.GetN(), "vertex", "the fabric");
    ScheduleFunctionWithContext(m_nodes.Get(vertex)->GetId(),
                                std::max(CeilToStep(GetTimePs()) - Simulator::Now(), Time(0)),
                                std::move(callback));
}

} // namespace proteus
} // namespace ns3
