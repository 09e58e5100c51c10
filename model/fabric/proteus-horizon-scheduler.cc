/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-horizon-scheduler.h"

#include "ns3/pointer.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

NS_OBJECT_ENSURE_REGISTERED(EventHorizon);
NS_OBJECT_ENSURE_REGISTERED(HorizonScheduler);

TypeId
EventHorizon::GetTypeId()
{
    static TypeId tid = TypeId("ns3::proteus::EventHorizon")
                            .SetParent<Object>()
                            .SetGroupName("Proteus")
                            .AddConstructor<EventHorizon>();
    return tid;
}

TypeId
HorizonScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::proteus::HorizonScheduler")
                            .SetParent<PriorityQueueScheduler>()
                            .SetGroupName("Proteus")
                            .AddConstructor<HorizonScheduler>()
                            .AddAttribute("Horizon",
                                          "Where to publish the time of the next event.",
                                          PointerValue(),
                                          MakePointerAccessor(&HorizonScheduler::SetHorizon),
                                          MakePointerChecker<EventHorizon>());
    return tid;
}

HorizonScheduler::~HorizonScheduler()
{
    if (m_horizon)
    {
        m_horizon->m_fed = false;
    }
}

void
HorizonScheduler::SetHorizon(Ptr<EventHorizon> horizon)
{
    m_horizon = horizon;
    if (m_horizon)
    {
        m_horizon->m_fed = true;
        Publish();
    }
}

void
HorizonScheduler::Publish()
{
    if (m_horizon)
    {
        m_horizon->m_next = IsEmpty() ? UINT64_MAX : PeekNext().key.m_ts;
    }
}

void
HorizonScheduler::Insert(const Scheduler::Event& event)
{
    PriorityQueueScheduler::Insert(event);
    if (m_horizon)
    {
        m_horizon->m_next = std::min(m_horizon->m_next, event.key.m_ts);
    }
}

Scheduler::Event
HorizonScheduler::RemoveNext()
{
    const Scheduler::Event event = PriorityQueueScheduler::RemoveNext();
    Publish();
    return event;
}

void
HorizonScheduler::Remove(const Scheduler::Event& event)
{
    PriorityQueueScheduler::Remove(event);
    Publish();
}

} // namespace proteus
} // namespace ns3
