/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-rank.h"
#include "proteus-scheduler-priority.h"

namespace ns3
{
namespace proteus
{

namespace
{

const SchedulingPolicyRegistration REGISTRATION(
    {"p3",
     "P3 (Jayarajan et al., MLSys 2019): priority by layer, and one part at a time",
     nullptr,
     RankByLayer,
     [](const ScheduleSettings& /* settings */) {
         // A window of one byte is open only when nothing is under way.
         return std::make_unique<PriorityScheduler>(1);
     }});

} // namespace

} // namespace proteus
} // namespace ns3
