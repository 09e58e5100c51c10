/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-dot.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return a text between quotes
std::string
Quote(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text)
    {
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return quoted + "\"";
}

std::string
GetLabel(const ExecutionGraph& graph, const Task& task)
{
    std::string label = graph.GetName(task);
    if (task.kind != TaskKind::COMPUTE)
    {
        label += " " + std::to_string(task.bytes) + " B";
    }
    if (task.kind == TaskKind::COMMUNICATION)
    {
        label += " {";
        for (const DeviceId device : graph.GetGroup(task.place))
        {
            label += (label.back() == '{' ? "" : " ") + std::to_string(device);
        }
        label += "}";
    }
    return label;
}

} // namespace

void
WriteGraphDot(const ExecutionGraph& graph, std::ostream& output)
{
    std::vector<std::vector<TaskId>> tasks(graph.GetNDevices());
    output << "digraph " << Quote(graph.GetFacts().name) << " {\n rankdir=LR;\n";
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            output << " t" << id << " [shape=hexagon, label=" << Quote(GetLabel(graph, task))
                   << "];\n";
        }
        else
        {
            tasks[task.place].push_back(id);
        }
    }
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        output << " subgraph cluster" << device << " {\n  label=\"device " << device << "\";\n";
        for (const TaskId id : tasks[device])
        {
            const Task& task = graph.GetTask(id);
            output << "  t" << id
                   << " [shape=" << (task.kind == TaskKind::COMPUTE ? "box" : "ellipse")
                   << ", label=" << Quote(GetLabel(graph, task)) << "];\n";
        }
        output << " }\n";
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        for (const TaskId before : graph.GetDependencies(id))
        {
            output << " t" << before << " -> t" << id << ";\n";
        }
    }
    output << "}\n";
}

} // namespace proteus
} // namespace ns3
