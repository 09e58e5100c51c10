/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-same-choices.h"

#include "proteus-cloud-machines.h"

#include "ns3/proteus-alpha-beta-network.h"
#include "ns3/proteus-cluster-changes.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-launch-mode.h"
#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-peer-reach.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-protocol.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

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
    return std::make_tuple(rules.sockets.has_value(),
                           rules.sharesCore,
                           rules.socketThreads,
                           rules.socketsPerThread,
                           mode == LaunchMode::ONE_PROCESS && tuner.hasDirectStores,
                           launch);
}

/// @param rules of transports @return those that say who sends to whom, and by what
auto
DescribeRules(const TransportRules& rules)
{
    return std::make_tuple(rules.version,
                           rules.cpuVendor,
                           rules.pxn,
                           rules.crossNic,
                           rules.peerToPeer,
                           rules.p2pLevel,
                           rules.gdr,
                           rules.gdrLevel,
                           rules.gdrRead);
}

/// @param links to or from the memory of a host @return what they carry
std::vector<std::tuple<LinkId, bool, double, double>>
DescribeHostLinks(const std::vector<HostLink>& links)
{
    std::vector<std::tuple<LinkId, bool, double, double>> all;
    for (const HostLink& link : links)
    {
        all.emplace_back(link.link,
                         link.isForwards,
                         link.bytesPerSecond,
                         link.exchangeBytesPerSecond);
    }
    return all;
}

/// How the ranks of a communication send to each other.
class Transports
{
  public:
    /// @param cluster of the ranks @param paths of it @param group the ranks
    /// @param request complete, of the communication
    Transports(const Cluster& cluster,
               const Paths& paths,
               const std::vector<DeviceId>& group,
               const CollectiveRequest& request)
        : m_cluster(cluster),
          m_paths(paths),
          m_group(group),
          m_request(request),
          m_nics(cluster, request.rules.pxn),
          m_reads(ListGdrReads(request.rules, cluster, paths, group))
    {
    }

    /// @param block of the program of a rank @param rank which one @return how it sends
    auto Describe(const ThreadBlock& block, std::size_t rank) const
    {
        const Connection way = PlanConnection(m_cluster,
                                              m_paths,
                                              m_nics,
                                              0,
                                              block.channel,
                                              m_group[rank],
                                              m_group[block.sendPeer],
                                              true,
                                              m_request.rules,
                                              m_reads[rank]);
        // A connection that reads or writes by a CPU has less where the rules limit it.
        const bool isByCpu =
            way.readingNic != Cluster::NO_VERTEX || way.writingNic != Cluster::NO_VERTEX;
        std::vector<double> memories; // that it passes
        for (const VertexId at : way.waypoints)
        {
            memories.push_back(m_cluster.GetVertices()[at].memoryBytesPerSecond);
        }
        return std::make_tuple(way.waypoints,
                               memories,
                               way.copyMethod,
                               way.hop,
                               DescribeHostLinks(way.hostWrite),
                               DescribeHostLinks(way.hostRead),
                               way.readingNic,
                               way.writingNic,
                               way.exchangeBytesPerSecond,
                               way.lineBytesPerSecond,
                               isByCpu && m_request.rules.LimitsNetwork(m_request.protocol));
    }

  private:
    const Cluster& m_cluster;             //!< of the ranks
    const Paths& m_paths;                 //!< of the cluster
    const std::vector<DeviceId>& m_group; //!< the ranks
    const CollectiveRequest& m_request;   //!< of the communication
    NicTable m_nics;                      //!< of the cluster
    std::vector<bool> m_reads;            //!< by rank, ListGdrReads()
};

/// Where a job runs, and how it communicates there.
struct Setting
{
    /// @param graph of the job @param where it runs @param settings of its collectives
    Setting(const ExecutionGraph& graph, const Cluster& where, const CollectiveSettings& settings)
        : cluster(where),
          paths(where),
          programs(graph, where, paths, settings)
    {
    }

    const Cluster& cluster;
    Paths paths;           //!< of the cluster
    ProgramCache programs; //!< of the collectives
};

/// @param graph of a job @param task a communication of it @param first a setting of it
/// @param second another one, which chose alike, on a cluster of the same links
/// @return whether their ranks send to the same ones by the same ways; of many ranks, whether the
/// rules and the cluster are the same
bool
AreSentAlike(const ExecutionGraph& graph, TaskId task, const Setting& first, const Setting& second)
{
    constexpr std::size_t MOST_RANKS = 64;              // whose programs are small
    constexpr uint64_t MOST_BYTES = uint64_t{64} << 16; // enough for a part of each channel
    CollectiveRequest a = first.programs.MakeRequest(task);
    CollectiveRequest b = second.programs.MakeRequest(task);
    const std::vector<DeviceId>& group = graph.GetGroup(graph.GetTask(task).place);
    const bool isSame =
        &first.cluster == &second.cluster && DescribeRules(a.rules) == DescribeRules(b.rules);
    if (isSame || group.size() > MOST_RANKS)
    {
        return isSame;
    }
    a.bytes = std::min(a.bytes, MOST_BYTES);
    b.bytes = a.bytes;
    const CollectiveProgram one = first.programs.Make(a);
    const CollectiveProgram other = second.programs.Make(b);
    const Transports ways(first.cluster, first.paths, group, a);
    const Transports otherWays(second.cluster, second.paths, group, b);
    for (std::size_t rank = 0; rank < one.ranks.size(); ++rank)
    {
        const auto& blocks = one.ranks[rank].blocks;
        const auto& others = other.ranks[rank].blocks;
        const bool isAlike =
            blocks.size() == others.size() &&
            std::equal(blocks.begin(),
                       blocks.end(),
                       others.begin(),
                       [&](const auto& x, const auto& y) {
                           return x.channel == y.channel && x.sendPeer == y.sendPeer &&
                                  x.receivePeer == y.receivePeer && x.group == y.group &&
                                  x.steps.size() == y.steps.size() &&
                                  (x.sendPeer == NO_RANK ||
                                   ways.Describe(x, rank) == otherWays.Describe(y, rank));
                       });
        if (!isAlike)
        {
            return false;
        }
    }
    return true;
}

/// @param graph of a job @param first a setting of it @param second another one, on a cluster of
/// the same links @return whether that is the same for every communication
bool
AreAlike(const ExecutionGraph& graph, Setting& first, const Setting& second)
{
    const std::vector<TaskId> tasks = first.programs.ListDistinct();
    return std::all_of(tasks.begin(), tasks.end(), [&](TaskId id) {
        return AreChosenAlike(first.programs.MakeRequest(id), second.programs.MakeRequest(id)) &&
               AreSentAlike(graph, id, first, second);
    });
}

/// @param cluster that a job runs on @param a a setting of it @param b another one
/// @return whether one of them made its GPUs servers of their own, see MakeNcclCluster()
bool
PartsServers(const Cluster& cluster, const CollectiveSettings& a, const CollectiveSettings& b)
{
    return UsesHostMemory(a.ncclVariables) != UsesHostMemory(b.ncclVariables) &&
           HasPartedServers(cluster);
}

/// @param a a cluster @param b another one @return whether their links are the same
bool
HasSameLinks(const Cluster& a, const Cluster& b)
{
    const auto describe = [](const Link& link) {
        return std::make_tuple(link.a,
                               link.b,
                               link.technology,
                               link.bytesPerSecond,
                               link.delayPs,
                               link.framing.unitBytes,
                               link.framing.packetBytes);
    };
    return a.GetVertices().size() == b.GetVertices().size() &&
           std::equal(a.GetLinks().begin(),
                      a.GetLinks().end(),
                      b.GetLinks().begin(),
                      b.GetLinks().end(),
                      [&](const Link& x, const Link& y) { return describe(x) == describe(y); });
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
    if (DescribeVersion(a) != DescribeVersion(b) || PartsServers(cluster, a, b))
    {
        return false;
    }
    Setting first(graph, cluster, a);
    return AreAlike(graph, first, Setting(graph, cluster, b));
}

bool
CommunicateAlike(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Cluster& other,
                 const CollectiveSettings& settings)
{
    if (!HasSameLinks(cluster, other))
    {
        return false;
    }
    Setting first(graph, cluster, settings);
    return AreAlike(graph, first, Setting(graph, other, settings));
}

bool
TimeAlike(const ExecutorTraits& traits,
          const ExecutorSettings& settings,
          const CollectiveSettings& without,
          const Cluster& cluster,
          const ExecutionGraph& graph,
          bool slowsKernels)
{
    return !traits.hasPackets && !traits.hasPaths && traits.repeats.empty() &&
           !PartsServers(cluster, settings.collectives, without) &&
           TakeAlike(graph,
                     cluster,
                     MakeFlowParameters(settings, traits.needsCalibration),
                     slowsKernels,
                     settings.collectives,
                     without);
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
