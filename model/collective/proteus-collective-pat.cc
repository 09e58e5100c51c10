/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

#include <algorithm>
#include <vector>

namespace ns3
{
namespace proteus
{

CollectiveProgram
MakePatProgram(const Cluster& /* cluster */,
               const Paths& /* paths */,
               const CollectiveRequest& request)
{
    const uint32_t channels = std::max(request.channels, 1u);
    const bool gathers = request.collective == Collective::ALL_GATHER;
    ProgramBuilder builder(request, "pat", channels);
    const uint32_t n = builder.GetNRanks();
    std::vector<uint32_t> distances;
    for (uint32_t distance = 1; distance < n; distance *= 2)
    {
        distances.push_back(distance);
    }
    if (gathers)
    {
        std::reverse(distances.begin(), distances.end());
    }
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        for (const uint32_t distance : distances)
        {
            // In the tree of a segment, `near` stands `place` behind the owner, and `far` one
            // distance behind that.
            for (uint32_t place = 0; place + distance < n; place += 2 * distance)
            {
                for (uint32_t near = 0; near < n; ++near)
                {
                    const uint32_t owner = (near + n - place) % n;
                    const uint32_t far = (near + distance) % n;
                    const Extent segment = CutExtent({0, request.bytes}, n, owner);
                    builder.Transfer(gathers ? near : far,
                                     gathers ? far : near,
                                     channel,
                                     CutExtent(segment, channels, channel),
                                     !gathers);
                }
            }
        }
    }
    return builder.Finish();
}

namespace
{

/// See AlgorithmTraits::planChunks.
void
PlanPatChunks(const ChunkQuestion& question, ChunkPlan& plan)
{
    const uint64_t loops = question.collective == Collective::ALL_GATHER ? 32 : 16;
    const uint64_t channels = std::max(question.channels, 1u);
    while (plan.stepBytes * channels * loops > question.bytes && plan.stepBytes > 65536)
    {
        plan.stepBytes /= 2;
    }
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_PAT([]() {
    AlgorithmTraits traits;
    traits.name = "pat";
    traits.place = 50;
    traits.makers[Collective::ALL_GATHER] = &MakePatProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakePatProgram;
    traits.tunable = NcclAlgorithm::PAT;
    traits.planChunks = &PlanPatChunks;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
