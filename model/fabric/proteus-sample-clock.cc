/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-sample-clock.h"

#include "proteus-ranks.h"

#include "ns3/event-id.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A sampler and its times.
struct Entry
{
    Sampler* sampler;  //!< whom to call
    Time interval;     //!< between calls
    Time next;         //!< next call
    Ptr<Object> owner; //!< of the sampler, or null
};

/// The one event of a simulation, and whom it calls. Like ns-3's lists of nodes and channels, there
/// is one per simulation, and Simulator::Destroy() ends it.
struct Clock
{
    std::vector<Entry> entries;  //!< in the order of Add()
    EventId event;               //!< pending Tick(), if any
    bool hasDestroyEvent{false}; //!< Reset() is scheduled

    /// Ends with the program, if nobody has called Simulator::Destroy().
    ~Clock()
    {
        const std::vector<Entry> ended = std::move(entries); // their ends call Remove()
        entries.clear();
    }

    /// Forgets everybody. @param clock whose
    static void Reset(Clock* clock)
    {
        const std::vector<Entry> ended = std::move(clock->entries); // their ends call Remove()
        clock->entries.clear();
        clock->event = EventId();
        clock->hasDestroyEvent = false;
    }

    /// @return all entries, which are none of the clock's any more: their ends call Remove()
    std::vector<Entry> TakeAll()
    {
        std::vector<Entry> all = std::move(entries);
        entries.clear();
        Arm();
        return all;
    }

    /// Schedules Tick() for the first entry.
    void Arm()
    {
        Simulator::Remove(event); // not only cancelled: it would keep the run alive
        if (entries.empty())
        {
            return;
        }
        const auto first =
            std::min_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
                return a.next < b.next;
            });
        event = Simulator::Schedule(first->next - Simulator::Now(), &Clock::Tick, this);
    }

    /// Calls those whose time has come.
    void Tick()
    {
        const Time now = Simulator::Now();
        const bool last = Simulator::IsFinished();
        std::vector<Entry> due; // what is called may remove samplers
        for (Entry& entry : entries)
        {
            if (last || entry.next <= now)
            {
                due.push_back(entry);
                entry.next = now + entry.interval;
            }
        }
        if (last)
        {
            entries.clear();
        }
        for (const Entry& entry : due)
        {
            entry.sampler->TakeSample();
        }
        Arm();
    }
};

/// @return the clock
Clock&
GetClock()
{
    static Clock clock;
    return clock;
}

} // namespace

void
SampleClock::Add(Sampler* sampler, Time interval, Ptr<Object> owner)
{
    RequireOneProcess("what samples the simulation at regular times, such as series of links,",
                      "do without it");
    Clock& clock = GetClock();
    if (!clock.hasDestroyEvent)
    {
        clock.hasDestroyEvent = true;
        Simulator::ScheduleDestroy(&Clock::Reset, &clock);
    }
    clock.entries.push_back({sampler, interval, Simulator::Now() + interval, owner});
    clock.Arm();
}

void
SampleClock::Finish()
{
    Clock& clock = GetClock();
    const std::vector<Entry> left = clock.TakeAll();
    for (const Entry& entry : left)
    {
        entry.sampler->TakeSample();
    }
}

void
SampleClock::Forget()
{
    GetClock().TakeAll();
}

void
SampleClock::Remove(Sampler* sampler)
{
    Clock& clock = GetClock();
    auto& entries = clock.entries;
    const auto removed =
        std::stable_partition(entries.begin(), entries.end(), [&](const Entry& entry) {
            return entry.sampler != sampler;
        });
    if (removed == entries.end())
    {
        return;
    }
    // An owner that ends now comes here again.
    const std::vector<Entry> ended(removed, entries.end());
    entries.erase(removed, entries.end());
    clock.Arm();
}

} // namespace proteus
} // namespace ns3
