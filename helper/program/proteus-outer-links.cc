/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-outer-links.h"

#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param cluster any @return whether a switch between servers has less capacity to other switches
/// than to servers
bool
IsOversubscribed(const Cluster& cluster)
{
    /// Bytes per second of a switch.
    struct Capacity
    {
        double toServers{0};
        double toSwitches{0};
    };

    std::map<VertexId, Capacity> capacities;
    for (const Link& link : cluster.GetLinks())
    {
        for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (cluster.GetVertices()[end].server < 0)
            {
                const bool isUp = cluster.GetVertices()[other].server < 0;
                Capacity& capacity = capacities[end];
                (isUp ? capacity.toSwitches : capacity.toServers) += link.bytesPerSecond;
            }
        }
    }
    return std::any_of(capacities.begin(), capacities.end(), [](const auto& capacity) {
        constexpr double ROUNDING = 0.99;
        const auto& [toServers, toSwitches] = capacity.second;
        return toServers > 0 && toSwitches > 0 && toSwitches < ROUNDING * toServers;
    });
}

} // namespace

bool
LeavesServer(const Cluster& cluster, const Link& link)
{
    return cluster.GetVertices()[link.a].server != cluster.GetVertices()[link.b].server;
}

bool
JoinsSwitches(const Cluster& cluster, const Link& link)
{
    return cluster.GetVertices()[link.a].server < 0 && cluster.GetVertices()[link.b].server < 0;
}

bool
CrossesNetwork(const Cluster& cluster, const std::vector<LinkId>& crossed)
{
    return std::any_of(crossed.begin(), crossed.end(), [&](LinkId id) {
        return IsOfNetwork(cluster.GetLinks()[id]);
    });
}

std::string
FindFlowSetting(const Cluster& cluster, const std::vector<LinkId>& crossed)
{
    const auto& links = cluster.GetLinks();
    const bool hasNvlink = std::any_of(links.begin(), links.end(), [](const Link& link) {
        return link.technology == LinkTechnology::NVLINK;
    });
    const auto crosses = [&](auto condition) {
        return std::any_of(crossed.begin(), crossed.end(), [&](LinkId id) {
            return condition(links[id]);
        });
    };
    const std::string with = hasNvlink ? " with NVLink" : " without NVLink";
    std::set<int32_t> servers; // whose links to others are crossed
    for (const LinkId id : crossed)
    {
        if (LeavesServer(cluster, links[id]))
        {
            servers.insert(cluster.GetVertices()[links[id].a].server);
            servers.insert(cluster.GetVertices()[links[id].b].server);
        }
    }
    servers.erase(-1); // switches
    if (servers.empty())
    {
        return "one server" + with;
    }
    constexpr std::size_t MOST_OF_FEW = 4;
    if (servers.size() > MOST_OF_FEW)
    {
        return "more than four servers" + with; // too few jobs were compared to tell more
    }
    const auto uses = [&](LinkTechnology technology) {
        return crosses([&](const Link& link) { return link.technology == technology; });
    };
    const std::string network = uses(LinkTechnology::ROCE)         ? "RoCE"
                                : uses(LinkTechnology::INFINIBAND) ? "InfiniBand"
                                                                   : "NVLink";
    const bool isBeyondOne =
        crosses([&](const Link& link) { return JoinsSwitches(cluster, link); });
    return "servers" + with + ", " + network + " on " +
           (!isBeyondOne                ? "one switch"
            : IsOversubscribed(cluster) ? "oversubscribed switches"
                                        : "several switches");
}

} // namespace proteus
} // namespace ns3
