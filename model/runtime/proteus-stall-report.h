/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STALL_REPORT_H
#define PROTEUS_STALL_REPORT_H

#include "proteus-admission.h"
#include "proteus-device-tasks.h"
#include "proteus-network.h"
#include "proteus-stall-line.h"
#include "proteus-stream-queue.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room runtime/: says why a device does not go on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The state of a device that does not go on, and what can be said about it.
struct StallReport
{
    const ExecutionGraph& graph;                              //!< that is executed
    DeviceId device;                                          //!< which device of it
    const DeviceTasks& tasks;                                 //!< of the device
    const std::vector<uint32_t>& pending;                     //!< by instance: what it waits for
    const std::vector<std::unique_ptr<StreamQueue>>& streams; //!< by StreamId
    const Admission& admission;                               //!< how far its schedule is
    const Network& network;                                   //!< of the run
    const StartControl* control;                              //!< of the run, or null

    /// @return one line per stream or communication that waits; empty when the device is done
    std::vector<StallLine> Describe() const;

  private:
    /// @param stream of ready tasks @return its first task that waits for something
    std::optional<LocalInstance> FindWaiting(StreamId stream) const;
    /// @param instance that waits @return for what
    std::string DescribeWait(const LocalInstance& instance) const;
    /// @param stream a stream @return what it does or waits for; empty if nothing
    std::string DescribeStream(StreamId stream) const;
    /// @param lines gets one for each receive, or controlled communication, that waits
    void AddCommunications(std::vector<StallLine>& lines) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STALL_REPORT_H
