/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

CollectiveProgram
MakeSharpProgram(const Cluster& cluster, const Paths& /* paths */, const CollectiveRequest& request)
{
    const auto servers = GroupEvenlyByServer(cluster, request, "sharp");
    const std::string name = std::string(ToString(request.collective)) + ": algorithm sharp ";
    if (servers.size() < 2)
    {
        throw std::invalid_argument(name + "needs ranks in two servers or more");
    }
    const uint32_t channels = std::max(request.channels, 1u);
    const std::size_t places = servers.front().size();
    ProgramBuilder builder(request, "sharp", channels);
    for (std::size_t place = 0; place < places; ++place)
    {
        std::vector<VertexId> nics;
        for (const auto& server : servers)
        {
            nics.push_back(cluster.GetNic(request.vertices[server[place]]));
        }
        if (std::count(nics.begin(), nics.end(), Cluster::NO_VERTEX) > 0 ||
            !AreJoinedByReducingSwitches(cluster, nics, VertexKind::SWITCH))
        {
            throw std::invalid_argument(
                name + "needs NICs that network switches with multicast and reduction join");
        }
    }
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        const auto segment = [&](std::size_t place) {
            return CutExtent(CutExtent({0, request.bytes}, places, place), channels, channel);
        };
        const auto inside = [&](bool reduces) {
            for (const auto& server : servers)
            {
                for (std::size_t step = 1; step < places; ++step)
                {
                    for (std::size_t place = 0; place < places; ++place)
                    {
                        const std::size_t other = (place + step) % places;
                        builder.Transfer(server[place],
                                         server[other],
                                         channel,
                                         segment(reduces ? other : place),
                                         reduces);
                    }
                }
            }
        };
        inside(true);
        for (std::size_t place = 0; place < places; ++place)
        {
            std::vector<uint32_t> members;
            for (const auto& server : servers)
            {
                members.push_back(server[place]);
            }
            const auto chunks = builder.CutChunks(segment(place));
            if (chunks.empty())
            {
                continue;
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
                const uint64_t offset = chunks[i].offset;
                for (std::size_t m = 0; m < members.size(); ++m)
                {
                    // There is room when the result that had the same slot is taken.
                    if (i >= request.slots)
                    {
                        builder.WaitForStep(members[m],
                                            givers[m],
                                            takers[m],
                                            taken[m][i - request.slots]);
                    }
                    builder.Append(members[m],
                                   givers[m],
                                   {StepKind::GROUP_ALL_REDUCE, offset, chunks[i].bytes});
                }
                for (std::size_t m = 0; m < members.size(); ++m)
                {
                    builder.Append(members[m],
                                   takers[m],
                                   {StepKind::GROUP_RECV, offset, chunks[i].bytes});
                    taken[m].push_back(builder.GetNSteps(members[m], takers[m]) - 1);
                }
            }
        }
        inside(false);
    }
    return builder.Finish();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_SHARP([]() {
    AlgorithmTraits traits;
    traits.name = "sharp";
    traits.place = 40;
    traits.makers[Collective::ALL_REDUCE] = &MakeSharpProgram;
    traits.tunable = NcclAlgorithm::COLLNET_DIRECT;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
