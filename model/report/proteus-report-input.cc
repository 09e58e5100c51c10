/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-report-input.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

std::string
Describe(const Span& span)
{
    return "task " + std::to_string(span.task) + ", micro-batch " +
           std::to_string(span.microBatch) + ", device " + std::to_string(span.device);
}

[[noreturn]] void
Fail(const Span& span, const std::string& cause)
{
    throw std::invalid_argument("timeline: " + Describe(span) + ": " + cause);
}

} // namespace

void
RequireGpuPerDevice(const ExecutionGraph& graph, const Cluster& cluster)
{
    if (cluster.GetGpus().size() < graph.GetNDevices())
    {
        throw std::invalid_argument("the graph has " + std::to_string(graph.GetNDevices()) +
                                    " devices, the cluster '" + cluster.GetName() + "' only " +
                                    std::to_string(cluster.GetGpus().size()) + " GPUs");
    }
}

void
RequireTimelineOf(const ExecutionGraph& graph, const Timeline& timeline)
{
    for (const Span& span : timeline.spans)
    {
        if (span.device >= graph.GetNDevices())
        {
            Fail(span, "the graph has no such device");
        }
        if (span.task >= graph.GetNTasks())
        {
            Fail(span, "the graph has no such task");
        }
        const Task& task = graph.GetTask(span.task);
        if (span.microBatch >= graph.GetNInstances(task))
        {
            Fail(span, "the graph has no such micro-batch");
        }
        bool isHere = true;
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            isHere = task.place == span.device;
            break;
        case TaskKind::COMMUNICATION:
            // Groups of other collectives are large, so that a search in each would cost much.
            if (task.collective == Collective::SEND_RECV)
            {
                const auto& group = graph.GetGroup(task.place);
                isHere = group.front() == span.device || group.back() == span.device;
            }
            break;
        case TaskKind::MEMORY:
            Fail(span, "a memory task has no span");
        }
        if (!isHere)
        {
            Fail(span, "the task is not on this device");
        }
        if (span.startPs < 0 || span.endPs < span.startPs || span.endPs > timeline.endPs)
        {
            Fail(span,
                 "from " + std::to_string(span.startPs) + " to " + std::to_string(span.endPs) +
                     " ps does not lie within 0 to " + std::to_string(timeline.endPs) + " ps");
        }
    }
}

bool
IsReceive(const ExecutionGraph& graph, const Span& span)
{
    const Task& task = graph.GetTask(span.task);
    return task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV &&
           graph.GetGroup(task.place).back() == span.device;
}

Sends::Sends(const ExecutionGraph& graph, const Timeline& timeline)
{
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV &&
            !IsReceive(graph, span))
        {
            Send send;
            send.startPs = span.startPs;
            send.number = m_sends.size();
            if (!m_sends.emplace(span.GetInstance(), send).second)
            {
                Fail(span, "is sent twice");
            }
        }
    }
    uint64_t received = 0;
    for (const Span& span : timeline.spans)
    {
        if (IsReceive(graph, span))
        {
            const auto found = m_sends.find(span.GetInstance());
            if (found == m_sends.end())
            {
                Fail(span, "is received but never sent");
            }
            if (found->second.received)
            {
                Fail(span, "is received twice");
            }
            found->second.received = true;
            ++received;
        }
    }
    if (received == m_sends.size())
    {
        return;
    }
    for (const Span& span : timeline.spans)
    {
        const auto found = m_sends.find(span.GetInstance());
        if (found != m_sends.end() && !found->second.received)
        {
            Fail(span, "is sent but never received");
        }
    }
}

} // namespace proteus
} // namespace ns3
