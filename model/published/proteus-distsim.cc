/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-distsim.h"

#include "ns3/proteus-flow-executor.h"
#include "ns3/proteus-graph-head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Times of communications from a table, whatever else is on the network.
class TableNetwork : public Network
{
  public:
    /// @param graph whose communication @param times by task, picoseconds @param clock of the run
    TableNetwork(const ExecutionGraph& graph, std::vector<int64_t> times, FlowClock& clock)
        : m_graph(graph),
          m_times(std::move(times)),
          m_clock(clock)
    {
    }

    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override
    {
        auto& joined = m_joined[{task, microBatch}];
        joined.emplace_back(device, std::move(done));
        if (joined.size() < m_graph.GetGroup(m_graph.GetTask(task).place).size())
        {
            return;
        }
        for (auto& [member, callback] : joined)
        {
            m_clock.Schedule(member, m_times[task], std::move(callback));
        }
        m_joined.erase({task, microBatch});
    }

    std::string DescribeWait(DeviceId, TaskId task, uint32_t microBatch) const override
    {
        const auto found = m_joined.find({task, microBatch});
        return found == m_joined.end()
                   ? "is under way"
                   : "waits for " +
                         std::to_string(m_graph.GetGroup(m_graph.GetTask(task).place).size() -
                                        found->second.size()) +
                         " ranks to join";
    }

  private:
    const ExecutionGraph& m_graph;
    std::vector<int64_t> m_times;
    FlowClock& m_clock;
    /// Who waits for the others, by communication.
    std::map<TaskInstance, std::vector<std::pair<DeviceId, std::function<void()>>>> m_joined;
};

bool
IsRing(Collective collective)
{
    return collective == Collective::ALL_REDUCE || collective == Collective::ALL_GATHER ||
           collective == Collective::REDUCE_SCATTER;
}

/// Times one communication on its own.
int64_t
TimeAlone(const Task& task,
          const std::vector<DeviceId>& group,
          const IsolatedRun& run,
          uint32_t mostRanks)
{
    if (group.size() < 2)
    {
        return 0;
    }
    const bool isExtrapolated =
        mostRanks >= 2 && IsRing(task.collective) && group.size() > mostRanks;
    std::vector<DeviceId> timed = group;
    if (isExtrapolated)
    {
        timed.clear();
        for (uint64_t i = 0; i < mostRanks; ++i)
        {
            timed.push_back(group[i * group.size() / mostRanks]);
        }
    }
    const std::vector<int64_t> ends = run(task, timed);
    if (ends.size() != timed.size() || *std::min_element(ends.begin(), ends.end()) < 0)
    {
        throw std::invalid_argument("a communication on its own: a time of each of its " +
                                    std::to_string(timed.size()) + " ranks is needed, got " +
                                    std::to_string(ends.size()) + ", or one below 0");
    }
    if (task.collective == Collective::SEND_RECV)
    {
        return *std::min_element(ends.begin(), ends.end());
    }
    const int64_t last = *std::max_element(ends.begin(), ends.end());
    return isExtrapolated ? std::llround(static_cast<double>(last) *
                                         GetRingExtrapolation(timed.size(), group.size()))
                          : last;
}

/// @return whether another kernel of the same device waits for a kernel, directly or for a tensor
bool
IsFollowed(const ExecutionGraph& graph,
           const std::vector<std::vector<TaskId>>& successors,
           TaskId kernel)
{
    const auto isNext = [&](TaskId id) {
        const Task& task = graph.GetTask(id);
        return task.kind == TaskKind::COMPUTE && task.place == graph.GetTask(kernel).place &&
               task.phase == graph.GetTask(kernel).phase;
    };
    return std::any_of(successors[kernel].begin(), successors[kernel].end(), [&](TaskId id) {
        return isNext(id) || (graph.GetTask(id).kind == TaskKind::MEMORY &&
                              std::any_of(successors[id].begin(), successors[id].end(), isNext));
    });
}

} // namespace

double
GetRingExtrapolation(uint64_t timed, uint64_t ranks)
{
    if (timed < 2 || ranks < 2)
    {
        throw std::invalid_argument("a ring has at least two ranks");
    }
    const auto share = [](uint64_t n) {
        return static_cast<double>(n - 1) / static_cast<double>(n);
    };
    return share(ranks) / share(timed);
}

DistSimResult
RunDistSim(const ExecutionGraph& graph,
           const Cluster& cluster,
           const IsolatedRun& run,
           const DistSimOptions& options)
{
    const EventCatalogue catalogue(graph, cluster);
    DistSimResult result;
    result.events = catalogue.GetEvents();
    for (const UniqueEvent& event : result.events)
    {
        const Task& task = graph.GetTask(event.example);
        if (event.kind == TaskKind::COMPUTE)
        {
            const VertexId gpu = cluster.GetGpus()[task.place];
            result.eventPs.push_back(options.runtime.roofline.ComputeTimePs(
                task,
                FindGpuDatasheet(cluster.GetVertices()[gpu].model)));
        }
        else
        {
            result.eventPs.push_back(
                TimeAlone(task, graph.GetGroup(task.place), run, options.mostTimedRanks));
        }
    }
    std::vector<int64_t> times(graph.GetNTasks());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const uint32_t event = catalogue.GetEvent(id);
        times[id] = event == NO_ID ? 0 : result.eventPs[event];
    }
    FlowClock clock;
    TableNetwork network(graph, std::move(times), clock);
    FlowExecutor executor(graph, cluster, options.runtime, clock, network);
    result.timeline = executor.Run();
    return result;
}

namespace
{

bool
IsReduction(const Task& task)
{
    return task.kind == TaskKind::COMMUNICATION && task.parallelism == Parallelism::DATA &&
           (task.collective == Collective::ALL_REDUCE ||
            task.collective == Collective::REDUCE_SCATTER);
}

/// @return who depends on every task
std::vector<std::vector<TaskId>>
FindSuccessors(const ExecutionGraph& graph)
{
    std::vector<std::vector<TaskId>> successors(graph.GetNTasks());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        for (const TaskId before : graph.GetDependencies(id))
        {
            successors[before].push_back(id);
        }
    }
    return successors;
}

/// @return by task, whether it waits for a reduction, directly or not
std::vector<bool>
FindBehindReductions(const ExecutionGraph& graph,
                     const std::vector<std::vector<TaskId>>& successors)
{
    std::vector<bool> waits(graph.GetNTasks());
    std::vector<uint32_t> pending(graph.GetNTasks());
    std::vector<TaskId> order;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        pending[id] = static_cast<uint32_t>(graph.GetDependencies(id).size());
        if (pending[id] == 0)
        {
            order.push_back(id);
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        for (const TaskId next : successors[order[i]])
        {
            waits[next] = waits[next] || waits[order[i]] || IsReduction(graph.GetTask(order[i]));
            if (--pending[next] == 0)
            {
                order.push_back(next);
            }
        }
    }
    return waits;
}

} // namespace

ExecutionGraph
AppendReductions(const ExecutionGraph& graph)
{
    const std::vector<std::vector<TaskId>> successors = FindSuccessors(graph);
    const std::vector<bool> waits = FindBehindReductions(graph, successors);
    GraphBuilder builder(graph.GetNDevices());
    CopyFrame(graph, builder);
    std::vector<std::vector<TaskId>> kernels(graph.GetNDevices());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        builder.AddTask(task,
                        graph.GetName(task),
                        {graph.GetDependencies(id).begin(), graph.GetDependencies(id).end()});
        if (task.kind == TaskKind::COMPUTE && !waits[id] && !IsFollowed(graph, successors, id))
        {
            kernels[task.place].push_back(id);
        }
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        for (const DeviceId device :
             IsReduction(task) ? graph.GetGroup(task.place) : std::vector<DeviceId>{})
        {
            for (const TaskId kernel : kernels[device])
            {
                builder.AddDependency(kernel, id);
            }
        }
    }
    CopySchedules(graph, builder);
    return builder.Build();
}

std::vector<ParallelSizes>
ListParallelSizes(uint32_t devices)
{
    std::vector<ParallelSizes> sizes;
    for (uint64_t tensor = 1; tensor <= devices; tensor *= 2)
    {
        for (uint64_t pipeline = 1; tensor * pipeline <= devices; pipeline *= 2)
        {
            if (devices % (tensor * pipeline) == 0)
            {
                sizes.push_back({static_cast<uint32_t>(tensor),
                                 static_cast<uint32_t>(pipeline),
                                 static_cast<uint32_t>(devices / (tensor * pipeline))});
            }
        }
    }
    return sizes;
}

double
GetBatchTimeError(int64_t predicted, int64_t actual)
{
    return std::abs(static_cast<double>(predicted - actual)) / static_cast<double>(actual);
}

std::vector<double>
GetActivityErrors(const Timeline& predicted, const Timeline& actual, uint32_t nDevices)
{
    std::map<std::pair<DeviceId, TaskInstance>, int64_t> starts;
    std::vector<int64_t> firstPredicted(nDevices, std::numeric_limits<int64_t>::max());
    std::vector<int64_t> firstActual = firstPredicted;
    if (predicted.spans.size() != actual.spans.size())
    {
        throw std::invalid_argument(
            "timelines of different graphs: " + std::to_string(predicted.spans.size()) + " and " +
            std::to_string(actual.spans.size()) + " spans");
    }
    for (const Span& span : predicted.spans)
    {
        starts[{span.device, span.GetInstance()}] = span.startPs;
        firstPredicted.at(span.device) = std::min(firstPredicted[span.device], span.startPs);
    }
    for (const Span& span : actual.spans)
    {
        firstActual.at(span.device) = std::min(firstActual[span.device], span.startPs);
    }
    std::vector<double> sums(nDevices);
    std::vector<uint64_t> counts(nDevices);
    for (const Span& span : actual.spans)
    {
        const auto found = starts.find({span.device, span.GetInstance()});
        if (found == starts.end())
        {
            throw std::invalid_argument("timelines of different graphs: task " +
                                        std::to_string(span.task) + " is in one of them only");
        }
        const int64_t difference = (found->second - firstPredicted[span.device]) -
                                   (span.startPs - firstActual[span.device]);
        sums[span.device] += std::abs(static_cast<double>(difference));
        ++counts[span.device];
    }
    for (DeviceId device = 0; device < nDevices; ++device)
    {
        sums[device] = counts[device] == 0 ? 0
                                           : sums[device] / static_cast<double>(counts[device]) /
                                                 static_cast<double>(actual.endPs);
    }
    return sums;
}

} // namespace proteus
} // namespace ns3
