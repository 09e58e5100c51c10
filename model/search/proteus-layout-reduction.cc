/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-method.h"

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * The graph of a problem, made smaller until nothing is left. Edges are kept in both directions,
 * parallel ones added up.
 */
class Reduction
{
  public:
    Reduction(const LayoutProblem& problem, uint64_t mostCandidates)
        : m_mostCandidates(mostCandidates),
          m_edges(problem.GetNNodes())
    {
        for (uint32_t node = 0; node < problem.GetNNodes(); ++node)
        {
            m_costs.push_back(problem.GetNode(node));
        }
        for (const LayoutEdge& edge : problem.GetEdges())
        {
            AddEdge(edge.from, edge.to, *edge.cost);
        }
        m_isGone.assign(m_costs.size(), false);
    }

    /// @return the best choice of the nodes of the problem
    LayoutChoice Solve()
    {
        const std::size_t nNodes = m_costs.size();
        while (const std::optional<uint32_t> node = FindNode())
        {
            switch (m_edges[*node].size())
            {
            case 0:
                RemoveAlone(*node);
                break;
            case 1:
                RemoveLeaf(*node);
                break;
            case 2:
                RemoveBetween(*node);
                break;
            default:
                Merge(*node);
                break;
            }
        }
        LayoutChoice choice(m_costs.size());
        for (auto step = m_steps.rbegin(); step != m_steps.rend(); ++step)
        {
            step->Decide(choice);
        }
        choice.resize(nNodes);
        return choice;
    }

    /// @return sums of costs that were compared
    uint64_t GetEvaluations() const
    {
        return m_evaluations;
    }

  private:
    /// How a node that is gone follows from those that were left.
    struct Step
    {
        uint32_t node{0};               //!< that is gone
        std::vector<uint32_t> others;   //!< that decide about it: none, one or two
        std::vector<uint32_t> best;     //!< by their candidates, row-major
        std::size_t columns{1};         //!< candidates of the last of them
        std::optional<uint32_t> merged; //!< the other node with which it went into others[0]

        void Decide(LayoutChoice& choice) const
        {
            if (merged)
            {
                choice[node] = choice[others[0]] / static_cast<uint32_t>(columns);
                choice[*merged] = choice[others[0]] % static_cast<uint32_t>(columns);
                return;
            }
            std::size_t index = 0;
            for (std::size_t i = 0; i < others.size(); ++i)
            {
                index = i == 0 ? choice[others[0]] : index * columns + choice[others[1]];
            }
            choice[node] = best[index];
        }
    };

    void AddEdge(uint32_t a, uint32_t b, const CostMatrix& cost)
    {
        AddHalf(a, b, cost);
        CostMatrix turned(cost.GetNColumns(), cost.GetNRows());
        for (std::size_t i = 0; i < cost.GetNRows(); ++i)
        {
            for (std::size_t k = 0; k < cost.GetNColumns(); ++k)
            {
                turned.At(k, i) = cost.At(i, k);
            }
        }
        AddHalf(b, a, turned);
    }

    void AddHalf(uint32_t a, uint32_t b, const CostMatrix& cost)
    {
        const auto [found, isNew] = m_edges[a].emplace(b, cost);
        for (std::size_t i = 0; !isNew && i < cost.GetNRows(); ++i)
        {
            for (std::size_t k = 0; k < cost.GetNColumns(); ++k)
            {
                found->second.At(i, k) += cost.At(i, k);
            }
        }
    }

    /// @return the node to go next: of least degree, the one whose neighbours have fewest
    /// candidates
    std::optional<uint32_t> FindNode() const
    {
        std::optional<uint32_t> best;
        std::pair<std::size_t, std::size_t> least;
        for (uint32_t node = 0; node < m_costs.size(); ++node)
        {
            std::size_t work = 1;
            for (const auto& [other, cost] : m_edges[node])
            {
                work *= m_costs[other].size();
            }
            const std::pair<std::size_t, std::size_t> rank{m_edges[node].size(), work};
            if (!m_isGone[node] && (!best || rank < least))
            {
                best = node;
                least = rank;
            }
        }
        return best;
    }

    /// @param sum of a candidate of the node @return the best candidate and its cost
    template <typename F>
    std::pair<uint32_t, double> FindBest(uint32_t node, F sum)
    {
        std::pair<uint32_t, double> best{0, 0};
        for (uint32_t candidate = 0; candidate < m_costs[node].size(); ++candidate)
        {
            const double cost = sum(candidate);
            if (candidate == 0 || cost < best.second)
            {
                best = {candidate, cost};
            }
        }
        m_evaluations += m_costs[node].size();
        return best;
    }

    void Forget(uint32_t node)
    {
        for (const auto& [other, cost] : m_edges[node])
        {
            m_edges[other].erase(node);
        }
        m_edges[node].clear();
        m_isGone[node] = true;
    }

    void RemoveAlone(uint32_t node)
    {
        const auto best = FindBest(node, [&](uint32_t c) { return m_costs[node][c]; });
        m_steps.push_back({node, {}, {best.first}, 1, std::nullopt});
        Forget(node);
    }

    void RemoveLeaf(uint32_t node)
    {
        const uint32_t other = m_edges[node].begin()->first;
        const CostMatrix edge = m_edges[node].begin()->second;
        Step step{node, {other}, {}, 1, std::nullopt};
        for (std::size_t i = 0; i < m_costs[other].size(); ++i)
        {
            const auto best =
                FindBest(node, [&](uint32_t c) { return m_costs[node][c] + edge.At(c, i); });
            m_costs[other][i] += best.second;
            step.best.push_back(best.first);
        }
        m_steps.push_back(std::move(step));
        Forget(node);
    }

    void RemoveBetween(uint32_t node)
    {
        const auto& [left, a] = *m_edges[node].begin();
        const auto& [right, b] = *m_edges[node].rbegin();
        const std::size_t rows = m_costs[left].size();
        const std::size_t columns = m_costs[right].size();
        Step step{node, {left, right}, {}, columns, std::nullopt};
        CostMatrix merged(rows, columns);
        std::vector<double> sums(m_costs[node].size());
        for (std::size_t i = 0; i < rows; ++i)
        {
            for (uint32_t c = 0; c < sums.size(); ++c)
            {
                sums[c] = m_costs[node][c] + a.At(c, i);
            }
            for (std::size_t k = 0; k < columns; ++k)
            {
                const auto best =
                    FindBest(node, [&, &far = b](uint32_t c) { return sums[c] + far.At(c, k); });
                merged.At(i, k) = best.second;
                step.best.push_back(best.first);
            }
        }
        const std::pair<uint32_t, uint32_t> ends{left, right};
        m_steps.push_back(std::move(step));
        Forget(node);
        AddEdge(ends.first, ends.second, merged);
    }

    /// A node and the neighbour with fewest candidates become one whose candidates are the pairs.
    void Merge(uint32_t node)
    {
        uint32_t other = m_edges[node].begin()->first;
        for (const auto& [neighbour, cost] : m_edges[node])
        {
            other = m_costs[neighbour].size() < m_costs[other].size() ? neighbour : other;
        }
        const std::size_t rows = m_costs[node].size();
        const std::size_t columns = m_costs[other].size();
        if (rows * columns > m_mostCandidates)
        {
            throw std::invalid_argument(
                "layout search by reduction: nodes that are left would have " +
                std::to_string(rows * columns) + " candidates together, more than " +
                std::to_string(m_mostCandidates) + "; use descent");
        }
        const auto both = static_cast<uint32_t>(m_costs.size());
        const CostMatrix between = m_edges[node].at(other);
        std::vector<double> costs;
        for (std::size_t i = 0; i < rows; ++i)
        {
            for (std::size_t k = 0; k < columns; ++k)
            {
                costs.push_back(m_costs[node][i] + m_costs[other][k] + between.At(i, k));
            }
        }
        m_costs.push_back(costs);
        m_edges.emplace_back();
        m_isGone.push_back(false);
        for (const uint32_t part : {node, other})
        {
            const std::map<uint32_t, CostMatrix> edges = m_edges[part];
            for (const auto& [neighbour, cost] : edges)
            {
                if (neighbour == node || neighbour == other)
                {
                    continue;
                }
                CostMatrix wide(rows * columns, cost.GetNColumns());
                for (std::size_t i = 0; i < rows * columns; ++i)
                {
                    for (std::size_t k = 0; k < cost.GetNColumns(); ++k)
                    {
                        wide.At(i, k) = cost.At(part == node ? i / columns : i % columns, k);
                    }
                }
                AddEdge(both, neighbour, wide);
            }
        }
        m_steps.push_back({node, {both}, {}, columns, other});
        Forget(node);
        Forget(other);
    }

    uint64_t m_mostCandidates;
    std::vector<std::vector<double>> m_costs;            //!< by node
    std::vector<std::map<uint32_t, CostMatrix>> m_edges; //!< by node, by the other one
    std::vector<bool> m_isGone;                          //!< by node
    std::vector<Step> m_steps;                           //!< in the order in which nodes went
    uint64_t m_evaluations{0};
};

LayoutSolution
SearchByReduction(const LayoutProblem& problem, const LayoutSearchOptions& options)
{
    Reduction reduction(problem, options.mostCandidates);
    LayoutSolution solution;
    solution.choice = reduction.Solve();
    solution.cost = problem.GetCost(solution.choice);
    solution.evaluations = reduction.GetEvaluations();
    solution.isOptimal = true;
    return solution;
}

} // namespace

LayoutMethod
MakeReductionMethod()
{
    return {"reduction",
            "exact: removes leaves and nodes between two others, merges nodes where that is not "
            "enough",
            &SearchByReduction};
}

} // namespace proteus
} // namespace ns3
