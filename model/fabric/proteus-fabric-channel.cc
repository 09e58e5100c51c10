/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-channel.h"

#include "proteus-fabric-device.h"

#include "ns3/log.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabricChannel");
NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::FabricChannel")
            .SetParent<Channel>()
            .SetGroupName("Proteus")
            .AddConstructor<FabricChannel>()
            .AddAttribute("Delay",
                          "Time from one end to the other, the receiver's forwarding latency "
                          "included; the cluster says it.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricChannel::GetDelay),
                          MakeTimeChecker())
            .AddAttribute("DataRate",
                          "Present rate of either direction; Fabric::SetLinkRate() or the "
                          "attribute of a device changes it.",
                          TypeId::ATTR_GET,
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&FabricChannel::GetDataRate),
                          MakeDataRateChecker());
    return tid;
}

FabricChannel::FabricChannel()
{
    NS_LOG_FUNCTION(this);
}

FabricChannel::~FabricChannel()
{
    NS_LOG_FUNCTION(this);
}

void
FabricChannel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    // The fabric may be disposed of already; nobody runs it any more.
    m_devices[0] = nullptr;
    m_devices[1] = nullptr;
    m_fabric = nullptr;
    Channel::DoDispose();
}

void
FabricChannel::SetLink(Ptr<Fabric> fabric, LinkId link)
{
    NS_LOG_FUNCTION(this << fabric << link);
    m_fabric = fabric;
    m_link = link;
}

void
FabricChannel::Attach(Ptr<FabricDevice> device, PortId port)
{
    NS_LOG_FUNCTION(this << device << port);
    m_devices[port % 2] = device;
    device->Attach(this, port);
}

Time
FabricChannel::GetDelay() const
{
    return m_fabric ? PicoSeconds(m_fabric->GetLink(2 * m_link).delayPs) : Time(0);
}

DataRate
FabricChannel::GetDataRate() const
{
    return m_fabric
               ? DataRate(static_cast<uint64_t>(std::llround(8 * m_fabric->GetLinkRate(m_link))))
               : DataRate(0);
}

std::size_t
FabricChannel::GetNDevices() const
{
    return m_devices[0] && m_devices[1] ? 2 : 0;
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices[i];
}

void
FabricChannel::UpdateObservation()
{
    if (!m_fabric || GetNDevices() != 2)
    {
        return;
    }
    for (uint32_t direction : {0, 1})
    {
        const bool wanted =
            m_devices[direction]->WatchesSending() || m_devices[1 - direction]->WatchesReceiving();
        if (wanted != m_isObserved[direction])
        {
            m_isObserved[direction] = wanted;
            m_fabric->SetObserver(2 * m_link + direction, wanted ? this : nullptr);
        }
    }
}

void
FabricChannel::Observe(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs)
{
    // Units arrive at, and are lost before, the device that sends the other way.
    const bool atEnd = event == PortEvent::RECEIVE || event == PortEvent::DROP;
    m_devices[atEnd ? 1 - port % 2 : port % 2]->Trace(event, port, record, timePs);
}

} // namespace proteus
} // namespace ns3
