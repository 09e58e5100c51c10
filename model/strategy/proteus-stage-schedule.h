/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STAGE_SCHEDULE_H
#define PROTEUS_STAGE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * In which order the stages of a pipeline run their micro-batches.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A piece of work of a stage.
enum class StageWork : uint8_t
{
    FORWARD,         //!< forward pass
    BACKWARD,        //!< backward pass; of zero-bubble schedules, the gradients of inputs
    WEIGHT_GRADIENT, //!< zero-bubble schedules: the gradients of parameters
};

/// @ingroup proteus
/// An entry of the schedule of a device.
struct StageEntry
{
    StageWork work{StageWork::FORWARD}; //!< what
    uint32_t chunk{0};                  //!< which of the device's stages
    uint32_t microBatch{0};             //!< for which micro-batch

    /// @param other an entry @return whether both are the same
    bool operator==(const StageEntry& other) const
    {
        return work == other.work && chunk == other.chunk && microBatch == other.microBatch;
    }
};

/// @ingroup proteus
/// @param schedule of a device with one stage @return e.g. "F1 F2 B1", micro-batches from 1
std::string ToString(const std::vector<StageEntry>& schedule);

/**
 * @ingroup proteus
 * The dispatcher of Proteus, which works in rounds. In each round, every stage picks one
 * micro-batch, if the rounds before allow its next work. After `interleave` forwards in a row, or
 * when the limit of micro-batches in flight is reached, it prefers a backward; after a backward, a
 * forward. With one forward in a row and limits p, p - 1, .., 1 this is 1F1B; with as many in a row
 * as there are micro-batches, and such limits, it is GPipe.
 *
 * @param limits by stage: most micro-batches whose forward has begun and whose backward has not
 * ended
 * @param interleave forwards in a row before a backward is preferred
 * @param microBatches of an iteration
 * @return by stage, 2 microBatches entries
 * @throw std::invalid_argument if a limit or the interleaving is 0: nothing could ever start
 */
std::vector<std::vector<StageEntry>> MakeLimitedSchedule(const std::vector<uint32_t>& limits,
                                                         uint32_t interleave,
                                                         uint32_t microBatches);

/**
 * @ingroup proteus
 * How many forward passes interleaved 1F1B has before the first backward pass is taken with one.
 * @param ranks device groups p
 * @param rank which of them
 * @param chunks stages per device group v
 * @param microBatches of an iteration
 * @param ahead forward passes more than the pipeline needs
 * @param runsForwardFirst ScheduleSpec::runsForwardFirst
 * @return forward passes
 */
uint32_t CountInterleavedWarmUp(uint32_t ranks,
                                uint32_t rank,
                                uint32_t chunks,
                                uint32_t microBatches,
                                uint32_t ahead = 0,
                                bool runsForwardFirst = true);

/**
 * @ingroup proteus
 * Interleaved 1F1B (Narayanan et al. 2021, section 2.2; megatron/core/pipeline_parallel).
 * @param ranks device groups p
 * @param rank which of them
 * @param chunks stages per device group v; stage = chunk * p + rank
 * @param microBatches of an iteration, a multiple of p
 * @param ahead forward passes more than the pipeline needs, before the first backward pass
 * @param runsForwardFirst ScheduleSpec::runsForwardFirst
 * @return 2 v microBatches entries
 * @throw std::invalid_argument if the micro-batches are no multiple of p
 */
std::vector<StageEntry> MakeInterleavedSchedule(uint32_t ranks,
                                                uint32_t rank,
                                                uint32_t chunks,
                                                uint32_t microBatches,
                                                uint32_t ahead = 0,
                                                bool runsForwardFirst = true);

/**
 * @ingroup proteus
 * ZB-H1 (Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024): 1F1B in which the gradients of
 * parameters run later, on stage s by s micro-batches, so that the gradients of inputs go up the
 * pipeline sooner. As many activations are alive as under 1F1B, plus the inputs that the deferred
 * gradients need.
 * @param stages of the pipeline
 * @param stage which of them
 * @param microBatches of an iteration
 * @return 3 microBatches entries
 */
std::vector<StageEntry> MakeZeroBubbleSchedule(uint32_t stages,
                                               uint32_t stage,
                                               uint32_t microBatches);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STAGE_SCHEDULE_H
