/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scheduler-priority.h"

namespace ns3
{
namespace proteus
{

namespace
{

const SchedulingPolicyRegistration REGISTRATION(
    {"fair",
     "all that is ready at once: the network shares its links among them",
     nullptr,
     nullptr,
     [](const ScheduleSettings& /* settings */) {
         return std::make_unique<PriorityScheduler>(CreditWindow::UNLIMITED);
     }});

} // namespace

} // namespace proteus
} // namespace ns3
