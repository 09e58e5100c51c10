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

RouteTable::Target
RouteTable::MakeTarget(VertexId vertex, bool isInside) const
{
    const Paths::Anchor anchor = m_paths->GetAnchor(vertex, isInside);
    Target target;
    target.anchor = anchor.vertex;
    target.lastPort = anchor.isNeighbor ? m_outPorts[anchor.vertex][anchor.port] : NO_PORT;
    return target;
}

void
RouteTable::Reset(PortTable& ports, bool upDown)
{
    const auto nVertices = static_cast<VertexId>(m_cluster->GetVertices().size());
    PathOptions options;
    options.rule = upDown ? RoutingRule::UP_DOWN : RoutingRule::SHORTEST;
    for (LinkId link = 0; link < m_cluster->GetLinks().size(); ++link)
    {
        if (ports[2 * link].down)
        {
            options.disabledLinks.push_back(link);
        }
    }
    m_paths = std::make_shared<const Paths>(*m_cluster, options);
    if (!m_wholePaths)
    {
        m_wholePaths = m_paths; // a table is made before any link fails
    }
    m_phases = m_paths->HasPhases();
    m_rows.assign((m_phases ? 2 : 1) * std::size_t{nVertices}, Row());
    m_choices.clear();
    m_choiceIds.clear();
    m_targets.assign(nVertices, Targets());
    m_insideColumns.clear();
    m_insideColumnOf.assign(nVertices, UNKNOWN);
    m_outsideColumns = 0;
    m_outsideColumnOf.assign(nVertices, UNKNOWN);
    for (VertexId vertex = 0; vertex < nVertices; ++vertex)
    {
        const auto& out = m_outPorts[vertex];
        for (std::size_t i = 0; i < out.size(); ++i)
        {
            ports[out[i]].goesDown = m_paths->GoesDown(vertex, i);
        }
        Targets& targets = m_targets[vertex];
        targets.region = m_paths->GetRegion(vertex);
        targets.inside = MakeTarget(vertex, true);
        targets.outside = MakeTarget(vertex, false);
        for (std::size_t row = vertex; row < m_rows.size(); row += nVertices)
        {
            m_rows[row].region = targets.region;
        }
    }
    for (const Targets& targets : m_targets)
    {
        m_insideColumns.resize(std::max<std::size_t>(m_insideColumns.size(), targets.region + 1),
                               0);
    }
}

void
RouteTable::AddColumn(uint32_t region,
                      bool isInside,
                      Target& target,
                      std::vector<uint32_t>& entries)
{
    uint32_t& column = (isInside ? m_insideColumnOf : m_outsideColumnOf)[target.anchor];
    uint32_t& count = isInside ? m_insideColumns[region] : m_outsideColumns;
    if (column == UNKNOWN)
    {
        column = count++;
    }
    target.column = column;
    entries.resize(std::max<std::size_t>(entries.size(), count), UNKNOWN);
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
    const auto [place, isNew] =
        m_choiceIds.emplace(ports, static_cast<uint32_t>(FIRST_CHOICE + m_choices.size()));
    if (isNew)
    {
        m_choices.push_back(std::move(ports));
    }
    return place->second;
}

} // namespace proteus
} // namespace ns3
