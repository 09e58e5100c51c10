/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-rank.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param graph whose dependencies have no circle
/// @return its tasks, each behind all that it depends on
std::vector<TaskId>
SortByDependency(const ExecutionGraph& graph)
{
    std::vector<uint32_t> missing(graph.GetNTasks());
    std::vector<std::vector<TaskId>> successors(graph.GetNTasks());
    std::vector<TaskId> order;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        missing[id] = static_cast<uint32_t>(graph.GetDependencies(id).size());
        for (const TaskId before : graph.GetDependencies(id))
        {
            successors[before].push_back(id);
        }
        if (missing[id] == 0)
        {
            order.push_back(id);
        }
    }
    for (std::size_t next = 0; next < order.size(); ++next)
    {
        for (const TaskId after : successors[order[next]])
        {
            if (--missing[after] == 0)
            {
                order.push_back(after);
            }
        }
    }
    return order;
}

/// @param graph a graph
/// @param order its tasks, each behind all that it depends on
/// @param next by task: computation behind it in the next iteration
/// @return by task: the longest computation that depends on it, picoseconds
std::vector<double>
FindTails(const ExecutionGraph& graph,
          const std::vector<TaskId>& order,
          const std::vector<double>& next)
{
    std::vector<double> tails = next;
    for (auto id = order.rbegin(); id != order.rend(); ++id)
    {
        const Task& task = graph.GetTask(*id);
        double length = tails[*id];
        if (task.kind == TaskKind::COMPUTE)
        {
            length += task.durationPs >= 0 ? static_cast<double>(task.durationPs) : task.flops;
        }
        for (const TaskId before : graph.GetDependencies(*id))
        {
            tails[before] = std::max(tails[before], length);
        }
    }
    return tails;
}

/// @param better whether a task is more urgent than another one; those of which neither is have the
/// same rank
template <typename F>
std::vector<uint32_t>
Rank(uint32_t nTasks, F better)
{
    std::vector<TaskId> sorted(nTasks);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), better);
    std::vector<uint32_t> ranks(nTasks);
    for (std::size_t i = 1; i < sorted.size(); ++i)
    {
        ranks[sorted[i]] = ranks[sorted[i - 1]] + better(sorted[i - 1], sorted[i]);
    }
    return ranks;
}

} // namespace

std::vector<uint32_t>
RankByLayer(const ScheduledGraph& scheduled)
{
    return Rank(scheduled.graph.GetNTasks(),
                [&](TaskId a, TaskId b) { return scheduled.wholeOf[a] > scheduled.wholeOf[b]; });
}

std::vector<uint32_t>
RankByCriticalPath(const ScheduledGraph& scheduled)
{
    const ExecutionGraph& graph = scheduled.graph;
    const std::vector<TaskId> order = SortByDependency(graph);
    const std::vector<double> tails =
        FindTails(graph, order, std::vector<double>(graph.GetNTasks()));
    return Rank(graph.GetNTasks(), [&](TaskId a, TaskId b) {
        return std::make_pair(tails[a], scheduled.wholeOf[a]) >
               std::make_pair(tails[b], scheduled.wholeOf[b]);
    });
}

} // namespace proteus
} // namespace ns3
