/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Routes of what the switches of a group combine and copy.

#include "proteus-flow-routes.h"
#include "proteus-flow-walker.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param connection of a group @param hasNics whether its members take part through NICs
/// @return who moves the bytes
CopyMethod
FindMethod(const GroupConnection& connection, bool hasNics)
{
    return hasNics                                   ? CopyMethod::DMA
           : connection.sender == Cluster::NO_VERTEX ? CopyMethod::SM_REDUCE
                                                     : CopyMethod::SM_MULTICAST;
}

} // namespace

std::vector<VertexId>
FlowRoutes::FindRoots(const std::vector<VertexId>& ends) const
{
    // The way to the farthest member, by every NVLink, or by the only port of a NIC.
    std::vector<VertexId> roots;
    std::size_t longest = 0;
    for (const VertexId end : ends)
    {
        if (end == ends.front())
        {
            continue;
        }
        const auto& choices = m_paths.NextPorts(ends.front(), end);
        std::vector<VertexId> middles;
        std::size_t length = 0;
        for (const uint16_t position : choices)
        {
            Walker walker;
            walker.source = ends.front();
            const Port& port = m_cluster.GetPorts(ends.front())[position];
            walker.at = port.neighbor;
            walker.arrivedDown = m_paths.GoesDown(ends.front(), position);
            walker.forwarders.push_back(walker.at);
            Walk(walker, end);
            length = walker.forwarders.size();
            middles.push_back(walker.forwarders[(length - 1) / 2]);
        }
        if (length > longest)
        {
            longest = length;
            roots = middles;
        }
    }
    if (longest < 2)
    {
        throw std::invalid_argument("flow network: no switches join the members of a group");
    }
    SortUnique(roots);
    // As packets have it: a switch that lacks a link to one of the members is the root of none.
    const auto isCut = [&](VertexId root) {
        return std::any_of(ends.begin(), ends.end(), [&](VertexId end) {
            return m_paths.Distance(end, root) == Paths::UNREACHABLE;
        });
    };
    roots.erase(std::remove_if(roots.begin(), roots.end(), isCut), roots.end());
    if (roots.empty())
    {
        throw std::invalid_argument("flow network: no switch reaches all members of a group");
    }
    return roots;
}

bool
FlowRoutes::IsInOneDomain(const GroupConnection& connection) const
{
    const VertexId first = connection.members.front();
    return std::all_of(connection.members.begin(), connection.members.end(), [&](VertexId member) {
        return m_cluster.GetDomain(member) == m_cluster.GetDomain(first);
    });
}

/// The links of a group's operation below one root, and the longest times so far.
struct FlowRoutes::Tree
{
    Walker links;                   //!< all of them
    uint32_t unitBytes{UINT32_MAX}; //!< smallest of the links so far
    int64_t upPs{0};                //!< to the root
    int64_t downPs{0};              //!< from the root
    int64_t controlPs{0};
};

void
FlowRoutes::AddBranch(VertexId member, VertexId root, bool isUp, bool hasNic, Tree& tree) const
{
    Walker walker;
    std::vector<VertexId> stops{isUp ? root : member};
    const VertexId nic = hasNic ? m_cluster.GetNic(member) : Cluster::NO_VERTEX;
    if (nic != Cluster::NO_VERTEX)
    {
        stops.insert(stops.begin(), nic);
    }
    walker.source = isUp ? member : root;
    walker.at = walker.source;
    walker.method = tree.links.method;
    for (const VertexId stop : stops)
    {
        Walk(walker, stop);
        walker.stops.push_back(walker.ports.size());
    }
    tree.unitBytes = std::min(tree.unitBytes, FindUnitBytes(walker));
    FlowRoute part;
    SetTimes(walker, tree.unitBytes, part);
    int64_t& longest = isUp ? tree.upPs : tree.downPs;
    longest = std::max(longest, part.latencyPs);
    tree.controlPs = std::max(tree.controlPs, part.controlPs);
    auto& ports = tree.links.ports;
    ports.insert(ports.end(), walker.ports.begin(), walker.ports.end());
}

FlowRoutes::Tree
FlowRoutes::MakeTree(const GroupConnection& connection, VertexId root, bool hasNics) const
{
    Tree tree;
    tree.links.method = FindMethod(connection, hasNics);
    for (const VertexId member : connection.members)
    {
        if (connection.sender == Cluster::NO_VERTEX || connection.sender == member)
        {
            AddBranch(member, root, true, hasNics, tree);
        }
        if (connection.receiver == Cluster::NO_VERTEX || connection.receiver == member)
        {
            AddBranch(member, root, false, hasNics, tree);
        }
    }
    // Every link once: a switch passes on one sum, and one copy of a multicast.
    auto& ports = tree.links.ports;
    SortUnique(ports);
    return tree;
}

uint32_t
FlowRoutes::PlanGroup(const GroupConnection& connection)
{
    const bool isLocal = IsInOneDomain(connection);
    std::vector<VertexId> ends = connection.members;
    if (!isLocal)
    {
        for (VertexId& end : ends)
        {
            end = m_cluster.GetNic(end);
        }
    }
    const std::vector<VertexId> roots = FindRoots(ends);
    FlowRoute route;
    route.isNetwork = !isLocal;
    route.limit = std::numeric_limits<double>::infinity();
    // Planes with faster links carry more.
    std::map<VertexId, double> rates;
    double allRates = 0;
    for (const VertexId root : roots)
    {
        const VertexId end = ends.front();
        const Port& port = m_cluster.GetPorts(end)[m_paths.NextPorts(end, root).front()];
        rates[root] = m_cluster.GetLinks()[port.link].bytesPerSecond;
        allRates += rates[root];
    }
    for (const VertexId root : roots)
    {
        Tree tree = MakeTree(connection, root, !isLocal);
        tree.links.share = rates[root] / allRates;
        AddUses(tree.links, tree.unitBytes, route);
        route.latencyPs = std::max(route.latencyPs, tree.upPs + tree.downPs);
        route.controlPs = std::max(route.controlPs, tree.controlPs);
        route.ackPs = route.controlPs;
    }
    for (const VertexId member : connection.members)
    {
        const bool gives = connection.sender == Cluster::NO_VERTEX || connection.sender == member;
        const bool gets =
            connection.receiver == Cluster::NO_VERTEX || connection.receiver == member;
        if (m_ofMemory[member] != NO_RESOURCE && (gives || gets))
        {
            route.uses.push_back({m_ofMemory[member], static_cast<double>(gives + gets), 0});
        }
    }
    return m_routes.Add(std::move(route));
}

} // namespace proteus
} // namespace ns3
