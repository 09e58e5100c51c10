/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_CLOCK_H
#define PROTEUS_REPLAY_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <queue>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Something that happens in a replay at a known time.
struct ReplayEvent
{
    /// What happens.
    enum What : uint8_t
    {
        SENT,    //!< a message of a kind of flows; `count` is the version of the prediction
        USE,     //!< what a message of a flow has brought can be used
        GRANT,   //!< a clear-to-send of a flow has arrived, for `count` chunks
        STEP_END //!< a step that kept its block busy is done
    };

    double timePs;   //!< when
    uint64_t number; //!< order of events at the same time
    What what;       //!< which of these
    uint32_t id;     //!< SENT: the kind; USE, GRANT: the flow; STEP_END: the block
    uint32_t count;  //!< see What

    /// @param other an event @return whether that one comes first
    bool operator<(const ReplayEvent& other) const
    {
        return timePs != other.timePs ? timePs > other.timePs : number > other.number;
    }
};

/// @ingroup proteus
/// The time of a replay, and what is to come. What happens within a nanosecond happens at once, so
/// that the shares of equal flows are computed together.
class ReplayClock
{
  public:
    /// What happens within so many picoseconds is taken together.
    static constexpr double TOGETHER_PS = 1000;

    /// @return present time, picoseconds
    double GetNowPs() const
    {
        return m_nowPs;
    }

    /// @param timePs when it happens @param what happens @param id see ReplayEvent @param count see
    /// ReplayEvent
    void Push(double timePs, ReplayEvent::What what, uint32_t id, uint32_t count)
    {
        m_events.push({timePs, m_number++, what, id, count});
    }

    /**
     * Goes on to what happens next, and all that happens together with it.
     * @param handle called with each event
     * @return whether anything has happened
     */
    template <class Handle>
    bool Step(const Handle& handle)
    {
        if (m_events.empty())
        {
            return false;
        }
        m_nowPs = std::max(m_nowPs, m_events.top().timePs);
        while (!m_events.empty() && m_events.top().timePs <= m_nowPs + TOGETHER_PS)
        {
            const ReplayEvent event = m_events.top();
            m_events.pop();
            handle(event);
        }
        return true;
    }

  private:
    std::priority_queue<ReplayEvent> m_events; //!< to come
    uint64_t m_number{0};                      //!< counts events
    double m_nowPs{0};                         //!< present time
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_CLOCK_H
