/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stage-schedule.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// A stage of the dispatcher.
struct Dispatch
{
    uint32_t forwards{0};
    uint32_t backwards{0};
    uint32_t inARow{0};
    bool isForward{true};
};

} // namespace

std::string
ToString(const std::vector<StageEntry>& schedule)
{
    std::string text;
    for (const StageEntry& entry : schedule)
    {
        text += text.empty() ? "" : " ";
        text += entry.work == StageWork::FORWARD    ? "F"
                : entry.work == StageWork::BACKWARD ? "B"
                                                    : "W";
        text += std::to_string(entry.microBatch + 1);
    }
    return text;
}

std::vector<std::vector<StageEntry>>
MakeLimitedSchedule(const std::vector<uint32_t>& limits, uint32_t interleave, uint32_t microBatches)
{
    for (std::size_t stage = 0; stage < limits.size(); ++stage)
    {
        if (limits[stage] == 0)
        {
            throw std::invalid_argument("stage " + std::to_string(stage) +
                                        ": an in-flight limit of 0 micro-batches deadlocks, it "
                                        "must be at least 1");
        }
    }
    if (interleave == 0)
    {
        throw std::invalid_argument("an interleaving of 0 forwards deadlocks, it must be at least "
                                    "1");
    }
    const std::size_t n = limits.size();
    std::vector<std::vector<StageEntry>> schedules(n);
    std::vector<Dispatch> stages(n);
    uint64_t open = uint64_t{2} * microBatches * n;
    while (open > 0)
    {
        const std::vector<Dispatch> before = stages;
        for (std::size_t s = 0; s < n; ++s)
        {
            Dispatch& stage = stages[s];
            const uint32_t arrived = s == 0 ? microBatches : before[s - 1].forwards;
            const uint32_t returned = s + 1 == n ? before[s].forwards : before[s + 1].backwards;
            const bool canForward =
                stage.forwards < arrived && stage.forwards - stage.backwards < limits[s];
            const bool canBackward = stage.backwards < returned;
            if (!canForward && !canBackward)
            {
                continue;
            }
            const bool isKept = stage.inARow > 0 && stage.inARow < interleave &&
                                (stage.isForward ? canForward : canBackward);
            const bool isForward = isKept            ? stage.isForward
                                   : stage.isForward ? !canBackward
                                                     : canForward;
            stage.inARow = isForward == stage.isForward ? stage.inARow + 1 : 1;
            stage.isForward = isForward;
            uint32_t& number = isForward ? stage.forwards : stage.backwards;
            schedules[s].push_back(
                {isForward ? StageWork::FORWARD : StageWork::BACKWARD, 0, number});
            ++number;
            --open;
        }
    }
    return schedules;
}

uint32_t
CountInterleavedWarmUp(uint32_t ranks,
                       uint32_t rank,
                       uint32_t chunks,
                       uint32_t microBatches,
                       uint32_t ahead,
                       bool runsForwardFirst)
{
    const uint32_t total = microBatches * chunks;
    return microBatches == ranks && runsForwardFirst
               ? total
               : std::min(total, (ranks - rank - 1) * 2 + (chunks - 1) * ranks + ahead);
}

std::vector<StageEntry>
MakeInterleavedSchedule(uint32_t ranks,
                        uint32_t rank,
                        uint32_t chunks,
                        uint32_t microBatches,
                        uint32_t ahead,
                        bool runsForwardFirst)
{
    if (microBatches % ranks != 0)
    {
        throw std::invalid_argument(std::to_string(microBatches) +
                                    " micro-batches are no multiple of the " +
                                    std::to_string(ranks) + " pipeline ranks");
    }
    const uint32_t total = microBatches * chunks;
    auto entry = [&](StageWork work, uint32_t k) {
        const uint32_t chunk = k % (ranks * chunks) / ranks;
        const uint32_t microBatch = k / (ranks * chunks) * ranks + k % ranks;
        return StageEntry{work,
                          work == StageWork::FORWARD ? chunk : chunks - 1 - chunk,
                          microBatch};
    };
    const uint32_t warmUp =
        CountInterleavedWarmUp(ranks, rank, chunks, microBatches, ahead, runsForwardFirst);
    std::vector<StageEntry> schedule;
    for (uint32_t k = 0; k < warmUp; ++k)
    {
        schedule.push_back(entry(StageWork::FORWARD, k));
    }
    for (uint32_t k = warmUp; k < total; ++k)
    {
        schedule.push_back(entry(StageWork::FORWARD, k));
        schedule.push_back(entry(StageWork::BACKWARD, k - warmUp));
    }
    for (uint32_t k = total - warmUp; k < total; ++k)
    {
        schedule.push_back(entry(StageWork::BACKWARD, k));
    }
    return schedule;
}

std::vector<StageEntry>
MakeZeroBubbleSchedule(uint32_t stages, uint32_t stage, uint32_t microBatches)
{
    const uint32_t warmUp = std::min(microBatches, stages - stage - 1);
    std::vector<StageEntry> schedule;
    uint32_t nWeights = 0;
    auto backward = [&](uint32_t k) {
        schedule.push_back({StageWork::BACKWARD, 0, k});
        if (k >= stage)
        {
            schedule.push_back({StageWork::WEIGHT_GRADIENT, 0, nWeights++});
        }
    };
    for (uint32_t k = 0; k < warmUp; ++k)
    {
        schedule.push_back({StageWork::FORWARD, 0, k});
    }
    for (uint32_t k = warmUp; k < microBatches; ++k)
    {
        schedule.push_back({StageWork::FORWARD, 0, k});
        backward(k - warmUp);
    }
    for (uint32_t k = microBatches - warmUp; k < microBatches; ++k)
    {
        backward(k);
    }
    while (nWeights < microBatches)
    {
        schedule.push_back({StageWork::WEIGHT_GRADIENT, 0, nWeights++});
    }
    return schedule;
}

} // namespace proteus
} // namespace ns3
