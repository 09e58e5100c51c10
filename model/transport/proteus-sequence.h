/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEQUENCE_H
#define PROTEUS_SEQUENCE_H

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Packet numbers modulo 2^32, and sets of them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Compares packet numbers that are less than 2^31 apart (serial number arithmetic, RFC 1982).
 * @param a a packet number
 * @param b another
 * @return whether a comes before b
 */
inline bool
IsBefore(uint32_t a, uint32_t b)
{
    return static_cast<int32_t>(a - b) < 0;
}

/**
 * @ingroup proteus
 * A set of packet numbers within a sliding window: one bit each, in a ring that grows.
 */
class SequenceSet
{
  public:
    /**
     * @param first number of the window
     * @param number to look for, not before `first`
     * @return whether it is in the set
     */
    bool Has(uint32_t first, uint32_t number) const
    {
        const uint32_t bit = number & m_mask;
        return number - first <= m_mask && !m_words.empty() &&
               (m_words[bit / 64] >> (bit % 64) & 1) != 0;
    }

    /**
     * @param first number of the window; nothing before it is in the set
     * @param number to insert, not before `first`
     * @return whether it is new
     */
    bool Insert(uint32_t first, uint32_t number)
    {
        if (m_words.empty() || number - first > m_mask)
        {
            Grow(first, number - first);
        }
        const uint32_t bit = number & m_mask;
        uint64_t& word = m_words[bit / 64];
        const uint64_t one = uint64_t{1} << (bit % 64);
        if ((word & one) != 0)
        {
            return false;
        }
        word |= one;
        return true;
    }

    /// @param first number of the window, which is to be taken out @return whether it was there
    bool Remove(uint32_t first)
    {
        if (!Has(first, first))
        {
            return false;
        }
        const uint32_t bit = first & m_mask;
        m_words[bit / 64] &= ~(uint64_t{1} << (bit % 64));
        return true;
    }

    /// Takes everything out.
    void Clear()
    {
        for (uint64_t& word : m_words)
        {
            word = 0;
        }
    }

  private:
    /// @param first number of the window @param distance from it that there must be room for
    void Grow(uint32_t first, uint32_t distance)
    {
        uint32_t size = m_words.empty() ? 64 : 2 * (m_mask + 1);
        while (size <= distance)
        {
            size *= 2;
        }
        std::vector<uint64_t> words(size / 64);
        if (!m_words.empty())
        {
            for (uint32_t i = 0; i <= m_mask; ++i)
            {
                const uint32_t number = first + i;
                if (Has(first, number))
                {
                    const uint32_t bit = number & (size - 1);
                    words[bit / 64] |= uint64_t{1} << (bit % 64);
                }
            }
        }
        m_words.swap(words);
        m_mask = size - 1;
    }

    std::vector<uint64_t> m_words; //!< a power of two of bits
    uint32_t m_mask{0};            //!< bits - 1
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEQUENCE_H
