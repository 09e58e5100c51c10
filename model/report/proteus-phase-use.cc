/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-phase-use.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// Sums of one phase.
struct Sums
{
    std::set<DeviceId> devices;
    double computePs{0};
    double communicationPs{0};
    int64_t startPs{std::numeric_limits<int64_t>::max()};
    int64_t endPs{0};
};

} // namespace

std::vector<PhaseUse>
SummarizePhases(const ExecutionGraph& graph, const Timeline& timeline)
{
    const auto& phases = graph.GetPhases();
    std::vector<Sums> sums(phases.size());
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        Sums& sum = sums[task.phase];
        sum.devices.insert(span.device);
        (task.kind == TaskKind::COMPUTE ? sum.computePs : sum.communicationPs) +=
            static_cast<double>(span.endPs - span.startPs);
        sum.startPs = std::min(sum.startPs, span.startPs);
        sum.endPs = std::max(sum.endPs, span.endPs);
    }
    std::vector<PhaseUse> uses;
    for (std::size_t i = 0; i < phases.size(); ++i)
    {
        const auto n = static_cast<double>(sums[i].devices.size());
        if (n > 0)
        {
            uses.push_back({phases[i].name,
                            phases[i].microBatches,
                            static_cast<uint32_t>(sums[i].devices.size()),
                            sums[i].computePs / n / PS_PER_S,
                            sums[i].communicationPs / n / PS_PER_S,
                            sums[i].startPs,
                            sums[i].endPs});
        }
    }
    return uses;
}

} // namespace proteus
} // namespace ns3
