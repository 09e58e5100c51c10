/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_QUEUE_PAIR_TIMERS_H
#define PROTEUS_QUEUE_PAIR_TIMERS_H

#include "proteus-active-queues.h"
#include "proteus-transport-core.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The times at which something of a queue pair is due that nothing but a clock brings about: a
 * retransmission, a delayed acknowledgement, a timer of its congestion control, a repetition of its
 * control units. All queue pairs share the one timer of the fabric. It is off while nothing is
 * awaited, so that no timer keeps a run alive.
 */
class QueuePairTimers
{
  public:
    /// @param core of the transport
    explicit QueuePairTimers(TransportCore& core);

    /// @param id a queue pair for which a timer may have to be set
    void Watch(uint32_t id);

    /// @param id a queue pair for which perhaps nothing is to be watched any more
    void Unwatch(uint32_t id);

    /**
     * The fabric's timer has come.
     * @param handle called as handle(queue pair, present time) for each that is due
     */
    template <typename Handler>
    void Expire(Handler handle)
    {
        const int64_t now = m_core.fabric->GetTimePs();
        m_fabricTimerPs = NEVER_PS;
        while (m_timers.GetTime() <= now)
        {
            const auto [timePs, id] = m_timers.GetTop();
            m_timers.Pop();
            if (TakeEntry(id, timePs))
            {
                handle(id, now);
                Rearm(id);
            }
        }
        SetFabricTimer();
    }

    /// Forgets all queue pairs: nothing is to come on any of them.
    void Clear();

    /// @param id a queue pair @param now present time @return whether what it has sent should have
    /// been acknowledged by now
    bool IsOverdue(uint32_t id, int64_t now) const;

    /// @param id a queue pair @param now present time @return the same of its control units
    bool AreControlsOverdue(uint32_t id, int64_t now) const;

    /// @param id a queue pair that gives up @param what has had no answer
    /// @throw std::runtime_error always
    [[noreturn]] void GiveUp(uint32_t id, const std::string& what) const;

    /// @param id a queue pair @return when a NIC may read the first of its units in a memory on
    /// their way, see StagingMemories; NEVER_PS: not known, or there are none
    int64_t GetStagePs(uint32_t id) const;

  private:
    /// @param id a queue pair with packets under way @return when the retransmission timeout ends,
    /// back-off included
    int64_t GetRetransmissionPs(uint32_t id) const;
    /// @param id a queue pair with control units under way @return the same of these
    int64_t GetControlPs(uint32_t id) const;
    /// @param id a queue pair @return when the first of its timers is due
    int64_t GetDeadline(uint32_t id) const;
    /// @param id a queue pair @return whether something is to come
    bool IsWaiting(uint32_t id) const;
    /// @param id a queue pair @param timePs of an entry of it that was taken out of the heap
    /// @return whether it still counts
    bool TakeEntry(uint32_t id, int64_t timePs);
    /// @param id a queue pair whose entry has been dealt with
    void Rearm(uint32_t id);
    /// Tells the fabric the time of the first timer.
    void SetFabricTimer();

    TransportCore& m_core;             //!< of the transport
    TimeHeap m_timers;                 //!< of queue pairs
    uint32_t m_waiting{0};             //!< queue pairs that timers watch over
    int64_t m_fabricTimerPs{NEVER_PS}; //!< what the fabric was told
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_QUEUE_PAIR_TIMERS_H
