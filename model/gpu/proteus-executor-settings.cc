/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executor-settings.h"

#include "proteus-attribute-defaults.h"
#include "proteus-collective-kernels.h"
#include "proteus-flow-congestion-settings.h"
#include "proteus-packet-network.h"

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-fabric.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the value of an attribute, which has to be of a type
template <typename T>
const T&
As(const AttributeValue& value)
{
    return dynamic_cast<const T&>(value);
}

/// What a run without packets does in the place of a value.
/// @param attribute its full name @return empty: nothing like it
std::string
FindStandIn(const std::string& attribute)
{
    return attribute == "ns3::proteus::Fabric::Routing" ? "ECMP" : "";
}

/// @param type of an attribute of the packet engine @param name of the attribute
/// @return technologies of the links that it is about; empty: of all
std::set<LinkTechnology>
FindTechnologies(TypeId type, const std::string& name)
{
    using T = LinkTechnology;
    const std::set<T> network{T::INFINIBAND, T::ROCE};
    if (type.IsChildOf(CongestionType::GetTypeId()))
    {
        const auto control =
            ReadDefault<StringValue>(Transport::GetTypeId(), "CongestionControl").Get();
        return control == "auto" ? std::set<T>{T::ROCE} : network;
    }
    if (type == Transport::GetTypeId())
    {
        return name == "CongestionControl" ? network : std::set<T>{};
    }
    static const std::map<std::string, std::set<T>> ofFabric{
        {"BufferReserve", {T::ROCE}},
        {"Ecn", {T::ROCE}},
        {"EcnAtDequeue", network},
        {"EcnMaxBytes", network},
        {"EcnMaxProbability", network},
        {"EcnMinBytes", network},
        {"EcnReferenceRate", network},
        {"CutThroughBytes", network},
        {"Headroom", {T::ROCE}},
        {"InfinibandBuffer", {T::INFINIBAND}},
        {"InfinibandCutThrough", {T::INFINIBAND}},
        {"InfinibandEcn", {T::INFINIBAND}},
        {"NicBuffer", {T::ROCE}},
        {"NicReadTime", network},
        {"NvlinkBuffer", {T::NVLINK}},
        {"PauseReaction", {T::ROCE}},
        {"PcieBuffer", {T::PCIE, T::CPU_INTERCONNECT}},
        {"Pfc", {T::ROCE}},
        {"PfcClasses", {T::ROCE}},
        {"ResumeOffset", {T::ROCE}},
        {"RoceCutThrough", {T::ROCE}},
        {"SwitchBuffer", {T::ROCE}},
        {"TelemetryBytes", network},
        {"ThresholdShift", {T::ROCE}},
        {"TrainPackets", network},
    };
    if (type != Fabric::GetTypeId())
    {
        return {};
    }
    const bool isEcn = name.compare(0, 3, "Ecn") == 0;
    if (isEcn && !IsOn(type, "InfinibandEcn"))
    {
        return {T::ROCE}; // where alone packets are marked
    }
    if (name == "CutThroughBytes" && !IsOn(type, "RoceCutThrough"))
    {
        return {T::INFINIBAND}; // where alone switches cut through
    }
    const auto found = ofFabric.find(name);
    return found == ofFabric.end() ? std::set<T>{} : found->second;
}

/// @param timePs picoseconds; below 0: not said @return it; PicoSeconds() takes none below 0 where
/// the resolution is coarser
Time
MakeTime(int64_t timePs)
{
    return timePs < 0 ? NanoSeconds(-1) : PicoSeconds(timePs);
}

/// @param attribute whose default was changed @return that as one types it: a time to the
/// picosecond in the largest unit of which it is a whole number, where ns-3 has "+1e+06ps"
std::string
PrintChanged(const ChangedAttribute& attribute)
{
    const auto information = FindAttribute(attribute.type, attribute.name);
    const auto* time = dynamic_cast<const TimeValue*>(PeekPointer(information.initialValue));
    if (!time)
    {
        return attribute.value;
    }
    constexpr int64_t THOUSAND = 1000;
    int64_t number = time->Get().GetPicoSeconds();
    for (const char* unit : {"ps", "ns", "us", "ms"})
    {
        if (number == 0 || number % THOUSAND != 0)
        {
            return std::to_string(number) + unit;
        }
        number /= THOUSAND;
    }
    return std::to_string(number) + "s";
}

} // namespace

CollectiveSettings
ReadCollectiveSettings()
{
    CollectiveSettings settings;
    for (const CollectiveField& field : GetCollectiveFields())
    {
        const Ptr<const AttributeValue> value =
            FindAttribute(PacketNetwork::GetTypeId(), field.name).initialValue;
        std::visit(
            [&](auto member) {
                using Value = std::decay_t<decltype(settings.*member)>;
                if constexpr (std::is_same_v<Value, std::string>)
                {
                    settings.*member = As<StringValue>(*value).Get();
                }
                else if constexpr (std::is_same_v<Value, bool>)
                {
                    settings.*member = As<BooleanValue>(*value).Get();
                }
                else if constexpr (std::is_same_v<Value, int64_t>)
                {
                    settings.*member = As<TimeValue>(*value).Get().GetPicoSeconds();
                }
                else
                {
                    settings.*member = static_cast<Value>(As<UintegerValue>(*value).Get());
                }
            },
            field.member);
    }
    return settings;
}

bool
AreKernelsLaunchedAhead()
{
    return AreLaunchedAhead(ReadCollectiveSettings());
}

void
ApplyCollectiveSettings(const CollectiveSettings& settings, Ptr<PacketNetwork> network)
{
    for (const CollectiveField& field : GetCollectiveFields())
    {
        std::visit(
            [&](auto member) {
                using Value = std::decay_t<decltype(settings.*member)>;
                if constexpr (std::is_same_v<Value, std::string>)
                {
                    network->SetAttribute(field.name, StringValue(settings.*member));
                }
                else if constexpr (std::is_same_v<Value, bool>)
                {
                    network->SetAttribute(field.name, BooleanValue(settings.*member));
                }
                else if constexpr (std::is_same_v<Value, int64_t>)
                {
                    network->SetAttribute(field.name, TimeValue(MakeTime(settings.*member)));
                }
                else
                {
                    network->SetAttribute(field.name, UintegerValue(settings.*member));
                }
            },
            field.member);
    }
    network->SetProgramMaker(settings.maker);
    network->SetCollectiveCosts(settings.costs);
}

std::vector<EngineSetting>
FindChangedEngineSettings()
{
    std::vector<EngineSetting> changed;
    for (const ChangedAttribute& attribute : FindChangedAttributes())
    {
        const TypeId type = attribute.type;
        const bool isNetwork = type == PacketNetwork::GetTypeId();
        if (!isNetwork && type != Fabric::GetTypeId() && type != Transport::GetTypeId() &&
            !type.IsChildOf(CongestionType::GetTypeId()))
        {
            continue;
        }
        if (isNetwork && attribute.name.compare(0, 4, "Join") != 0)
        {
            continue; // a field of CollectiveSettings, or without influence on results
        }
        const std::string name = attribute.GetFullName();
        changed.push_back({name,
                           PrintChanged(attribute),
                           FindStandIn(name),
                           FindTechnologies(type, attribute.name)});
    }
    // A window of one's own goes without the share: one thing that was changed, not two.
    const std::string network = "ns3::proteus::PacketNetwork::";
    const auto isOf = [&](const char* attribute) {
        return [name = network + attribute](const EngineSetting& setting) {
            return setting.name == name;
        };
    };
    const auto share = std::find_if(changed.begin(), changed.end(), isOf("JoinWindowShare"));
    if (share != changed.end() && share->value == "0" &&
        std::any_of(changed.begin(), changed.end(), isOf("JoinWindow")))
    {
        changed.erase(share);
    }
    return changed;
}

ExecutorSettings
ReadExecutorSettings(int64_t stream)
{
    ExecutorSettings settings;
    settings.collectives = ReadCollectiveSettings();
    settings.engine = FindChangedEngineSettings();
    settings.flow.congestion = ReadFlowCongestion();
    ReadNetworkLoad(settings.flow);
    settings.flow.attributes.insert("ns3::proteus::Fabric::InfinibandBuffer");
    settings.flow.infinibandBufferBytes = static_cast<uint32_t>(
        ReadDefault<UintegerValue>(Fabric::GetTypeId(), "InfinibandBuffer").Get());
    settings.flow.attributes.insert("ns3::proteus::Fabric::NicReadTime");
    settings.flow.nicReadPs =
        ReadDefault<TimeValue>(Fabric::GetTypeId(), "NicReadTime").Get().GetPicoSeconds();
    const std::string inputQueued =
        ReadDefault<StringValue>(Fabric::GetTypeId(), "InputQueuedDevices").Get();
    if (inputQueued.empty() || inputQueued == ToString(VertexKind::CPU))
    {
        settings.flow.cpuInputQueues = !inputQueued.empty();
        settings.flow.attributes.insert("ns3::proteus::Fabric::InputQueuedDevices");
    }
    const auto routing = static_cast<RoutingMode>(
        ReadDefault<EnumValueOf<RoutingMode>>(Fabric::GetTypeId(), "Routing").Get());
    if (routing == RoutingMode::SPRAY || routing == RoutingMode::ADAPTIVE)
    {
        settings.flow.spreads = true;
        settings.flow.attributes.insert("ns3::proteus::Fabric::Routing");
    }
    settings.stream = stream;
    // As Transport::SetFabric() draws it.
    const Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
    random->SetStream(stream);
    settings.pathSeed = random->GetInteger(0, UINT32_MAX - 1);
    return settings;
}

} // namespace proteus
} // namespace ns3
