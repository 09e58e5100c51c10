/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-operator-cost.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

int64_t
RooflineModel::ComputeTimePs(const Task& task, const GpuDatasheet& gpu) const
{
    if (task.kind != TaskKind::COMPUTE)
    {
        throw std::invalid_argument(
            std::string("only a compute task has an operator time, not a ") + ToString(task.kind) +
            " task");
    }
    if (task.durationPs >= 0)
    {
        return task.durationPs;
    }
    // Written so that not-a-number fails too.
    if (!(flopsEfficiency > 0) || !(memoryEfficiency > 0) || launchIntervalPs < 0)
    {
        throw std::invalid_argument("roofline: the efficiencies must be above 0 and the launch "
                                    "interval must not be negative");
    }
    constexpr double PS_PER_S = 1e12;
    const double arithmetic = task.flops / (gpu.PeakFlops(task.dataType) * flopsEfficiency);
    const double traffic =
        static_cast<double>(task.bytes) / (gpu.memoryBytesPerSecond * memoryEfficiency);
    const double time = std::max(arithmetic, traffic) * PS_PER_S;
    if (!(task.flops >= 0) || !(time >= 0) || time >= 0x1p63)
    {
        throw std::invalid_argument("roofline: a task of " + std::to_string(task.flops) +
                                    " FLOPs and " + std::to_string(task.bytes) + " bytes on a " +
                                    gpu.model + " has no time that fits");
    }
    return std::max(launchIntervalPs, static_cast<int64_t>(std::llround(time)));
}

} // namespace proteus
} // namespace ns3
