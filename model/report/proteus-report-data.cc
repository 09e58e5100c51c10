/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-report-data.h"

#include "proteus-device-rows.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr int64_t PS_PER_NS = 1000;

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
MakeMemoryData(const ReportedRun& run, const RunRecord& result, const ReportLimits& limits)
{
    Json gpus = Json::array();
    for (const AlikeDevices& row : ChooseRows(FindRows(run.graph, result.timeline), limits.gpus))
    {
        const DeviceId device = row.devices.front();
        const Vertex& gpu = run.cluster.GetVertices()[run.cluster.GetGpus()[device]];
        Json steps = Json::array();
        if (device < result.timeline.memory.size())
        {
            steps = MakeSteps(result.timeline.memory[device],
                              limits.memorySteps,
                              result.timeline.endPs);
        }
        gpus.push_back({{"name", gpu.name},
                        {"count", row.devices.size()},
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
