/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-event-stepper.h"

#include "proteus-simulator-time.h"

#include <stdexcept>
#include <string>

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
    m_exact = GetPsPerStep() == 1 && TimeStep(1).GetPicoSeconds() == 1;
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
    m_calls.Clear();
    m_finalCalls.Clear();
}

void
EventStepper::Call(const FabricCall& call)
{
    m_calls.Push(call);
    Heed(call.timePs);
}

void
EventStepper::CallFinally(const FabricCall& call)
{
    m_finalCalls.Push(call);
    Heed(call.timePs);
}

void
EventStepper::Heed(int64_t timePs)
{
    m_limitPs = std::min(m_limitPs, timePs);
    if (m_reference)
    {
        ScheduleStep(timePs);
    }
    else if (!m_running)
    {
        Arm();
    }
}

void
EventStepper::MakeCall()
{
    const FabricCall call = m_calls.Pop();
    m_calls.PrefetchFirst(*call.target); // most have the same
    call.target->HandleCall(call.kind, call.value);
}

void
EventStepper::MakeFinalCalls(int64_t nowPs)
{
    if (m_finalCalls.GetTime() > nowPs)
    {
        return;
    }
    // What they set at this very time waits for the next round.
    std::vector<FabricCall> calls;
    while (m_finalCalls.GetTime() <= nowPs)
    {
        calls.push_back(m_finalCalls.Pop());
    }
    for (const FabricCall& call : calls)
    {
        if (m_exact && call.timePs < nowPs)
        {
            throw std::logic_error("proteus::Fabric: what is to happen at " +
                                   std::to_string(call.timePs) + " ps was found out at " +
                                   std::to_string(nowPs) + " ps; run with --repetition=off");
        }
        call.target->HandleCall(call.kind, call.value);
    }
}

void
EventStepper::ArmAt(int64_t duePs)
{
    if (duePs >= m_armedPs)
    {
        return;
    }
    if (m_stepEvent)
    {
        m_stepEvent->Cancel(); // stands too late in the queue
    }
    m_armedPs = duePs;
    m_stepEvent = Create<StepEvent>(this);
    Simulator::Schedule(std::max(CeilToStep(duePs) - Simulator::Now(), Time(0)), m_stepEvent);
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
