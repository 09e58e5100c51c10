/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_STRUCTURE_H
#define PROTEUS_PROGRAM_STRUCTURE_H

#include "proteus-program.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param rank of a program
 * @param number of a block of the rank
 * @param block with that number
 * @param step of the block
 * @return e.g. "rank 1, channel 0, step 3", for messages
 */
std::string NameStep(uint32_t rank, uint32_t number, const ThreadBlock& block, std::size_t step);

/**
 * @ingroup proteus
 * Checks what a program must be like before it can be executed. Steps stay within the buffer and
 * have the peers that they need. Connections have two ends. Steps of network groups are between
 * members, and the blocks of a rank divide the work with a group as ThreadBlock says.
 * @param program to check
 * @return an empty text, or the first thing that is wrong
 */
std::string CheckStructure(const CollectiveProgram& program);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_STRUCTURE_H
