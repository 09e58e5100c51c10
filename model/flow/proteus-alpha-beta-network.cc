/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-alpha-beta-network.h"

#include "ns3/proteus-program-cache.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

AlphaBetaNetwork::AlphaBetaNetwork(const ExecutionGraph& graph,
                                   const Cluster& cluster,
                                   const Paths& paths,
                                   Clock& clock,
                                   const FlowParameters& parameters,
                                   const ProgramSettings& settings)
    : m_graph(graph),
      m_clock(clock),
      m_profiles(graph, cluster, paths, parameters, settings)
{
}

int64_t
AlphaBetaNetwork::FindTimePs(FlowProfiles& profiles, TaskId task)
{
    const CollectiveProfile& profile = profiles.Get(task);
    return profile.launchPs + (profile.classes.empty() ? 0 : profiles.GetAlphaBetaPs(task));
}

void
AlphaBetaNetwork::Join(DeviceId device,
                       TaskId task,
                       uint32_t microBatch,
                       std::function<void()> done)
{
    auto& members = m_waiting[{task, microBatch}];
    members.emplace_back(device, std::move(done));
    if (members.size() < m_graph.GetGroup(m_graph.GetTask(task).place).size())
    {
        return;
    }
    const CollectiveProfile& profile = m_profiles.Get(task);
    m_sentBytes += profile.sentBytes;
    ++m_collectives;
    const int64_t timePs = FindTimePs(m_profiles, task);
    for (auto& [member, callback] : members)
    {
        m_clock.Schedule(member, timePs, std::move(callback));
    }
    m_waiting.erase({task, microBatch});
}

std::string
AlphaBetaNetwork::DescribeWait(DeviceId /* device */, TaskId task, uint32_t microBatch) const
{
    const auto found = m_waiting.find({task, microBatch});
    if (found == m_waiting.end())
    {
        return "is under way";
    }
    return "waits for " +
           std::to_string(m_graph.GetGroup(m_graph.GetTask(task).place).size() -
                          found->second.size()) +
           " others to join";
}

bool
TakeAlike(const ExecutionGraph& graph,
          const Cluster& cluster,
          const FlowParameters& parameters,
          bool slowsKernels,
          const ProgramSettings& a,
          const ProgramSettings& b)
{
    const Paths paths(cluster);
    FlowProfiles first(graph, cluster, paths, parameters, a);
    FlowProfiles second(graph, cluster, paths, parameters, b);
    const auto describePart = [](const CollectiveProfile& profile) {
        return std::make_pair(profile.multiprocessors, profile.memoryBytesPerSecond);
    };
    const std::vector<TaskId> tasks = ProgramCache(graph, cluster, paths, a).ListDistinct();
    return std::all_of(tasks.begin(), tasks.end(), [&](TaskId id) {
        return AlphaBetaNetwork::FindTimePs(first, id) ==
                   AlphaBetaNetwork::FindTimePs(second, id) &&
               (!slowsKernels || describePart(first.Get(id)) == describePart(second.Get(id)));
    });
}

} // namespace proteus
} // namespace ns3
