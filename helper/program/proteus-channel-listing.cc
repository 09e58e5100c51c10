/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-channel-listing.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-channel-search.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-tables.h"

#include <map>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

const char*
GetName(PathType type)
{
    switch (type)
    {
    case PathType::NVL:
        return "NVLink";
    case PathType::NVB:
        return "NVLink by way of another GPU";
    case PathType::PIX:
        return "one PCIe switch";
    case PathType::PXB:
        return "several PCIe switches";
    case PathType::P2C:
        return "C2C to a CPU";
    case PathType::PXN:
        return "NVLink and the PCIe switch of another GPU";
    case PathType::PHB:
        return "a CPU";
    case PathType::SYS:
        return "two CPUs";
    }
    return "";
}

void
PrintPattern(const char* name, const ChannelPattern& pattern, bool isAcross, std::ostream& out)
{
    out << "#   " << name << ": ";
    if (pattern.channels == 0)
    {
        out << "none\n";
        return;
    }
    out << pattern.channels << " channels of " << FormatNumber(pattern.intraGBps, 1)
        << " GB/s inside servers, over " << GetName(pattern.typeIntra);
    if (isAcross)
    {
        out << "; " << FormatNumber(pattern.interGBps, 1) << " GB/s across, to NICs over "
            << GetName(pattern.typeInter);
    }
    out << "\n";
}

/// @param channels ascending @return such as "0-3, 8"
std::string
FormatChannels(const std::vector<uint32_t>& channels)
{
    std::string text;
    for (std::size_t i = 0; i < channels.size();)
    {
        std::size_t last = i;
        while (last + 1 < channels.size() && channels[last + 1] == channels[last] + 1)
        {
            ++last;
        }
        AppendName(text,
                   std::to_string(channels[i]) +
                       (last > i ? "-" + std::to_string(channels[last]) : ""));
        i = last + 1;
    }
    return text;
}

std::string
FormatRing(const GroupRelays& groupRelays, const std::vector<uint32_t>& order)
{
    const auto relays = FindRingRelays(groupRelays, order);
    std::string text;
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        text += (i == 0 ? "" : " ") + std::to_string(order[i]);
        if (relays[i] != NO_RANK)
        {
            text += " (" + std::to_string(relays[i]) + ")";
        }
    }
    return text;
}

/// @return such as "0 1 2, 0 3 4": from the root, and from every branch on anew
std::string
FormatTree(const RankTree& tree)
{
    std::string text;
    for (const uint32_t start : tree.order)
    {
        // The first child goes on in the chain of its parent, unless that is the root.
        const auto& children = tree.children[start];
        for (std::size_t i = tree.parent[start] == NO_RANK ? 0 : 1; i < children.size(); ++i)
        {
            AppendName(text, std::to_string(start));
            for (uint32_t rank = children[i]; rank != NO_RANK;
                 rank = tree.children[rank].empty() ? NO_RANK : tree.children[rank].front())
            {
                text += " " + std::to_string(rank);
            }
        }
    }
    return text;
}

/// Prints channels that are alike in one line.
void
PrintAlike(const char* title, const std::vector<std::string>& channels, std::ostream& out)
{
    std::map<std::string, std::vector<uint32_t>> alike;
    std::vector<std::string> order;
    for (uint32_t channel = 0; channel < channels.size(); ++channel)
    {
        auto& numbers = alike[channels[channel]];
        if (numbers.empty())
        {
            order.push_back(channels[channel]);
        }
        numbers.push_back(channel);
    }
    out << "# " << title << "\n";
    for (const std::string& text : order)
    {
        out << "#   channels " << FormatChannels(alike[text]) << ": " << text << "\n";
    }
}

} // namespace

void
PrintChannels(const Cluster& cluster,
              const std::vector<VertexId>& vertices,
              uint32_t channels,
              const CollectivePreferences& preferences,
              std::ostream& out)
{
    const Paths paths(cluster);
    const CollectiveChooser chooser(cluster, paths, preferences);
    const auto system = chooser.MakeSystem(vertices);
    const ChannelSearch& search = chooser.GetSearch(vertices);
    const bool isAcross = system.servers > 1;
    out << "# topology search for " << vertices.size() << " ranks in " << system.servers
        << (isAcross ? " servers\n" : " server\n");
    PrintPattern("ring", search.ring, isAcross, out);
    PrintPattern("tree", search.tree, isAcross, out);
    PrintPattern("nvls", search.nvls, isAcross, out);
    out << "#   in use by large sizes: " << search.workingChannels
        << " channels of rings and trees";
    if (search.nvls.channels > 0)
    {
        out << ", " << chooser.PlanNvlsOf(vertices).channels << " of NVLS";
    }
    out << "\n";
    CollectiveRequest request;
    request.vertices = vertices;
    request.channels = channels > 0 ? channels : search.workingChannels;
    request.rules = MakeTransportRules(preferences);
    std::vector<std::string> rings;
    const GroupRelays relays = FindGroupRelays(cluster, vertices, request.rules);
    for (const auto& order :
         MakeRingOrders(cluster, paths, vertices, request.channels, request.rules))
    {
        rings.push_back(FormatRing(relays, order));
    }
    PrintAlike("rings; a rank in brackets passes chunks on", rings, out);
    std::vector<std::string> trees;
    for (const RankTree& tree : MakeRankTrees(cluster, paths, request))
    {
        trees.push_back(FormatTree(tree));
    }
    PrintAlike("trees of an all-reduce, chains from the root and from branches", trees, out);
    out << "#\n";
}

} // namespace proteus
} // namespace ns3
