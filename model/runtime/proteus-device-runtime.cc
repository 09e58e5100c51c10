/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-device-runtime.h"

#include "proteus-stall-report.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

DeviceRuntime::DeviceRuntime(const ExecutionGraph& graph,
                             DeviceId device,
                             const GpuDatasheet& gpu,
                             const RuntimeOptions& options,
                             Clock& clock,
                             Network& network,
                             StartControl* control,
                             GpuSharing* sharing,
                             const TasksByDevice* tasks)
    : m_graph(graph),
      m_device(device),
      m_gpu(gpu),
      m_options(options),
      m_clock(clock),
      m_network(network),
      m_control(control),
      m_sharing(sharing),
      m_tasks(tasks ? DeviceTasks(graph, device, control, *tasks)
                    : DeviceTasks(graph, device, control)),
      m_pending(m_tasks.CountDependencies()),
      m_gates(graph, device, m_tasks),
      m_admission(graph, device, m_tasks, options.issueAhead),
      m_memory(m_tasks, clock),
      m_unfinished(m_tasks.GetNStates())
{
    for (StreamId stream = 0; stream < graph.GetStreams().size(); ++stream)
    {
        m_streams.push_back(MakeStreamQueue(graph.GetStreamOrder(stream), m_tasks));
    }
    for (const ScheduleEntry& entry : m_admission.GetSchedule())
    {
        for (const uint32_t local : m_tasks.GetPhaseTasks(entry.phase))
        {
            GetPending({local, entry.microBatch}) += CountsAdmission(local);
        }
    }
}

void
DeviceRuntime::SetSpanSink(SpanSink sink)
{
    m_sink = std::move(sink);
}

bool
DeviceRuntime::CountsAdmission(uint32_t local) const
{
    return m_tasks.GetIssue(local) != Issue::STREAM ||
           m_streams[m_tasks.GetTask(local).stream]->IsOfReadyTasks();
}

void
DeviceRuntime::Start()
{
    m_memory.Start();
    std::vector<LocalInstance> ready;
    for (uint32_t local = 0; local < m_tasks.GetNTasks(); ++local)
    {
        const Task& task = m_tasks.GetTask(local);
        const Issue issue = m_tasks.GetIssue(local);
        for (uint32_t i = 0; i < m_tasks.GetNInstances(local); ++i)
        {
            const LocalInstance instance{local, i};
            const bool isReady = GetPending(instance) == 0;
            if (issue == Issue::NONE && (task.persistent || isReady))
            {
                m_memory.Allocate(instance);
            }
            if (isReady && issue != Issue::STREAM)
            {
                ready.push_back(instance);
            }
        }
    }
    for (const LocalInstance& instance : ready)
    {
        BecomeReady(instance);
    }
    Admit();
}

void
DeviceRuntime::Admit()
{
    while (const ScheduleEntry* entry = m_admission.GetNextPosted())
    {
        m_admission.Post();
        PostReceives(*entry);
    }
    while (const ScheduleEntry* entry = m_admission.GetNextAdmitted())
    {
        if (m_gates.IsHeldBack(entry->phase))
        {
            return;
        }
        m_admission.Admit();
        AdmitEntry(*entry);
    }
}

void
DeviceRuntime::PostReceives(const ScheduleEntry& entry)
{
    for (const uint32_t local : m_tasks.GetPhaseTasks(entry.phase))
    {
        const LocalInstance instance{local, entry.microBatch};
        if (m_tasks.GetIssue(local) == Issue::POSTED && --GetPending(instance) == 0)
        {
            BecomeReady(instance);
        }
    }
}

void
DeviceRuntime::AdmitEntry(const ScheduleEntry& entry)
{
    m_gates.Admit(entry);
    std::vector<bool> touched(m_streams.size(), false);
    std::vector<LocalInstance> offered;
    for (const uint32_t local : m_tasks.GetPhaseTasks(entry.phase))
    {
        const LocalInstance instance{local, entry.microBatch};
        const Issue issue = m_tasks.GetIssue(local);
        if (issue == Issue::POSTED)
        {
            continue;
        }
        if (CountsAdmission(local) && --GetPending(instance) > 0)
        {
            continue;
        }
        if (issue == Issue::CONTROLLED)
        {
            offered.push_back(instance);
            continue;
        }
        const Task& task = m_tasks.GetTask(local);
        StreamQueue& queue = *m_streams[task.stream];
        queue.Admit(instance);
        queue.SetReady(instance, m_admission.GetPlace(task, entry.microBatch));
        touched[task.stream] = true;
    }
    for (StreamId stream = 0; stream < m_streams.size(); ++stream)
    {
        if (touched[stream])
        {
            Advance(stream);
        }
    }
    for (const LocalInstance& instance : offered)
    {
        Offer(instance);
    }
}

void
DeviceRuntime::BecomeReady(const LocalInstance& instance)
{
    const Task& task = m_tasks.GetTask(instance.local);
    switch (m_tasks.GetIssue(instance.local))
    {
    case Issue::NONE:
        Complete(instance);
        break;
    case Issue::STREAM:
        m_streams[task.stream]->SetReady(instance, m_admission.GetPlace(task, instance.microBatch));
        Advance(task.stream);
        break;
    case Issue::POSTED:
        StartTask(instance);
        break;
    case Issue::CONTROLLED:
        Offer(instance);
        break;
    }
}

void
DeviceRuntime::Advance(StreamId stream)
{
    while (const auto next = m_streams[stream]->TakeNext(m_pending))
    {
        StartTask(*next);
    }
}

void
DeviceRuntime::Offer(const LocalInstance& instance)
{
    m_control->Offer(m_device,
                     {m_tasks.GetId(instance.local), instance.microBatch},
                     [this, instance]() { StartTask(instance); });
}

void
DeviceRuntime::StartTask(const LocalInstance& instance)
{
    const TaskId id = m_tasks.GetId(instance.local);
    const Task& task = m_tasks.GetTask(instance.local);
    for (const uint32_t after : m_tasks.GetSuccessors(instance.local))
    {
        if (m_tasks.GetIssue(after) == Issue::NONE)
        {
            m_tasks.ForEachLinked(instance, after, [this](const LocalInstance& memory) {
                m_memory.Allocate(memory);
            });
        }
    }
    const int64_t startPs = m_clock.GetTimePs();
    const auto done = [this, instance, startPs]() { FinishTask(instance, startPs); };
    m_open[m_tasks.GetState(instance)] = {m_device, id, instance.microBatch, startPs, startPs};
    if (task.kind == TaskKind::COMMUNICATION)
    {
        if (m_sharing)
        {
            m_sharing->Join(m_device, {id, instance.microBatch});
        }
        m_network.Join(m_device, id, instance.microBatch, done);
    }
    else
    {
        StartCompute(task, startPs, done);
    }
    if (m_tasks.GetIssue(instance.local) != Issue::POSTED &&
        m_admission.Start(task, instance.microBatch))
    {
        Admit();
    }
}

void
DeviceRuntime::StartCompute(const Task& task, int64_t startPs, const std::function<void()>& done)
{
    const int64_t usualPs = m_options.roofline.ComputeTimePs(task, m_gpu);
    const int64_t extraPs =
        m_options.stretch
            ? std::max<int64_t>(0, m_options.stretch(m_device, startPs, usualPs) - usualPs)
            : 0;
    if (!m_sharing || m_graph.IsHostStream(task.stream))
    {
        m_clock.Schedule(m_device, usualPs + extraPs, done);
    }
    else if (extraPs == 0)
    {
        m_sharing->StartKernel(m_device, task, done);
    }
    else // what comes on top shares the GPU with nobody
    {
        m_sharing->StartKernel(m_device, task, [this, extraPs, done] {
            m_clock.Schedule(m_device, extraPs, done);
        });
    }
}

void
DeviceRuntime::FinishTask(const LocalInstance& instance, int64_t startPs)
{
    const TaskId id = m_tasks.GetId(instance.local);
    const Task& task = m_tasks.GetTask(instance.local);
    const Issue issue = m_tasks.GetIssue(instance.local);
    m_open.erase(m_tasks.GetState(instance));
    if (m_sharing && task.kind == TaskKind::COMMUNICATION)
    {
        m_sharing->Leave(m_device, {id, instance.microBatch});
    }
    if (m_sink)
    {
        m_sink({m_device, id, instance.microBatch, startPs, m_clock.GetTimePs()});
    }
    if (issue == Issue::STREAM)
    {
        m_streams[task.stream]->Finish(instance);
    }
    m_admission.Finish(task, instance.microBatch);
    Complete(instance);
    if (task.kind == TaskKind::COMPUTE)
    {
        m_gates.FinishCompute(task.phase, instance.microBatch);
    }
    if (issue == Issue::STREAM)
    {
        Advance(task.stream);
    }
    Admit();
    if (issue == Issue::CONTROLLED)
    {
        m_control->Finish(m_device, {id, instance.microBatch});
    }
}

void
DeviceRuntime::Complete(const LocalInstance& instance)
{
    m_completing.push_back(instance);
    if (m_completing.size() > 1)
    {
        return; // a caller further up works the list off
    }
    for (std::size_t next = 0; next < m_completing.size(); ++next)
    {
        const LocalInstance current = m_completing[next];
        --m_unfinished;
        for (const uint32_t consumed : m_tasks.GetConsumed(current.local))
        {
            m_tasks.ForEachLinked(current, consumed, [this](const LocalInstance& memory) {
                m_memory.Release(memory, 1);
            });
        }
        if (m_tasks.GetIssue(current.local) == Issue::NONE)
        {
            m_memory.Release(current, 0);
        }
        for (const uint32_t after : m_tasks.GetSuccessors(current.local))
        {
            m_tasks.ForEachLinked(current, after, [this](const LocalInstance& waiting) {
                if (--GetPending(waiting) == 0)
                {
                    BecomeReady(waiting);
                }
            });
        }
    }
    m_completing.clear();
}

std::vector<Span>
DeviceRuntime::GetOpenSpans(int64_t nowPs) const
{
    std::vector<Span> spans;
    for (const auto& [state, span] : m_open)
    {
        spans.push_back(span);
        spans.back().endPs = nowPs;
    }
    return spans; // in no order; MakePartialTimeline() sorts them
}

std::vector<StallLine>
DeviceRuntime::DescribeStall() const
{
    return StallReport{m_graph,
                       m_device,
                       m_tasks,
                       m_pending,
                       m_streams,
                       m_admission,
                       m_network,
                       m_control}
        .Describe();
}

} // namespace proteus
} // namespace ns3
