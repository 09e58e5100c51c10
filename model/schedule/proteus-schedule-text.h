/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_TEXT_H
#define PROTEUS_SCHEDULE_TEXT_H

#include "proteus-communication-scheduler.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Settings of a policy as a user types them: its name, and what differs from the defaults, e.g.
 * "priority,partBytes=4000000,creditBytes=16000000,kinds=expert+data,messagePs=5000000".
 * @param text to read
 * @return the settings
 * @throw std::invalid_argument that says what is wrong and what there is, and as
 * CheckScheduleSettings()
 */
ScheduleSettings ParseScheduleSettings(const std::string& text);

/// @ingroup proteus
/// @param settings that CheckScheduleSettings() takes
/// @return those that are not as by default and that their policy takes no notice of, as a user
/// types them, e.g. "creditBytes=16000000"
std::vector<std::string> ListUnusedSettings(const ScheduleSettings& settings);

/// @ingroup proteus
/// @param policy any @return whether a small credit keeps communications waiting
bool HeedsCredit(const SchedulingPolicy& policy);

/// @ingroup proteus
/// @param policy any @return whether it has several communications under way where credit allows
bool StartsSeveral(const SchedulingPolicy& policy);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_TEXT_H
