/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_PARTS_H
#define PROTEUS_CLUSTER_PARTS_H

#include "ns3/proteus-cluster.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Vertices and links of clusters: how tests put them together, and count them.
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

/// @return how many vertices of this kind the cluster has
inline std::size_t
Count(const Cluster& cluster, VertexKind kind)
{
    const auto& vertices = cluster.GetVertices();
    return std::count_if(vertices.begin(), vertices.end(), [kind](const Vertex& vertex) {
        return vertex.kind == kind;
    });
}

/// @return how many links of this technology the cluster has
inline std::size_t
Count(const Cluster& cluster, LinkTechnology technology)
{
    const auto& links = cluster.GetLinks();
    return std::count_if(links.begin(), links.end(), [technology](const Link& link) {
        return link.technology == technology;
    });
}

/// @return summed rate of the links of this technology at a vertex
inline double
SummedRate(const Cluster& cluster, VertexId vertex, LinkTechnology technology)
{
    double sum = 0;
    for (const Port& port : cluster.GetPorts(vertex))
    {
        const Link& link = cluster.GetLinks()[port.link];
        sum += link.technology == technology ? link.bytesPerSecond : 0;
    }
    return sum;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_PARTS_H
