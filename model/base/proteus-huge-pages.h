/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HUGE_PAGES_H
#define PROTEUS_HUGE_PAGES_H

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

/**
 * @file
 * @ingroup proteus
 * Memory for large tables that are read and written in no order.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Bytes of a huge page of x86-64, and of most others.
constexpr std::size_t HUGE_PAGE_BYTES = 2 << 20;

/**
 * @ingroup proteus
 * An allocator for containers that asks the system for huge pages for large blocks, where it has
 * them. A processor keeps the addresses of only so many pages at hand: with pages of 4 KiB these
 * cover a few MiB, and each access elsewhere costs another access, to the page table. Small blocks
 * come from the heap.
 * @tparam T element
 */
template <typename T>
class HugePageAllocator
{
  public:
    /// Element, as allocators call it.
    using value_type = T;

    HugePageAllocator() = default;

    /// An allocator of other elements is as good. @tparam U its element
    template <typename U>
    HugePageAllocator(const HugePageAllocator<U>& /* other */)
    {
    }

    /// @param n elements @return room for them
    T* allocate(std::size_t n)
    {
        const std::size_t bytes = n * sizeof(T);
        if (bytes < LEAST_BYTES)
        {
            return static_cast<T*>(::operator new (bytes, std::align_val_t{alignof(T)}));
        }
        const std::size_t whole = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
        void* room = std::aligned_alloc(HUGE_PAGE_BYTES, whole);
        if (room == nullptr)
        {
            throw std::bad_alloc();
        }
#ifdef MADV_HUGEPAGE
        // Only a hint: without huge pages the room is as good, and slower.
        madvise(room, whole, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(room);
    }

    /// @param room from allocate() @param n elements
    void deallocate(T* room, std::size_t n)
    {
        if (n * sizeof(T) < LEAST_BYTES)
        {
            ::operator delete (room, std::align_val_t{alignof(T)});
            return;
        }
        std::free(room);
    }

    /// @return that all are alike
    template <typename U>
    bool operator==(const HugePageAllocator<U>& /* other */) const
    {
        return true;
    }

    /// @return that none differs
    template <typename U>
    bool operator!=(const HugePageAllocator<U>& /* other */) const
    {
        return false;
    }

  private:
    static constexpr std::size_t LEAST_BYTES = 1 << 20; //!< what is worth it
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HUGE_PAGES_H
