/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-use.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// @return what a direction of a link carried in a time
LinkUse
MakeLinkUse(const Cluster& cluster, const LinkStatistics& statistics, int64_t durationPs)
{
    const Link& link = cluster.GetLinks()[statistics.link];
    const VertexId from = statistics.forward ? link.a : link.b;
    LinkUse use;
    use.link = statistics.link;
    use.forward = statistics.forward;
    use.name =
        cluster.GetVertices()[from].name + " -> " + cluster.GetVertices()[link.Other(from)].name;
    if (durationPs <= 0)
    {
        throw std::invalid_argument("link statistics: " + use.name +
                                    " carried something in a time of " +
                                    std::to_string(durationPs) + " ps");
    }
    const auto duration = static_cast<double>(durationPs);
    use.technology = link.technology;
    use.utilisation = static_cast<double>(statistics.busyPs) / duration;
    use.payloadBytesPerSecond =
        static_cast<double>(statistics.payloadBytes) / (duration / PS_PER_S);
    use.rateBytesPerSecond = link.bytesPerSecond;
    use.creditStallShare = static_cast<double>(statistics.creditStallPs) / duration;
    use.maxQueueBytes = statistics.maxQueueBytes;
    use.pausedShare = static_cast<double>(statistics.pausedPs) / duration;
    use.pauses = statistics.pauses;
    use.packets = statistics.packets;
    use.payloadBytes = statistics.payloadBytes;
    use.wireBytes = statistics.wireBytes;
    use.markedPackets = statistics.markedPackets;
    use.lostPackets = statistics.lostPackets;
    use.droppedPackets = statistics.droppedPackets;
    return use;
}

} // namespace

std::vector<LinkUse>
BusiestLinks(const Cluster& cluster,
             const std::vector<LinkStatistics>& links,
             int64_t durationPs,
             std::size_t n)
{
    std::vector<LinkUse> uses;
    for (const LinkStatistics& statistics : links)
    {
        if (statistics.link >= cluster.GetLinks().size())
        {
            throw std::invalid_argument("link statistics: the cluster '" + cluster.GetName() +
                                        "' has no link " + std::to_string(statistics.link));
        }
        if (statistics.packets == 0 && statistics.wireBytes == 0) // of flows only bytes are known
        {
            continue;
        }
        uses.push_back(MakeLinkUse(cluster, statistics, durationPs));
    }
    const auto isBusier = [](const LinkUse& a, const LinkUse& b) {
        return a.utilisation != b.utilisation
                   ? a.utilisation > b.utilisation
                   : std::tie(a.name, a.link, b.forward) < std::tie(b.name, b.link, a.forward);
    };
    const std::size_t kept = std::min(n, uses.size());
    std::partial_sort(uses.begin(),
                      uses.begin() + static_cast<std::ptrdiff_t>(kept),
                      uses.end(),
                      isBusier);
    uses.resize(kept);
    return uses;
}

} // namespace proteus
} // namespace ns3
