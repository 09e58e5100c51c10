/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-same-choices.h"

#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-program-cache.h"

#include <set>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param request that is complete @return what was chosen
auto
DescribeChoice(const CollectiveRequest& request)
{
    return std::make_tuple(request.algorithm,
                           request.protocol,
                           request.channels,
                           request.chunkBytes,
                           request.slots,
                           request.stepsPerChunk,
                           request.leastStepBytes,
                           request.networkChannels,
                           request.relaysMessages,
                           request.messagesOfBlock,
                           request.messageProcessors);
}

/// @param settings of collectives @return what the version of NCCL decides besides choices
auto
DescribeVersion(const CollectiveSettings& settings)
{
    const NcclTuner& tuner = GetNcclTuner(settings.ncclVersion);
    return std::make_tuple(tuner.hasPxn,
                           tuner.hasDirectStores,
                           &CollectiveCosts::Get(settings.costs).GetLaunch(settings.ncclVersion));
}

} // namespace

bool
AreChosenAlike(const CollectiveRequest& a, const CollectiveRequest& b)
{
    return DescribeChoice(a) == DescribeChoice(b);
}

bool
CommunicateAlike(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const CollectiveSettings& a,
                 const CollectiveSettings& b)
{
    if (DescribeVersion(a) != DescribeVersion(b))
    {
        return false;
    }
    const Paths paths(cluster);
    ProgramCache first(graph, cluster, paths, a);
    const ProgramCache second(graph, cluster, paths, b);
    std::set<ProgramCache::Key> known;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        if (graph.GetTask(id).kind == TaskKind::COMMUNICATION &&
            known.insert(first.GetKey(id)).second &&
            !AreChosenAlike(first.MakeRequest(id), second.MakeRequest(id)))
        {
            return false;
        }
    }
    return true;
}

} // namespace proteus
} // namespace ns3
