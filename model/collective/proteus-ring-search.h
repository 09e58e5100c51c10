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
 * Searches for rings, from the fastest speed of a list down to half of the best that is found, the
 * kinds of ways that are allowed getting worse in between; as many rings as the links have room
 * for, and of all speeds those with most in sum, then with fewest hops. Next is tried the GPU that
 * the fastest and shortest way leads to; behind NVSwitches, a neighbour only. A search of one speed
 * ends after some steps, as NCCL's does. Channels of rings of several servers enter by the NICs in
 * turn, and leave by a NIC of the last GPU, where NCCL passes to the NIC that they came by if it
 * can, by PCIe or another GPU (PXN): a channel takes as much of every NIC in both cases.
 * @param links of the server
 * @param isAlone whether there are no other servers
 * @param computeCapability of the GPUs, ten times
 * @return the rings; one, of 0.1 GB/s, where there is no way
 */
ServerRings SearchRings(const ServerLinks& links, bool isAlone, uint32_t computeCapability);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RING_SEARCH_H
