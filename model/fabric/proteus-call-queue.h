/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CALL_QUEUE_H
#define PROTEUS_CALL_QUEUE_H

#include "proteus-event-tree.h"

#include "ns3/proteus-pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Who can be called at a time of the fabric.
class CallTarget
{
  public:
    virtual ~CallTarget() = default;

    /// The time of a call has come. @param kind of the call @param value that goes with it
    virtual void HandleCall(uint32_t kind, uint32_t value) = 0;

    /// A call is likely to be the next one: brings what it needs nearer to the processor.
    /// @param value of a call to this target or to another one
    virtual void PrepareCall(uint32_t value) const
    {
        static_cast<void>(value);
    }
};

/// @ingroup proteus
/// A call at a time of the fabric.
struct FabricCall
{
    /// Order of calls that come in the order of their numbers, after those with an order.
    static constexpr uint64_t IN_TURN = UINT64_MAX;

    int64_t timePs{0};           //!< when
    uint64_t order{IN_TURN};     //!< among calls at one time, lower ones first
    uint64_t number{0};          //!< among calls of one order, lower ones first
    CallTarget* target{nullptr}; //!< whom to call
    uint32_t kind{0};            //!< of CallTarget::HandleCall()
    uint32_t value{0};           //!< of CallTarget::HandleCall()

    /// @param other another call @return whether this one comes later
    bool operator>(const FabricCall& other) const
    {
        return std::tie(timePs, order, number) > std::tie(other.timePs, other.order, other.number);
    }
};

/**
 * @ingroup proteus
 * Calls sorted by time, order and number. So the order in which they are made does not depend on
 * the order in which they were put in. Their times are in a heap with four children each, which are
 * one cache line; the calls themselves stay where they are.
 */
class CallQueue
{
  public:
    /// @return time of the first call, EventTree::NEVER if there is none
    int64_t GetTime() const
    {
        return m_firstPs;
    }

    /// @param call to put in
    void Push(const FabricCall& call)
    {
        const Entry entry{call.timePs, m_calls.Add(call), call.value};
        std::size_t hole = ROOT + m_size++;
        if (hole / SIBLINGS == m_heap.size())
        {
            m_heap.emplace_back();
        }
        while (hole != ROOT && IsLater(At(GetParent(hole)), entry))
        {
            At(hole) = At(GetParent(hole));
            hole = GetParent(hole);
        }
        At(hole) = entry;
        m_firstPs = At(ROOT).timePs;
    }

    /// @return the first call, taken out; there must be one
    FabricCall Pop()
    {
        const uint32_t place = At(ROOT).place;
        const FabricCall call = m_calls[place];
        m_calls.GiveBack(place);
        const std::size_t end = ROOT + --m_size;
        const Entry last = At(end);
        std::size_t hole = ROOT;
        for (std::size_t child = GetChild(hole); child < end; child = GetChild(hole))
        {
            const std::size_t first = FindFirst(child, std::min(child + SIBLINGS, end));
            if (!IsLater(last, At(first)))
            {
                break;
            }
            At(hole) = At(first);
            hole = first;
        }
        At(hole) = last;
        m_firstPs = m_size == 0 ? EventTree::NEVER : At(ROOT).timePs;
        return call;
    }

    /// Brings the first call, if there is one, nearer to the processor. @param target that is
    /// likely to be called
    void PrefetchFirst(const CallTarget& target) const
    {
        if (m_size > 0)
        {
            const Entry& first = m_heap[ROOT / SIBLINGS].entries[ROOT % SIBLINGS];
            m_calls.Prefetch(first.place);
            target.PrepareCall(first.value);
        }
    }

    /// @param target of calls @return all of them, in their order
    std::vector<FabricCall> GetCalls(const CallTarget* target) const
    {
        std::vector<FabricCall> calls;
        for (std::size_t i = ROOT; i < ROOT + m_size; ++i)
        {
            const FabricCall& call = m_calls[m_heap[i / SIBLINGS].entries[i % SIBLINGS].place];
            if (call.target == target)
            {
                calls.push_back(call);
            }
        }
        std::sort(calls.begin(), calls.end(), [](const FabricCall& a, const FabricCall& b) {
            return b > a;
        });
        return calls;
    }

    /// Forgets all calls.
    void Clear()
    {
        m_heap.clear();
        m_calls.Clear();
        m_size = 0;
        m_firstPs = EventTree::NEVER;
    }

  private:
    static constexpr std::size_t SIBLINGS = 4; //!< children of an entry
    /// Index of the first entry, such that siblings begin at a multiple of their number.
    static constexpr std::size_t ROOT = SIBLINGS - 1;

    /// A call in the heap.
    struct Entry
    {
        int64_t timePs{0}; //!< when
        uint32_t place{0}; //!< of m_calls
        uint32_t value{0}; //!< of the call
    };

    /// Entries in one cache line.
    struct alignas(64) Line
    {
        Entry entries[SIBLINGS]; //!< siblings
    };

    /// @param i index of an entry @return the index of what it hangs from
    static std::size_t GetParent(std::size_t i)
    {
        return i / SIBLINGS + ROOT - 1;
    }

    /// @param i index of an entry @return the index of its first child
    static std::size_t GetChild(std::size_t i)
    {
        return SIBLINGS * (i - ROOT + 1);
    }

    /// @param i index of an entry @return the entry
    Entry& At(std::size_t i)
    {
        return m_heap[i / SIBLINGS].entries[i % SIBLINGS];
    }

    /// @param a a call @param b another one @return whether a comes later
    bool IsLater(const Entry& a, const Entry& b) const
    {
        return a.timePs > b.timePs || (a.timePs == b.timePs && m_calls[a.place] > m_calls[b.place]);
    }

    /// @param begin index of the first of some siblings @param end index after the last
    /// @return the index of the one that comes first
    std::size_t FindFirst(std::size_t begin, std::size_t end)
    {
        std::size_t first = begin;
        for (std::size_t i = begin + 1; i < end; ++i)
        {
            first = IsLater(At(first), At(i)) ? i : first;
        }
        return first;
    }

    std::vector<Line> m_heap;            //!< a heap, from ROOT on
    Pool<FabricCall> m_calls;            //!< what the entries stand for
    std::size_t m_size{0};               //!< entries
    int64_t m_firstPs{EventTree::NEVER}; //!< time of the first call
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CALL_QUEUE_H
