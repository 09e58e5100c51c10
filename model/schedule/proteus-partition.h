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

/**
 * @ingroup proteus
 * Cuts a tensor between its rows, as ByteScheduler's code does for tensors of frameworks, of which
 * a slice of rows needs no copy: as many parts as the size asks for, but no more than rows; rows
 * are spread evenly, and the last parts get one more where they do not divide. (Peng et al.,
 * SOSP'19; bytescheduler/common/bytetask.py.)
 * @param rows length of the first dimension, at least 1
 * @param elements of the whole tensor, at least 1
 * @param partElements elements that a part should not exceed, at least 1
 * @return rows of the parts in order, which add up to all rows
 * @throw std::invalid_argument if a number is 0
 */
std::vector<uint64_t> PartitionRows(uint64_t rows, uint64_t elements, uint64_t partElements);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARTITION_H
