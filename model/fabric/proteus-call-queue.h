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
 * the order in which they were put in.
 *
 * Thread blocks that do the same begin and end at the same times, so that many calls have the time
 * of another one. Calls of one time are a *moment*: a list, which calls find that come soon after
 * its first one. Only moments are sorted: their times are the leaves of a binary tree of minima,
 * which takes no decisions that a processor would have to guess. Should there be two moments of one
 * time, they become one when they are the first.
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
        m_links[place].value = call.value;
        m_links[place].next = NONE;
        Recent& recent = m_recent[Hash(call.timePs)];
        if (recent.timePs == call.timePs)
        {
            Append(m_links[recent.leaf], place, place);
            return;
        }
        recent = {call.timePs, place};
        Link& moment = m_links[place];
        moment.first = place;
        moment.last = place;
        moment.isMixed = 0;
        moment.isLeafDone = 0;
        if (call.timePs < m_firstPs)
        {
            m_first = place;
            m_firstPs = call.timePs;
        }
        Lower(place, call.timePs);
        if (call.timePs == m_firstPs && place != m_first)
        {
            Join(place);
        }
    }

    /// @return the first call, taken out; there must be one
    FabricCall Pop()
    {
        Link& moment = m_links[m_first];
        if (moment.isMixed != 0)
        {
            Sort(moment);
        }
        const uint32_t place = moment.first;
        moment.first = m_links[place].next;
        const FabricCall call = m_calls[place];
        if (place == m_first)
        {
            moment.isLeafDone = 1; // its place stays taken until the moment is over
        }
        else
        {
            m_calls.GiveBack(place);
        }
        if (moment.first == NONE)
        {
            EndFirst();
        }
        return call;
    }

    /// Brings the first call, if there is one, nearer to the processor. @param target that is
    /// likely to be called
    void PrefetchFirst(const CallTarget& target) const
    {
        if (m_firstPs != EventTree::NEVER)
        {
            const uint32_t place = m_links[m_first].first; // very likely, if it is to be sorted
            m_calls.Prefetch(place);
            target.PrepareCall(m_links[place].value);
        }
    }

    /// @param target of calls @return all of them, in their order
    std::vector<FabricCall> GetCalls(const CallTarget* target) const
    {
        std::vector<FabricCall> calls;
        for (uint32_t leaf = 0; leaf < m_half; ++leaf)
        {
            const bool isMoment = m_times[m_half + leaf] != EventTree::NEVER;
            for (uint32_t place = isMoment ? m_links[leaf].first : NONE; place != NONE;
                 place = m_links[place].next)
            {
                if (m_calls[place].target == target)
                {
                    calls.push_back(m_calls[place]);
                }
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
        m_half = LEAST_LEAVES;
        m_times.assign(std::size_t{2} * m_half, EventTree::NEVER);
        m_links.assign(m_half, Link());
        m_recent.assign(RECENT_MOMENTS, Recent());
        m_firstPs = EventTree::NEVER;
    }

  private:
    static constexpr uint32_t LEAST_LEAVES = 8;                 //!< of the tree
    static constexpr uint32_t NONE = UINT32_MAX;                //!< no place
    static constexpr uint32_t HASH_BITS = 8;                    //!< of Hash()
    static constexpr uint32_t RECENT_MOMENTS = 1u << HASH_BITS; //!< 4 KiB, always at hand

    /// What is to be known of a call besides itself, and of a moment, by the place of the call that
    /// came first, which is the leaf of the moment.
    struct Link
    {
        uint32_t value;          //!< of the call
        uint32_t next;           //!< place of the next call of its moment
        uint32_t first;          //!< of the moment: place of its first call
        uint32_t last : 30;      //!< of the moment: place of its last call
        uint32_t isMixed : 1;    //!< of the moment: whether its calls are not in their order
        uint32_t isLeafDone : 1; //!< of the moment: whether the call that came first has been made
    };

    /// A moment that can be found by its time.
    struct Recent
    {
        int64_t timePs{EventTree::NEVER}; //!< of its calls; NEVER: there is none
        uint32_t leaf{0};                 //!< of it
    };

    /// @param timePs of a moment @return where it stands among the recent ones
    static uint32_t Hash(int64_t timePs)
    {
        constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15; // 2^64 over the golden ratio
        return static_cast<uint32_t>(static_cast<uint64_t>(timePs) * GOLDEN >> (64 - HASH_BITS));
    }

    /// @param moment that gets calls @param first place of the first of them @param last place of
    /// the last of them
    void Append(Link& moment, uint32_t first, uint32_t last)
    {
        moment.isMixed |= m_calls[moment.last] > m_calls[first] ? 1u : 0u;
        m_links[moment.last].next = first;
        moment.last = last;
    }

    /// Makes another moment of the time of the first one a part of it. @param leaf of the other one
    void Join(uint32_t leaf)
    {
        const Link other = m_links[leaf];
        Empty(leaf);
        if (other.isLeafDone != 0)
        {
            m_calls.GiveBack(leaf);
        }
        m_recent[Hash(m_firstPs)] = {m_firstPs, m_first};
        Link& moment = m_links[m_first];
        moment.isMixed |= other.isMixed;
        Append(moment, other.first, other.last);
    }

    /// Sorts the calls of a moment. It is rare: most come in their order. @param moment of calls
    [[gnu::noinline, gnu::cold]] void Sort(Link& moment)
    {
        std::vector<uint32_t> places;
        for (uint32_t place = moment.first; place != NONE; place = m_links[place].next)
        {
            places.push_back(place);
        }
        std::sort(places.begin(), places.end(), [this](uint32_t a, uint32_t b) {
            return m_calls[b] > m_calls[a];
        });
        moment.first = places.front();
        moment.last = places.back();
        for (std::size_t i = 0; i < places.size(); ++i)
        {
            m_links[places[i]].next = i + 1 < places.size() ? places[i + 1] : uint32_t{NONE};
        }
        moment.isMixed = 0;
    }

    /// Forgets the first moment, which has no calls any more, and finds the next one.
    void EndFirst()
    {
        Recent& recent = m_recent[Hash(m_firstPs)];
        if (recent.timePs == m_firstPs)
        {
            recent.timePs = EventTree::NEVER;
        }
        Empty(m_first);
        m_calls.GiveBack(m_first);
        m_firstPs = m_times[1];
        if (m_firstPs == EventTree::NEVER)
        {
            return;
        }
        bool isTied = false;
        m_first = FindLeaf(m_firstPs, isTied);
        if (isTied)
        {
            JoinTied();
        }
    }

    /// Joins all moments of the earliest time. It is rare.
    [[gnu::noinline, gnu::cold]] void JoinTied()
    {
        std::vector<uint32_t> others;
        bool isTied = false;
        Empty(m_first);
        while (m_times[1] == m_firstPs)
        {
            others.push_back(FindLeaf(m_firstPs, isTied));
            Empty(others.back());
        }
        Lower(m_first, m_firstPs);
        std::for_each(others.begin(), others.end(), [this](uint32_t leaf) { Join(leaf); });
    }

    /// @param timePs the earliest time @param isTied set if another leaf has that time, else left
    /// @return a leaf with that time
    uint32_t FindLeaf(int64_t timePs, bool& isTied) const
    {
        uint32_t i = 1;
        while (i < m_half)
        {
            i *= 2;
            const bool isLeft = m_times[i] == timePs;
            isTied |= isLeft && m_times[i + 1] == timePs;
            i += isLeft ? 0 : 1;
        }
        return i - m_half;
    }

    /// Gives a leaf a time. @param leaf that has none @param timePs its time
    void Lower(uint32_t leaf, int64_t timePs)
    {
        for (uint32_t i = m_half + leaf; i > 0; i >>= 1)
        {
            m_times[i] = std::min(m_times[i], timePs);
        }
    }

    /// Takes the time of a leaf. @param leaf of a moment
    void Empty(uint32_t leaf)
    {
        int64_t least = EventTree::NEVER;
        for (uint32_t i = m_half + leaf; i > 1; i >>= 1)
        {
            m_times[i] = least;
            least = std::min(least, m_times[i ^ 1]);
        }
        m_times[1] = least;
    }

    /// Doubles the leaves of the tree. It is rare: kept out of the code around Push().
    [[gnu::noinline, gnu::cold]] void Grow()
    {
        const std::vector<int64_t> leaves(m_times.begin() + m_half, m_times.end());
        m_half *= 2;
        m_times.assign(std::size_t{2} * m_half, EventTree::NEVER);
        m_links.resize(m_half);
        for (uint32_t leaf = 0; leaf < leaves.size(); ++leaf)
        {
            Lower(leaf, leaves[leaf]);
        }
    }

    Pool<FabricCall> m_calls;  //!< all calls
    std::vector<Link> m_links; //!< of the calls and moments, by place
    /// The tree: the top at 1, then the two below it, and so on; leaves from m_half on.
    std::vector<int64_t> m_times;
    std::vector<Recent> m_recent;        //!< by hash
    uint32_t m_half{0};                  //!< leaves of the tree, a power of two
    uint32_t m_first{0};                 //!< leaf of the first moment, if there is one
    int64_t m_firstPs{EventTree::NEVER}; //!< time of the first call
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CALL_QUEUE_H
