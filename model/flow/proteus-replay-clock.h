/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_CLOCK_H
#define PROTEUS_REPLAY_CLOCK_H

#include <algorithm>
#include <boost/heap/d_ary_heap.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

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
        SENT,     //!< a message of a kind of flows
        USE,      //!< what a message of a flow has brought can be used
        GRANT,    //!< a clear-to-send of a flow has arrived, for `count` chunks
        STEP_END, //!< a step that kept its block busy is done
        JOIN,     //!< a rank joins
        LEAVE     //!< the first byte of a message of a flow leaves its NIC
    };

    double timePs;   //!< when
    uint64_t number; //!< order of events at the same time
    What what;       //!< which of these
    uint32_t
        id; //!< SENT: the kind; USE, GRANT, LEAVE: the flow; STEP_END: the block; JOIN: the rank
    uint32_t count; //!< GRANT: see What

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

    /// Time goes on, to where nothing has happened yet. @param timePs until when
    void GoTo(double timePs)
    {
        m_nowPs = std::max(m_nowPs, timePs);
    }

    /// @param timePs when it happens @param what happens @param id see ReplayEvent @param count see
    /// ReplayEvent
    void Push(double timePs, ReplayEvent::What what, uint32_t id, uint32_t count)
    {
        m_events.push({timePs, m_number++, what, id, count});
    }

    /// Foretells when a kind of flows has sent a message, in the place of what was foretold before.
    /// @param kind which one @param timePs when
    void Foretell(uint32_t kind, double timePs)
    {
        m_places.resize(std::max<std::size_t>(m_places.size(), kind + 1));
        const ReplayEvent event{timePs, m_number++, ReplayEvent::SENT, kind, 0};
        if (m_places[kind])
        {
            m_foretold.update(*m_places[kind], event);
        }
        else
        {
            m_places[kind] = m_foretold.push(event);
        }
    }

    /// Takes back what was foretold, if anything was. @param kind of flows
    void TakeBack(uint32_t kind)
    {
        if (kind < m_places.size() && m_places[kind])
        {
            m_foretold.erase(*m_places[kind]);
            m_places[kind].reset();
        }
    }

    /**
     * Goes on to what happens next, and all that happens together with it.
     * @param handle called with each event
     * @return whether anything has happened
     */
    template <class Handle>
    bool Step(const Handle& handle)
    {
        const ReplayEvent* next = FindNext();
        if (!next)
        {
            return false;
        }
        m_nowPs = std::max(m_nowPs, next->timePs);
        for (; next && next->timePs <= m_nowPs + TOGETHER_PS; next = FindNext())
        {
            const ReplayEvent event = *next;
            if (event.what == ReplayEvent::SENT)
            {
                TakeBack(event.id);
            }
            else
            {
                m_events.pop();
            }
            handle(event);
        }
        return true;
    }

    /// @return when something happens next; infinite if nothing does
    double GetNextPs() const
    {
        const ReplayEvent* next = FindNext();
        return next ? next->timePs : std::numeric_limits<double>::infinity();
    }

  private:
    /// Events that can change; one that comes sooner is larger.
    using Foretold =
        boost::heap::d_ary_heap<ReplayEvent, boost::heap::arity<4>, boost::heap::mutable_<true>>;

    /// @return what happens next, or null
    const ReplayEvent* FindNext() const
    {
        const ReplayEvent* sure = m_events.empty() ? nullptr : &m_events.top();
        const ReplayEvent* foretold = m_foretold.empty() ? nullptr : &m_foretold.top();
        return !sure || (foretold && *sure < *foretold) ? foretold : sure;
    }

    /// Events for certain. With four children to a node fewer places of the memory are touched.
    using Sure = boost::heap::d_ary_heap<ReplayEvent, boost::heap::arity<4>>;

    Sure m_events;       //!< to come, for certain
    Foretold m_foretold; //!< to come, unless rates change: one of each kind
    std::vector<std::optional<Foretold::handle_type>> m_places; //!< in m_foretold, by kind
    uint64_t m_number{0};                                       //!< counts events
    double m_nowPs{0};                                          //!< present time
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_CLOCK_H
