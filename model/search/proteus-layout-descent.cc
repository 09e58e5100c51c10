/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-method.h"

#include <random>

namespace ns3
{
namespace proteus
{

namespace
{

/// Goes over the nodes in their order until none of them has a better candidate.
LayoutSolution
Descend(const LayoutProblem& problem, const LayoutChoice& start)
{
    LayoutSolution solution;
    solution.choice = start;
    solution.evaluations = 1;
    for (bool isChanged = true; isChanged;)
    {
        isChanged = false;
        ++solution.sweeps;
        for (uint32_t node = 0; node < problem.GetNNodes(); ++node)
        {
            const auto nCandidates = static_cast<uint32_t>(problem.GetNode(node).size());
            const uint32_t now = solution.choice[node];
            double least = problem.GetCostAt(node, now, solution.choice);
            for (uint32_t candidate = 0; candidate < nCandidates; ++candidate)
            {
                if (candidate == now)
                {
                    continue;
                }
                const double cost = problem.GetCostAt(node, candidate, solution.choice);
                // Rounding must not make two equal candidates take turns.
                if (cost < least * (1 - 1e-12))
                {
                    least = cost;
                    solution.choice[node] = candidate;
                    isChanged = true;
                }
                ++solution.evaluations;
            }
        }
    }
    solution.cost = problem.GetCost(solution.choice);
    return solution;
}

LayoutSolution
SearchByDescent(const LayoutProblem& problem, const LayoutSearchOptions& options)
{
    std::vector<LayoutChoice> starts = options.starts;
    std::mt19937_64 random(options.seed);
    for (uint32_t i = 0; i < options.randomStarts; ++i)
    {
        LayoutChoice start;
        for (uint32_t node = 0; node < problem.GetNNodes(); ++node)
        {
            // Not a standard distribution, whose numbers depend on the library.
            start.push_back(static_cast<uint32_t>(random() % problem.GetNode(node).size()));
        }
        starts.push_back(start);
    }
    if (starts.empty())
    {
        starts.emplace_back(problem.GetNNodes());
    }
    LayoutSolution best;
    uint64_t evaluations = 0;
    for (const LayoutChoice& start : starts)
    {
        LayoutSolution solution = Descend(problem, start);
        evaluations += solution.evaluations;
        if (best.choice.empty() || solution.cost < best.cost)
        {
            best = std::move(solution);
        }
    }
    best.evaluations = evaluations;
    return best;
}

} // namespace

LayoutMethod
MakeDescentMethod()
{
    return {"descent", "coordinate descent from several starts", &SearchByDescent};
}

} // namespace proteus
} // namespace ns3
