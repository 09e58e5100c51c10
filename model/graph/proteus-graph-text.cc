/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-text.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
FailGraph(const std::string& message)
{
    throw std::invalid_argument(message);
}

std::string
IdText(uint64_t id, const std::string& name)
{
    return std::to_string(id) + " (" + ShownName(name) + ")";
}

std::string
TaskText(const ExecutionGraph& graph, TaskId id)
{
    return "task " + IdText(id, graph.GetName(graph.GetTask(id)));
}

std::string
PhaseText(const ExecutionGraph& graph, PhaseId id)
{
    return "phase " + IdText(id, graph.GetPhases()[id].name);
}

std::string
PlaceText(const Task& task)
{
    return (task.kind == TaskKind::COMMUNICATION ? "group " : "device ") +
           std::to_string(task.place);
}

std::string
MissingText(std::size_t number, const char* what)
{
    return ", which does not exist; the graph has " + std::to_string(number) + " " + what +
           (number == 1 ? "" : "s");
}

} // namespace proteus
} // namespace ns3
