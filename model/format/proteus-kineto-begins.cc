/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-begins.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{
namespace proteus
{
namespace kineto
{

Begins
FindBegins(const std::vector<const Rank*>& ranks)
{
    constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
    std::map<uint32_t, std::vector<std::size_t>> members; // by group
    for (std::size_t rank = 0; rank < ranks.size(); rank++)
    {
        for (const auto& [group, endUs] : ranks[rank]->firstEndUs)
        {
            members[group].push_back(rank);
        }
    }
    // Large groups first: the fewer steps, the less that ranks see an end late adds up.
    std::vector<uint32_t> groups;
    for (const auto& entry : members)
    {
        groups.push_back(entry.first);
    }
    std::stable_sort(groups.begin(), groups.end(), [&members](uint32_t a, uint32_t b) {
        return members[a].size() > members[b].size();
    });
    Begins begins;
    begins.laterUs.assign(ranks.size(), UNKNOWN);
    std::vector<double>& beginUs = begins.laterUs;
    for (std::size_t root = 0; root < ranks.size(); root++)
    {
        if (!std::isnan(beginUs[root]))
        {
            continue;
        }
        beginUs[root] = 0;
        begins.nApart++;
        std::vector<std::size_t> reached{root};
        for (std::size_t next = 0; next < reached.size(); next++)
        {
            const auto& ends = ranks[reached[next]]->firstEndUs;
            for (const uint32_t group : groups)
            {
                const auto end = ends.find(group);
                if (end == ends.end())
                {
                    continue;
                }
                for (const std::size_t other : members[group])
                {
                    if (std::isnan(beginUs[other]))
                    {
                        beginUs[other] = beginUs[reached[next]] + end->second -
                                         ranks[other]->firstEndUs.at(group);
                        reached.push_back(other);
                    }
                }
            }
        }
        double firstUs = 0;
        for (const std::size_t rank : reached)
        {
            firstUs = std::min(firstUs, beginUs[rank]);
        }
        for (const std::size_t rank : reached)
        {
            beginUs[rank] -= firstUs;
        }
    }
    return begins;
}

void
BeginLater(RankTrace& trace,
           double laterUs,
           TraceGraph& graph,
           std::map<std::string, StreamId>& streams)
{
    constexpr double PS_PER_US = 1e6;
    const char* const name = "begin of the recording";
    const auto found = streams.emplace(name, 0);
    if (found.second)
    {
        found.first->second = graph.AddStream(name, StreamOrder::IN_ORDER, true);
    }
    std::vector<bool> waits(trace.nodes.size(), false);
    for (const auto& [after, before] : trace.dependencies)
    {
        waits[after] = true;
    }
    TraceNode node;
    node.kind = TraceNode::Kind::COMPUTE;
    node.stream = found.first->second;
    node.name = graph.AddName(name);
    node.durationPs = std::llround(laterUs * PS_PER_US);
    const auto begin = static_cast<uint32_t>(trace.nodes.size());
    for (uint32_t i = 0; i < begin; i++)
    {
        // A receive waits for nothing, so that nothing can be put before it.
        if (!waits[i] && trace.nodes[i].kind != TraceNode::Kind::RECEIVE)
        {
            trace.dependencies.emplace_back(i, begin);
        }
    }
    trace.nodes.push_back(node);
    std::sort(trace.dependencies.begin(), trace.dependencies.end());
}

} // namespace kineto
} // namespace proteus
} // namespace ns3
