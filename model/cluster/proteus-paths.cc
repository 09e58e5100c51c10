/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <functional>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// What the search needs of an edge.
struct Edge
{
    uint32_t cost; //!< of the link
};

using BoostGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge>;

} // namespace

struct Paths::SearchGraph
{
    /// Two edges per link, but none that leaves a GPU: a search never passes one.
    BoostGraph edges;
};

Paths::Paths(const Cluster& cluster)
    : m_cluster(cluster),
      m_trees(cluster.GetVertices().size()),
      m_portLists(1)
{
    const auto& vertices = cluster.GetVertices();
    std::vector<std::pair<VertexId, VertexId>> ends;
    std::vector<Edge> costs;
    std::size_t mostPorts = 0;
    for (VertexId from = 0; from < vertices.size(); ++from)
    {
        mostPorts = std::max(mostPorts, cluster.GetPorts(from).size());
        if (vertices[from].kind == VertexKind::GPU)
        {
            continue;
        }
        for (const Port& port : cluster.GetPorts(from))
        {
            ends.emplace_back(from, port.neighbor);
            costs.push_back({cluster.GetLinks()[port.link].cost});
        }
    }
    m_graph = std::make_shared<SearchGraph>(SearchGraph{BoostGraph(boost::edges_are_sorted,
                                                                   ends.begin(),
                                                                   ends.end(),
                                                                   costs.begin(),
                                                                   vertices.size())});
    for (std::size_t port = 0; port < mostPorts; ++port)
    {
        m_portLists.push_back({static_cast<uint16_t>(port)});
    }
}

const Paths::Tree&
Paths::GetTree(VertexId to) const
{
    Tree& tree = m_trees[to];
    if (!tree.distance.empty())
    {
        return tree;
    }

    // Links have the same cost both ways, so distances from `to` are distances to `to`. The search
    // starts at the neighbours, since a GPU has no edges of its own in the graph.
    const auto& vertices = m_cluster.GetVertices();
    const auto& links = m_cluster.GetLinks();
    const auto nVertices = static_cast<VertexId>(vertices.size());
    std::vector<uint32_t> distance(nVertices, UNREACHABLE);
    std::vector<VertexId> starts;
    distance[to] = 0;
    for (const Port& port : m_cluster.GetPorts(to))
    {
        if (distance[port.neighbor] == UNREACHABLE)
        {
            starts.push_back(port.neighbor);
        }
        distance[port.neighbor] = std::min(distance[port.neighbor], links[port.link].cost);
    }
    const BoostGraph& graph = m_graph->edges;
    const auto index = boost::get(boost::vertex_index, graph);
    std::vector<boost::default_color_type> colors(nVertices, boost::white_color);
    colors[to] = boost::black_color;
    boost::dijkstra_shortest_paths_no_init(
        graph,
        starts.begin(),
        starts.end(),
        boost::dummy_property_map(),
        boost::make_iterator_property_map(distance.begin(), index),
        boost::get(&Edge::cost, graph),
        index,
        std::less<uint32_t>(),
        boost::closed_plus<uint32_t>(UNREACHABLE),
        uint32_t{0},
        boost::dijkstra_visitor<>(),
        boost::make_iterator_property_map(colors.begin(), index));

    tree.nextPorts.assign(nVertices, 0);
    std::vector<uint16_t> several;
    for (VertexId from = 0; from < nVertices; ++from)
    {
        if (from == to || distance[from] == UNREACHABLE)
        {
            continue;
        }
        const auto& ports = m_cluster.GetPorts(from);
        several.clear();
        for (std::size_t i = 0; i < ports.size(); ++i)
        {
            const VertexId neighbor = ports[i].neighbor;
            // An unreachable neighbour cannot pass the test: its distance is the largest number.
            if ((neighbor == to || vertices[neighbor].kind != VertexKind::GPU) &&
                distance[neighbor] < distance[from] &&
                distance[neighbor] + links[ports[i].link].cost == distance[from])
            {
                several.push_back(static_cast<uint16_t>(i));
            }
        }
        if (several.size() == 1)
        {
            tree.nextPorts[from] = 1u + several.front();
            continue;
        }
        const auto id = static_cast<PortListId>(m_portLists.size());
        const auto known = m_portListIds.emplace(several, id);
        if (known.second)
        {
            m_portLists.push_back(several);
        }
        tree.nextPorts[from] = known.first->second;
    }
    tree.distance = std::move(distance);
    return tree;
}

const std::vector<uint16_t>&
Paths::NextPorts(VertexId from, VertexId to) const
{
    return m_portLists[GetTree(to).nextPorts[from]];
}

uint32_t
Paths::Distance(VertexId from, VertexId to) const
{
    return GetTree(to).distance[from];
}

} // namespace proteus
} // namespace ns3
