/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-route-table.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
RouteTable::SetUp(const Cluster& cluster)
{
    m_cluster = &cluster;
    const auto& links = cluster.GetLinks();
    m_outPorts.resize(cluster.GetVertices().size());
    for (VertexId vertex = 0; vertex < m_outPorts.size(); ++vertex)
    {
        for (const Port& port : cluster.GetPorts(vertex))
        {
            m_outPorts[vertex].push_back(2 * port.link + (links[port.link].a == vertex ? 0 : 1));
        }
    }
}

void
RouteTable::Reset(PortTable& ports, bool upDown)
{
    const auto& vertices = m_cluster->GetVertices();
    const auto nVertices = static_cast<VertexId>(vertices.size());
    PathOptions options;
    options.rule = upDown ? RoutingRule::UP_DOWN : RoutingRule::SHORTEST;
    for (LinkId link = 0; link < m_cluster->GetLinks().size(); ++link)
    {
        if (ports[2 * link].down)
        {
            options.disabledLinks.push_back(link);
        }
    }
    m_paths = std::make_unique<Paths>(*m_cluster, options);
    m_phases = m_paths->HasPhases();
    m_rows.clear();
    m_rows.resize((m_phases ? 2 : 1) * std::size_t{nVertices});
    m_choices.clear();
    m_targets.assign(nVertices, Target());
    m_nColumns = 0;
    for (VertexId vertex = 0; vertex < nVertices; ++vertex)
    {
        const auto& out = m_outPorts[vertex];
        for (std::size_t i = 0; i < out.size(); ++i)
        {
            ports[out[i]].goesDown = m_paths->GoesDown(vertex, i);
        }
        Target& target = m_targets[vertex];
        const bool leaf = out.size() == 1 && !ports[out[0]].down &&
                          vertices[ports[out[0]].to].kind != VertexKind::GPU;
        target.anchor = leaf ? ports[out[0]].to : vertex;
        target.lastPort = leaf ? out[0] ^ 1 : NO_PORT;
    }
    std::vector<uint32_t> columns(nVertices, UNKNOWN); // of anchors
    for (Target& target : m_targets)
    {
        uint32_t& column = columns[target.anchor];
        if (column == UNKNOWN)
        {
            column = m_nColumns++;
        }
        target.column = column;
    }
}

void
RouteTable::FillRow(std::unique_ptr<uint32_t[]>& row) const
{
    row = std::make_unique<uint32_t[]>(m_nColumns);
    std::fill_n(row.get(), m_nColumns, uint32_t{UNKNOWN});
}

uint32_t
RouteTable::Look(VertexId at, VertexId to, bool wentDown)
{
    const std::vector<uint16_t>& next = m_paths->NextPorts(at, to, wentDown);
    if (next.empty())
    {
        return NONE;
    }
    if (next.size() == 1)
    {
        return m_outPorts[at][next[0]];
    }
    std::vector<PortId> ports;
    for (uint16_t index : next)
    {
        ports.push_back(m_outPorts[at][index]);
    }
    // Few distinct lists: most destinations of a switch share one.
    const auto known = std::find(m_choices.rbegin(), m_choices.rend(), ports);
    if (known != m_choices.rend())
    {
        return static_cast<uint32_t>(FIRST_CHOICE + (m_choices.rend() - known) - 1);
    }
    m_choices.push_back(std::move(ports));
    return static_cast<uint32_t>(FIRST_CHOICE + m_choices.size() - 1);
}

} // namespace proteus
} // namespace ns3
