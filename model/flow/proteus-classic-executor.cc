/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-executor.h"

#include "ns3/proteus-run-record.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double COLLISION_MS = 0.0001; // between reductions that have been moved (Proteus)

/// Position of a task for one micro-batch in the arrays kept per instance.
using InstanceId = uint32_t;

/// The queues of a device.
enum QueueKind : uint8_t
{
    KERNELS,
    FEATURES,
    GRADIENTS,
    HOST,
    QUEUES,
};

/// A queue of a device.
struct Queue
{
    std::deque<InstanceId> waiting;
    double clockMs{0}; //!< when it is free
};

/// What is known of a task for one micro-batch.
struct Instance
{
    TaskId task{0};
    uint32_t microBatch{0};
    uint32_t pending{0}; //!< dependencies that are not done
    bool admitted{false};
    bool done{false};
    double readyMs{0};
    double startMs{0};
    double endMs{0};
    double slowDown{1}; //!< of a reduction, decided when it becomes ready
    double sharers{1};  //!< of a communication, as it was started
};

/// What a stage runs at a time: some phases for one micro-batch each.
struct Turn
{
    std::vector<ScheduleEntry> entries;
    bool isLast{false}; //!< after all other communication of its devices
};

/// Devices that run the same schedule together.
struct Stage
{
    std::vector<DeviceId> devices;
    std::vector<Turn> turns;
    std::size_t next{0};
    std::vector<InstanceId> running; //!< of the turn that is under way, empty if there is none
};

/// One run.
class ClassicRun
{
  public:
    ClassicRun(const ExecutionGraph& graph, const Cluster& cluster, const ClassicOptions& options)
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
            m_gpus.push_back(
                &FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus()[device]].model));
        }
        m_gamma = options.overlapFactor;
        if (m_gamma < 0)
        {
            std::string name = cluster.GetName();
            std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
                return std::tolower(c);
            });
            const bool isSlow =
                name.find("titan") != std::string::npos || name.find("1080") != std::string::npos;
            m_gamma = isSlow ? 0.3 : 0.1;
        }
        FindStages();
        ListInstances();
        AssignTasks();
    }

    Timeline Run()
    {
        for (InstanceId id = 0; id < m_instances.size(); ++id)
        {
            const Task& task = m_graph.GetTask(m_instances[id].task);
            if (task.kind == TaskKind::MEMORY && m_instances[id].pending == 0 &&
                !m_instances[id].done)
            {
                Complete(id);
            }
        }
        // Stages in turn; the last one is all devices, for the optimizer.
        while (RunRound(false) || RunRound(true))
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

  private:
    const Task& TaskOf(InstanceId id) const
    {
        return m_graph.GetTask(m_instances[id].task);
    }

    static bool IsReduction(const Task& task)
    {
        return task.kind == TaskKind::COMMUNICATION && task.parallelism == Parallelism::DATA &&
               (task.collective == Collective::ALL_REDUCE ||
                task.collective == Collective::REDUCE_SCATTER);
    }

    bool IsLastPhase(PhaseId phase) const
    {
        return m_graph.GetPhases()[phase].name == "optimizer";
    }

    /// Whether a communication makes its members one stage.
    static bool JoinsStage(const Task& task)
    {
        return task.kind == TaskKind::COMMUNICATION && task.collective != Collective::SEND_RECV &&
               task.parallelism != Parallelism::PIPELINE &&
               task.parallelism != Parallelism::EMBEDDING;
    }

    bool IsCrossStage(const Task& task) const
    {
        const auto& group = m_graph.GetGroup(task.place);
        return task.collective == Collective::SEND_RECV &&
               m_stageOf[group.front()] != m_stageOf[group.back()];
    }

    void FindStages()
    {
        std::vector<DeviceId> root(m_graph.GetNDevices());
        std::iota(root.begin(), root.end(), 0);
        const std::function<DeviceId(DeviceId)> find = [&](DeviceId device) {
            while (root[device] != device)
            {
                device = root[device] = root[root[device]];
            }
            return device;
        };
        for (const Task& task : m_graph.GetTasks())
        {
            if (JoinsStage(task))
            {
                for (const DeviceId device : m_graph.GetGroup(task.place))
                {
                    const DeviceId a = find(device);
                    const DeviceId b = find(m_graph.GetGroup(task.place).front());
                    root[std::max(a, b)] = std::min(a, b);
                }
            }
        }
        m_stageOf.resize(m_graph.GetNDevices());
        std::map<DeviceId, uint32_t> stages;
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            const auto place = stages.emplace(find(device), m_stages.size());
            if (place.second)
            {
                m_stages.emplace_back();
            }
            m_stageOf[device] = place.first->second;
            m_stages[m_stageOf[device]].devices.push_back(device);
        }
        const auto computes = FindComputePhases();
        for (Stage& stage : m_stages)
        {
            FindTurns(stage, computes);
        }
        Stage last;
        last.devices.resize(m_graph.GetNDevices());
        std::iota(last.devices.begin(), last.devices.end(), 0);
        for (PhaseId phase = 0; phase < m_graph.GetPhases().size(); ++phase)
        {
            for (uint32_t k = 0; IsLastPhase(phase) && k < m_graph.GetPhases()[phase].microBatches;
                 ++k)
            {
                last.turns.push_back({{{phase, k}}, true});
            }
        }
        if (last.turns.empty())
        {
            last.turns.push_back({{}, true}); // for what joins several stages
        }
        m_stages.push_back(last);
    }

    /// @return by device and phase, whether it has kernels there
    std::vector<std::vector<bool>> FindComputePhases() const
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

    void FindTurns(Stage& stage, const std::vector<std::vector<bool>>& computes)
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

    void ListInstances()
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

    /// Which stage runs which tasks.
    void AssignTasks()
    {
        const auto all = static_cast<uint32_t>(m_stages.size() - 1);
        m_tasksOf.assign(m_stages.size(),
                         std::vector<std::vector<TaskId>>(m_graph.GetPhases().size()));
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            if (task.kind == TaskKind::MEMORY)
            {
                continue;
            }
            uint32_t stage = m_stageOf[task.place];
            if (task.kind == TaskKind::COMMUNICATION)
            {
                const auto& group = m_graph.GetGroup(task.place);
                stage = m_stageOf[group.front()];
                for (const DeviceId device : group)
                {
                    stage = task.collective != Collective::SEND_RECV && m_stageOf[device] != stage
                                ? all
                                : stage;
                }
            }
            m_tasksOf[IsLastPhase(task.phase) ? all : stage][task.phase].push_back(id);
        }
        // What joins several stages runs with the optimizer, before it.
        std::vector<ScheduleEntry> joined;
        for (PhaseId phase = 0; phase < m_graph.GetPhases().size(); ++phase)
        {
            for (uint32_t k = 0; !IsLastPhase(phase) && !m_tasksOf[all][phase].empty() &&
                                 k < m_graph.GetPhases()[phase].microBatches;
                 ++k)
            {
                joined.push_back({phase, k});
            }
        }
        auto& entries = m_stages[all].turns.front().entries;
        entries.insert(entries.begin(), joined.begin(), joined.end());
    }

    /// Calls f with every instance that one of `to` stands for when `id` is done.
    template <typename F>
    void ForEachSuccessor(InstanceId id, F f) const
    {
        const Instance& instance = m_instances[id];
        const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(instance.task));
        for (const TaskId to : m_successors[instance.task])
        {
            const uint32_t m = m_graph.GetNInstances(m_graph.GetTask(to));
            for (uint32_t k = n == m ? instance.microBatch : 0;
                 k < (n == m ? instance.microBatch + 1 : m);
                 ++k)
            {
                f(m_first[to] + k);
            }
        }
    }

    /// Calls f with every instance that `id` depends on.
    template <typename F>
    void ForEachDependency(InstanceId id, F f) const
    {
        const Instance& instance = m_instances[id];
        const uint32_t own = m_graph.GetNInstances(m_graph.GetTask(instance.task));
        for (const TaskId before : m_graph.GetDependencies(instance.task))
        {
            const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(before));
            for (uint32_t k = 0; k < (n > own ? n : 1); ++k)
            {
                f(m_first[before] + (n > own ? k : n == own ? instance.microBatch : 0));
            }
        }
    }

    /// @return whether an instance is done, or will be by what has been admitted
    bool IsComing(InstanceId id) const
    {
        const Instance& instance = m_instances[id];
        if (instance.done || instance.admitted)
        {
            return true;
        }
        if (TaskOf(id).kind != TaskKind::MEMORY)
        {
            return false;
        }
        bool isComing = true;
        ForEachDependency(id, [&](InstanceId before) { isComing = isComing && IsComing(before); });
        return isComing;
    }

    std::vector<InstanceId> ListTurn(uint32_t stage, const Turn& turn) const
    {
        std::vector<InstanceId> instances;
        for (const ScheduleEntry& entry : turn.entries)
        {
            for (const TaskId task : m_tasksOf[stage][entry.phase])
            {
                instances.push_back(m_first[task] + entry.microBatch);
            }
        }
        return instances;
    }

    /// @return whether a turn has all it needs from other stages
    bool IsReady(const std::vector<InstanceId>& turn)
    {
        for (const InstanceId id : turn)
        {
            m_instances[id].admitted = true;
        }
        bool isReady = true;
        for (const InstanceId id : turn)
        {
            ForEachDependency(id,
                              [&](InstanceId before) { isReady = isReady && IsComing(before); });
            if (!isReady)
            {
                break;
            }
        }
        for (const InstanceId id : turn)
        {
            m_instances[id].admitted = false;
        }
        return isReady;
    }

    /**
     * Every stage runs one turn, if it can.
     * @param isForced whether those may begin, too, that cannot finish
     * @return whether anything was done
     */
    bool RunRound(bool isForced)
    {
        bool isAny = false;
        const auto last = static_cast<uint32_t>(m_stages.size() - 1);
        const bool areOthersDone = std::all_of(m_stages.begin(), m_stages.end() - 1, [](auto& s) {
            return s.next == s.turns.size();
        });
        for (uint32_t number = areOthersDone ? last : 0; number < last + (areOthersDone ? 1 : 0);
             ++number)
        {
            Stage& stage = m_stages[number];
            if (stage.next == stage.turns.size())
            {
                continue;
            }
            const Turn& turn = stage.turns[stage.next];
            if (stage.running.empty())
            {
                std::vector<InstanceId> instances = ListTurn(number, turn);
                if (!isForced && !IsReady(instances))
                {
                    continue;
                }
                stage.running = std::move(instances);
                isAny = stage.running.empty() || isAny;
                Admit(stage, turn.isLast);
            }
            while (RunStep(stage))
            {
                isAny = true;
            }
            const bool isDone = std::all_of(stage.running.begin(),
                                            stage.running.end(),
                                            [this](InstanceId id) { return m_instances[id].done; });
            if (isDone)
            {
                stage.running.clear();
                ++stage.next;
            }
            if (isForced && isAny)
            {
                break;
            }
        }
        return isAny;
    }

    void Admit(const Stage& stage, bool isLast)
    {
        for (const DeviceId device : stage.devices)
        {
            auto& queues = m_queues[device];
            if (isLast)
            {
                queues[KERNELS].clockMs = std::max(
                    {queues[KERNELS].clockMs, queues[FEATURES].clockMs, queues[GRADIENTS].clockMs});
            }
        }
        for (const InstanceId id : stage.running)
        {
            m_instances[id].admitted = true;
            m_othersLeft[FindStage(TaskOf(id))] += IsReduction(TaskOf(id)) ? 0 : 1;
        }
        for (const InstanceId id : stage.running)
        {
            if (m_instances[id].pending == 0)
            {
                Enqueue(id);
            }
        }
    }

    /// @return the devices that a communication occupies
    std::vector<DeviceId> GetOccupied(const Task& task) const
    {
        const auto& group = m_graph.GetGroup(task.place);
        return IsCrossStage(task) ? std::vector<DeviceId>{group.front()} : group;
    }

    void Enqueue(InstanceId id)
    {
        const Task& task = TaskOf(id);
        if (task.kind == TaskKind::COMPUTE)
        {
            const bool isHost = m_graph.IsHostStream(task.stream);
            m_queues[task.place][isHost ? HOST : KERNELS].waiting.push_back(id);
            return;
        }
        const bool isReduction = IsReduction(task);
        if (isReduction && m_othersLeft[FindStage(task)] > 0)
        {
            m_instances[id].slowDown = 1 + m_gamma;
        }
        for (const DeviceId device : GetOccupied(task))
        {
            m_queues[device][isReduction ? GRADIENTS : FEATURES].waiting.push_back(id);
        }
    }

    /// An instance has got its end; what follows from it is free: m_freed.
    void Complete(InstanceId id)
    {
        std::vector<InstanceId> list{id};
        while (!list.empty())
        {
            const InstanceId done = list.back();
            list.pop_back();
            m_instances[done].done = true;
            const double end = m_instances[done].endMs;
            ForEachSuccessor(done, [&](InstanceId next) {
                Instance& instance = m_instances[next];
                instance.readyMs = std::max(instance.readyMs, end);
                if (--instance.pending > 0 || instance.done)
                {
                    return;
                }
                if (TaskOf(next).kind == TaskKind::MEMORY)
                {
                    instance.startMs = instance.endMs = instance.readyMs;
                    list.push_back(next);
                }
                else if (instance.admitted)
                {
                    m_freed.push_back(next);
                }
            });
        }
    }

    /// @return the stage that counts a task
    uint32_t FindStage(const Task& task) const
    {
        return m_stageOf[task.kind == TaskKind::COMPUTE ? task.place
                                                        : m_graph.GetGroup(task.place).front()];
    }

    /// What was done in one step; what it frees is ready in the next.
    void FinishTasks(const std::vector<InstanceId>& ended)
    {
        for (const InstanceId id : ended)
        {
            m_othersLeft[FindStage(TaskOf(id))] -= IsReduction(TaskOf(id)) ? 0 : 1;
        }
        for (const InstanceId id : ended)
        {
            Complete(id);
        }
        for (const InstanceId next : std::exchange(m_freed, {}))
        {
            Enqueue(next);
        }
    }

    /// One step of a stage. @return whether anything was done
    bool RunStep(const Stage& stage)
    {
        std::vector<InstanceId> ended;
        for (const DeviceId device : stage.devices)
        {
            for (const QueueKind kind : {KERNELS, HOST})
            {
                Queue& queue = m_queues[device][kind];
                if (!queue.waiting.empty())
                {
                    const InstanceId id = queue.waiting.front();
                    queue.waiting.pop_front();
                    RunKernel(id, device, queue);
                    ended.push_back(id);
                }
            }
        }
        FinishTasks(ended);
        return RunCommunication(stage) || !ended.empty();
    }

    void RunKernel(InstanceId id, DeviceId device, Queue& queue)
    {
        Instance& instance = m_instances[id];
        double ms = m_options.roofline.ComputeTimePs(TaskOf(id), *m_gpus[device]) * 1e-9;
        instance.startMs = std::max(instance.readyMs, queue.clockMs) + m_options.launchGapMs;
        auto& first = m_firstReduction[device];
        const auto& reductions = m_reductions[device];
        while (first < reductions.size() &&
               m_instances[reductions[first]].endMs <= instance.startMs)
        {
            ++first;
        }
        if (first < reductions.size() &&
            m_instances[reductions[first]].startMs < instance.startMs + ms)
        {
            ms *= 1 + m_gamma;
        }
        instance.endMs = queue.clockMs = instance.startMs + ms;
    }

    /// @return what is first in the queues of all members
    std::vector<InstanceId> FindHeads(const Stage& stage, QueueKind kind) const
    {
        std::vector<InstanceId> heads;
        for (const DeviceId device : stage.devices)
        {
            const Queue& queue = m_queues[device][kind];
            if (queue.waiting.empty())
            {
                continue;
            }
            const InstanceId id = queue.waiting.front();
            const std::vector<DeviceId> members = GetOccupied(TaskOf(id));
            const bool isFirst = members.front() == device &&
                                 std::all_of(members.begin(), members.end(), [&](DeviceId member) {
                                     const auto& waiting = m_queues[member][kind].waiting;
                                     return !waiting.empty() && waiting.front() == id;
                                 });
            if (isFirst)
            {
                heads.push_back(id);
            }
        }
        return heads;
    }

    bool RunCommunication(const Stage& stage)
    {
        const std::vector<InstanceId> features = FindHeads(stage, FEATURES);
        const bool isSending = std::any_of(features.begin(), features.end(), [this](InstanceId id) {
            return IsCrossStage(TaskOf(id));
        });
        bool isAny = !features.empty();
        if (!isSending)
        {
            const std::vector<InstanceId> gradients = FindHeads(stage, GRADIENTS);
            Launch(gradients, GRADIENTS);
            isAny = isAny || !gradients.empty();
        }
        Launch(features, FEATURES);
        return isAny;
    }

    ClassicCost GetCost(InstanceId id) const
    {
        const Task& task = TaskOf(id);
        return m_model.GetCost(task.collective, task.bytes, m_graph.GetGroup(task.place));
    }

    void Launch(const std::vector<InstanceId>& heads, QueueKind kind)
    {
        std::vector<ClassicCost> costs;
        for (const InstanceId id : heads)
        {
            costs.push_back(GetCost(id));
        }
        std::vector<double> rates;
        for (const ClassicCost& cost : costs)
        {
            rates.push_back(cost.gigabytesPerSecond);
        }
        if (m_options.sharesBandwidth)
        {
            rates = ShareClassicBandwidth(m_model, costs, m_options.rules);
        }
        for (std::size_t i = 0; i < heads.size(); ++i)
        {
            Instance& instance = m_instances[heads[i]];
            instance.startMs = instance.readyMs;
            for (const DeviceId device : GetOccupied(TaskOf(heads[i])))
            {
                instance.startMs = std::max(instance.startMs, m_queues[device][kind].clockMs);
            }
            instance.sharers = costs[i].gigabytesPerSecond / rates[i];
            instance.endMs = instance.startMs + costs[i].GetMs(rates[i]) * instance.slowDown;
        }
        if (kind == FEATURES && m_options.sharesBandwidth)
        {
            DelayByReductions(heads, costs);
        }
        for (const InstanceId id : heads)
        {
            for (const DeviceId device : GetOccupied(TaskOf(id)))
            {
                Queue& queue = m_queues[device][kind];
                queue.waiting.pop_front();
                queue.clockMs = m_instances[id].endMs;
                if (kind == GRADIENTS)
                {
                    m_reductions[device].push_back(id);
                }
            }
        }
        FinishTasks(heads);
    }

    /// Features that are about to start meet reductions that run.
    void DelayByReductions(const std::vector<InstanceId>& features,
                           const std::vector<ClassicCost>& costs)
    {
        std::vector<InstanceId> together = features;
        std::vector<ClassicCost> all = costs;
        double overlap = 0; // one for all, the last one found, as published
        for (const InstanceId feature : features)
        {
            for (const DeviceId device : m_graph.GetGroup(TaskOf(feature).place))
            {
                for (const InstanceId reduction : m_reductions[device])
                {
                    const Instance& a = m_instances[feature];
                    const Instance& b = m_instances[reduction];
                    const double common =
                        std::min(a.endMs, b.endMs) - std::max(a.startMs, b.startMs);
                    if (common <= 0)
                    {
                        continue;
                    }
                    overlap = common;
                    if (std::find(together.begin(), together.end(), reduction) == together.end())
                    {
                        together.push_back(reduction);
                        all.push_back(GetCost(reduction));
                    }
                }
            }
        }
        if (overlap <= 0)
        {
            return;
        }
        const std::vector<double> sharers =
            CountClassicSharers(m_model, all, m_options.rules, true);
        for (std::size_t i = 0; i < together.size(); ++i)
        {
            Instance& instance = m_instances[together[i]];
            const double delay = overlap * (sharers[i] / instance.sharers - 1);
            if (delay > 0)
            {
                instance.endMs += delay;
                if (i >= features.size())
                {
                    Postpone(together[i]);
                }
            }
        }
    }

    /// A reduction that has been started ends later than was said.
    void Postpone(InstanceId id)
    {
        MoveSuccessors(id);
        for (const DeviceId device : GetOccupied(TaskOf(id)))
        {
            auto& reductions = m_reductions[device];
            const auto place = std::find(reductions.begin(), reductions.end(), id);
            for (auto next = place; next != reductions.end(); ++next)
            {
                Instance& instance = m_instances[*next];
                const double previous = next == place ? 0 : m_instances[*(next - 1)].endMs;
                if (next != place && instance.startMs < previous)
                {
                    const double length = instance.endMs - instance.startMs;
                    instance.startMs = previous + COLLISION_MS;
                    instance.endMs = instance.startMs + length;
                    MoveSuccessors(*next);
                }
                for (const DeviceId member : GetOccupied(TaskOf(*next)))
                {
                    double& clock = m_queues[member][GRADIENTS].clockMs;
                    clock = std::max(clock, instance.endMs);
                }
            }
        }
    }

    /// Raises the ready times of what waits for an instance, through memory.
    void MoveSuccessors(InstanceId id)
    {
        const double end = m_instances[id].endMs;
        ForEachSuccessor(id, [&](InstanceId next) {
            Instance& instance = m_instances[next];
            instance.readyMs = std::max(instance.readyMs, end);
            if (TaskOf(next).kind == TaskKind::MEMORY && instance.done)
            {
                instance.endMs = std::max(instance.endMs, end);
                MoveSuccessors(next);
            }
        });
    }

    static int64_t ToPs(double ms)
    {
        return std::llround(ms * 1e9);
    }

    Timeline MakeResult() const
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

    /// A tensor lives from the start of its first producer to the end of its last consumer.
    void AddMemory(Timeline& timeline) const
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

    const ExecutionGraph& m_graph;
    const ClassicCostModel m_model;
    const ClassicOptions m_options;
    double m_gamma{0};
    std::vector<const GpuDatasheet*> m_gpus;                 //!< by device
    std::vector<Stage> m_stages;                             //!< the last one is all devices
    std::vector<uint32_t> m_stageOf;                         //!< by device
    std::vector<std::vector<std::vector<TaskId>>> m_tasksOf; //!< by stage and phase
    std::vector<Instance> m_instances;
    std::vector<InstanceId> m_first;                   //!< by task
    std::vector<std::vector<TaskId>> m_successors;     //!< by task
    std::vector<std::array<Queue, QUEUES>> m_queues;   //!< by device
    std::vector<std::vector<InstanceId>> m_reductions; //!< by device, in order of their starts
    std::vector<std::size_t> m_firstReduction;         //!< by device: the first that is not over
    std::map<uint32_t, uint32_t> m_othersLeft; //!< by stage: admitted, no reduction, not done
    std::vector<InstanceId> m_freed;           //!< work list of Complete()
};

} // namespace

Timeline
RunClassic(const ExecutionGraph& graph, const Cluster& cluster, const ClassicOptions& options)
{
    return ClassicRun(graph, cluster, options).Run();
}

} // namespace proteus
} // namespace ns3
