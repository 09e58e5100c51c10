/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-launch-mode.h"

#include "ns3/proteus-enum-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<LaunchMode, 3> LAUNCH_MODES{"launch mode",
                                                {{LaunchMode::STREAM, "stream"},
                                                 {LaunchMode::PROCESS_PER_GPU, "process-per-gpu"},
                                                 {LaunchMode::ONE_PROCESS, "one-process"}}};

} // namespace

LaunchMode
LaunchModeFromString(const std::string& text)
{
    return LAUNCH_MODES.Parse(text);
}

std::vector<std::string>
GetLaunchModeNames()
{
    return LAUNCH_MODES.List();
}

} // namespace proteus
} // namespace ns3
