/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHANNEL_SEARCH_H
#define PROTEUS_CHANNEL_SEARCH_H

#include "proteus-path-type.h"
#include "proteus-program.h"

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How many channels, and of which speed, a group of ranks has room for. Speeds and link rates are
 * those of NVIDIA/nccl v2.30.7 (src/graph/search.cc, topo.h).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Channels that were found.
struct ChannelPattern
{
    uint32_t channels{0};              //!< 0: there is no such pattern
    double intraGBps{0};               //!< of each inside a server, 1e9 bytes per second
    double interGBps{0};               //!< of each between servers
    PathType typeIntra{PathType::NVL}; //!< worst way between neighbours
    PathType typeInter{PathType::PIX}; //!< worst way to a NIC; of several servers
    bool sameChannels{true};           //!< whether all have one order inside the servers
};

/// @ingroup proteus
/// The patterns of a group of ranks.
struct ChannelSearch
{
    ChannelPattern ring; //!< cycles
    ChannelPattern tree; //!< chains in servers, joined by trees
    ChannelPattern nvls; //!< heads at NVSwitches that combine
    /// Whether one GPU of a server talks to the parent and all children of a tree: the only GPU
    /// that there is, or on Hopper and later GPUs whose NIC no other GPU is as near to. Otherwise
    /// two share them (NVIDIA/nccl v2.26.2, src/graph/search.cc, "Try a simpler tree").
    bool hasSimpleTree{false};

    /// Channels of ring and tree that NCCL works with: twice those found, and twice again on Hopper
    /// across servers where they are few and fast (src/graph/connect.cc).
    uint32_t workingChannels{0};
    /// Channels of a message that the ways inside servers have room for: two for every NVLink rate
    /// of the slowest pair of ranks, two over PCIe (ncclTopoGetNchannels()).
    uint32_t messageChannels{2};
    double networkGBps{0};    //!< of the NICs of a rank, 1e9 bytes per second
    uint32_t networkCards{1}; //!< NICs of a rank
    uint32_t leastRanks{1};   //!< of a server
};

/**
 * @ingroup proteus
 * Searches as NCCL does: rings by SearchRings(), and what trees and NVLS have room for.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param vertices of the ranks
 * @param computeCapability of the GPUs, ten times, e.g. 80 for an A100
 * @param cpu who made the CPUs
 * @param rules of transports
 * @return the patterns; if servers differ in their ranks, the least of all servers
 */
ChannelSearch SearchChannels(const Cluster& cluster,
                             const Paths& paths,
                             const std::vector<VertexId>& vertices,
                             uint32_t computeCapability,
                             CpuVendor cpu,
                             const TransportRules& rules = TransportRules());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHANNEL_SEARCH_H
