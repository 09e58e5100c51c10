/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TIMELINE_H
#define PROTEUS_TIMELINE_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-task-instance.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a run of an execution graph leaves behind, whichever network it ran on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One task, for one micro-batch, on one device. Times are picoseconds from the start of the run.
struct Span
{
    DeviceId device{0};     //!< where
    TaskId task{0};         //!< what
    uint32_t microBatch{0}; //!< for which micro-batch
    int64_t startPs{0};     //!< compute: the kernel starts; communication: this device joins
    int64_t endPs{0};       //!< communication: this device's part is done

    /// @return the task and its micro-batch, whichever the device
    TaskInstance GetInstance() const
    {
        return {task, microBatch};
    }

    /// @param other a span @return whether both are the same
    bool operator==(const Span& other) const
    {
        return device == other.device && task == other.task && microBatch == other.microBatch &&
               startPs == other.startPs && endPs == other.endPs;
    }
};

/// @ingroup proteus
/// The level of allocated memory of a device from a time on.
struct MemorySample
{
    int64_t timePs{0}; //!< from when on
    uint64_t bytes{0}; //!< allocated
};

/// @ingroup proteus
/// What happened on the devices.
struct Timeline
{
    std::vector<Span> spans;                       //!< in order of their ends, then devices
    std::vector<std::vector<MemorySample>> memory; //!< by device, in order of time
    std::vector<uint64_t> peakMemoryBytes;         //!< by device
    int64_t endPs{0}; //!< end of the last span; of a run that was stopped: when that was
    /// Of a run that was stopped: what had begun and was not done by all that take part, with the
    /// time of the stop as its end where it had none.
    std::vector<Span> open;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TIMELINE_H
