/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-path-rules.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

PathStep
MakePathStep(const Vertex& from, const Vertex& next)
{
    PathStep step;
    if (next.kind == VertexKind::NIC && from.server != next.server)
    {
        step = {next.server, true};
    }
    else if (from.kind == VertexKind::NIC && from.server == next.server)
    {
        step = {from.server, true}; // NICs of one server reach each other by the network, too
    }
    return step;
}

PathRules::PathRules(const Cluster& cluster, const PathOptions& options)
    : m_cluster(cluster),
      m_rule(options.rule)
{
    const auto& vertices = cluster.GetVertices();
    const auto& links = cluster.GetLinks();
    for (LinkId link : options.disabledLinks)
    {
        if (link >= links.size())
        {
            throw std::invalid_argument("there is no link " + std::to_string(link) +
                                        " to be disabled");
        }
        m_isDisabled.resize(links.size(), false);
        m_isDisabled[link] = true;
    }
    for (VertexId root : options.roots)
    {
        if (root >= vertices.size() || IsTerminal(root))
        {
            throw std::invalid_argument(
                "vertex " + std::to_string(root) +
                " cannot be a root of up/down routing; name a switch or a CPU");
        }
    }
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        if (vertices[vertex].kind == VertexKind::PCIE_SWITCH && !vertices[vertex].peerToPeer)
        {
            m_isRedirected.resize(vertices.size(), false);
            m_isRedirected[vertex] = true;
        }
    }
    if (m_rule == RoutingRule::SHORTEST && m_isRedirected.empty())
    {
        return;
    }
    m_nPhases = 2;
    m_isDown = OrientLinks(cluster, m_isDisabled, options.roots);
    for (VertexId vertex = 0; vertex < m_isRedirected.size(); ++vertex)
    {
        bool hasRoot = false; // something above to be redirected to
        for (const Port& port : cluster.GetPorts(vertex))
        {
            hasRoot = hasRoot || !GoesDown(port.link, vertex);
        }
        m_isRedirected[vertex] = m_isRedirected[vertex] && hasRoot;
    }
}

bool
PathRules::MayPass(VertexId vertex, bool arrivedDown, bool down) const
{
    if (m_nPhases == 1 || IsTerminal(vertex))
    {
        return true;
    }
    if (IsRedirected(vertex) && !arrivedDown && down)
    {
        return false;
    }
    return m_rule == RoutingRule::SHORTEST || !arrivedDown || down;
}

} // namespace proteus
} // namespace ns3
