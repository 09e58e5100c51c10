/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-congestion-settings.h"

#include "proteus-attribute-defaults.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-transport.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

/// @param type of an object @param name of an attribute of it @param what notes its name
/// @return its default
template <typename T, typename Settings>
T
Read(TypeId type, const std::string& name, Settings& what)
{
    what.attributes.insert(type.GetName() + "::" + name);
    return ReadDefault<T>(type, name);
}

/// Has a congestion control of packets decide.
class NotifiedRate : public FlowRateControl
{
  public:
    /// @param control that decides
    explicit NotifiedRate(std::unique_ptr<CongestionControl> control)
        : m_control(std::move(control))
    {
    }

    double GetRate() const override
    {
        return m_control->GetRate();
    }

    void Notify(int64_t timePs) override
    {
        Advance(timePs);
        m_control->OnNotification(timePs);
    }

    void Advance(int64_t timePs) override
    {
        if (m_control->GetTimerPs() <= timePs)
        {
            m_control->OnTimer(timePs);
        }
    }

    void AddSent(double bytes, int64_t timePs) override
    {
        if (m_epoch != m_control->GetByteEpoch())
        {
            m_epoch = m_control->GetByteEpoch();
            m_sent = 0;
        }
        m_sent += bytes;
        const uint64_t mark = m_control->GetByteMark();
        if (mark != CongestionControl::UNLIMITED && m_sent >= static_cast<double>(mark))
        {
            m_sent -= static_cast<double>(mark);
            m_control->OnBytesSent(timePs);
        }
    }

  private:
    std::unique_ptr<CongestionControl> m_control; //!< decides
    uint32_t m_epoch{0};                          //!< of its count of bytes
    double m_sent{0};                             //!< since then, payload
};

} // namespace

std::shared_ptr<const FlowCongestion>
ReadFlowCongestion()
{
    const auto congestion = std::make_shared<FlowCongestion>();
    const TypeId transport = Transport::GetTypeId();
    std::string name = Read<StringValue>(transport, "CongestionControl", *congestion).Get();
    name = name == "auto" ? "dcqcn" : name; // as QueuePairMaker has it over RoCE
    const TypeId fabric = Fabric::GetTypeId();
    const bool isMarked = Read<BooleanValue>(fabric, "Ecn", *congestion).Get();
    if (name == "none")
    {
        return congestion;
    }
    const Ptr<CongestionType> type = MakeCongestionType(name);
    const CongestionNeeds needs = type->GetNeeds();
    if (!needs.notifications)
    {
        return nullptr;
    }
    if (!isMarked)
    {
        return congestion;
    }
    congestion->make = [type](double bytesPerSecond, uint32_t packetBytes) {
        CongestionPath path;
        path.bytesPerSecond = bytesPerSecond;
        path.packetBytes = packetBytes;
        return std::make_unique<NotifiedRate>(type->Create(path));
    };
    const TypeId kind = type->GetInstanceTypeId();
    for (std::size_t i = 0; i < kind.GetAttributeN(); ++i)
    {
        congestion->attributes.insert(kind.GetName() + "::" + kind.GetAttribute(i).name);
    }
    congestion->notificationPs = needs.notificationPs;
    const auto bytesPerSecond = static_cast<double>(
        Read<DataRateValue>(fabric, "EcnReferenceRate", *congestion).Get().GetBitRate() / 8);
    const auto readPs = [&](const char* attribute) {
        const auto bytes = Read<UintegerValue>(fabric, attribute, *congestion).Get();
        return static_cast<double>(bytes) / bytesPerSecond * PS_PER_SECOND;
    };
    congestion->markPs = readPs("EcnMinBytes");
    congestion->markAllPs = readPs("EcnMaxBytes");
    congestion->maxProbability = Read<DoubleValue>(fabric, "EcnMaxProbability", *congestion).Get();
    // What a NIC holds when it is as much as its part of what is free (SharedBuffers).
    const auto shift = Read<UintegerValue>(fabric, "ThresholdShift", *congestion).Get();
    const auto nicBuffer = Read<UintegerValue>(fabric, "NicBuffer", *congestion).Get();
    congestion->nicBytes =
        static_cast<double>(nicBuffer) / (1 + std::ldexp(1.0, static_cast<int>(shift)));
    congestion->marksAtDequeue = Read<BooleanValue>(fabric, "EcnAtDequeue", *congestion).Get();
    return congestion;
}

void
ReadNetworkLoad(FlowParameters& parameters)
{
    const TypeId transport = Transport::GetTypeId();
    FlowNetworkLoad& load = parameters.networkLoad;
    load.ackEveryPackets =
        static_cast<uint32_t>(Read<UintegerValue>(transport, "AckEveryPackets", parameters).Get());
    const auto name = ReadDefault<StringValue>(transport, "CongestionControl").Get();
    if (name == "auto")
    {
        return; // dcqcn, or none over InfiniBand
    }
    const Ptr<CongestionType> type = MakeCongestionType(name);
    const CongestionNeeds needs = type->GetNeeds();
    load.ackEveryPackets = load.ackEveryPackets > 0 ? load.ackEveryPackets : needs.ackEveryPackets;
    if (needs.telemetry)
    {
        load.telemetryBytes = static_cast<uint32_t>(
            Read<UintegerValue>(Fabric::GetTypeId(), "TelemetryBytes", parameters).Get());
    }
    if (needs.utilisation > 0)
    {
        load.utilisation = needs.utilisation;
        load.control = name;
        parameters.attributes.insert(transport.GetName() + "::CongestionControl");
        parameters.attributes.insert(type->GetInstanceTypeId().GetName() +
                                     "::" + needs.utilisationAttribute);
    }
}

} // namespace proteus
} // namespace ns3
