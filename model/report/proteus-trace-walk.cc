/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-report-input.h"
#include "proteus-timeline-tracks.h"
#include "proteus-trace-sink.h"

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

/**
 * Perfetto keeps nanoseconds and rounds the begin and the length of a slice one by one. With finer
 * times, slices that follow one another would overlap by a nanosecond there, and it moves a slice
 * that overlaps to another track or drops it. Both ends rounded down here cannot overlap.
 */
int64_t
Nanoseconds(int64_t ps)
{
    constexpr int64_t PS_PER_NS = 1000;
    return ps / PS_PER_NS;
}

/// @param group devices @return the devices as text: runs as "first-last", not too many of them
std::string
DescribeGroup(const std::vector<DeviceId>& group)
{
    constexpr std::size_t MOST_RUNS = 16;
    std::string text;
    std::size_t runs = 0;
    for (std::size_t first = 0; first < group.size(); ++runs)
    {
        std::size_t last = first;
        while (last + 1 < group.size() && group[last + 1] == group[last] + 1)
        {
            ++last;
        }
        text += text.empty() ? "" : ",";
        if (runs == MOST_RUNS)
        {
            return text + "... (" + std::to_string(group.size()) + " devices)";
        }
        text += std::to_string(group[first]);
        if (last > first)
        {
            text += (last == first + 1 ? "," : "-") + std::to_string(group[last]);
        }
        first = last + 1;
    }
    return text;
}

/// Walks over a run.
class Walker
{
  public:
    Walker(const ExecutionGraph& graph,
           const Cluster& cluster,
           const RunRecord& result,
           TraceSink& sink)
        : m_graph(graph),
          m_cluster(cluster),
          m_result(result),
          m_sink(sink),
          m_tracks(graph, cluster, result.timeline),
          m_sends(graph, result.timeline)
    {
        m_groups.reserve(graph.GetGroups().size());
        for (const auto& group : graph.GetGroups())
        {
            m_groups.push_back(DescribeGroup(group));
        }
    }

    void Walk(const TraceContent& content)
    {
        const auto& processes = m_tracks.GetProcesses();
        for (std::size_t i = 0; i < processes.size(); ++i)
        {
            m_sink.AddProcess(static_cast<uint32_t>(i), processes[i]);
        }
        m_nProcesses = static_cast<uint32_t>(processes.size());
        AddIterations(content.iterations);
        if (content.channels)
        {
            SortChannels();
        }
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            const TimelinePlace& place = m_tracks.GetPlace(device);
            for (const TimelineTrack& track : m_tracks.MakeTracks(device))
            {
                m_sink.AddTrack(m_next, place.process, place.gpu + " " + track.name);
                for (const Span* span : track.spans)
                {
                    AddSpan(*span);
                }
                ++m_next;
            }
            if (content.channels)
            {
                AddChannels(device);
            }
            AddMemory(device);
        }
        if (content.links)
        {
            AddLinks();
        }
    }

  private:
    /// A channel of a GPU in one communication: all of its thread blocks.
    using ChannelKey = std::tuple<DeviceId, uint32_t, TaskId, uint32_t>;

    void AddIterations(const std::vector<IterationUse>& iterations)
    {
        if (iterations.empty())
        {
            return;
        }
        m_sink.AddTrack(m_next, 0, "iterations");
        for (const IterationUse& use : iterations)
        {
            const std::string name =
                "iteration " + std::to_string(use.number) + (use.isSteady ? " (steady)" : "");
            m_slice = TraceSlice{};
            m_slice.name = name;
            m_slice.category = "iteration";
            m_slice.startNs = Nanoseconds(use.startPs);
            m_slice.endNs = Nanoseconds(use.endPs);
            m_slice.arguments = {{"start_ps", use.startPs}, {"end_ps", use.endPs}};
            m_sink.AddSlice(m_next, m_slice);
        }
        ++m_next;
    }

    void AddSpan(const Span& span)
    {
        const Task& task = m_graph.GetTask(span.task);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        m_slice = TraceSlice{};
        m_slice.name = m_graph.GetName(task);
        m_slice.category = isCommunication ? ToString(task.parallelism) : ToString(task.kind);
        m_slice.startNs = Nanoseconds(span.startPs);
        m_slice.endNs = Nanoseconds(span.endPs);
        m_slice.arguments = {{"task", int64_t{span.task}},
                             {"micro_batch", int64_t{span.microBatch}},
                             {"start_ps", span.startPs},
                             {"end_ps", span.endPs}};
        const auto bytes = static_cast<int64_t>(task.bytes);
        if (isCommunication)
        {
            m_slice.arguments.push_back({"collective", ToString(task.collective)});
            m_slice.arguments.push_back({"group", m_groups[task.place]});
            m_slice.arguments.push_back({"bytes", bytes});
        }
        else if (task.durationPs < 0)
        {
            m_slice.arguments.push_back({"flops", task.flops});
            m_slice.arguments.push_back({"bytes", bytes});
            m_slice.arguments.push_back({"data_type", ToString(task.dataType)});
        }
        if (isCommunication && task.collective == Collective::SEND_RECV)
        {
            // From where the sender joins to the last nanosecond of the receive. Its begin would
            // not do: it is posted before, and readers drop an end that is not after its start.
            const bool isReceive = IsReceive(m_graph, span);
            const Sends::Send& send = m_sends.Find(span);
            m_slice.arrow = send.number + 1;
            m_slice.arrowEnd = isReceive ? ArrowEnd::TO : ArrowEnd::FROM;
            m_slice.arrowNs = isReceive
                                  ? std::max(Nanoseconds(std::max(span.startPs, send.startPs)),
                                             Nanoseconds(span.endPs) - 1)
                                  : Nanoseconds(span.startPs);
        }
        m_sink.AddSlice(m_next, m_slice);
    }

    /// Joins the thread blocks of a channel.
    void SortChannels()
    {
        std::map<ChannelKey, Span> joined;
        for (const ChannelSpan& part : m_result.channels)
        {
            const auto [place, isNew] = joined.emplace(
                ChannelKey{part.device, part.channel, part.task, part.microBatch},
                Span{part.device, part.task, part.microBatch, part.startPs, part.endPs});
            if (!isNew)
            {
                place->second.startPs = std::min(place->second.startPs, part.startPs);
                place->second.endPs = std::max(place->second.endPs, part.endPs);
            }
        }
        m_channels.resize(m_graph.GetNDevices());
        for (const auto& entry : joined)
        {
            auto& ofDevice = m_channels.at(entry.second.device);
            const uint32_t channel = std::get<1>(entry.first);
            if (ofDevice.empty() || ofDevice.back().first != channel)
            {
                ofDevice.emplace_back(channel, std::vector<Span>());
            }
            ofDevice.back().second.push_back(entry.second);
        }
    }

    void AddChannels(DeviceId device)
    {
        const TimelinePlace& place = m_tracks.GetPlace(device);
        for (const auto& [channel, spans] : m_channels[device])
        {
            std::vector<const Span*> pointers;
            for (const Span& span : spans)
            {
                pointers.push_back(&span);
            }
            const auto lanes = MakeLanes(std::move(pointers));
            for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            {
                const std::string name = place.gpu + " channel " + std::to_string(channel) +
                                         (lane == 0 ? "" : " (" + std::to_string(lane + 1) + ")");
                m_sink.AddTrack(m_next, place.process, name);
                for (const Span* span : lanes[lane])
                {
                    m_slice = TraceSlice{};
                    m_slice.name = m_graph.GetName(m_graph.GetTask(span->task));
                    m_slice.category = "channel";
                    m_slice.startNs = Nanoseconds(span->startPs);
                    m_slice.endNs = Nanoseconds(span->endPs);
                    m_slice.arguments = {{"task", int64_t{span->task}},
                                         {"micro_batch", int64_t{span->microBatch}}};
                    m_sink.AddSlice(m_next, m_slice);
                }
                ++m_next;
            }
        }
    }

    void AddMemory(DeviceId device)
    {
        const auto& samples = m_result.timeline.memory[device];
        if (samples.empty())
        {
            return;
        }
        const TimelinePlace& place = m_tracks.GetPlace(device);
        m_sink.AddCounter(m_next, place.process, place.gpu + " memory", "bytes");
        for (const MemorySample& sample : samples)
        {
            m_sink.AddValue(m_next, Nanoseconds(sample.timePs), static_cast<double>(sample.bytes));
        }
        ++m_next;
    }

    /// @param vertex that sends @return its process, which is made if there is none
    uint32_t FindProcess(VertexId vertex)
    {
        const Vertex& from = m_cluster.GetVertices()[vertex];
        const std::size_t ofServer =
            from.server >= 0 ? m_tracks.FindProcess(from.server) : m_tracks.GetProcesses().size();
        if (ofServer < m_tracks.GetProcesses().size())
        {
            return static_cast<uint32_t>(ofServer);
        }
        const auto [place, isNew] = m_otherProcesses.emplace(vertex, m_nProcesses);
        if (isNew)
        {
            m_sink.AddProcess(m_nProcesses, from.name);
            ++m_nProcesses;
        }
        return place->second;
    }

    void AddLinks()
    {
        const LinkSeries& series = m_result.series;
        for (std::size_t direction = 0; direction < series.GetNDirections(); ++direction)
        {
            if (!series.IsUsed(direction))
            {
                continue;
            }
            const Link& link = m_cluster.GetLinks()[direction / 2];
            const VertexId from = direction % 2 == 0 ? link.a : link.b;
            const uint32_t process = FindProcess(from);
            const std::string name = m_cluster.GetVertices()[from].name + " -> " +
                                     m_cluster.GetVertices()[link.Other(from)].name;
            constexpr float PERCENT = 100;
            AddSeries(process, name + " busy", "percent", direction, [](const LinkBin& bin) {
                return PERCENT * bin.busyShare;
            });
            AddSeries(process, name + " held up", "percent", direction, [](const LinkBin& bin) {
                return PERCENT * std::min(1.0F, bin.stalledShare + bin.pausedShare);
            });
            AddSeries(process, name + " queue", "bytes", direction, [](const LinkBin& bin) {
                return bin.queueBytes;
            });
        }
    }

    /// Adds a counter that is not always 0; only changes.
    template <typename F>
    void AddSeries(uint32_t process,
                   const std::string& name,
                   const char* unit,
                   std::size_t direction,
                   F get)
    {
        const LinkSeries& series = m_result.series;
        bool isUsed = false;
        for (std::size_t bin = 0; bin < series.GetNBins() && !isUsed; ++bin)
        {
            isUsed = get(series.Get(direction, bin)) > 0;
        }
        if (!isUsed)
        {
            return;
        }
        m_sink.AddCounter(m_next, process, name, unit);
        float last = -1;
        for (std::size_t bin = 0; bin < series.GetNBins(); ++bin)
        {
            const float value = get(series.Get(direction, bin));
            if (value != last)
            {
                m_sink.AddValue(m_next,
                                Nanoseconds(series.GetStartPs(bin)),
                                static_cast<double>(value));
                last = value;
            }
        }
        m_sink.AddValue(m_next, Nanoseconds(m_result.timeline.endPs), 0);
        ++m_next;
    }

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    const RunRecord& m_result;
    TraceSink& m_sink;
    const TimelineTracks m_tracks;
    const Sends m_sends;
    std::vector<std::string> m_groups; //!< as text, by GroupId
    /// By device: channels and what they did.
    std::vector<std::vector<std::pair<uint32_t, std::vector<Span>>>> m_channels;
    std::map<VertexId, uint32_t> m_otherProcesses; //!< of vertices that are in no process
    uint32_t m_nProcesses{0};
    uint32_t m_next{0}; //!< track or counter
    TraceSlice m_slice;
};

} // namespace

void
WalkTimeline(const ExecutionGraph& graph,
             const Cluster& cluster,
             const RunRecord& result,
             const TraceContent& content,
             TraceSink& sink)
{
    if (result.timeline.memory.size() != graph.GetNDevices())
    {
        throw std::invalid_argument(
            "timeline: memory of " + std::to_string(result.timeline.memory.size()) +
            " devices, the graph has " + std::to_string(graph.GetNDevices()));
    }
    Walker(graph, cluster, result, sink).Walk(content);
}

} // namespace proteus
} // namespace ns3
