/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-text.h"
#include "proteus-graph.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::vector<ScheduleEntry>
MakePipelineSchedule(PipelineSchedule kind,
                     uint32_t stages,
                     uint32_t stage,
                     uint32_t microBatches,
                     PhaseId forward,
                     PhaseId backward)
{
    if (stage >= stages)
    {
        FailGraph("pipeline stage " + std::to_string(stage) + " does not exist; there are " +
                  std::to_string(stages) + " stages, from 0");
    }
    if (microBatches == 0 || microBatches > MAX_MICRO_BATCHES)
    {
        FailGraph("a pipeline schedule has 1 to " + std::to_string(MAX_MICRO_BATCHES) +
                  " micro-batches, not " + std::to_string(microBatches));
    }
    const uint32_t warmUp =
        kind == PipelineSchedule::GPIPE ? microBatches : std::min(microBatches, stages - 1 - stage);
    std::vector<ScheduleEntry> schedule;
    schedule.reserve(std::size_t{2} * microBatches);
    for (uint32_t k = 0; k < warmUp; k++)
    {
        schedule.push_back({forward, k});
    }
    for (uint32_t k = warmUp; k < microBatches; k++)
    {
        schedule.push_back({forward, k});
        schedule.push_back({backward, k - warmUp});
    }
    for (uint32_t k = microBatches - warmUp; k < microBatches; k++)
    {
        schedule.push_back({backward, k});
    }
    return schedule;
}

} // namespace proteus
} // namespace ns3
