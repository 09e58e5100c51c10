/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-iteration-times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double S_PER_PS = 1e-12;

bool
IsKernel(const ExecutionGraph& graph, const Task& task)
{
    return task.kind == TaskKind::COMPUTE && !graph.IsHostStream(task.stream) &&
           graph.GetStreamOrder(task.stream) == StreamOrder::IN_ORDER;
}

/// Where the kernels of a graph lie if every device runs its own one after the other.
class KernelOrder
{
  public:
    KernelOrder(const ExecutionGraph& graph,
                const std::vector<CarriedDependency>& carried,
                const std::vector<int64_t>& timesPs)
        : m_graph(graph),
          m_beginPs(graph.GetNTasks(), -1),
          m_endPs(graph.GetNTasks(), 0),
          m_totalPs(graph.GetNDevices(), 0),
          m_after(graph.GetNTasks()),
          m_next(graph.GetNTasks())
    {
        using PhaseKernels = std::map<PhaseId, std::vector<TaskId>>;
        std::vector<PhaseKernels> kernels(graph.GetNDevices());
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            if (IsKernel(graph, task))
            {
                kernels[task.place][task.phase].push_back(id);
            }
            for (const TaskId before : graph.GetDependencies(id))
            {
                m_after[before].push_back(id);
            }
        }
        for (const auto& [before, after] : carried)
        {
            m_next[before].push_back(after);
        }
        for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
        {
            int64_t& timePs = m_totalPs[device];
            for (const ScheduleEntry& entry : graph.GetSchedule(device))
            {
                for (const TaskId id : kernels[device][entry.phase])
                {
                    // Who needs something waits with its first micro-batch; what is made is there
                    // after the last one.
                    m_beginPs[id] = m_beginPs[id] < 0 ? timePs : m_beginPs[id];
                    timePs += timesPs[id];
                    m_endPs[id] = timePs;
                }
            }
        }
    }

    /// @param device a device @return its kernels, picoseconds
    int64_t GetTotalPs(DeviceId device) const
    {
        return m_totalPs[device];
    }

    /// @param id a communication @return by device: end of the last kernel that it waits for
    std::map<DeviceId, int64_t> FindReady(TaskId id) const
    {
        std::map<DeviceId, int64_t> ready;
        Walk(id, [&](TaskId task, std::vector<TaskId>& open) {
            if (m_beginPs[task] >= 0)
            {
                int64_t& endPs = ready[m_graph.GetTask(task).place];
                endPs = std::max(endPs, m_endPs[task]);
                return;
            }
            const IdRange before = m_graph.GetDependencies(task);
            open.insert(open.end(), before.begin(), before.end());
        });
        return ready;
    }

    /// @param id a communication
    /// @return by device: when the first kernel that waits for it starts, directly or by way of
    /// tasks that are no kernels; picoseconds from the start of the next iteration, so that a
    /// kernel of the same iteration counts one iteration earlier, below 0
    std::map<DeviceId, int64_t> FindNeeds(TaskId id) const
    {
        std::map<DeviceId, int64_t> needs;
        const auto note = [&](TaskId kernel, int64_t earlierPs) {
            const int64_t beginPs = m_beginPs[kernel] - earlierPs;
            const auto place = needs.emplace(m_graph.GetTask(kernel).place, beginPs).first;
            place->second = std::min(place->second, beginPs);
        };
        Walk(id, [&](TaskId task, std::vector<TaskId>& open) {
            if (m_beginPs[task] >= 0)
            {
                note(task, m_totalPs[m_graph.GetTask(task).place]);
                return;
            }
            open.insert(open.end(), m_after[task].begin(), m_after[task].end());
            for (const TaskId after : m_next[task])
            {
                if (m_beginPs[after] >= 0)
                {
                    note(after, 0);
                }
            }
        });
        return needs;
    }

  private:
    /**
     * Visits tasks, each once.
     * @param first the first one
     * @param visit called with a task, and a list to which it adds those to visit from there
     */
    template <typename VISIT>
    static void Walk(TaskId first, VISIT visit)
    {
        std::vector<TaskId> open{first};
        std::set<TaskId> seen;
        while (!open.empty())
        {
            const TaskId task = open.back();
            open.pop_back();
            if (seen.insert(task).second)
            {
                visit(task, open);
            }
        }
    }

    const ExecutionGraph& m_graph;
    std::vector<int64_t> m_beginPs;           //!< by task; -1 if it is no kernel
    std::vector<int64_t> m_endPs;             //!< by task
    std::vector<int64_t> m_totalPs;           //!< by device
    std::vector<std::vector<TaskId>> m_after; //!< by task: who waits for it
    std::vector<std::vector<TaskId>> m_next;  //!< the same in the next iteration
};

} // namespace

std::vector<int64_t>
FindIterationEnds(const ExecutionGraph& graph,
                  const std::vector<uint32_t>& iterationOf,
                  const Timeline& timeline)
{
    const uint32_t count = *std::max_element(iterationOf.begin(), iterationOf.end()) + 1;
    std::vector<int64_t> kernelsPs(count, 0);
    std::vector<int64_t> tasksPs(count, 0);
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const uint32_t iteration = iterationOf.at(task.phase);
        tasksPs[iteration] = std::max(tasksPs[iteration], span.endPs);
        if (IsKernel(graph, task))
        {
            kernelsPs[iteration] = std::max(kernelsPs[iteration], span.endPs);
        }
    }
    const bool hasKernels = *std::min_element(kernelsPs.begin(), kernelsPs.end()) > 0;
    std::vector<int64_t> endsPs = hasKernels ? kernelsPs : tasksPs;
    for (std::size_t i = 1; i < endsPs.size(); ++i)
    {
        endsPs[i] = std::max(endsPs[i], endsPs[i - 1]);
    }
    return endsPs;
}

uint32_t
FindSteadyIteration(const std::vector<int64_t>& endsPs)
{
    std::vector<std::pair<int64_t, uint32_t>> times;
    for (uint32_t i = 1; i < endsPs.size(); ++i)
    {
        times.emplace_back(endsPs[i] - endsPs[i - 1], i);
    }
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[(times.size() - 1) / 2].second;
}

IterationTimes
MeasureIterations(const ExecutionGraph& graph,
                  const RepeatedGraph& repeated,
                  const Timeline& timeline)
{
    const auto endsPs = FindIterationEnds(graph, repeated.iterationOf, timeline);
    std::vector<int64_t> computePs(graph.GetNDevices(), 0);
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (IsKernel(graph, task))
        {
            computePs[span.device] += span.endPs - span.startPs;
        }
    }
    IterationTimes times;
    int64_t lastPs = 0;
    for (const int64_t endPs : endsPs)
    {
        times.timesPs.push_back(endPs - lastPs);
        lastPs = endPs;
    }
    times.steadyPs = times.timesPs[FindSteadyIteration(endsPs)];
    times.computePs = *std::max_element(computePs.begin(), computePs.end()) / repeated.iterations;
    return times;
}

double
GetLeastPeriodS(std::vector<PeriodicTransfer> transfers, double computeS)
{
    std::sort(
        transfers.begin(),
        transfers.end(),
        [](const PeriodicTransfer& a, const PeriodicTransfer& b) { return a.needS < b.needS; });
    double leastS = computeS;
    for (const PeriodicTransfer& first : transfers)
    {
        double sumS = 0; // of those that are ready no earlier, by their needs
        for (const PeriodicTransfer& transfer : transfers)
        {
            if (transfer.readyS >= first.readyS)
            {
                sumS += transfer.transferS;
                leastS = std::max(leastS, first.readyS - transfer.needS + sumS);
            }
        }
    }
    return leastS;
}

double
FindLeastPeriodS(const ExecutionGraph& graph,
                 const std::vector<CarriedDependency>& carried,
                 const std::vector<int64_t>& timesPs,
                 const std::vector<Parallelism>& kinds)
{
    const KernelOrder order(graph, carried, timesPs);
    double leastS = 0;
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        leastS = std::max(leastS, static_cast<double>(order.GetTotalPs(device)) * S_PER_PS);
    }
    std::map<std::pair<DeviceId, GroupId>, std::vector<PeriodicTransfer>> transfers;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION ||
            std::find(kinds.begin(), kinds.end(), task.parallelism) == kinds.end())
        {
            continue;
        }
        const auto needs = order.FindNeeds(id);
        for (const auto& [device, readyPs] : order.FindReady(id))
        {
            const auto need = needs.find(device);
            if (need != needs.end())
            {
                transfers[{device, task.place}].push_back(
                    {static_cast<double>(readyPs) * S_PER_PS,
                     static_cast<double>(need->second) * S_PER_PS,
                     static_cast<double>(timesPs[id]) * S_PER_PS});
            }
        }
    }
    for (const auto& [place, list] : transfers)
    {
        leastS = std::max(leastS, GetLeastPeriodS(list, 0));
    }
    return leastS;
}

bool
DoIterationsOverlap(const ExecutionGraph& graph,
                    const std::vector<uint32_t>& iterationOf,
                    const Timeline& timeline)
{
    struct Iteration
    {
        int64_t startPs{std::numeric_limits<int64_t>::max()};
        int64_t endPs{0};
    };

    std::map<std::pair<DeviceId, uint32_t>, Iteration> iterations; // sorted by device
    for (const Span& span : timeline.spans)
    {
        const uint32_t number = iterationOf.at(graph.GetTask(span.task).phase);
        Iteration& iteration = iterations[{span.device, number}];
        iteration.startPs = std::min(iteration.startPs, span.startPs);
        iteration.endPs = std::max(iteration.endPs, span.endPs);
    }
    DeviceId device = NO_ID;
    int64_t endPs = 0;
    for (const auto& [place, iteration] : iterations)
    {
        endPs = place.first == device ? endPs : 0;
        device = place.first;
        if (iteration.startPs < endPs)
        {
            return true;
        }
        endPs = std::max(endPs, iteration.endPs);
    }
    return false;
}

std::vector<int64_t>
GetTaskTimes(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<int64_t> timesPs(graph.GetNTasks(), 0);
    for (const Span& span : timeline.spans)
    {
        timesPs[span.task] = std::max(timesPs[span.task], span.endPs - span.startPs);
    }
    return timesPs;
}

} // namespace proteus
} // namespace ns3
