/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_DEVICE_TASKS_H
#define PROTEUS_DEVICE_TASKS_H

#include "proteus-start-control.h"

#include "ns3/proteus-graph.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A task of a device, numbered from 0 in the order of the graph, for one micro-batch.
struct LocalInstance
{
    uint32_t local{0};      //!< which task of the device
    uint32_t microBatch{0}; //!< for which micro-batch

    /// @param other an instance @return whether both are the same
    bool operator==(const LocalInstance& other) const
    {
        return local == other.local && microBatch == other.microBatch;
    }
};

/// @ingroup proteus
/// What has to happen before a task starts, besides its dependencies.
enum class Issue : uint8_t
{
    NONE,       //!< nothing: memory is no work
    STREAM,     //!< its turn on a stream
    POSTED,     //!< receives: its schedule entry is posted
    CONTROLLED, //!< its schedule entry is admitted, and a StartControl starts it
};

/// @ingroup proteus
/// Which tasks of a graph live on which device, found once for all devices.
class TasksByDevice
{
  public:
    /// @param graph to look through
    explicit TasksByDevice(const ExecutionGraph& graph);

    /// @param device of the graph @return its tasks, ascending
    IdRange Get(DeviceId device) const
    {
        return {m_tasks.data() + m_first[device], m_tasks.data() + m_first[device + 1]};
    }

  private:
    std::vector<std::size_t> m_first; //!< by device, and the end: start in m_tasks
    std::vector<TaskId> m_tasks;      //!< of all devices
};

/**
 * @ingroup proteus
 * The part of a graph that lives on one device: its tasks, and the dependencies that hold there.
 */
class DeviceTasks
{
  public:
    /**
     * @param graph that is executed; must outlive this object
     * @param device which device of it
     * @param control what takes communications from their streams, or null
     * @param all tasks of the graph by device
     */
    DeviceTasks(const ExecutionGraph& graph,
                DeviceId device,
                const StartControl* control,
                const TasksByDevice& all);

    /// The same for one device only. @param graph that is executed; must outlive this object
    /// @param device which device of it
    /// @param control what takes communications from their streams, or null
    DeviceTasks(const ExecutionGraph& graph, DeviceId device, const StartControl* control)
        : DeviceTasks(graph, device, control, TasksByDevice(graph))
    {
    }

    /// @return number of tasks
    uint32_t GetNTasks() const
    {
        return static_cast<uint32_t>(m_tasks.size());
    }

    /// @return number of instances of all tasks
    uint32_t GetNStates() const
    {
        return m_firstState.back();
    }

    /// @param local a task of the device @return its id in the graph
    TaskId GetId(uint32_t local) const
    {
        return m_tasks[local];
    }

    /// @param local a task of the device @return the task
    const Task& GetTask(uint32_t local) const
    {
        return m_graph.GetTask(m_tasks[local]);
    }

    /// @param local a task of the device @return how it comes to start
    Issue GetIssue(uint32_t local) const
    {
        return m_issues[local];
    }

    /// @param local a task of the device @return how often it runs
    uint32_t GetNInstances(uint32_t local) const
    {
        return m_firstState[local + 1] - m_firstState[local];
    }

    /// @param instance of a task @return its position in arrays kept per instance
    uint32_t GetState(const LocalInstance& instance) const
    {
        return m_firstState[instance.local] + instance.microBatch;
    }

    /// @param local a task of the device @return those that depend on it
    IdRange GetSuccessors(uint32_t local) const
    {
        return {m_successors.data() + m_firstSuccessor[local],
                m_successors.data() + m_firstSuccessor[local + 1]};
    }

    /// @param local a task of the device @return the memory tasks that it consumes
    IdRange GetConsumed(uint32_t local) const
    {
        return {m_consumed.data() + m_firstConsumed[local],
                m_consumed.data() + m_firstConsumed[local + 1]};
    }

    /// @param phase a phase @return tasks of it on the device that are no memory, ascending
    const std::vector<uint32_t>& GetPhaseTasks(PhaseId phase) const
    {
        return m_phaseTasks[phase];
    }

    /// @param id a task of the graph @return its number here; GetNTasks() if it is elsewhere
    uint32_t Find(TaskId id) const;

    /// @param from a task @param to one that depends on it @return how many instances of the first
    /// an instance of the second is linked to
    uint32_t CountLinks(uint32_t from, uint32_t to) const
    {
        const uint32_t nFrom = GetNInstances(from);
        const uint32_t nTo = GetNInstances(to);
        return nFrom != nTo && nTo == 1 ? nFrom : 1;
    }

    /// @param instance of a task
    /// @param to a task that depends on it, or that it depends on
    /// @param function called with every instance of the task `to` linked to `instance`
    template <typename F>
    void ForEachLinked(const LocalInstance& instance, uint32_t to, F function) const
    {
        const uint32_t nTo = GetNInstances(to);
        if (GetNInstances(instance.local) == nTo)
        {
            function(LocalInstance{to, instance.microBatch});
            return;
        }
        for (uint32_t i = 0; i < nTo; ++i)
        {
            function(LocalInstance{to, i});
        }
    }

    /// @param instance of a task @return how messages call it
    std::string Describe(const LocalInstance& instance) const;

    /// @return of every instance, how many instances it waits for
    std::vector<uint32_t> CountDependencies() const;

  private:
    /// @param task on the device @param control may be null @return how it comes to start
    Issue FindIssue(const Task& task, DeviceId device, const StartControl* control) const;
    /// Finds the dependencies that hold on this device, in both directions.
    void Link();

    const ExecutionGraph& m_graph;
    std::vector<TaskId> m_tasks;            //!< ascending
    std::vector<Issue> m_issues;            //!< by task
    std::vector<uint32_t> m_firstState;     //!< by task, and the end: where its instances start
    std::vector<uint32_t> m_firstSuccessor; //!< by task, and the end: start in m_successors
    std::vector<uint32_t> m_successors;     //!< tasks that depend on it
    std::vector<uint32_t> m_firstConsumed;  //!< by task, and the end: start in m_consumed
    std::vector<uint32_t> m_consumed;       //!< memory tasks that it depends on
    std::vector<std::vector<uint32_t>> m_phaseTasks; //!< by phase
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_DEVICE_TASKS_H
