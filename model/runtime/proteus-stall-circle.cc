/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stall-circle.h"

#include "ns3/proteus-operator-cost.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Devices of a circle that are named.
constexpr std::size_t MAX_NAMED = 8;

/// Devices that wait, and for whom.
class WaitGraph
{
  public:
    /// @param graph that is run @param open what devices have joined
    WaitGraph(const ExecutionGraph& graph, const std::vector<Span>& open)
    {
        std::set<DeviceId> busy;
        std::map<std::pair<TaskId, uint32_t>, std::set<DeviceId>> joined;
        for (const Span& span : open)
        {
            if (HoldsUntilAllCome(graph, span))
            {
                busy.insert(span.device);
            }
            joined[{span.task, span.microBatch}].insert(span.device);
        }
        for (const Span& span : open)
        {
            if (busy.count(span.device) == 0 || !HoldsUntilAllCome(graph, span))
            {
                continue;
            }
            const auto& there = joined[{span.task, span.microBatch}];
            for (const DeviceId other : graph.GetGroup(graph.GetTask(span.task).place))
            {
                if (there.count(other) == 0 && busy.count(other) > 0)
                {
                    m_links[span.device].push_back({span, other});
                }
            }
        }
    }

    /// @return two devices that wait for each other, or nothing
    std::vector<StallLink> FindPair() const
    {
        for (const auto& [device, links] : m_links)
        {
            for (const StallLink& link : links)
            {
                const auto back = m_links.find(link.waitsFor);
                if (back == m_links.end())
                {
                    continue;
                }
                for (const StallLink& other : back->second)
                {
                    if (other.waitsFor == device)
                    {
                        return {link, other};
                    }
                }
            }
        }
        return {};
    }

    /// @return any circle, or nothing
    std::vector<StallLink> FindAny() const
    {
        std::set<DeviceId> done;
        for (const auto& [first, links] : m_links)
        {
            std::vector<StallLink> way;
            std::vector<std::pair<DeviceId, std::size_t>> stack{{first, 0}}; // device, next link
            while (!stack.empty())
            {
                auto& [at, next] = stack.back();
                const auto found = m_links.find(at);
                if (done.count(at) > 0 || found == m_links.end() || next == found->second.size())
                {
                    done.insert(at);
                    stack.pop_back();
                    way.resize(stack.empty() ? 0 : stack.size() - 1);
                    continue;
                }
                const StallLink& link = found->second[next++];
                way.resize(stack.size() - 1);
                way.push_back(link);
                const auto before =
                    std::find_if(way.begin(), way.end(), [&link](const StallLink& earlier) {
                        return earlier.joined.device == link.waitsFor;
                    });
                if (before != way.end())
                {
                    return {before, way.end()};
                }
                stack.emplace_back(link.waitsFor, 0);
            }
        }
        return {};
    }

  private:
    /// @return whether the device of a span stays in it until all others have come
    static bool HoldsUntilAllCome(const ExecutionGraph& graph, const Span& span)
    {
        const Task& task = graph.GetTask(span.task);
        if (task.kind != TaskKind::COMMUNICATION)
        {
            return false;
        }
        switch (task.collective)
        {
        case Collective::ALL_REDUCE:
        case Collective::ALL_GATHER:
        case Collective::REDUCE_SCATTER:
        case Collective::ALL_TO_ALL:
            return true;
        case Collective::SEND_RECV:
            return graph.GetGroup(task.place).front() == span.device;
        default:
            return false;
        }
    }

    std::map<DeviceId, std::vector<StallLink>> m_links; //!< by who waits
};

/// @param graph whose tasks begin as they are ready @return what decides their order, and how to
/// mend it
std::string
DescribeReadiness(const ExecutionGraph& graph)
{
    uint64_t kernels = 0;
    uint64_t timeless = 0;
    for (const Task& task : graph.GetTasks())
    {
        kernels += task.kind == TaskKind::COMPUTE ? 1 : 0;
        timeless += task.kind == TaskKind::COMPUTE && task.durationPs < 0 ? 1 : 0;
    }
    const std::string text = "The trace does not order them, so that each device begins with what "
                             "is ready first, which the times of kernels decide. ";
    return text + (timeless == 0
                       ? "Dependencies between them put them into one order.\n"
                       : std::to_string(timeless) + " of " + std::to_string(kernels) +
                             " kernels have no time of their own and take --launchInterval at "
                             "least: a longer one may put them into one order (without the option "
                             "it is " +
                             std::to_string(RooflineModel().launchIntervalPs / 1000000) +
                             " us), dependencies between them do.\n");
}

} // namespace

std::vector<StallLink>
FindStallCircle(const ExecutionGraph& graph, const std::vector<Span>& open)
{
    const WaitGraph waits(graph, open);
    const std::vector<StallLink> pair = waits.FindPair();
    return pair.empty() ? waits.FindAny() : pair;
}

std::string
DescribeStallCircle(const ExecutionGraph& graph, const std::vector<StallLink>& circle)
{
    if (circle.empty())
    {
        return "";
    }
    std::string text = "devices come to communications in different orders, and each waits for the "
                       "next:";
    bool isByReadiness = false;
    for (std::size_t i = 0; i < std::min(circle.size(), MAX_NAMED); ++i)
    {
        const Span& span = circle[i].joined;
        const Task& task = graph.GetTask(span.task);
        isByReadiness |= graph.GetStreamOrder(task.stream) == StreamOrder::READY;
        text += "\n  device " + std::to_string(span.device) + " is in '" + graph.GetName(task) +
                "' (task " + std::to_string(span.task) + ", micro-batch " +
                std::to_string(span.microBatch) + ") and waits there for device " +
                std::to_string(circle[i].waitsFor);
    }
    if (circle.size() > MAX_NAMED)
    {
        text += "\n  and " + std::to_string(circle.size() - MAX_NAMED) + " more";
    }
    text += "\n";
    return text + (isByReadiness ? DescribeReadiness(graph)
                                 : "All devices of a group have to come to its communications in "
                                   "one order.\n");
}

} // namespace proteus
} // namespace ns3
