/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-times.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

namespace ns3
{
namespace proteus
{

uint64_t
CountTimed(const ExecutionGraph& graph)
{
    uint64_t nTimed = 0;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        nTimed += task.kind == TaskKind::COMPUTE && task.durationPs < 0 ? 1 : 0;
    }
    return nTimed;
}

void
WarnOfTimes(const std::string& path, const ProgramOptions& options, const ExecutionGraph& graph)
{
    uint64_t nTimeless = 0;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        const bool isTimed = task.durationPs >= 0 || task.flops > 0 || task.bytes > 0;
        nTimeless += task.kind == TaskKind::COMPUTE && !isTimed ? 1 : 0;
    }
    if (nTimeless > 0)
    {
        Warn(path + ": " + FormatThings(nTimeless, "compute task") +
             " with neither duration_ps nor flops and bytes: each takes the launch interval");
    }
    if (options.launchInterval.isGiven && CountTimed(graph) == 0)
    {
        Warn("--launchInterval=" + FormatTime(options.launchInterval.value.GetSeconds()) +
             " has no effect: the file has the times of all kernels");
    }
}

} // namespace proteus
} // namespace ns3
