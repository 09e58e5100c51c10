/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-device.h"

#include "proteus-frame.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabricDevice");
NS_OBJECT_ENSURE_REGISTERED(FabricDevice);

template <typename SOURCE>
class FabricDevice::WatchingAccessor : public TraceSourceAccessor
{
  public:
    explicit WatchingAccessor(SOURCE FabricDevice::*source)
        : m_source(source)
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return Do(object, [&](SOURCE& source) { source.ConnectWithoutContext(sink); });
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& sink) const override
    {
        return Do(object, [&](SOURCE& source) { source.Connect(sink, context); });
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return Do(object, [&](SOURCE& source) { source.DisconnectWithoutContext(sink); });
    }

    bool Disconnect(ObjectBase* object,
                    std::string context,
                    const CallbackBase& sink) const override
    {
        return Do(object, [&](SOURCE& source) { source.Disconnect(sink, context); });
    }

  private:
    /// @param object a device @param change what to do @return whether it is a device
    template <typename F>
    bool Do(ObjectBase* object, F change) const
    {
        auto device = dynamic_cast<FabricDevice*>(object);
        if (device == nullptr)
        {
            return false;
        }
        change(device->*m_source);
        if (device->m_channel)
        {
            device->m_channel->UpdateObservation();
        }
        return true;
    }

    SOURCE FabricDevice::*m_source; //!< which trace source
};

template <typename SOURCE>
Ptr<const TraceSourceAccessor>
FabricDevice::MakeWatchingAccessor(SOURCE FabricDevice::*source)
{
    return Ptr<const TraceSourceAccessor>(new WatchingAccessor<SOURCE>(source), false);
}

TypeId
FabricDevice::GetTypeId()
{
    const std::string packet = "ns3::proteus::Fabric::PacketTracedCallback";
    static TypeId tid =
        TypeId("ns3::proteus::FabricDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Proteus")
            .AddConstructor<FabricDevice>()
            .AddAttribute(
                "DataRate",
                "Rate of either direction of the link. Setting it changes both, for "
                "units that start from then on.",
                TypeId::ATTR_GET | TypeId::ATTR_SET,
                DataRateValue(DataRate(0)),
                MakeDataRateAccessor(&FabricDevice::SetDataRate, &FabricDevice::GetDataRate),
                MakeDataRateChecker())
            .AddAttribute("Delay",
                          "Time to the other end of the link, the receiver's forwarding latency "
                          "included; the cluster says it.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricDevice::GetDelay),
                          MakeTimeChecker())
            .AddAttribute("Mtu",
                          "Most payload of one unit in bytes, 65535 for more; the cluster says it.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("LossProbability",
                          "Probability that the link loses a unit, in either direction.",
                          TypeId::ATTR_GET | TypeId::ATTR_SET,
                          DoubleValue(0),
                          MakeDoubleAccessor(&FabricDevice::SetLossProbability,
                                             &FabricDevice::GetLossProbability),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute(
                "BitErrorRate",
                "Probability that a bit is wrong, which loses its unit, in either "
                "direction.",
                TypeId::ATTR_GET | TypeId::ATTR_SET,
                DoubleValue(0),
                MakeDoubleAccessor(&FabricDevice::SetBitErrorRate, &FabricDevice::GetBitErrorRate),
                MakeDoubleChecker<double>(0, 1))
            .AddTraceSource("Enqueue",
                            "A unit has to wait for the port.",
                            MakeWatchingAccessor(&FabricDevice::m_enqueueTrace),
                            packet)
            .AddTraceSource("Dequeue",
                            "A unit has waited for the port and now starts.",
                            MakeWatchingAccessor(&FabricDevice::m_dequeueTrace),
                            packet)
            .AddTraceSource("Drop",
                            "A unit from the peer is lost on the link, or finds no room or no way "
                            "on here.",
                            MakeWatchingAccessor(&FabricDevice::m_dropTrace),
                            packet)
            .AddTraceSource("Mark",
                            "A unit that is about to wait for the port gets an ECN mark.",
                            MakeWatchingAccessor(&FabricDevice::m_markTrace),
                            packet)
            .AddTraceSource("Pause",
                            "The peer has paused a traffic class of the port by PFC.",
                            MakeWatchingAccessor(&FabricDevice::m_pauseTrace),
                            packet)
            .AddTraceSource("Resume",
                            "A traffic class of the port goes on.",
                            MakeWatchingAccessor(&FabricDevice::m_resumeTrace),
                            packet)
            .AddTraceSource("CreditStall",
                            "The unit at the head of the queue has no credit.",
                            MakeWatchingAccessor(&FabricDevice::m_creditStallTrace),
                            packet)
            .AddTraceSource("Transmit",
                            "A unit starts on the link.",
                            MakeWatchingAccessor(&FabricDevice::m_transmitTrace),
                            packet)
            .AddTraceSource("Receive",
                            "The last byte of a unit from the peer has arrived, or, cut through, "
                            "its head.",
                            MakeWatchingAccessor(&FabricDevice::m_receiveTrace),
                            packet)
            .AddTraceSource("QueueDepth",
                            "The number of wire bytes that wait for the port has changed.",
                            MakeWatchingAccessor(&FabricDevice::m_queueTrace),
                            "ns3::proteus::Fabric::QueueTracedCallback");
    return tid;
}

FabricDevice::FabricDevice()
{
    NS_LOG_FUNCTION(this);
}

FabricDevice::~FabricDevice()
{
    NS_LOG_FUNCTION(this);
}

void
FabricDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    // Sinks may hold what holds the device.
    for (PacketTrace* trace : {&m_enqueueTrace,
                               &m_dequeueTrace,
                               &m_dropTrace,
                               &m_markTrace,
                               &m_pauseTrace,
                               &m_resumeTrace,
                               &m_creditStallTrace,
                               &m_transmitTrace,
                               &m_receiveTrace})
    {
        *trace = PacketTrace();
    }
    m_queueTrace = {};
    if (Ptr<Fabric> fabric = GetFabric(); fabric && !m_linkChange.IsEmpty())
    {
        fabric->TraceDisconnectWithoutContext("LinkState",
                                              MakeCallback(&FabricDevice::HandleLinkState, this));
    }
    m_linkChange = {};
    m_node = nullptr;
    m_channel = nullptr;
    NetDevice::DoDispose();
}

void
FabricDevice::Attach(Ptr<FabricChannel> channel, PortId port)
{
    NS_LOG_FUNCTION(this << channel << port);
    m_channel = channel;
    m_port = port;
}

Ptr<Fabric>
FabricDevice::GetFabric() const
{
    return m_channel ? m_channel->GetFabric() : nullptr;
}

DataRate
FabricDevice::GetDataRate() const
{
    return m_channel ? m_channel->GetDataRate() : DataRate(0);
}

bool
FabricDevice::SetDataRate(DataRate rate)
{
    NS_LOG_FUNCTION(this << rate);
    Ptr<Fabric> fabric = GetFabric();
    if (!fabric || rate.GetBitRate() == 0)
    {
        return false;
    }
    fabric->SetLinkRate(m_port / 2, static_cast<double>(rate.GetBitRate()) / 8);
    return true;
}

Time
FabricDevice::GetDelay() const
{
    return m_channel ? m_channel->GetDelay() : Time(0);
}

double
FabricDevice::GetLossProbability() const
{
    Ptr<Fabric> fabric = GetFabric();
    return fabric ? fabric->GetLossProbability(m_port / 2) : 0;
}

bool
FabricDevice::SetLossProbability(double probability)
{
    NS_LOG_FUNCTION(this << probability);
    Ptr<Fabric> fabric = GetFabric();
    if (!fabric)
    {
        return false;
    }
    fabric->SetLinkLoss(m_port / 2, probability, fabric->GetBitErrorRate(m_port / 2));
    return true;
}

double
FabricDevice::GetBitErrorRate() const
{
    Ptr<Fabric> fabric = GetFabric();
    return fabric ? fabric->GetBitErrorRate(m_port / 2) : 0;
}

bool
FabricDevice::SetBitErrorRate(double probability)
{
    NS_LOG_FUNCTION(this << probability);
    Ptr<Fabric> fabric = GetFabric();
    if (!fabric)
    {
        return false;
    }
    fabric->SetLinkLoss(m_port / 2, fabric->GetLossProbability(m_port / 2), probability);
    return true;
}

bool
FabricDevice::WatchesSending() const
{
    return !(m_enqueueTrace.IsEmpty() && m_dequeueTrace.IsEmpty() && m_markTrace.IsEmpty() &&
             m_pauseTrace.IsEmpty() && m_resumeTrace.IsEmpty() && m_creditStallTrace.IsEmpty() &&
             m_transmitTrace.IsEmpty() && m_queueTrace.IsEmpty());
}

bool
FabricDevice::WatchesReceiving() const
{
    return !(m_receiveTrace.IsEmpty() && m_dropTrace.IsEmpty());
}

void
FabricDevice::Trace(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs)
{
    switch (event)
    {
    case PortEvent::TRANSMIT:
        m_transmitTrace(port, record, timePs);
        break;
    case PortEvent::RECEIVE:
        m_receiveTrace(port, record, timePs);
        break;
    case PortEvent::ENQUEUE:
    case PortEvent::DEQUEUE:
        (event == PortEvent::ENQUEUE ? m_enqueueTrace : m_dequeueTrace)(port, record, timePs);
        if (!m_queueTrace.IsEmpty())
        {
            m_queueTrace(port,
                         record.trafficClass,
                         GetFabric()->GetQueueBytes(port, record.trafficClass),
                         timePs);
        }
        break;
    case PortEvent::DROP:
        m_dropTrace(port, record, timePs);
        break;
    case PortEvent::MARK:
        m_markTrace(port, record, timePs);
        break;
    case PortEvent::PAUSE:
        m_pauseTrace(port, record, timePs);
        break;
    case PortEvent::RESUME:
        m_resumeTrace(port, record, timePs);
        break;
    case PortEvent::CREDIT_STALL:
        m_creditStallTrace(port, record, timePs);
        break;
    }
}

void
FabricDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
FabricDevice::GetChannel() const
{
    return m_channel;
}

void
FabricDevice::SetAddress(Address /* address */)
{
    NS_LOG_WARN("the address of a FabricDevice follows from its port");
}

Address
FabricDevice::GetAddress() const
{
    return GetMacAddress(m_port);
}

bool
FabricDevice::SetMtu(const uint16_t mtu)
{
    return mtu == GetMtu();
}

uint16_t
FabricDevice::GetMtu() const
{
    Ptr<Fabric> fabric = GetFabric();
    return fabric ? static_cast<uint16_t>(
                        std::min<uint32_t>(fabric->GetFraming(m_port / 2).unitBytes, UINT16_MAX))
                  : 0;
}

bool
FabricDevice::IsLinkUp() const
{
    Ptr<Fabric> fabric = GetFabric();
    return fabric && fabric->IsLinkUp(m_port / 2);
}

void
FabricDevice::AddLinkChangeCallback(Callback<void> callback)
{
    Ptr<Fabric> fabric = GetFabric();
    if (fabric && m_linkChange.IsEmpty())
    {
        fabric->TraceConnectWithoutContext("LinkState",
                                           MakeCallback(&FabricDevice::HandleLinkState, this));
    }
    m_linkChange.ConnectWithoutContext(callback);
}

void
FabricDevice::HandleLinkState(LinkId link, bool /* up */)
{
    if (link == m_port / 2)
    {
        m_linkChange();
    }
}

bool
FabricDevice::IsBroadcast() const
{
    return false;
}

Address
FabricDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricDevice::IsMulticast() const
{
    return false;
}

Address
FabricDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
FabricDevice::IsBridge() const
{
    return false;
}

bool
FabricDevice::IsPointToPoint() const
{
    return true;
}

bool
FabricDevice::Send(Ptr<Packet> packet, const Address& /* dest */, uint16_t /* protocolNumber */)
{
    NS_LOG_WARN("a fabric carries the messages of queue pairs only, not " << packet
                                                                          << ": use Transport");
    return false;
}

bool
FabricDevice::SendFrom(Ptr<Packet> packet,
                       const Address& /* source */,
                       const Address& dest,
                       uint16_t protocolNumber)
{
    return Send(packet, dest, protocolNumber);
}

Ptr<Node>
FabricDevice::GetNode() const
{
    return m_node;
}

void
FabricDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricDevice::NeedsArp() const
{
    return false;
}

void
FabricDevice::SetReceiveCallback(ReceiveCallback /* cb */)
{
    // Nothing is ever received for a Node: not kept.
}

void
FabricDevice::SetPromiscReceiveCallback(PromiscReceiveCallback /* cb */)
{
    // As SetReceiveCallback().
}

bool
FabricDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace proteus
} // namespace ns3
