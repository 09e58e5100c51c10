/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-device-tasks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param graph a graph @param task of it @param function called with every device that it lives on
template <typename F>
void
ForEachDevice(const ExecutionGraph& graph, const Task& task, F function)
{
    if (task.kind != TaskKind::COMMUNICATION)
    {
        function(task.place);
        return;
    }
    for (const DeviceId device : graph.GetGroup(task.place))
    {
        function(device);
    }
}

} // namespace

TasksByDevice::TasksByDevice(const ExecutionGraph& graph)
    : m_first(graph.GetNDevices() + 1, 0)
{
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        ForEachDevice(graph, graph.GetTask(id), [&](DeviceId device) { ++m_first[device + 1]; });
    }
    std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
    m_tasks.resize(m_first.back());
    std::vector<std::size_t> next = m_first;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        ForEachDevice(graph, graph.GetTask(id), [&](DeviceId device) {
            m_tasks[next[device]++] = id;
        });
    }
}

DeviceTasks::DeviceTasks(const ExecutionGraph& graph,
                         DeviceId device,
                         const StartControl* control,
                         const TasksByDevice& all)
    : m_graph(graph)
{
    m_phaseTasks.resize(graph.GetPhases().size());
    uint32_t nStates = 0;
    for (const TaskId id : all.Get(device))
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::MEMORY)
        {
            m_phaseTasks[task.phase].push_back(static_cast<uint32_t>(m_tasks.size()));
        }
        m_tasks.push_back(id);
        m_issues.push_back(FindIssue(task, device, control));
        m_firstState.push_back(nStates);
        nStates += graph.GetNInstances(task);
    }
    m_firstState.push_back(nStates);
    Link();
}

Issue
DeviceTasks::FindIssue(const Task& task, DeviceId device, const StartControl* control) const
{
    if (task.kind == TaskKind::MEMORY)
    {
        return Issue::NONE;
    }
    if (task.kind == TaskKind::COMMUNICATION)
    {
        if (task.collective == Collective::SEND_RECV &&
            m_graph.GetGroup(task.place).front() != device)
        {
            return Issue::POSTED;
        }
        if (control && control->Takes(task))
        {
            return Issue::CONTROLLED;
        }
    }
    return Issue::STREAM;
}

void
DeviceTasks::Link()
{
    const uint32_t n = GetNTasks();
    std::vector<std::pair<uint32_t, uint32_t>> edges; // (before, after)
    m_firstConsumed.reserve(n + 1);
    for (uint32_t local = 0; local < n; ++local)
    {
        m_firstConsumed.push_back(static_cast<uint32_t>(m_consumed.size()));
        for (const TaskId id : m_graph.GetDependencies(m_tasks[local]))
        {
            const uint32_t before = Find(id);
            if (before == n)
            {
                continue; // lives on other devices only
            }
            edges.emplace_back(before, local);
            if (m_issues[before] == Issue::NONE)
            {
                m_consumed.push_back(before);
            }
        }
    }
    m_firstConsumed.push_back(static_cast<uint32_t>(m_consumed.size()));
    std::sort(edges.begin(), edges.end());
    m_firstSuccessor.assign(n + 1, 0);
    for (const auto& [before, after] : edges)
    {
        ++m_firstSuccessor[before + 1];
        m_successors.push_back(after);
    }
    for (uint32_t local = 0; local < n; ++local)
    {
        m_firstSuccessor[local + 1] += m_firstSuccessor[local];
    }
}

uint32_t
DeviceTasks::Find(TaskId id) const
{
    const auto found = std::lower_bound(m_tasks.begin(), m_tasks.end(), id);
    return found == m_tasks.end() || *found != id ? GetNTasks()
                                                  : static_cast<uint32_t>(found - m_tasks.begin());
}

std::string
DeviceTasks::Describe(const LocalInstance& instance) const
{
    return "'" + m_graph.GetName(GetTask(instance.local)) + "' (task " +
           std::to_string(GetId(instance.local)) + ", micro-batch " +
           std::to_string(instance.microBatch) + ")";
}

std::vector<uint32_t>
DeviceTasks::CountDependencies() const
{
    std::vector<uint32_t> counts(GetNStates());
    for (uint32_t before = 0; before < GetNTasks(); ++before)
    {
        for (const uint32_t after : GetSuccessors(before))
        {
            const uint32_t links = CountLinks(before, after);
            for (uint32_t i = m_firstState[after]; i < m_firstState[after + 1]; ++i)
            {
                counts[i] += links;
            }
        }
    }
    return counts;
}

} // namespace proteus
} // namespace ns3
