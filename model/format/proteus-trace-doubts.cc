/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trace-doubts.h"

#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double LOOSE_SHARE = 0.5; //!< of the bytes, from which on a trace is doubtful

bool
IsKernel(const ExecutionGraph& graph, const Task& task)
{
    const bool takesTime = task.durationPs > 0 || task.flops > 0 || task.bytes > 0;
    return task.kind == TaskKind::COMPUTE && takesTime && !graph.IsHostStream(task.stream);
}

bool
IsCollective(const Task& task)
{
    return task.kind == TaskKind::COMMUNICATION && task.collective != Collective::SEND_RECV;
}

/// What waits for each task, all lists one after the other.
struct Dependents
{
    std::vector<uint32_t> first; //!< by task, begin of its list; one more at the end
    std::vector<TaskId> tasks;   //!< of all lists
};

Dependents
FindDependents(const ExecutionGraph& graph)
{
    const uint32_t n = graph.GetNTasks();
    Dependents dependents;
    dependents.first.assign(std::size_t{n} + 1, 0);
    for (TaskId id = 0; id < n; ++id)
    {
        for (TaskId before : graph.GetDependencies(id))
        {
            ++dependents.first[before + 1];
        }
    }
    std::partial_sum(dependents.first.begin(), dependents.first.end(), dependents.first.begin());
    dependents.tasks.resize(dependents.first.back());
    std::vector<uint32_t> fill(dependents.first.begin(), dependents.first.end() - 1);
    for (TaskId id = 0; id < n; ++id)
    {
        for (TaskId before : graph.GetDependencies(id))
        {
            dependents.tasks[fill[before]++] = id;
        }
    }
    return dependents;
}

/// Marks what waits for tasks. @param dependents of all tasks @param begin tasks, which are marked
/// @param isMarked by task
void
MarkBehind(const Dependents& dependents, std::vector<TaskId> begin, std::vector<bool>& isMarked)
{
    while (!begin.empty())
    {
        const TaskId id = begin.back();
        begin.pop_back();
        for (uint32_t i = dependents.first[id]; i < dependents.first[id + 1]; ++i)
        {
            const TaskId after = dependents.tasks[i];
            if (!isMarked[after])
            {
                isMarked[after] = true;
                begin.push_back(after);
            }
        }
    }
}

/// @return by task, whether it is a kernel or waits for one
std::vector<bool>
FindBehindKernels(const ExecutionGraph& graph, const Dependents& dependents)
{
    const uint32_t n = graph.GetNTasks();
    std::vector<bool> isBehind(n, false);
    std::vector<TaskId> begin;
    // Streams that run in order and have kernels hold what is behind these.
    std::set<StreamId> ofKernels;
    for (TaskId id = 0; id < n; ++id)
    {
        const Task& task = graph.GetTask(id);
        if (IsKernel(graph, task))
        {
            isBehind[id] = true;
            begin.push_back(id);
            if (graph.GetStreamOrder(task.stream) == StreamOrder::IN_ORDER)
            {
                ofKernels.insert(task.stream);
            }
        }
    }
    for (TaskId id = 0; id < n; ++id)
    {
        const Task& task = graph.GetTask(id);
        if (!isBehind[id] && task.kind == TaskKind::COMMUNICATION &&
            ofKernels.count(task.stream) > 0)
        {
            isBehind[id] = true;
            begin.push_back(id);
        }
    }
    MarkBehind(dependents, std::move(begin), isBehind);
    return isBehind;
}

/**
 * A trace may begin with a collective that all else waits for, as the first gather of weights: no
 * computation hides it.
 * @param graph that is looked at @param dependents of its tasks
 * @param isBehind by task, whether it waits for a kernel
 * @return by device, the first collective that waits for no kernel; none on devices with a kernel
 * that waits for no collective
 */
std::vector<std::optional<TaskId>>
FindOpenings(const ExecutionGraph& graph,
             const Dependents& dependents,
             const std::vector<bool>& isBehind)
{
    const uint32_t n = graph.GetNTasks();
    std::vector<std::optional<TaskId>> openings(graph.GetNDevices());
    std::vector<bool> waits(n, false); // for a collective
    std::vector<TaskId> begin;
    for (TaskId id = 0; id < n; ++id)
    {
        if (!IsCollective(graph.GetTask(id)))
        {
            continue;
        }
        begin.push_back(id);
        for (const DeviceId device : graph.GetGroup(graph.GetTask(id).place))
        {
            if (!isBehind[id] && !openings[device])
            {
                openings[device] = id;
            }
        }
    }
    MarkBehind(dependents, std::move(begin), waits);
    for (TaskId id = 0; id < n; ++id)
    {
        const Task& task = graph.GetTask(id);
        if (IsKernel(graph, task) && !waits[id])
        {
            openings[task.place].reset();
        }
    }
    return openings;
}

/// What collectives there are.
struct Counts
{
    uint64_t all{0};
    uint64_t loose{0}; //!< behind no kernel, though not all kernels are behind it
    uint64_t lone{0};  //!< of one rank
    double bytes{0};
    double looseBytes{0};
    bool hasKernels{false};
};

Counts
CountCollectives(const ExecutionGraph& graph)
{
    const Dependents dependents = FindDependents(graph);
    const std::vector<bool> isBehind = FindBehindKernels(graph, dependents);
    const auto openings = FindOpenings(graph, dependents, isBehind);
    Counts counts;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        counts.hasKernels = counts.hasKernels || IsKernel(graph, task);
        if (!IsCollective(task))
        {
            continue;
        }
        const auto bytes = static_cast<double>(task.bytes);
        ++counts.all;
        counts.bytes += bytes;
        const auto& group = graph.GetGroup(task.place);
        const bool isLoose =
            !isBehind[id] && std::any_of(group.begin(), group.end(), [&](DeviceId device) {
                return openings[device] != id;
            });
        counts.lone += group.size() == 1 ? 1 : 0;
        counts.loose += isLoose ? 1 : 0;
        counts.looseBytes += isLoose ? bytes : 0;
    }
    return counts;
}

} // namespace

std::vector<std::string>
FindTraceDoubts(const ExecutionGraph& graph)
{
    const Counts counts = CountCollectives(graph);
    std::vector<std::string> doubts;
    if (counts.hasKernels && counts.bytes > 0 && counts.looseBytes >= LOOSE_SHARE * counts.bytes)
    {
        constexpr double PERCENT = 100;
        doubts.push_back(
            std::to_string(counts.loose) + " of its " + std::to_string(counts.all) +
            " collectives, with " +
            std::to_string(std::lround(PERCENT * counts.looseBytes / counts.bytes)) +
            " % of their bytes, wait for no kernel: they start with the iteration and look hidden "
            "behind computation; the trace lacks their dependencies, convert it again with them");
    }
    if (counts.lone > 0)
    {
        doubts.push_back(std::to_string(counts.lone) + " of its " + std::to_string(counts.all) +
                         " collectives are of groups of one rank and move nothing; if the job has "
                         "more ranks, say so: --ranks=N");
    }
    return doubts;
}

bool
IsProfilerStep(const std::string& name)
{
    return name.rfind("ProfilerStep#", 0) == 0;
}

std::string
DescribeProfilerSteps(const std::set<std::string>& names)
{
    const auto n = std::count_if(names.begin(), names.end(), &IsProfilerStep);
    return n < 2 ? ""
                 : "has " + std::to_string(n) +
                       " steps of the profiler (ProfilerStep#), which all run as one iteration: "
                       "divide its time by " +
                       std::to_string(n) + ", or record one step, schedule(active=1)";
}

void
CheckIsRecording(const std::string& name, const TraceOptions& options)
{
    if (options.isCommunicationRecorded)
    {
        throw std::invalid_argument(name +
                                    ": communication as it was recorded: such a trace has no "
                                    "times of communication; have it simulated");
    }
}

void
WarnOfNoRecorded(const std::string& name, const TraceOptions& options, uint64_t recorded)
{
    if (options.isCommunicationRecorded && recorded == 0)
    {
        Warn(name + ": communication as it was recorded has no effect: there is none");
    }
}

uint64_t
GuessRanks(const TraceOptions& options, const std::string& name, uint64_t least)
{
    const uint64_t ranks = std::max<uint64_t>(options.availableRanks / least, 1) * least;
    if (options.availableRanks != 0)
    {
        Warn(name + ": does not say how many ranks its job has: taken for " +
             std::to_string(ranks) + ", as there are GPUs; --ranks=N says it");
    }
    return ranks;
}

} // namespace proteus
} // namespace ns3
