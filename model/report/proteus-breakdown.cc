/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-breakdown.h"

#include "proteus-report-input.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// Kinds of activity in order of precedence: compute, then EXPOSURE_PRIORITY.
constexpr std::size_t N_ACTIVITIES = 1 + N_PARALLELISMS;

/// A moment at which a device has one activity of a kind more or less.
struct Change
{
    int64_t timePs;
    uint8_t activity;
    bool begins;

    bool operator<(const Change& other) const
    {
        return timePs < other.timePs;
    }
};

/// @return by Parallelism, its position in EXPOSURE_PRIORITY
std::array<uint8_t, N_PARALLELISMS>
RankParallelisms()
{
    std::array<uint8_t, N_PARALLELISMS> ranks{};
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        ranks[static_cast<std::size_t>(EXPOSURE_PRIORITY[i])] = static_cast<uint8_t>(i);
    }
    return ranks;
}

/// @param changes of one device, put in order here @param totalPs length of the timeline
DeviceBreakdown
BreakDownDevice(std::vector<Change>& changes, int64_t totalPs)
{
    // Order at equal times does not matter: no time passes between.
    std::sort(changes.begin(), changes.end());
    DeviceBreakdown result;
    result.totalPs = totalPs;
    result.activityPs = changes.empty() ? 0 : changes.back().timePs - changes.front().timePs;
    std::array<uint32_t, N_ACTIVITIES> active{};
    int64_t lastPs = 0;
    const auto count = [&](int64_t untilPs) {
        const int64_t lengthPs = untilPs - lastPs;
        lastPs = untilPs;
        if (lengthPs == 0)
        {
            return;
        }
        const auto communication =
            std::find_if(active.begin() + 1, active.end(), [](uint32_t n) { return n > 0; });
        if (communication != active.end())
        {
            result.communicationPs += lengthPs;
        }
        if (active[0] > 0)
        {
            result.computePs += lengthPs;
        }
        else if (communication != active.end())
        {
            const auto rank = static_cast<std::size_t>(communication - active.begin() - 1);
            result.exposedPs[static_cast<std::size_t>(EXPOSURE_PRIORITY[rank])] += lengthPs;
        }
        else
        {
            result.idlePs += lengthPs;
        }
    };
    for (const Change& change : changes)
    {
        count(change.timePs);
        change.begins ? ++active[change.activity] : --active[change.activity];
    }
    count(totalPs);
    return result;
}

} // namespace

int64_t
DeviceBreakdown::GetExposedPs() const
{
    return std::accumulate(exposedPs.begin(), exposedPs.end(), int64_t{0});
}

std::vector<DeviceBreakdown>
BreakDown(const ExecutionGraph& graph, const Timeline& timeline)
{
    RequireTimelineOf(graph, timeline);
    const Sends sends(graph, timeline);
    const auto ranks = RankParallelisms();
    std::vector<std::vector<Change>> changes(graph.GetNDevices());
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        uint8_t activity = 0;
        int64_t startPs = span.startPs;
        if (task.kind == TaskKind::COMMUNICATION)
        {
            activity = static_cast<uint8_t>(1 + ranks[static_cast<std::size_t>(task.parallelism)]);
            if (IsReceive(graph, span))
            {
                startPs = std::max(startPs, sends.Find(span).startPs);
            }
        }
        else if (graph.IsHostStream(task.stream))
        {
            continue; // the GPU is free
        }
        if (startPs < span.endPs)
        {
            changes[span.device].push_back({startPs, activity, true});
            changes[span.device].push_back({span.endPs, activity, false});
        }
    }
    std::vector<DeviceBreakdown> result;
    result.reserve(changes.size());
    for (auto& ofDevice : changes)
    {
        result.push_back(BreakDownDevice(ofDevice, timeline.endPs));
    }
    return result;
}

MeanBreakdown
MeanOf(const std::vector<DeviceBreakdown>& breakdowns)
{
    MeanBreakdown mean;
    if (breakdowns.empty())
    {
        return mean;
    }
    constexpr double PS_PER_S = 1e12;
    const auto average = [&](auto get) {
        double sum = 0; // picoseconds of a million devices can exceed 63 bits
        for (const DeviceBreakdown& breakdown : breakdowns)
        {
            sum += static_cast<double>(get(breakdown));
        }
        return sum / static_cast<double>(breakdowns.size()) / PS_PER_S;
    };
    mean.computeS = average([](const DeviceBreakdown& b) { return b.computePs; });
    mean.exposedCommunicationS = average([](const DeviceBreakdown& b) { return b.GetExposedPs(); });
    mean.idleS = average([](const DeviceBreakdown& b) { return b.idlePs; });
    mean.totalS = average([](const DeviceBreakdown& b) { return b.totalPs; });
    mean.communicationS = average([](const DeviceBreakdown& b) { return b.communicationPs; });
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        mean.exposedS[i] = average([i](const DeviceBreakdown& b) { return b.exposedPs[i]; });
    }
    return mean;
}

} // namespace proteus
} // namespace ns3
