/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-composition.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Most phases and streams of a graph: their numbers have 16 bits, and one value means none.
constexpr std::size_t MAX_NUMBERS = 0xfffe;

/// Adds jobs to a graph, one after the other.
class Composer
{
  public:
    explicit Composer(uint32_t nDevices)
        : m_builder(nDevices)
    {
    }

    /// @param job to add @return where it is
    JobPart Add(const JobGraph& job)
    {
        const ExecutionGraph& graph = *job.graph;
        const JobPart part{m_devices, graph.GetNDevices(), m_tasks, graph.GetNTasks(), job.startPs};
        m_devices += part.nDevices;
        m_tasks += part.nTasks;
        std::vector<StreamId> streams;
        for (StreamId stream = 0; stream < graph.GetStreams().size(); ++stream)
        {
            streams.push_back(GetStream(graph.GetStreams()[stream],
                                        graph.GetStreamOrder(stream),
                                        graph.IsHostStream(stream)));
        }
        const PhaseId firstPhase = AddPhases(graph, job.name);
        std::vector<GroupId> groups;
        for (std::vector<DeviceId> group : graph.GetGroups())
        {
            for (DeviceId& device : group)
            {
                device += part.firstDevice;
            }
            groups.push_back(m_builder.AddGroup(group));
        }
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            Task task = graph.GetTask(id);
            task.stream = task.stream == NO_STREAM ? NO_STREAM : streams[task.stream];
            task.phase = static_cast<PhaseId>(firstPhase + task.phase);
            task.place = task.kind == TaskKind::COMMUNICATION ? groups[task.place]
                                                              : task.place + part.firstDevice;
            std::vector<TaskId> before;
            for (const TaskId other : graph.GetDependencies(id))
            {
                before.push_back(part.firstTask + other);
            }
            m_builder.AddTask(task, graph.GetName(graph.GetTask(id)), before);
        }
        for (MicroBatchGate gate : graph.GetGates())
        {
            gate.device += part.firstDevice;
            gate.acquire = static_cast<PhaseId>(firstPhase + gate.acquire);
            gate.release = static_cast<PhaseId>(firstPhase + gate.release);
            m_builder.AddGate(gate);
        }
        AddSchedules(graph, part, firstPhase);
        AddFacts(graph.GetFacts());
        return part;
    }

    /// Makes a job wait for its start. After all jobs are added. @param job that begins later
    /// @param part of it
    void Delay(const JobGraph& job, const JobPart& part)
    {
        const StreamId stream = GetStream("start", StreamOrder::IN_ORDER, true);
        const PhaseId phase = AddPhase(job.name + "/start", 1);
        std::vector<TaskId> starts;
        for (uint32_t device = 0; device < part.nDevices; ++device)
        {
            starts.push_back(m_builder.AddCompute(phase,
                                                  part.firstDevice + device,
                                                  stream,
                                                  "start of " + job.name,
                                                  job.startPs));
            auto& schedule = m_schedules[part.firstDevice + device];
            schedule.insert(schedule.begin(), ScheduleEntry{phase, 0});
        }
        for (TaskId id = 0; id < part.nTasks; ++id)
        {
            const Task& task = job.graph->GetTask(id);
            if (task.kind == TaskKind::COMMUNICATION)
            {
                for (const DeviceId device : job.graph->GetGroup(task.place))
                {
                    m_builder.AddDependency(starts[device], part.firstTask + id);
                }
            }
            else if (task.kind == TaskKind::COMPUTE)
            {
                m_builder.AddDependency(starts[task.place], part.firstTask + id);
            }
        }
    }

    /// @return the graph
    ExecutionGraph Build()
    {
        for (auto& [device, schedule] : m_schedules)
        {
            m_builder.SetSchedule(device, std::move(schedule));
        }
        m_builder.SetFacts(m_facts);
        return m_builder.Build();
    }

  private:
    /// @return the stream of a name and kind, new if there is none
    StreamId GetStream(const std::string& name, StreamOrder order, bool isHost)
    {
        std::string unique = name;
        while (true)
        {
            const auto found = m_streams.find(unique);
            if (found == m_streams.end())
            {
                Require(m_streams.size() < MAX_NUMBERS, "streams");
                const StreamId id = m_builder.AddStream(unique, order, isHost);
                m_streams[unique] = {id, order, isHost};
                return id;
            }
            if (found->second.order == order && found->second.isHost == isHost)
            {
                return found->second.id;
            }
            unique += '\''; // another kind of stream has the name
        }
    }

    /// @return a new phase
    PhaseId AddPhase(const std::string& name, uint32_t microBatches)
    {
        Require(m_phases < MAX_NUMBERS, "phases");
        ++m_phases;
        return m_builder.AddPhase(name, microBatches);
    }

    /// @return the first of a job's phases
    PhaseId AddPhases(const ExecutionGraph& graph, const std::string& name)
    {
        const auto first = static_cast<PhaseId>(m_phases);
        for (const Phase& phase : graph.GetPhases())
        {
            AddPhase(name + "/" + phase.name, phase.microBatches);
        }
        return first;
    }

    /// Keeps the order in which a job's devices admit their work: phases of other jobs have no
    /// tasks there.
    void AddSchedules(const ExecutionGraph& graph, const JobPart& part, PhaseId firstPhase)
    {
        const auto phases = graph.FindPhasesByDevice();
        for (DeviceId device = 0; device < part.nDevices; ++device)
        {
            auto& schedule = m_schedules[part.firstDevice + device];
            for (ScheduleEntry entry : graph.GetSchedule(device))
            {
                if (std::binary_search(phases[device].begin(), phases[device].end(), entry.phase))
                {
                    entry.phase = static_cast<PhaseId>(firstPhase + entry.phase);
                    schedule.push_back(entry);
                }
            }
        }
    }

    void AddFacts(const WorkloadFacts& facts)
    {
        m_facts.name += (m_facts.name.empty() ? "" : " + ") + facts.name;
        m_facts.modelFlopsPerIteration += facts.modelFlopsPerIteration;
        m_facts.tokensPerIteration += facts.tokensPerIteration;
        m_facts.samplesPerIteration += facts.samplesPerIteration;
    }

    static void Require(bool condition, const std::string& what)
    {
        if (!condition)
        {
            throw std::invalid_argument("jobs of a scenario: too many " + what +
                                        " for one graph; take fewer iterations or jobs");
        }
    }

    /// What is known of a stream.
    struct Stream
    {
        StreamId id{0};
        StreamOrder order{StreamOrder::IN_ORDER};
        bool isHost{false};
    };

    GraphBuilder m_builder;
    WorkloadFacts m_facts;
    uint32_t m_devices{0};
    uint32_t m_tasks{0};
    std::size_t m_phases{0};
    std::map<std::string, Stream> m_streams;
    std::map<DeviceId, std::vector<ScheduleEntry>> m_schedules;
};

} // namespace

ComposedJobs
ComposeJobs(const std::vector<JobGraph>& jobs)
{
    ComposedJobs composed;
    for (const JobGraph& job : jobs)
    {
        if (job.graph == nullptr)
        {
            throw std::invalid_argument("job '" + job.name + "': its graph is a null pointer");
        }
        if (job.startPs < 0)
        {
            throw std::invalid_argument("job '" + job.name + "': begins at " +
                                        std::to_string(job.startPs) + " ps, before time 0");
        }
    }
    if (jobs.size() == 1 && jobs[0].startPs == 0)
    {
        composed.graph = *jobs[0].graph;
        composed.parts = {{0, composed.graph.GetNDevices(), 0, composed.graph.GetNTasks(), 0}};
        return composed;
    }
    uint64_t nDevices = 0;
    for (const JobGraph& job : jobs)
    {
        nDevices += job.graph->GetNDevices();
    }
    if (nDevices > MAX_DEVICES)
    {
        throw std::invalid_argument("jobs of a scenario: " + std::to_string(nDevices) +
                                    " devices are too many for one graph");
    }
    Composer composer(static_cast<uint32_t>(nDevices));
    for (const JobGraph& job : jobs)
    {
        composed.parts.push_back(composer.Add(job));
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
    {
        if (jobs[i].startPs > 0)
        {
            composer.Delay(jobs[i], composed.parts[i]);
        }
    }
    composed.graph = composer.Build();
    return composed;
}

Timeline
ExtractTimeline(const Timeline& timeline, const JobPart& part)
{
    Timeline own;
    for (Span span : timeline.spans)
    {
        if (span.device < part.firstDevice || span.device >= part.firstDevice + part.nDevices ||
            span.task < part.firstTask || span.task >= part.firstTask + part.nTasks)
        {
            continue;
        }
        span.device -= part.firstDevice;
        span.task -= part.firstTask;
        span.startPs -= part.startPs;
        span.endPs -= part.startPs;
        own.endPs = std::max(own.endPs, span.endPs);
        own.spans.push_back(span);
    }
    for (uint32_t i = 0; i < part.nDevices; ++i)
    {
        own.memory.push_back(timeline.memory[part.firstDevice + i]);
        for (MemorySample& sample : own.memory.back())
        {
            sample.timePs = std::max<int64_t>(0, sample.timePs - part.startPs);
        }
        own.peakMemoryBytes.push_back(timeline.peakMemoryBytes[part.firstDevice + i]);
    }
    return own;
}

} // namespace proteus
} // namespace ns3
