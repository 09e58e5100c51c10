/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/pointer.h"
#include "ns3/proteus-compat.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <type_traits>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * The attributes and trace sources of a fabric.
 */

namespace ns3
{
namespace proteus
{

NS_OBJECT_ENSURE_REGISTERED(Fabric);

namespace
{

/// Largest receive buffer that an attribute may ask for.
constexpr uint64_t MAX_BUFFER = uint64_t{1} << 31;

} // namespace

template <typename FIND>
class Fabric::SourceAccessor : public TraceSourceAccessor
{
  public:
    explicit SourceAccessor(FIND find)
        : m_find(find)
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return Do(object, [&](auto& source) { source.ConnectWithoutContext(sink); });
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& sink) const override
    {
        return Do(object, [&](auto& source) { source.Connect(sink, context); });
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return Do(object, [&](auto& source) { source.DisconnectWithoutContext(sink); });
    }

    bool Disconnect(ObjectBase* object,
                    std::string context,
                    const CallbackBase& sink) const override
    {
        return Do(object, [&](auto& source) { source.Disconnect(sink, context); });
    }

  private:
    /// @param object a fabric @param change what to do @return whether it is a fabric
    template <typename CHANGE>
    bool Do(ObjectBase* object, CHANGE change) const
    {
        auto fabric = dynamic_cast<Fabric*>(object);
        if (fabric == nullptr)
        {
            return false;
        }
        change(*m_find(*fabric));
        return true;
    }

    FIND m_find; //!< which trace source
};

template <typename FIND>
Ptr<const TraceSourceAccessor>
Fabric::MakeSourceAccessor(FIND find)
{
    return Ptr<const TraceSourceAccessor>(new SourceAccessor<FIND>(find), false);
}

Ptr<const TraceSourceAccessor>
Fabric::MakePortSourceAccessor(PortEvent event)
{
    return MakeSourceAccessor([event](Fabric& fabric) {
        return &fabric.m_tracer.sources[static_cast<std::size_t>(event)];
    });
}

template <auto GROUP, auto MEMBER, typename T>
void
Fabric::SetSetting(T value)
{
    m_settings.*GROUP.*MEMBER = value;
}

template <auto GROUP, auto MEMBER, typename T>
T
Fabric::GetSetting() const
{
    return m_settings.*GROUP.*MEMBER;
}

template <auto GROUP, auto MEMBER>
Ptr<const AttributeAccessor>
Fabric::MakeSettingAccessor()
{
    using T = std::decay_t<decltype(std::declval<FabricSettings&>().*GROUP.*MEMBER)>;
    const auto set = &Fabric::SetSetting<GROUP, MEMBER, T>;
    const auto get = &Fabric::GetSetting<GROUP, MEMBER, T>;
    if constexpr (std::is_same_v<T, bool>)
    {
        return MakeBooleanAccessor(set, get);
    }
    else if constexpr (std::is_enum_v<T>)
    {
        return MakeEnumMemberAccessor<T>(set, get);
    }
    else if constexpr (std::is_integral_v<T>)
    {
        return MakeUintegerAccessor(set, get);
    }
    else if constexpr (std::is_floating_point_v<T>)
    {
        return MakeDoubleAccessor(set, get);
    }
    else if constexpr (std::is_same_v<T, std::string>)
    {
        return MakeStringAccessor(set, get);
    }
    else if constexpr (std::is_same_v<T, Time>)
    {
        return MakeTimeAccessor(set, get);
    }
    else if constexpr (std::is_same_v<T, DataRate>)
    {
        return MakeDataRateAccessor(set, get);
    }
    else
    {
        return MakePointerAccessor(set, get);
    }
}

TypeId
Fabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::Fabric")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<Fabric>()
            .AddAttribute(
                "NvlinkBuffer",
                "Receive buffer of each NVLink connection, direction and traffic class "
                "in bytes of the wire; 0 for no flow control. No public source: a "
                "parameter, large enough by default for full rate, also of multicasts "
                "of all GPUs at a time over connections of nine links.",
                UintegerValue(1024 * 1024),
                MakeSettingAccessor<&FabricSettings::credits, &CreditSettings::nvlinkBytes>(),
                MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "PcieBuffer",
                "Receive buffer of each PCIe link or link between sockets, direction "
                "and traffic class in bytes of the wire; 0 for no flow control. A NIC "
                "may have more, see NicReadTime. No public source: a parameter, large "
                "enough by default for full rate.",
                UintegerValue(128 * 1024),
                MakeSettingAccessor<&FabricSettings::credits, &CreditSettings::pcieBytes>(),
                MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "InfinibandBuffer",
                "Receive buffer of each InfiniBand link, direction and virtual lane in "
                "bytes of the wire; 0 for no flow control. No public source: a "
                "parameter, large enough by default for full rate.",
                UintegerValue(128 * 1024),
                MakeSettingAccessor<&FabricSettings::credits, &CreditSettings::infinibandBytes>(),
                MakeUintegerChecker<uint64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "NicReadTime",
                "A NIC that reads memory asks for no more than it has room for: in each "
                "traffic class what its PCIe link brings in this time, and at least "
                "PcieBuffer. It keeps the link busy if that is the way of a request and of "
                "what is asked for, and what waits for the network. No public source.",
                TimeValue(MicroSeconds(12)),
                MakeSettingAccessor<&FabricSettings::credits, &CreditSettings::nicReadTime>(),
                MakeTimeChecker(NanoSeconds(0), MilliSeconds(10)))
            .AddAttribute("InfinibandCutThrough",
                          "Whether InfiniBand switches forward a packet before its end has come.",
                          BooleanValue(true),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::infinibandCutThrough>(),
                          MakeBooleanChecker())
            .AddAttribute("RoceCutThrough",
                          "Whether Ethernet switches forward a packet before its end has come.",
                          BooleanValue(false),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::roceCutThrough>(),
                          MakeBooleanChecker())
            .AddAttribute("InternalCutThrough",
                          "Whether NVSwitches, PCIe switches, CPUs and NICs forward a burst "
                          "before its end has come: when its first packet has.",
                          BooleanValue(true),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::internalCutThrough>(),
                          MakeBooleanChecker())
            .AddAttribute("CutThroughBytes",
                          "Bytes of an InfiniBand or Ethernet packet after which a cut-through "
                          "switch forwards it.",
                          UintegerValue(64),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::cutThroughBytes>(),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "BurstBytes",
                "Most payload of one unit on NVLink and PCIe; a multiple of the "
                "payload of one packet (256). 0: as the cluster says, 4096 by default.",
                UintegerValue(0),
                MakeSettingAccessor<&FabricSettings::forwarding, &ForwardingSettings::burstBytes>(),
                MakeUintegerChecker<uint32_t>(0, 1 << 24))
            .AddAttribute("TrainPackets",
                          "Packets of an InfiniBand or Ethernet link that make one unit. Above 1 "
                          "this is an approximation.",
                          UintegerValue(1),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::trainPackets>(),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("TelemetryBytes",
                          "Bytes that in-band telemetry adds to every packet of an InfiniBand or "
                          "Ethernet link, where a congestion control asks for it. The default is "
                          "the room for five hops that HPCC takes: 2 and 8 for each.",
                          UintegerValue(42),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::telemetryBytes>(),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute("TrafficClasses",
                          "Number of traffic classes (virtual lanes, PFC priorities); 0 is served "
                          "first.",
                          UintegerValue(2),
                          MakeSettingAccessor<&FabricSettings::classes, &ClassSettings::nClasses>(),
                          MakeUintegerChecker<uint32_t>(2, MAX_TRAFFIC_CLASSES))
            .AddAttribute("ClassWeights",
                          "Weights of the traffic classes, separated by commas; 0 for strict "
                          "priority over all that have a weight. Empty: all strict.",
                          StringValue(""),
                          MakeSettingAccessor<&FabricSettings::classes, &ClassSettings::weights>(),
                          MakeStringChecker())
            .AddAttribute("InputQueuedDevices",
                          "Kinds of devices with one queue per input and traffic class, in which "
                          "a unit that waits for its output holds up those behind it, separated "
                          "by commas: nvswitch, pcie-switch, cpu, switch. All others have virtual "
                          "output queues.",
                          StringValue("cpu"),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::inputQueuedKinds>(),
                          MakeStringChecker())
            .AddAttribute(
                "Routing",
                "How one of several ports is chosen: per flow (Ecmp), per packet "
                "(Spray), by queue depth (Adaptive), per destination "
                "(ForwardingTable), or per flow and free of deadlock (UpDown).",
                EnumValue(RoutingMode::ECMP),
                MakeSettingAccessor<&FabricSettings::forwarding, &ForwardingSettings::routing>(),
                MakeEnumChecker(RoutingMode::ECMP,
                                "Ecmp",
                                RoutingMode::SPRAY,
                                "Spray",
                                RoutingMode::ADAPTIVE,
                                "Adaptive",
                                RoutingMode::FORWARDING_TABLE,
                                "ForwardingTable",
                                RoutingMode::UP_DOWN,
                                "UpDown"))
            .AddAttribute("RerouteDelay",
                          "Time from a failure or repair of a link to new routes.",
                          TimeValue(MicroSeconds(100)),
                          MakeSettingAccessor<&FabricSettings::forwarding,
                                              &ForwardingSettings::rerouteDelay>(),
                          MakeTimeChecker(NanoSeconds(0)))
            .AddAttribute("Pfc",
                          "Whether Ethernet switches and NICs pause senders before a buffer "
                          "overflows.",
                          BooleanValue(true),
                          MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::pfc>(),
                          MakeBooleanChecker())
            .AddAttribute(
                "PfcClasses",
                "Traffic classes that PFC makes lossless, separated by commas.",
                StringValue("1,2,3,4,5,6,7"),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::pfcClasses>(),
                MakeStringChecker())
            .AddAttribute(
                "SwitchBuffer",
                "Buffer of an Ethernet switch in bytes, shared by its ports, where the "
                "cluster does not give it.",
                UintegerValue(32 * 1000 * 1000),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::switchBytes>(),
                MakeUintegerChecker<uint64_t>(1, MAX_BUFFER))
            .AddAttribute(
                "NicBuffer",
                "Receive buffer of an Ethernet NIC in bytes. No public source: a "
                "parameter.",
                UintegerValue(4 * 1000 * 1000),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::nicBytes>(),
                MakeUintegerChecker<uint64_t>(1, MAX_BUFFER))
            .AddAttribute(
                "BufferReserve",
                "Bytes that every port and lossless traffic class has for itself.",
                UintegerValue(4096),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::reserveBytes>(),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Headroom",
                "Bytes that every port and lossless traffic class has for what arrives "
                "after a pause is due; 0: what it takes so that nothing is dropped "
                "(IEEE 802.1Qbb, annex O): the link both ways, PauseReaction, the unit "
                "that calls for the pause, one unit under way in either direction, and "
                "the pause. Less than that is refused.",
                UintegerValue(0),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::headroomBytes>(),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "PauseReaction",
                "Time from the arrival of a pause, or of its end, until the sender "
                "heeds it. IEEE 802.3 (annex 31B) allows up to 394 quanta of 512 "
                "bits at 100 Gb/s, 2.02 us.",
                TimeValue(NanoSeconds(0)),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::pauseReaction>(),
                MakeTimeChecker(NanoSeconds(0)))
            .AddAttribute(
                "ThresholdShift",
                "A traffic class of a port may have (free shared buffer >> this) bytes "
                "of it: of the ingress port before it is paused, of the egress port "
                "before units are dropped where the class is not lossless.",
                UintegerValue(3),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::thresholdShift>(),
                MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute(
                "ResumeOffset",
                "Bytes below the threshold at which a paused sender may go on.",
                UintegerValue(3000),
                MakeSettingAccessor<&FabricSettings::buffers, &BufferSettings::resumeOffset>(),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("Ecn",
                          "Whether Ethernet ports of switches mark packets; NICs mark none.",
                          BooleanValue(true),
                          MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::ethernet>(),
                          MakeBooleanChecker())
            .AddAttribute(
                "InfinibandEcn",
                "Whether InfiniBand ports of switches mark packets (FECN); NICs mark none.",
                BooleanValue(false),
                MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::infiniband>(),
                MakeBooleanChecker())
            .AddAttribute("EcnMinBytes",
                          "Queue from which on packets are marked, at EcnReferenceRate; it grows "
                          "with the rate of the port.",
                          UintegerValue(100 * 1000),
                          MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::minBytes>(),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("EcnMaxBytes",
                          "Queue from which on every packet is marked, at EcnReferenceRate.",
                          UintegerValue(400 * 1000),
                          MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::maxBytes>(),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute(
                "EcnMaxProbability",
                "Probability of a mark just below EcnMaxBytes.",
                DoubleValue(0.2),
                MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::maxProbability>(),
                MakeDoubleChecker<double>(0, 1))
            .AddAttribute(
                "EcnReferenceRate",
                "Rate of the port that EcnMinBytes and EcnMaxBytes are given for.",
                DataRateValue(DataRate("25Gb/s")),
                MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::referenceRate>(),
                MakeDataRateChecker())
            .AddAttribute("EcnAtDequeue",
                          "Whether a packet is marked when it leaves the queue, by what waits "
                          "behind it, as in the simulator of HPCC's authors; false: when it comes, "
                          "by what waits with it, as DCQCN's paper has it.",
                          BooleanValue(false),
                          MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::atDequeue>(),
                          MakeBooleanChecker())
            .AddAttribute(
                "ReferenceMode",
                "Keeps events in a plain ordered set and gives each arrival and each "
                "end of a transmission an event of the simulator: slow, with the same "
                "results; for tests.",
                BooleanValue(false),
                MakeSettingAccessor<&FabricSettings::forwarding, &ForwardingSettings::reference>(),
                MakeBooleanChecker())
            .AddAttribute("MarkRandom",
                          "The random variable that decides about ECN marks.",
                          StringValue("ns3::UniformRandomVariable"),
                          MakeSettingAccessor<&FabricSettings::marks, &MarkSettings::random>(),
                          MakePointerChecker<UniformRandomVariable>())
            .AddAttribute(
                "LossRandom",
                "The random variable that decides which units unreliable links lose.",
                StringValue("ns3::UniformRandomVariable"),
                MakeSettingAccessor<&FabricSettings::forwarding, &ForwardingSettings::lossRandom>(),
                MakePointerChecker<UniformRandomVariable>())
            .AddTraceSource("Progress",
                            "Another 2^18 events of the fabric have been handled.",
                            MakeTraceSourceAccessor(&Fabric::m_progressTrace),
                            "ns3::proteus::Fabric::ProgressTracedCallback")
            .AddTraceSource("LinkState",
                            "A link has failed or been repaired.",
                            MakeTraceSourceAccessor(&Fabric::m_linkTrace),
                            "ns3::proteus::Fabric::LinkTracedCallback")
            .AddTraceSource("Transmit",
                            "A unit starts on a link.",
                            MakePortSourceAccessor(PortEvent::TRANSMIT),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Receive",
                            "The last byte of a unit has arrived at the end of a link or, where "
                            "it is cut through, as much as the next device needs to forward it.",
                            MakePortSourceAccessor(PortEvent::RECEIVE),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Enqueue",
                            "A unit has to wait for a port.",
                            MakePortSourceAccessor(PortEvent::ENQUEUE),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Dequeue",
                            "A unit that has waited for a port starts on its link.",
                            MakePortSourceAccessor(PortEvent::DEQUEUE),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Drop",
                            "A unit is lost on a link, or finds no room or no way on at its end.",
                            MakePortSourceAccessor(PortEvent::DROP),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Mark",
                            "A unit that has to wait for a port gets an ECN mark.",
                            MakePortSourceAccessor(PortEvent::MARK),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Pause",
                            "PFC pauses the traffic class of the record on a port.",
                            MakePortSourceAccessor(PortEvent::PAUSE),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("Resume",
                            "PFC lets the traffic class of the record go on.",
                            MakePortSourceAccessor(PortEvent::RESUME),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource("CreditStall",
                            "The next unit of a traffic class finds no room at the other end; the "
                            "record has its traffic class.",
                            MakePortSourceAccessor(PortEvent::CREDIT_STALL),
                            "ns3::proteus::Fabric::PacketTracedCallback")
            .AddTraceSource(
                "QueueDepth",
                "The bytes that wait for a port have changed.",
                MakeSourceAccessor([](Fabric& fabric) { return &fabric.m_tracer.queueSource; }),
                "ns3::proteus::Fabric::QueueTracedCallback");
    return tid;
}

} // namespace proteus
} // namespace ns3
