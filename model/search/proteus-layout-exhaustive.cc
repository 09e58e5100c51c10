/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-method.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

LayoutSolution
SearchExhaustively(const LayoutProblem& problem, const LayoutSearchOptions& options)
{
    double choices = 1;
    for (uint32_t node = 0; node < problem.GetNNodes(); ++node)
    {
        choices *= static_cast<double>(problem.GetNode(node).size());
    }
    if (choices > static_cast<double>(options.mostChoices))
    {
        throw std::invalid_argument("exhaustive layout search: more than " +
                                    std::to_string(options.mostChoices) +
                                    " choices; use reduction or descent");
    }
    LayoutSolution best;
    LayoutChoice choice(problem.GetNNodes());
    for (std::size_t node = 0; node < choice.size();)
    {
        const double cost = problem.GetCost(choice);
        if (best.evaluations == 0 || cost < best.cost)
        {
            best.choice = choice;
            best.cost = cost;
        }
        ++best.evaluations;
        for (node = 0; node < choice.size(); ++node)
        {
            if (++choice[node] < problem.GetNode(node).size())
            {
                break;
            }
            choice[node] = 0;
        }
    }
    best.isOptimal = true;
    return best;
}

} // namespace

LayoutMethod
MakeExhaustiveMethod()
{
    return {"exhaustive", "looks at every choice; for small models", &SearchExhaustively};
}

} // namespace proteus
} // namespace ns3
