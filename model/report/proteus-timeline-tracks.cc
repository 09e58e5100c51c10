/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-timeline-tracks.h"

#include "proteus-report-input.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

TimelineTracks::TimelineTracks(const ExecutionGraph& graph,
                               const Cluster& cluster,
                               const Timeline& timeline)
    : m_graph(graph),
      m_spans(graph.GetNDevices())
{
    RequireGpuPerDevice(graph, cluster);
    RequireTimelineOf(graph, timeline);
    FindPlaces(cluster);
    for (const Span& span : timeline.spans)
    {
        m_spans[span.device].push_back(&span);
    }
}

void
TimelineTracks::FindPlaces(const Cluster& cluster)
{
    std::map<int32_t, std::vector<DeviceId>> byServer;
    const auto vertexOf = [&](DeviceId device) -> const Vertex& {
        return cluster.GetVertices()[cluster.GetGpus()[device]];
    };
    for (DeviceId device = 0; device < m_graph.GetNDevices(); ++device)
    {
        byServer[vertexOf(device).server].push_back(device);
    }
    m_places.resize(m_graph.GetNDevices());
    for (const auto& server : byServer)
    {
        const std::string& first = vertexOf(server.second.front()).name;
        const std::string prefix = first.substr(0, first.rfind('.') + 1);
        const bool isCommon =
            prefix.size() > 1 &&
            std::all_of(server.second.begin(), server.second.end(), [&](DeviceId device) {
                const std::string& name = vertexOf(device).name;
                return name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0;
            });
        for (DeviceId device : server.second)
        {
            const std::string& name = vertexOf(device).name;
            m_places[device] = {static_cast<uint32_t>(m_processes.size()),
                                isCommon ? name.substr(prefix.size()) : name};
        }
        m_servers.push_back(server.first);
        m_processes.push_back(isCommon ? prefix.substr(0, prefix.size() - 1)
                                       : "server " + std::to_string(server.first));
    }
}

std::size_t
TimelineTracks::FindProcess(int32_t server) const
{
    return static_cast<std::size_t>(std::find(m_servers.begin(), m_servers.end(), server) -
                                    m_servers.begin());
}

std::vector<TimelineTrack>
TimelineTracks::MakeTracks(DeviceId device) const
{
    const auto nStreams = m_graph.GetStreams().size();
    std::vector<std::vector<const Span*>> byStream(nStreams + 1); // receives after the streams
    for (const Span* span : m_spans[device])
    {
        const Task& task = m_graph.GetTask(span->task);
        byStream[IsReceive(m_graph, *span) ? nStreams : task.stream].push_back(span);
    }
    std::vector<TimelineTrack> tracks;
    for (std::size_t i = 0; i <= nStreams; ++i)
    {
        auto lanes = MakeLanes(std::move(byStream[i]));
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        {
            std::string name = i < nStreams ? m_graph.GetStreams()[i] : "receive";
            name += lane == 0 ? "" : " " + std::to_string(lane + 1);
            tracks.push_back({std::move(name), std::move(lanes[lane])});
        }
    }
    return tracks;
}

std::vector<std::vector<const Span*>>
MakeLanes(std::vector<const Span*> spans)
{
    std::stable_sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) {
        return a->startPs != b->startPs ? a->startPs < b->startPs : a->endPs < b->endPs;
    });
    std::vector<std::vector<const Span*>> lanes;
    for (const Span* span : spans)
    {
        auto lane = std::find_if(lanes.begin(), lanes.end(), [span](const auto& candidate) {
            return candidate.back()->endPs <= span->startPs;
        });
        if (lane == lanes.end())
        {
            lane = lanes.insert(lane, std::vector<const Span*>());
        }
        lane->push_back(span);
    }
    return lanes;
}

} // namespace proteus
} // namespace ns3
