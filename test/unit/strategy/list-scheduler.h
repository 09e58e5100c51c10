/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LIST_SCHEDULER_H
#define PROTEUS_LIST_SCHEDULER_H

#include "ns3/proteus-graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Times of pipelines as the original of Proteus has them.
 */

namespace ns3
{
namespace proteus
{

/// Proteus' time of a transfer between neighbours among the first four GPUs of a DGX-1: 11.8 us,
/// and 22 GB/s over one NVLink or, between GPUs 2 and 3, 44 GB/s over two (proteus.md,
/// section 5.2).
inline double
GetSendMs(const std::vector<DeviceId>& pair, uint64_t bytes)
{
    const double rate = pair[0] + pair[1] == 5 ? 44 : 22;
    return (11.8 + static_cast<double>(bytes) / 1e3 / rate) * 1e-3;
}

/// A list scheduler that shares nothing with the executors: kernels of a device one after the other
/// in the order of its schedule, each after what it depends on; a send takes its time and occupies
/// its sender.
class ListScheduler
{
  public:
    /// @param graph any
    explicit ListScheduler(const ExecutionGraph& graph)
        : m_graph(graph)
    {
        std::vector<std::size_t> next(graph.GetNDevices());
        std::vector<double> compute(graph.GetNDevices());
        std::vector<double> send(graph.GetNDevices());
        // Rounds over the devices until no schedule goes on: a task runs when its dependencies
        // have, whose ends are known by then.
        for (bool goesOn = true; goesOn;)
        {
            goesOn = false;
            for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
            {
                while (next[device] < graph.GetSchedule(device).size() &&
                       RunEntry(device, graph.GetSchedule(device)[next[device]], compute, send))
                {
                    ++next[device];
                    goesOn = true;
                }
            }
        }
        for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
        {
            m_isDone = m_isDone && next[device] == graph.GetSchedule(device).size();
        }
    }

    bool IsDone() const
    {
        return m_isDone;
    }

    /// @return end of the last task, ms
    double GetEnd() const
    {
        double end = 0;
        for (const auto& [key, time] : m_ends)
        {
            end = std::max(end, time);
        }
        return end;
    }

    /// @return when a kernel starts, ms
    double GetStart(const std::string& name, DeviceId device, uint32_t microBatch) const
    {
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            if (task.kind == TaskKind::COMPUTE && m_graph.GetName(task) == name &&
                task.place == device)
            {
                return m_starts.at({id, microBatch});
            }
        }
        return -1;
    }

  private:
    bool RunEntry(DeviceId device,
                  const ScheduleEntry& entry,
                  std::vector<double>& compute,
                  std::vector<double>& send)
    {
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            const bool isHere = task.kind == TaskKind::COMMUNICATION
                                    ? m_graph.GetGroup(task.place)[0] == device
                                    : task.place == device;
            if (task.phase != entry.phase || !isHere || m_ends.count({id, entry.microBatch}) ||
                (task.kind == TaskKind::MEMORY && task.persistent))
            {
                continue;
            }
            double ready = 0;
            for (const TaskId before : m_graph.GetDependencies(id))
            {
                const uint32_t n = m_graph.GetNInstances(m_graph.GetTask(before));
                const bool isAll = n > m_graph.GetNInstances(task);
                for (uint32_t k = 0; k < (isAll ? n : 1); ++k)
                {
                    const auto found = m_ends.find({before, isAll ? k : entry.microBatch});
                    if (found == m_ends.end())
                    {
                        return false;
                    }
                    ready = std::max(ready, found->second);
                }
            }
            double start = ready;
            double length = 0;
            if (task.kind == TaskKind::COMPUTE)
            {
                start = std::max(ready, compute[device]) + 0.002; // the original's launch gap
                length = static_cast<double>(task.durationPs) / 1e9;
                compute[device] = start + length;
            }
            else if (task.kind == TaskKind::COMMUNICATION)
            {
                start = std::max(ready, send[device]);
                length = GetSendMs(m_graph.GetGroup(task.place), task.bytes);
                send[device] = start + length;
            }
            m_starts[{id, entry.microBatch}] = start;
            m_ends[{id, entry.microBatch}] = start + length;
        }
        return true;
    }

    const ExecutionGraph& m_graph;
    std::map<std::pair<TaskId, uint32_t>, double> m_starts;
    std::map<std::pair<TaskId, uint32_t>, double> m_ends;
    bool m_isDone{true};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LIST_SCHEDULER_H
