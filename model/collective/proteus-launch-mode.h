/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAUNCH_MODE_H
#define PROTEUS_LAUNCH_MODE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Who launches the kernels of collectives.
enum class LaunchMode : uint8_t
{
    STREAM,          //!< a host that is far ahead, so that it costs nothing, as in training
    PROCESS_PER_GPU, //!< a host thread for every GPU, one kernel after the other from time 0 on
    ONE_PROCESS,     //!< one host thread for all GPUs of a server
};

/// @ingroup proteus
/// @param text stream, process-per-gpu or one-process @return what it names
/// @throw std::invalid_argument for any other text
LaunchMode LaunchModeFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all launch modes
std::vector<std::string> GetLaunchModeNames();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAUNCH_MODE_H
