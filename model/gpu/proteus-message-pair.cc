/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-pair.h"

#include "ns3/proteus-first-way.h"
#include "ns3/proteus-network-links.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

QueuePairOptions
MakeMessagePair(Ptr<Fabric> fabric, VertexId source, VertexId destination, uint64_t flow)
{
    const Cluster& cluster = fabric->GetCluster();
    QueuePairOptions options;
    options.source = source;
    options.destination = destination;
    options.flow = flow;
    if (cluster.GetDomain(source) == cluster.GetDomain(destination))
    {
        return options;
    }
    const auto links = WalkFirst(fabric->GetWholePaths(), source, destination);
    const bool network = std::any_of(links.begin(), links.end(), [&](LinkId link) {
        return IsOfNetwork(cluster.GetLinks()[link]);
    });
    const VertexId from = cluster.GetNic(source);
    const VertexId to = cluster.GetNic(destination);
    if (network && from != Cluster::NO_VERTEX && to != Cluster::NO_VERTEX)
    {
        options.waypoints = {from, to};
    }
    return options;
}

} // namespace proteus
} // namespace ns3
