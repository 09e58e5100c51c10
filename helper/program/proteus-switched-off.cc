/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-switched-off.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-dcqcn-use.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-loss-account.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-scenario-plan.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-transport.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param typed what was typed @return traffic classes that there are, at most
uint64_t
CountClasses(const TypedNetwork& typed)
{
    const std::string place = FindTyped(typed.configuration, "priorityOn");
    const bool mayHaveMore = !place.empty() && place != "sender"; // proteus-schedule adds some
    return mayHaveMore ? MAX_TRAFFIC_CLASSES
                       : ReadDefault<UintegerValue>(Fabric::GetTypeId(), "TrafficClasses").Get();
}

/// @return traffic classes that are to be lossless; empty: all
std::vector<uint32_t>
ListLosslessClasses()
{
    const std::string name = "PfcClasses";
    return ParseNumbers(name,
                        ReadDefault<StringValue>(Fabric::GetTypeId(), name).Get(),
                        MAX_TRAFFIC_CLASSES - 1);
}

/// @param nClasses traffic classes @return whether one of them is lossless
bool
HasLosslessClass(uint64_t nClasses)
{
    const auto classes = ListLosslessClasses();
    return classes.empty() ||
           std::any_of(classes.begin(), classes.end(), [&](uint32_t c) { return c < nClasses; });
}

/// @param option name of an attribute @param nClasses traffic classes
/// @return what of its value is about traffic classes that are not there, or empty
std::string
FindBeyond(const std::string& option, uint64_t nClasses)
{
    std::string beyond;
    const auto add = [&](const std::string& number) {
        beyond += (beyond.empty() ? "" : ",") + number;
    };
    if (option == "ns3::proteus::Fabric::ClassWeights")
    {
        const auto weights =
            SplitList(ReadDefault<StringValue>(Fabric::GetTypeId(), "ClassWeights").Get());
        for (std::size_t c = nClasses; c < weights.size(); ++c)
        {
            add(weights[c]);
        }
    }
    else if (option == "ns3::proteus::Fabric::PfcClasses")
    {
        for (const uint32_t c : ListLosslessClasses())
        {
            if (c >= nClasses)
            {
                add(std::to_string(c));
            }
        }
    }
    return beyond;
}

/// @param option name of an attribute of what carries packets @param nClasses traffic classes
/// @param hasFailures whether links may fail @return what other setting switches it off, or empty
std::string
FindOff(const std::string& option, uint64_t nClasses, bool hasFailures)
{
    const TypeId fabric = Fabric::GetTypeId();
    const std::string type = option.substr(0, option.rfind("::"));
    const std::string name = option.substr(std::min(option.size(), type.size() + 2));
    const auto control =
        ReadDefault<StringValue>(Transport::GetTypeId(), "CongestionControl").Get();
    const bool marks = IsOn(fabric, "Ecn") || IsOn(fabric, "InfinibandEcn");
    if (type == "ns3::proteus::DcqcnType" ||
        (option == "ns3::proteus::Transport::CongestionControl" && control == "dcqcn"))
    {
        return marks ? "" : "no port marks packets (Ecn, InfinibandEcn)";
    }
    if (type != "ns3::proteus::Fabric")
    {
        return "";
    }
    static const std::set<std::string> ofPfc{"BufferReserve",
                                             "Headroom",
                                             "PauseReaction",
                                             "PfcClasses",
                                             "ResumeOffset"};
    if (ofPfc.count(name) > 0)
    {
        return !IsOn(fabric, "Pfc") ? "Pfc is off"
               : HasLosslessClass(nClasses)
                   ? ""
                   : "no traffic class is lossless (PfcClasses, TrafficClasses)";
    }
    if (name.compare(0, 3, "Ecn") == 0 && name != "Ecn")
    {
        return marks ? "" : "no port marks packets (Ecn, InfinibandEcn)";
    }
    if (name == "CutThroughBytes")
    {
        return IsOn(fabric, "RoceCutThrough") || IsOn(fabric, "InfinibandCutThrough")
                   ? ""
                   : "no switch cuts through";
    }
    if (name == "TelemetryBytes")
    {
        return MakeCongestionType(control == "auto" ? "dcqcn" : control)->GetNeeds().telemetry
                   ? ""
                   : "the congestion control asks for no telemetry";
    }
    return name == "RerouteDelay" && !hasFailures ? "no link fails" : "";
}

/// @param attribute a number or time @param type whose it is, a Fabric's if nothing is said
/// @return whether its default is now below (-1), above (1), or at (0) what is built in
template <typename VALUE>
int
CompareBuiltIn(const char* attribute, TypeId type = Fabric::GetTypeId())
{
    const auto now = ReadDefault<VALUE>(type, attribute).Get();
    const auto builtIn = ReadBuiltInDefault<VALUE>(type, attribute).Get();
    return (now > builtIn) - (now < builtIn);
}

/// What acts the earlier, the smaller it is (a MinimumRate the larger), and has not acted, would
/// not have done so as built in, either; of one beyond that nothing is known.
/// @param name of an attribute of DCQCN, with which packets were sent
/// @return why its value was not used, or empty
std::string
FindUnusedDcqcn(const std::string& name)
{
    const DcqcnUse& use = GetDcqcnUse();
    if (!use.cuts || GetNRanks() > 1) // other ranks have marks of their own
    {
        return "";
    }
    const TypeId type = TypeId::LookupByName("ns3::proteus::DcqcnType");
    const bool hasIncrease = use.additives || use.hypers;
    if (name == "HyperIncrease" && !use.hypers)
    {
        return "no sender came to a step of hyper increase";
    }
    if (name == "AdditiveIncrease" && !use.additives)
    {
        return "no sender came to a step of additive increase";
    }
    if ((name == "ReferenceRate" ||
         (name == "FastRecoverySteps" &&
          CompareBuiltIn<UintegerValue>("FastRecoverySteps", type) < 0)) &&
        !hasIncrease)
    {
        return "no sender came beyond fast recovery";
    }
    if (name == "ByteCounter" && CompareBuiltIn<UintegerValue>("ByteCounter", type) < 0 &&
        ReadDefault<UintegerValue>(type, "ByteCounter").Get() > 0 && !use.bytes)
    {
        return "no sender has sent so much since its rate was cut";
    }
    if (name == "IncreaseTimer" && CompareBuiltIn<TimeValue>("IncreaseTimer", type) < 0 &&
        !use.timer)
    {
        return "the timer has not run out";
    }
    if (name == "MinimumRate" && CompareBuiltIn<DataRateValue>("MinimumRate", type) > 0 &&
        !use.minimum)
    {
        return "no rate was cut so low";
    }
    return "";
}

/// @return attributes of a Fabric with which more is paused, and dropped, than as built in
std::set<std::string>
ListMorePauses()
{
    return {CompareBuiltIn<UintegerValue>("Headroom") > 0 ? "Headroom" : "",
            CompareBuiltIn<TimeValue>("PauseReaction") > 0 ? "PauseReaction" : "",
            CompareBuiltIn<UintegerValue>("SwitchBuffer") < 0 ? "SwitchBuffer" : "",
            CompareBuiltIn<UintegerValue>("ThresholdShift") > 0 ? "ThresholdShift" : ""};
}

/// @return attributes of a Fabric with which more is marked than as built in
std::set<std::string>
ListMoreMarks()
{
    return {CompareBuiltIn<UintegerValue>("EcnMinBytes") < 0 ? "EcnMinBytes" : "",
            CompareBuiltIn<UintegerValue>("EcnMaxBytes") < 0 ? "EcnMaxBytes" : "",
            CompareBuiltIn<DoubleValue>("EcnMaxProbability") > 0 ? "EcnMaxProbability" : ""};
}

/// @param name of an attribute of a Fabric @return whether its default is what is built in
bool
IsBuiltIn(const std::string& name)
{
    TypeId::AttributeInformation information;
    return Fabric::GetTypeId().LookupAttributeByName(name, &information) &&
           information.initialValue->SerializeToString(information.checker) ==
               information.originalInitialValue->SerializeToString(information.checker);
}

/// @param cluster that packets were sent on @param links what each of them carried
/// @return whether no Ethernet port of a switch had a queue of which packets are marked, be it as
/// built in, as things are set now, or with some of both
bool
HasShortQueues(const Cluster& cluster, const std::vector<LinkStatistics>& links)
{
    const TypeId type = Fabric::GetTypeId();
    const uint64_t minBytes =
        std::min(ReadDefault<UintegerValue>(type, "EcnMinBytes").Get(),
                 ReadBuiltInDefault<UintegerValue>(type, "EcnMinBytes").Get());
    const DataRate reference =
        std::max(ReadDefault<DataRateValue>(type, "EcnReferenceRate").Get(),
                 ReadBuiltInDefault<DataRateValue>(type, "EcnReferenceRate").Get());
    return std::all_of(links.begin(), links.end(), [&](const LinkStatistics& one) {
        const Link& link = cluster.GetLinks()[one.link];
        const VertexId from = one.forward ? link.a : link.b;
        return link.technology != LinkTechnology::ROCE ||
               cluster.GetVertices()[from].kind != VertexKind::SWITCH ||
               static_cast<double>(one.maxQueueBytes) + 1 <=
                   GetMarkThreshold(link, minBytes, reference);
    });
}

} // namespace

double
GetMarkThreshold(const Link& link, uint64_t minBytes, const DataRate& reference)
{
    return static_cast<double>(minBytes) * link.bytesPerSecond * 8 /
           static_cast<double>(reference.GetBitRate());
}

std::vector<std::string>
FindSwitchedOff(const TypedNetwork& typed)
{
    std::vector<std::string> lines;
    const uint64_t nClasses = CountClasses(typed);
    const auto parts = typed.scenario ? typed.scenario->ListParts() : std::vector<std::string>();
    const bool mayFail = std::count(parts.begin(), parts.end(), "link failures") > 0;
    for (const auto& [name, value] : typed.configuration)
    {
        const std::string option = "--" + name + "=" + value;
        if (IsNamed(typed, option))
        {
            continue;
        }
        const std::string off = FindOff(name, nClasses, mayFail);
        const std::string beyond = FindBeyond(name, nClasses);
        if (!off.empty())
        {
            lines.push_back(option + " has no effect: " + off);
        }
        else if (!beyond.empty())
        {
            lines.push_back(option + ": " + beyond + " has no effect: there are " +
                            std::to_string(nClasses) + " traffic classes (TrafficClasses)");
        }
    }
    return lines;
}

std::vector<std::string>
FindNothingLost(const TypedNetwork& typed,
                const std::vector<LinkStatistics>& links,
                const NetworkStatistics& network)
{
    if (!IsLossless(SumLosses(links, network)))
    {
        return {};
    }
    const TypeId transport = Transport::GetTypeId();
    const bool isPatient = ReadDefault<TimeValue>(transport, "RetransmissionTimeout").Get() >
                           ReadBuiltInDefault<TimeValue>(transport, "RetransmissionTimeout").Get();
    const bool isRoomy = ReadDefault<UintegerValue>(transport, "ReorderBuffer").Get() >
                         ReadBuiltInDefault<UintegerValue>(transport, "ReorderBuffer").Get();
    const std::set<std::string> names{"NakInterval",
                                      "Reliability",
                                      "RetryLimit",
                                      isPatient ? "" : "RetransmissionTimeout",
                                      isRoomy ? "" : "ReorderBuffer"};
    std::vector<std::string> lines;
    for (const auto& [name, value] : typed.configuration)
    {
        const std::size_t colons = name.rfind("::");
        const std::string option = "--" + name + "=" + value;
        const bool isAttribute = colons != std::string::npos &&
                                 name.substr(0, colons) == transport.GetName() &&
                                 names.count(name.substr(colons + 2)) > 0;
        const bool isOption = name == "transport" && value != "tcp"; // which is more
        if ((isAttribute || isOption) && !IsNamed(typed, option))
        {
            lines.push_back(option + " has no effect: nothing was lost, or sent again");
        }
    }
    return lines;
}

std::vector<std::string>
FindNothingMarked(const TypedNetwork& typed,
                  const Cluster& cluster,
                  const std::vector<LinkStatistics>& links,
                  bool crossesRoce)
{
    const auto isNone = [&links](uint64_t LinkStatistics::*count) {
        return std::all_of(links.begin(), links.end(), [count](const LinkStatistics& link) {
            return link.*count == 0;
        });
    };
    const bool noneMarked = isNone(&LinkStatistics::markedPackets);
    const bool nonePaused = crossesRoce && isNone(&LinkStatistics::pauses);
    const bool noneDropped = isNone(&LinkStatistics::droppedPackets);
    const bool nearsNoMark = crossesRoce && noneMarked && HasShortQueues(cluster, links);
    const std::set<std::string> morePauses = ListMorePauses();
    const std::set<std::string> moreMarks = ListMoreMarks();
    const std::string fabric = "ns3::proteus::Fabric::";
    const std::string control = "ns3::proteus::DcqcnType::";
    std::vector<std::string> lines;
    for (const auto& [name, value] : typed.configuration)
    {
        const std::string option = "--" + name + "=" + value;
        const std::string ofFabric =
            name.compare(0, fabric.size(), fabric) == 0 ? name.substr(fabric.size()) : "";
        const bool isOfMarks =
            (ofFabric == "InfinibandEcn" && IsOn(Fabric::GetTypeId(), "InfinibandEcn")) ||
            (crossesRoce && !ofFabric.empty() && moreMarks.count(ofFabric) > 0) ||
            name.compare(0, control.size(), control) == 0 ||
            // Without a mark, DCQCN does nothing, which is chosen over RoCE if nothing is said.
            ((name == "congestionControl" ||
              name == "ns3::proteus::Transport::CongestionControl") &&
             (value == "none" || value == "auto" || value == "dcqcn"));
        if (IsNamed(typed, option))
        {
            continue;
        }
        const std::string unused = name.compare(0, control.size(), control) == 0
                                       ? FindUnusedDcqcn(name.substr(control.size()))
                                       : "";
        if (isOfMarks && noneMarked)
        {
            lines.push_back(option + " has no effect: no packet was marked");
        }
        else if (nearsNoMark && ofFabric.compare(0, 3, "Ecn") == 0 && !IsBuiltIn(ofFabric))
        {
            lines.push_back(option + " has no effect: no queue of a switch was so long that "
                                     "packets are marked");
        }
        else if (!unused.empty())
        {
            lines.push_back(option + " has no effect: " + unused);
        }
        else if (ofFabric == "ResumeOffset" && nonePaused)
        {
            lines.push_back(option + " has no effect: nothing was paused");
        }
        else if (!ofFabric.empty() && morePauses.count(ofFabric) > 0 && nonePaused && noneDropped)
        {
            lines.push_back(option + " has no effect: nothing was paused or dropped");
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
