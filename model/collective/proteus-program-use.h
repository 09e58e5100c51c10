/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_USE_H
#define PROTEUS_PROGRAM_USE_H

#include "proteus-program.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a program takes of the GPU of the rank that takes most.
struct ProgramUse
{
    uint32_t processors{0};  //!< thread blocks of its kernel, each on a multiprocessor
    uint64_t memoryBytes{0}; //!< that pass between the device memory and the chip
};

/**
 * @ingroup proteus
 * Counts thread blocks, and bytes that pass to and from the device memory, of the rank that has
 * most. A step reads from the local buffer what it sends, copies or adds, and writes what it keeps
 * there. What arrives is written into a buffer of the channel, which counts; it is read again while
 * it is in the second-level cache, which does not count.
 * @param program of a collective
 * @return what it takes
 */
ProgramUse FindProgramUse(const CollectiveProgram& program);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_USE_H
