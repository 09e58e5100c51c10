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
#include <set>
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

/// Puts communications into buckets so that no bucket waits for itself.
class BucketFinder
{
  public:
    explicit BucketFinder(const ExecutionGraph& graph)
        : m_graph(graph),
          m_needed(graph.GetNTasks()),
          m_streamNext(graph.GetNTasks()),
          m_place(graph.GetNTasks(), UNKNOWN),
          m_bucketOf(graph.GetNTasks(), UNKNOWN),
          m_seen(graph.GetNTasks(), 0)
    {
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            for (const TaskId before : graph.GetDependencies(id))
            {
                m_needed[before].push_back(id);
            }
        }
        LinkStreams();
        Order();
    }

    /// @param kinds of communications that are merged @param bucketBytes size that closes a bucket
    /// @return communications of every bucket, by the last one of it, where the bucket stands
    std::map<TaskId, std::vector<TaskId>> Find(const std::vector<Parallelism>& kinds,
                                               uint64_t bucketBytes)
    {
        using Key = std::tuple<Collective, uint32_t, StreamId, PhaseId, uint16_t, Parallelism>;
        std::map<Key, uint32_t> open; // its number
        std::vector<uint64_t> bytes;
        for (const TaskId id : m_order)
        {
            const Task& task = m_graph.GetTask(id);
            if (!IsOfKind(task, kinds) || task.collective == Collective::SEND_RECV)
            {
                continue;
            }
            const auto [place, isNew] = open.emplace(Key{task.collective,
                                                         task.place,
                                                         task.stream,
                                                         task.phase,
                                                         task.root,
                                                         task.parallelism},
                                                     static_cast<uint32_t>(m_buckets.size()));
            uint32_t& bucket = place->second;
            if (isNew || bytes[bucket] >= bucketBytes || IsAwaitedBy(bucket, id))
            {
                bucket = static_cast<uint32_t>(m_buckets.size());
                m_buckets.emplace_back();
                bytes.push_back(0);
            }
            m_buckets[bucket].push_back(id);
            m_bucketOf[id] = bucket;
            bytes[bucket] += task.bytes;
        }
        std::map<TaskId, std::vector<TaskId>> found;
        for (std::vector<TaskId>& tasks : m_buckets)
        {
            std::sort(tasks.begin(), tasks.end());
            const TaskId last = tasks.back();
            found.emplace(last, std::move(tasks));
        }
        return found;
    }

  private:
    static constexpr uint32_t UNKNOWN = UINT32_MAX;

    /// Notes which task of a stream, and of a phase, follows which.
    void LinkStreams()
    {
        std::map<std::tuple<DeviceId, StreamId, PhaseId>, TaskId> last;
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            if (task.stream == NO_STREAM || // a tensor
                m_graph.GetStreamOrder(task.stream) != StreamOrder::IN_ORDER)
            {
                continue;
            }
            std::vector<DeviceId> devices{task.place};
            if (task.kind == TaskKind::COMMUNICATION)
            {
                devices = m_graph.GetGroup(task.place);
                devices.resize(task.collective == Collective::SEND_RECV ? 1 : devices.size());
            }
            for (const DeviceId device : devices)
            {
                const auto [place, isFirst] =
                    last.emplace(std::make_tuple(device, task.stream, task.phase), id);
                std::vector<TaskId>* next = isFirst ? nullptr : &m_streamNext[place->second];
                if (next && (next->empty() || next->back() != id))
                {
                    next->push_back(id);
                }
                place->second = id;
            }
        }
    }

    /// Orders tasks so that each is behind what it waits for, those with small ids first.
    void Order()
    {
        std::vector<uint32_t> nBefore(m_graph.GetNTasks(), 0);
        const auto forAllNext = [this](TaskId id, auto function) {
            std::for_each(m_needed[id].begin(), m_needed[id].end(), function);
            std::for_each(m_streamNext[id].begin(), m_streamNext[id].end(), function);
        };
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            forAllNext(id, [&](TaskId next) { ++nBefore[next]; });
        }
        std::set<TaskId> ready;
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            if (nBefore[id] == 0)
            {
                ready.insert(id);
            }
        }
        while (!ready.empty())
        {
            const TaskId id = *ready.begin();
            ready.erase(ready.begin());
            m_place[id] = static_cast<uint32_t>(m_order.size());
            m_order.push_back(id);
            forAllNext(id, [&](TaskId next) {
                if (--nBefore[next] == 0)
                {
                    ready.insert(next);
                }
            });
        }
    }

    /// @param number of a bucket @param id a task behind all that is in buckets
    /// @return whether the task waits for one in the bucket, directly or through others
    bool IsAwaitedBy(uint32_t number, TaskId id)
    {
        ++m_search;
        std::vector<TaskId> open = m_buckets[number];
        bool isAwaited = false;
        const auto visit = [&](TaskId next) {
            isAwaited = isAwaited || next == id;
            if (m_place[next] < m_place[id] && m_seen[next] != m_search)
            {
                m_seen[next] = m_search;
                open.push_back(next);
            }
        };
        while (!open.empty() && !isAwaited)
        {
            const TaskId task = open.back();
            open.pop_back();
            std::for_each(m_needed[task].begin(), m_needed[task].end(), visit);
            const uint32_t bucket = m_bucketOf[task];
            if (bucket == UNKNOWN)
            {
                std::for_each(m_streamNext[task].begin(), m_streamNext[task].end(), visit);
            }
            else if (bucket != number) // what waits for one of a bucket waits for all of it
            {
                const std::vector<TaskId>& tasks = m_buckets[bucket];
                std::for_each(tasks.begin(), tasks.end(), visit);
                std::for_each(m_streamNext[tasks.back()].begin(),
                              m_streamNext[tasks.back()].end(),
                              visit);
            }
        }
        return isAwaited;
    }

    const ExecutionGraph& m_graph;
    std::vector<std::vector<TaskId>> m_needed;     //!< by task: those that depend on it
    std::vector<std::vector<TaskId>> m_streamNext; //!< by task: the next ones of its streams
    std::vector<TaskId> m_order;                   //!< each behind what it waits for
    std::vector<uint32_t> m_place;                 //!< by task: in that order
    std::vector<std::vector<TaskId>> m_buckets;    //!< by number
    std::vector<uint32_t> m_bucketOf;              //!< by task: number of its bucket
    std::vector<uint32_t> m_seen;                  //!< by task: the last search that came by
    uint32_t m_search{0};                          //!< how many there were
};

/// @param graph whose communications are cut @param kinds which of them
/// @param partBytes largest part @throw std::invalid_argument if there would be too many to run
void
CheckParts(const ExecutionGraph& graph, const std::vector<Parallelism>& kinds, uint64_t partBytes)
{
    constexpr uint64_t MOST_PARTS = 4000000; // some gigabytes
    uint64_t parts = 0;
    uint64_t mostBytes = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (partBytes > 0 && IsOfKind(task, kinds))
        {
            parts += task.bytes / partBytes;
            mostBytes = std::max(mostBytes, task.bytes);
        }
    }
    if (parts > MOST_PARTS)
    {
        throw std::invalid_argument("parts of " + std::to_string(partBytes) +
                                    " bytes: communications of up to " + std::to_string(mostBytes) +
                                    " bytes would be cut into more than " +
                                    std::to_string(MOST_PARTS) + " parts; take larger ones");
    }
}

} // namespace

ScheduledGraph
CutCommunications(const ExecutionGraph& graph,
                  const std::vector<Parallelism>& kinds,
                  uint64_t partBytes)
{
    CheckParts(graph, kinds, partBytes);
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
    const std::map<TaskId, std::vector<TaskId>> buckets =
        BucketFinder(graph).Find(kinds, bucketBytes);
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
