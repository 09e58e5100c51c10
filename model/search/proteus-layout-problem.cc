/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-problem.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

uint32_t
LayoutProblem::AddNode(std::vector<double> costs)
{
    if (costs.empty())
    {
        throw std::invalid_argument("layout search: node " + std::to_string(m_nodes.size()) +
                                    " has no candidate");
    }
    m_nodes.push_back(std::move(costs));
    m_edgesOf.emplace_back();
    return GetNNodes() - 1;
}

void
LayoutProblem::AddEdge(LayoutEdge edge)
{
    if (edge.from >= GetNNodes() || edge.to >= GetNNodes() || edge.from == edge.to ||
        edge.cost->GetNRows() != m_nodes[edge.from].size() ||
        edge.cost->GetNColumns() != m_nodes[edge.to].size())
    {
        throw std::invalid_argument("layout search: edge from node " + std::to_string(edge.from) +
                                    " to node " + std::to_string(edge.to) +
                                    " does not fit the candidates of two different nodes");
    }
    const auto index = static_cast<uint32_t>(m_edges.size());
    m_edgesOf[edge.from].push_back(index);
    m_edgesOf[edge.to].push_back(index);
    m_edges.push_back(std::move(edge));
}

double
LayoutProblem::GetCost(const LayoutChoice& choice) const
{
    double sum = 0;
    for (std::size_t node = 0; node < m_nodes.size(); ++node)
    {
        sum += m_nodes[node][choice[node]];
    }
    for (const LayoutEdge& edge : m_edges)
    {
        sum += edge.cost->At(choice[edge.from], choice[edge.to]);
    }
    return sum;
}

double
LayoutProblem::GetCostAt(uint32_t node, uint32_t candidate, const LayoutChoice& choice) const
{
    double sum = m_nodes[node][candidate];
    for (const uint32_t index : m_edgesOf[node])
    {
        const LayoutEdge& edge = m_edges[index];
        sum += edge.from == node ? edge.cost->At(candidate, choice[edge.to])
                                 : edge.cost->At(choice[edge.from], candidate);
    }
    return sum;
}

} // namespace proteus
} // namespace ns3
