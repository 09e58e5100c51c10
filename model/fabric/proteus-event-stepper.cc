/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-event-stepper.h"

#include "proteus-simulator-time.h"

namespace ns3
{
namespace proteus
{

class EventStepper::StepEvent : public EventImpl
{
  public:
    explicit StepEvent(EventStepper* stepper)
        : m_stepper(stepper)
    {
    }

  private:
    void Notify() override
    {
        m_stepper->m_step();
    }

    EventStepper* m_stepper; //!< whom to call
};

EventStepper::EventStepper()
    : m_horizon(CreateObject<EventHorizon>())
{
}

EventStepper::~EventStepper() = default;

void
EventStepper::SetUp(uint32_t nSlots, bool reference, std::function<void()> step)
{
    m_reference = reference;
    m_step = std::move(step);
    if (reference)
    {
        m_plainTimes.assign(nSlots, EventTree::NEVER);
    }
    else
    {
        m_tree = EventTree(nSlots);
    }
}

void
EventStepper::Dispose()
{
    if (m_stepEvent)
    {
        m_stepEvent->Cancel();
        m_stepEvent = nullptr;
    }
    m_horizon = nullptr;
}

void
EventStepper::Arm()
{
    const int64_t next = m_tree.GetTime();
    if (next >= m_armedPs)
    {
        return;
    }
    if (m_stepEvent)
    {
        m_stepEvent->Cancel(); // stands too late in the queue
    }
    m_armedPs = next;
    m_stepEvent = Create<StepEvent>(this);
    Simulator::Schedule(CeilToStep(next) - Simulator::Now(), m_stepEvent);
}

void
EventStepper::SetPlain(uint32_t slot, int64_t timePs)
{
    m_plainEvents.erase({m_plainTimes[slot], slot});
    m_plainTimes[slot] = timePs;
    if (timePs != EventTree::NEVER)
    {
        m_plainEvents.insert({timePs, slot});
        ScheduleStep(timePs);
    }
}

void
EventStepper::ScheduleStep(int64_t timePs)
{
    Simulator::Schedule(std::max(CeilToStep(timePs) - Simulator::Now(), Time(0)),
                        Create<StepEvent>(this));
}

int64_t
EventStepper::GetLastPsBefore(uint64_t steps)
{
    return (static_cast<int64_t>(steps) - 1) * GetPsPerStep();
}

} // namespace proteus
} // namespace ns3
