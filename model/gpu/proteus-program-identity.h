/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_IDENTITY_H
#define PROTEUS_PROGRAM_IDENTITY_H

#include "ns3/proteus-program.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Finds programs that are equal step by step, though made for groups that stand differently.
 */
class ProgramIdentity
{
  public:
    /// @param program to look at; must outlive this @return the first program that is equal to it
    const CollectiveProgram* Find(const CollectiveProgram& program);

  private:
    std::unordered_map<const CollectiveProgram*, const CollectiveProgram*>
        m_known;                                                         //!< to the first
    std::unordered_multimap<uint64_t, const CollectiveProgram*> m_first; //!< by hash
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_IDENTITY_H
