/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_START_CONTROL_H
#define PROTEUS_START_CONTROL_H

#include "ns3/proteus-task-instance.h"

#include <functional>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Stands between the devices of a run and their network, and decides when communications that are
 * ready start. A communication that it takes leaves its stream: it waits for its own dependencies
 * and for this object, and not for what was admitted before it. One object serves all devices.
 */
class StartControl
{
  public:
    virtual ~StartControl() = default;

    /// @param task of the graph @return whether its start is decided here and not by its stream;
    /// receives never are: they are posted as soon as they can be
    virtual bool Takes(const Task& task) const = 0;

    /**
     * A device is ready for a communication.
     * @param device a member of its group; of a SEND_RECV, the sender
     * @param instance a communication that is taken
     * @param start to be called once, at once or later: the device joins
     */
    virtual void Offer(DeviceId device, TaskInstance instance, std::function<void()> start) = 0;

    /// @param device whose part in a communication is done, after it was offered and started
    /// @param instance of the communication
    virtual void Finish(DeviceId device, TaskInstance instance) = 0;

    /// @param device a member of the group @param instance a communication that is taken
    /// @return what its start waits for, e.g. "waits for credit"; empty if it does not wait here
    virtual std::string DescribeWait(DeviceId device, TaskInstance instance) const = 0;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_START_CONTROL_H
