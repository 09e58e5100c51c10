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
 * the order in which they were put in. Their times are the leaves of a binary tree of minima, which
 * takes no decisions that a processor would have to guess; the calls themselves stay where they
 * are. Calls of the earliest time, if there are several, are sorted once in a list.
 */
class CallQueue
{
  public:
    CallQueue()
    {
        Clear();
    }

    /// @return time of the first call, EventTree::NEVER if there is none
    int64_t GetTime() const
    {
        return m_firstPs;
    }

    /// @param call to put in; before EventTree::NEVER
    void Push(const FabricCall& call)
    {
        const uint32_t place = m_calls.Add(call);
        if (place >= m_half)
        {
            Grow();
        }
        m_values[place] = call.value;
        if (call.timePs > m_firstPs)
        {
            Lower(place, call.timePs);
            return;
        }
        if (call.timePs == m_firstPs)
        {
            AddDue(place);
            return;
        }
        for (const uint32_t later : m_due)
        {
            Lower(later, m_firstPs);
        }
        m_due.clear();
        Lower(place, call.timePs);
        m_first = place;
        m_firstPs = call.timePs;
    }

    /// @return the first call, taken out; there must be one
    FabricCall Pop()
    {
        const uint32_t place = GetFirst();
        if (m_due.empty())
        {
            Empty(place);
        }
        else
        {
            m_due.pop_back();
        }
        if (m_due.empty())
        {
            FindFirst();
        }
        const FabricCall call = m_calls[place];
        m_calls.GiveBack(place);
        return call;
    }

    /// Brings the first call, if there is one, nearer to the processor. @param target that is
    /// likely to be called
    void PrefetchFirst(const CallTarget& target) const
    {
        if (m_firstPs != EventTree::NEVER)
        {
            m_calls.Prefetch(GetFirst());
            target.PrepareCall(m_values[GetFirst()]);
        }
    }

    /// @param target of calls @return all of them, in their order
    std::vector<FabricCall> GetCalls(const CallTarget* target) const
    {
        std::vector<FabricCall> calls;
        const auto add = [&](uint32_t place) {
            if (m_calls[place].target == target)
            {
                calls.push_back(m_calls[place]);
            }
        };
        std::for_each(m_due.begin(), m_due.end(), add);
        for (uint32_t place = 0; place < m_half; ++place)
        {
            if (m_times[m_half + place] != EventTree::NEVER)
            {
                add(place);
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
        m_calls.Clear();
        m_due.clear();
        m_half = LEAST_LEAVES;
        m_times.assign(std::size_t{2} * m_half, EventTree::NEVER);
        m_values.resize(m_half);
        m_firstPs = EventTree::NEVER;
    }

  private:
    static constexpr uint32_t LEAST_LEAVES = 8; //!< of the tree

    /// @return place of the first call, of which there must be one
    uint32_t GetFirst() const
    {
        return m_due.empty() ? m_first : m_due.back();
    }

    /// Gives a leaf a time. @param place of a call that has none there @param timePs its time
    void Lower(uint32_t place, int64_t timePs)
    {
        for (uint32_t i = m_half + place; i > 0; i >>= 1)
        {
            m_times[i] = std::min(m_times[i], timePs);
        }
    }

    /// Takes the time of a leaf. @param place of a call
    void Empty(uint32_t place)
    {
        int64_t least = EventTree::NEVER;
        for (uint32_t i = m_half + place; i > 1; i >>= 1)
        {
            m_times[i] = least;
            least = std::min(least, m_times[i ^ 1]);
        }
        m_times[1] = least;
    }

    /// Finds the first call in the tree. If others have its time, all of them go into the list.
    void FindFirst()
    {
        m_firstPs = m_times[1];
        if (m_firstPs == EventTree::NEVER)
        {
            return;
        }
        uint32_t i = 1;
        bool isTied = false;
        while (i < m_half)
        {
            i *= 2;
            const bool isLeft = m_times[i] == m_firstPs;
            isTied |= isLeft && m_times[i + 1] == m_firstPs;
            i += isLeft ? 0 : 1;
        }
        m_first = i - m_half;
        if (isTied)
        {
            ListDue();
        }
    }

    /// Puts all calls of the tree that have the earliest time into the list.
    void ListDue()
    {
        while (m_times[1] == m_firstPs)
        {
            uint32_t i = 1;
            while (i < m_half)
            {
                i = 2 * i + (m_times[2 * i] == m_firstPs ? 0 : 1);
            }
            m_due.push_back(i - m_half);
            Empty(i - m_half);
        }
        std::sort(m_due.begin(), m_due.end(), [this](uint32_t a, uint32_t b) {
            return m_calls[a] > m_calls[b];
        });
    }

    /// Puts a call into the list. @param place of a call that has the earliest time
    void AddDue(uint32_t place)
    {
        if (m_due.empty())
        {
            Empty(m_first);
            m_due.push_back(m_first);
        }
        const auto isLater = [this](uint32_t a, uint32_t b) { return m_calls[a] > m_calls[b]; };
        m_due.insert(std::upper_bound(m_due.begin(), m_due.end(), place, isLater), place);
    }

    /// Doubles the leaves of the tree. It is rare: kept out of the code around Push().
    [[gnu::noinline, gnu::cold]] void Grow()
    {
        std::vector<int64_t> leaves(m_times.begin() + m_half, m_times.end());
        m_half *= 2;
        m_times.assign(std::size_t{2} * m_half, EventTree::NEVER);
        m_values.resize(m_half);
        for (uint32_t place = 0; place < leaves.size(); ++place)
        {
            Lower(place, leaves[place]);
        }
    }

    Pool<FabricCall> m_calls;       //!< all calls
    std::vector<uint32_t> m_values; //!< of the calls, by place
    /// The tree: the top at 1, then the two below it, and so on; leaves from m_half on, by place.
    std::vector<int64_t> m_times;
    std::vector<uint32_t> m_due; //!< calls of the earliest time, the last one first; or none
    uint32_t m_half{0};          //!< leaves of the tree, a power of two
    uint32_t m_first{0};         //!< the first call, if the list is empty
    int64_t m_firstPs{EventTree::NEVER}; //!< time of the first call
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CALL_QUEUE_H
