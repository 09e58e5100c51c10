/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CONGESTION_H
#define PROTEUS_FLOW_CONGESTION_H

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The rate of a queue pair whose receiver notifies it of marks, as packets have it.
class FlowRateControl
{
  public:
    virtual ~FlowRateControl() = default;

    /// @return wire bytes per second of the slowest link that it may send now
    virtual double GetRate() const = 0;

    /// A notification has come. @param timePs when, not before the last call
    virtual void Notify(int64_t timePs) = 0;

    /// Timers that are due go off. @param timePs present time
    virtual void Advance(int64_t timePs) = 0;

    /// More has been sent. @param bytes payload @param timePs present time
    virtual void AddSent(double bytes, int64_t timePs) = 0;
};

/**
 * @ingroup proteus
 * Congestion control of queue pairs over RoCE by marks and notifications (DCQCN), for networks
 * without packets. Values and algorithm are those of the packet engine: attributes of Fabric,
 * Transport and the kind of congestion control.
 */
struct FlowCongestion
{
    /// Makes the rate of a new queue pair; null where packets have no such control, either: then
    /// only `attributes` counts. @param bytesPerSecond wire, of its slowest link
    /// @param packetBytes payload of a full packet
    std::function<std::unique_ptr<FlowRateControl>(double bytesPerSecond, uint32_t packetBytes)>
        make;
    int64_t notificationPs{0};  //!< a receiver sends at most one notification in this time
    double markPs{0};           //!< queue from which on packets are marked, as time of its port
    double markAllPs{0};        //!< queue from which on all are marked, as time of its port
    double maxProbability{0};   //!< of a mark, just below markAllPs
    double nicBytes{0};         //!< that a NIC holds before it pauses its switch
    bool marksAtDequeue{false}; //!< by what waits behind a packet that leaves
    std::set<std::string> attributes; //!< that are honoured by all this, TYPE::NAME
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CONGESTION_H
