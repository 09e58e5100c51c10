/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-losses.h"

#include "ns3/proteus-link-statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_LINKS = 3; // that are named

/// @param named links and more @return how many more
std::string
CountOthers(std::size_t named)
{
    return named > MOST_LINKS ? " and " + std::to_string(named - MOST_LINKS) + " more" : "";
}

std::string
DescribeDownLinks(const Fabric& fabric)
{
    const auto& vertices = fabric.GetCluster().GetVertices();
    const auto& links = fabric.GetCluster().GetLinks();
    std::string text;
    std::size_t down = 0;
    for (LinkId i = 0; i < links.size(); ++i)
    {
        if (!fabric.IsLinkUp(i) && down++ < MOST_LINKS)
        {
            text += (down == 1 ? "; links that are down: " : ", ") + vertices[links[i].a].name +
                    " - " + vertices[links[i].b].name;
        }
    }
    return text + CountOthers(down);
}

} // namespace

std::string
DescribeLinkFaults(const Fabric& fabric)
{
    constexpr double LEAST_SHARE = 0.1; // less is repeated, and keeps nobody from the end
    const auto share = [](const LinkStatistics& link) {
        return static_cast<double>(link.lostPackets) / static_cast<double>(link.packets);
    };
    std::vector<LinkStatistics> links = fabric.GetLinkStatistics();
    links.erase(std::remove_if(links.begin(),
                               links.end(),
                               [&](const LinkStatistics& link) {
                                   return link.lostPackets == 0 || share(link) < LEAST_SHARE;
                               }),
                links.end());
    std::stable_sort(links.begin(), links.end(), [&](const auto& a, const auto& b) {
        return share(a) > share(b);
    });
    const auto& vertices = fabric.GetCluster().GetVertices();
    std::string text = DescribeDownLinks(fabric);
    for (std::size_t i = 0; i < links.size() && i < MOST_LINKS; ++i)
    {
        const Link& ends = fabric.GetCluster().GetLinks()[links[i].link];
        const VertexId from = links[i].forward ? ends.a : ends.b;
        const VertexId to = links[i].forward ? ends.b : ends.a;
        text += (i == 0 ? "; of what they sent, links have lost: " : ", ") + vertices[from].name +
                " -> " + vertices[to].name + " " +
                std::to_string(std::lround(100 * share(links[i]))) + " % (" +
                std::to_string(links[i].lostPackets) + " of " + std::to_string(links[i].packets) +
                " packets)";
    }
    return text + CountOthers(links.size());
}

} // namespace proteus
} // namespace ns3
