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
 * complete tree of minima: changing a slot stops at the first parent whose minimum stays. Unlike in
 * a heap, nothing is moved. Slots with equal times come in the order of their numbers.
 *
 * Its upper part is binary, which takes the fewest instructions. Below what the processor has at
 * hand, levels are 8-ary, which touches one cache line where three binary levels would touch three.
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
        const uint64_t key = m_leaves[slot];
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
        const uint64_t* top = m_pairs + 8;
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
        __builtin_prefetch(&m_leaves[slot], 1);
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
        std::size_t i = slot;
        for (std::size_t level = 0; level < m_nWide; ++level, i >>= 3)
        {
            uint64_t& minimum = m_wide[level][i];
            if (minimum <= key)
            {
                return;
            }
            minimum = key;
        }
        for (i += m_half; i > 0; i >>= 1)
        {
            if (m_pairs[i] <= key)
            {
                return;
            }
            m_pairs[i] = key;
        }
        m_top = key;
    }

  private:
    static constexpr uint64_t EMPTY = UINT64_MAX; //!< key of an empty slot
    static constexpr std::size_t MOST_WIDE = 8;   //!< 8-ary levels, for 2^32 slots
    /// Most keys in the lowest binary level: with those above 32 kB.
    static constexpr std::size_t MOST_PAIRED = 2048;
    /// Fewest, for GetLikelyNext().
    static constexpr std::size_t LEAST_PAIRED = 8;

    /// Eight keys in one cache line.
    struct alignas(64) Node
    {
        uint64_t keys[8]; //!< of slots, or minima
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
        if (m_leaves[slot] == m_top)
        {
            SetTop(slot, key);
            return;
        }
        std::size_t i = slot;
        for (std::size_t level = 0; level < m_nWide; ++level)
        {
            m_wide[level][i] = key;
            key = Minimum(&m_wide[level][i & ~std::size_t{7}]);
            i >>= 3;
            if (m_wide[level + 1][i] == key)
            {
                return;
            }
        }
        for (i += m_half; i > 1; i >>= 1)
        {
            const uint64_t sibling = m_pairs[i ^ 1];
            m_pairs[i] = key;
            key = sibling < key ? sibling : key;
            if (m_pairs[i >> 1] == key)
            {
                return;
            }
        }
        m_pairs[1] = key;
        m_top = key;
    }

    /// Does what SetKey() does where minima change up to the top: no 8-ary level waits for the one
    /// below but with a last comparison. @param slot the earliest one @param key its new key
    void SetTop(uint32_t slot, uint64_t key)
    {
        std::size_t i = slot;
        for (std::size_t level = 0; level < m_nWide; ++level, i >>= 3)
        {
            uint64_t& own = m_wide[level][i];
            own = EMPTY;
            const uint64_t least = Minimum(&m_wide[level][i & ~std::size_t{7}]);
            own = key;
            key = least < key ? least : key;
        }
        i += m_half;
        const auto rise = [this, &i, &key]() {
            const uint64_t sibling = m_pairs[i ^ 1];
            m_pairs[i] = key;
            key = sibling < key ? sibling : key;
            i >>= 1;
        };
        // A loop would take a fifth more instructions, and this is done for every event.
        static_assert(LEAST_PAIRED == 8 && MOST_PAIRED == 2048, "from 3 to 11 levels");
        switch (m_nPaired)
        {
        case 11:
            rise();
            [[fallthrough]];
        case 10:
            rise();
            [[fallthrough]];
        case 9:
            rise();
            [[fallthrough]];
        case 8:
            rise();
            [[fallthrough]];
        case 7:
            rise();
            [[fallthrough]];
        case 6:
            rise();
            [[fallthrough]];
        case 5:
            rise();
            [[fallthrough]];
        case 4:
            rise();
            [[fallthrough]];
        default:
            rise();
            rise();
            rise();
        }
        m_pairs[1] = key;
        m_top = key;
    }

    /**
     * Moves the epoch, on or back, so that a time gets a key, and every time after the earliest
     * one.
     * @param timePs the time
     * @throw std::length_error if the pending times are too far apart
     */
    void MoveEpoch(int64_t timePs);

    uint32_t m_bits;             //!< bits of a slot
    uint64_t m_mask;             //!< these bits
    int64_t m_horizon;           //!< times this far past the epoch have no key
    int64_t m_epoch{0};          //!< time of key 0
    uint64_t m_top{EMPTY};       //!< smallest key
    std::size_t m_nWide{0};      //!< 8-ary levels
    std::size_t m_half{0};       //!< keys of the lowest binary level, a power of two
    uint32_t m_nPaired{0};       //!< binary levels below the top: m_half is 1 << this
    uint64_t* m_leaves{nullptr}; //!< keys of slots
    /// The binary levels: the top at 1, then the two below it, and so on; the lowest at m_half.
    uint64_t* m_pairs{nullptr};
    /// The 8-ary levels from the slots up, and the lowest binary one above them.
    std::array<uint64_t*, MOST_WIDE + 1> m_wide{};
    std::vector<Node, HugePageAllocator<Node>> m_nodes; //!< of all levels
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EVENT_TREE_H
