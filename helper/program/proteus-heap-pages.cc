/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-heap-pages.h"

#include "ns3/proteus-huge-pages.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ns3
{
namespace proteus
{

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)

namespace
{

/// Addresses that are asked for; they take memory only where something is put.
constexpr std::size_t HEAP_BYTES = std::size_t{4} << 30;
/// Larger blocks have pages of their own. The default, as glibc adapts it to large programs.
constexpr int LARGE_BYTES = 32 << 20;

} // namespace

void
UseHugePagesForHeap()
{
    // A block as large as the heap is to be, which is given back at once: the addresses stay.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); // never give addresses back
    void* room = std::malloc(HEAP_BYTES);
    const auto begin = reinterpret_cast<uintptr_t>(room);
    const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
    if (room != nullptr && begin < end)
    {
        const uintptr_t first = (begin + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
        madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
    }
    std::free(room);
    mallopt(M_MMAP_MAX, 1 << 16);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

#else

void
UseHugePagesForHeap()
{
}

#endif

} // namespace proteus
} // namespace ns3
