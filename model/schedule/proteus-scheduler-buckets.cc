/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-parts.h"

namespace ns3
{
namespace proteus
{

namespace
{

const SchedulingPolicyRegistration REGISTRATION(
    {"buckets",
     "DistributedDataParallel of PyTorch: merged up to a size, in the order of the streams",
     [](const ExecutionGraph& graph, const ScheduleSettings& settings) {
         return MergeCommunications(graph, settings.kinds, settings.bucketBytes);
     },
     nullptr,
     nullptr});

} // namespace

} // namespace proteus
} // namespace ns3
