/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-options.h"

#include "proteus-name-lists.h"
#include "proteus-nccl-cluster.h"
#include "proteus-program-options.h"
#include "proteus-same-choices.h"

#include "ns3/config.h"
#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-nccl-variables.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-protocol.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t MOST_CHANNELS = 64; //!< MAXCHANNELS of NVIDIA/nccl, src/include/device.h

/// @param option that was given @param attribute of the network that it stands for
/// @param value for it
/// @throw std::invalid_argument if the attribute was given, too
void
SetNetworkDefault(const std::string& option,
                  const std::string& attribute,
                  const AttributeValue& value)
{
    const std::string network = "ns3::proteus::PacketNetwork";
    if (IsChanged(FindAttribute(TypeId::LookupByName(network), attribute)))
    {
        throw std::invalid_argument("--" + option + " and --" + network + "::" + attribute +
                                    " are the same: give one of them");
    }
    Config::SetDefault(network + "::" + attribute, value);
}

} // namespace

std::string
FindNoNetwork(const Cluster& cluster)
{
    const auto& gpus = cluster.GetGpus();
    const bool isOne = std::all_of(gpus.begin(), gpus.end(), [&](VertexId gpu) {
        return cluster.GetDomain(gpu) == cluster.GetDomain(gpus.front());
    });
    return isOne ? "the GPUs need no network between servers" : "";
}

std::string
FindNoMessages(Collective collective)
{
    return IsPointToPoint(collective)
               ? ""
               : std::string(ToString(collective)) + " sends no messages, whose channels these are";
}

std::vector<std::string>
FindUntuned(Collective collective, const std::string& variables)
{
    if (!IsPointToPoint(collective))
    {
        return {};
    }
    std::vector<std::string> lines;
    for (const auto& [name, value] : SplitNcclVariables(variables))
    {
        const NcclVariable* variable = NcclVariableRegistry::Get().Find(name);
        if (variable != nullptr &&
            (variable->option == "algorithm" || variable->option == "protocol"))
        {
            lines.push_back(name + "=" + value +
                            " has no effect: NCCL has one way for the messages of " +
                            ToString(collective) + "; --" + variable->option + " is obeyed");
        }
    }
    return lines;
}

std::string
FindSameChoices(const Cluster& cluster, const std::string& vendor)
{
    constexpr uint32_t SIZES = 31; // from 8 bytes on
    const auto& gpus = cluster.GetGpus();
    std::vector<VertexId> server;
    std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(server), [&](VertexId gpu) {
        return cluster.GetVertices()[gpu].server == cluster.GetVertices()[gpus.front()].server;
    });
    if (FindCpuVendor(cluster, gpus) == CpuVendorFromString(vendor))
    {
        return "";
    }
    const Paths paths(cluster);
    CollectivePreferences other;
    other.cpuVendor = vendor;
    const CollectiveChooser usual(cluster, paths);
    const CollectiveChooser changed(cluster, paths, other);
    const TransportRules ownRules = MakeTransportRules(CollectivePreferences());
    const TransportRules otherRules = MakeTransportRules(other);
    for (const VertexId a : server)
    {
        if (std::any_of(server.begin(), server.end(), [&](VertexId b) {
                return a != b && AllowsPeerToPeer(ownRules, cluster, paths, a, b) !=
                                     AllowsPeerToPeer(otherRules, cluster, paths, a, b);
            }))
        {
            return "";
        }
    }
    for (const std::vector<VertexId>& group : {gpus, server})
    {
        for (const Collective collective : {Collective::ALL_REDUCE,
                                            Collective::ALL_GATHER,
                                            Collective::REDUCE_SCATTER,
                                            Collective::BROADCAST,
                                            Collective::REDUCE,
                                            Collective::ALL_TO_ALL})
        {
            for (uint32_t i = 0; i < SIZES && group.size() > 1; ++i)
            {
                CollectiveRequest request;
                request.collective = collective;
                request.bytes = uint64_t{8} << i;
                request.vertices = group;
                CollectiveRequest same = request;
                usual.Complete(request);
                changed.Complete(same);
                if (!AreChosenAlike(request, same))
                {
                    return "";
                }
            }
        }
    }
    return "NCCL chooses the same on this cluster, whoever made its CPUs";
}

void
NcclOptions::AddTo(OptionList& command, const std::function<Cluster()>& cluster)
{
    command.AddValue("algorithm",
                     ListAlgorithms([](const AlgorithmTraits&) { return true; }) +
                         ", where the collective has it (empty: as NCCL's tuner chooses)",
                     algorithm);
    command.AddValue("protocol", "Simple, LL or LL128 (empty: as NCCL's tuner chooses)", protocol);
    command.AddValue("channels", "channels (0: as NCCL chooses)", channels);
    command.AddValue("networkChannels",
                     "channels of a message to another server (0: as NCCL chooses)",
                     networkChannels);
    command.AddValue("ncclVersion",
                     "version of NCCL whose algorithms, protocols and tuner are taken, e.g. 2.18.3 "
                     "(empty: 2.30, with a log of nccl-tests that of the log)",
                     ncclVersion);
    command.AddValue(
        "cpuVendor",
        "who made the CPUs, to NCCL's tuner: intel, amd, arm, power or other (empty: as "
        "the cluster says)",
        cpuVendor);
    command.AddValue("netPlugin",
                     "plug-in by which NCCL uses the network, which has a latency and tells one to "
                     "the tuner: " +
                         ListNetPlugins() + " (empty: NCCL's own, ib)",
                     netPlugin);
    command.AddValue("nccl",
                     "variables of NCCL's environment, e.g. NCCL_BUFFSIZE=8M,NCCL_MAX_NCHANNELS=8; "
                     "the manual has those that are honoured (Collectives)",
                     variables);
    command.AddCheck("nccl", [](const std::string& text) {
        ParseNcclVariables(text, NEWEST_NCCL); // with the version in Check()
    });
    command.AddRange("channels", 0, MOST_CHANNELS);
    command.AddRange("networkChannels", 0, MOST_CHANNELS);
    command.AddCheck("ncclVersion", [](const std::string& text) { ParseNcclVersion(text); });
    command.AddNames("algorithm", ListAlgorithmNames());
    command.AddNames(
        "protocol",
        {ToString(Protocol::SIMPLE), ToString(Protocol::LL), ToString(Protocol::LL128)});
    command.AddNames("cpuVendor", GetCpuVendors());
    command.AddNames("netPlugin", NetPluginRegistry::Get().GetNames());
    command.AddMeaning("ncclVersion", [](const std::string& text) {
        return std::to_string(ParseNcclVersion(text));
    });
    command.AddIdle("ncclVersion", [this]() -> std::string {
        return GetVersion() > NEWEST_NCCL
                   ? "the newest version that is known is taken, " + FormatNcclVersion(NEWEST_NCCL)
                   : "";
    });
    command.AddIdleParts(
        "nccl",
        [this, cluster]() {
            std::vector<std::string> lines = FindIdle();
            const std::string line = cluster ? FindIdleHostMemory(*this, cluster()) : "";
            if (!line.empty())
            {
                lines.push_back(line);
            }
            return lines;
        },
        "");
    if (cluster)
    {
        for (const char* name : {"networkChannels", "netPlugin"})
        {
            command.AddIdle(name, [cluster]() { return FindNoNetwork(cluster()); });
        }
        command.AddIdle("cpuVendor",
                        [this, cluster]() { return FindSameChoices(cluster(), cpuVendor); });
    }
}

void
NcclOptions::Check() const
{
    const std::vector<std::string> known = ListAlgorithmNames();
    if (!algorithm.empty() && std::find(known.begin(), known.end(), algorithm) == known.end())
    {
        throw std::invalid_argument("--algorithm=" + algorithm + ": " + Suggest(algorithm, known));
    }
    if (!protocol.empty())
    {
        ProtocolFromString(protocol);
    }
    ToCount(channels, "channels", 0, MOST_CHANNELS);
    ToCount(networkChannels, "networkChannels", 0, MOST_CHANNELS);
    GetVersion();
    if (!cpuVendor.empty())
    {
        CpuVendorFromString(cpuVendor);
    }
    FindNetPlugin(netPlugin); // throws if there is none
    ParseNcclVariables(variables, GetVersion());
    for (const auto& [name, value] : SplitNcclVariables(variables))
    {
        const std::string& option = NcclVariableRegistry::Get().Find(name)->option;
        if (!option.empty() && Says(option))
        {
            throw std::invalid_argument("--" + option + " and " + name +
                                        " of --nccl are about the same: give one of them");
        }
    }
}

bool
NcclOptions::Says(const std::string& option) const
{
    const std::map<std::string, bool> given{{"algorithm", !algorithm.empty()},
                                            {"protocol", !protocol.empty()},
                                            {"channels", channels > 0},
                                            {"networkChannels", networkChannels > 0}};
    return given.at(option);
}

uint32_t
NcclOptions::GetVersion() const
{
    const uint32_t version = ParseNcclVersion(ncclVersion);
    return version > 0 ? version : NEWEST_NCCL;
}

std::vector<std::string>
NcclOptions::FindIdle() const
{
    return FindIdleVariables(variables, GetVersion());
}

void
NcclOptions::SetDefaults()
{
    Check();
    if (!algorithm.empty())
    {
        SetNetworkDefault("algorithm", "Algorithm", StringValue(algorithm));
    }
    if (!protocol.empty())
    {
        SetNetworkDefault("protocol", "Protocol", StringValue(protocol));
    }
    if (channels > 0)
    {
        SetNetworkDefault("channels", "Channels", UintegerValue(channels));
    }
    if (networkChannels > 0)
    {
        SetNetworkDefault("networkChannels", "NetworkChannels", UintegerValue(networkChannels));
    }
    if (!ncclVersion.empty())
    {
        SetNetworkDefault("ncclVersion", "NcclVersion", UintegerValue(GetVersion()));
    }
    if (!cpuVendor.empty())
    {
        SetNetworkDefault("cpuVendor", "CpuVendor", StringValue(cpuVendor));
    }
    if (!variables.empty())
    {
        SetNetworkDefault("nccl", "NcclVariables", StringValue(variables));
    }
    if (!netPlugin.empty())
    {
        SetNetworkDefault("netPlugin", "NetPlugin", StringValue(netPlugin));
    }
}

} // namespace proteus
} // namespace ns3
