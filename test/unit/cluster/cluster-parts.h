/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_PARTS_H
#define PROTEUS_CLUSTER_PARTS_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Vertices and links of clusters that tests put together.
 */

namespace ns3
{
namespace proteus
{

/// @return a vertex
inline Vertex
MakeVertex(const std::string& name, VertexKind kind, int32_t server = 0)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = kind;
    vertex.server = server;
    return vertex;
}

/// @return a link that AddLink() takes
inline Link
MakeLink(VertexId a, VertexId b, uint32_t cost = 1)
{
    Link link;
    link.a = a;
    link.b = b;
    link.bytesPerSecond = 1e9;
    link.cost = cost;
    return link;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_PARTS_H
