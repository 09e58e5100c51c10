/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-memory-limit.h"

namespace ns3
{
namespace proteus
{

bool
CanLimitLinks(const Cluster& cluster, VertexId vertex)
{
    double links = 0;
    for (const Port& port : cluster.GetPorts(vertex))
    {
        links += cluster.GetLinks()[port.link].bytesPerSecond;
    }
    const double memory = cluster.GetVertices()[vertex].memoryBytesPerSecond;
    return memory > 0 && memory < 2 * links;
}

} // namespace proteus
} // namespace ns3
