/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_PROBLEM_H
#define PROTEUS_LAYOUT_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The problem that a layout search solves: one candidate for every operator, so that the costs of
 * operators and of the tensors between them add up to the least sum.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// By node: the number of its candidate.
using LayoutChoice = std::vector<uint32_t>;

/// @ingroup proteus
/// What every pair of candidates of two nodes costs; infinite where they do not go together.
class CostMatrix
{
  public:
    /// @param rows candidates of the first node @param columns candidates of the second one
    CostMatrix(std::size_t rows, std::size_t columns)
        : m_columns(columns),
          m_values(rows * columns)
    {
    }

    /// @param row of the first node @param column of the second one @return their cost
    double& At(std::size_t row, std::size_t column)
    {
        return m_values[row * m_columns + column];
    }

    /// @param row of the first node @param column of the second one @return their cost
    double At(std::size_t row, std::size_t column) const
    {
        return m_values[row * m_columns + column];
    }

    /// @return candidates of the first node
    std::size_t GetNRows() const
    {
        return m_columns == 0 ? 0 : m_values.size() / m_columns;
    }

    /// @return candidates of the second node
    std::size_t GetNColumns() const
    {
        return m_columns;
    }

  private:
    std::size_t m_columns;
    std::vector<double> m_values;
};

/// @ingroup proteus
/// Operators that are alike share their matrices.
using CostMatrixPtr = std::shared_ptr<const CostMatrix>;

/// @ingroup proteus
/// A tensor, or several, between two nodes.
struct LayoutEdge
{
    uint32_t from{0};   //!< a node: rows of the matrix
    uint32_t to{0};     //!< another node: columns of the matrix
    CostMatrixPtr cost; //!< of every pair of candidates
};

/**
 * @ingroup proteus
 * Nodes with candidates, and edges between them:
 *
 * cost(choice) = sum over nodes of cost[choice] + sum over edges of cost[choice][choice].
 */
class LayoutProblem
{
  public:
    /// @param costs of the candidates, at least one @return the node's number
    /// @throw std::invalid_argument without candidates
    uint32_t AddNode(std::vector<double> costs);

    /// @param edge between two different nodes
    /// @throw std::invalid_argument if a node does not exist, both are the same, or the matrix does
    /// not have their numbers of candidates
    void AddEdge(LayoutEdge edge);

    /// @return number of nodes
    uint32_t GetNNodes() const
    {
        return static_cast<uint32_t>(m_nodes.size());
    }

    /// @param node a node @return the costs of its candidates
    const std::vector<double>& GetNode(uint32_t node) const
    {
        return m_nodes[node];
    }

    /// @return all edges
    const std::vector<LayoutEdge>& GetEdges() const
    {
        return m_edges;
    }

    /// @param choice a candidate for every node @return the sum of all costs
    double GetCost(const LayoutChoice& choice) const;

    /**
     * @param node a node
     * @param candidate one of its candidates
     * @param choice of all other nodes
     * @return the costs that depend on the candidate: the node's, and those of its edges
     */
    double GetCostAt(uint32_t node, uint32_t candidate, const LayoutChoice& choice) const;

  private:
    std::vector<std::vector<double>> m_nodes;
    std::vector<LayoutEdge> m_edges;
    std::vector<std::vector<uint32_t>> m_edgesOf; //!< by node
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_PROBLEM_H
