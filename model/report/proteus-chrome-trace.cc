/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chrome-trace.h"

#include "proteus-report-input.h"
#include "proteus-timeline-tracks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text any @return a JSON string, quotation marks included
std::string
Quote(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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

/// @param ns a time or length @return in microseconds, exactly
std::string
Microseconds(int64_t ns)
{
    const std::string digits = std::to_string(ns % 1000);
    return std::to_string(ns / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
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

/// Writes the trace. Process and thread ids start at 1: Perfetto takes 0 for the idle process.
class TraceWriter
{
  public:
    TraceWriter(const ExecutionGraph& graph,
                const Cluster& cluster,
                const Timeline& timeline,
                std::ostream& out)
        : m_graph(graph),
          m_timeline(timeline),
          m_out(out),
          m_tracks(graph, cluster, timeline),
          m_sends(graph, timeline),
          m_lastThread(m_tracks.GetProcesses().size()) // none is the main thread of a process
    {
        m_groups.reserve(graph.GetGroups().size());
        for (const auto& group : graph.GetGroups())
        {
            m_groups.push_back(Quote(DescribeGroup(group)));
        }
    }

    void Write()
    {
        m_text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
        const auto& processes = m_tracks.GetProcesses();
        for (std::size_t i = 0; i < processes.size(); ++i)
        {
            WriteMetadata("process_name", i + 1, 0, "\"name\":" + Quote(processes[i]));
            WriteMetadata("process_sort_index", i + 1, 0, "\"sort_index\":" + std::to_string(i));
        }
        for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
        {
            for (const TimelineTrack& track : m_tracks.MakeTracks(device))
            {
                WriteTrack(device, track);
            }
            WriteMemory(device);
        }
        m_text += "\n]}\n";
        Flush();
    }

  private:
    /// Starts a new line.
    void BeginEvent()
    {
        constexpr std::size_t BLOCK_BYTES = 1U << 16;
        if (m_text.size() >= BLOCK_BYTES)
        {
            Flush();
        }
        m_text += m_isFirst ? "\n" : ",\n";
        m_isFirst = false;
    }

    void Flush()
    {
        m_out << m_text;
        m_text.clear();
    }

    void WriteMetadata(const char* what,
                       std::size_t process,
                       std::size_t thread,
                       const std::string& arguments)
    {
        BeginEvent();
        m_text += "{\"ph\":\"M\",\"pid\":" + std::to_string(process);
        if (thread != 0)
        {
            m_text += ",\"tid\":" + std::to_string(thread);
        }
        m_text += std::string(",\"name\":\"") + what + "\",\"args\":{" + arguments + "}}";
    }

    /// @param device that the spans are of @param track of it
    void WriteTrack(DeviceId device, const TimelineTrack& track)
    {
        const TimelinePlace& place = m_tracks.GetPlace(device);
        const std::size_t process = place.process + 1;
        const std::size_t thread = ++m_lastThread;
        WriteMetadata("thread_name",
                      process,
                      thread,
                      "\"name\":" + Quote(place.gpu + " " + track.name));
        WriteMetadata("thread_sort_index",
                      process,
                      thread,
                      "\"sort_index\":" + std::to_string(thread));
        for (const Span* span : track.spans)
        {
            WriteSlice(*span, process, thread);
        }
    }

    /// Writes a slice, and after it the end of an arrow where one begins or ends at it.
    void WriteSlice(const Span& span, std::size_t process, std::size_t thread)
    {
        const Task& task = m_graph.GetTask(span.task);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        const std::string where = ",\"pid\":" + std::to_string(process) +
                                  ",\"tid\":" + std::to_string(thread) + ",\"ts\":";
        BeginEvent();
        m_text += "{\"ph\":\"X\"" + where + Microseconds(Nanoseconds(span.startPs)) +
                  ",\"dur\":" + Microseconds(Nanoseconds(span.endPs) - Nanoseconds(span.startPs)) +
                  ",\"name\":";
        m_text += GetQuotedName(task);
        m_text += ",\"cat\":\"";
        m_text += isCommunication ? ToString(task.parallelism) : ToString(task.kind);
        m_text += "\",\"args\":{\"task\":" + std::to_string(span.task) +
                  ",\"micro_batch\":" + std::to_string(span.microBatch) +
                  ",\"start_ps\":" + std::to_string(span.startPs) +
                  ",\"end_ps\":" + std::to_string(span.endPs);
        if (isCommunication)
        {
            m_text += ",\"collective\":\"";
            m_text += ToString(task.collective);
            m_text += "\",\"group\":";
            m_text += m_groups[task.place];
            m_text += ",\"bytes\":" + std::to_string(task.bytes);
        }
        else if (task.durationPs < 0)
        {
            m_text += ",\"flops\":";
            m_text += nlohmann::json(task.flops).dump();
            m_text += ",\"bytes\":" + std::to_string(task.bytes) + ",\"data_type\":\"";
            m_text += ToString(task.dataType);
            m_text += '"';
        }
        m_text += "}}";

        if (isCommunication && task.collective == Collective::SEND_RECV)
        {
            // From where the sender joins to the last nanosecond of the receive. Its begin would
            // not do: it is posted before, and readers drop an end that is not after its start.
            const bool isReceive = IsReceive(m_graph, span);
            const Sends::Send& send = m_sends.Find(span);
            const int64_t timeNs = isReceive
                                       ? std::max(Nanoseconds(std::max(span.startPs, send.startPs)),
                                                  Nanoseconds(span.endPs) - 1)
                                       : Nanoseconds(span.startPs);
            BeginEvent();
            m_text += isReceive ? "{\"ph\":\"f\",\"bp\":\"e\"" : "{\"ph\":\"s\"";
            m_text += where + Microseconds(timeNs) + ",\"id\":" + std::to_string(send.number + 1) +
                      R"(,"name":"message","cat":"send-receive"})";
        }
    }

    void WriteMemory(DeviceId device)
    {
        const TimelinePlace& place = m_tracks.GetPlace(device);
        const std::string name = Quote(place.gpu + " memory");
        for (const MemorySample& sample : m_timeline.memory[device])
        {
            BeginEvent();
            m_text += "{\"ph\":\"C\",\"pid\":" + std::to_string(place.process + 1) +
                      ",\"ts\":" + Microseconds(Nanoseconds(sample.timePs)) + ",\"name\":";
            m_text += name;
            m_text += ",\"args\":{\"bytes\":" + std::to_string(sample.bytes) + "}}";
        }
    }

    /// @param task a task @return its name as JSON
    const std::string& GetQuotedName(const Task& task)
    {
        std::string& quoted = m_names[task.name];
        if (quoted.empty())
        {
            quoted = Quote(m_graph.GetName(task));
        }
        return quoted;
    }

    const ExecutionGraph& m_graph;
    const Timeline& m_timeline;
    std::ostream& m_out;
    const TimelineTracks m_tracks;
    const Sends m_sends;
    std::size_t m_lastThread;                          //!< tid given last
    std::vector<std::string> m_groups;                 //!< as JSON, by GroupId
    std::unordered_map<uint32_t, std::string> m_names; //!< as JSON, by index of the name
    bool m_isFirst{true};                              //!< no event has been written
    std::string m_text;                                //!< not handed to m_out
};

} // namespace

void
WriteChromeTrace(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Timeline& timeline,
                 std::ostream& out)
{
    if (timeline.memory.size() != graph.GetNDevices())
    {
        throw std::invalid_argument(
            "timeline: memory of " + std::to_string(timeline.memory.size()) +
            " devices, the graph has " + std::to_string(graph.GetNDevices()));
    }
    TraceWriter(graph, cluster, timeline, out).Write();
}

} // namespace proteus
} // namespace ns3
