/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SWITCHED_OFF_H
#define PROTEUS_SWITCHED_OFF_H

#include "proteus-typed-network.h"

#include "ns3/data-rate.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-link-statistics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Of what carries packets, finds what other settings switch off. It reads the defaults of
 * attributes.
 * @param typed what was typed
 * @return a line for every attribute that was typed and does nothing, in runs by packets
 */
std::vector<std::string> FindSwitchedOff(const TypedNetwork& typed);

/// @ingroup proteus
/// @param link of a port @param minBytes EcnMinBytes @param reference EcnReferenceRate
/// @return bytes of the port's queue from which on packets are marked
double GetMarkThreshold(const Link& link, uint64_t minBytes, const DataRate& reference);

/**
 * @ingroup proteus
 * Of what repeats lost packets, finds what has had nothing to do.
 * @param typed what was typed
 * @param links what each of them carried in a run by packets
 * @param network what its endpoints counted
 * @return where nothing was lost, dropped or sent again, a line for every attribute that was typed
 * and is about that; of times and rooms those that are not above their built-in defaults, as a
 * longer one may be what has kept packets from being sent again
 */
std::vector<std::string> FindNothingLost(const TypedNetwork& typed,
                                         const std::vector<LinkStatistics>& links,
                                         const NetworkStatistics& network);

/**
 * @ingroup proteus
 * Of marks and pauses, finds what has had nothing to do.
 * @param typed what was typed
 * @param cluster that it ran on
 * @param links what each of them carried in a run by packets
 * @param crossesRoce whether anything crosses RoCE; else settings of it are named by that
 * @return where no packet was marked, a line for every attribute that was typed and of which only
 * marks come, or that says what senders do at marks; and where nothing was paused, for how a pause
 * ends. What makes pauses or drops fewer may be why there were none, and has no line; what makes
 * them more has one; so has what makes marks fewer, where queues stayed too short for any
 */
std::vector<std::string> FindNothingMarked(const TypedNetwork& typed,
                                           const Cluster& cluster,
                                           const std::vector<LinkStatistics>& links,
                                           bool crossesRoce);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SWITCHED_OFF_H
