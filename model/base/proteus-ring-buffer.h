/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RING_BUFFER_H
#define PROTEUS_RING_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A queue of plain records in one block of memory, which grows. The elements are numbered from 0 in
 * the order of Push(), see PopAndRewind(). An element can be reached by its number until Pop()
 * removes it. The block begins with a cache line, so that small records do not straddle two.
 *
 * @tparam T a cheap type to copy, without a destructor
 */
template <typename T>
class RingBuffer
{
  public:
    RingBuffer() = default;
    RingBuffer(RingBuffer&&) noexcept = default;
    RingBuffer& operator=(RingBuffer&&) noexcept = default;

    /// @param other to copy
    RingBuffer(const RingBuffer& other)
        : m_items(other.m_items ? MakeItems(other.m_mask + 1) : nullptr),
          m_mask(other.m_mask),
          m_head(other.m_head),
          m_tail(other.m_tail)
    {
        for (uint32_t i = m_head; i != m_tail; ++i)
        {
            m_items[i & m_mask] = other.m_items[i & m_mask];
        }
    }

    /// @param other to copy @return this
    RingBuffer& operator=(const RingBuffer& other)
    {
        return *this = RingBuffer(other);
    }

    /// @return whether nothing is in it
    bool IsEmpty() const
    {
        return m_head == m_tail;
    }

    /// @return how many elements are in it
    uint32_t GetSize() const
    {
        return m_tail - m_head;
    }

    /// @return number of the oldest element
    uint32_t GetHead() const
    {
        return m_head;
    }

    /// @return number that the next element gets
    uint32_t GetTail() const
    {
        return m_tail;
    }

    /// @return the oldest element
    T& Front()
    {
        return m_items[m_head & m_mask];
    }

    /// @return the oldest element
    const T& Front() const
    {
        return m_items[m_head & m_mask];
    }

    /// @return where the oldest element is, or would be; null before the first one
    const T* GetPlace() const
    {
        return m_items.get() + (m_head & m_mask);
    }

    /// @param number of an element that is in it @return the element
    T& At(uint32_t number)
    {
        return m_items[number & m_mask];
    }

    /// @param number of an element that is in it @return the element
    const T& At(uint32_t number) const
    {
        return m_items[number & m_mask];
    }

    /// @param item to append
    void Push(const T& item)
    {
        if (static_cast<int32_t>(GetSize()) > m_mask)
        {
            Grow();
        }
        m_items[m_tail++ & m_mask] = item;
    }

    /// Removes all elements; their places stay.
    void Clear()
    {
        m_head = m_tail;
    }

    /// Removes the oldest element.
    void Pop()
    {
        ++m_head;
    }

    /// Does the same, and numbers from 0 again if that was the last element. So a queue that is
    /// often empty stays in its first places, which the processor has at hand.
    void PopAndRewind()
    {
        if (++m_head == m_tail)
        {
            m_head = 0;
            m_tail = 0;
        }
    }

  private:
    static_assert(std::is_trivially_destructible_v<T>, "freed without being destroyed");

    /// Bytes to begin at a multiple of: a cache line.
    static constexpr std::align_val_t ALIGNMENT{64};

    /// Frees what MakeItems() has made.
    struct Free
    {
        /// @param items to free
        void operator()(T* items) const
        {
            ::operator delete[](items, ALIGNMENT);
        }
    };

    /// Room for elements.
    using Items = std::unique_ptr<T[], Free>;

    /// @param places how many @return room for them
    static Items MakeItems(std::size_t places)
    {
        return Items(new (ALIGNMENT) T[places]());
    }

    /// Doubles the room. It is rare: kept out of the code around Push().
    [[gnu::noinline, gnu::cold]] void Grow()
    {
        const int32_t places = m_items ? 2 * (m_mask + 1) : 4;
        Items items = MakeItems(places);
        for (uint32_t i = m_head; i != m_tail; ++i)
        {
            items[i & (places - 1)] = m_items[i & m_mask];
        }
        m_items = std::move(items);
        m_mask = places - 1;
    }

    Items m_items;      //!< a power of two of places; none at first
    int32_t m_mask{-1}; //!< places - 1
    uint32_t m_head{0}; //!< number of the oldest element
    uint32_t m_tail{0}; //!< number of the next element
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RING_BUFFER_H
