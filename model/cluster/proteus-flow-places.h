/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_PLACES_H
#define PROTEUS_FLOW_PLACES_H

#include "proteus-cluster.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The numbers by which the hashes of path choice (MixHash()) know the vertices of a cluster. A
 * vertex of a server has its place in the server, so that servers that are built alike choose alike
 * inside. Any other vertex has its VertexId.
 * @param cluster to look at
 * @return by vertex
 */
std::vector<uint32_t> GetFlowPlaces(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_PLACES_H
