/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-device-runtime.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

DeviceRuntime::DeviceRuntime(const ExecutionGraph& graph,
                             DeviceId device,
                             const GpuDatasheet& gpu,
                             const RuntimeOptions& options,
                             Clock& clock,
                             Network& network)
    : m_graph(graph),
      m_device(device),
      m_gpu(gpu),
      m_options(options),
      m_clock(clock),
      m_network(network)
{
    std::vector<bool> isMember(graph.GetGroups().size());
    for (GroupId id = 0; id < isMember.size(); ++id)
    {
        const auto& group = graph.GetGroup(id);
        isMember[id] = std::find(group.begin(), group.end(), device) != group.end();
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION ? isMember[task.place] : task.place == device)
        {
            m_tasks.push_back(id);
        }
    }

    const auto n = static_cast<uint32_t>(m_tasks.size());
    m_firstState.resize(n + 1);
    m_allocationOf.assign(n, NO_ID);
    uint32_t nStates = 0;
    uint32_t nAllocations = 0;
    for (uint32_t local = 0; local < n; ++local)
    {
        const Task& task = graph.GetTask(m_tasks[local]);
        m_firstState[local] = nStates;
        nStates += graph.GetNInstances(task);
        if (task.kind == TaskKind::MEMORY)
        {
            m_allocationOf[local] = nAllocations;
            nAllocations += graph.GetNInstances(task);
        }
    }
    m_firstState[n] = nStates;
    m_pending.assign(nStates, 0);
    m_allocations.resize(nAllocations);
    m_unfinished = nStates;

    // Dependencies that hold on this device, in both directions.
    std::vector<std::pair<uint32_t, uint32_t>> edges; // (before, after)
    m_firstMemoryDependency.assign(n + 1, 0);
    for (uint32_t local = 0; local < n; ++local)
    {
        m_firstMemoryDependency[local] = static_cast<uint32_t>(m_memoryDependencies.size());
        const Task& task = graph.GetTask(m_tasks[local]);
        for (TaskId id : graph.GetDependencies(m_tasks[local]))
        {
            const auto found = std::lower_bound(m_tasks.begin(), m_tasks.end(), id);
            if (found == m_tasks.end() || *found != id)
            {
                continue; // lives on other devices only
            }
            const auto before = static_cast<uint32_t>(found - m_tasks.begin());
            edges.emplace_back(before, local);
            const uint32_t links = CountLinks(graph.GetTask(id), task);
            for (uint32_t i = m_firstState[local]; i < m_firstState[local + 1]; ++i)
            {
                m_pending[i] += links;
            }
            if (m_allocationOf[before] != NO_ID)
            {
                m_memoryDependencies.push_back(before);
                // Every instance of the consumer that links to an instance of the tensor uses it.
                const uint32_t users = CountLinks(task, graph.GetTask(id));
                for (uint32_t i = 0; i < graph.GetNInstances(graph.GetTask(id)); ++i)
                {
                    m_allocations[m_allocationOf[before] + i].users += users;
                }
            }
        }
    }
    m_firstMemoryDependency[n] = static_cast<uint32_t>(m_memoryDependencies.size());
    std::sort(edges.begin(), edges.end());
    m_firstSuccessor.assign(n + 1, 0);
    for (const auto& edge : edges)
    {
        ++m_firstSuccessor[edge.first + 1];
        m_successors.push_back(edge.second);
    }
    for (uint32_t local = 0; local < n; ++local)
    {
        m_firstSuccessor[local + 1] += m_firstSuccessor[local];
    }

    const auto nPhases = graph.GetPhases().size();
    m_phaseTasks.resize(nPhases);
    m_phaseUnfinished.resize(nPhases);
    m_entryStarted.resize(nPhases);
    m_entryPlace.resize(nPhases);
    std::vector<uint32_t> computeTasks(nPhases, 0);
    for (uint32_t local = 0; local < n; ++local)
    {
        const Task& task = graph.GetTask(m_tasks[local]);
        if (task.kind != TaskKind::MEMORY)
        {
            m_phaseTasks[task.phase].push_back(local);
        }
        computeTasks[task.phase] += task.kind == TaskKind::COMPUTE;
    }
    for (PhaseId phase = 0; phase < nPhases; ++phase)
    {
        m_phaseUnfinished[phase].assign(graph.GetPhases()[phase].microBatches,
                                        static_cast<uint32_t>(m_phaseTasks[phase].size()));
        m_computeUnfinished.emplace_back(graph.GetPhases()[phase].microBatches,
                                         computeTasks[phase]);
        m_entryStarted[phase].assign(graph.GetPhases()[phase].microBatches, false);
        m_entryPlace[phase].assign(graph.GetPhases()[phase].microBatches, 0);
    }
    // A receive waits for its schedule entry, where there is one; so does what may overtake.
    m_isScheduled.assign(nPhases, false);
    for (const ScheduleEntry& entry : graph.GetSchedule(device))
    {
        m_isScheduled[entry.phase] = true;
        for (uint32_t local : m_phaseTasks[entry.phase])
        {
            const Task& task = graph.GetTask(m_tasks[local]);
            if (!IsStreamed(task) || IsOvertaking(task))
            {
                ++m_pending[m_firstState[local] + entry.microBatch];
            }
        }
    }
    m_streams.resize(graph.GetStreams().size());
    for (const MicroBatchGate& gate : graph.GetGates())
    {
        if (gate.device == device)
        {
            const uint32_t n = graph.GetPhases()[gate.acquire].microBatches;
            m_gates.push_back({gate, 0, std::vector<bool>(n), std::vector<bool>(n)});
        }
    }
    m_peakInFlight.assign(m_gates.size(), 0);
}

void
DeviceRuntime::SetSpanSink(SpanSink sink)
{
    m_sink = std::move(sink);
}

uint32_t
DeviceRuntime::FindLocal(TaskId id) const
{
    return static_cast<uint32_t>(std::lower_bound(m_tasks.begin(), m_tasks.end(), id) -
                                 m_tasks.begin());
}

bool
DeviceRuntime::IsStreamed(const Task& task) const
{
    if (task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV)
    {
        return m_graph.GetGroup(task.place).front() == m_device;
    }
    return task.kind != TaskKind::MEMORY;
}

bool
DeviceRuntime::IsOvertaking(const Task& task) const
{
    return IsStreamed(task) && m_graph.GetStreamOrder(task.stream) == StreamOrder::READY;
}

uint32_t
DeviceRuntime::CountLinks(const Task& from, const Task& to) const
{
    const uint32_t nFrom = m_graph.GetNInstances(from);
    const uint32_t nTo = m_graph.GetNInstances(to);
    return nFrom != nTo && nTo == 1 ? nFrom : 1;
}

template <typename F>
void
DeviceRuntime::ForEachLinked(const Instance& instance, uint32_t to, F function) const
{
    const uint32_t nFrom = m_firstState[instance.local + 1] - m_firstState[instance.local];
    const uint32_t nTo = m_firstState[to + 1] - m_firstState[to];
    if (nFrom == nTo)
    {
        function(Instance{to, instance.microBatch});
        return;
    }
    for (uint32_t i = 0; i < nTo; ++i)
    {
        function(Instance{to, i});
    }
}

void
DeviceRuntime::Start()
{
    m_memory.push_back({m_clock.GetTimePs(), 0});
    std::vector<Instance> ready;
    for (uint32_t local = 0; local < m_tasks.size(); ++local)
    {
        const Task& task = m_graph.GetTask(m_tasks[local]);
        for (uint32_t i = 0; i < m_graph.GetNInstances(task); ++i)
        {
            const Instance instance{local, i};
            if (task.kind == TaskKind::MEMORY &&
                (task.persistent || m_pending[GetState(instance)] == 0))
            {
                Allocate(instance);
            }
            if (m_pending[GetState(instance)] == 0 && !IsStreamed(task))
            {
                ready.push_back(instance);
            }
        }
    }
    for (const Instance& instance : ready)
    {
        BecomeReady(instance);
    }
    Admit();
}

void
DeviceRuntime::Admit()
{
    const auto& schedule = m_graph.GetSchedule(m_device);
    // Entries without tasks here neither wait nor make others wait.
    const auto isIssued = [&](std::size_t next, std::size_t issued) {
        return next < schedule.size() && (m_phaseTasks[schedule[next].phase].empty() ||
                                          issued < m_started + m_options.issueAhead);
    };
    while (isIssued(m_nextPosted, m_posted))
    {
        const ScheduleEntry& entry = schedule[m_nextPosted++];
        m_posted += !m_phaseTasks[entry.phase].empty();
        PostReceives(entry);
    }
    while (isIssued(m_nextEntry, m_admitted))
    {
        const ScheduleEntry& entry = schedule[m_nextEntry];
        for (const Gate& gate : m_gates)
        {
            if (gate.gate.acquire == entry.phase && gate.inFlight >= gate.gate.limit)
            {
                return;
            }
        }
        ++m_nextEntry;
        m_admitted += !m_phaseTasks[entry.phase].empty();
        AdmitEntry(entry);
    }
}

void
DeviceRuntime::PostReceives(const ScheduleEntry& entry)
{
    for (uint32_t local : m_phaseTasks[entry.phase])
    {
        const Instance instance{local, entry.microBatch};
        if (!IsStreamed(m_graph.GetTask(m_tasks[local])) && --m_pending[GetState(instance)] == 0)
        {
            BecomeReady(instance);
        }
    }
}

void
DeviceRuntime::ReleaseGate(Gate& gate, uint32_t microBatch)
{
    gate.inFlight -= gate.acquired[microBatch];
    gate.released[microBatch] = true;
}

void
DeviceRuntime::AdmitEntry(const ScheduleEntry& entry)
{
    for (std::size_t i = 0; i < m_gates.size(); ++i)
    {
        Gate& gate = m_gates[i];
        if (gate.gate.acquire == entry.phase)
        {
            gate.acquired[entry.microBatch] = true;
            if (!gate.released[entry.microBatch])
            {
                m_peakInFlight[i] = std::max(m_peakInFlight[i], ++gate.inFlight);
            }
        }
        if (gate.gate.release == entry.phase &&
            m_computeUnfinished[entry.phase][entry.microBatch] == 0)
        {
            ReleaseGate(gate, entry.microBatch);
        }
    }
    std::vector<bool> touched(m_streams.size(), false);
    const uint32_t place = m_admitted;
    m_entryPlace[entry.phase][entry.microBatch] = place;
    for (uint32_t local : m_phaseTasks[entry.phase])
    {
        const Task& task = m_graph.GetTask(m_tasks[local]);
        const Instance instance{local, entry.microBatch};
        if (IsOvertaking(task))
        {
            if (--m_pending[GetState(instance)] == 0)
            {
                m_streams[task.stream].ready.emplace(std::make_pair(place, local), instance);
                touched[task.stream] = true;
            }
        }
        else if (IsStreamed(task))
        {
            m_streams[task.stream].queue.push_back(instance);
            touched[task.stream] = true;
        }
    }
    for (StreamId stream = 0; stream < m_streams.size(); ++stream)
    {
        if (touched[stream])
        {
            Advance(stream);
        }
    }
}

void
DeviceRuntime::BecomeReady(const Instance& instance)
{
    const Task& task = m_graph.GetTask(m_tasks[instance.local]);
    if (task.kind == TaskKind::MEMORY)
    {
        Complete(instance);
    }
    else if (IsOvertaking(task))
    {
        const uint32_t place = m_entryPlace[task.phase][instance.microBatch];
        m_streams[task.stream].ready.emplace(std::make_pair(place, instance.local), instance);
        Advance(task.stream);
    }
    else if (IsStreamed(task))
    {
        Advance(task.stream);
    }
    else
    {
        StartTask(instance);
    }
}

void
DeviceRuntime::Advance(StreamId id)
{
    Stream& stream = m_streams[id];
    if (m_graph.GetStreamOrder(id) == StreamOrder::READY)
    {
        AdvanceReady(stream);
        return;
    }
    if (!stream.running && !stream.queue.empty() && m_pending[GetState(stream.queue.front())] == 0)
    {
        stream.running = true;
        StartTask(stream.queue.front());
    }
}

void
DeviceRuntime::AdvanceReady(Stream& stream)
{
    const auto getTask = [this](const Instance& instance) -> const Task& {
        return m_graph.GetTask(m_tasks[instance.local]);
    };
    while (!stream.ready.empty())
    {
        const Instance next = stream.ready.begin()->second;
        if (!stream.queue.empty())
        {
            // Messages to one receiver follow each other without waiting for acknowledgements.
            const Task& before = getTask(stream.queue.back());
            const Task& task = getTask(next);
            const bool isMessage =
                task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV;
            if (!isMessage || before.kind != task.kind || before.collective != task.collective ||
                before.place != task.place)
            {
                return;
            }
        }
        stream.ready.erase(stream.ready.begin());
        stream.queue.push_back(next);
        stream.running = true;
        StartTask(next);
    }
}

void
DeviceRuntime::StartTask(const Instance& instance)
{
    const TaskId id = m_tasks[instance.local];
    const Task& task = m_graph.GetTask(id);
    for (uint32_t i = m_firstSuccessor[instance.local]; i < m_firstSuccessor[instance.local + 1];
         ++i)
    {
        if (m_allocationOf[m_successors[i]] != NO_ID)
        {
            ForEachLinked(instance, m_successors[i], [this](const Instance& memory) {
                Allocate(memory);
            });
        }
    }
    const int64_t startPs = m_clock.GetTimePs();
    const auto done = [this, instance, startPs]() { FinishTask(instance, startPs); };
    if (task.kind == TaskKind::COMPUTE)
    {
        m_clock.Schedule(m_device, m_options.roofline.ComputeTimePs(task, m_gpu), done);
    }
    else
    {
        m_network.Join(m_device, id, instance.microBatch, done);
    }
    if (!m_entryStarted[task.phase][instance.microBatch] && IsStreamed(task))
    {
        m_entryStarted[task.phase][instance.microBatch] = true;
        ++m_started;
        Admit();
    }
}

void
DeviceRuntime::FinishTask(const Instance& instance, int64_t startPs)
{
    const TaskId id = m_tasks[instance.local];
    const Task& task = m_graph.GetTask(id);
    if (m_sink)
    {
        m_sink({m_device, id, instance.microBatch, startPs, m_clock.GetTimePs()});
    }
    const bool streamed = IsStreamed(task);
    if (streamed)
    {
        Stream& stream = m_streams[task.stream];
        const auto place =
            std::find_if(stream.queue.begin(), stream.queue.end(), [&](const Instance& other) {
                return other.local == instance.local && other.microBatch == instance.microBatch;
            });
        stream.queue.erase(place); // the first one, but for messages of StreamOrder::READY
        stream.running = IsOvertaking(task) && !stream.queue.empty();
    }
    // Entries whose only tasks here are receives start with their end.
    if (!m_entryStarted[task.phase][instance.microBatch] &&
        m_phaseUnfinished[task.phase][instance.microBatch] == 1 && m_isScheduled[task.phase])
    {
        m_entryStarted[task.phase][instance.microBatch] = true;
        ++m_started;
    }
    Complete(instance);
    --m_phaseUnfinished[task.phase][instance.microBatch];
    if (task.kind == TaskKind::COMPUTE &&
        --m_computeUnfinished[task.phase][instance.microBatch] == 0)
    {
        for (Gate& gate : m_gates)
        {
            if (gate.gate.release == task.phase)
            {
                ReleaseGate(gate, instance.microBatch);
            }
        }
    }
    if (streamed)
    {
        Advance(task.stream);
    }
    Admit();
}

void
DeviceRuntime::Complete(const Instance& instance)
{
    m_completing.push_back(instance);
    if (m_completing.size() > 1)
    {
        return; // a caller further up works the list off
    }
    for (std::size_t next = 0; next < m_completing.size(); ++next)
    {
        const Instance current = m_completing[next];
        --m_unfinished;
        for (uint32_t i = m_firstMemoryDependency[current.local];
             i < m_firstMemoryDependency[current.local + 1];
             ++i)
        {
            ForEachLinked(current, m_memoryDependencies[i], [this](const Instance& memory) {
                Release(memory, 1);
            });
        }
        if (m_allocationOf[current.local] != NO_ID)
        {
            Release(current, 0);
        }
        for (uint32_t i = m_firstSuccessor[current.local]; i < m_firstSuccessor[current.local + 1];
             ++i)
        {
            ForEachLinked(current, m_successors[i], [this](const Instance& after) {
                if (--m_pending[GetState(after)] == 0)
                {
                    BecomeReady(after);
                }
            });
        }
    }
    m_completing.clear();
}

void
DeviceRuntime::Allocate(const Instance& instance)
{
    Allocation& allocation = m_allocations[m_allocationOf[instance.local] + instance.microBatch];
    if (allocation.allocated)
    {
        return;
    }
    allocation.allocated = true;
    m_bytes += m_graph.GetTask(m_tasks[instance.local]).bytes;
    m_peakBytes = std::max(m_peakBytes, m_bytes);
    if (m_memory.back().timePs == m_clock.GetTimePs())
    {
        m_memory.back().bytes = m_bytes;
    }
    else
    {
        m_memory.push_back({m_clock.GetTimePs(), m_bytes});
    }
}

void
DeviceRuntime::Release(const Instance& instance, uint32_t users)
{
    const Task& task = m_graph.GetTask(m_tasks[instance.local]);
    Allocation& allocation = m_allocations[m_allocationOf[instance.local] + instance.microBatch];
    allocation.users -= users;
    if (allocation.users > 0 || task.persistent || !allocation.allocated)
    {
        return;
    }
    m_bytes -= task.bytes;
    if (m_memory.back().timePs == m_clock.GetTimePs())
    {
        m_memory.back().bytes = m_bytes;
    }
    else
    {
        m_memory.push_back({m_clock.GetTimePs(), m_bytes});
    }
}

std::string
DeviceRuntime::Describe(const Instance& instance) const
{
    const TaskId id = m_tasks[instance.local];
    return "'" + m_graph.GetName(m_graph.GetTask(id)) + "' (task " + std::to_string(id) +
           ", micro-batch " + std::to_string(instance.microBatch) + ")";
}

DeviceRuntime::Instance
DeviceRuntime::FindWaiting(StreamId stream) const
{
    for (uint32_t local = 0; local < m_tasks.size(); ++local)
    {
        const Task& task = m_graph.GetTask(m_tasks[local]);
        for (uint32_t i = 0;
             IsOvertaking(task) && task.stream == stream && i < m_graph.GetNInstances(task);
             ++i)
        {
            if (m_pending[GetState({local, i})] > 0)
            {
                return {local, i};
            }
        }
    }
    return {static_cast<uint32_t>(m_tasks.size()), 0};
}

std::vector<std::string>
DeviceRuntime::DescribeStall() const
{
    std::vector<std::string> lines;
    const auto waitsForDependency = [this](const Instance& instance) {
        for (TaskId id : m_graph.GetDependencies(m_tasks[instance.local]))
        {
            const uint32_t before = FindLocal(id);
            if (before == m_tasks.size() || m_tasks[before] != id)
            {
                continue;
            }
            std::string found;
            ForEachLinked(instance, before, [&](const Instance& linked) {
                if (found.empty() && m_pending[GetState(linked)] > 0)
                {
                    found = Describe(linked);
                }
            });
            if (!found.empty())
            {
                return " waits for " + found;
            }
        }
        return std::string(" waits for what another stream runs");
    };
    for (StreamId id = 0; id < m_streams.size(); ++id)
    {
        const Stream& stream = m_streams[id];
        if (stream.queue.empty())
        {
            const auto waiting = FindWaiting(id);
            if (waiting.local < m_tasks.size())
            {
                lines.push_back("stream " + m_graph.GetStreams()[id] + ": " + Describe(waiting) +
                                waitsForDependency(waiting));
            }
            continue;
        }
        const Instance& head = stream.queue.front();
        std::string line = "stream " + m_graph.GetStreams()[id] + ": " + Describe(head);
        if (!stream.running)
        {
            line += waitsForDependency(head);
        }
        else if (m_graph.GetTask(m_tasks[head.local]).kind == TaskKind::COMMUNICATION)
        {
            line += " " + m_network.DescribeWait(m_device, m_tasks[head.local], head.microBatch);
        }
        else
        {
            line += " runs";
        }
        lines.push_back(line);
    }
    for (const auto& locals : m_phaseTasks)
    {
        for (uint32_t local : locals)
        {
            const Task& task = m_graph.GetTask(m_tasks[local]);
            for (uint32_t i = 0; !IsStreamed(task) && i < m_graph.GetNInstances(task); ++i)
            {
                const std::string wait = m_network.DescribeWait(m_device, m_tasks[local], i);
                if (!wait.empty())
                {
                    lines.push_back("receive: " + Describe({local, i}) + " " + wait);
                }
            }
        }
    }
    const auto& schedule = m_graph.GetSchedule(m_device);
    if (m_nextEntry < schedule.size())
    {
        lines.push_back("next to be admitted: phase " +
                        m_graph.GetPhases()[schedule[m_nextEntry].phase].name + ", micro-batch " +
                        std::to_string(schedule[m_nextEntry].microBatch));
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
