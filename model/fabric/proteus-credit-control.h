/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CREDIT_CONTROL_H
#define PROTEUS_CREDIT_CONTROL_H

#include "proteus-port.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Flow control by credits. A unit is sent only when the receive buffer at the other end of the link
 * has room for it. The sender gets the room back when the unit has left that buffer, after the
 * delay of the link. The state is in PortState and LaneState.
 */
class CreditControl
{
  public:
    /// Promised credits from which on those that have come home are collected: a cache line.
    static constexpr uint32_t KEPT_RETURNS = 64 / sizeof(CreditReturn);

    /**
     * Asks for room; not for ports without credits. The room is taken only by Spend().
     * @param port that has a unit to send; PortState::stalledSincePs says whether one has no room
     * @param lane of the unit's traffic class
     * @param trafficClass of the unit
     * @param wireBytes of the unit
     * @param nowPs present time
     * @return when it may be sent: now, or later, or EventTree::NEVER for not known yet
     */
    static int64_t Take(PortState& port,
                        LaneState& lane,
                        uint32_t trafficClass,
                        uint32_t wireBytes,
                        int64_t nowPs)
    {
        if (lane.creditBytes < wireBytes)
        {
            Collect(lane, nowPs);
        }
        if (lane.creditBytes >= wireBytes)
        {
            if (port.stalledSincePs >= 0)
            {
                port.statistics.creditStallPs += nowPs - port.stalledSincePs;
                port.stalledSincePs = -1;
            }
            return nowPs;
        }
        if (port.stalledSincePs < 0)
        {
            port.stalledSincePs = nowPs;
        }
        int64_t credit = lane.creditBytes;
        int64_t whenPs = EventTree::NEVER;
        ForEachReturn(lane, [&](int64_t homePs, int64_t bytes) {
            const bool lacked = credit < wireBytes;
            credit += bytes;
            whenPs = lacked && credit >= wireBytes ? homePs : whenPs;
        });
        port.starved |= whenPs == EventTree::NEVER ? 1u << trafficClass : 0u;
        return whenPs;
    }

    /// Adds the credits that have come home. @param lane of a port @param nowPs present time
    static void Collect(LaneState& lane, int64_t nowPs)
    {
        while (!lane.returns.IsEmpty() && lane.returns.Front().timePs <= nowPs)
        {
            lane.creditBytes += lane.returns.Front().bytes;
            lane.returns.PopAndRewind();
        }
    }

    /// @param lane that sends @param wireBytes of the unit
    static void Spend(LaneState& lane, uint32_t wireBytes)
    {
        lane.creditBytes -= wireBytes;
    }

    /**
     * Room becomes free in a receive buffer.
     * @param port that sends into it
     * @param lane of the unit's traffic class
     * @param trafficClass of the unit
     * @param wireBytes of the unit
     * @param timePs when its last byte leaves the buffer
     * @param nowPs present time
     * @return when the port may be served again, EventTree::NEVER if it does not wait for that
     */
    static int64_t Return(PortState& port,
                          LaneState& lane,
                          uint32_t trafficClass,
                          uint32_t wireBytes,
                          int64_t timePs,
                          int64_t nowPs)
    {
        // A buffer of NVLink has room for hundreds of units. Were all of them to be promised before
        // the first one is collected, each would be written where the processor has not been for
        // long.
        if (lane.returns.GetSize() >= KEPT_RETURNS)
        {
            Collect(lane, nowPs);
        }
        // The credit travels back over the link. What was promised last is not looked at.
        lane.returns.Push({timePs + port.delayPs, static_cast<int64_t>(wireBytes)});
        if ((port.starved >> trafficClass & 1) == 0)
        {
            return EventTree::NEVER;
        }
        port.starved &= ~(1u << trafficClass);
        return std::max(GetLastHome(lane), port.freeAtPs);
    }

    /**
     * Calls a function with each credit that is promised, the first one first. Units leave the
     * switch through several ports, so that they may become free out of order; a later one then
     * holds an earlier one up.
     * @param lane of a port
     * @param function called with when the credit is home, and its bytes
     */
    template <typename FUNCTION>
    static void ForEachReturn(const LaneState& lane, FUNCTION function)
    {
        int64_t homePs = INT64_MIN;
        for (uint32_t i = lane.returns.GetHead(); i != lane.returns.GetTail(); ++i)
        {
            homePs = std::max(homePs, lane.returns.At(i).timePs);
            function(homePs, lane.returns.At(i).bytes);
        }
    }

    /// @param lane of a port to which credits are promised @return when the last one is home
    static int64_t GetLastHome(const LaneState& lane)
    {
        int64_t lastPs = INT64_MIN;
        ForEachReturn(lane, [&lastPs](int64_t homePs, int64_t) { lastPs = homePs; });
        return lastPs;
    }

    /// @param lane of a port @return its credit with what is on the way, in bytes
    static int64_t GetTotal(const LaneState& lane)
    {
        int64_t credit = lane.creditBytes;
        ForEachReturn(lane, [&credit](int64_t, int64_t bytes) { credit += bytes; });
        return credit;
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CREDIT_CONTROL_H
