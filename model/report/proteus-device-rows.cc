/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-device-rows.h"

#include "ns3/proteus-task-instance.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a span is, whichever device it is on.
using Role = std::tuple<uint64_t, uint32_t, uint32_t>; // its task's, micro-batch, stream

/// A span of one device.
struct Entry
{
    Role role;
    int64_t startPs;
    int64_t endPs;

    bool operator<(const Entry& other) const
    {
        return std::tie(role, startPs) < std::tie(other.role, other.startPs);
    }
};

/// @param graph with the task @param task any @return what it has in common with those of others
uint64_t
HashTask(const ExecutionGraph& graph, const Task& task)
{
    const std::size_t ranks =
        task.kind == TaskKind::COMMUNICATION ? graph.GetGroup(task.place).size() : 0;
    const std::string text = graph.GetName(task) + '\n' + std::to_string(task.phase) + '\n' +
                             std::to_string(static_cast<int>(task.kind)) + '\n' +
                             std::to_string(static_cast<int>(task.collective)) + '\n' +
                             std::to_string(task.bytes) + '\n' + std::to_string(ranks);
    return std::hash<std::string>()(text);
}

/// @param a spans of a device @param b of another one, which are the same but for their times
/// @return most that a time differs
int64_t
FindDifference(const std::vector<Entry>& a, const std::vector<Entry>& b)
{
    int64_t most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        most = std::max(
            {most, std::abs(a[i].startPs - b[i].startPs), std::abs(a[i].endPs - b[i].endPs)});
    }
    return most;
}

/// @return the spans by device, in the order of what they are
std::vector<std::vector<Entry>>
SortSpans(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::unordered_map<TaskId, uint64_t> hashes;
    std::vector<std::vector<Entry>> entries(graph.GetNDevices());
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const auto [place, isNew] = hashes.emplace(span.task, 0);
        if (isNew)
        {
            place->second = HashTask(graph, task);
        }
        entries[span.device].push_back(
            {{place->second, span.microBatch, task.stream}, span.startPs, span.endPs});
    }
    for (auto& ofDevice : entries)
    {
        std::sort(ofDevice.begin(), ofDevice.end());
    }
    return entries;
}

} // namespace

std::vector<AlikeDevices>
FindAlikeDevices(const ExecutionGraph& graph, const Timeline& timeline, int64_t tolerancePs)
{
    const std::vector<std::vector<Entry>> entries = SortSpans(graph, timeline);
    std::vector<AlikeDevices> groups;
    std::map<std::vector<Role>, std::vector<std::size_t>> known; // groups by what they do
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        std::vector<Role> roles;
        roles.reserve(entries[device].size());
        for (const Entry& entry : entries[device])
        {
            roles.push_back(entry.role);
        }
        std::vector<std::size_t>& candidates = known[std::move(roles)];
        const auto found =
            std::find_if(candidates.begin(), candidates.end(), [&](std::size_t group) {
                const auto& first = entries[groups[group].devices.front()];
                return FindDifference(first, entries[device]) <= tolerancePs;
            });
        if (found == candidates.end())
        {
            candidates.push_back(groups.size());
            groups.push_back({{device}, 0});
            continue;
        }
        AlikeDevices& group = groups[*found];
        group.differencePs =
            std::max(group.differencePs,
                     FindDifference(entries[group.devices.front()], entries[device]));
        group.devices.push_back(device);
    }
    return groups;
}

std::vector<AlikeDevices>
FindRows(const ExecutionGraph& graph, const Timeline& timeline)
{
    constexpr int64_t PARTS = 1000;
    return FindAlikeDevices(graph, timeline, timeline.endPs / PARTS);
}

std::vector<AlikeDevices>
ChooseRows(const std::vector<AlikeDevices>& rows, std::size_t most)
{
    std::vector<AlikeDevices> chosen;
    const std::size_t n = std::min(rows.size(), most);
    for (std::size_t i = 0; i < n; ++i)
    {
        chosen.push_back(rows[i * rows.size() / n]);
    }
    return chosen;
}

std::vector<DeviceRole>
FindRoles(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<DeviceRole> roles(graph.GetNDevices());
    // Who handed something to whom first; spans are in the order of their ends.
    std::map<std::pair<DeviceId, DeviceId>, bool> isForward; // by both ends, the lower one first
    std::vector<std::vector<DeviceId>> next(graph.GetNDevices());
    std::vector<uint32_t> before(graph.GetNDevices(), 0);
    std::set<uint32_t> seen; // groups
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        if (task.kind != TaskKind::COMMUNICATION || !seen.insert(task.place).second)
        {
            continue;
        }
        const std::vector<DeviceId>& group = graph.GetGroup(task.place);
        if (task.parallelism == Parallelism::DATA)
        {
            for (uint32_t rank = 0; rank < group.size(); ++rank)
            {
                roles[group[rank]].replica = std::max(roles[group[rank]].replica, rank);
            }
        }
        else if (task.parallelism == Parallelism::PIPELINE && group.size() == 2)
        {
            const auto ends = std::minmax(group[0], group[1]);
            if (isForward.emplace(std::make_pair(ends.first, ends.second), true).second)
            {
                next[group[0]].push_back(group[1]);
                ++before[group[1]];
            }
        }
    }
    // The longest way from a device that nobody hands anything first; a circle keeps stage 0.
    std::vector<DeviceId> ready;
    for (DeviceId device = 0; device < before.size(); ++device)
    {
        if (before[device] == 0)
        {
            ready.push_back(device);
        }
    }
    for (std::size_t i = 0; i < ready.size(); ++i)
    {
        for (const DeviceId after : next[ready[i]])
        {
            roles[after].stage = std::max(roles[after].stage, roles[ready[i]].stage + 1);
            if (--before[after] == 0)
            {
                ready.push_back(after);
            }
        }
    }
    return roles;
}

} // namespace proteus
} // namespace ns3
