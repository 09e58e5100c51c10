/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULED_KINDS_H
#define PROTEUS_SCHEDULED_KINDS_H

#include "ns3/proteus-communication-scheduler.h"
#include "ns3/proteus-graph.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param graph of a job @param settings of a policy @return whether it has something to schedule
bool HasScheduled(const ExecutionGraph& graph, const ScheduleSettings& settings);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULED_KINDS_H
