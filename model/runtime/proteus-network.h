/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NETWORK_H
#define PROTEUS_NETWORK_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <functional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What the runtime asks of the world: a clock, and a network that knows how long communication
 * takes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Time of a run.
class Clock
{
  public:
    virtual ~Clock() = default;

    /// @return picoseconds since the start of the run
    virtual int64_t GetTimePs() const = 0;

    /**
     * @param device on whose behalf
     * @param delayPs how long from now, picoseconds
     * @param callback what to call then
     */
    virtual void Schedule(DeviceId device, int64_t delayPs, std::function<void()> callback) = 0;
};

/**
 * @ingroup proteus
 * Carries communication. Every device of a group joins a communication by itself, when it comes to
 * it. What happens before the others have joined is up to the network.
 */
class Network
{
  public:
    virtual ~Network() = default;

    /**
     * A device joins a communication.
     * @param device a member of the task's group
     * @param task a communication task
     * @param microBatch which instance of it
     * @param done called, as an event of the clock, when the device's part is done
     */
    virtual void Join(DeviceId device,
                      TaskId task,
                      uint32_t microBatch,
                      std::function<void()> done) = 0;

    /**
     * @param device a device that has joined a communication which is not done
     * @param task the communication
     * @param microBatch which instance of it
     * @return what it waits for, e.g. "waits for rank 3 (n0.gpu3) to join"
     */
    virtual std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const = 0;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NETWORK_H
