/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTOR_SETTINGS_H
#define PROTEUS_EXECUTOR_SETTINGS_H

#include "ns3/proteus-executor.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Settings of runs from the attributes of ns-3.
 */

namespace ns3
{
namespace proteus
{

class PacketNetwork;

/// @ingroup proteus
/// @return the present defaults of the attributes of PacketNetwork
CollectiveSettings ReadCollectiveSettings();

/// @ingroup proteus
/// @return AreLaunchedAhead() of these defaults
bool AreKernelsLaunchedAhead();

/// @ingroup proteus
/// Sets the attributes, the maker of programs and the costs of a network that is not set up yet.
/// @param settings of collectives @param network to set
void ApplyCollectiveSettings(const CollectiveSettings& settings, Ptr<PacketNetwork> network);

/// @ingroup proteus
/// @return attributes of Fabric, Transport and the congestion controls whose present default is not
/// their original one
std::vector<EngineSetting> FindChangedEngineSettings();

/**
 * @ingroup proteus
 * @param stream random stream of path choice, as ProteusHelper::AssignStreams() takes it
 * @return the settings of a run, as the attributes of ns-3 are now: with what Config::SetDefault()
 * and the command line have set
 */
ExecutorSettings ReadExecutorSettings(int64_t stream = 1);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTOR_SETTINGS_H
