/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-pair.h"

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
    const auto links =
        fabric->GetWholePaths().Walk(source, destination, [](VertexId, std::size_t) { return 0; });
    const bool network = std::any_of(links.begin(), links.end(), [&](LinkId link) {
        const LinkTechnology technology = cluster.GetLinks()[link].technology;
        return technology == LinkTechnology::INFINIBAND || technology == LinkTechnology::ROCE;
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
