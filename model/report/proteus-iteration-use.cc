/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-iteration-use.h"

#include "ns3/proteus-iteration-times.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

uint32_t
FindSteady(const std::vector<IterationUse>& iterations)
{
    const auto steady = std::find_if(iterations.begin(),
                                     iterations.end(),
                                     [](const IterationUse& use) { return use.isSteady; });
    return steady == iterations.end() ? 0 : steady->number - 1;
}

IterationAccount
AccountIterations(const ExecutionGraph& graph,
                  const std::vector<uint32_t>& iterationOf,
                  const Timeline& timeline)
{
    const auto endsPs = FindIterationEnds(graph, iterationOf, timeline);
    auto pieces = BreakDown(graph, timeline, endsPs);
    IterationAccount account;
    account.steady = FindSteadyIteration(endsPs);
    for (uint32_t i = 0; i < endsPs.size(); ++i)
    {
        account.uses.push_back(
            {i + 1, i == account.steady, i == 0 ? 0 : endsPs[i - 1], endsPs[i], MeanOf(pieces[i])});
    }
    account.breakdowns = std::move(pieces[account.steady]);
    return account;
}

} // namespace proteus
} // namespace ns3
