/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HOT_SPOTS_H
#define PROTEUS_HOT_SPOTS_H

#include "proteus-link-use.h"

#include "ns3/proteus-cluster.h"

#include <cstddef>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Where a network holds its traffic up, and which link is to blame.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A direction of a link that lost packets, that was held up, or where much waited.
struct HotSpot
{
    LinkUse link;               //!< which one
    uint64_t missingPackets{0}; //!< lost on the wire, or dropped at its end
    double heldShare{0};        //!< share of the time paused or without credits
    double drainS{0};           //!< time that the longest queue takes to leave at the link's rate
    std::string cause;    //!< name of the link or device that is to blame; its own if it is itself
    std::string sentence; //!< all of it in words
};

/**
 * @ingroup proteus
 * Finds hot spots: first the directions of links that lost packets, by their number; then those
 * that were held up most (PFC pauses, missing credits), by the share of the time; then those with
 * the longest queues in a switch, by the time that the longest queue takes to drain. Queues at
 * GPUs, CPUs and NICs are no hot spots, since what a rank has to send waits there.
 *
 * Who is to blame for a link that is held up is found by walking on from its end, each time over
 * the link that is held up or busy for most of the time. The walk ends at a link that is held up
 * less than it is busy, at a device that takes no more, or where it closes a circle. For packets
 * that were dropped at the end of a link, the link with the longest queue there is to blame; for
 * those lost on the wire, the link itself.
 *
 * @param cluster of the links
 * @param uses all directions that carried something, see BusiestLinks()
 * @param n how many at most
 * @return hot spots, worst first: a packet is missing, or the link is held up for at least 1 % of
 * the time, or a queue takes at least 10 us to drain
 */
std::vector<HotSpot> FindHotSpots(const Cluster& cluster,
                                  const std::vector<LinkUse>& uses,
                                  std::size_t n);

/**
 * @ingroup proteus
 * @param uses all directions that carried something
 * @param spots what FindHotSpots() finds among them
 * @return one sentence: which link is to blame for most of the congestion, or that there is none
 */
std::string DescribeCongestion(const std::vector<LinkUse>& uses, const std::vector<HotSpot>& spots);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HOT_SPOTS_H
