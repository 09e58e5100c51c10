/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-trace.h"

#include "proteus-report-input.h"
#include "proteus-timeline-tracks.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

/// Process and thread ids of the host; those of the GPU are its rank and the streams.
constexpr uint32_t HOST_PROCESS = 1U << 20;
constexpr uint32_t LAUNCH_THREAD = 1;
constexpr uint32_t HOST_THREAD = 2; //!< of tasks of the host, and on

std::string
Dump(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int64_t
Microseconds(int64_t ps)
{
    constexpr int64_t PS_PER_US = 1000000;
    return (ps + PS_PER_US / 2) / PS_PER_US;
}

/// @return the collective as NCCL's kernels call it
const char*
KernelNameOf(Collective collective)
{
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return "AllReduce";
    case Collective::ALL_GATHER:
        return "AllGather";
    case Collective::REDUCE_SCATTER:
        return "ReduceScatter";
    case Collective::BROADCAST:
        return "Broadcast";
    case Collective::REDUCE:
        return "Reduce";
    case Collective::SEND_RECV:
    case Collective::GATHER:
    case Collective::SCATTER:
    case Collective::ALL_TO_ALL:
        break;
    }
    return "SendRecv";
}

/// @param isReceive whether it is the receiving side @return the collective as PyTorch calls it
const char*
TorchNameOf(Collective collective, bool isReceive)
{
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return "allreduce";
    case Collective::ALL_GATHER:
        return "_allgather_base";
    case Collective::REDUCE_SCATTER:
        return "_reduce_scatter_base";
    case Collective::BROADCAST:
        return "broadcast";
    case Collective::REDUCE:
        return "reduce";
    case Collective::GATHER:
        return "gather";
    case Collective::SCATTER:
        return "scatter";
    case Collective::ALL_TO_ALL:
        return "all_to_allv";
    case Collective::SEND_RECV:
        break;
    }
    return isReceive ? "recv" : "send";
}

/// Names of computations that HTA takes for something else (hta/common/types.py).
class Names
{
  public:
    /// @param task a computation @param name of it @return what it is called
    const std::string& Get(TaskId task, const std::string& name)
    {
        const auto [place, isNew] = m_names.emplace(name, name);
        if (isNew && std::regex_search(name.substr(0, MOST_CHARACTERS), m_other))
        {
            place->second = "task " + std::to_string(task);
        }
        return place->second;
    }

  private:
    static constexpr std::size_t MOST_CHARACTERS = 1000; //!< std::regex recurses for each

    const std::regex m_other{"^nccl|ncclKernel|Memcpy|Memset|dma|Sync|^Stream Wait Event|"
                             "cuda.*LaunchKernel|^runFunction|^hip|^hccl|^job_exe|^packet|^pe_exe|"
                             "^cpum_exe_subgraph|^collective_subgraph_execution"};
    std::unordered_map<std::string, std::string> m_names;
};

/// Writes the traces.
class Writer
{
  public:
    Writer(const ExecutionGraph& graph,
           const Cluster& cluster,
           const Timeline& timeline,
           const std::vector<IterationUse>& iterations)
        : m_graph(graph),
          m_cluster(cluster),
          m_timeline(timeline),
          m_iterations(iterations),
          m_tracks(graph, cluster, timeline),
          m_sends(graph, timeline)
    {
        for (const auto& group : graph.GetGroups())
        {
            m_groups.push_back(Json(group).dump());
        }
    }

    void Write(DeviceId rank, std::ostream& out)
    {
        m_isFirst = true;
        m_correlation = 0;
        WriteHead(rank, out);
        const int64_t end = std::max<int64_t>(Microseconds(m_timeline.endPs), 1);
        WriteSteps(end, out);
        uint32_t stream = 0;
        for (const TimelineTrack& track : m_tracks.MakeTracks(rank))
        {
            const Task& first = m_graph.GetTask(track.spans.front()->task);
            const bool isReceive = IsReceive(m_graph, *track.spans.front());
            const bool isHost = !isReceive && m_graph.IsHostStream(first.stream);
            ++stream;
            for (const Span* span : track.spans)
            {
                isHost ? WriteHostTask(*span, stream, out) : WriteKernel(*span, stream, end, out);
            }
        }
        out << "\n]}\n";
    }

  private:
    void WriteHead(DeviceId rank, std::ostream& out)
    {
        const Vertex& gpu = m_cluster.GetVertices()[m_cluster.GetGpus()[rank]];
        out << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": "
            << Dump(Json::array({{{"id", rank},
                                  {"name", gpu.model},
                                  {"totalGlobalMem", FindGpuDatasheet(gpu.model).memoryBytes}}}))
            // HTA looks for the rank with white space after the colon.
            << ",\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " << rank
            << ", \"world_size\": " << m_graph.GetNDevices()
            << "},\n\"displayTimeUnit\": \"ms\",\n\"traceName\": " << Dump(m_graph.GetFacts().name)
            << ",\n\"traceEvents\": [";
    }

    /// @param event to write on a line of its own
    void WriteEvent(const Json& event, std::ostream& out)
    {
        out << (m_isFirst ? "\n" : ",\n") << Dump(event);
        m_isFirst = false;
    }

    /// @param end of the run
    void WriteSteps(int64_t end, std::ostream& out)
    {
        int step = 0;
        int64_t begin = 0;
        for (std::size_t i = 0; i + 1 < m_iterations.size(); ++i) // the last one ends with the run
        {
            const int64_t until = Microseconds(m_iterations[i].endPs);
            WriteStep(step++, begin, until - begin, out);
            begin = until;
        }
        WriteStep(step++, begin, end - begin, out);
        WriteStep(step, end, 1, out);
    }

    void WriteStep(int step, int64_t ts, int64_t dur, std::ostream& out)
    {
        WriteEvent({{"ph", "X"},
                    {"cat", "user_annotation"},
                    {"name", "ProfilerStep#" + std::to_string(step)},
                    {"pid", HOST_PROCESS},
                    {"tid", LAUNCH_THREAD},
                    {"ts", ts},
                    {"dur", dur},
                    {"args", Json::object()}},
                   out);
    }

    void WriteHostTask(const Span& span, uint32_t stream, std::ostream& out)
    {
        const int64_t ts = Microseconds(span.startPs);
        WriteEvent({{"ph", "X"},
                    {"cat", "cpu_op"},
                    {"name", m_graph.GetName(m_graph.GetTask(span.task))},
                    {"pid", HOST_PROCESS},
                    {"tid", HOST_THREAD + stream},
                    {"ts", ts},
                    {"dur", Microseconds(span.endPs) - ts},
                    {"args", {{"task", span.task}, {"micro_batch", span.microBatch}}}},
                   out);
    }

    void WriteKernel(const Span& span, uint32_t stream, int64_t end, std::ostream& out)
    {
        const Task& task = m_graph.GetTask(span.task);
        const std::string& name = m_graph.GetName(task);
        int64_t startPs = span.startPs;
        if (IsReceive(m_graph, span))
        {
            startPs = std::max(startPs, m_sends.Find(span).startPs);
        }
        const int64_t ts = Microseconds(startPs);
        ++m_correlation;
        WriteEvent({{"ph", "X"},
                    {"cat", "cuda_runtime"},
                    {"name", "cudaLaunchKernel"},
                    {"pid", HOST_PROCESS},
                    {"tid", LAUNCH_THREAD},
                    {"ts", std::min(ts, end - 1)},
                    {"dur", 0},
                    {"args", {{"correlation", m_correlation}}}},
                   out);
        Json arguments{{"device", span.device},
                       {"stream", stream},
                       {"correlation", m_correlation},
                       {"task", span.task},
                       {"micro_batch", span.microBatch},
                       {"start_ps", startPs},
                       {"end_ps", span.endPs}};
        std::string called;
        if (task.kind == TaskKind::COMMUNICATION)
        {
            called =
                std::string("ncclDevKernel_") + KernelNameOf(task.collective) + "(" + name + ")";
            AddCollective(task, IsReceive(m_graph, span), arguments);
        }
        else
        {
            called = m_names.Get(span.task, name);
            if (called != name)
            {
                arguments["name"] = name;
            }
        }
        WriteEvent({{"ph", "X"},
                    {"cat", "kernel"},
                    {"name", std::move(called)},
                    {"pid", span.device},
                    {"tid", stream},
                    {"ts", ts},
                    {"dur", Microseconds(span.endPs) - ts},
                    {"args", std::move(arguments)}},
                   out);
    }

    /// Adds what NCCL's kernels say, elements being bytes.
    void AddCollective(const Task& task, bool isReceive, Json& arguments) const
    {
        const auto& group = m_graph.GetGroup(task.place);
        const uint64_t part = task.bytes / group.size();
        arguments["Collective name"] = TorchNameOf(task.collective, isReceive);
        arguments["In msg nelems"] = task.collective == Collective::ALL_GATHER ? part : task.bytes;
        arguments["Out msg nelems"] =
            task.collective == Collective::REDUCE_SCATTER ? part : task.bytes;
        arguments["Group size"] = group.size();
        arguments["dtype"] = "Byte";
        arguments["Process Group Name"] = std::to_string(task.place);
        arguments["Process Group Description"] = ToString(task.parallelism);
        arguments["Process Group Ranks"] = m_groups[task.place];
        if (task.collective == Collective::SEND_RECV)
        {
            arguments["Src Rank"] = group.front();
            arguments["Dst Rank"] = group.back();
        }
    }

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    const Timeline& m_timeline;
    const std::vector<IterationUse>& m_iterations;
    const TimelineTracks m_tracks;
    const Sends m_sends;
    std::vector<std::string> m_groups; //!< as JSON, by GroupId
    Names m_names;
    uint64_t m_correlation{0}; //!< of the last launch
    bool m_isFirst{true};      //!< no event has been written
};

} // namespace

void
WriteKinetoTraces(
    const ExecutionGraph& graph,
    const Cluster& cluster,
    const Timeline& timeline,
    const std::function<void(DeviceId rank, const std::function<void(std::ostream&)>&)>& write,
    const std::vector<IterationUse>& iterations)
{
    Writer writer(graph, cluster, timeline, iterations);
    for (DeviceId rank = 0; rank < graph.GetNDevices(); ++rank)
    {
        write(rank, [&writer, rank](std::ostream& out) { writer.Write(rank, out); });
    }
}

} // namespace proteus
} // namespace ns3
