/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-device-runtimes.h"

#include "proteus-stall-circle.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Lines of a message about a job that does not finish.
constexpr std::size_t MAX_STALL_LINES = 12;

/// @return whether a span stands before another one in a timeline
bool
IsEarlier(const Span& a, const Span& b)
{
    return std::tie(a.endPs, a.device, a.startPs, a.task, a.microBatch) <
           std::tie(b.endPs, b.device, b.startPs, b.task, b.microBatch);
}

} // namespace

void
RequireGpus(const ExecutionGraph& graph, const Cluster& cluster)
{
    if (graph.GetNDevices() > cluster.GetGpus().size())
    {
        throw std::invalid_argument("the graph needs " + std::to_string(graph.GetNDevices()) +
                                    " GPUs, and cluster '" + cluster.GetName() + "' has " +
                                    std::to_string(cluster.GetGpus().size()) +
                                    ": add servers, or run a job of fewer GPUs");
    }
}

std::vector<const GpuDatasheet*>
FindDatasheets(const ExecutionGraph& graph, const Cluster& cluster)
{
    RequireGpus(graph, cluster);
    std::vector<const GpuDatasheet*> gpus;
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        gpus.push_back(&FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus()[device]].model));
    }
    return gpus;
}

uint64_t
CountSpans(const ExecutionGraph& graph)
{
    uint64_t spans = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind != TaskKind::MEMORY)
        {
            const auto devices =
                task.kind == TaskKind::COMPUTE ? std::size_t{1} : graph.GetGroup(task.place).size();
            spans += devices * graph.GetNInstances(task);
        }
    }
    return spans;
}

Timeline
MakeTimeline(std::vector<Span> spans, const std::vector<const DeviceRuntime*>& devices)
{
    Timeline timeline;
    timeline.spans = std::move(spans);
    std::sort(timeline.spans.begin(), timeline.spans.end(), IsEarlier);
    for (const DeviceRuntime* device : devices)
    {
        timeline.memory.push_back(device ? device->GetMemory() : std::vector<MemorySample>());
        timeline.peakMemoryBytes.push_back(device ? device->GetPeakMemoryBytes() : 0);
    }
    timeline.endPs = timeline.spans.empty() ? 0 : timeline.spans.back().endPs;
    return timeline;
}

Timeline
MakePartialTimeline(const ExecutionGraph& graph,
                    const std::vector<Span>& spans,
                    const std::vector<const DeviceRuntime*>& devices,
                    int64_t nowPs)
{
    std::unordered_map<TaskInstance, std::size_t> ended; // ranks of communications
    for (const Span& span : spans)
    {
        ended[span.GetInstance()] += graph.GetTask(span.task).kind == TaskKind::COMMUNICATION;
    }
    std::vector<Span> whole;
    std::vector<Span> open;
    for (const Span& span : spans)
    {
        const Task& task = graph.GetTask(span.task);
        const bool isWhole = task.kind != TaskKind::COMMUNICATION ||
                             ended[span.GetInstance()] == graph.GetGroup(task.place).size();
        (isWhole ? whole : open).push_back(span);
    }
    Timeline timeline = MakeTimeline(std::move(whole), devices);
    for (const DeviceRuntime* device : devices)
    {
        const std::vector<Span> begun = device->GetOpenSpans(nowPs);
        open.insert(open.end(), begun.begin(), begun.end());
    }
    std::sort(open.begin(), open.end(), IsEarlier);
    timeline.open = std::move(open);
    timeline.endPs = nowPs;
    return timeline;
}

std::string
DescribeStall(const ExecutionGraph& graph, const std::vector<const DeviceRuntime*>& devices)
{
    std::vector<std::string> waiting;
    std::vector<std::string> receives; // which wait for what the others say
    std::vector<Span> open;
    for (DeviceId device = 0; device < devices.size(); ++device)
    {
        if (!devices[device] || devices[device]->IsDone())
        {
            continue;
        }
        for (const StallLine& line : devices[device]->DescribeStall())
        {
            (line.isReceive ? receives : waiting)
                .push_back("\n  device " + std::to_string(device) + ": " + line.text);
        }
        const std::vector<Span> begun = devices[device]->GetOpenSpans(0);
        open.insert(open.end(), begun.begin(), begun.end());
    }
    waiting.insert(waiting.end(), receives.begin(), receives.end());
    if (waiting.empty())
    {
        return "";
    }
    const std::string circle = DescribeStallCircle(graph, FindStallCircle(graph, open));
    std::string stall = "the job cannot finish" +
                        (circle.empty() ? "; waiting are:" : ": " + circle + "Waiting are:");
    for (std::size_t i = 0; i < std::min(waiting.size(), MAX_STALL_LINES); ++i)
    {
        stall += waiting[i];
    }
    if (waiting.size() > MAX_STALL_LINES)
    {
        stall += "\n  and " + std::to_string(waiting.size() - MAX_STALL_LINES) + " more";
    }
    return stall;
}

void
RequireDone(const ExecutionGraph& graph, const std::vector<const DeviceRuntime*>& devices)
{
    const std::string stall = DescribeStall(graph, devices);
    if (!stall.empty())
    {
        throw std::runtime_error(stall);
    }
}

} // namespace proteus
} // namespace ns3
