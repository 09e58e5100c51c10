/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_WORK_H
#define PROTEUS_RANK_WORK_H

#include "ns3/proteus-fabric.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param fabric that several processes (MPI ranks) have simulated, gathered
/// @return how it was divided, as text for results: the partition, windows, and the share of
/// the rank that had most to do
std::string DescribeRankWork(Ptr<Fabric> fabric);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_WORK_H
