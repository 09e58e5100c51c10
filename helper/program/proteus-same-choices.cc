/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-same-choices.h"

#include "proteus-cloud-machines.h"

#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-launch-mode.h"
#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-protocol.h"

#include <map>
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
                           request.messageProcessors,
                           request.warpRule);
}

/// @param settings of collectives @return what the version of NCCL decides besides choices
auto
DescribeVersion(const CollectiveSettings& settings)
{
    const NcclTuner& tuner = GetNcclTuner(settings.ncclVersion);
    const TransportRules rules = MakeTransportRules(MakePreferences(settings));
    // A host that is ahead hides its launches, and one GPU for each process stores into no other's
    // buffers.
    const LaunchMode mode = LaunchModeFromString(settings.launchMode);
    const CollectiveLaunchCost* launch =
        mode == LaunchMode::STREAM
            ? nullptr
            : &CollectiveCosts::Get(settings.costs).GetLaunch(settings.ncclVersion);
    return std::make_tuple(rules.pxn,
                           rules.leavesRails,
                           rules.peerToPeer,
                           rules.p2pLevel,
                           rules.gdr,
                           rules.gdrLevel,
                           rules.gdrRead,
                           mode == LaunchMode::ONE_PROCESS && tuner.hasDirectStores,
                           launch);
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

std::vector<std::string>
FindUnlikeNccl(const CollectiveSettings& settings,
               const std::string& release,
               const Cluster& cluster)
{
    const std::string& algorithm = settings.algorithm;
    const std::string& protocol = settings.protocol;
    const NcclTuner& tuner = GetNcclTuner(settings.ncclVersion);
    const std::map<std::string, bool> ofVersion{{"nvls", tuner.hasNvls},
                                                {"nvls-tree", tuner.hasNvlsTree},
                                                {"pat", tuner.hasPat}};
    // src/graph/tuning.cc: what switches sum up, and PAT, have no other protocol.
    const std::set<std::string> ofSimple{"nvls", "nvls-tree", "sharp", "sharp-chain", "pat"};
    const std::string name = "NCCL " + FormatNcclVersion(settings.ncclVersion);
    const std::string end = ", but the collective is carried out";
    const bool isSimple = protocol.empty() || ProtocolFromString(protocol) == Protocol::SIMPLE;
    const bool isLl128 = !protocol.empty() && ProtocolFromString(protocol) == Protocol::LL128;
    std::vector<std::string> lines;
    const auto found = ofVersion.find(algorithm);
    if (found != ofVersion.end() && !found->second)
    {
        lines.push_back(name + " has no algorithm " + algorithm + end);
    }
    else if (ofSimple.count(algorithm) > 0 && !isSimple)
    {
        lines.push_back("NCCL has " + algorithm + " with protocol Simple only" + end + " with " +
                        protocol);
    }
    if (isLl128 && !tuner.hasLl128)
    {
        lines.push_back(name + " has no protocol LL128" + end);
    }
    const std::string& gpu = cluster.GetVertices()[cluster.GetGpus().front()].model;
    for (const std::string& line :
         {DescribeUnlikeRelease(release), DescribeOtherAdapters(settings.netPlugin, gpu)})
    {
        if (!line.empty())
        {
            lines.push_back(line);
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
