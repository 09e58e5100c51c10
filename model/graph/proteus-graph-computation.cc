/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-computation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return whether a task of a graph occupies a GPU
bool
IsKernel(const ExecutionGraph& graph, const Task& task)
{
    return task.kind == TaskKind::COMPUTE && !graph.IsHostStream(task.stream);
}

} // namespace

int64_t
GetBusiestComputationPs(const ExecutionGraph& graph)
{
    std::map<std::pair<uint32_t, StreamId>, int64_t> byStream;
    for (const Task& task : graph.GetTasks())
    {
        if (!IsKernel(graph, task))
        {
            continue;
        }
        if (task.durationPs < 0)
        {
            throw std::invalid_argument("task '" + graph.GetName(task) +
                                        "' has no time of its own that could be scaled");
        }
        byStream[{task.place, task.stream}] += task.durationPs * graph.GetNInstances(task);
    }
    int64_t mostPs = 0;
    for (const auto& [stream, timePs] : byStream)
    {
        mostPs = std::max(mostPs, timePs);
    }
    return mostPs;
}

ExecutionGraph
StretchComputation(const ExecutionGraph& graph, int64_t computePs)
{
    const int64_t busiestPs = GetBusiestComputationPs(graph);
    if (busiestPs == 0)
    {
        throw std::invalid_argument("no device of the graph computes");
    }
    const double factor = static_cast<double>(computePs) / static_cast<double>(busiestPs);
    ExecutionGraph stretched = graph;
    for (Task& task : stretched.m_tasks)
    {
        if (!IsKernel(graph, task))
        {
            continue;
        }
        const double timePs = std::round(static_cast<double>(task.durationPs) * factor);
        if (timePs > static_cast<double>(MAX_TASK_PS))
        {
            throw std::invalid_argument("task '" + graph.GetName(task) + "' would last too long");
        }
        task.durationPs = static_cast<int64_t>(timePs);
    }
    return stretched;
}

} // namespace proteus
} // namespace ns3
