/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REACHABILITY_H
#define PROTEUS_REACHABILITY_H

#include "proteus-cluster.h"

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Checks that every GPU reaches every other one. Paths run neither through GPUs nor through a
 * server by its NICs: see Paths.
 * @param cluster to check
 * @throw std::invalid_argument that names two GPUs that do not reach each other
 */
void CheckReachability(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REACHABILITY_H
