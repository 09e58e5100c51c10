/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_USE_H
#define PROTEUS_LINK_USE_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-link-statistics.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How the links were used.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How one direction of a link was used.
struct LinkUse
{
    LinkId link{0};                                    //!< which link
    bool forward{true};                                //!< from Link::a to Link::b
    std::string name;                                  //!< e.g. "n0.nic3 -> switch0"
    LinkTechnology technology{LinkTechnology::NVLINK}; //!< of the link
    double utilisation{0};           //!< share of the time spent transmitting, headers included
    double payloadBytesPerSecond{0}; //!< mean over the time
    double rateBytesPerSecond{0};    //!< raw rate of the direction
    double creditStallShare{0};      //!< share of the time held up by the receiver's full buffer
    uint64_t maxQueueBytes{0};       //!< most wire bytes that waited at once
    double pausedShare{0};           //!< share of the time with a traffic class paused
    uint64_t pauses{0};              //!< PFC pauses received
    uint64_t packets{0};             //!< units sent; 0 of an executor that has no packets
    uint64_t payloadBytes{0};        //!< payload sent
    uint64_t wireBytes{0};           //!< sent, headers included
    uint64_t markedPackets{0};       //!< units marked by ECN
    uint64_t lostPackets{0};         //!< units lost on the wire
    uint64_t droppedPackets{0};      //!< units dropped at its end
};

/**
 * @ingroup proteus
 * The directions of links that transmitted for the longest time. Those that carried nothing are
 * left out.
 * @param cluster the links are of
 * @param links what each direction carried
 * @param durationPs the time that shares and rates refer to, picoseconds
 * @param n how many at most
 * @return by utilisation, highest first; ties by name, then by link
 * @throw std::invalid_argument if a link is not one of the cluster, or something was carried in no
 * time
 */
std::vector<LinkUse> BusiestLinks(const Cluster& cluster,
                                  const std::vector<LinkStatistics>& links,
                                  int64_t durationPs,
                                  std::size_t n);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_USE_H
