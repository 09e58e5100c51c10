/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-wire-classes.h"

#include "proteus-scheduled-run.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

void
CheckWireClasses(const ScheduleSettings& settings, const WireClasses& wire)
{
    if (!FindSchedulingPolicy(settings.policy).rank)
    {
        throw std::invalid_argument("traffic classes: policy " + settings.policy +
                                    " has no order of its own; take one that ranks "
                                    "communications, e.g. priority");
    }
    if (wire.classes == 0 || wire.classes > MAX_WIRE_CLASSES)
    {
        throw std::invalid_argument("traffic classes: there can be 1 to " +
                                    std::to_string(MAX_WIRE_CLASSES) + ", not " +
                                    std::to_string(wire.classes));
    }
    if (!wire.weights.empty() &&
        (wire.weights.size() != wire.classes ||
         std::find(wire.weights.begin(), wire.weights.end(), 0U) != wire.weights.end()))
    {
        throw std::invalid_argument("traffic classes: " + std::to_string(wire.weights.size()) +
                                    " weights for " + std::to_string(wire.classes) +
                                    " classes; give each class one, above 0");
    }
}

} // namespace

WirePriority
MakeWirePriority(const RepeatedGraph& repeated,
                 const ScheduleSettings& settings,
                 const WireClasses& wire)
{
    CheckWireClasses(settings, wire);
    const SchedulingPolicy policy = FindSchedulingPolicy(settings.policy);
    const ScheduledGraph scheduled = TransformGraph(repeated.graph, settings, policy);
    const std::vector<uint32_t> ranks = policy.rank(scheduled);
    const ExecutionGraph& graph = scheduled.graph;
    std::map<uint32_t, std::vector<TaskId>> iterations;
    std::map<uint32_t, double> bytesOf; // by iteration
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION &&
            std::find(settings.kinds.begin(), settings.kinds.end(), task.parallelism) !=
                settings.kinds.end())
        {
            iterations[repeated.iterationOf[task.phase]].push_back(id);
            bytesOf[repeated.iterationOf[task.phase]] += static_cast<double>(task.bytes);
        }
    }
    WirePriority priority{std::vector<uint8_t>(graph.GetNTasks(), 1), wire.classes, wire.weights};
    for (auto& [iteration, tasks] : iterations)
    {
        std::stable_sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
            return std::tie(ranks[a], scheduled.partOf[a]) <
                   std::tie(ranks[b], scheduled.partOf[b]);
        });
        double before = 0;
        for (const TaskId id : tasks)
        {
            const auto bytes = static_cast<double>(graph.GetTask(id).bytes);
            const double middle = (before + bytes / 2) / bytesOf[iteration];
            priority.classOf[id] = static_cast<uint8_t>(
                1 + std::min(wire.classes - 1, static_cast<uint32_t>(middle * wire.classes)));
            before += bytes;
        }
    }
    return priority;
}

} // namespace proteus
} // namespace ns3
