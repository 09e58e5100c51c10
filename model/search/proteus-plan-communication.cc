/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-communication.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12;         // seconds
constexpr uint64_t LEAST = 1U << 14; // bytes; below, latency is all there is
constexpr uint64_t STEP = 4;         // between sizes that are measured
constexpr uint64_t MOST = 1U << 28;  // bytes
constexpr std::size_t MOST_RANKS = 32;

} // namespace

FlowCommunicationCost::FlowCommunicationCost(const Cluster& cluster,
                                             const Paths& paths,
                                             const FlowParameters& parameters,
                                             const ProgramSettings& settings)
    : m_cluster(cluster),
      m_paths(paths),
      m_parameters(parameters),
      m_settings(settings)
{
}

Cluster::RankRange
FlowCommunicationCost::GetServerRanks(DeviceId device) const
{
    if (device >= m_cluster.GetGpus().size())
    {
        throw std::invalid_argument("communication costs: cluster '" + m_cluster.GetName() +
                                    "' has no GPU " + std::to_string(device));
    }
    return m_cluster.GetServerRanks(device);
}

/// The group moved to all places of the server where it begins, as far as they do not overlap.
std::vector<std::vector<DeviceId>>
FlowCommunicationCost::FindGroupsBeside(const std::vector<DeviceId>& group) const
{
    const auto nGpus = static_cast<DeviceId>(m_cluster.GetGpus().size());
    const Cluster::RankRange server = GetServerRanks(group[0]);
    std::vector<std::vector<DeviceId>> groups;
    std::set<DeviceId> used;
    bool hasGroup = false;
    for (DeviceId begin = server.first; begin < server.end; ++begin)
    {
        std::vector<DeviceId> moved;
        bool fits = true;
        for (const DeviceId device : group)
        {
            const DeviceId there = begin + device - group[0];
            fits = fits && there < nGpus && used.count(there) == 0;
            moved.push_back(there);
        }
        if (fits)
        {
            used.insert(moved.begin(), moved.end());
            hasGroup = hasGroup || moved == group;
            groups.push_back(std::move(moved));
        }
    }
    return hasGroup ? groups : std::vector<std::vector<DeviceId>>{group};
}

double
FlowCommunicationCost::Measure(Collective collective,
                               const std::vector<DeviceId>& group,
                               uint64_t bytes) const
{
    const std::vector<std::vector<DeviceId>> groups = FindGroupsBeside(group);
    DeviceId last = 0;
    for (const std::vector<DeviceId>& one : groups)
    {
        last = std::max(last, *std::max_element(one.begin(), one.end()));
    }
    GraphBuilder builder(last + 1);
    const PhaseId phase = builder.AddPhase("iteration");
    const StreamId stream = builder.AddStream("communication");
    for (const std::vector<DeviceId>& one : groups)
    {
        builder.AddCommunication(phase,
                                 builder.AddGroup(one),
                                 stream,
                                 ToString(collective),
                                 collective,
                                 bytes,
                                 Parallelism::NONE);
    }
    const ExecutionGraph graph = builder.Build();
    const FlowRun run =
        RunFlow(graph, m_cluster, m_paths, RuntimeOptions(), m_parameters, m_settings);
    return PS * static_cast<double>(run.timeline.endPs);
}

double
FlowCommunicationCost::GetCost(Collective collective,
                               const std::vector<DeviceId>& group,
                               double bytes) const
{
    if (group.size() < 2 || bytes <= 0)
    {
        return 0;
    }
    if (group.size() <= MOST_RANKS)
    {
        return Interpolate(collective, group, bytes);
    }
    // Of a ring among n, latency grows with n - 1 and transmission with (n - 1) / n: both are known
    // from two groups that begin as this one.
    const std::size_t half = MOST_RANKS / 2;
    const auto begin = group.begin();
    const double few = Interpolate(collective, {begin, begin + half}, bytes);
    const double more = Interpolate(collective, {begin, begin + MOST_RANKS}, bytes);
    auto steps = [](std::size_t n) { return static_cast<double>(n) - 1; };
    auto share = [&](std::size_t n) { return steps(n) / static_cast<double>(n); };
    const double determinant = steps(half) * share(MOST_RANKS) - steps(MOST_RANKS) * share(half);
    const double latency = (few * share(MOST_RANKS) - more * share(half)) / determinant;
    const double transmission =
        (more - std::max(0.0, latency) * steps(MOST_RANKS)) / share(MOST_RANKS);
    return std::max(0.0, latency) * steps(group.size()) + transmission * share(group.size());
}

double
FlowCommunicationCost::Interpolate(Collective collective,
                                   const std::vector<DeviceId>& group,
                                   double bytes) const
{
    std::vector<uint32_t> place{group[0] - GetServerRanks(group[0]).first};
    for (const DeviceId device : group)
    {
        place.push_back(device - group[0]);
    }
    std::map<uint64_t, double>& seconds = m_seconds[{collective, place}];
    auto get = [&](uint64_t size) {
        const auto [found, isNew] = seconds.emplace(size, 0);
        if (isNew)
        {
            found->second = Measure(collective, group, size);
        }
        return found->second;
    };
    uint64_t low = LEAST;
    if (bytes <= static_cast<double>(low))
    {
        return get(low);
    }
    // Beyond the largest sizes time grows as between them.
    while (static_cast<double>(low * STEP) < bytes && low * STEP < MOST)
    {
        low *= STEP;
    }
    const double a = get(low);
    const double b = get(low * STEP);
    const auto width = static_cast<double>(low * STEP - low);
    return a + (b - a) * (bytes - static_cast<double>(low)) / width;
}

} // namespace proteus
} // namespace ns3
