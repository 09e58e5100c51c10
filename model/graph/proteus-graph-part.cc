/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-part.h"

#include "proteus-graph-head.h"
#include "proteus-graph-representative.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Adds the tasks that are left, and what they depend on. @param builder with streams and phases
void
AddTasks(const ExecutionGraph& graph, const std::vector<bool>& isKept, GraphBuilder& builder)
{
    std::vector<TaskId> copies(graph.GetNTasks(), NO_ID);
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        bool stays = false;
        if (task.kind == TaskKind::COMMUNICATION)
        {
            const std::vector<DeviceId>& group = graph.GetGroup(task.place);
            stays = std::any_of(group.begin(), group.end(), [&](DeviceId device) {
                return isKept[device];
            });
        }
        else
        {
            stays = isKept[task.place];
        }
        if (stays)
        {
            copies[id] = builder.AddTask(task, graph.GetName(task));
        }
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        for (const TaskId before : graph.GetDependencies(id))
        {
            if (copies[id] != NO_ID && copies[before] != NO_ID)
            {
                builder.AddDependency(copies[before], copies[id]);
            }
        }
    }
}

} // namespace

ExecutionGraph
KeepDevices(const ExecutionGraph& graph, const std::vector<bool>& isKept)
{
    if (isKept.size() != graph.GetNDevices())
    {
        throw std::invalid_argument("a graph of " + std::to_string(graph.GetNDevices()) +
                                    " devices, and " + std::to_string(isKept.size()) +
                                    " are said to be kept or not");
    }
    GraphBuilder builder(graph.GetNDevices());
    CopyFrame(graph, builder);
    builder.AddStream(REPRESENTATIVES_STREAM);
    AddTasks(graph, isKept, builder);
    CopySchedules(graph, builder);
    return builder.Build();
}

} // namespace proteus
} // namespace ns3
