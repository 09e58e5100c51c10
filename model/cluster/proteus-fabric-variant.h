/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_VARIANT_H
#define PROTEUS_FABRIC_VARIANT_H

#include "proteus-bundles.h"
#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The same servers joined in other ways, and what the network between them takes.
 */

namespace ns3
{
namespace proteus
{

struct ServerPreset;

/// @ingroup proteus
/// How servers are joined, with what, and how switches choose among equal ports.
struct FabricVariant
{
    std::string name;       //!< for tables, e.g. "leaf-spine 2:1"
    FabricOptions fabric;   //!< the wiring
    std::string technology; //!< "infiniband", "roce"; empty: that of the servers' NICs
    uint32_t rails{0};      //!< NICs of each server that are plugged in, the first ones; 0: all
    std::string routing{"Ecmp"};        //!< attribute Routing of ns3::proteus::Fabric
    Bundling bundling{Bundling::WHOLE}; //!< of cables between switches
    double nicBytesPerSecond{0}; //!< rate of all links of the network; 0: that of the preset's NICs
};

/**
 * @ingroup proteus
 * Reads a variant, which is a text of parts joined by "+". The first part is a kind of fabric, with
 * ":RATIO" for its oversubscription, or "single-rail", which is rail-optimised with one NIC per
 * server. The others are infiniband, roce, ecmp, spray, adaptive, up-down, cables or rails=N.
 * Examples: "leaf-spine:4+roce+adaptive", "dragonfly+:2+adaptive".
 * @param text to read
 * @param base options of all fabrics, of which kind and oversubscription are replaced
 * @return the variant
 * @throw std::invalid_argument that says which part is wrong and what it may be
 */
FabricVariant ParseFabricVariant(const std::string& text, const FabricOptions& base);

/// @ingroup proteus
/// @return the variants that a network architect weighs against each other: rail-optimised,
/// fat tree, leaf-spine without and with oversubscription, a single rail; RoCE against InfiniBand,
/// adaptive routing against ECMP
std::vector<std::string> GetUsualFabricVariants();

/**
 * @ingroup proteus
 * Fits the sizes of leaves and rail groups to a number of servers, so that switches have no uplinks
 * for servers that are not there. There are at least two leaves, with the servers that the base
 * gives them or, where these are too many, half of all servers each. Groups have no more servers
 * than there are.
 * @param base options of all fabrics
 * @param servers how many
 * @return the base, with serversPerLeaf and serversPerGroup changed where needed
 */
FabricOptions FitFabricOptions(const FabricOptions& base, uint32_t servers);

/**
 * @ingroup proteus
 * Fits the number of spines of a leaf-spine or rail-optimised fabric. There are no more spines than
 * a leaf has cables, of the rate of a NIC, towards them; otherwise a flow would be held up by an
 * uplink that is slower than its NIC.
 * @param variant to fit
 * @param preset name of a server preset
 * @return the variant, with fewer spines where needed
 * @throw std::invalid_argument as MakeCluster()
 */
FabricVariant FitSpines(const FabricVariant& variant, const std::string& preset);

/// @ingroup proteus
/// @param variant to fit @param nics of a server @return as the other FitSpines()
FabricVariant FitSpines(const FabricVariant& variant, uint32_t nics);

/**
 * @ingroup proteus
 * Builds servers of a preset and joins them by a variant. NICs that are not plugged in are left
 * out, so that GPUs share those that are.
 * @param preset name of a server preset
 * @param servers how many, two or more
 * @param variant how they are joined
 * @return the cluster, validated
 * @throw std::invalid_argument as MakeCluster(), or for more rails than a server has NICs
 */
Cluster MakeVariantCluster(const std::string& preset,
                           uint32_t servers,
                           const FabricVariant& variant);

/// @ingroup proteus
/// @param preset of the servers @param servers how many @param variant how they are joined
/// @return as the other MakeVariantCluster()
/// @throw std::invalid_argument as that
Cluster MakeVariantCluster(const ServerPreset& preset,
                           uint32_t servers,
                           const FabricVariant& variant);

/// @ingroup proteus
/// What a network is made of: stands for its price.
struct NetworkBill
{
    uint64_t switches{0};      //!< network switches
    uint64_t ports{0};         //!< of switches, in use
    uint64_t cables{0};        //!< between NICs and switches, and between switches
    uint64_t largestSwitch{0}; //!< most ports in use of one switch: the radix that it must have
};

/**
 * @ingroup proteus
 * Counts switches, and ports and cables of the rate of a NIC: a faster link is a bundle of as many
 * as its rate takes, rounded up.
 * @param cluster any
 * @return the counts
 */
NetworkBill CountNetwork(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_VARIANT_H
