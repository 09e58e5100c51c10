/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_FACTS_H
#define PROTEUS_PROGRAM_FACTS_H

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-program.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What who executes a program asks of it again and again.
struct ProgramFacts
{
    BlockShares shares;    //!< of thread blocks of the GPU
    uint64_t sentBytes{0}; //!< that all ranks hand to the transport, flags of the protocol included
    /// By rank and block: other blocks of the rank that wait for it at some step.
    std::vector<std::vector<std::vector<uint32_t>>> waiters;
};

/**
 * @ingroup proteus
 * @param program to look at
 * @return what is known of it
 */
ProgramFacts MakeProgramFacts(const CollectiveProgram& program);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_FACTS_H
