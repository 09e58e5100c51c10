/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HEAP_PAGES_H
#define PROTEUS_HEAP_PAGES_H

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Asks the system for huge pages for the heap of this process: small objects of a large simulation
 * are read and written in no order, as HugePageAllocator says of large tables. For the begin of
 * main(), since it is for what is allocated from then on, up to 4 GiB. It is a hint: without huge
 * pages, another C library than glibc, or with a sanitizer, nothing changes.
 */
void UseHugePagesForHeap();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HEAP_PAGES_H
