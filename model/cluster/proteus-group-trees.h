/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GROUP_TREES_H
#define PROTEUS_GROUP_TREES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which switches combine and copy for a group (NVLS, SHARP), and over which links: the same for
 * packets and for flows.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param vertex a vertex @return whether it copies units and combines them
bool CombinesAndCopies(const Vertex& vertex);

/**
 * @ingroup proteus
 * @param cluster of the members
 * @param members GPUs of a group, in their order
 * @param ordinal of the group among those of a program with these members
 * @return name of the group's flow, on which the choice among equal roots and links depends. Inside
 * a server it depends on how far apart the members are, so that equal servers choose alike.
 */
uint64_t GetGroupFlow(const Cluster& cluster,
                      const std::vector<VertexId>& members,
                      uint32_t ordinal);

/**
 * @ingroup proteus
 * The roots of a group's trees: of the switches that combine and copy, those whose farthest member
 * is nearest. If they are more than are wanted, a hash of the flow and of each chooses.
 * @param cluster of the group
 * @param paths of it
 * @param accesses where the members' links to the switches begin: GPUs, or their NICs
 * @param areNics whether they are NICs, so that switches of the network are meant, not NVSwitches
 * @param flow name of the group's flow
 * @param planes trees, at most; 0: with NVLink as many as there are roots, through NICs one
 * @return roots, ascending
 * @throw std::invalid_argument if no switch reaches all of them
 */
std::vector<VertexId> FindGroupRoots(const Cluster& cluster,
                                     const Paths& paths,
                                     const std::vector<VertexId>& accesses,
                                     bool areNics,
                                     uint64_t flow,
                                     uint32_t planes);

/**
 * @ingroup proteus
 * @param cluster of the group
 * @param paths of it
 * @param flow name of the group's flow
 * @param first member of the group: inside servers the choice is relative to it, so that equal
 * servers choose alike
 * @param root of the tree
 * @param from a vertex on the way of a member to the root
 * @param to where the way goes next: a NIC, or the root
 * @return the port of `from` that the tree takes
 */
const Port& PickGroupPort(const Cluster& cluster,
                          const Paths& paths,
                          uint64_t flow,
                          VertexId first,
                          VertexId root,
                          VertexId from,
                          VertexId to);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GROUP_TREES_H
