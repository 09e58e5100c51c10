/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scheduled-kinds.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

bool
HasScheduled(const ExecutionGraph& graph, const ScheduleSettings& settings)
{
    const auto& tasks = graph.GetTasks();
    return std::any_of(tasks.begin(), tasks.end(), [&settings](const Task& task) {
        return task.kind == TaskKind::COMMUNICATION &&
               std::count(settings.kinds.begin(), settings.kinds.end(), task.parallelism) > 0;
    });
}

} // namespace proteus
} // namespace ns3
