/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-options.h"

#include "proteus-name-lists.h"
#include "proteus-program-options.h"

#include "ns3/config.h"
#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-protocol.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t MOST_CHANNELS = 1024; //!< of PacketNetwork::Channels

/// @param option that was given @param attribute of the network that it stands for
/// @param value for it
/// @throw std::invalid_argument if the attribute was given, too
void
SetNetworkDefault(const std::string& option,
                  const std::string& attribute,
                  const AttributeValue& value)
{
    const std::string network = "ns3::proteus::PacketNetwork";
    const TypeId type = TypeId::LookupByName(network);
    TypeId::AttributeInformation information;
    type.LookupAttributeByName(attribute, &information);
    if (information.initialValue->SerializeToString(information.checker) !=
        information.originalInitialValue->SerializeToString(information.checker))
    {
        throw std::invalid_argument("--" + option + " and --" + network + "::" + attribute +
                                    " are the same: give one of them");
    }
    Config::SetDefault(network + "::" + attribute, value);
}

} // namespace

void
NcclOptions::AddTo(OptionList& command)
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
}

void
NcclOptions::Check()
{
    if (!algorithm.empty())
    {
        algorithm = MatchName("algorithm", algorithm, ListAlgorithmNames());
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
}

uint32_t
NcclOptions::GetVersion() const
{
    const uint32_t version = ParseNcclVersion(ncclVersion);
    return version > 0 ? version : NEWEST_NCCL;
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
    if (!netPlugin.empty())
    {
        SetNetworkDefault("netPlugin", "NetPlugin", StringValue(netPlugin));
    }
}

} // namespace proteus
} // namespace ns3
