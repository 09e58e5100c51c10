/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-host-waits.h"

namespace ns3
{
namespace proteus
{

double
GetHostShare(const ExecutionGraph& graph)
{
    double all = 0;
    double waits = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE && task.durationPs > 0 &&
            !graph.IsHostStream(task.stream))
        {
            const double ps = static_cast<double>(task.durationPs) * graph.GetNInstances(task);
            all += ps;
            waits += ps * task.hostPercent / 100;
        }
    }
    return all > 0 ? waits / all : 0;
}

void
NoteHostWaits(const ExecutionGraph& graph,
              const std::string& framework,
              std::vector<std::string>& notes)
{
    const auto tenths = static_cast<int>(10 * GetHostShare(graph));
    if (tenths < 2)
    {
        return;
    }
    const bool hasGraphs = framework == "megatron-core";
    notes.push_back("compute: for more than " + std::to_string(10 * tenths) +
                    " % of the time of kernels the GPU waits for the host of " + framework +
                    ", which issues them more slowly than it runs them (" +
                    (hasGraphs ? "--framework=megatron-core-graphs has CUDA graphs, and waits less)"
                               : "doc/operator-cost.rst, Frameworks)"));
}

} // namespace proteus
} // namespace ns3
