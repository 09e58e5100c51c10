/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STAGING_RATE_H
#define PROTEUS_STAGING_RATE_H

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What the memory of a CPU moves of what devices copy through it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the memory of a CPU moves (its Vertex::memoryBytesPerSecond, all reads and writes together)
/// for each byte that devices copy through it: it is written, and read.
constexpr double ACCESSES_OF_STAGING = 2;

/**
 * @ingroup proteus
 * What devices have of the memory of a CPU, or of one of its NUMA nodes, that they copy through:
 * all reads and writes together, as many of the one as of the other. Channels of DDR move 8 bytes
 * in a transfer, in one direction at a time, and lose time when they turn.
 * @param channels of the memory
 * @param transfersPerSecond of each of them, e.g. 4.8e9 of DDR5-4800
 * @return for Vertex::memoryBytesPerSecond
 */
double GetStagingRate(uint32_t channels, double transfersPerSecond);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STAGING_RATE_H
