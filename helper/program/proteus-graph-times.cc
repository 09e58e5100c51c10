/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-times.h"

#include "proteus-name-lists.h"
#include "proteus-scenario-run.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-operator-cost.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ns3
{
namespace proteus
{

uint64_t
CountTimed(const ExecutionGraph& graph)
{
    uint64_t nTimed = 0;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        nTimed += task.kind == TaskKind::COMPUTE && task.durationPs < 0 ? 1 : 0;
    }
    return nTimed;
}

namespace
{

constexpr double PS_PER_S = 1e12;

/// @param graph that has kernels to be timed @param cluster that it runs on
/// @param intervalPs least time of a kernel, in the place of the usual one
/// @return whether all kernels take as long with it as with the usual one
bool
AreTimedAlike(const ExecutionGraph& graph, const Cluster& cluster, int64_t intervalPs)
{
    const RooflineModel usual;
    RooflineModel other;
    other.launchIntervalPs = intervalPs;
    const auto& tasks = graph.GetTasks();
    return std::all_of(tasks.begin(), tasks.end(), [&](const Task& task) {
        if (task.kind != TaskKind::COMPUTE || task.durationPs >= 0 ||
            task.place >= cluster.GetGpus().size()) // which the run refuses
        {
            return true;
        }
        const GpuDatasheet& gpu =
            FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus()[task.place]].model);
        return usual.ComputeTimePs(task, gpu) == other.ComputeTimePs(task, gpu);
    });
}

/// Least part of the time of all kernels, in which the host is the cause, that is named.
constexpr double LEAST_SHARE_OF_HOST = 0.01;

/// Names, as a warning, the kernels that the usual pace of a host makes longer than their FLOPs and
/// bytes do, unless that is next to nothing.
/// @param path of the graph @param cluster that it runs on @param graph any
void
WarnOfHost(const std::string& path, const Cluster& cluster, const ExecutionGraph& graph)
{
    const RooflineModel usual;
    RooflineModel unhurried;
    unhurried.launchIntervalPs = 0;
    uint64_t nKernels = 0;
    uint64_t nShort = 0;
    double all = 0;
    double added = 0;
    std::vector<const GpuDatasheet*> sheets; // by rank
    for (const VertexId gpu : cluster.GetGpus())
    {
        sheets.push_back(&FindGpuDatasheet(cluster.GetVertices()[gpu].model));
    }
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind != TaskKind::COMPUTE || task.place >= sheets.size())
        {
            continue; // of which the run refuses the latter
        }
        const double times = graph.GetNInstances(task);
        const int64_t taken = usual.ComputeTimePs(task, *sheets[task.place]);
        all += times * static_cast<double>(taken);
        if (task.durationPs >= 0 || (task.flops == 0 && task.bytes == 0))
        {
            continue;
        }
        ++nKernels;
        const int64_t own = unhurried.ComputeTimePs(task, *sheets[task.place]);
        nShort += own < taken ? 1 : 0;
        added += times * static_cast<double>(taken - own);
    }
    if (nShort > 0 && added >= LEAST_SHARE_OF_HOST * all)
    {
        Warn(path + ": " + std::to_string(nShort) + " of " +
             FormatThings(nKernels, "compute task") + " without a time " +
             (nShort > 1 ? "take" : "takes") + " the launch interval of " +
             FormatTime(static_cast<double>(usual.launchIntervalPs) / PS_PER_S) + ", since " +
             (nShort > 1 ? "their" : "its") + " FLOPs and bytes take less: the host's pace is " +
             FormatPercent(added / all) +
             " of the time of all kernels (--launchInterval=0us is without)");
    }
}

} // namespace

void
WarnOfTimes(const std::string& path,
            const ProgramOptions& options,
            const Cluster& cluster,
            const ExecutionGraph& graph)
{
    uint64_t nTimeless = 0;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        const bool isTimed = task.durationPs >= 0 || task.flops > 0 || task.bytes > 0;
        nTimeless += task.kind == TaskKind::COMPUTE && !isTimed ? 1 : 0;
    }
    if (nTimeless > 0)
    {
        Warn(path + ": " + FormatThings(nTimeless, "compute task") +
             " with neither duration_ps nor flops and bytes: each takes the launch interval");
    }
    const Time interval = options.launchInterval.value;
    const int64_t usualPs = RooflineModel().launchIntervalPs;
    if (!options.launchInterval.isGiven)
    {
        WarnOfHost(path, cluster, graph);
    }
    if (options.launchInterval.isGiven &&
        AreTimedAlike(graph, cluster, interval.GetPicoSeconds()) &&
        !HasNeighbours(options, cluster))
    {
        Warn("--launchInterval=" + FormatTime(interval.GetSeconds()) + " has no effect: " +
             (CountTimed(graph) == 0 ? "the file has the times of all kernels"
              : interval.GetPicoSeconds() == usualPs
                  ? "it is the usual one"
                  : "no kernel is shorter than it or than the usual one, " +
                        FormatTime(static_cast<double>(usualPs) / PS_PER_S)));
    }
}

void
CheckSizes(const std::string& path, const ExecutionGraph& graph)
{
    ReadNamed(path, [&]() { RequireRealSizes(graph); });
}

void
WarnOfLargeSizes(const std::string& path, const Cluster& cluster, const ExecutionGraph& graph)
{
    // All GPUs of a cluster are of one kind as a rule: the largest memory counts.
    std::set<std::string> names;
    for (const VertexId gpu : cluster.GetGpus())
    {
        names.insert(cluster.GetVertices()[gpu].model);
    }
    uint64_t memory = 0;
    for (const std::string& name : names)
    {
        const GpuModel* model = MatchGpuModel(name);
        memory = std::max(memory, model ? model->sheet.memoryBytes : 0);
    }
    uint64_t nLarge = 0;
    const Task* first = nullptr;
    for (const Task& task : graph.GetTasks())
    {
        if (memory > 0 && task.kind == TaskKind::COMMUNICATION && task.bytes > memory)
        {
            ++nLarge;
            first = first ? first : &task;
        }
    }
    if (first)
    {
        Warn(path + ": " + FormatThings(nLarge, "communication") + " of more bytes than the " +
             FormatBytes(static_cast<double>(memory)) +
             " of memory that a GPU has, the first one " + ShownName(graph.GetName(*first)) +
             " of " + FormatBytes(static_cast<double>(first->bytes)) + ": are its sizes in bytes?");
    }
}

void
WarnOfIdleDevices(const std::string& path, const ExecutionGraph& graph)
{
    std::vector<bool> isBusy(graph.GetNDevices(), false);
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            for (const DeviceId device : graph.GetGroup(task.place))
            {
                isBusy[device] = true;
            }
        }
        else
        {
            isBusy[task.place] = true;
        }
    }
    const auto nIdle = std::count(isBusy.begin(), isBusy.end(), false);
    if (nIdle > 0)
    {
        const auto first = std::find(isBusy.begin(), isBusy.end(), false) - isBusy.begin();
        Warn(path + ": " + FormatThings(static_cast<uint64_t>(nIdle), "device") + " of " +
             std::to_string(isBusy.size()) + " without a task, the first is device " +
             std::to_string(first) + ": their GPUs are idle, and count in all means");
    }
}

} // namespace proteus
} // namespace ns3
