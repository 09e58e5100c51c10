/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TASK_INSTANCE_H
#define PROTEUS_TASK_INSTANCE_H

#include "proteus-graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A task for one micro-batch: what a device starts and ends.
struct TaskInstance
{
    TaskId task{0};         //!< which task
    uint32_t microBatch{0}; //!< for which micro-batch

    /// @param other an instance @return whether both are the same
    bool operator==(const TaskInstance& other) const
    {
        return task == other.task && microBatch == other.microBatch;
    }

    /// @param other an instance @return whether they differ
    bool operator!=(const TaskInstance& other) const
    {
        return !(*this == other);
    }

    /// @param other an instance @return whether this one comes first, by task and then micro-batch
    bool operator<(const TaskInstance& other) const
    {
        return task != other.task ? task < other.task : microBatch < other.microBatch;
    }
};

} // namespace proteus
} // namespace ns3

/// @ingroup proteus
/// Makes ns3::proteus::TaskInstance a key of unordered containers.
template <>
struct std::hash<ns3::proteus::TaskInstance>
{
    /// @param instance a key @return its hash
    std::size_t operator()(const ns3::proteus::TaskInstance& instance) const noexcept
    {
        return std::hash<uint64_t>()(uint64_t{instance.task} << 32 | instance.microBatch);
    }
};

#endif // PROTEUS_TASK_INSTANCE_H
