/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-text.h"
#include "proteus-graph-validation.h"
#include "proteus-graph.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Most entries that schedules made by Build() may have together (half a gibibyte): a graph that
/// sets no schedule cannot ask for more memory than that.
constexpr uint64_t MAX_DEFAULT_ENTRIES = 1ULL << 26;

} // namespace

GraphBuilder::GraphBuilder(uint32_t nDevices)
{
    if (nDevices == 0 || nDevices > MAX_DEVICES)
    {
        FailGraph("a graph has 1 to " + std::to_string(MAX_DEVICES) + " devices, not " +
                  std::to_string(nDevices));
    }
    m_graph.m_nDevices = nDevices;
}

void
GraphBuilder::SetFacts(const WorkloadFacts& facts)
{
    m_graph.m_facts = facts;
}

StreamId
GraphBuilder::AddStream(const std::string& name, StreamOrder order, bool isHost)
{
    if (m_graph.m_streams.size() >= NO_STREAM)
    {
        FailGraph("stream '" + ShownName(name) + "' is one too many; a graph has at most " +
                  std::to_string(NO_STREAM) + " streams");
    }
    m_graph.m_streams.push_back(name);
    m_graph.m_streamOrders.push_back(order);
    m_graph.m_hostStreams.push_back(isHost);
    return static_cast<StreamId>(m_graph.m_streams.size() - 1);
}

PhaseId
GraphBuilder::AddPhase(const std::string& name, uint32_t microBatches)
{
    if (m_graph.m_phases.size() > std::numeric_limits<PhaseId>::max())
    {
        FailGraph("phase '" + ShownName(name) + "' is one too many; a graph has at most " +
                  std::to_string(m_graph.m_phases.size()) + " phases");
    }
    m_graph.m_phases.push_back({name, microBatches});
    return static_cast<PhaseId>(m_graph.m_phases.size() - 1);
}

GroupId
GraphBuilder::AddGroup(const std::vector<DeviceId>& devices)
{
    const auto id = static_cast<GroupId>(m_graph.m_groups.size());
    const auto found = m_groupIndex.emplace(devices, id);
    if (found.second)
    {
        m_graph.m_groups.push_back(devices);
    }
    return found.first->second;
}

TaskId
GraphBuilder::AddCompute(PhaseId phase,
                         DeviceId device,
                         StreamId stream,
                         const std::string& name,
                         int64_t durationPs,
                         const std::vector<TaskId>& dependencies)
{
    if (durationPs < 0)
    {
        FailGraph("task " + IdText(m_graph.m_tasks.size(), name) + " has the negative duration " +
                  std::to_string(durationPs) + " ps");
    }
    Task task;
    task.kind = TaskKind::COMPUTE;
    task.phase = phase;
    task.place = device;
    task.stream = stream;
    task.durationPs = durationPs;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddCompute(PhaseId phase,
                         DeviceId device,
                         StreamId stream,
                         const std::string& name,
                         double flops,
                         uint64_t bytes,
                         DataType type,
                         const std::vector<TaskId>& dependencies)
{
    Task task;
    task.kind = TaskKind::COMPUTE;
    task.phase = phase;
    task.place = device;
    task.stream = stream;
    task.flops = flops;
    task.bytes = bytes;
    task.dataType = type;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddCommunication(PhaseId phase,
                               GroupId group,
                               StreamId stream,
                               const std::string& name,
                               Collective collective,
                               uint64_t bytes,
                               Parallelism parallelism,
                               const std::vector<TaskId>& dependencies,
                               uint16_t root)
{
    Task task;
    task.kind = TaskKind::COMMUNICATION;
    task.phase = phase;
    task.place = group;
    task.stream = stream;
    task.collective = collective;
    task.bytes = bytes;
    task.parallelism = parallelism;
    task.root = root;
    return AddTask(task, name, dependencies);
}

TaskId
GraphBuilder::AddMemory(PhaseId phase,
                        DeviceId device,
                        const std::string& name,
                        uint64_t bytes,
                        const std::vector<TaskId>& producers,
                        bool persistent)
{
    Task task;
    task.kind = TaskKind::MEMORY;
    task.phase = phase;
    task.place = device;
    task.bytes = bytes;
    task.persistent = persistent;
    return AddTask(task, name, producers);
}

TaskId
GraphBuilder::AddTask(Task task, const std::string& name, const std::vector<TaskId>& dependencies)
{
    if (m_graph.m_tasks.size() >= NO_ID)
    {
        FailGraph("task '" + ShownName(name) + "' is one too many; a graph has at most " +
                  std::to_string(NO_ID) + " tasks");
    }
    const auto id = static_cast<TaskId>(m_graph.m_tasks.size());
    const auto found = m_nameIndex.emplace(name, static_cast<uint32_t>(m_graph.m_names.size()));
    if (found.second)
    {
        m_graph.m_names.push_back(name);
    }
    task.name = found.first->second;
    task.durationPs = std::max<int64_t>(task.durationPs, -1);
    m_graph.m_tasks.push_back(task);
    for (const TaskId before : dependencies)
    {
        AddDependency(before, id);
    }
    return id;
}

void
GraphBuilder::AddDependency(TaskId before, TaskId after)
{
    m_edges.emplace_back(after, before);
}

void
GraphBuilder::SetSchedule(DeviceId device, std::vector<ScheduleEntry> schedule)
{
    SetSchedule(std::vector<DeviceId>{device}, std::move(schedule));
}

void
GraphBuilder::SetSchedule(const std::vector<DeviceId>& devices, std::vector<ScheduleEntry> schedule)
{
    const auto index = static_cast<uint32_t>(m_orders.size());
    const auto found = m_orders.emplace(std::move(schedule), index);
    for (const DeviceId device : devices)
    {
        m_orderOf[device] = found.first->second;
    }
}

void
GraphBuilder::AddGate(const MicroBatchGate& gate)
{
    m_graph.m_gates.push_back(gate);
}

ExecutionGraph
GraphBuilder::Build()
{
    GraphBuilder made(m_graph.m_nDevices);
    std::swap(*this, made);
    made.m_nameIndex.clear();
    made.m_groupIndex.clear();

    ExecutionGraph& graph = made.m_graph;
    CheckStreamsAndPhases(graph);
    CheckFacts(graph.m_facts);
    std::vector<std::vector<DeviceId>> sortedGroups = CheckGroups(graph);
    CheckTaskNames(graph, graph.m_names);
    CheckTasks(graph);
    made.LinkDependencies();
    CheckDependencies(graph, std::move(sortedGroups));
    CheckAcyclic(graph);
    made.AssignSchedules();
    CheckGates(graph);
    graph.m_tasks.shrink_to_fit();
    return std::move(made.m_graph);
}

void
GraphBuilder::LinkDependencies()
{
    const uint32_t nTasks = m_graph.GetNTasks();
    if (m_edges.size() > NO_ID)
    {
        FailGraph("the graph has " + std::to_string(m_edges.size()) +
                  " dependencies; it can have " + std::to_string(NO_ID));
    }
    auto& first = m_graph.m_firstDependency;
    auto& all = m_graph.m_dependencies;
    first.assign(std::size_t{nTasks} + 1, 0);
    for (const auto& [after, before] : m_edges)
    {
        if (after >= nTasks)
        {
            FailGraph("task " + std::to_string(after) + " is said to depend on task " +
                      std::to_string(before) + ", but task " + std::to_string(after) +
                      " does not exist; the graph has " + std::to_string(nTasks) + " tasks");
        }
        if (before >= nTasks)
        {
            FailGraph(TaskText(m_graph, after) + " depends on task " + std::to_string(before) +
                      MissingText(nTasks, "task"));
        }
        first[after + 1]++;
    }
    for (TaskId id = 0; id < nTasks; id++)
    {
        first[id + 1] += first[id];
    }
    // Filling advances first[id] to the end of the task's run, which is where the next one starts;
    // shifting by one place restores it.
    all.resize(m_edges.size());
    for (const auto& [after, before] : m_edges)
    {
        all[first[after]++] = before;
    }
    std::vector<std::pair<TaskId, TaskId>>().swap(m_edges);
    uint32_t begin = 0;
    uint32_t kept = 0;
    for (TaskId id = 0; id < nTasks; id++)
    {
        const uint32_t end = first[id];
        std::sort(all.begin() + begin, all.begin() + end);
        first[id] = kept;
        for (uint32_t i = begin; i < end; i++)
        {
            if (i == begin || all[i] != all[kept - 1])
            {
                all[kept++] = all[i];
            }
        }
        begin = end;
    }
    first[nTasks] = kept;
    all.resize(kept);
    all.shrink_to_fit();
}

namespace
{

/// Schedules of devices for which none is set: their phases in order, each with all micro-batches.
class DefaultSchedules
{
  public:
    /// @param graph with its phases @param schedules to add to
    DefaultSchedules(const ExecutionGraph& graph,
                     std::vector<std::vector<ScheduleEntry>>& schedules)
        : m_graph(graph),
          m_schedules(schedules)
    {
    }

    /// @param device without schedule @param phases of it @return position of its schedule
    uint32_t Get(DeviceId device, const std::vector<PhaseId>& phases)
    {
        const auto [place, isNew] =
            m_known.emplace(phases, static_cast<uint32_t>(m_schedules.size()));
        if (!isNew)
        {
            return place->second;
        }
        for (const PhaseId phase : phases)
        {
            m_nEntries += m_graph.GetPhases()[phase].microBatches;
        }
        if (m_nEntries > MAX_DEFAULT_ENTRIES)
        {
            FailGraph("device " + std::to_string(device) + " has no schedule, and its " +
                      std::to_string(phases.size()) +
                      " phases have too many micro-batches to make one; set a schedule or lower "
                      "the micro-batches");
        }
        m_schedules.emplace_back();
        for (const PhaseId phase : phases)
        {
            for (uint32_t k = 0; k < m_graph.GetPhases()[phase].microBatches; k++)
            {
                m_schedules.back().push_back({phase, k});
            }
        }
        return place->second;
    }

  private:
    const ExecutionGraph& m_graph;
    std::vector<std::vector<ScheduleEntry>>& m_schedules;
    std::map<std::vector<PhaseId>, uint32_t> m_known; //!< phases to their schedule
    uint64_t m_nEntries{0};
};

/**
 * @param graph with its phases
 * @param device that has a schedule
 * @param phases with tasks on the device
 * @param missing first micro-batch that the schedule lacks, by phase; none for 0
 */
void
RequireAllPhases(const ExecutionGraph& graph,
                 DeviceId device,
                 const std::vector<PhaseId>& phases,
                 const std::map<PhaseId, uint32_t>& missing)
{
    for (const PhaseId phase : phases)
    {
        const auto entry = missing.find(phase);
        const uint32_t first = entry == missing.end() ? 0 : entry->second;
        if (first < graph.GetPhases()[phase].microBatches)
        {
            FailGraph("the schedule of device " + std::to_string(device) + " misses micro-batch " +
                      std::to_string(first) + " of " + PhaseText(graph, phase) +
                      ", which has tasks there; add it");
        }
    }
}

} // namespace

void
GraphBuilder::AssignSchedules()
{
    auto& schedules = m_graph.m_schedules;
    schedules.resize(m_orders.size());
    while (!m_orders.empty())
    {
        auto node = m_orders.extract(m_orders.begin());
        schedules[node.mapped()] = std::move(node.key());
    }
    if (!m_orderOf.empty() && m_orderOf.rbegin()->first >= m_graph.m_nDevices)
    {
        FailGraph("a schedule is set for device " + std::to_string(m_orderOf.rbegin()->first) +
                  MissingText(m_graph.m_nDevices, "device"));
    }

    std::vector<std::map<PhaseId, uint32_t>> missing(schedules.size());
    std::vector<bool> isChecked(schedules.size(), false);
    DefaultSchedules defaults(m_graph, schedules);
    const std::vector<std::vector<PhaseId>> phases = m_graph.FindPhasesByDevice();
    m_graph.m_scheduleOf.resize(m_graph.m_nDevices);
    for (DeviceId device = 0; device < m_graph.m_nDevices; device++)
    {
        const auto set = m_orderOf.find(device);
        if (set == m_orderOf.end())
        {
            m_graph.m_scheduleOf[device] = defaults.Get(device, phases[device]);
            continue;
        }
        const uint32_t index = set->second;
        m_graph.m_scheduleOf[device] = index;
        if (!isChecked[index])
        {
            missing[index] = CheckSchedule(m_graph, device, schedules[index]);
            isChecked[index] = true;
        }
        RequireAllPhases(m_graph, device, phases[device], missing[index]);
    }
}

} // namespace proteus
} // namespace ns3
