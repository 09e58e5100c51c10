/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CLOCK_H
#define PROTEUS_FLOW_CLOCK_H

#include "ns3/proteus-network.h"
#include "ns3/proteus-pool.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A clock without a simulator: a queue of callbacks in order of their time, those of the same
 * time in the order in which they were scheduled.
 */
class FlowClock : public Clock
{
  public:
    // Inherited from Clock
    int64_t GetTimePs() const override
    {
        return m_timePs;
    }

    /**
     * @param device on whose behalf; makes no difference here
     * @param delayPs how long from now, picoseconds
     * @param callback what to call then
     * @throw std::invalid_argument for a negative delay, or one beyond the end of time
     */
    void Schedule(DeviceId device, int64_t delayPs, std::function<void()> callback) override;

    /**
     * As Schedule(), on nobody's behalf.
     * @param timePs when, not before now, picoseconds since the start of the run
     * @param callback what to call then
     * @throw std::invalid_argument for a time that is over
     */
    void ScheduleAt(int64_t timePs, std::function<void()> callback);

    /// Calls what is due until nothing is left, or Stop() is called.
    void Run();

    /// Ends Run() behind the callback that calls this.
    void Stop()
    {
        m_isStopped = true;
    }

    /// @return whether Stop() was called
    bool IsStopped() const
    {
        return m_isStopped;
    }

    /**
     * Calls what is due first.
     * @return whether there was anything
     */
    bool Step();

    /// @return callbacks called so far
    uint64_t GetEventCount() const
    {
        return m_events;
    }

  private:
    /// Place of a callback in the order of the queue.
    struct Entry
    {
        int64_t timePs;
        uint64_t number; //!< counts what was scheduled
        uint32_t slot;   //!< of m_callbacks

        /// @param other an entry @return whether this one comes later
        bool operator<(const Entry& other) const
        {
            return timePs != other.timePs ? timePs > other.timePs : number > other.number;
        }
    };

    int64_t m_timePs{0};
    uint64_t m_scheduled{0};
    uint64_t m_events{0};
    bool m_isStopped{false};
    std::vector<Entry> m_queue; //!< a heap, the first entry at the top
    Pool<std::function<void()>> m_callbacks;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CLOCK_H
