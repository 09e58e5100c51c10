/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EVENT_STEPPER_H
#define PROTEUS_EVENT_STEPPER_H

#include "proteus-call-queue.h"
#include "proteus-event-tree.h"
#include "proteus-horizon-scheduler.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The clock and the event set of a fabric: slots of an EventTree, and calls. In the simulator's
 * queue it has one event at a time. Within that event it handles its own events up to the time that
 * the EventHorizon allows.
 *
 * Of what happens at one time, simulator events come first, then calls, then slots, then final
 * calls. Within each kind the order does not depend on when they were set. In final calls,
 * Simulator::Now() is exact.
 *
 * In the reference mode, events stand in a plain ordered set, and each has a simulator event.
 */
class EventStepper
{
  public:
    EventStepper();
    EventStepper(const EventStepper&) = delete;
    EventStepper& operator=(const EventStepper&) = delete;
    ~EventStepper();

    /**
     * @param nSlots number of slots
     * @param reference whether in the reference mode
     * @param step called by the simulator when events are due; it calls Step()
     */
    void SetUp(uint32_t nSlots, bool reference, std::function<void()> step);

    /// Cuts time into windows: a step handles nothing beyond the window in which it begins, and
    /// begins with the window where it can. @param windowPs their length
    void SetWindow(int64_t windowPs)
    {
        m_windowPs = windowPs;
    }

    /// @return windows in which there was something to do, with SetWindow()
    uint64_t GetWindowCount() const
    {
        return m_windows;
    }

    /// @return whether within Step() or CatchUp()
    bool IsRunning() const
    {
        return m_running;
    }

    /// Cancels the pending simulator event.
    void Dispose();

    /// @return what a HorizonScheduler is to feed
    Ptr<EventHorizon> GetHorizon() const
    {
        return m_horizon;
    }

    /// @return whether in the reference mode
    bool IsReference() const
    {
        return m_reference;
    }

    /// @return whether calls may be set in the past: a picosecond is a step of the simulator's
    /// clock, a HorizonScheduler says when the next event is due, and no reference mode
    bool CanGoBack() const
    {
        return m_exact && !m_reference && m_horizon->IsFed();
    }

    /// @return events handled so far
    uint64_t GetEventCount() const
    {
        return m_events;
    }

    /// @return the fabric's time in picoseconds: exact within Step(), else Simulator::Now()
    int64_t GetTimePs() const
    {
        return m_running ? m_timePs : Simulator::Now().GetPicoSeconds();
    }

    /// @return the same in picoseconds, within Step() or after Synchronize()
    int64_t GetNowPs() const
    {
        return m_timePs;
    }

    /// Brings the clock to Simulator::Now() when called from outside of Step().
    void Synchronize()
    {
        if (!m_running)
        {
            m_timePs = Simulator::Now().GetPicoSeconds();
        }
    }

    /// @return the slot that is due next; only while something is pending
    uint32_t GetNextSlot() const
    {
        return m_tree.GetSlot();
    }

    /// @param slot a slot @return when it is due, EventTree::NEVER if it is not
    int64_t GetSlotTime(uint32_t slot) const
    {
        return m_tree.GetTime(slot);
    }

    /// @param target of calls @return those that are pending, in their order; final ones not
    std::vector<FabricCall> GetCalls(const CallTarget* target) const
    {
        return m_calls.GetCalls(target);
    }

    /// @return slots that are likely to be due after the present one; any numbers if there are none
    EventTree::Likely GetLikelyNext() const
    {
        return m_tree.GetLikelyNext();
    }

    /// Brings what Set() of a slot will change nearer to the processor. @param slot a slot
    void Prefetch(uint32_t slot) const
    {
        m_tree.Prefetch(slot);
    }

    /// @param slot a slot @param timePs when it is due; EventTree::NEVER for not at all
    void Set(uint32_t slot, int64_t timePs)
    {
        if (m_reference)
        {
            SetPlain(slot, timePs);
            return;
        }
        m_tree.Set(slot, timePs);
        if (!m_running)
        {
            Arm();
        }
    }

    /// @param slot a slot without a time or with a later one @param timePs when it is due
    void SetEarlier(uint32_t slot, int64_t timePs)
    {
        if (m_reference)
        {
            SetPlain(slot, timePs);
            return;
        }
        m_tree.SetEarlier(slot, timePs);
        if (!m_running)
        {
            Arm();
        }
    }

    /// Sets a call, before the slots of its time.
    /// @param call what to call; before now only if CanGoBack()
    void Call(const FabricCall& call);

    /// Sets a call when all else of its time has been handled: outside of Step(), as a simulator
    /// event. @param call what to call, not before now
    void CallFinally(const FabricCall& call);

    /// Calls the step at a time, too, as the reference mode does for every transmission.
    /// @param timePs not before now
    void ScheduleStep(int64_t timePs);

    /**
     * Handles, from outside of Step(), all that lies before Simulator::Now(): calls that were set
     * in the past, and what follows from them.
     * @param handle called with each slot that is due
     */
    template <typename HANDLE>
    void CatchUp(HANDLE handle)
    {
        if (m_running)
        {
            return; // Step() goes on with them
        }
        HandleDue(Simulator::Now().GetPicoSeconds() - 1, false, handle);
        Synchronize();
        Arm();
    }

    /**
     * Forgets all that is pending; then handles what is set by a function, and all that follows
     * from it, whatever the simulator's time and without a word to it. Final calls are not made.
     * For a process that does nothing else any more.
     * @param begin sets events and calls
     * @param handle called with each slot that is due
     */
    template <typename HANDLE>
    void RunAlone(const std::function<void()>& begin, HANDLE handle);

    /**
     * Handles the events that are due.
     * @param batch whether it may go on to later times within this simulator event
     * @param handle called with each slot that is due
     */
    template <typename HANDLE>
    void Step(bool batch, HANDLE handle);

  private:
    /// The pending simulator event.
    class StepEvent;

    /// @param timePs of a call that has been set
    void Heed(int64_t timePs);

    /// Makes sure that the simulator calls when the next event is due.
    void Arm()
    {
        const int64_t next = GetNextPs();
        ArmAt(m_finalCalls.GetTime() <= next ? next : GetWindow(next));
    }

    /// The same at the end of a step, which may leave events of the present window to a later one.
    void ArmAgain()
    {
        const int64_t next = GetNextPs();
        const int64_t begin = GetWindow(next);
        const bool isLater = begin > Simulator::Now().GetPicoSeconds();
        ArmAt(isLater && next < m_finalCalls.GetTime() ? begin : next);
    }

    /// @param timePs a time @return begin of its window; itself without windows, and for "never"
    int64_t GetWindow(int64_t timePs) const
    {
        return m_windowPs == 0 || timePs == EventTree::NEVER ? timePs
                                                             : timePs - timePs % m_windowPs;
    }

    /// @return time of the first event or call
    int64_t GetNextPs() const
    {
        return std::min({m_tree.GetTime(), m_calls.GetTime(), m_finalCalls.GetTime()});
    }

    /// @param duePs when the simulator is to call; at once, if that has passed
    void ArmAt(int64_t duePs);

    /// @param nowPs Simulator::Now() @return last time to handle in a step that begins now
    int64_t GetLastPs(int64_t nowPs)
    {
        if (m_windowPs == 0)
        {
            return EventTree::NEVER - 1;
        }
        const int64_t lastPs = GetWindow(nowPs) + m_windowPs - 1;
        m_windows += lastPs != m_lastWindowPs ? 1 : 0;
        m_lastWindowPs = lastPs;
        return lastPs;
    }

    /// @param slot in the reference mode @param timePs when it is due
    void SetPlain(uint32_t slot, int64_t timePs);
    /// @param handle as of Step(), in the reference mode @param nowPs Simulator::Now()
    template <typename HANDLE>
    void StepPlain(HANDLE& handle, int64_t nowPs);

    /// Sets the clock within a step. @param timePs of the event or call that is handled next
    void SetTime(int64_t timePs)
    {
        // At a coarser resolution, a simulator event of this time step may have gone before.
        m_timePs = m_exact ? timePs : std::max(m_timePs, timePs);
    }

    /// Handles what is due. @param lastPs last time to handle @param fed whether the horizon counts
    /// @param handle as of Step()
    template <typename HANDLE>
    void HandleDue(int64_t lastPs, bool fed, HANDLE& handle);
    /// Makes the first call. Its time is now.
    void MakeCall();
    /// Makes the final calls of all times up to now. @param nowPs Simulator::Now()
    void MakeFinalCalls(int64_t nowPs);
    /// @param steps of the simulator's clock @return picoseconds just before that time
    static int64_t GetLastPsBefore(uint64_t steps);

    EventTree m_tree;                                     //!< pending events
    CallQueue m_calls;                                    //!< pending calls
    CallQueue m_finalCalls;                               //!< pending final calls
    std::set<std::pair<int64_t, uint32_t>> m_plainEvents; //!< the same in the reference mode
    std::vector<int64_t> m_plainTimes;                    //!< by slot, in the reference mode
    Ptr<EventHorizon> m_horizon;                          //!< time of the next simulator event
    Ptr<EventImpl> m_stepEvent;                           //!< pending call of m_step, or null
    std::function<void()> m_step;                         //!< what the simulator calls
    int64_t m_timePs{0};                                  //!< the clock
    int64_t m_limitPs{0};                                 //!< slots before it are next in turn
    int64_t m_armedPs{EventTree::NEVER};                  //!< when m_stepEvent is due
    uint64_t m_events{0};                                 //!< handled
    int64_t m_windowPs{0};                                //!< length of a window; 0: no windows
    int64_t m_lastWindowPs{0};                            //!< end of the last one
    uint64_t m_windows{0};                                //!< GetWindowCount()
    bool m_reference{false};                              //!< reference mode
    bool m_running{false};                                //!< within Step()
    bool m_exact{false};                                  //!< CanGoBack(), as for the resolution
};

template <typename HANDLE>
void
EventStepper::Step(bool batch, HANDLE handle)
{
    m_armedPs = EventTree::NEVER;
    m_stepEvent = nullptr;
    const int64_t nowPs = Simulator::Now().GetPicoSeconds();
    if (m_reference)
    {
        StepPlain(handle, nowPs);
        return;
    }
    const bool fed = m_horizon->IsFed();
    if (fed && m_horizon->GetNext() <= static_cast<uint64_t>(Simulator::Now().GetTimeStep()))
    {
        Arm(); // behind the simulator events of this time
        return;
    }
    HandleDue(fed && batch ? GetLastPs(nowPs) : nowPs, fed, handle);
    MakeFinalCalls(nowPs);
    ArmAgain();
}

template <typename HANDLE>
void
EventStepper::HandleDue(int64_t lastPs, bool fed, HANDLE& handle)
{
    m_running = true;
    const EventHorizon& simulator = *m_horizon;
    uint64_t horizon = UINT64_MAX;
    m_limitPs = 0; // look at everything first
    while (true)
    {
        const int64_t slotPs = m_tree.GetTime();
        if (slotPs >= m_limitPs || (fed && simulator.GetNext() != horizon))
        {
            if (fed && simulator.GetNext() != horizon)
            {
                // A handler has scheduled a simulator event.
                horizon = simulator.GetNext();
                lastPs = std::min(lastPs, GetLastPsBefore(horizon));
            }
            const int64_t callPs = m_calls.GetTime();
            // Final calls stand in the simulator's queue: nothing goes past them.
            const int64_t endPs = std::min(lastPs, m_finalCalls.GetTime());
            if (std::min(callPs, slotPs) > endPs)
            {
                break;
            }
            m_limitPs = std::min(callPs, endPs + 1);
            if (callPs <= slotPs)
            {
                SetTime(callPs);
                MakeCall();
                continue;
            }
        }
        SetTime(slotPs);
        ++m_events;
        handle(m_tree.GetSlot());
    }
    m_running = false;
}

template <typename HANDLE>
void
EventStepper::RunAlone(const std::function<void()>& begin, HANDLE handle)
{
    m_tree.Clear();
    m_calls.Clear();
    m_finalCalls.Clear();
    m_running = true; // so that the simulator is not asked for anything
    begin();
    while (GetNextPs() != EventTree::NEVER)
    {
        HandleDue(EventTree::NEVER - 1, false, handle);
        m_running = true;
        m_finalCalls.Clear();
    }
}

template <typename HANDLE>
void
EventStepper::StepPlain(HANDLE& handle, int64_t nowPs)
{
    m_running = true;
    while (true)
    {
        const int64_t slotPs =
            m_plainEvents.empty() ? EventTree::NEVER : m_plainEvents.begin()->first;
        const int64_t next = std::min(m_calls.GetTime(), slotPs);
        if (next > std::min(nowPs, m_finalCalls.GetTime()))
        {
            break;
        }
        m_timePs = std::max(m_timePs, next);
        if (m_calls.GetTime() <= slotPs)
        {
            MakeCall();
            continue;
        }
        ++m_events;
        handle(m_plainEvents.begin()->second);
    }
    m_running = false;
    MakeFinalCalls(nowPs);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EVENT_STEPPER_H
