/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STREAM_QUEUE_H
#define PROTEUS_STREAM_QUEUE_H

#include "proteus-device-tasks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The order in which a stream of a device starts its tasks, and how many run at once.
 */
class StreamQueue
{
  public:
    virtual ~StreamQueue() = default;

    /// @return whether SetReady() wants to hear of tasks when they are admitted and ready, instead
    /// of Admit() when they are admitted
    virtual bool IsOfReadyTasks() const = 0;

    /// @param instance whose schedule entry is admitted
    virtual void Admit(const LocalInstance& instance) = 0;

    /// @param instance that is admitted and waits for nothing
    /// @param place of its entry among those admitted
    virtual void SetReady(const LocalInstance& instance, uint32_t place) = 0;

    /**
     * Takes the task that starts next.
     * @param pending by instance: what it waits for
     * @return the task, if one may start now
     */
    virtual std::optional<LocalInstance> TakeNext(const std::vector<uint32_t>& pending) = 0;

    /// @param instance that was taken and has ended
    virtual void Finish(const LocalInstance& instance) = 0;

    /// @return the task that runs, or is the next to, where that is known
    virtual std::optional<LocalInstance> GetHead() const = 0;

    /// @return whether a task runs
    virtual bool IsRunning() const = 0;
};

/**
 * @ingroup proteus
 * @param order of a stream
 * @param tasks of the device; must outlive the queue
 * @return an empty queue
 */
std::unique_ptr<StreamQueue> MakeStreamQueue(StreamOrder order, const DeviceTasks& tasks);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STREAM_QUEUE_H
