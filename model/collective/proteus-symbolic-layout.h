/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SYMBOLIC_LAYOUT_H
#define PROTEUS_SYMBOLIC_LAYOUT_H

#include "proteus-algorithms.h"
#include "proteus-symbolic-buffer.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a collective begins with and has to end with, symbolically.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Where a piece of data lies, and what it is.
struct PlacedBytes
{
    uint64_t offset{0};  //!< first byte in the buffer
    uint64_t bytes{0};   //!< how many
    uint64_t logical{0}; //!< position in the data of the collective
    uint32_t set{0};     //!< of RankSets
};

/**
 * @ingroup proteus
 * @param program of the collective
 * @param request that it was made for
 * @param layout of the request
 * @param rank a rank
 * @param sets of the ranks
 * @return what the buffer of the rank holds at first
 */
std::vector<PlacedBytes> GetInput(const CollectiveProgram& program,
                                  const CollectiveRequest& request,
                                  const MessageLayout& layout,
                                  uint32_t rank,
                                  RankSets& sets);

/**
 * @ingroup proteus
 * @param program of the collective
 * @param request that it was made for
 * @param layout of the request
 * @param rank a rank
 * @param sets of the ranks
 * @return what the buffer of the rank must hold in the end
 */
std::vector<PlacedBytes> GetOutput(const CollectiveProgram& program,
                                   const CollectiveRequest& request,
                                   const MessageLayout& layout,
                                   uint32_t rank,
                                   RankSets& sets);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SYMBOLIC_LAYOUT_H
