/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-settings.h"

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
        {"NetworkChannels", static_cast<uint32_t S::*>(&S::networkChannels)},
        {"CommunicatorRanks", static_cast<uint32_t S::*>(&S::communicatorRanks)},
        {"NcclVersion", static_cast<uint32_t S::*>(&S::ncclVersion)},
        {"LaunchMode", &S::launchMode},
        {"LaunchOverhead", &S::launchPs},
        {"LaunchGap", &S::launchGapPs},
        {"PluginLatency", &S::pluginLatencyPs},
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

} // namespace proteus
} // namespace ns3
