/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-switch-sum.h"

#include "proteus-algorithms.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
AppendSwitchSum(ProgramBuilder& builder,
                const std::vector<uint32_t>& members,
                uint32_t channel,
                const std::vector<Extent>& chunks,
                uint32_t slots)
{
    if (chunks.empty())
    {
        return;
    }
    const uint32_t group = builder.AddGroup(members);
    std::vector<uint32_t> givers;
    std::vector<uint32_t> takers;
    for (const uint32_t rank : members)
    {
        givers.push_back(builder.AddGroupBlock(rank, channel, group));
        takers.push_back(builder.AddGroupBlock(rank, channel, group));
    }
    std::vector<std::vector<uint32_t>> taken(members.size()); // by member: steps
    for (std::size_t i = 0; i < chunks.size(); ++i)
    {
        const auto [offset, bytes] = chunks[i];
        for (std::size_t m = 0; m < members.size(); ++m)
        {
            // There is room when the result that had the same slot is taken.
            if (i >= slots)
            {
                builder.WaitForStep(members[m], givers[m], takers[m], taken[m][i - slots]);
            }
            builder.Append(members[m], givers[m], {StepKind::GROUP_ALL_REDUCE, offset, bytes});
        }
        for (std::size_t m = 0; m < members.size(); ++m)
        {
            builder.Append(members[m], takers[m], {StepKind::GROUP_RECV, offset, bytes});
            taken[m].push_back(builder.GetNSteps(members[m], takers[m]) - 1);
        }
    }
}

void
CheckSwitchSums(const Cluster& cluster,
                const CollectiveRequest& request,
                const std::string& algorithm,
                const std::vector<std::vector<uint32_t>>& groups)
{
    const std::string name =
        std::string(ToString(request.collective)) + ": algorithm " + algorithm + " ";
    for (const auto& group : groups)
    {
        if (group.size() < 2)
        {
            throw std::invalid_argument(name + "needs ranks in two servers or more");
        }
        std::vector<VertexId> nics;
        for (const uint32_t rank : group)
        {
            nics.push_back(cluster.GetNic(request.vertices[rank]));
        }
        if (std::count(nics.begin(), nics.end(), Cluster::NO_VERTEX) > 0 ||
            !AreJoinedByReducingSwitches(cluster, nics, VertexKind::SWITCH))
        {
            throw std::invalid_argument(
                name + "needs NICs that network switches with multicast and reduction join");
        }
    }
}

} // namespace proteus
} // namespace ns3
