/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-list.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

std::vector<uint32_t>
ListInTurn(const std::vector<FlowSpec>& flows)
{
    const auto n = static_cast<uint32_t>(flows.size());
    std::vector<uint32_t> missing(n);
    std::vector<uint32_t> first(n + 1, 0);
    for (uint32_t i = 0; i < n; ++i)
    {
        missing[i] = static_cast<uint32_t>(flows[i].after.size());
        for (const uint32_t before : flows[i].after)
        {
            ++first[before + 1];
        }
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    std::vector<uint32_t> behind(first.back());
    std::vector<uint32_t> turn;
    turn.reserve(n);
    for (uint32_t i = 0; i < n; ++i)
    {
        for (const uint32_t before : flows[i].after)
        {
            behind[next[before]++] = i;
        }
        if (missing[i] == 0)
        {
            turn.push_back(i);
        }
    }
    for (std::size_t at = 0; at < turn.size(); ++at)
    {
        for (uint32_t k = first[turn[at]]; k < first[turn[at] + 1]; ++k)
        {
            if (--missing[behind[k]] == 0)
            {
                turn.push_back(behind[k]);
            }
        }
    }
    return turn;
}

std::vector<uint32_t>
FindFlowCycle(const std::vector<FlowSpec>& flows)
{
    const std::vector<uint32_t> turn = ListInTurn(flows);
    if (turn.size() == flows.size())
    {
        return {};
    }
    std::vector<bool> isLeft(flows.size(), true);
    for (const uint32_t i : turn)
    {
        isLeft[i] = false;
    }
    // What is left waits for something that is left: going on ends in a circle.
    auto at = static_cast<uint32_t>(std::find(isLeft.begin(), isLeft.end(), true) - isLeft.begin());
    std::vector<uint32_t> way;
    std::vector<bool> seen(flows.size(), false);
    while (!seen[at])
    {
        seen[at] = true;
        way.push_back(at);
        at = *std::find_if(flows[at].after.begin(), flows[at].after.end(), [&](uint32_t before) {
            return isLeft[before];
        });
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), at));
    return way;
}

} // namespace proteus
} // namespace ns3
