/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include "proteus-simulator-time.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/proteus-compat.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabric");
NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

constexpr uint32_t FIXED_POINT_BITS = 24;

/// Events between two calls of "Progress".
constexpr uint64_t PROGRESS_EVENTS = 1 << 20;

/// "Not looked up yet" in the route tables.
constexpr uint32_t UNKNOWN_ROUTE = 0xffffffff;
/// "Several equal ports" in the route tables.
constexpr uint32_t MANY_ROUTES = 0xfffffffe;

} // namespace

class Fabric::StepEvent : public EventImpl
{
  public:
    explicit StepEvent(Fabric* fabric)
        : m_fabric(fabric)
    {
    }

  private:
    void Notify() override
    {
        m_fabric->Step();
    }

    Fabric* m_fabric; //!< whom to call
};

TypeId
Fabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::Fabric")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<Fabric>()
            .AddAttribute("NvlinkBuffer",
                          "Receive buffer of each NVLink connection and direction in bytes of the "
                          "wire; 0 for no flow control. No public source: a parameter, large "
                          "enough by default for full rate.",
                          UintegerValue(256 * 1024),
                          MakeUintegerAccessor(&Fabric::m_nvlinkBuffer),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("PcieBuffer",
                          "Receive buffer of each PCIe link or link between sockets and direction "
                          "in bytes of the wire; 0 for no flow control. No public source: a "
                          "parameter, large enough by default for full rate.",
                          UintegerValue(128 * 1024),
                          MakeUintegerAccessor(&Fabric::m_pcieBuffer),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("InfinibandBuffer",
                          "Receive buffer of each InfiniBand link and direction in bytes of the "
                          "wire; 0 for no flow control. No public source: a parameter, large "
                          "enough by default for full rate.",
                          UintegerValue(128 * 1024),
                          MakeUintegerAccessor(&Fabric::m_infinibandBuffer),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddTraceSource("Transmit",
                            "A unit starts on a link.",
                            MakeTraceSourceAccessor(&Fabric::m_transmitTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Progress",
                            "Another 2^20 events of the fabric have been handled.",
                            MakeTraceSourceAccessor(&Fabric::m_progressTrace),
                            "ns3::proteus::Fabric::ProgressTracedCallback")
            .AddTraceSource("Receive",
                            "The last byte of a unit has arrived at the end of a link.",
                            MakeTraceSourceAccessor(&Fabric::m_receiveTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback");
    return tid;
}

Fabric::Fabric()
    : m_horizon(CreateObject<EventHorizon>())
{
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
    if (m_stepEvent)
    {
        m_stepEvent->Cancel();
        m_stepEvent = nullptr;
    }
    m_endpoint = nullptr;
    m_horizon = nullptr;
    m_nodes = NodeContainer();
    Object::DoDispose();
}

uint64_t
Fabric::GetBufferBytes(LinkTechnology technology) const
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        return m_nvlinkBuffer;
    case LinkTechnology::PCIE:
    case LinkTechnology::CPU_INTERCONNECT:
        return m_pcieBuffer;
    case LinkTechnology::INFINIBAND:
        return m_infinibandBuffer;
    case LinkTechnology::ROCE:
        return 0;
    }
    return 0;
}

void
Fabric::SetCluster(std::shared_ptr<const Cluster> cluster)
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_cluster, "proteus::Fabric: the cluster is set already");
    m_cluster = cluster;
    m_paths = std::make_unique<Paths>(*m_cluster);
    const auto& vertices = m_cluster->GetVertices();
    m_nodes.Create(static_cast<uint32_t>(vertices.size()));

    const auto& links = m_cluster->GetLinks();
    m_ports.resize(2 * links.size());
    m_outPorts.resize(vertices.size());
    m_routes.resize(vertices.size());
    for (PortId id = 0; id < m_ports.size(); ++id)
    {
        const Link& link = links[id / 2];
        PortState& port = m_ports[id];
        port.from = id % 2 == 0 ? link.a : link.b;
        port.to = id % 2 == 0 ? link.b : link.a;
        port.delayPs = link.delayPs;
        port.framing = link.framing;
        port.psPerByte = static_cast<uint64_t>(
            std::llround(std::ldexp(1e12 / link.bytesPerSecond, FIXED_POINT_BITS)));
        port.fullPayload = link.framing.unitBytes;
        port.fullWire = static_cast<uint32_t>(link.framing.WireBytes(port.fullPayload));
        port.fullTxPs = static_cast<int64_t>(port.fullWire * port.psPerByte >> FIXED_POINT_BITS);
        const uint64_t buffer = GetBufferBytes(link.technology);
        port.credited = buffer > 0;
        // A buffer that no unit fits in could never be used.
        port.bufferBytes = static_cast<int64_t>(std::max<uint64_t>(buffer, port.fullWire));
        port.creditBytes = port.bufferBytes;
        port.statistics.link = id / 2;
        port.statistics.forward = id % 2 == 0;
    }
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        for (const Port& port : m_cluster->GetPorts(vertex))
        {
            m_outPorts[vertex].push_back(2 * port.link + (links[port.link].a == vertex ? 0 : 1));
        }
    }
    m_tree = EventTree(static_cast<uint32_t>(SLOTS_PER_PORT * m_ports.size()));
}

void
Fabric::SetEndpoint(FabricEndpoint* endpoint)
{
    m_endpoint = endpoint;
}

PortId
Fabric::GetPort(VertexId vertex, uint32_t index) const
{
    return m_outPorts[vertex][index];
}

int64_t
Fabric::GetTimePs() const
{
    return m_running ? m_timePs : Simulator::Now().GetPicoSeconds();
}

void
Fabric::Synchronize()
{
    if (!m_running)
    {
        m_timePs = Simulator::Now().GetPicoSeconds();
    }
}

void
Fabric::Arm()
{
    const int64_t next = m_tree.GetTime();
    if (next >= m_armedPs)
    {
        return;
    }
    if (m_stepEvent)
    {
        m_stepEvent->Cancel(); // stands too late in the queue
    }
    m_armedPs = next;
    m_stepEvent = Create<StepEvent>(this);
    Simulator::Schedule(CeilToStep(next) - Simulator::Now(), m_stepEvent);
}

void
Fabric::SetEvent(uint32_t slot, int64_t timePs)
{
    m_tree.Set(slot, timePs);
    if (!m_running)
    {
        Arm();
    }
}

void
Fabric::Step()
{
    m_armedPs = EventTree::NEVER;
    m_stepEvent = nullptr;
    const uint64_t nowStep = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    const int64_t nowPs = Simulator::Now().GetPicoSeconds();
    const int64_t perStep = GetPsPerStep();
    const bool fed = m_horizon->IsFed();
    if (fed && m_horizon->GetNext() <= nowStep)
    {
        Arm(); // behind the simulator events of this time
        return;
    }
    const bool batch = fed && m_transmitTrace.IsEmpty() && m_receiveTrace.IsEmpty();
    m_running = true;
    for (int64_t next = m_tree.GetTime(); next != EventTree::NEVER; next = m_tree.GetTime())
    {
        // The horizon moves when a handler schedules a simulator event.
        const uint64_t horizon = m_horizon->GetNext();
        const bool beyondHorizon =
            fed && horizon != UINT64_MAX && next > (static_cast<int64_t>(horizon) - 1) * perStep;
        if (beyondHorizon || (!batch && next > nowPs))
        {
            break;
        }
        // At a coarser resolution, a simulator event of this time step may have gone before.
        m_timePs = std::max(m_timePs, next);
        const uint32_t slot = m_tree.GetSlot();
        if (++m_events % PROGRESS_EVENTS == 0)
        {
            m_progressTrace(m_events);
        }
        if (slot % SLOTS_PER_PORT == ARRIVAL)
        {
            HandleArrival(slot / SLOTS_PER_PORT);
        }
        else
        {
            Serve(slot / SLOTS_PER_PORT);
        }
    }
    m_running = false;
    Arm();
}

void
Fabric::Offer(PortId id)
{
    Synchronize();
    PortState& port = m_ports[id];
    port.offered = true;
    if (!port.servePending && !port.starved)
    {
        RequestService(id, std::max(port.freeAtPs, m_timePs));
    }
}

void
Fabric::SendControl(VertexId from, PacketRecord record)
{
    Synchronize();
    record.ingress = NO_PORT;
    record.hops = 0;
    record.payloadBytes = 0;
    record.priority = 0;
    Enqueue(Route(from, record), record);
}

void
Fabric::CallAtPresent(VertexId vertex, std::function<void()> callback)
{
    ScheduleFunctionWithContext(m_nodes.Get(vertex)->GetId(),
                                CeilToStep(GetTimePs()) - Simulator::Now(),
                                std::move(callback));
}

PortId
Fabric::Route(VertexId at, const PacketRecord& record)
{
    auto& routes = m_routes[at];
    if (routes.empty())
    {
        routes.assign(m_cluster->GetVertices().size(), UNKNOWN_ROUTE);
    }
    uint32_t& route = routes[record.destination];
    if (route < MANY_ROUTES)
    {
        return route;
    }
    const auto& ports = m_paths->NextPorts(at, record.destination);
    NS_ABORT_MSG_IF(ports.empty(),
                    "proteus::Fabric: no path from "
                        << m_cluster->GetVertices()[at].name << " to "
                        << m_cluster->GetVertices()[record.destination].name);
    if (ports.size() == 1)
    {
        route = m_outPorts[at][ports[0]];
        return route;
    }
    route = MANY_ROUTES;
    const uint64_t hash = MixHash(m_endpoint->GetFlowHash(record.queuePair), at);
    return m_outPorts[at][ports[hash % ports.size()]];
}

void
Fabric::RequestService(PortId id, int64_t timePs)
{
    PortState& port = m_ports[id];
    if (!port.servePending || timePs < port.serveAtPs)
    {
        port.servePending = true;
        port.serveAtPs = timePs;
        SetEvent(SLOTS_PER_PORT * id + SERVICE, timePs);
    }
}

bool
Fabric::TakeCredit(PortId id, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    if (!port.credited)
    {
        return true;
    }
    while (!port.returns.IsEmpty() && port.returns.Front().timePs <= m_timePs)
    {
        port.creditBytes += port.returns.Front().bytes;
        port.returns.Pop();
    }
    if (port.creditBytes >= wireBytes)
    {
        if (port.stalledSincePs >= 0)
        {
            port.statistics.creditStallPs += m_timePs - port.stalledSincePs;
            port.stalledSincePs = -1;
        }
        return true;
    }
    if (port.stalledSincePs < 0)
    {
        port.stalledSincePs = m_timePs;
    }
    int64_t credit = port.creditBytes;
    for (uint32_t i = port.returns.GetHead(); i != port.returns.GetTail(); ++i)
    {
        credit += port.returns.At(i).bytes;
        if (credit >= wireBytes)
        {
            RequestService(id, port.returns.At(i).timePs);
            return false;
        }
    }
    port.starved = true;
    return false;
}

void
Fabric::ReturnCredit(PortId id, uint32_t payload, int64_t timePs)
{
    PortState& port = m_ports[id];
    if (!port.credited)
    {
        return;
    }
    // The credit travels back over the link. Units leave the switch through several ports, so
    // that they may become free out of order; a later one then holds an earlier one up.
    int64_t home = timePs + port.delayPs;
    if (!port.returns.IsEmpty())
    {
        home = std::max(home, port.returns.At(port.returns.GetTail() - 1).timePs);
    }
    port.returns.Push({home, static_cast<int64_t>(GetWireBytes(port, payload))});
    if (port.starved)
    {
        port.starved = false;
        RequestService(id, std::max(home, port.freeAtPs));
    }
}

void
Fabric::Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes)
{
    PortState& port = m_ports[id];
    const int64_t tx = wireBytes == port.fullWire
                           ? port.fullTxPs
                           : static_cast<int64_t>(wireBytes * port.psPerByte >> FIXED_POINT_BITS);
    const int64_t end = m_timePs + tx;
    port.freeAtPs = end;
    LinkStatistics& statistics = port.statistics;
    ++statistics.packets;
    statistics.payloadBytes += record.payloadBytes;
    statistics.wireBytes += wireBytes;
    statistics.busyPs += tx;
    if (port.credited && record.kind == PacketKind::DATA)
    {
        port.creditBytes -= wireBytes;
    }
    m_transmitTrace(id, record, m_timePs);
    if (record.ingress != NO_PORT)
    {
        ReturnCredit(record.ingress, record.payloadBytes, end);
    }
    const bool idle = port.flight.IsEmpty();
    port.flight.Push(record);
    PacketRecord& sent = port.flight.At(port.flight.GetTail() - 1);
    sent.timePs = end + port.delayPs;
    if (idle)
    {
        SetEvent(SLOTS_PER_PORT * id + ARRIVAL, sent.timePs);
    }
}

void
Fabric::Enqueue(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const bool free = m_timePs >= port.freeAtPs;
    if (record.kind != PacketKind::DATA)
    {
        if (free && port.control.IsEmpty())
        {
            Transmit(id, record, port.framing.controlBytes);
        }
        else
        {
            port.control.Push(record);
            RequestService(id, port.freeAtPs);
        }
        return;
    }
    if (free && !port.servePending && !port.starved)
    {
        const uint32_t wireBytes = GetWireBytes(port, record.payloadBytes);
        if (TakeCredit(id, wireBytes))
        {
            Transmit(id, record, wireBytes);
            return;
        }
    }
    port.data.Push(record);
    port.queuedBytes += record.payloadBytes;
    port.statistics.maxQueueBytes = std::max(port.statistics.maxQueueBytes, port.queuedBytes);
    if (!port.servePending && !port.starved)
    {
        RequestService(id, port.freeAtPs);
    }
}

void
Fabric::Serve(PortId id)
{
    PortState& port = m_ports[id];
    port.servePending = false;
    m_tree.Set(SLOTS_PER_PORT * id + SERVICE, EventTree::NEVER);
    if (m_timePs < port.freeAtPs)
    {
        RequestService(id, port.freeAtPs); // a control unit came in between
        return;
    }
    if (!port.control.IsEmpty())
    {
        const PacketRecord record = port.control.Front();
        port.control.Pop();
        Transmit(id, record, port.framing.controlBytes);
    }
    else if (!port.data.IsEmpty())
    {
        const PacketRecord record = port.data.Front();
        const uint32_t wireBytes = GetWireBytes(port, record.payloadBytes);
        if (!TakeCredit(id, wireBytes))
        {
            return;
        }
        port.data.Pop();
        port.queuedBytes -= record.payloadBytes;
        Transmit(id, record, wireBytes);
    }
    else if (port.offered)
    {
        if (!TakeCredit(id, port.fullWire))
        {
            return;
        }
        PacketRecord record;
        if (!m_endpoint->Pull(id, record, port.offered))
        {
            port.offered = false;
            return;
        }
        record.ingress = NO_PORT;
        record.hops = 0;
        Transmit(id, record, GetWireBytes(port, record.payloadBytes));
    }
    if (!port.servePending && !port.starved &&
        (port.offered || !port.data.IsEmpty() || !port.control.IsEmpty()))
    {
        RequestService(id, port.freeAtPs);
    }
}

void
Fabric::HandleArrival(PortId id)
{
    PortState& port = m_ports[id];
    PacketRecord record = port.flight.Front();
    port.flight.Pop();
    m_tree.Set(SLOTS_PER_PORT * id + ARRIVAL,
               port.flight.IsEmpty() ? EventTree::NEVER : port.flight.Front().timePs);
    ++m_packetHops;
    ++record.hops;
    ++port.statistics.receivedPackets;
    port.statistics.receivedPayloadBytes += record.payloadBytes;
    m_receiveTrace(id, record, m_timePs);
    record.ingress = record.kind == PacketKind::DATA ? id : NO_PORT;
    const VertexId at = port.to;
    if (at == record.destination)
    {
        const VertexId next = m_endpoint->Deliver(record, at);
        if (next == Cluster::NO_VERTEX)
        {
            if (record.ingress != NO_PORT)
            {
                ReturnCredit(id, record.payloadBytes, m_timePs);
            }
            return;
        }
        record.destination = next;
    }
    Enqueue(Route(at, record), record);
}

std::vector<LinkStatistics>
Fabric::GetLinkStatistics() const
{
    std::vector<LinkStatistics> statistics;
    statistics.reserve(m_ports.size());
    for (const PortState& port : m_ports)
    {
        statistics.push_back(port.statistics);
    }
    return statistics;
}

std::string
Fabric::CheckAtRest() const
{
    for (PortId id = 0; id < m_ports.size(); ++id)
    {
        const PortState& port = m_ports[id];
        const auto& vertices = m_cluster->GetVertices();
        const std::string name = vertices[port.from].name + " -> " + vertices[port.to].name + ": ";
        const auto waiting = port.data.GetSize() + port.control.GetSize();
        if (waiting > 0 || port.offered)
        {
            return name + std::to_string(waiting) + " packets wait to be sent";
        }
        if (!port.flight.IsEmpty())
        {
            return name + std::to_string(port.flight.GetSize()) + " packets in flight";
        }
        int64_t credit = port.creditBytes;
        for (uint32_t i = port.returns.GetHead(); i != port.returns.GetTail(); ++i)
        {
            credit += port.returns.At(i).bytes;
        }
        if (credit != port.bufferBytes)
        {
            return name + std::to_string(port.bufferBytes - credit) + " bytes of credit missing";
        }
        if (port.statistics.packets != port.statistics.receivedPackets ||
            port.statistics.payloadBytes != port.statistics.receivedPayloadBytes)
        {
            return name + "received other than sent";
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
