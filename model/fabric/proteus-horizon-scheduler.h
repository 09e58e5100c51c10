/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HORIZON_SCHEDULER_H
#define PROTEUS_HORIZON_SCHEDULER_H

#include "ns3/object.h"
#include "ns3/priority-queue-scheduler.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The time of the next event in the simulator's queue. A HorizonScheduler keeps it up to date; up
 * to that time a Fabric handles its own packets without a simulator event for each.
 */
class EventHorizon : public Object
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    /// @return time step of the next simulator event, UINT64_MAX where there is none
    uint64_t GetNext() const
    {
        return m_next;
    }

    /// @return whether a scheduler feeds this horizon
    bool IsFed() const
    {
        return m_fed;
    }

  private:
    friend class HorizonScheduler;

    uint64_t m_next{UINT64_MAX}; //!< time step of the next event
    bool m_fed{false};           //!< whether a scheduler uses it
};

/**
 * @ingroup proteus
 * The PriorityQueueScheduler of ns-3, which also publishes the time of its next event. With another
 * scheduler a Fabric works as well, but has a simulator event for each time step of its own.
 *
 * FabricHelper sets it: the factory's attribute "Horizon" is the fabric's horizon.
 */
class HorizonScheduler : public PriorityQueueScheduler
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    ~HorizonScheduler() override;

    // Inherited from Scheduler
    void Insert(const Scheduler::Event& event) override;
    Scheduler::Event RemoveNext() override;
    void Remove(const Scheduler::Event& event) override;

  private:
    /// @param horizon to feed
    void SetHorizon(Ptr<EventHorizon> horizon);

    /// Publishes the time of the next event.
    void Publish();

    Ptr<EventHorizon> m_horizon; //!< whom to tell
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HORIZON_SCHEDULER_H
