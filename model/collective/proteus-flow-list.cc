/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-list.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::vector<uint32_t>
FindFlowCycle(const std::vector<FlowSpec>& flows)
{
    // Takes away flows that wait for nothing that is left.
    std::vector<uint32_t> missing(flows.size(), 0);
    std::vector<std::vector<uint32_t>> dependents(flows.size());
    std::vector<uint32_t> free;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        missing[i] = static_cast<uint32_t>(flows[i].after.size());
        for (uint32_t before : flows[i].after)
        {
            dependents[before].push_back(i);
        }
        if (missing[i] == 0)
        {
            free.push_back(i);
        }
    }
    std::size_t taken = 0;
    while (!free.empty())
    {
        const uint32_t i = free.back();
        free.pop_back();
        ++taken;
        for (uint32_t next : dependents[i])
        {
            if (--missing[next] == 0)
            {
                free.push_back(next);
            }
        }
    }
    if (taken == flows.size())
    {
        return {};
    }
    // What is left waits for something that is left: going on ends in a circle.
    uint32_t at = 0;
    while (missing[at] == 0)
    {
        ++at;
    }
    std::vector<uint32_t> way;
    std::vector<bool> seen(flows.size(), false);
    while (!seen[at])
    {
        seen[at] = true;
        way.push_back(at);
        at = *std::find_if(flows[at].after.begin(), flows[at].after.end(), [&](uint32_t before) {
            return missing[before] > 0;
        });
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), at));
    return way;
}

} // namespace proteus
} // namespace ns3
