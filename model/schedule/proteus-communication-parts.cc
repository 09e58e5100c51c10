/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-parts.h"

#include "proteus-partition.h"

#include "ns3/proteus-graph-head.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param task of a graph @param kinds of communication @return whether it is one of these kinds
bool
IsOfKind(const Task& task, const std::vector<Parallelism>& kinds)
{
    return task.kind == TaskKind::COMMUNICATION &&
           std::find(kinds.begin(), kinds.end(), task.parallelism) != kinds.end();
}

/// Makes a graph anew, in which tasks stand for one or several of another graph.
class Rewriter
{
  public:
    explicit Rewriter(const ExecutionGraph& graph)
        : m_graph(graph),
          m_builder(graph.GetNDevices()),
          m_made(graph.GetNTasks())
    {
        CopyHead(graph, m_builder);
    }

    /// @param task that stands for a task, or a part of it
    /// @param name of it
    /// @param whole the task of the other graph
    /// @param part which part
    void Add(const Task& task, const std::string& name, TaskId whole, uint32_t part)
    {
        m_made[whole].push_back(m_builder.AddTask(task, name));
        m_scheduled.wholeOf.push_back(whole);
        m_scheduled.partOf.push_back(part);
    }

    /// @param whole a task of the other graph @param other one that the same tasks stand for
    void Share(TaskId whole, TaskId other)
    {
        m_made[whole] = m_made[other];
    }

    /// @return the graph, with the dependencies of the other one
    ScheduledGraph Finish()
    {
        for (TaskId after = 0; after < m_graph.GetNTasks(); ++after)
        {
            for (const TaskId before : m_graph.GetDependencies(after))
            {
                Link(before, after, [this](TaskId a, TaskId b) { m_builder.AddDependency(a, b); });
            }
        }
        m_scheduled.graph = m_builder.Build();
        return std::move(m_scheduled);
    }

  private:
    /// @param before a task of the other graph @param after another one
    /// @param function called with every pair of tasks that stand for them
    template <typename F>
    void Link(TaskId before, TaskId after, F function) const
    {
        for (const TaskId made : m_made[after])
        {
            for (const TaskId first : m_made[before])
            {
                function(first, made);
            }
        }
    }

    const ExecutionGraph& m_graph;
    GraphBuilder m_builder;
    std::vector<std::vector<TaskId>> m_made; //!< by task of the other graph: what stands for it
    ScheduledGraph m_scheduled;
};

/// @param graph whose communications are merged @param kinds which of them
/// @param bucketBytes size that closes a bucket
/// @return communications of every bucket, by the last one of it, where the bucket stands
std::map<TaskId, std::vector<TaskId>>
FindBuckets(const ExecutionGraph& graph,
            const std::vector<Parallelism>& kinds,
            uint64_t bucketBytes)
{
    using Key = std::tuple<Collective, uint32_t, StreamId, PhaseId, uint16_t, Parallelism>;
    std::map<Key, std::vector<TaskId>> open;
    std::map<TaskId, std::vector<TaskId>> buckets;
    std::map<Key, uint64_t> bytes;
    const auto close = [&](const Key& key) {
        std::vector<TaskId> tasks = std::exchange(open[key], {});
        const TaskId last = tasks.back();
        buckets.emplace(last, std::move(tasks));
        bytes[key] = 0;
    };
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (IsOfKind(task, kinds) && task.collective != Collective::SEND_RECV)
        {
            const Key key{task.collective,
                          task.place,
                          task.stream,
                          task.phase,
                          task.root,
                          task.parallelism};
            open[key].push_back(id);
            bytes[key] += task.bytes;
            if (bytes[key] >= bucketBytes)
            {
                close(key);
            }
        }
    }
    for (const auto& [key, tasks] : open)
    {
        if (!tasks.empty())
        {
            close(key);
        }
    }
    return buckets;
}

} // namespace

ScheduledGraph
CutCommunications(const ExecutionGraph& graph,
                  const std::vector<Parallelism>& kinds,
                  uint64_t partBytes)
{
    Rewriter rewriter(graph);
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        Task task = graph.GetTask(id);
        const std::string& name = graph.GetName(task);
        const std::vector<uint64_t> parts = IsOfKind(task, kinds)
                                                ? PartitionBytes(task.bytes, partBytes)
                                                : std::vector<uint64_t>{task.bytes};
        for (uint32_t part = 0; part < parts.size(); ++part)
        {
            task.bytes = parts[part];
            rewriter.Add(task,
                         parts.size() > 1 ? name + ".part" + std::to_string(part) : name,
                         id,
                         part);
        }
    }
    return rewriter.Finish();
}

ScheduledGraph
MergeCommunications(const ExecutionGraph& graph,
                    const std::vector<Parallelism>& kinds,
                    uint64_t bucketBytes)
{
    if (bucketBytes == 0)
    {
        throw std::invalid_argument("buckets of 0 bytes: give at least 1 byte");
    }
    const std::map<TaskId, std::vector<TaskId>> buckets = FindBuckets(graph, kinds, bucketBytes);
    std::map<TaskId, TaskId> standsIn; // every communication to the last one of its bucket
    for (const auto& [last, tasks] : buckets)
    {
        for (const TaskId id : tasks)
        {
            standsIn[id] = last;
        }
    }
    Rewriter rewriter(graph);
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        Task task = graph.GetTask(id);
        const auto bucket = buckets.find(id);
        if (bucket == buckets.end() || bucket->second.size() == 1)
        {
            if (standsIn.count(id) == 0 || bucket != buckets.end())
            {
                rewriter.Add(task, graph.GetName(task), id, 0);
            }
            continue;
        }
        task.bytes = 0;
        for (const TaskId merged : bucket->second)
        {
            task.bytes += graph.GetTask(merged).bytes;
        }
        rewriter.Add(task,
                     graph.GetName(graph.GetTask(bucket->second.front())) + ".bucket",
                     bucket->second.front(),
                     0);
        for (const TaskId merged : bucket->second)
        {
            rewriter.Share(merged, bucket->second.front());
        }
    }
    return rewriter.Finish();
}

} // namespace proteus
} // namespace ns3
