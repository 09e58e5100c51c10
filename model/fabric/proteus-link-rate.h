/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_RATE_H
#define PROTEUS_LINK_RATE_H

#include "ns3/proteus-cluster.h"

/**
 * @file
 * @ingroup proteus
 * How slow a link may be.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param cluster with a link
 * @param id of the link
 * @param framing of it
 * @param bytesPerSecond its rate, above 0
 * @throw std::invalid_argument if a unit takes longer than 100 ms: ports count in 2^-24 ps, of
 * which 64 bits hold 1.1 s, and a unit may have to wait for what the opposite direction owes
 */
void RequireLinkRate(const Cluster& cluster,
                     LinkId id,
                     const LinkFraming& framing,
                     double bytesPerSecond);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_RATE_H
