/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Routes of what the switches of a group combine and copy.

#include "proteus-flow-routes.h"
#include "proteus-flow-walker.h"

#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-group-trees.h"
#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <limits>
#include <map>
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

FlowRoutes::PerLink<VertexId>
FlowRoutes::FindStops(const GroupConnection& connection,
                      VertexId member,
                      VertexId root,
                      bool hasNics) const
{
    PerLink<VertexId> stops;
    VertexId at = member;
    if (hasNics)
    {
        at = m_cluster.GetNic(member);
        stops.push_back(at);
    }
    while (at != root)
    {
        const Port& port = PickGroupPort(m_cluster,
                                         m_paths,
                                         connection.flow,
                                         connection.members.front(),
                                         root,
                                         at,
                                         root);
        at = port.neighbor;
        if (at == root || CombinesAndCopies(m_cluster.GetVertices()[at]))
        {
            stops.push_back(at);
        }
    }
    return stops;
}

void
FlowRoutes::AddBranch(uint64_t hash,
                      VertexId member,
                      const PerLink<VertexId>& stops,
                      bool isUp,
                      Tree& tree) const
{
    Walker walker;
    walker.hash = hash;
    walker.source = isUp ? member : stops.back();
    walker.at = walker.source;
    walker.method = tree.links.method;
    PerLink<VertexId> way(stops);
    if (!isUp)
    {
        std::reverse(way.begin(), way.end());
        way.push_back(member);
    }
    for (const VertexId stop : way)
    {
        Walk(walker, stop);
        if (stop == way.back() || m_cluster.GetVertices()[stop].kind == VertexKind::NIC)
        {
            walker.stops.push_back(walker.ports.size());
        }
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
FlowRoutes::MakeTree(const GroupConnection& connection,
                     VertexId root,
                     uint32_t plane,
                     bool hasNics) const
{
    Tree tree;
    tree.links.method = FindMethod(connection, hasNics);
    const uint64_t hash = MixHash(m_parameters.pathSeed, MixHash(connection.flow, plane));
    for (const VertexId member : connection.members)
    {
        const PerLink<VertexId> stops = FindStops(connection, member, root, hasNics);
        if (connection.sender == Cluster::NO_VERTEX || connection.sender == member)
        {
            AddBranch(hash, member, stops, true, tree);
        }
        if (connection.receiver == Cluster::NO_VERTEX || connection.receiver == member)
        {
            AddBranch(hash, member, stops, false, tree);
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
    const std::vector<VertexId> roots =
        FindGroupRoots(m_cluster, m_paths, ends, !isLocal, connection.flow, 0);
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
    for (uint32_t plane = 0; plane < roots.size(); ++plane)
    {
        const VertexId root = roots[plane];
        Tree tree = MakeTree(connection, root, plane, !isLocal);
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
