/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stall-report.h"

namespace ns3
{
namespace proteus
{

std::optional<LocalInstance>
StallReport::FindWaiting(StreamId stream) const
{
    for (uint32_t local = 0; local < tasks.GetNTasks(); ++local)
    {
        if (tasks.GetIssue(local) != Issue::STREAM || tasks.GetTask(local).stream != stream)
        {
            continue;
        }
        for (uint32_t i = 0; i < tasks.GetNInstances(local); ++i)
        {
            if (pending[tasks.GetState({local, i})] > 0)
            {
                return LocalInstance{local, i};
            }
        }
    }
    return std::nullopt;
}

std::string
StallReport::DescribeWait(const LocalInstance& instance) const
{
    for (const TaskId id : graph.GetDependencies(tasks.GetId(instance.local)))
    {
        const uint32_t before = tasks.Find(id);
        if (before == tasks.GetNTasks())
        {
            continue;
        }
        std::string found;
        tasks.ForEachLinked(instance, before, [&](const LocalInstance& linked) {
            if (found.empty() && pending[tasks.GetState(linked)] > 0)
            {
                found = tasks.Describe(linked);
            }
        });
        if (!found.empty())
        {
            return " waits for " + found;
        }
    }
    return " waits for what another stream runs";
}

std::string
StallReport::DescribeStream(StreamId stream) const
{
    const StreamQueue& queue = *streams[stream];
    const std::string name = "stream " + graph.GetStreams()[stream] + ": ";
    const auto head = queue.GetHead();
    if (!head)
    {
        const auto waiting = queue.IsOfReadyTasks() ? FindWaiting(stream) : std::nullopt;
        return waiting ? name + tasks.Describe(*waiting) + DescribeWait(*waiting) : "";
    }
    const std::string line = name + tasks.Describe(*head);
    if (!queue.IsRunning())
    {
        return line + DescribeWait(*head);
    }
    if (tasks.GetTask(head->local).kind == TaskKind::COMMUNICATION)
    {
        return line + " " +
               network.DescribeWait(device, tasks.GetId(head->local), head->microBatch);
    }
    return line + " runs";
}

void
StallReport::AddCommunications(std::vector<StallLine>& lines) const
{
    for (PhaseId phase = 0; phase < graph.GetPhases().size(); ++phase)
    {
        for (const uint32_t local : tasks.GetPhaseTasks(phase))
        {
            const Issue issue = tasks.GetIssue(local);
            if (issue == Issue::STREAM)
            {
                continue;
            }
            for (uint32_t i = 0; i < tasks.GetNInstances(local); ++i)
            {
                const TaskId id = tasks.GetId(local);
                std::string wait;
                if (issue == Issue::CONTROLLED)
                {
                    wait = control->DescribeWait(device, {id, i});
                }
                if (wait.empty())
                {
                    wait = network.DescribeWait(device, id, i);
                }
                if (!wait.empty())
                {
                    const bool isReceive = issue == Issue::POSTED;
                    lines.push_back({(isReceive ? "receive: " : "communication: ") +
                                         tasks.Describe({local, i}) + " " + wait,
                                     isReceive});
                }
            }
        }
    }
}

std::vector<StallLine>
StallReport::Describe() const
{
    std::vector<StallLine> lines;
    for (StreamId stream = 0; stream < streams.size(); ++stream)
    {
        const std::string line = DescribeStream(stream);
        if (!line.empty())
        {
            lines.push_back({line});
        }
    }
    AddCommunications(lines);
    if (const ScheduleEntry* entry = admission.GetFirstWaiting())
    {
        lines.push_back({"next to be admitted: phase " + graph.GetPhases()[entry->phase].name +
                         ", micro-batch " + std::to_string(entry->microBatch)});
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
