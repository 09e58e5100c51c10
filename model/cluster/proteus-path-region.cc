/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-path-region.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ns3
{
namespace proteus
{

PortLists::PortLists(const Cluster& cluster)
    : m_lists(1)
{
    std::size_t mostPorts = 0;
    for (VertexId vertex = 0; vertex < cluster.GetVertices().size(); ++vertex)
    {
        mostPorts = std::max(mostPorts, cluster.GetPorts(vertex).size());
    }
    for (std::size_t port = 0; port < mostPorts; ++port)
    {
        m_lists.push_back({static_cast<uint16_t>(port)});
    }
}

uint32_t
PortLists::Intern(const std::vector<uint16_t>& ports)
{
    if (ports.size() <= 1)
    {
        return ports.empty() ? NONE : GetSingle(ports.front());
    }
    const auto [place, isNew] = m_ids.emplace(ports, static_cast<uint32_t>(m_lists.size()));
    if (isNew)
    {
        m_lists.push_back(ports);
    }
    return place->second;
}

PathRegion::PathRegion(const PathRules& rules, PortLists& lists, std::vector<VertexId> vertices)
    : m_rules(rules),
      m_lists(lists),
      m_vertices(std::move(vertices)),
      m_trees(m_vertices.size())
{
    const Cluster& cluster = rules.GetCluster();
    const auto& all = cluster.GetVertices();
    m_firstArc.push_back(0);
    for (const VertexId vertex : m_vertices)
    {
        m_isRenewed.push_back(rules.GetNPhases() == 1 || rules.IsTerminal(vertex) ? 1 : 0);
        m_isGpu.push_back(all[vertex].kind == VertexKind::GPU ? 1 : 0);
        const auto& ports = cluster.GetPorts(vertex);
        for (std::size_t i = 0; i < ports.size(); ++i)
        {
            const auto neighbor =
                std::lower_bound(m_vertices.begin(), m_vertices.end(), ports[i].neighbor);
            if (neighbor == m_vertices.end() || *neighbor != ports[i].neighbor ||
                !rules.IsEnabled(ports[i].link))
            {
                continue;
            }
            Arc arc;
            arc.neighbor = static_cast<uint32_t>(neighbor - m_vertices.begin());
            arc.cost = cluster.GetLinks()[ports[i].link].cost;
            arc.out = MakePathStep(all[vertex], all[*neighbor]);
            arc.in = MakePathStep(all[*neighbor], all[vertex]);
            arc.position = static_cast<uint16_t>(i);
            arc.outDown = rules.GoesDown(ports[i].link, vertex);
            arc.inDown = rules.GoesDown(ports[i].link, *neighbor);
            m_arcs.push_back(arc);
        }
        m_firstArc.push_back(static_cast<uint32_t>(m_arcs.size()));
    }
}

uint32_t
PathRegion::GetPlace(VertexId vertex) const
{
    return static_cast<uint32_t>(std::lower_bound(m_vertices.begin(), m_vertices.end(), vertex) -
                                 m_vertices.begin());
}

std::vector<uint32_t>
PathRegion::Search(uint32_t to) const
{
    // Dijkstra's, from the destination against the direction of the paths.
    const uint32_t n = static_cast<uint32_t>(m_vertices.size());
    const Vertex& destination = m_rules.GetCluster().GetVertices()[m_vertices[to]];
    std::vector<uint32_t> distance(m_rules.GetNPhases() * m_vertices.size(), Paths::UNREACHABLE);
    using Entry = std::pair<uint32_t, uint32_t>; // distance, state
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[GetState(to, true)] = 0;
    distance[to] = 0;
    queue.emplace(0, to);
    while (!queue.empty())
    {
        const auto [reached, state] = queue.top();
        queue.pop();
        const uint32_t place = state % n;
        if (reached > distance[state] || (m_isGpu[place] != 0 && place != to))
        {
            continue; // a shorter way was found meanwhile; or paths end there
        }
        for (uint32_t i = m_firstArc[place]; i < m_firstArc[place + 1]; ++i)
        {
            const Arc& arc = m_arcs[i];
            if (place != to &&
                (GetState(place, arc.inDown) != state || !arc.in.LeadsTo(destination)))
            {
                continue;
            }
            for (uint32_t phase = 0; phase < m_rules.GetNPhases(); ++phase)
            {
                const std::size_t before = GetState(arc.neighbor, phase > 0);
                if (reached + arc.cost < distance[before] &&
                    m_rules.MayPass(m_vertices[arc.neighbor], phase > 0, arc.inDown))
                {
                    distance[before] = reached + arc.cost;
                    queue.emplace(distance[before], static_cast<uint32_t>(before));
                }
            }
        }
    }
    return distance;
}

uint32_t
PathRegion::ListPorts(uint32_t from,
                      bool arrivedDown,
                      uint32_t to,
                      const std::vector<uint32_t>& distance)
{
    const uint32_t left = distance[GetState(from, arrivedDown)];
    if (from == to || left == Paths::UNREACHABLE)
    {
        return PortLists::NONE;
    }
    const Vertex& destination = m_rules.GetCluster().GetVertices()[m_vertices[to]];
    m_ports.clear();
    for (uint32_t i = m_firstArc[from]; i < m_firstArc[from + 1]; ++i)
    {
        const Arc& arc = m_arcs[i];
        const uint32_t next = distance[GetState(arc.neighbor, arc.outDown)];
        // First what rules most ports out. An unreachable neighbour cannot pass the test: its
        // distance is the largest number.
        if (next < left && next + arc.cost == left &&
            m_rules.MayPass(m_vertices[from], arrivedDown, arc.outDown) &&
            (arc.neighbor == to || (m_isGpu[arc.neighbor] == 0 && arc.out.LeadsTo(destination))))
        {
            m_ports.push_back(arc.position);
        }
    }
    return m_lists.Intern(m_ports);
}

const PathRegion::Tree&
PathRegion::GetTree(uint32_t to)
{
    Tree& tree = m_trees[to];
    if (tree.distance.empty())
    {
        tree.distance = Search(to);
        tree.nextPorts.assign(tree.distance.size(), PortLists::NONE);
        for (uint32_t phase = 0; phase < m_rules.GetNPhases(); ++phase)
        {
            for (uint32_t from = 0; from < m_vertices.size(); ++from)
            {
                tree.nextPorts[GetState(from, phase > 0)] =
                    ListPorts(from, phase > 0, to, tree.distance);
            }
        }
    }
    return tree;
}

uint32_t
PathRegion::FindPorts(VertexId at, VertexId to, bool arrivedDown)
{
    return GetTree(GetPlace(to)).nextPorts[GetState(GetPlace(at), arrivedDown)];
}

uint32_t
PathRegion::FindDistance(VertexId from, VertexId to)
{
    return GetTree(GetPlace(to)).distance[GetPlace(from)];
}

void
PathRegion::Forget()
{
    m_trees.assign(m_trees.size(), Tree());
}

} // namespace proteus
} // namespace ns3
