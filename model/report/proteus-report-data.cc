/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-report-data.h"

#include "proteus-report-input.h"
#include "proteus-timeline-tracks.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr int64_t PS_PER_NS = 1000;

/// @param task of a slice @return what its colour says
const char*
KindOf(const Task& task)
{
    return task.kind == TaskKind::COMPUTE ? "compute" : ToString(task.parallelism);
}

/// @param devices of a graph @param most to be shown @return equally many from all of it
std::vector<DeviceId>
ChooseDevices(uint32_t devices, std::size_t most)
{
    std::vector<DeviceId> chosen;
    const std::size_t n = std::min<std::size_t>(devices, most);
    for (std::size_t i = 0; i < n; ++i)
    {
        chosen.push_back(static_cast<DeviceId>(uint64_t{i} * devices / n));
    }
    return chosen;
}

/// Turns the slices of a track into numbers.
class SliceWriter
{
  public:
    /// @param resolutionPs slices below it are drawn together
    SliceWriter(const ExecutionGraph& graph, const Sends& sends, int64_t resolutionPs)
        : m_graph(graph),
          m_sends(sends),
          m_resolutionPs(resolutionPs)
    {
    }

    /// @param track to write @return its slices
    Json Write(const TimelineTrack& track)
    {
        m_slices = Json::array();
        m_lastNs = 0;
        for (const Span* span : track.spans)
        {
            int64_t startPs = span->startPs;
            if (IsReceive(m_graph, *span))
            {
                startPs = std::max(startPs, m_sends.Find(*span).startPs); // posted before
            }
            Add(*span, startPs);
        }
        Flush();
        return std::move(m_slices);
    }

    /// @return all names so far, by index: name and kind
    Json GetNames() const
    {
        Json names = Json::array();
        for (const auto& name : m_names)
        {
            names.push_back({name.first, name.second});
        }
        return names;
    }

  private:
    /// Short slices of one part of the run.
    struct Pool
    {
        int64_t part{-1};
        int64_t startPs{0};
        int64_t endPs{0};
        uint32_t count{0};
        const Span* last{nullptr};
        std::map<std::string, int64_t> timePs; //!< by kind
    };

    void Add(const Span& span, int64_t startPs)
    {
        if (span.endPs - startPs >= m_resolutionPs)
        {
            Flush();
            Emit(startPs, span.endPs, NameOf(span), span.microBatch);
            return;
        }
        const int64_t part = startPs / m_resolutionPs;
        if (part != m_pool.part)
        {
            Flush();
            m_pool.part = part;
            m_pool.startPs = startPs;
        }
        m_pool.endPs = span.endPs;
        m_pool.last = &span;
        ++m_pool.count;
        m_pool.timePs[KindOf(m_graph.GetTask(span.task))] += span.endPs - startPs;
    }

    void Flush()
    {
        if (m_pool.count == 1)
        {
            Emit(m_pool.startPs, m_pool.endPs, NameOf(*m_pool.last), m_pool.last->microBatch);
        }
        else if (m_pool.count > 1)
        {
            const auto most =
                std::max_element(m_pool.timePs.begin(),
                                 m_pool.timePs.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
            Emit(m_pool.startPs,
                 m_pool.endPs,
                 FindName(std::to_string(m_pool.count) + " short tasks", most->first),
                 m_pool.last->microBatch);
        }
        m_pool = Pool();
    }

    void Emit(int64_t startPs, int64_t endPs, std::size_t name, uint32_t microBatch)
    {
        const int64_t startNs = startPs / PS_PER_NS;
        const int64_t endNs = endPs / PS_PER_NS;
        for (int64_t number :
             {startNs - m_lastNs, endNs - startNs, static_cast<int64_t>(name), int64_t{microBatch}})
        {
            m_slices.push_back(number);
        }
        m_lastNs = endNs;
    }

    std::size_t NameOf(const Span& span)
    {
        const Task& task = m_graph.GetTask(span.task);
        return FindName(m_graph.GetName(task), KindOf(task));
    }

    std::size_t FindName(const std::string& name, const std::string& kind)
    {
        const auto [place, isNew] = m_index.emplace(std::make_pair(name, kind), m_names.size());
        if (isNew)
        {
            m_names.emplace_back(name, kind);
        }
        return place->second;
    }

    const ExecutionGraph& m_graph;
    const Sends& m_sends;
    const int64_t m_resolutionPs;
    Json m_slices;
    int64_t m_lastNs{0};
    Pool m_pool;
    std::vector<std::pair<std::string, std::string>> m_names;
    std::map<std::pair<std::string, std::string>, std::size_t> m_index;
};

/// @param samples of a device @param most steps @return pairs of nanoseconds and bytes
Json
MakeSteps(const std::vector<MemorySample>& samples, std::size_t most, int64_t endPs)
{
    Json steps = Json::array();
    if (samples.size() <= most)
    {
        for (const MemorySample& sample : samples)
        {
            steps.push_back(sample.timePs / PS_PER_NS);
            steps.push_back(sample.bytes);
        }
        return steps;
    }
    std::size_t next = 0;
    uint64_t level = 0;
    for (std::size_t i = 0; i < most; ++i)
    {
        const auto parts = static_cast<int64_t>(most);
        const int64_t startPs = endPs / parts * static_cast<int64_t>(i);
        const int64_t untilPs = i + 1 == most ? std::numeric_limits<int64_t>::max()
                                              : endPs / parts * static_cast<int64_t>(i + 1);
        uint64_t highest = level;
        for (; next < samples.size() && samples[next].timePs < untilPs; ++next)
        {
            level = samples[next].bytes;
            highest = std::max(highest, level);
        }
        steps.push_back(startPs / PS_PER_NS);
        steps.push_back(highest);
    }
    return steps;
}

/// @param value a share @return it with three significant digits or so
double
Round(double value)
{
    constexpr double THOUSAND = 1e3;
    return std::round(value * THOUSAND) / THOUSAND;
}

} // namespace

Json
MakeTimelineData(const ReportedRun& run, const RunRecord& result, const ReportLimits& limits)
{
    const Timeline& timeline = result.timeline;
    const TimelineTracks tracks(run.graph, run.cluster, timeline);
    const Sends sends(run.graph, timeline);
    const auto devices = ChooseDevices(run.graph.GetNDevices(), limits.gpus);
    std::size_t nTracks = 0;
    std::size_t nSlices = 0;
    for (DeviceId device : devices)
    {
        for (const TimelineTrack& track : tracks.MakeTracks(device))
        {
            ++nTracks;
            nSlices += track.spans.size();
        }
    }
    int64_t resolutionPs = 1;
    if (nSlices > limits.slices)
    {
        // Of every part there are at most one short and one long slice.
        const auto parts =
            static_cast<int64_t>(std::max<std::size_t>(limits.slices / 2 / nTracks, 1));
        resolutionPs = std::max<int64_t>(timeline.endPs / parts, 1);
    }
    SliceWriter writer(run.graph, sends, resolutionPs);
    Json gpus = Json::array();
    for (DeviceId device : devices)
    {
        Json ofGpu = Json::array();
        for (const TimelineTrack& track : tracks.MakeTracks(device))
        {
            ofGpu.push_back({{"name", track.name}, {"slices", writer.Write(track)}});
        }
        gpus.push_back({{"name", run.cluster.GetVertices()[run.cluster.GetGpus()[device]].name},
                        {"device", device},
                        {"tracks", std::move(ofGpu)}});
    }
    return {{"end_ns", timeline.endPs / PS_PER_NS},
            {"devices", run.graph.GetNDevices()},
            {"merged_ns", resolutionPs > 1 ? resolutionPs / PS_PER_NS : 0},
            {"names", writer.GetNames()},
            {"gpus", std::move(gpus)}};
}

Json
MakeMemoryData(const ReportedRun& run, const RunRecord& result, const ReportLimits& limits)
{
    Json gpus = Json::array();
    for (DeviceId device : ChooseDevices(run.graph.GetNDevices(), limits.gpus))
    {
        const Vertex& gpu = run.cluster.GetVertices()[run.cluster.GetGpus()[device]];
        Json steps = Json::array();
        if (device < result.timeline.memory.size())
        {
            steps = MakeSteps(result.timeline.memory[device],
                              limits.memorySteps,
                              result.timeline.endPs);
        }
        gpus.push_back({{"name", gpu.name},
                        {"peak", result.timeline.peakMemoryBytes.at(device)},
                        {"capacity", FindGpuDatasheet(gpu.model).memoryBytes},
                        {"steps", std::move(steps)}});
    }
    return gpus;
}

Json
MakeTopologyData(const ReportedRun& run, const ReportLimits& limits)
{
    const Cluster& cluster = run.cluster;
    if (cluster.GetVertices().size() > limits.vertices)
    {
        return Json::object();
    }
    Json vertices = Json::array();
    for (const Vertex& vertex : cluster.GetVertices())
    {
        vertices.push_back({vertex.name, ToString(vertex.kind), vertex.server});
    }
    Json links = Json::array();
    for (const Link& link : cluster.GetLinks())
    {
        links.push_back(
            {link.a, link.b, ToString(link.technology), link.bytesPerSecond, Json::array()});
    }
    for (const RunRecord& result : run.results)
    {
        std::vector<std::array<double, 6>> uses(cluster.GetLinks().size());
        const double totalPs = std::max<double>(static_cast<double>(result.timeline.endPs), 1);
        for (const LinkStatistics& link : result.links)
        {
            const std::size_t at = link.forward ? 0 : 3;
            auto& use = uses.at(link.link);
            use[at] = Round(static_cast<double>(link.busyPs) / totalPs);
            use[at + 1] = Round(static_cast<double>(link.creditStallPs + link.pausedPs) / totalPs);
            use[at + 2] = static_cast<double>(link.maxQueueBytes);
        }
        for (std::size_t i = 0; i < uses.size(); ++i)
        {
            links[i][4].push_back(uses[i]);
        }
    }
    return {{"vertices", std::move(vertices)}, {"links", std::move(links)}};
}

Json
MakeSeriesData(const ReportedRun& run, const RunRecord& result, const ReportLimits& limits)
{
    const LinkSeries& series = result.series;
    // The directions to show: most use and holding together first.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t direction = 0; direction < series.GetNDirections(); ++direction)
    {
        double weight = 0;
        for (std::size_t bin = 0; bin < series.GetNBins(); ++bin)
        {
            const LinkBin& cell = series.Get(direction, bin);
            weight += cell.busyShare + 10 * (cell.stalledShare + cell.pausedShare);
        }
        if (weight > 0)
        {
            order.emplace_back(-weight, direction);
        }
    }
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), limits.seriesLinks));
    const std::size_t step =
        std::max<std::size_t>((series.GetNBins() + limits.seriesBins - 1) / limits.seriesBins, 1);
    Json links = Json::array();
    const auto& vertices = run.cluster.GetVertices();
    for (const auto& entry : order)
    {
        const std::size_t direction = entry.second;
        const Link& link = run.cluster.GetLinks()[direction / 2];
        const VertexId from = direction % 2 == 0 ? link.a : link.b;
        Json busy = Json::array();
        Json held = Json::array();
        Json queue = Json::array();
        for (std::size_t bin = 0; bin < series.GetNBins(); bin += step)
        {
            LinkBin sum;
            const std::size_t n = std::min(step, series.GetNBins() - bin);
            for (std::size_t i = 0; i < n; ++i)
            {
                const LinkBin& cell = series.Get(direction, bin + i);
                sum.busyShare += cell.busyShare / static_cast<float>(n);
                sum.stalledShare += (cell.stalledShare + cell.pausedShare) / static_cast<float>(n);
                sum.queueBytes = std::max(sum.queueBytes, cell.queueBytes);
            }
            busy.push_back(Round(static_cast<double>(sum.busyShare)));
            held.push_back(Round(std::min(1.0, static_cast<double>(sum.stalledShare))));
            queue.push_back(static_cast<uint64_t>(sum.queueBytes));
        }
        links.push_back({{"name", vertices[from].name + " -> " + vertices[link.Other(from)].name},
                         {"busy", std::move(busy)},
                         {"held", std::move(held)},
                         {"queue", std::move(queue)}});
    }
    return {{"bin_ns", series.GetBinPs() * static_cast<int64_t>(step) / PS_PER_NS},
            {"end_ns", result.timeline.endPs / PS_PER_NS},
            {"links", std::move(links)}};
}

} // namespace proteus
} // namespace ns3
