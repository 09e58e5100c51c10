/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RATE_DOUBTS_H
#define PROTEUS_RATE_DOUBTS_H

#include "ns3/proteus-cluster.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Rates of a cluster that look as if they were in another unit.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Compares rates and delays of a cluster from a file with data sheets of its GPUs and with what is
 * built of PCI Express and networks: bits for bytes, mega for giga and microseconds for nanoseconds
 * are beyond that.
 * @param cluster a cluster
 * @return what was found, a line of each kind; such a cluster can be run all the same
 */
std::vector<std::string> FindRateDoubts(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RATE_DOUBTS_H
