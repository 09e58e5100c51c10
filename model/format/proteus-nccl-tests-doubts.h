/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_DOUBTS_H
#define PROTEUS_NCCL_TESTS_DOUBTS_H

#include "proteus-nccl-tests-run.h"
#include "proteus-nccl-tests.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param table that was read @param run how it came about
/// @return why its times may not be what they seem, or are not what is simulated; a line each
std::vector<std::string> FindDoubts(const NcclTestsTable& table, const NcclTestsRun& run);

/**
 * @ingroup proteus
 * A log need not say what it is of. Its lines do, in part: nccl-tests prints no operator where
 * nothing is summed up, and the bus bandwidth is a multiple of the other one that depends on the
 * collective and the number of ranks.
 * @param table that was read
 * @param busFactor bus bandwidth over algorithm bandwidth of the collective that is meant
 * @param hasSums whether it sums up
 * @return why the table is not of it, empty if it may be
 */
std::string FindMismatch(const NcclTestsTable& table, double busFactor, bool hasSums);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_DOUBTS_H
