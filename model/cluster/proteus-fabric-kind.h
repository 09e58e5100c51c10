/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_KIND_H
#define PROTEUS_FABRIC_KIND_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a kind of fabric is made of. A new kind is one file with a function that returns a
 * FabricKind, its declaration here, and one line in the table of proteus-fabric-kinds.cc.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a fabric joins.
struct FabricPlugs
{
    std::vector<std::vector<VertexId>> servers; //!< of each server, what plugs in; all as many
    Link access;                                //!< a link to one of those; the ends are not set
    Link trunk; //!< a link between switches, with the rate of an access link; the ends are not set

    /// @return how many plug in, all together
    uint64_t Count() const
    {
        return servers.size() * static_cast<uint64_t>(servers.front().size());
    }

    /// @return rate of all plugs of one server, bytes per second and direction
    double ServerBytesPerSecond() const
    {
        return static_cast<double>(servers.front().size()) * access.bytesPerSecond;
    }
};

/// @ingroup proteus
/// A way to join servers.
struct FabricKind
{
    std::string name;                       //!< e.g. "leaf-spine"
    std::vector<FabricOptionField> options; //!< that it has

    /**
     * Adds the switches and links of the network.
     * @param cluster to add to
     * @param plugs what to join
     * @param options as the user gave them; each is at least its field's smallest value
     * @throw std::invalid_argument for an option that makes no sense
     */
    void (*join)(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options);

    uint64_t mostPlugs{UINT64_MAX}; //!< most that it can join, whatever the options are
};

/// @ingroup proteus
/// @return fabric "single-switch"
FabricKind MakeSingleSwitch();
/// @ingroup proteus
/// @return fabric "leaf-spine"
FabricKind MakeLeafSpine();
/// @ingroup proteus
/// @return fabric "rail-optimised"
FabricKind MakeRailOptimised();
/// @ingroup proteus
/// @return fabric "fat-tree"
FabricKind MakeFatTree();
/// @ingroup proteus
/// @return fabric "dragonfly+"
FabricKind MakeDragonflyPlus();
/// @ingroup proteus
/// @return fabric "torus-2d"
FabricKind MakeTorus2d();
/// @ingroup proteus
/// @return fabric "torus-3d"
FabricKind MakeTorus3d();
/// @ingroup proteus
/// @return fabric "nvlink-domain"
FabricKind MakeNvlinkDomain();

/**
 * @ingroup proteus
 * Joins what plugs in by the fabric that the options name.
 * @param cluster to add to
 * @param plugs what to join
 * @param options of the fabric
 * @throw std::invalid_argument for an unknown fabric or an option that makes no sense
 */
void JoinByFabric(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options);

/**
 * @ingroup proteus
 * Adds a network switch. InfiniBand switches copy and combine units from HDR on: NVIDIA Quantum
 * QM8700 and later have SHARP with streaming aggregation (Graham et al., "Scalable Hierarchical
 * Aggregation and Reduction Protocol (SHARP) Streaming-Aggregation Hardware Design and Evaluation",
 * ISC 2020).
 * @param cluster to add to
 * @param name of the switch
 * @param plugs what its fabric joins
 * @return its vertex
 */
VertexId AddNetworkSwitch(Cluster& cluster, const std::string& name, const FabricPlugs& plugs);

/**
 * @ingroup proteus
 * Adds a link that is like another one.
 * @param cluster to add to
 * @param a one end
 * @param b the other end
 * @param like what it shall be like
 */
void AddLinkLike(Cluster& cluster, VertexId a, VertexId b, const Link& like);

/**
 * @ingroup proteus
 * Adds a link that is like another one, with a rate of its own.
 * @param cluster to add to
 * @param a one end
 * @param b the other end
 * @param like what it shall be like
 * @param bytesPerSecond its rate; taken to a whole byte per second, as files have it, and at least
 * 1
 */
void AddLinkLike(Cluster& cluster, VertexId a, VertexId b, const Link& like, double bytesPerSecond);

/**
 * @ingroup proteus
 * Joins every plug of a server to the server's leaf.
 * @param cluster to add to
 * @param plugs of the servers
 * @param leaves switches, of which each has serversPerLeaf servers in turn
 * @param serversPerLeaf servers on a leaf
 */
void JoinServers(Cluster& cluster,
                 const FabricPlugs& plugs,
                 const std::vector<VertexId>& leaves,
                 uint32_t serversPerLeaf);

/**
 * @ingroup proteus
 * Adds spine switches, each with a link to every switch below.
 * @param cluster to add to
 * @param plugs whose trunk the links are like
 * @param below the switches that they join
 * @param spines how many
 * @param uplink rate of a link, bytes per second
 */
void AddSpines(Cluster& cluster,
               const FabricPlugs& plugs,
               const std::vector<VertexId>& below,
               uint32_t spines,
               double uplink);

/**
 * @ingroup proteus
 * Refuses more than a fabric can join, before all of it is built.
 * @param kind of the fabric
 * @param plugs that there will be
 * @throw std::invalid_argument
 */
void CheckPlugs(const std::string& kind, uint64_t plugs);

/**
 * @ingroup proteus
 * Refuses what would not fit into memory.
 * @param kind of the fabric
 * @param switches it is about to add
 * @param links it is about to add
 * @throw std::invalid_argument
 */
void CheckFabricSize(const std::string& kind, uint64_t switches, uint64_t links);

/// @ingroup proteus
/// @return the option "oversubscription" of a fabric
FabricOptionField OversubscriptionField();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_KIND_H
