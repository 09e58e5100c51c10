/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-rank.h"
#include "proteus-scheduler-priority.h"

#include "ns3/proteus-other-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

const OtherNamesRegistry::Registration WORDS("critical-path", {{"ticTac", "tic", "tac"}});

const SchedulingPolicyRegistration REGISTRATION(
    {"critical-path",
     "TicTac (Hashemi et al., MLSys 2019): what the longest computation waits for first, as far as "
     "credit allows",
     nullptr,
     RankByCriticalPath,
     [](const ScheduleSettings& settings) {
         return std::make_unique<PriorityScheduler>(settings.creditBytes);
     }});

} // namespace

} // namespace proteus
} // namespace ns3
