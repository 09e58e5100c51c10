/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SPLITS_H
#define PROTEUS_SPLITS_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Unequal splits of an all-to-all: a text file with a line for every rank that sends and, in each
 * line, a number for every rank that receives, separated by white space, commas or semicolons. The
 * numbers are shares; the line with the largest sum stands for the size of the all-to-all. For
 * instance three ranks, of which the last gets most:
 * @code
 * 1, 1, 6
 * 1, 1, 6
 * 2, 2, 2
 * @endcode
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A file of splits.
struct SplitTable
{
    std::string fileName;         //!< where it comes from
    uint32_t ranks{0};            //!< lines, and numbers of each
    std::vector<uint64_t> shares; //!< from rank i to rank j, at i * ranks + j
};

/**
 * @ingroup proteus
 * @param fileName of the file, which may be compressed
 * @return what it holds
 * @throw std::invalid_argument if it is no square table of numbers below 2^40, or all are zero
 */
SplitTable LoadSplits(const std::string& fileName);

/**
 * @ingroup proteus
 * @param table of shares
 * @param bytes what the rank that sends most sends at most, its own part included
 * @param unit whole elements, bytes of each; shares are rounded down to it
 * @return bytes from rank i to rank j, at i * ranks + j: CollectiveRequest::splits
 */
std::vector<uint64_t> ScaleSplits(const SplitTable& table, uint64_t bytes, uint64_t unit);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SPLITS_H
