/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RING_SEARCH_H
#define PROTEUS_RING_SEARCH_H

#include "proteus-server-links.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The rings of one server, searched as NCCL does (NVIDIA/nccl v2.30.7, src/graph/search.cc).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param isAlone whether there are no other servers @param computeCapability ten times
/// @return speeds of channels that are tried, 1e9 bytes per second, falling
const std::vector<double>& GetChannelSpeeds(bool isAlone, uint32_t computeCapability);

/// @ingroup proteus
/// Rings of a server, or what is inside it of rings of several.
struct ServerRings
{
    /// By channel: positions of the GPUs, from the one that a channel enters at to the one that it
    /// leaves from.
    std::vector<std::vector<uint32_t>> orders;
    double gigabytesPerSecond{0};      //!< of each, 1e9 bytes
    PathType typeIntra{PathType::NVL}; //!< the worst way between GPUs that was allowed
    PathType typeInter{PathType::PIX}; //!< the worst way to the network that was allowed
    uint32_t hops{0};                  //!< links that all channels cross
};

/**
 * @ingroup proteus
 * Searches for rings as NCCL does.
 *
 * - Speeds are tried from the fastest of a list down to half of the best that is found; at each
 *   speed the kinds of ways that are allowed get worse. As many rings are made as the links have
 *   room for. Of all results the one with the greatest sum of speeds counts, then the one with
 *   fewest hops.
 * - The next GPU that is tried is the one that the fastest and shortest way leads to; behind
 *   NVSwitches it is a neighbour. The search at one speed ends after a number of steps, as NCCL's
 *   does.
 * - Rings of several servers enter a server by its NICs in turn, and leave it by a NIC of their
 *   last GPU. NCCL passes back to the NIC by which the ring came, if it can (by PCIe or another
 *   GPU, PXN); every NIC carries the same in both cases. With CrossNic::NEVER they are searched for
 *   that way: where it leads from CPU to CPU, as on GH200, they are slow and many.
 * @param links of the server
 * @param isAlone whether there are no other servers
 * @param computeCapability of the GPUs, ten times
 * @return the rings; one, of 0.1 GB/s, where there is no way
 */
ServerRings SearchRings(const ServerLinks& links, bool isAlone, uint32_t computeCapability);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RING_SEARCH_H
