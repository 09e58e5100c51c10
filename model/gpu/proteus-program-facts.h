/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_FACTS_H
#define PROTEUS_PROGRAM_FACTS_H

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-program-machine.h"
#include "ns3/proteus-program.h"

#include <cstdint>
#include <map>
#include <memory>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What who executes a program asks of it again and again.
struct ProgramFacts
{
    /// @param program to look at; must outlive this object
    explicit ProgramFacts(const CollectiveProgram& program);

    BlockShares shares;    //!< of thread blocks of the GPU
    uint64_t sentBytes{0}; //!< that all ranks hand to the transport, flags of the protocol included
    uint64_t mostSentBytes{0}; //!< the same of the rank that sends most
    BlockWaiters waiters;      //!< which blocks wait for which
};

/// @ingroup proteus
/// The facts of programs that are used again and again.
class ProgramFactsTable
{
  public:
    /// @param program to look at; must outlive this object @return what is known of it, kept
    const ProgramFacts& Get(const CollectiveProgram& program);

  private:
    std::map<const CollectiveProgram*, std::unique_ptr<const ProgramFacts>> m_facts; //!< by program
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_FACTS_H
