/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EVENT_TREE_H
#define PROTEUS_EVENT_TREE_H

#include "ns3/proteus-huge-pages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The event set of the packet engine.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Finds the earliest of a fixed number of slots, each with at most one pending time. It is a
 * complete 8-ary tree of minima: changing a slot touches one cache line per level, and stops at the
 * first parent whose minimum stays. Unlike in a heap, nothing is moved. Slots with equal times come
 * in the order of their numbers.
 *
 * A key is the time since an epoch, shifted left, with the number of the slot in the low bits. When
 * keys run out of bits, the epoch moves on by itself.
 */
class EventTree
{
  public:
    /// The time of a slot in which nothing is pending.
    static constexpr int64_t NEVER = INT64_MAX;

    /// @param nSlots number of slots
    explicit EventTree(uint32_t nSlots = 1);

    EventTree(EventTree&&) = default;
    EventTree& operator=(EventTree&&) = default;

    /// @return time of the earliest slot, NEVER if nothing is pending
    int64_t GetTime() const
    {
        return m_top == EMPTY ? NEVER : m_epoch + static_cast<int64_t>(m_top >> m_bits);
    }

    /// @return the earliest slot; only while something is pending
    uint32_t GetSlot() const
    {
        return static_cast<uint32_t>(m_top & m_mask);
    }

    /// @param slot a slot @return its time, NEVER if nothing is pending
    int64_t GetTime(uint32_t slot) const
    {
        const uint64_t key = m_levels[0][slot];
        return key == EMPTY ? NEVER : m_epoch + static_cast<int64_t>(key >> m_bits);
    }

    /// Slots that are likely to be the next ones after the earliest.
    struct Likely
    {
        uint32_t second; //!< likely to be the next one
        uint32_t third;  //!< likely to be the one after it
    };

    /// @return slots that are likely to be those after the earliest, which they are unless some of
    /// the three are in the same eighth of all slots; any numbers if there are none
    Likely GetLikelyNext() const
    {
        const uint64_t* top = m_levels[m_nLevels - 1];
        uint64_t second = EMPTY;
        uint64_t third = EMPTY;
        for (std::size_t i = 0; i < 8; ++i)
        {
            const uint64_t key = top[i] == m_top ? uint64_t{EMPTY} : top[i];
            const uint64_t greater = key < second ? second : key;
            third = greater < third ? greater : third;
            second = key < second ? key : second;
        }
        return {static_cast<uint32_t>(second & m_mask), static_cast<uint32_t>(third & m_mask)};
    }

    /// Brings what Set() of a slot will change nearer to the processor. @param slot a slot
    void Prefetch(uint32_t slot) const
    {
        __builtin_prefetch(&m_levels[0][slot], 1);
    }

    /**
     * Sets the time of a slot.
     * @param slot a slot
     * @param timePs when; NEVER to clear it
     */
    void Set(uint32_t slot, int64_t timePs)
    {
        SetKey(slot, timePs == NEVER ? EMPTY : GetKey(slot, timePs));
    }

    /// Clears all slots.
    void Clear()
    {
        while (m_top != EMPTY)
        {
            SetKey(GetSlot(), EMPTY);
        }
    }

    /**
     * Does what Set() does, faster, for a slot that is empty or has a later time.
     * @param slot a slot
     * @param timePs when; not NEVER
     */
    void SetEarlier(uint32_t slot, int64_t timePs)
    {
        const uint64_t key = GetKey(slot, timePs);
        const std::size_t nLevels = m_nLevels;
        std::size_t i = slot;
        for (std::size_t level = 0; level < nLevels; ++level, i >>= 3)
        {
            uint64_t& minimum = m_levels[level][i];
            if (minimum <= key)
            {
                return;
            }
            minimum = key;
        }
        m_top = std::min(m_top, key);
    }

  private:
    static constexpr uint64_t EMPTY = UINT64_MAX; //!< key of an empty slot
    static constexpr std::size_t MAX_LEVELS = 11; //!< for 2^32 slots

    /// Eight keys in one cache line.
    struct alignas(64) Node
    {
        uint64_t keys[8]; //!< of slots, or minima of nodes
    };

    /// @param slot a slot @param timePs its time @return its key
    uint64_t GetKey(uint32_t slot, int64_t timePs)
    {
        if (static_cast<uint64_t>(timePs - m_epoch) >= static_cast<uint64_t>(m_horizon))
        {
            MoveEpoch(timePs);
        }
        return static_cast<uint64_t>(timePs - m_epoch) << m_bits | slot;
    }

    /// @param node first of eight keys @return the smallest
    static uint64_t Minimum(const uint64_t* node)
    {
        const uint64_t a = node[0] < node[1] ? node[0] : node[1];
        const uint64_t b = node[2] < node[3] ? node[2] : node[3];
        const uint64_t c = node[4] < node[5] ? node[4] : node[5];
        const uint64_t d = node[6] < node[7] ? node[6] : node[7];
        const uint64_t e = a < b ? a : b;
        const uint64_t f = c < d ? c : d;
        return e < f ? e : f;
    }

    /// @param slot a slot @param key its new key
    void SetKey(uint32_t slot, uint64_t key)
    {
        if (m_levels[0][slot] == m_top)
        {
            SetTop(slot, key);
            return;
        }
        const std::size_t nLevels = m_nLevels; // the compiler cannot know that no key is there
        std::size_t i = slot;
        m_levels[0][i] = key;
        for (std::size_t level = 1; level < nLevels; ++level)
        {
            i >>= 3;
            const uint64_t minimum = Minimum(&m_levels[level - 1][i << 3]);
            if (m_levels[level][i] == minimum)
            {
                return;
            }
            m_levels[level][i] = minimum;
        }
        m_top = Minimum(m_levels[nLevels - 1]);
    }

    /// Does what SetKey() does where minima change up to the top: no level waits for the one below
    /// but with a last comparison. @param slot the earliest one @param key its new key
    void SetTop(uint32_t slot, uint64_t key)
    {
        const std::size_t nLevels = m_nLevels;
        std::size_t i = slot;
        for (std::size_t level = 0; level < nLevels; ++level, i >>= 3)
        {
            uint64_t& own = m_levels[level][i];
            own = EMPTY;
            const uint64_t least = Minimum(&m_levels[level][i & ~std::size_t{7}]);
            own = key;
            key = least < key ? least : key;
        }
        m_top = key;
    }

    /**
     * Moves the epoch, on or back, so that a time gets a key, and every time after the earliest
     * one.
     * @param timePs the time
     * @throw std::length_error if the pending times are too far apart
     */
    void MoveEpoch(int64_t timePs);

    uint32_t m_bits;          //!< bits of a slot
    uint64_t m_mask;          //!< these bits
    int64_t m_horizon;        //!< times this far past the epoch have no key
    int64_t m_epoch{0};       //!< time of key 0
    uint64_t m_top{EMPTY};    //!< smallest key
    std::size_t m_nLevels{0}; //!< levels below the top
    std::vector<Node, HugePageAllocator<Node>> m_nodes; //!< of all levels
    /// First keys of the levels in m_nodes: slots, then minima of eight, and so on.
    std::array<uint64_t*, MAX_LEVELS> m_levels{};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EVENT_TREE_H
