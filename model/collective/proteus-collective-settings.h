/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_SETTINGS_H
#define PROTEUS_COLLECTIVE_SETTINGS_H

#include "proteus-program-cache.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * All that is set about the collectives of a run, for every executor alike. The defaults are those
 * of the attributes of ns3::proteus::PacketNetwork; GetCollectiveFields() has the names of the
 * attributes.
 */
struct CollectiveSettings : ProgramSettings
{
    /// Protocols as NCCL chooses.
    CollectiveSettings()
    {
        protocol.clear();
    }

    std::string launchMode{"stream"}; //!< who launches: stream, process-per-gpu or one-process
    int64_t launchPs{-1000};          //!< from a rank joining to its first step, picoseconds;
                                      //!< negative: as CollectiveKernelCost says
    int64_t launchGapPs{0};           //!< what every kernel starts later, picoseconds
    int64_t pluginLatencyPs{0};       //!< of the network's plug-in, for a chunk, picoseconds
    bool kernelCosts{true};           //!< whether steps of kernels cost time beside the wire
    bool kernelCopies{true};          //!< whether kernels, not copy engines, move bytes in servers
};

/// @ingroup proteus
/// A field of CollectiveSettings; an int64_t is a time in picoseconds.
using CollectiveMember = std::variant<std::string CollectiveSettings::*,
                                      uint32_t CollectiveSettings::*,
                                      uint64_t CollectiveSettings::*,
                                      int64_t CollectiveSettings::*,
                                      bool CollectiveSettings::*>;

/// @ingroup proteus
/// A field of CollectiveSettings that has a name.
struct CollectiveField
{
    std::string name;        //!< that of the attribute, e.g. "NcclVersion"
    CollectiveMember member; //!< where its value is
    bool isOfNetwork{false}; //!< whether it is about the network between servers
};

/// @ingroup proteus
/// @return all fields that have a name; CollectiveSettings::maker has none
const std::vector<CollectiveField>& GetCollectiveFields();

/// @ingroup proteus
/// @param settings to look at @param field one of GetCollectiveFields() @return its value as text;
/// times with their unit, ps
std::string ToText(const CollectiveSettings& settings, const CollectiveField& field);

/// @ingroup proteus
/// @return all collectives
const std::vector<Collective>& GetCollectives();

/// @ingroup proteus
/// @param settings to check
/// @throw std::invalid_argument for an algorithm that no collective has, a protocol or a launch
/// mode that there is not
void CheckCollectiveSettings(const CollectiveSettings& settings);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_SETTINGS_H
