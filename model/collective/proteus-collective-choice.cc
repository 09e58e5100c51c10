/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-choice.h"

#include "proteus-algorithm-traits.h"
#include "proteus-chunk-rules.h"
#include "proteus-message-plan.h"
#include "proteus-net-plugin.h"
#include "proteus-server-links.h"
#include "proteus-tuner-patterns.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nccl-thresholds.h"
#include "ns3/proteus-nccl-tuner.h"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t DEFAULT_CAPABILITY = 80;  // of GPUs of unknown models
constexpr double SLOW_RING_GBPS = 12;        // all channels together, no more: plain PCIe
constexpr uint32_t FIRST_WHOLE_CHUNKS = 220; // version whose trees of Simple cut nothing shorter
constexpr uint32_t FIRST_DOUBLED_CHUNKS = 229;
constexpr uint32_t FIRST_CHUNKS_OF_SLOTS = 213; // of messages inside a server
constexpr uint32_t FIRST_CHUNKS_OF_PCIE = 216;
constexpr uint32_t BLACKWELL = 100;    // compute capability, ten times
constexpr uint32_t MOST_CHANNELS = 64; // MAXCHANNELS of NCCL
/// The first version that carries out nothing that NCCL_ALGO and NCCL_PROTO do not name; those
/// before take rings then (NVIDIA/nccl v2.18.3, src/graph/tuning.cc, "Never disable ring for
/// non-allreduce operations"; v2.19.3 to v2.23.4, ncclComm::ringbdw).
constexpr uint32_t FIRST_STRICT_CHOICE = 224;

// See WarpRule.
constexpr uint32_t FIRST_SEGMENTS = 208;
constexpr uint32_t FIRST_HALVES = 212;
constexpr uint32_t FIRST_WORKS = 222;

/// @param version of NCCL @return how messages share the warps of a thread block
WarpRule
FindWarpRule(uint32_t version)
{
    return version >= FIRST_WORKS      ? WarpRule::WORKS
           : version >= FIRST_HALVES   ? WarpRule::HALVES
           : version >= FIRST_SEGMENTS ? WarpRule::SEGMENTS
                                       : WarpRule::BLOCK;
}

/// @param channels of a communicator, a thread block each @param variables of NCCL @return as many
/// as they let it have of thread blocks
uint32_t
LimitBlocks(uint32_t channels, const NcclVariables& variables)
{
    const uint32_t most = variables.mostBlocks > 0 ? variables.mostBlocks : MOST_CHANNELS;
    return std::max(std::min(channels, most), std::min(variables.leastBlocks, most));
}

/// @param channels that were found @param variables of NCCL @return as many as they want: first no
/// more, then no less, of which the first ones are doubled (NVIDIA/nccl v2.30.7,
/// src/graph/connect.cc, ncclTopoPostset())
uint32_t
LimitChannels(uint32_t channels, const NcclVariables& variables)
{
    const uint32_t most = variables.mostChannels > 0 ? variables.mostChannels : MOST_CHANNELS;
    return std::max(LimitBlocks(std::min(channels, most), variables), variables.leastChannels);
}

/// @param collective one @param variables of NCCL @return whether they name LL128 for it, so that
/// NCCL does not ask whether the GPUs have it
bool
NamesLl128(Collective collective, const NcclVariables& variables)
{
    return variables.protocols.count(collective) > 0 &&
           variables.Allows(collective, Protocol::LL128);
}

/// @param collective a collective @return the algorithms for it that NCCL's tuner knows, in the
/// order of its tables
std::vector<const AlgorithmTraits*>
FindTunable(Collective collective)
{
    std::vector<const AlgorithmTraits*> found;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (traits.tunable && traits.makers.count(collective) > 0)
        {
            found.push_back(&traits);
        }
    }
    std::sort(found.begin(), found.end(), [](const AlgorithmTraits* a, const AlgorithmTraits* b) {
        return *a->tunable < *b->tunable;
    });
    return found;
}

/// @param algorithm of NCCL's tuner @return what it is called here
std::string
FindTuned(NcclAlgorithm algorithm)
{
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (traits.tunable == algorithm)
        {
            return traits.name;
        }
    }
    return "";
}

/// @param collective a collective @return the algorithm for it that keeps rails, or an empty text
std::string
FindRailed(Collective collective)
{
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (traits.keepsRails && traits.makers.count(collective) > 0)
        {
            return traits.name;
        }
    }
    return "";
}

Protocol
FromNccl(NcclProtocol protocol)
{
    return protocol == NcclProtocol::LL      ? Protocol::LL
           : protocol == NcclProtocol::LL128 ? Protocol::LL128
                                             : Protocol::SIMPLE;
}

} // namespace

TransportRules
MakeTransportRules(const CollectivePreferences& preferences)
{
    TransportRules rules = preferences.variables.transports;
    rules.version = preferences.ncclVersion;
    rules.cpuVendor = preferences.cpuVendor;
    rules.pxn = GetNcclTuner(preferences.ncclVersion).hasPxn && preferences.variables.pxn &&
                rules.peerToPeer; // what would be handed on by NVLink
    rules.sockets = FindNetPlugin(preferences.netPlugin).sockets;
    rules.sharesCore = FindNetPlugin(preferences.netPlugin).sharesCore;
    if (rules.sockets)
    {
        // 2.4 had a thread for each connection unless the NIC was Amazon's.
        constexpr uint32_t HAS_PROXY_ONLY = 205;
        SocketRules& sockets = *rules.sockets;
        if (rules.version < HAS_PROXY_ONLY && sockets.flowBytesPerSecond == 0)
        {
            sockets.threads = 1;
            sockets.perThread = 1;
        }
        sockets.threads = rules.socketThreads.value_or(sockets.threads);
        sockets.perThread = rules.socketsPerThread.value_or(sockets.perThread);
    }
    return rules;
}

NcclProtocol
ToNcclProtocol(Protocol protocol)
{
    return protocol == Protocol::LL      ? NcclProtocol::LL
           : protocol == Protocol::LL128 ? NcclProtocol::LL128
                                         : NcclProtocol::SIMPLE;
}

CollectiveChooser::CollectiveChooser(const Cluster& cluster,
                                     const Paths& paths,
                                     const CollectivePreferences& preferences)
    : m_cluster(cluster),
      m_paths(paths),
      m_preferences(preferences),
      m_rules(MakeTransportRules(preferences))
{
}

uint32_t
CollectiveChooser::GetComputeCapability(const std::vector<VertexId>& vertices) const
{
    if (m_preferences.computeCapability > 0)
    {
        return m_preferences.computeCapability;
    }
    const uint32_t known = FindComputeCapability(m_cluster.GetVertices()[vertices.front()].model);
    return known > 0 ? known : DEFAULT_CAPABILITY;
}

CpuVendor
CollectiveChooser::GetCpuVendor(const std::vector<VertexId>& vertices) const
{
    return FindCpuVendor(m_preferences.cpuVendor, m_cluster, vertices);
}

const ChannelSearch&
CollectiveChooser::GetSearch(const std::vector<VertexId>& vertices) const
{
    const auto found = m_searches.find(vertices);
    if (found != m_searches.end())
    {
        return found->second;
    }
    ChannelSearch search = SearchChannels(m_cluster,
                                          m_paths,
                                          vertices,
                                          GetComputeCapability(vertices),
                                          GetCpuVendor(vertices),
                                          m_rules);
    search.workingChannels = LimitChannels(search.workingChannels, m_preferences.variables);
    return m_searches.emplace(vertices, search).first->second;
}

NcclSystem
CollectiveChooser::MakeSystem(const std::vector<VertexId>& vertices) const
{
    const ChannelSearch& search = GetSearch(vertices);
    std::set<int32_t> servers;
    for (const VertexId vertex : vertices)
    {
        servers.insert(m_cluster.GetDomain(vertex));
    }
    NcclSystem system;
    system.ranks = static_cast<uint32_t>(vertices.size());
    system.servers = static_cast<uint32_t>(servers.size());
    system.leastRanks = search.leastRanks;
    system.computeCapability = GetComputeCapability(vertices);
    system.cpu = GetCpuVendor(vertices);
    system.version = m_preferences.ncclVersion;
    system.collnet = m_preferences.collnet;
    system.ring = ToNccl(search.ring);
    system.tree = ToNccl(search.tree);
    system.nvls = ToNccl(search.nvls);
    system.simpleTree = search.hasSimpleTree;
    const NetPlugin& plugin = FindNetPlugin(m_preferences.netPlugin);
    system.pat = m_preferences.variables.pat;
    system.c2cLl128 = m_preferences.variables.c2cLl128;
    if (!plugin.nvls || !m_preferences.variables.nvls)
    {
        system.nvls.channels = 0;
    }
    for (NcclPattern* pattern : {&system.ring, &system.tree, &system.nvls})
    {
        pattern->latencyInterUs = plugin.reportedUs;
    }
    if (m_preferences.ncclVersion < 208 && system.servers > 1)
    {
        system.tree.intraGBps = std::min(system.tree.intraGBps, system.tree.interGBps);
    }
    return system;
}

NvlsPlan
CollectiveChooser::PlanNvlsOf(const std::vector<VertexId>& vertices) const
{
    const ChannelSearch& search = GetSearch(vertices);
    NvlsQuestion question;
    question.version = m_preferences.ncclVersion;
    question.computeCapability = GetComputeCapability(vertices);
    question.servers = MakeSystem(vertices).servers;
    question.ranksOfServer = search.leastRanks;
    question.cardGBps = question.servers > 1 ? search.networkGBps / search.networkCards : 0;
    question.toCard = search.nvls.typeInter;
    NvlsPlan plan = PlanNvls(question);
    const NcclVariables& variables = m_preferences.variables;
    plan.channels = variables.nvlsChannels > 0 ? variables.nvlsChannels : plan.channels;
    plan.channels = LimitBlocks(plan.channels, variables);
    if (variables.nvlsChunkBytes > 0)
    {
        const bool isSame = plan.treeChunkBytes == plan.chunkBytes; // of trees nothing else is said
        plan.chunkBytes = variables.nvlsChunkBytes;
        plan.treeChunkBytes = isSame ? plan.chunkBytes : plan.treeChunkBytes;
    }
    plan.treeChunkBytes =
        variables.nvlsTreeChunkBytes > 0 ? variables.nvlsTreeChunkBytes : plan.treeChunkBytes;
    if (question.version >= FIRST_CHUNKS_OF_NVLS)
    {
        plan.treeChunkBytes = std::min(plan.treeChunkBytes, plan.chunkBytes);
    }
    return plan;
}

uint64_t
CollectiveChooser::GetMessageChunk(const std::vector<VertexId>& vertices,
                                   const ChunkQuestion& question) const
{
    const NcclVariables& variables = m_preferences.variables;
    // Servers of Grace and Blackwell have four GPUs: computeBuffSizes() of NCCL v2.29.2,
    // src/init.cc.
    const bool isDoubled =
        question.hasNetworkPeers && m_preferences.ncclVersion >= FIRST_DOUBLED_CHUNKS &&
        GetCpuVendor(vertices) == CpuVendor::ARM && GetComputeCapability(vertices) >= BLACKWELL;
    const uint64_t said = question.hasNetworkPeers  ? variables.networkChunkBytes
                          : question.hasNvlinkPeers ? variables.nvlinkChunkBytes
                                                    : variables.pcieChunkBytes;
    // Up to 2.12 (src/proxy.cc, ncclProxyComputeP2p()) a quarter of a slot everywhere; then, up to
    // 2.15, a slot inside a server, also over PCIe.
    const bool isWhole =
        !question.hasNetworkPeers && m_preferences.ncclVersion >= FIRST_CHUNKS_OF_SLOTS &&
        (question.hasNvlinkPeers || m_preferences.ncclVersion < FIRST_CHUNKS_OF_PCIE);
    const uint64_t usual = isWhole ? P2P_NVLINK_BYTES : P2P_NETWORK_BYTES;
    // Messages have the slots of Simple: computeBuffSizes() of NCCL, src/init.cc.
    return std::min((isDoubled ? 2 : 1) * (said > 0 ? said : usual),
                    GetTraits(Protocol::SIMPLE)
                        .SlotBytes(GetBufferBytes(variables,
                                                  Protocol::SIMPLE,
                                                  m_preferences.ncclVersion,
                                                  GetCpuVendor(vertices))));
}

void
CollectiveChooser::Complete(CollectiveRequest& request) const
{
    if (request.vertices.size() < 2)
    {
        return;
    }
    request.rules = m_rules;
    request.algorithm = request.algorithm.empty() ? m_preferences.algorithm : request.algorithm;
    FindAlgorithm(request.collective, request.algorithm); // throws if there is none
    const ChannelSearch& search = GetSearch(request.vertices);
    const NcclSystem system = MakeSystem(request.vertices);
    ChunkQuestion question;
    question.collective = request.collective;
    question.bytes = request.bytes;
    question.ranks = system.ranks;
    question.servers = system.servers;
    question.leastRanks = system.leastRanks;
    question.protocol = m_preferences.protocol.empty() ? Protocol::SIMPLE
                                                       : ProtocolFromString(m_preferences.protocol);
    question.leastTrafficBytes = GetNcclTuner(m_preferences.ncclVersion).leastTrafficBytes;
    question.hasNetworkPeers = system.servers > 1;
    question.hasNvlinkPeers = search.ring.typeIntra == PathType::NVL;
    if (IsPointToPoint(request.collective))
    {
        CompleteMessages(search, question, request);
    }
    else
    {
        CompleteTuned(search, system, question, request);
    }
}

void
CollectiveChooser::CompleteMessages(const ChannelSearch& search,
                                    ChunkQuestion question,
                                    CollectiveRequest& request) const
{
    const NcclVariables& variables = m_preferences.variables;
    if (request.algorithm.empty() && question.servers > 1 && m_preferences.pxn &&
        variables.messagesByPxn && question.hasNvlinkPeers &&
        HandsOnMessages(m_rules, m_cluster, m_paths, request.vertices))
    {
        request.algorithm = FindRailed(request.collective);
    }
    if (request.algorithm.empty())
    {
        request.algorithm = GetAlgorithms(request.collective).front();
    }
    MessageQuestion message;
    message.bytes = request.collective == Collective::SEND_RECV ? request.bytes
                                                                : request.bytes / question.ranks;
    message.ranks = std::max(m_preferences.communicatorRanks, question.ranks);
    message.servers = std::max(m_preferences.communicatorServers, question.servers);
    message.isInside = question.servers == 1;
    message.channels = m_preferences.communicatorChannels > 0 ? m_preferences.communicatorChannels
                                                              : search.workingChannels;
    if (variables.mostMessageChannels > 0)
    {
        message.channels = std::min(message.channels, variables.mostMessageChannels);
    }
    message.channels = std::max(message.channels, variables.leastMessageChannels);
    message.localChannels = search.messageChannels;
    message.networkChannels = m_preferences.networkChannels > 0 ? m_preferences.networkChannels
                                                                : variables.networkChannels;
    message.networkGBps = search.networkGBps;
    message.networkCards = search.networkCards;
    // Parts and chunks are those of the communicator, also inside a server (p2pChunkSize).
    ChunkQuestion ofCommunicator = question;
    ofCommunicator.hasNetworkPeers = message.servers > 1;
    message.chunkBytes = GetMessageChunk(request.vertices, ofCommunicator);
    question.messageChunkBytes = message.chunkBytes;
    message.version = m_preferences.ncclVersion;
    message.llBytes = variables.llMessageBytes.value_or(message.llBytes);
    if (variables.networkChannelGBps > 0)
    {
        message.networkChannelGBps = static_cast<double>(variables.networkChannelGBps);
    }
    if (const uint64_t ll = variables.bufferBytes[static_cast<std::size_t>(Protocol::LL)]; ll > 0)
    {
        message.llStepBytes = ll / CHUNK_SLOTS;
    }
    const MessagePlan messages = PlanMessage(message);
    if (m_preferences.protocol.empty())
    {
        question.protocol = messages.protocol;
    }
    question.algorithm = request.algorithm;
    question.bufferBytes = GetBufferBytes(variables,
                                          question.protocol,
                                          m_preferences.ncclVersion,
                                          GetCpuVendor(request.vertices));
    ChunkPlan plan = PlanChunks(question);
    if (!message.isInside)
    {
        plan.stepBytes = std::min(plan.stepBytes, messages.chunkBytes);
    }
    request.channels = m_preferences.channels > 0 ? m_preferences.channels : messages.channels;
    request.networkChannels =
        m_preferences.networkChannels > 0 ? m_preferences.networkChannels : messages.channels;
    if (request.collective == Collective::SEND_RECV && question.servers > 1)
    {
        request.channels = request.networkChannels;
    }
    request.protocol = question.protocol;
    request.messagesOfBlock = GetNcclTuner(m_preferences.ncclVersion).messagesOfBlock;
    request.messageProcessors = messages.processors;
    request.warpRule = FindWarpRule(m_preferences.ncclVersion);
    request.chunkBytes = plan.stepBytes;
    request.slots = plan.slots;
    request.stepsPerChunk = 1;
    request.relaysMessages = GetNcclTuner(m_preferences.ncclVersion).hasRelays;
}

bool
CollectiveChooser::Choose(const CollectiveRequest& request,
                          const NcclSystem& system,
                          bool heedsAlgorithms,
                          CollectiveRequest& chosen) const
{
    const NcclVariables& variables = m_preferences.variables;
    NcclSystem asked = system;
    asked.forcesLl128 = NamesLl128(request.collective, variables);
    const NcclCostModel model(asked);
    const std::set<Protocol>& admitted = FindNetPlugin(m_preferences.netPlugin).protocols;
    const auto isWanted = [&](Protocol protocol) {
        return !m_preferences.protocol.empty() ? chosen.protocol == protocol
               : variables.protocols.count(request.collective) > 0
                   ? variables.Allows(request.collective, protocol)
                   : admitted.count(protocol) > 0;
    };
    double least = std::numeric_limits<double>::infinity();
    Protocol best = chosen.protocol;
    for (const AlgorithmTraits* candidate : FindTunable(request.collective))
    {
        if ((!request.algorithm.empty() && request.algorithm != candidate->name) ||
            (heedsAlgorithms && !variables.Allows(request.collective, *candidate->tunable)))
        {
            continue;
        }
        for (const NcclProtocol protocol :
             {NcclProtocol::LL, NcclProtocol::LL128, NcclProtocol::SIMPLE})
        {
            const double time =
                model.GetTimeUs(request.collective, *candidate->tunable, protocol, request.bytes);
            if (isWanted(FromNccl(protocol)) && time < least)
            {
                least = time;
                chosen.algorithm = candidate->name;
                best = FromNccl(protocol);
            }
        }
    }
    chosen.protocol = best;
    return least < std::numeric_limits<double>::infinity();
}

uint32_t
CollectiveChooser::ChooseByThresholds(const ChannelSearch& search,
                                      const NcclSystem& system,
                                      CollectiveRequest& request) const
{
    const NcclTuner& tuner = GetNcclTuner(m_preferences.ncclVersion);
    NcclThresholdQuestion question;
    question.collective = request.collective;
    question.bytes = request.bytes;
    question.ranks = system.ranks;
    question.servers = system.servers;
    question.channels = search.workingChannels;
    question.computeCapability = system.computeCapability;
    question.hasNvlink = system.ring.typeIntra <= NcclPath::NVB;
    question.llBytes = m_preferences.variables.llThresholdBytes;
    question.treeBytes = m_preferences.variables.treeThresholdBytes;
    if (request.algorithm.empty())
    {
        const bool isTree = tuner.hasTrees && IsTreeByThreshold(question);
        request.algorithm = FindTuned(isTree ? NcclAlgorithm::TREE : NcclAlgorithm::RING);
    }
    const auto tunable = GetAlgorithmTraits(request.algorithm).tunable;
    if (!tunable)
    {
        return 0;
    }
    const NcclLlPlan ll = PlanLlByThreshold(question, tunable == NcclAlgorithm::TREE);
    if (m_preferences.protocol.empty())
    {
        const std::set<Protocol>& admitted = FindNetPlugin(m_preferences.netPlugin).protocols;
        request.protocol =
            ll.isTaken && admitted.count(Protocol::LL) > 0 ? Protocol::LL : Protocol::SIMPLE;
    }
    return request.protocol == Protocol::LL ? ll.channels : search.workingChannels;
}

void
CollectiveChooser::ChooseByModel(const NcclSystem& system, CollectiveRequest& request) const
{
    // What the tuner knows, of what the user leaves open; otherwise what the user wants.
    const NcclVariables& variables = m_preferences.variables;
    CollectiveRequest chosen = request;
    const bool isStrict = m_preferences.ncclVersion >= FIRST_STRICT_CHOICE;
    const bool isListed = variables.algorithms.count(request.collective) +
                              variables.protocols.count(request.collective) >
                          0;
    if (!Choose(request, system, true, chosen) && isListed && request.algorithm.empty())
    {
        if (isStrict || !Choose(request, system, false, chosen))
        {
            throw std::invalid_argument(
                std::string(ToString(request.collective)) + " of " + std::to_string(system.ranks) +
                " ranks in " + std::to_string(system.servers) +
                (system.servers == 1 ? " server" : " servers") +
                ": NCCL_ALGO and NCCL_PROTO leave nothing that NCCL " +
                FormatNcclVersion(m_preferences.ncclVersion) + " has there");
        }
    }
    request.protocol = chosen.protocol;
    // Where the model knows none, or would take none, it is as the user says.
    request.algorithm =
        chosen.algorithm.empty() ? GetAlgorithms(request.collective).front() : chosen.algorithm;
}

void
CollectiveChooser::CompleteTuned(const ChannelSearch& search,
                                 const NcclSystem& system,
                                 ChunkQuestion question,
                                 CollectiveRequest& request) const
{
    const NcclVariables& variables = m_preferences.variables;
    request.protocol = question.protocol;
    uint32_t channels = m_preferences.channels;
    if (GetNcclTuner(m_preferences.ncclVersion).hasModel)
    {
        ChooseByModel(system, request);
    }
    else
    {
        const uint32_t chosen = ChooseByThresholds(search, system, request);
        channels = channels > 0 ? channels : chosen;
    }
    question.algorithm = request.algorithm;
    question.protocol = request.protocol;
    const AlgorithmTraits& traits = GetAlgorithmTraits(request.algorithm);
    question.bufferBytes = GetBufferBytes(variables,
                                          request.protocol,
                                          m_preferences.ncclVersion,
                                          GetCpuVendor(request.vertices));
    const NvlsPlan nvls = PlanNvlsOf(request.vertices);
    question.nvlsChunkBytes = nvls.chunkBytes;
    question.nvlsTreeChunkBytes = nvls.treeChunkBytes;
    question.channels =
        traits.hasSwitchChannels
            ? LimitChannels(CountSwitchChannels(search, system), m_preferences.variables)
        : !traits.hasNvlsChannels  ? search.workingChannels
        : search.nvls.channels > 0 ? nvls.channels
                                   : 1;
    const bool isSlow = search.ring.intraGBps * search.ring.channels <= SLOW_RING_GBPS;
    const uint32_t said =
        request.protocol == Protocol::LL128 ? variables.ll128Threads : variables.threads;
    const uint32_t usual = isSlow && request.protocol == Protocol::SIMPLE ? traits.slowThreads : 0;
    const uint32_t threads = said > 0 ? said : usual;
    request.channels = channels > 0 ? channels : PlanChannels(question, threads);
    question.channels = request.channels;
    ChunkPlan plan = PlanChunks(question);
    if (request.collective == Collective::ALL_REDUCE && request.protocol == Protocol::SIMPLE &&
        traits.tunable == NcclAlgorithm::TREE && m_preferences.ncclVersion < FIRST_WHOLE_CHUNKS)
    {
        plan.stepBytes = GetShortTreeChunk(question, plan.stepBytes);
    }
    request.chunkBytes = plan.stepBytes;
    request.slots = plan.slots;
    request.stepsPerChunk = plan.stepsPerChunk;
    request.leastStepBytes = plan.leastStepBytes;
}

} // namespace proteus
} // namespace ns3
