/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-settings.h"

#include "proteus-algorithms.h"
#include "proteus-launch-mode.h"
#include "proteus-nccl-variables.h"
#include "proteus-net-plugin.h"
#include "proteus-protocol.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-cpu-vendor.h"

#include <set>
#include <stdexcept>
#include <type_traits>

namespace ns3
{
namespace proteus
{

const std::vector<CollectiveField>&
GetCollectiveFields()
{
    using S = CollectiveSettings;
    // Members of the base are named as members of the derived struct for the variant's sake.
    static const std::vector<CollectiveField> fields{
        {"Algorithm", static_cast<std::string S::*>(&S::algorithm)},
        {"Protocol", static_cast<std::string S::*>(&S::protocol)},
        {"ChunkBytes", static_cast<uint64_t S::*>(&S::chunkBytes)},
        {"Channels", static_cast<uint32_t S::*>(&S::channels)},
        {"NetworkChannels", static_cast<uint32_t S::*>(&S::networkChannels), true},
        {"CommunicatorRanks", static_cast<uint32_t S::*>(&S::communicatorRanks)},
        {"CommunicatorServers", static_cast<uint32_t S::*>(&S::communicatorServers)},
        {"CommunicatorChannels", static_cast<uint32_t S::*>(&S::communicatorChannels)},
        {"NcclVersion", static_cast<uint32_t S::*>(&S::ncclVersion)},
        {"CpuVendor", static_cast<std::string S::*>(&S::cpuVendor)},
        {"NetPlugin", static_cast<std::string S::*>(&S::netPlugin), true},
        {"NcclVariables", static_cast<std::string S::*>(&S::ncclVariables)},
        {"LaunchMode", &S::launchMode},
        {"LaunchOverhead", &S::launchPs},
        {"LaunchGap", &S::launchGapPs},
        {"PluginLatency", &S::pluginLatencyPs, true},
        {"KernelCosts", &S::kernelCosts},
        {"KernelCopies", &S::kernelCopies},
    };
    return fields;
}

std::string
ToText(const CollectiveSettings& settings, const CollectiveField& field)
{
    return std::visit(
        [&settings](auto member) -> std::string {
            using Value = std::decay_t<decltype(settings.*member)>;
            if constexpr (std::is_same_v<Value, std::string>)
            {
                return settings.*member;
            }
            else if constexpr (std::is_same_v<Value, bool>)
            {
                return settings.*member ? "true" : "false";
            }
            else
            {
                return std::to_string(settings.*member) +
                       (std::is_same_v<Value, int64_t> ? "ps" : "");
            }
        },
        field.member);
}

const std::vector<Collective>&
GetCollectives()
{
    static const std::vector<Collective> collectives = [] {
        std::vector<Collective> all;
        for (auto i = static_cast<int>(Collective::ALL_REDUCE);
             i <= static_cast<int>(Collective::ALL_TO_ALL);
             ++i)
        {
            all.push_back(static_cast<Collective>(i));
        }
        return all;
    }();
    return collectives;
}

namespace
{

/// Names the attribute whose value a check refuses.
/// @param attribute of ns3::proteus::PacketNetwork @param check of its value
template <typename F>
void
NameAttribute(const char* attribute, const F& check)
{
    try
    {
        check();
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(std::string("ns3::proteus::PacketNetwork::") + attribute +
                                    ": " + error.what());
    }
}

} // namespace

void
CheckCollectiveSettings(const CollectiveSettings& settings)
{
    std::set<std::string> algorithms;
    for (const Collective collective : GetCollectives())
    {
        const auto names = GetAlgorithms(collective);
        algorithms.insert(names.begin(), names.end());
    }
    if (!settings.algorithm.empty() && algorithms.count(settings.algorithm) == 0)
    {
        throw std::invalid_argument("ns3::proteus::PacketNetwork::Algorithm=" + settings.algorithm +
                                    ": must be one of " + ListNames(algorithms) + ", or empty");
    }
    if (!settings.protocol.empty())
    {
        NameAttribute("Protocol", [&] { ProtocolFromString(settings.protocol); });
    }
    if (!settings.cpuVendor.empty())
    {
        NameAttribute("CpuVendor", [&] { CpuVendorFromString(settings.cpuVendor); });
    }
    NameAttribute("NetPlugin", [&] { FindNetPlugin(settings.netPlugin); });
    NameAttribute("NcclVariables",
                  [&] { ParseNcclVariables(settings.ncclVariables, settings.ncclVersion); });
    NameAttribute("LaunchMode", [&] { LaunchModeFromString(settings.launchMode); });
}

} // namespace proteus
} // namespace ns3
