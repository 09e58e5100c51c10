/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include "proteus-simulator-time.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/proteus-compat.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabric");
NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// Events between two calls of "Progress".
constexpr uint64_t PROGRESS_EVENTS = 1 << 20;

/// Largest receive buffer that an attribute may ask for.
constexpr uint64_t MAX_BUFFER = uint64_t{1} << 31;

/**
 * @param what names the attribute, for the message
 * @param text numbers, separated by commas
 * @param largest that is allowed
 * @return the numbers
 */
std::vector<uint32_t>
ParseNumbers(const std::string& what, const std::string& text, uint32_t largest)
{
    std::vector<uint32_t> numbers;
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');)
    {
        std::size_t used = 0;
        unsigned long number = 0;
        try
        {
            number = std::stoul(item, &used);
        }
        catch (const std::logic_error&)
        {
            used = 0;
        }
        if (used == 0 || used != item.size() || number > largest || item[0] == '-')
        {
            throw std::invalid_argument("ns3::proteus::Fabric::" + what + ": '" + text +
                                        "' is not a list of numbers from 0 to " +
                                        std::to_string(largest) + " separated by commas");
        }
        numbers.push_back(static_cast<uint32_t>(number));
    }
    return numbers;
}

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
                          "Receive buffer of each NVLink connection, direction and traffic class "
                          "in bytes of the wire; 0 for no flow control. No public source: a "
                          "parameter, large enough by default for full rate, also of multicasts "
                          "of all GPUs at a time over connections of nine links.",
                          UintegerValue(1024 * 1024),
                          MakeUintegerAccessor(&Fabric::m_nvlinkBuffer),
                          MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute("PcieBuffer",
                          "Receive buffer of each PCIe link or link between sockets, direction "
                          "and traffic class in bytes of the wire; 0 for no flow control. No "
                          "public source: a parameter, large enough by default for full rate.",
                          UintegerValue(128 * 1024),
                          MakeUintegerAccessor(&Fabric::m_pcieBuffer),
                          MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute("InfinibandBuffer",
                          "Receive buffer of each InfiniBand link, direction and virtual lane in "
                          "bytes of the wire; 0 for no flow control. No public source: a "
                          "parameter, large enough by default for full rate.",
                          UintegerValue(128 * 1024),
                          MakeUintegerAccessor(&Fabric::m_infinibandBuffer),
                          MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute("InfinibandCutThrough",
                          "Whether InfiniBand switches forward a packet before its end has come.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Fabric::m_infinibandCutThrough),
                          MakeBooleanChecker())
            .AddAttribute("RoceCutThrough",
                          "Whether Ethernet switches forward a packet before its end has come.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Fabric::m_roceCutThrough),
                          MakeBooleanChecker())
            .AddAttribute("InternalCutThrough",
                          "Whether NVSwitches, PCIe switches, CPUs and NICs forward a burst "
                          "before its end has come: when its first packet has.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Fabric::m_internalCutThrough),
                          MakeBooleanChecker())
            .AddAttribute("CutThroughBytes",
                          "Bytes of an InfiniBand or Ethernet packet after which a cut-through "
                          "switch forwards it.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&Fabric::m_cutThroughBytes),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BurstBytes",
                          "Most payload of one unit on NVLink and PCIe; a multiple of the "
                          "payload of one packet (256). 0: as the cluster says, 4096 by default.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Fabric::m_burstBytes),
                          MakeUintegerChecker<uint32_t>(0, 1 << 24))
            .AddAttribute("TrainPackets",
                          "Packets of an InfiniBand or Ethernet link that make one unit. Above 1 "
                          "this is an approximation.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Fabric::m_trainPackets),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("TrafficClasses",
                          "Number of traffic classes (virtual lanes, PFC priorities); 0 is served "
                          "first.",
                          UintegerValue(2),
                          MakeUintegerAccessor(&Fabric::m_nClasses),
                          MakeUintegerChecker<uint32_t>(2, MAX_TRAFFIC_CLASSES))
            .AddAttribute("ClassWeights",
                          "Weights of the traffic classes, separated by commas; 0 for strict "
                          "priority over all that have a weight. Empty: all strict.",
                          StringValue(""),
                          MakeStringAccessor(&Fabric::m_classWeights),
                          MakeStringChecker())
            .AddAttribute("InputQueuedDevices",
                          "Kinds of devices with one queue per input and traffic class, in which "
                          "a unit that waits for its output holds up those behind it, separated "
                          "by commas: nvswitch, pcie-switch, cpu, switch. All others have virtual "
                          "output queues.",
                          StringValue("cpu"),
                          MakeStringAccessor(&Fabric::m_inputQueuedKinds),
                          MakeStringChecker())
            .AddAttribute("Routing",
                          "How one of several ports is chosen: per flow (Ecmp), per packet "
                          "(Spray), by queue depth (Adaptive), per destination "
                          "(ForwardingTable), or per flow and free of deadlock (UpDown).",
                          EnumValue(ECMP),
                          MakeEnumMemberAccessor(&Fabric::m_routing),
                          MakeEnumChecker(ECMP,
                                          "Ecmp",
                                          SPRAY,
                                          "Spray",
                                          ADAPTIVE,
                                          "Adaptive",
                                          FORWARDING_TABLE,
                                          "ForwardingTable",
                                          UP_DOWN,
                                          "UpDown"))
            .AddAttribute("RerouteDelay",
                          "Time from a failure or repair of a link to new routes.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&Fabric::m_rerouteDelay),
                          MakeTimeChecker(NanoSeconds(0)))
            .AddAttribute("Pfc",
                          "Whether Ethernet switches and NICs pause senders before a buffer "
                          "overflows.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Fabric::m_pfc),
                          MakeBooleanChecker())
            .AddAttribute("PfcClasses",
                          "Traffic classes that PFC makes lossless, separated by commas.",
                          StringValue("1,2,3,4,5,6,7"),
                          MakeStringAccessor(&Fabric::m_pfcClasses),
                          MakeStringChecker())
            .AddAttribute("SwitchBuffer",
                          "Buffer of an Ethernet switch in bytes, shared by its ports, where the "
                          "cluster does not give it.",
                          UintegerValue(32 * 1000 * 1000),
                          MakeUintegerAccessor(&Fabric::m_switchBuffer),
                          MakeUintegerChecker<uint64_t>(1, MAX_BUFFER))
            .AddAttribute("NicBuffer",
                          "Receive buffer of an Ethernet NIC in bytes. No public source: a "
                          "parameter.",
                          UintegerValue(4 * 1000 * 1000),
                          MakeUintegerAccessor(&Fabric::m_nicBuffer),
                          MakeUintegerChecker<uint64_t>(1, MAX_BUFFER))
            .AddAttribute("BufferReserve",
                          "Bytes that every port and lossless traffic class has for itself.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&Fabric::m_bufferReserve),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Headroom",
                          "Bytes that every port and lossless traffic class has for what arrives "
                          "after a pause is sent; 0: what fits on the link in two delays, and two "
                          "units and two pauses.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Fabric::m_headroom),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ThresholdShift",
                          "A traffic class of a port may have (free shared buffer >> this) bytes "
                          "of it: of the ingress port before it is paused, of the egress port "
                          "before units are dropped where the class is not lossless.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&Fabric::m_thresholdShift),
                          MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute("ResumeOffset",
                          "Bytes below the threshold at which a paused sender may go on.",
                          UintegerValue(3000),
                          MakeUintegerAccessor(&Fabric::m_resumeOffset),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Ecn",
                          "Whether Ethernet ports of switches and NICs mark packets.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Fabric::m_ecn),
                          MakeBooleanChecker())
            .AddAttribute("InfinibandEcn",
                          "Whether InfiniBand ports of switches and NICs mark packets (FECN).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Fabric::m_infinibandEcn),
                          MakeBooleanChecker())
            .AddAttribute("EcnMinBytes",
                          "Queue from which on packets are marked, at EcnReferenceRate; it grows "
                          "with the rate of the port.",
                          UintegerValue(100 * 1000),
                          MakeUintegerAccessor(&Fabric::m_ecnMinBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("EcnMaxBytes",
                          "Queue from which on every packet is marked, at EcnReferenceRate.",
                          UintegerValue(400 * 1000),
                          MakeUintegerAccessor(&Fabric::m_ecnMaxBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("EcnMaxProbability",
                          "Probability of a mark just below EcnMaxBytes.",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&Fabric::m_ecnMaxProbability),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("EcnReferenceRate",
                          "Rate of the port that EcnMinBytes and EcnMaxBytes are given for.",
                          DataRateValue(DataRate("25Gb/s")),
                          MakeDataRateAccessor(&Fabric::m_ecnReferenceRate),
                          MakeDataRateChecker())
            .AddAttribute("ReferenceMode",
                          "Keeps events in a plain ordered set and gives each arrival and each "
                          "end of a transmission an event of the simulator: slow, with the same "
                          "results; for tests.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Fabric::m_reference),
                          MakeBooleanChecker())
            .AddAttribute("MarkRandom",
                          "The random variable that decides about ECN marks.",
                          StringValue("ns3::UniformRandomVariable"),
                          MakePointerAccessor(&Fabric::m_markRandom),
                          MakePointerChecker<UniformRandomVariable>())
            .AddAttribute("LossRandom",
                          "The random variable that decides which units unreliable links lose.",
                          StringValue("ns3::UniformRandomVariable"),
                          MakePointerAccessor(&Fabric::m_lossRandom),
                          MakePointerChecker<UniformRandomVariable>())
            .AddTraceSource("Progress",
                            "Another 2^20 events of the fabric have been handled.",
                            MakeTraceSourceAccessor(&Fabric::m_progressTrace),
                            "ns3::proteus::Fabric::ProgressTracedCallback")
            .AddTraceSource("LinkState",
                            "A link has failed or been repaired.",
                            MakeTraceSourceAccessor(&Fabric::m_linkTrace),
                            "ns3::proteus::Fabric::LinkTracedCallback")
            .AddTraceSource("Transmit",
                            "A unit starts on a link.",
                            MakeTraceSourceAccessor(&Fabric::m_transmitTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Receive",
                            "The last byte of a unit has arrived at the end of a link or, where "
                            "it is cut through, as much as the next device needs to forward it.",
                            MakeTraceSourceAccessor(&Fabric::m_receiveTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Enqueue",
                            "A unit has to wait for a port.",
                            MakeTraceSourceAccessor(&Fabric::m_enqueueTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Dequeue",
                            "A unit that has waited for a port starts on its link.",
                            MakeTraceSourceAccessor(&Fabric::m_dequeueTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Drop",
                            "A unit is lost on a link, or finds no room or no way on at its end.",
                            MakeTraceSourceAccessor(&Fabric::m_dropTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Mark",
                            "A unit that has to wait for a port gets an ECN mark.",
                            MakeTraceSourceAccessor(&Fabric::m_markTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Pause",
                            "PFC pauses the traffic class of the record on a port.",
                            MakeTraceSourceAccessor(&Fabric::m_pauseTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Resume",
                            "PFC lets the traffic class of the record go on.",
                            MakeTraceSourceAccessor(&Fabric::m_resumeTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("CreditStall",
                            "The next unit of a traffic class finds no room at the other end; the "
                            "record has its traffic class.",
                            MakeTraceSourceAccessor(&Fabric::m_creditStallTrace),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("QueueDepth",
                            "The bytes that wait for a port have changed.",
                            MakeTraceSourceAccessor(&Fabric::m_queueTrace),
                            "ns3::proteus::Fabric::QueueTracedCallback");
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
    m_rerouteEvent.Cancel();
    m_endpoint = nullptr;
    m_observers.clear();
    m_horizon = nullptr;
    m_markRandom = nullptr;
    m_lossRandom = nullptr;
    m_nodes = NodeContainer();
    Object::DoDispose();
}

int64_t
Fabric::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_markRandom->SetStream(stream);
    m_lossRandom->SetStream(stream + 1);
    return 2;
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
        return 0; // PFC
    }
    return 0;
}

LinkFraming
Fabric::GetFraming(LinkId id) const
{
    const Link& link = m_cluster->GetLinks()[id];
    LinkFraming framing = link.framing;
    if (link.technology == LinkTechnology::INFINIBAND || link.technology == LinkTechnology::ROCE)
    {
        framing.unitBytes *= m_trainPackets;
    }
    else if (m_burstBytes > 0)
    {
        framing.unitBytes = m_burstBytes;
    }
    return framing;
}

void
Fabric::SetUpRate(PortState& port, const LinkFraming& framing, double bytesPerSecond)
{
    port.psPerByte =
        static_cast<uint64_t>(std::llround(std::ldexp(1e12 / bytesPerSecond, TIME_FRACTION_BITS)));
    port.fullPayload = framing.unitBytes;
    port.controlWire = framing.controlBytes;
    port.mostWire = 0;
    for (std::size_t i = 0; i < COPY_METHODS; ++i)
    {
        const LinkFraming used = framing.For(static_cast<CopyMethod>(i));
        const auto wireBytes = static_cast<uint32_t>(used.WireBytes(port.fullPayload));
        if (i < 2)
        {
            port.fullWire[i] = wireBytes;
            port.fullReverse[i] = static_cast<uint32_t>(used.ReverseBytes(port.fullPayload));
        }
        port.mostWire = std::max(port.mostWire, wireBytes);
        port.packetPayload[i] = used.packetBytes;
        port.packetHeader[i] = used.packetHeaderBytes;
        port.packetReverse[i] = used.reverseBytes;
    }
    port.unitHeader = framing.unitHeaderBytes;
}

void
Fabric::SetUpPort(PortId id, const Link& link)
{
    PortState& port = m_ports[id];
    const auto& vertices = m_cluster->GetVertices();
    port.from = id % 2 == 0 ? link.a : link.b;
    port.to = id % 2 == 0 ? link.b : link.a;
    port.delayPs = link.delayPs;
    const LinkFraming framing = GetFraming(id / 2);
    SetUpRate(port, framing, link.bytesPerSecond);

    const uint64_t buffer = GetBufferBytes(link.technology);
    port.credited = buffer > 0;
    // A buffer that no unit fits in could never be used.
    port.bufferBytes = std::max<int64_t>(buffer, port.mostWire);
    for (uint32_t c = 0; c < m_nClasses; ++c)
    {
        m_lanes[(id << m_classShift) + c].creditBytes = port.bufferBytes;
    }

    const VertexKind fromKind = vertices[port.from].kind;
    const VertexKind toKind = vertices[port.to].kind;
    const bool ethernet = link.technology == LinkTechnology::ROCE;
    const bool network = ethernet || link.technology == LinkTechnology::INFINIBAND;
    const bool cutThrough = toKind == VertexKind::GPU      ? false
                            : toKind != VertexKind::SWITCH ? m_internalCutThrough
                            : ethernet                     ? m_roceCutThrough
                                                           : m_infinibandCutThrough;
    // What has to be there: the head of a packet, or the first packet of a burst.
    port.cutBytes = !cutThrough ? 0 : network ? m_cutThroughBytes : 1;
    if (cutThrough && !network)
    {
        port.cutBytes = static_cast<uint32_t>(
            framing.WireBytes(std::min(framing.packetBytes, framing.unitBytes)));
    }
    const bool sendsForOthers = fromKind == VertexKind::SWITCH || fromKind == VertexKind::NIC;
    port.telemetric = network && sendsForOthers;
    if (sendsForOthers && (ethernet ? m_ecn : network && m_infinibandEcn))
    {
        const double scale =
            link.bytesPerSecond * 8 / static_cast<double>(m_ecnReferenceRate.GetBitRate());
        port.markBytes = static_cast<uint32_t>(
            std::min(4e9, std::max(1.0, std::round(static_cast<double>(m_ecnMinBytes) * scale))));
        port.markAllBytes = static_cast<uint32_t>(
            std::min(4e9, std::max(1.0, std::round(static_cast<double>(m_ecnMaxBytes) * scale))));
    }
    port.lossProbability = link.lossProbability;
    port.bitErrorRate = link.bitErrorRate;
    port.unreliable = link.lossProbability > 0 || link.bitErrorRate > 0;
    port.statistics.link = id / 2;
    port.statistics.forward = id % 2 == 0;
}

void
Fabric::SetUpDevices()
{
    const auto& vertices = m_cluster->GetVertices();
    std::vector<VertexKind> inputQueued;
    std::istringstream kinds(m_inputQueuedKinds);
    for (std::string kind; std::getline(kinds, kind, ',');)
    {
        inputQueued.push_back(VertexKindFromString(kind));
    }
    std::vector<uint32_t> bufferAt(vertices.size(), 0);
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        const VertexKind kind = vertices[vertex].kind;
        if (kind != VertexKind::SWITCH && kind != VertexKind::NIC)
        {
            continue;
        }
        uint64_t total = vertices[vertex].bufferBytes > 0 ? vertices[vertex].bufferBytes
                         : kind == VertexKind::SWITCH     ? m_switchBuffer
                                                          : m_nicBuffer;
        uint64_t reserved = 0;
        bool ethernet = false;
        for (PortId out : m_outPorts[vertex])
        {
            if (GetLink(out).technology == LinkTechnology::ROCE)
            {
                ethernet = true;
                PortState& in = m_ports[out ^ 1];
                const double bytesPerPs = GetLink(out).bytesPerSecond / 1e12;
                in.headroomBytes = m_headroom > 0
                                       ? m_headroom
                                       : static_cast<uint32_t>(std::ceil(
                                             2 * static_cast<double>(in.delayPs) * bytesPerPs)) +
                                             2 * (in.fullWire[0] + in.controlWire);
                for (uint32_t c = 0; c < m_nClasses; ++c)
                {
                    if (m_pfc && (m_losslessClasses >> c & 1) != 0)
                    {
                        reserved += m_bufferReserve + in.headroomBytes;
                    }
                }
            }
        }
        if (!ethernet)
        {
            continue;
        }
        if (reserved >= total)
        {
            throw std::invalid_argument(
                "the buffer of " + vertices[vertex].name + ", " + std::to_string(total) +
                " bytes, is smaller than the reserve and headroom of its ports and lossless "
                "classes, " +
                std::to_string(reserved) +
                " bytes; raise ns3::proteus::Fabric::SwitchBuffer or NicBuffer, or lower Headroom "
                "or PfcClasses");
        }
        m_buffers.push_back({total - reserved, 0});
        bufferAt[vertex] = static_cast<uint32_t>(m_buffers.size());
    }
    if (!m_buffers.empty())
    {
        m_ingress.resize(m_lanes.size());
    }
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        PortState& port = m_ports[id];
        if (GetLink(id).technology == LinkTechnology::ROCE)
        {
            port.bufferAt = bufferAt[port.to];
        }
        const VertexKind kind = vertices[port.to].kind;
        if (std::find(inputQueued.begin(), inputQueued.end(), kind) != inputQueued.end())
        {
            port.inputQueued = port.credited || port.bufferAt != 0;
            m_inputs.resize(m_lanes.size());
        }
    }

    // What goes through a device that forwards at a limited rate crosses a link inside it.
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        if (vertices[vertex].forwardBytesPerSecond > 0 && vertices[vertex].kind != VertexKind::GPU)
        {
            m_internalPorts.resize(vertices.size(), NO_PORT);
            m_internalPorts[vertex] = static_cast<PortId>(m_ports.size());
            m_ports.emplace_back();
            PortState& port = m_ports.back();
            port.from = vertex;
            port.to = vertex;
            port.internal = true;
            LinkFraming framing;
            framing.controlBytes = 8;
            SetUpRate(port, framing, vertices[vertex].forwardBytesPerSecond);
        }
    }
    m_lanes.resize(m_ports.size() << m_classShift);
}

void
Fabric::SetCluster(std::shared_ptr<const Cluster> cluster)
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_cluster, "proteus::Fabric: the cluster is set already");
    m_cluster = cluster;
    const auto& vertices = m_cluster->GetVertices();
    const auto& links = m_cluster->GetLinks();
    m_nodes.Create(static_cast<uint32_t>(vertices.size()));
    if (m_ecnMaxBytes < m_ecnMinBytes)
    {
        throw std::invalid_argument("ns3::proteus::Fabric::EcnMaxBytes is below EcnMinBytes");
    }
    m_losslessClasses = 0;
    for (uint32_t c : ParseNumbers("PfcClasses", m_pfcClasses, MAX_TRAFFIC_CLASSES - 1))
    {
        m_losslessClasses |= m_pfc ? 1u << c : 0;
    }
    m_weights = ParseNumbers("ClassWeights", m_classWeights, 1 << 16);

    while ((1u << m_classShift) < m_nClasses)
    {
        ++m_classShift;
    }
    m_ports.resize(2 * links.size());
    m_lanes.resize(m_ports.size() << m_classShift);
    m_outPorts.resize(vertices.size());
    for (PortId id = 0; id < m_ports.size(); ++id)
    {
        SetUpPort(id, links[id / 2]);
    }
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        for (const Port& port : m_cluster->GetPorts(vertex))
        {
            m_outPorts[vertex].push_back(2 * port.link + (links[port.link].a == vertex ? 0 : 1));
        }
    }
    SetUpDevices();
    if (!m_weights.empty())
    {
        m_weights.resize(m_nClasses, 1);
        m_served.resize(m_lanes.size(), 0);
        m_virtualNow.resize(m_ports.size(), 0);
    }
    m_timerSlot = static_cast<uint32_t>(SLOTS_PER_PORT * m_ports.size());
    if (m_reference)
    {
        m_plainTimes.assign(m_timerSlot + 1, EventTree::NEVER);
    }
    else
    {
        m_tree = EventTree(m_timerSlot + 1);
    }
    ResetRoutes();
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

void
Fabric::UseTrafficClass(uint32_t trafficClass)
{
    if (trafficClass >= m_nClasses)
    {
        throw std::invalid_argument("traffic class " + std::to_string(trafficClass) +
                                    " of a fabric with " + std::to_string(m_nClasses) +
                                    "; raise ns3::proteus::Fabric::TrafficClasses");
    }
    m_pullClasses |= 1u << trafficClass;
}

uint64_t
Fabric::GetQueueBytes(PortId id) const
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < m_nClasses; ++c)
    {
        bytes += GetQueueBytes(id, c);
    }
    return bytes;
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

int64_t
Fabric::GetNextTime() const
{
    if (m_reference)
    {
        return m_plainEvents.empty() ? EventTree::NEVER : m_plainEvents.begin()->first;
    }
    return m_tree.GetTime();
}

void
Fabric::Arm()
{
    const int64_t next = GetNextTime();
    if (next >= m_armedPs || m_reference)
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
Fabric::SetPlainEvent(uint32_t slot, int64_t timePs)
{
    m_plainEvents.erase({m_plainTimes[slot], slot});
    m_plainTimes[slot] = timePs;
    if (timePs != EventTree::NEVER)
    {
        m_plainEvents.insert({timePs, slot});
        Simulator::Schedule(std::max(CeilToStep(timePs) - Simulator::Now(), Time(0)),
                            &Fabric::Step,
                            this);
    }
}

void
Fabric::SetTimer(int64_t timePs)
{
    Synchronize();
    SetEvent(m_timerSlot, timePs == EventTree::NEVER ? timePs : std::max(timePs, m_timePs));
}

void
Fabric::SetTelemetry(bool on)
{
    m_telemetry = on;
}

uint32_t
Fabric::FindTraced() const
{
    if (!m_observers.empty())
    {
        return UINT32_MAX;
    }
    uint32_t traced = m_queueTrace.IsEmpty() ? 0 : 1u << N_PORT_EVENTS;
    const auto add = [&traced](PortEvent event, const auto& trace) {
        traced |= trace.IsEmpty() ? 0 : 1u << static_cast<uint32_t>(event);
    };
    add(PortEvent::TRANSMIT, m_transmitTrace);
    add(PortEvent::RECEIVE, m_receiveTrace);
    add(PortEvent::ENQUEUE, m_enqueueTrace);
    add(PortEvent::DEQUEUE, m_dequeueTrace);
    add(PortEvent::DROP, m_dropTrace);
    add(PortEvent::MARK, m_markTrace);
    add(PortEvent::PAUSE, m_pauseTrace);
    add(PortEvent::RESUME, m_resumeTrace);
    add(PortEvent::CREDIT_STALL, m_creditStallTrace);
    return traced;
}

void
Fabric::Trace(PortEvent event, PortId id, const PacketRecord& record)
{
    if (id >= GetNPorts())
    {
        return; // inside a device
    }
    if (!m_observers.empty() && m_observers[id] != nullptr)
    {
        m_observers[id]->Observe(event, id, record, m_timePs);
    }
    switch (event)
    {
    case PortEvent::TRANSMIT:
        return m_transmitTrace(id, record, m_timePs);
    case PortEvent::RECEIVE:
        return m_receiveTrace(id, record, m_timePs);
    case PortEvent::ENQUEUE:
        return m_enqueueTrace(id, record, m_timePs);
    case PortEvent::DEQUEUE:
        return m_dequeueTrace(id, record, m_timePs);
    case PortEvent::DROP:
        return m_dropTrace(id, record, m_timePs);
    case PortEvent::MARK:
        return m_markTrace(id, record, m_timePs);
    case PortEvent::PAUSE:
        return m_pauseTrace(id, record, m_timePs);
    case PortEvent::RESUME:
        return m_resumeTrace(id, record, m_timePs);
    case PortEvent::CREDIT_STALL:
        return m_creditStallTrace(id, record, m_timePs);
    }
}

void
Fabric::TraceQueue(PortId id, uint32_t trafficClass)
{
    if (id < GetNPorts())
    {
        m_queueTrace(id, trafficClass, GetQueueBytes(id, trafficClass), m_timePs);
    }
}

void
Fabric::SetObserver(PortId port, PortObserver* observer)
{
    m_observers.resize(GetNPorts(), nullptr);
    m_observers[port] = observer;
    if (std::all_of(m_observers.begin(), m_observers.end(), [](PortObserver* o) { return !o; }))
    {
        m_observers.clear();
    }
}

inline void
Fabric::HandleEvent(uint32_t slot)
{
    if ((++m_events & (PROGRESS_EVENTS - 1)) == 0)
    {
        m_progressTrace(m_events);
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
        SetEvent(slot, EventTree::NEVER);
        m_endpoint->HandleTimer();
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
    m_traced = FindTraced();
    if (m_reference)
    {
        m_running = true;
        while (GetNextTime() <= nowPs)
        {
            m_timePs = std::max(m_timePs, GetNextTime());
            HandleEvent(m_plainEvents.begin()->second);
        }
        m_running = false;
        return;
    }
    const bool fed = m_horizon->IsFed();
    if (fed && m_horizon->GetNext() <= nowStep)
    {
        Arm(); // behind the simulator events of this time
        return;
    }
    const bool batch = fed && m_traced == 0;
    m_running = true;
    uint64_t horizon = UINT64_MAX;
    int64_t lastPs = batch ? EventTree::NEVER - 1 : nowPs;
    for (int64_t next = m_tree.GetTime(); next <= lastPs; next = m_tree.GetTime())
    {
        if (fed && m_horizon->GetNext() != horizon)
        {
            // A handler has scheduled a simulator event.
            horizon = m_horizon->GetNext();
            lastPs = std::min(lastPs, (static_cast<int64_t>(horizon) - 1) * perStep);
            if (next > lastPs)
            {
                break;
            }
        }
        // At a coarser resolution, a simulator event of this time step may have gone before.
        m_timePs = std::max(m_timePs, next);
        HandleEvent(m_tree.GetSlot());
    }
    m_running = false;
    Arm();
}

void
Fabric::CallAtPresent(VertexId vertex, std::function<void()> callback)
{
    ScheduleFunctionWithContext(m_nodes.Get(vertex)->GetId(),
                                CeilToStep(GetTimePs()) - Simulator::Now(),
                                std::move(callback));
}

std::vector<LinkStatistics>
Fabric::GetLinkStatistics() const
{
    std::vector<LinkStatistics> statistics;
    statistics.reserve(GetNPorts());
    for (PortId id = 0; id < GetNPorts(); ++id)
    {
        statistics.push_back(m_ports[id].statistics);
    }
    return statistics;
}

} // namespace proteus
} // namespace ns3
