/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PARTITION_H
#define PROTEUS_PARTITION_H

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How a tensor is cut into the parts that are sent one by one.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Cuts a buffer into parts of one size; what is left over is the last part. A part may be cut
 * anywhere, as bytes of a buffer may be.
 * @param bytes size of the buffer, at least 1
 * @param partBytes size of a part, at least 1
 * @return sizes of the parts in order, which add up to the buffer
 * @throw std::invalid_argument if a size is 0
 */
std::vector<uint64_t> PartitionBytes(uint64_t bytes, uint64_t partBytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARTITION_H
