/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-inventory.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// The tasks of a device, by their place among them.
struct LocalTasks
{
    std::vector<TaskId> ids;                         //!< ascending
    std::vector<std::vector<uint32_t>> dependencies; //!< on the device
    std::vector<std::vector<uint32_t>> dependents;   //!< on the device
};

/// Walks through the schedule of one device.
class Walk
{
  public:
    Walk(const ExecutionGraph& graph, const LocalTasks& tasks, DeviceId device)
        : m_graph(graph),
          m_tasks(tasks),
          m_byPhase(graph.GetPhases().size()),
          m_users(tasks.ids.size()),
          m_left(tasks.ids.size()),
          m_isDone(tasks.ids.size()),
          m_ready(tasks.ids.size()),
          m_ranEarly(tasks.ids.size())
    {
        for (uint32_t local = 0; local < tasks.ids.size(); ++local)
        {
            const Task& task = graph.GetTask(tasks.ids[local]);
            m_uses.push_back(FindUse(local));
            m_runsLeft.push_back(graph.GetNInstances(task));
            if (task.kind == TaskKind::MEMORY && task.persistent)
            {
                m_account.persistentBytes += task.bytes;
                m_account.bytesAtPeak[m_uses[local]] += task.bytes;
            }
            else
            {
                m_byPhase[task.phase].push_back(local);
            }
        }
        for (uint32_t local = 0; local < tasks.ids.size(); ++local)
        {
            for (const uint32_t before : tasks.dependencies[local])
            {
                m_left[local] += m_graph.GetNInstances(GetTask(before));
            }
        }
        m_bytes = m_account.peakBytes = m_account.persistentBytes;
        m_bytesOf = m_account.bytesAtPeak;
        m_account.peakTask = "persistent tensors";
        FindStreams(device);
        for (const ScheduleEntry& entry : graph.GetSchedule(device))
        {
            m_phase = entry.phase;
            for (const uint32_t local : m_byPhase[entry.phase])
            {
                if (m_ranEarly[local] != entry.microBatch + 1 && !IsAhead(local))
                {
                    Run(local, entry.microBatch);
                }
            }
        }
    }

    const MemoryAccount& Get() const
    {
        return m_account;
    }

  private:
    const Task& GetTask(uint32_t local) const
    {
        return m_graph.GetTask(m_tasks.ids[local]);
    }

    /// @return position of a tensor's MemoryUse; of another task: any
    uint8_t FindUse(uint32_t local) const
    {
        const Task& task = GetTask(local);
        if (task.kind != TaskKind::MEMORY)
        {
            return 0;
        }
        MemoryUse use = MemoryUse::ACTIVATIONS;
        if (task.persistent)
        {
            const std::string& name = m_graph.GetName(task);
            use = name == "parameters"        ? MemoryUse::PARAMETERS
                  : name == "gradients"       ? MemoryUse::GRADIENTS
                  : name == "optimizer-state" ? MemoryUse::OPTIMIZER_STATE
                                              : MemoryUse::OTHER;
            return static_cast<uint8_t>(use);
        }
        for (const uint32_t before : m_tasks.dependencies[local])
        {
            use = GetTask(before).kind == TaskKind::COMMUNICATION ? MemoryUse::BUFFERS : use;
        }
        // What is reduced, or read by the optimizer, once per iteration is a parameter's gradient.
        auto isOnce = [&](const Task& other) {
            const std::string& phase = m_graph.GetPhases()[other.phase].name;
            return phase.rfind("gradient", 0) == 0 || phase == "optimizer";
        };
        for (const uint32_t after : m_tasks.dependents[local])
        {
            use = isOnce(GetTask(after)) ? MemoryUse::GRADIENTS : use;
        }
        return static_cast<uint8_t>(isOnce(task) ? MemoryUse::GRADIENTS : use);
    }

    /// Whether this is the reduction of gradients of a micro-batch, which runs as soon as it can.
    bool IsScatter(const Task& task) const
    {
        return m_graph.GetPhases()[task.phase].name.rfind("gradient-scatter", 0) == 0;
    }

    /// Whether this is communication of the whole iteration that stands in the schedule before what
    /// it waits for, as a reduction of gradients may. It runs when that is done.
    bool IsAhead(uint32_t local) const
    {
        const Task& task = GetTask(local);
        const std::vector<uint32_t>& before = m_tasks.dependencies[local];
        return task.kind == TaskKind::COMMUNICATION && m_graph.GetNInstances(task) == 1 &&
               std::any_of(before.begin(), before.end(), [this](uint32_t other) {
                   return m_runsLeft[other] > 0 && !GetTask(other).persistent;
               });
    }

    bool IsTensor(uint32_t local) const
    {
        const Task& task = GetTask(local);
        return task.kind == TaskKind::MEMORY && !task.persistent;
    }

    /// How often a dependent of a tensor of one micro-batch runs.
    uint32_t CountRuns(const Task& tensor, const Task& dependent) const
    {
        return m_graph.GetNInstances(tensor) == 1 ? m_graph.GetNInstances(dependent) : 1;
    }

    void Allocate(uint32_t local, uint32_t microBatch)
    {
        uint32_t users = 0;
        for (const uint32_t dependent : m_tasks.dependents[local])
        {
            users += CountRuns(GetTask(local), GetTask(dependent));
        }
        // A tensor that nobody reads is gone with its producer.
        if (m_users[local].emplace(microBatch, users).second)
        {
            m_bytes += GetTask(local).bytes;
            m_bytesOf[m_uses[local]] += GetTask(local).bytes;
        }
    }

    void Release(uint32_t local, uint32_t microBatch)
    {
        const auto found = m_users[local].find(microBatch);
        if (found != m_users[local].end() && (found->second == 0 || --found->second == 0))
        {
            m_bytes -= GetTask(local).bytes;
            m_bytesOf[m_uses[local]] -= GetTask(local).bytes;
            m_users[local].erase(found);
        }
    }

    /// By stream: what runs on it, in the order of the schedule.
    void FindStreams(DeviceId device)
    {
        std::vector<bool> isKnown(m_byPhase.size());
        for (const ScheduleEntry& entry : m_graph.GetSchedule(device))
        {
            if (isKnown[entry.phase])
            {
                continue;
            }
            isKnown[entry.phase] = true;
            for (const uint32_t local : m_byPhase[entry.phase])
            {
                if (GetTask(local).kind == TaskKind::COMMUNICATION)
                {
                    m_streams[GetTask(local).stream].tasks.push_back(local);
                }
            }
        }
    }

    /// Runs a task, and then the communication of the whole iteration that has waited for it alone
    /// and whose turn on its stream it is, as the reduction of gradients.
    void Run(uint32_t local, uint32_t microBatch)
    {
        if (m_isDone[local])
        {
            return;
        }
        Execute(local, microBatch);
        --m_runsLeft[local];
        m_isDone[local] = m_graph.GetNInstances(GetTask(local)) == 1;
        for (const uint32_t after : m_tasks.dependents[local])
        {
            if (--m_left[after] == 0 && GetTask(after).kind == TaskKind::COMMUNICATION)
            {
                RunNext(GetTask(after).stream);
            }
            if (IsScatter(GetTask(after)) && ++m_ready[after] == m_tasks.dependencies[after].size())
            {
                m_ready[after] = 0;
                m_ranEarly[after] = microBatch + 1;
                Run(after, microBatch);
            }
        }
        if (GetTask(local).kind == TaskKind::COMMUNICATION)
        {
            RunNext(GetTask(local).stream);
        }
    }

    /// Runs the next communication of a stream, if it belongs to a later phase and can.
    void RunNext(StreamId id)
    {
        Stream& stream = m_streams.at(id);
        while (stream.next < stream.tasks.size() && m_runsLeft[stream.tasks[stream.next]] == 0)
        {
            ++stream.next;
        }
        if (stream.next == stream.tasks.size())
        {
            return;
        }
        const uint32_t local = stream.tasks[stream.next];
        if (GetTask(local).phase != m_phase && m_left[local] == 0 &&
            m_graph.GetNInstances(GetTask(local)) == 1)
        {
            Run(local, 0);
        }
    }

    void Execute(uint32_t local, uint32_t microBatch)
    {
        const Task& task = GetTask(local);
        std::vector<uint32_t> unread;
        if (task.kind == TaskKind::MEMORY)
        {
            bool hasProducer = false; // in this phase: then it is allocated
            for (const uint32_t before : m_tasks.dependencies[local])
            {
                hasProducer = hasProducer || GetTask(before).phase == task.phase;
            }
            if (!hasProducer)
            {
                Allocate(local, microBatch);
                Note(local);
            }
            return;
        }
        for (const uint32_t after : m_tasks.dependents[local])
        {
            if (IsTensor(after) && GetTask(after).phase == task.phase)
            {
                Allocate(after, microBatch);
                if (m_tasks.dependents[after].empty())
                {
                    unread.push_back(after);
                }
            }
        }
        Note(local);
        for (const uint32_t before : m_tasks.dependencies[local])
        {
            if (!IsTensor(before))
            {
                continue;
            }
            const uint32_t nBefore = m_graph.GetNInstances(GetTask(before));
            const uint32_t nHere = m_graph.GetNInstances(task);
            if (nBefore > 1 && nHere == 1)
            {
                for (uint32_t k = 0; k < nBefore; ++k)
                {
                    Release(before, k);
                }
            }
            else
            {
                Release(before, nBefore == 1 ? 0 : microBatch);
            }
        }
        for (const uint32_t tensor : unread)
        {
            Release(tensor, microBatch);
        }
    }

    void Note(uint32_t local)
    {
        if (m_bytes > m_account.peakBytes)
        {
            m_account.peakBytes = m_bytes;
            m_account.bytesAtPeak = m_bytesOf;
            m_account.peakTask = m_graph.GetName(GetTask(local));
        }
    }

    /// What runs on a stream.
    struct Stream
    {
        std::vector<uint32_t> tasks; //!< communication, in the order of the schedule
        std::size_t next{0};         //!< first that has runs left
    };

    const ExecutionGraph& m_graph;
    const LocalTasks& m_tasks;
    std::map<StreamId, Stream> m_streams;
    PhaseId m_phase{0};               //!< being walked through
    std::vector<uint32_t> m_runsLeft; //!< by task
    std::vector<std::vector<uint32_t>> m_byPhase;
    std::vector<std::map<uint32_t, uint32_t>> m_users; //!< by tensor and micro-batch: readers left
    std::vector<uint64_t> m_left; //!< by task: instances of dependencies that are not done
    std::vector<bool> m_isDone;   //!< by task that runs once
    /// By reduction of every micro-batch: dependencies of this one that are done.
    std::vector<std::size_t> m_ready;
    std::vector<uint32_t>
        m_ranEarly;              //!< by the same: one more than the micro-batch it ran for last
    std::vector<uint8_t> m_uses; //!< by task: MemoryUse
    uint64_t m_bytes{0};
    std::array<uint64_t, N_MEMORY_USES> m_bytesOf{}; //!< by MemoryUse
    MemoryAccount m_account;
};

/// All that decides the account of a device.
std::vector<uint64_t>
Describe(const ExecutionGraph& graph, const LocalTasks& tasks, DeviceId device)
{
    std::vector<uint64_t> text;
    for (uint32_t local = 0; local < tasks.ids.size(); ++local)
    {
        const Task& task = graph.GetTask(tasks.ids[local]);
        const uint64_t kind = task.kind == TaskKind::MEMORY          ? (task.persistent ? 2 : 1)
                              : task.kind == TaskKind::COMMUNICATION ? 3
                                                                     : 0;
        text.push_back(kind << 32 | task.phase);
        text.push_back(kind == 1 || kind == 2 ? task.bytes : 0);
        text.push_back(tasks.dependencies[local].size());
        text.insert(text.end(), tasks.dependencies[local].begin(), tasks.dependencies[local].end());
    }
    for (const ScheduleEntry& entry : graph.GetSchedule(device))
    {
        text.push_back(uint64_t{entry.phase} << 32 | entry.microBatch);
    }
    return text;
}

/// A dependency: what comes first, and what waits for it.
using Edge = std::pair<TaskId, TaskId>;

/// @return by device, the tasks that it takes part in
std::vector<LocalTasks>
FindLocalTasks(const ExecutionGraph& graph)
{
    std::vector<LocalTasks> devices(graph.GetNDevices());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            for (const DeviceId device : graph.GetGroup(task.place))
            {
                devices[device].ids.push_back(id);
            }
        }
        else
        {
            devices[task.place].ids.push_back(id);
        }
    }
    return devices;
}

/// @return by device, the dependencies that hold there, by the task that waits
std::vector<std::vector<Edge>>
FindLocalEdges(const ExecutionGraph& graph)
{
    std::vector<std::vector<Edge>> edges(graph.GetNDevices());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        for (const TaskId before : graph.GetDependencies(id))
        {
            const Task& source = graph.GetTask(before);
            // One of the two is on one device, and then the other is there as well.
            if (source.kind != TaskKind::COMMUNICATION || task.kind != TaskKind::COMMUNICATION)
            {
                const bool isSource = source.kind != TaskKind::COMMUNICATION;
                edges[isSource ? source.place : task.place].emplace_back(before, id);
                continue;
            }
            const std::vector<DeviceId>& group = graph.GetGroup(task.place);
            const std::set<DeviceId> members(group.begin(), group.end());
            for (const DeviceId device : graph.GetGroup(source.place))
            {
                if (members.count(device))
                {
                    edges[device].emplace_back(before, id);
                }
            }
        }
    }
    return edges;
}

/// @param ids ascending @param end position of a later one @param id one of them, most often near
/// @return its position
uint32_t
FindBefore(const std::vector<TaskId>& ids, uint32_t end, TaskId id)
{
    uint32_t step = 1;
    while (step < end && ids[end - step] > id)
    {
        step *= 2;
    }
    const auto begin = ids.begin() + (step < end ? end - step : 0);
    return static_cast<uint32_t>(std::lower_bound(begin, ids.begin() + end, id) - ids.begin());
}

} // namespace

std::vector<MemoryAccount>
AccountMemory(const ExecutionGraph& graph)
{
    std::vector<LocalTasks> devices = FindLocalTasks(graph);
    const std::vector<std::vector<Edge>> edges = FindLocalEdges(graph);
    std::vector<MemoryAccount> accounts(devices.size());
    std::map<std::vector<uint64_t>, DeviceId> classes; // devices with equal work
    for (DeviceId device = 0; device < devices.size(); ++device)
    {
        LocalTasks& tasks = devices[device];
        tasks.dependencies.resize(tasks.ids.size());
        tasks.dependents.resize(tasks.ids.size());
        uint32_t target = 0;
        for (const auto& [before, after] : edges[device])
        {
            while (tasks.ids[target] < after)
            {
                ++target;
            }
            const uint32_t source = FindBefore(tasks.ids, target, before);
            tasks.dependencies[target].push_back(source);
            tasks.dependents[source].push_back(target);
        }
        const auto found = classes.emplace(Describe(graph, tasks, device), device);
        accounts[device] =
            found.second ? Walk(graph, tasks, device).Get() : accounts[found.first->second];
        tasks = LocalTasks();
    }
    return accounts;
}

} // namespace proteus
} // namespace ns3
