/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-run.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{
namespace classic
{

ClassicRun::ClassicRun(const ExecutionGraph& graph,
                       const Cluster& cluster,
                       const ClassicOptions& options)
    : m_graph(graph),
      m_model(cluster),
      m_options(options),
      m_queues(graph.GetNDevices()),
      m_reductions(graph.GetNDevices()),
      m_firstReduction(graph.GetNDevices())
{
    RequireGpus(graph, cluster);
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        m_gpus.push_back(&FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus()[device]].model));
    }
    m_gamma = options.overlapFactor;
    if (m_gamma < 0)
    {
        const std::string name = boost::algorithm::to_lower_copy(cluster.GetName());
        const bool isSlow =
            name.find("titan") != std::string::npos || name.find("1080") != std::string::npos;
        m_gamma = isSlow ? 0.3 : 0.1;
    }
    FindStages();
    ListInstances();
    AssignTasks();
}

Timeline
ClassicRun::Run()
{
    for (InstanceId id = 0; id < m_instances.size(); ++id)
    {
        const Task& task = m_graph.GetTask(m_instances[id].task);
        if (task.kind == TaskKind::MEMORY && m_instances[id].pending == 0 && !m_instances[id].done)
        {
            Complete(id);
        }
    }
    // Stages in turn; the last one is all devices, for the optimizer: when the others are done, or,
    // in one of several iterations, wait for it.
    const auto last = static_cast<uint32_t>(m_stages.size() - 1);
    while (RunRound(false) || RunTurn(last, false) || RunRound(true) ||
           (AreOthersDone() && RunTurn(last, true)))
    {
    }
    for (const Instance& instance : m_instances)
    {
        if (!instance.done)
        {
            throw std::runtime_error(
                "classic rules: the run cannot finish; task " + std::to_string(instance.task) +
                " (" + m_graph.GetName(m_graph.GetTask(instance.task)) + ") for micro-batch " +
                std::to_string(instance.microBatch) + " waits");
        }
    }
    return MakeResult();
}

bool
ClassicRun::IsReduction(const Task& task)
{
    return task.kind == TaskKind::COMMUNICATION && task.parallelism == Parallelism::DATA &&
           (task.collective == Collective::ALL_REDUCE ||
            task.collective == Collective::REDUCE_SCATTER);
}

bool
ClassicRun::JoinsStage(const Task& task)
{
    return task.kind == TaskKind::COMMUNICATION && task.collective != Collective::SEND_RECV &&
           task.parallelism != Parallelism::PIPELINE && task.parallelism != Parallelism::EMBEDDING;
}

bool
ClassicRun::IsCrossStage(const Task& task) const
{
    const auto& group = m_graph.GetGroup(task.place);
    return task.collective == Collective::SEND_RECV &&
           m_stageOf[group.front()] != m_stageOf[group.back()];
}

namespace
{

/// Sets of devices, each named by the lowest of its members.
class DeviceSets
{
  public:
    /// @param devices number of them, each in a set of its own
    explicit DeviceSets(uint32_t devices)
        : m_root(devices)
    {
        std::iota(m_root.begin(), m_root.end(), 0);
    }

    /// @param device a device @return name of its set
    DeviceId Find(DeviceId device)
    {
        while (m_root[device] != device)
        {
            device = m_root[device] = m_root[m_root[device]];
        }
        return device;
    }

    /// Makes the sets of two devices one. @param a a device @param b a device
    void Join(DeviceId a, DeviceId b)
    {
        a = Find(a);
        b = Find(b);
        m_root[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<DeviceId> m_root;
};

} // namespace

void
ClassicRun::FindStages()
{
    DeviceSets sets(m_graph.GetNDevices());
    DeviceSets parts(m_graph.GetNDevices());
    for (const Task& task : m_graph.GetTasks())
    {
        if (task.kind != TaskKind::COMMUNICATION)
        {
            continue;
        }
        for (const DeviceId device : m_graph.GetGroup(task.place))
        {
            const DeviceId first = m_graph.GetGroup(task.place).front();
            parts.Join(first, device);
            if (JoinsStage(task))
            {
                sets.Join(first, device);
            }
        }
    }
    const auto computes = FindComputePhases();
    // Sets of devices that nothing connects, but that have the same schedule and compute in the
    // same phases, are replicas of one stage. In every part of the graph, the sets with one
    // schedule and phases are counted; the n-th of each part belong to one stage.
    using Kind = std::pair<std::vector<ScheduleEntry>, std::vector<bool>>;
    std::map<std::pair<DeviceId, Kind>, uint32_t> seen; // by part and kind: sets of it
    std::map<std::pair<Kind, uint32_t>, DeviceId> first;
    for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
    {
        if (sets.Find(device) == device)
        {
            const Kind kind{m_graph.GetSchedule(device), computes[device]};
            const uint32_t number = seen[{parts.Find(device), kind}]++;
            sets.Join(first.emplace(std::make_pair(kind, number), device).first->second, device);
        }
    }
    m_stageOf.resize(m_graph.GetNDevices());
    std::map<DeviceId, uint32_t> stages;
    for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
    {
        const auto place = stages.emplace(sets.Find(device), m_stages.size());
        if (place.second)
        {
            m_stages.emplace_back();
        }
        m_stageOf[device] = place.first->second;
        m_stages[m_stageOf[device]].devices.push_back(device);
    }
    for (Stage& stage : m_stages)
    {
        FindTurns(stage, computes);
    }
    AddLastStage();
}

void
ClassicRun::AddLastStage()
{
    Stage last;
    last.devices.resize(m_graph.GetNDevices());
    std::iota(last.devices.begin(), last.devices.end(), 0);
    std::map<uint32_t, std::vector<Turn>> turns; // by iteration
    for (PhaseId phase = 0; phase < m_graph.GetPhases().size(); ++phase)
    {
        auto& own = turns[FindIteration(phase)];
        for (uint32_t k = 0; IsLastPhase(phase) && k < m_graph.GetPhases()[phase].microBatches; ++k)
        {
            own.push_back({{{phase, k}}, true});
        }
    }
    for (auto& [iteration, own] : turns)
    {
        m_lastTurns[iteration] = last.turns.size();
        if (own.empty())
        {
            own.push_back({{}, true}); // for what joins several stages
        }
        last.turns.insert(last.turns.end(), own.begin(), own.end());
    }
    m_stages.push_back(last);
}

uint32_t
ClassicRun::FindIteration(PhaseId phase) const
{
    const std::string& name = m_graph.GetPhases()[phase].name;
    const auto marker = name.rfind('#');
    return marker == std::string::npos
               ? 1
               : ParseWholeNumber<uint32_t>(name.substr(marker + 1)).value_or(1);
}

std::vector<std::vector<bool>>
ClassicRun::FindComputePhases() const
{
    std::vector<std::vector<bool>> computes(m_graph.GetNDevices(),
                                            std::vector<bool>(m_graph.GetPhases().size()));
    for (const Task& task : m_graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE)
        {
            computes[task.place][task.phase] = true;
        }
    }
    return computes;
}

void
ClassicRun::FindTurns(Stage& stage, const std::vector<std::vector<bool>>& computes)
{
    const DeviceId first = stage.devices.front();
    for (const DeviceId device : stage.devices)
    {
        if (m_graph.GetSchedule(device) != m_graph.GetSchedule(first))
        {
            throw std::invalid_argument(
                "classic rules: devices " + std::to_string(first) + " and " +
                std::to_string(device) +
                " communicate within a stage, but have different schedules; run this graph "
                "with the other rules");
        }
    }
    for (const ScheduleEntry& entry : m_graph.GetSchedule(first))
    {
        if (IsLastPhase(entry.phase))
        {
            continue;
        }
        const bool hasKernels =
            std::any_of(stage.devices.begin(), stage.devices.end(), [&](DeviceId device) {
                return computes[device][entry.phase];
            });
        if (hasKernels || stage.turns.empty())
        {
            stage.turns.emplace_back();
        }
        stage.turns.back().entries.push_back(entry);
    }
}

void
ClassicRun::ListInstances()
{
    for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
    {
        m_first.push_back(static_cast<InstanceId>(m_instances.size()));
        for (uint32_t k = 0; k < m_graph.GetNInstances(m_graph.GetTask(id)); ++k)
        {
            Instance instance;
            instance.task = id;
            instance.microBatch = k;
            m_instances.push_back(instance);
        }
    }
    m_successors.resize(m_graph.GetNTasks());
    for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
    {
        for (const TaskId before : m_graph.GetDependencies(id))
        {
            m_successors[before].push_back(id);
            const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(before));
            const uint32_t own = m_graph.GetNInstances(m_graph.GetTask(id));
            for (uint32_t k = 0; k < own; ++k)
            {
                m_instances[m_first[id] + k].pending += n > own ? n : 1;
            }
        }
    }
}

void
ClassicRun::AssignTasks()
{
    const auto all = static_cast<uint32_t>(m_stages.size() - 1);
    m_tasksOf.assign(m_stages.size(), std::vector<std::vector<TaskId>>(m_graph.GetPhases().size()));
    for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
    {
        const Task& task = m_graph.GetTask(id);
        if (task.kind == TaskKind::MEMORY)
        {
            continue;
        }
        const std::vector<DeviceId> alone{task.place};
        const auto& devices =
            task.kind == TaskKind::COMMUNICATION ? m_graph.GetGroup(task.place) : alone;
        uint32_t stage = m_stageOf[devices.front()];
        for (const DeviceId device : devices)
        {
            stage = task.collective != Collective::SEND_RECV && m_stageOf[device] != stage ? all
                                                                                           : stage;
        }
        m_tasksOf[IsLastPhase(task.phase) ? all : stage][task.phase].push_back(id);
    }
    // What joins several stages runs with the optimizer, before it.
    std::map<uint32_t, std::vector<ScheduleEntry>> joined; // by iteration
    for (PhaseId phase = 0; phase < m_graph.GetPhases().size(); ++phase)
    {
        for (uint32_t k = 0; !IsLastPhase(phase) && !m_tasksOf[all][phase].empty() &&
                             k < m_graph.GetPhases()[phase].microBatches;
             ++k)
        {
            joined[FindIteration(phase)].push_back({phase, k});
        }
    }
    for (const auto& [iteration, own] : joined)
    {
        auto& entries = m_stages[all].turns[m_lastTurns.at(iteration)].entries;
        entries.insert(entries.begin(), own.begin(), own.end());
    }
}

Timeline
ClassicRun::MakeResult() const
{
    Timeline timeline;
    for (InstanceId id = 0; id < m_instances.size(); ++id)
    {
        const Instance& instance = m_instances[id];
        const Task& task = TaskOf(id);
        if (task.kind == TaskKind::MEMORY)
        {
            continue;
        }
        const std::vector<DeviceId> devices = task.kind == TaskKind::COMMUNICATION
                                                  ? m_graph.GetGroup(task.place)
                                                  : std::vector<DeviceId>{task.place};
        for (const DeviceId device : devices)
        {
            timeline.spans.push_back({device,
                                      instance.task,
                                      instance.microBatch,
                                      ToPs(instance.startMs),
                                      ToPs(instance.endMs)});
            timeline.endPs = std::max(timeline.endPs, timeline.spans.back().endPs);
        }
    }
    std::stable_sort(timeline.spans.begin(),
                     timeline.spans.end(),
                     [](const Span& a, const Span& b) {
                         return std::make_pair(a.endPs, a.device) <
                                std::make_pair(b.endPs, b.device);
                     });
    AddMemory(timeline);
    return timeline;
}

void
ClassicRun::AddMemory(Timeline& timeline) const
{
    std::vector<std::map<int64_t, int64_t>> changes(m_graph.GetNDevices());
    for (InstanceId id = 0; id < m_instances.size(); ++id)
    {
        const Task& task = TaskOf(id);
        if (task.kind != TaskKind::MEMORY)
        {
            continue;
        }
        int64_t start = INT64_MAX;
        int64_t end = -1;
        ForEachDependency(id, [&](InstanceId before) {
            start = std::min(start, ToPs(m_instances[before].startMs));
        });
        ForEachSuccessor(id, [&](InstanceId next) {
            end = std::max(end, ToPs(m_instances[next].endMs));
        });
        start = task.persistent || start == INT64_MAX ? 0 : start;
        const auto bytes = static_cast<int64_t>(task.bytes);
        changes[task.place][start] += bytes;
        if (!task.persistent)
        {
            end = end < 0 ? ToPs(m_instances[id].endMs) : end;
            changes[task.place][end] -= bytes;
        }
    }
    timeline.memory.resize(m_graph.GetNDevices());
    timeline.peakMemoryBytes.resize(m_graph.GetNDevices());
    for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
    {
        int64_t level = 0;
        for (const auto& [time, change] : changes[device])
        {
            level += change;
            timeline.memory[device].push_back({time, static_cast<uint64_t>(level)});
            timeline.peakMemoryBytes[device] =
                std::max(timeline.peakMemoryBytes[device], static_cast<uint64_t>(level));
        }
    }
}

} // namespace classic

Timeline
RunClassic(const ExecutionGraph& graph, const Cluster& cluster, const ClassicOptions& options)
{
    return classic::ClassicRun(graph, cluster, options).Run();
}

} // namespace proteus
} // namespace ns3
