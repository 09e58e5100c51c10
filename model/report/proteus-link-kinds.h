/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_KINDS_H
#define PROTEUS_LINK_KINDS_H

#include "proteus-link-use.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Directions of links that stand alike: of one technology, from one kind of device to another.
struct LinkKind
{
    LinkUse busiest;           //!< the one that transmitted for the longest time
    uint64_t links{0};         //!< how many there are in the cluster
    uint64_t usedLinks{0};     //!< how many carried something
    double meanUtilisation{0}; //!< of those that did
};

/**
 * @ingroup proteus
 * Puts directions of links together that stand alike, so that the links of a switch are not hidden
 * by as many busier ones inside servers. Switches of the network are alike if their names are, but
 * for numbers ("leaf0", "leaf12"); all other devices are if they are of one kind.
 * @param cluster the links are of
 * @param uses all directions that carried something, busiest first, see BusiestLinks()
 * @return what carried something, by its busiest direction, highest first
 */
std::vector<LinkKind> FindLinkKinds(const Cluster& cluster, const std::vector<LinkUse>& uses);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_KINDS_H
