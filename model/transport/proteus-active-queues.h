/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ACTIVE_QUEUES_H
#define PROTEUS_ACTIVE_QUEUES_H

#include "ns3/proteus-huge-pages.h"
#include "ns3/proteus-packet.h"
#include "ns3/proteus-ring-buffer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Who takes turns on the ports of endpoints, and who waits for a time.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Things that wait for a time, in a binary heap of (time, thing). The times of things change far
 * more often than they come, so nothing is ever moved inside the heap: whoever takes an entry out
 * checks whether it still counts.
 */
class TimeHeap
{
  public:
    /// A time and what waits for it.
    using Entry = std::pair<int64_t, uint32_t>;

    /// @return the earliest time, INT64_MAX if nothing waits
    int64_t GetTime() const
    {
        return m_firstPs;
    }

    /// @return the earliest entry, of which there must be one; equal times come in the order of the
    /// things
    const Entry& GetTop() const
    {
        return m_entries.front();
    }

    /// @param timePs when @param thing what
    void Push(int64_t timePs, uint32_t thing)
    {
        m_entries.emplace_back(timePs, thing);
        std::push_heap(m_entries.begin(), m_entries.end(), std::greater<>());
        m_firstPs = m_entries.front().first;
    }

    /// Takes the earliest entry out.
    void Pop()
    {
        std::pop_heap(m_entries.begin(), m_entries.end(), std::greater<>());
        m_entries.pop_back();
        m_firstPs = m_entries.empty() ? INT64_MAX : m_entries.front().first;
    }

    /// @return all entries, in no order
    const std::vector<Entry>& GetEntries() const
    {
        return m_entries;
    }

  private:
    int64_t m_firstPs{INT64_MAX}; //!< GetTime(), without a look at the entries
    std::vector<Entry> m_entries; //!< a heap, the earliest first
};

/**
 * @ingroup proteus
 * Things that wait for a time, sorted. As paces of a port are much alike, what comes last is mostly
 * the latest: it is put in from the end. That takes fewer instructions than a heap, and the
 * processor can foresee it.
 */
class PaceQueue
{
  public:
    /// A time and what waits for it.
    using Entry = TimeHeap::Entry;

    /// @return the earliest time, INT64_MAX if nothing waits
    int64_t GetTime() const
    {
        return m_firstPs;
    }

    /// @return the earliest entry, of which there must be one; equal times come in the order of the
    /// things
    const Entry& GetTop() const
    {
        return m_entries.Front();
    }

    /// @param timePs when @param thing what
    void Push(int64_t timePs, uint32_t thing)
    {
        const Entry entry{timePs, thing};
        m_entries.Push(entry);
        uint32_t place = m_entries.GetTail() - 1;
        while (place != m_entries.GetHead() && entry < m_entries.At(place - 1))
        {
            m_entries.At(place) = m_entries.At(place - 1);
            --place;
        }
        m_entries.At(place) = entry;
        m_firstPs = m_entries.Front().first;
    }

    /// Takes the earliest entry out.
    void Pop()
    {
        m_entries.PopAndRewind();
        m_firstPs = m_entries.IsEmpty() ? INT64_MAX : m_entries.Front().first;
    }

    /// @return all entries, the earliest first
    std::vector<Entry> GetEntries() const
    {
        std::vector<Entry> entries;
        for (uint32_t place = m_entries.GetHead(); place != m_entries.GetTail(); ++place)
        {
            entries.push_back(m_entries.At(place));
        }
        return entries;
    }

  private:
    int64_t m_firstPs{INT64_MAX}; //!< GetTime(), without a look at the entries
    RingBuffer<Entry> m_entries;  //!< the earliest first
};

/// @ingroup proteus
/// A place of a queue pair in the list of one of its ports.
struct ActiveSlot
{
    static constexpr uint32_t UNLISTED = 0xffffffff;      //!< in no list
    static constexpr uint32_t LAST = 0xfffffffe;          //!< in a list, at its end
    static constexpr uint32_t PACED = 0xfffffffd;         //!< waits for a time
    static constexpr uint32_t UNREAD = 0xfffffffc;        //!< waits for its reader: ReadRequests
    static constexpr uint32_t NO_QUEUE_PAIR = 0xffffffff; //!< given up

    uint32_t queuePair{NO_QUEUE_PAIR}; //!< whose place it is
    uint32_t next{UNLISTED};           //!< the slot behind it, or one of the above
    PortId port{NO_PORT};              //!< whose list
};

/// @ingroup proteus
/// The places of all queue pairs.
using ActiveSlots = std::vector<ActiveSlot, HugePageAllocator<ActiveSlot>>;

/// @ingroup proteus
/// The queue pairs that have something to send on a port: for each traffic class a list in which
/// they take turns, and a heap of those that wait for their time.
struct alignas(64) ActiveQueues
{
    /// The two ends of a list.
    struct List
    {
        uint32_t head; //!< first slot
        uint32_t tail; //!< last slot
    };

    uint32_t busy{0};                  //!< bit c: list c is not empty
    uint32_t limiter{UINT32_MAX};      //!< what limits the copies of its endpoint, or none
    int64_t unitPs{0};                 //!< time that a full unit takes on it
    PaceQueue paced;                   //!< slots that wait
    List lists[MAX_TRAFFIC_CLASSES]{}; //!< by traffic class; the first two in the first cache line
    int64_t reservedPs{-1};            //!< its turn at the limiter; below 0: none

    /// @param slots all slots @param slot to append @param trafficClass of its queue pair
    void Append(ActiveSlots& slots, uint32_t slot, uint32_t trafficClass)
    {
        List& list = lists[trafficClass];
        if ((busy >> trafficClass & 1) == 0)
        {
            busy |= 1u << trafficClass;
            list.head = slot;
        }
        else
        {
            slots[list.tail].next = slot;
        }
        list.tail = slot;
        slots[slot].next = ActiveSlot::LAST;
    }

    /// Takes the first slot out of a list. @param slots all slots @param trafficClass of the list
    void RemoveFirst(ActiveSlots& slots, uint32_t trafficClass)
    {
        List& list = lists[trafficClass];
        ActiveSlot& slot = slots[list.head];
        if (list.head == list.tail)
        {
            busy &= ~(1u << trafficClass);
        }
        list.head = slot.next;
        slot.next = ActiveSlot::UNLISTED;
    }

    /// Makes the first slot of a list the last. @param slots all slots
    /// @param trafficClass of the list
    void Rotate(ActiveSlots& slots, uint32_t trafficClass)
    {
        List& list = lists[trafficClass];
        if (list.head != list.tail)
        {
            const uint32_t slot = list.head;
            list.head = slots[slot].next;
            slots[list.tail].next = slot;
            slots[slot].next = ActiveSlot::LAST;
            list.tail = slot;
        }
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ACTIVE_QUEUES_H
