/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SIGNATURE_H
#define PROTEUS_SIGNATURE_H

#include "proteus-model.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which states of what an operator reads, on one mesh axis, it can compute with, and what comes
 * out.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A legal combination on one mesh axis. States are "R" (replicated), "P" (partial sum) and "S0",
 * "S1", ... (split along that dimension of the tensor).
 */
struct Signature
{
    std::vector<std::string> reads;  //!< by read of the operator
    std::vector<std::string> writes; //!< by write of the operator

    /// @param other a signature @return whether both are the same
    bool operator==(const Signature& other) const
    {
        return reads == other.reads && writes == other.writes;
    }
};

/**
 * @ingroup proteus
 * All signatures of an operator but the one that replicates everything. There is one for each
 * dimension of the iteration space that devices can share. There is one more for each read in which
 * the result is linear, because partial sums pass through it; an addition has one for all its reads
 * together.
 * @param op an operator
 * @return its signatures
 */
std::vector<Signature> GetSignatures(const ModelOperator& op);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SIGNATURE_H
