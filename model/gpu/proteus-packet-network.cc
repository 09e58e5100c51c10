/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-network.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusPacketNetwork");
NS_OBJECT_ENSURE_REGISTERED(PacketNetwork);

TypeId
PacketNetwork::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::PacketNetwork")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<PacketNetwork>()
            .AddAttribute("LaunchOverhead",
                          "Time between a rank joining a communication and its first step: start "
                          "and end of the kernel. Negative: that of CollectiveKernelCost.",
                          TimeValue(NanoSeconds(-1)),
                          MakeTimeAccessor(&PacketNetwork::m_launchOverhead),
                          MakeTimeChecker(NanoSeconds(-1)))
            .AddAttribute("LaunchMode",
                          "Who launches the kernels: stream (the host is far ahead and costs "
                          "nothing, as in training), process-per-gpu (a host thread for every GPU "
                          "launches one collective after the other from time 0 on), or "
                          "one-process (one host thread for all GPUs of a server).",
                          StringValue("stream"),
                          MakeStringAccessor(&PacketNetwork::m_launchMode),
                          MakeStringChecker())
            .AddAttribute("LaunchGap",
                          "What every kernel starts later than CollectiveKernelCost says: see "
                          "CollectiveLaunchCost::sharedThreadPs.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&PacketNetwork::m_launchGap),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute(
                "PluginLatency",
                "What the plug-in of the network takes for a chunk longer than RDMA does: "
                "0 for InfiniBand and RoCE, tens of microseconds for TCP.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&PacketNetwork::m_pluginLatency),
                MakeTimeChecker(Seconds(0)))
            .AddAttribute("KernelCosts",
                          "Whether steps of kernels cost time beside that on the wire: see "
                          "CollectiveKernelCost.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_kernelCosts),
                          MakeBooleanChecker())
            .AddAttribute("Algorithm",
                          "Algorithm of the collectives that have it. Empty, and for all other "
                          "collectives: as NCCL's cost model chooses.",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_algorithm),
                          MakeStringChecker())
            .AddAttribute("Protocol",
                          "Simple, LL or LL128; empty: as NCCL's cost model chooses.",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_protocol),
                          MakeStringChecker())
            .AddAttribute("ChunkBytes",
                          "Most bytes of one step of a collective's program; 0: as NCCL cuts.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_chunkBytes),
                          MakeUintegerChecker<uint64_t>(0))
            .AddAttribute("Channels",
                          "Channels of every collective; 0: as NCCL chooses.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_channels),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("NetworkChannels",
                          "Channels of a message, or of a pair of ranks of an all-to-all, between "
                          "servers; 0: one, as NCCL's default.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_networkChannels),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("CommunicatorRanks",
                          "Ranks of the communicator whose channels messages share; 0: the two of "
                          "the message.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_communicatorRanks),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "NcclVersion",
                "Version of NCCL that chooses algorithm and protocol, 100 times the major "
                "and the minor number, e.g. 207: see CollectivePreferences.",
                UintegerValue(230),
                MakeUintegerAccessor(&PacketNetwork::m_ncclVersion),
                MakeUintegerChecker<uint32_t>(200))
            .AddAttribute("KernelCopies",
                          "Whether kernels move the bytes between GPUs of one server, as NCCL's "
                          "do, and not copy engines.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_kernelCopies),
                          MakeBooleanChecker())
            .AddTraceSource("ChannelEnd",
                            "A thread block of a rank has done its last step.",
                            MakeTraceSourceAccessor(&PacketNetwork::m_channelEndTrace),
                            "ns3::proteus::PacketNetwork::ChannelEndTracedCallback");
    return tid;
}

PacketNetwork::PacketNetwork()
    : m_transport(CreateObject<Transport>())
{
    NS_LOG_FUNCTION(this);
}

PacketNetwork::~PacketNetwork()
{
    NS_LOG_FUNCTION(this);
}

void
PacketNetwork::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_graph = nullptr;
    m_rankRuns.clear();
    m_transport->Dispose();
    m_fabric = nullptr;
    Object::DoDispose();
}

int64_t
PacketNetwork::AssignStreams(int64_t stream)
{
    return m_transport->AssignStreams(stream);
}

void
PacketNetwork::SetUp(const ExecutionGraph& graph, Ptr<Fabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    m_graph = &graph;
    m_fabric = fabric;
    m_transport->SetFabric(fabric, this);
    m_groups.SetUp(m_transport);
    if (m_launchMode != "stream" && m_launchMode != "process-per-gpu" &&
        m_launchMode != "one-process")
    {
        throw std::invalid_argument("ns3::proteus::PacketNetwork::LaunchMode=" + m_launchMode +
                                    ": must be stream, process-per-gpu or one-process");
    }
    m_hostPs.assign(graph.GetNDevices(), 0);
    ProgramSettings settings;
    settings.algorithm = m_algorithm;
    settings.protocol = m_protocol;
    settings.chunkBytes = m_chunkBytes;
    settings.channels = m_channels;
    settings.networkChannels = m_networkChannels;
    settings.communicatorRanks = m_communicatorRanks;
    settings.ncclVersion = m_ncclVersion;
    settings.maker = m_maker;
    m_programs = std::make_unique<ProgramCache>(graph,
                                                m_fabric->GetCluster(),
                                                m_fabric->GetPaths(),
                                                settings);
}

std::shared_ptr<const CollectiveProgram>
PacketNetwork::GetProgram(TaskId id)
{
    const auto program = m_programs->Get(id);
    GetFacts(program);
    return program;
}

const ProgramFacts&
PacketNetwork::GetFacts(const std::shared_ptr<const CollectiveProgram>& program)
{
    auto& facts = m_facts[program.get()];
    if (!facts)
    {
        facts = std::make_unique<ProgramFacts>(MakeProgramFacts(*program));
    }
    return *facts;
}

uint64_t
PacketNetwork::GetTotalBytes()
{
    uint64_t bytes = 0;
    for (TaskId id = 0; id < m_graph->GetNTasks(); ++id)
    {
        const Task& task = m_graph->GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            bytes += GetFacts(GetProgram(id)).sentBytes * m_graph->GetNInstances(task);
        }
    }
    return bytes;
}

uint32_t
PacketNetwork::GetRank(GroupId group, DeviceId device) const
{
    const auto& devices = m_graph->GetGroup(group);
    return static_cast<uint32_t>(std::find(devices.begin(), devices.end(), device) -
                                 devices.begin());
}

uint32_t
PacketNetwork::GetQueuePair(GroupId group,
                            uint32_t channel,
                            uint32_t from,
                            uint32_t to,
                            double bytesPerSecond)
{
    const auto [place, isNew] =
        m_queuePairs.emplace(std::make_tuple(group, channel, from, to, bytesPerSecond), NO_ID);
    if (isNew)
    {
        const Connection connection = PlanConnection(m_fabric->GetCluster(),
                                                     m_fabric->GetPaths(),
                                                     group,
                                                     channel,
                                                     m_graph->GetGroup(group)[from],
                                                     m_graph->GetGroup(group)[to],
                                                     m_kernelCopies);
        QueuePairOptions options;
        options.source = connection.source;
        options.destination = connection.destination;
        options.waypoints = connection.waypoints;
        options.flow = connection.flow;
        options.copyMethod = connection.copyMethod;
        options.copyBytesPerSecond = options.copyMethod == CopyMethod::SM ? bytesPerSecond : 0;
        place->second = m_transport->CreateQueuePair(options);
        m_hops.resize(place->second + 1, HopKind::NETWORK);
        m_hops[place->second] = connection.hop;
    }
    return place->second;
}

uint32_t
PacketNetwork::GetBlockRun(const BlockKey& key)
{
    const auto [place, isNew] = m_blockIndex.emplace(key, NO_ID);
    if (isNew)
    {
        if (m_freeBlockRuns.empty())
        {
            m_freeBlockRuns.push_back(static_cast<uint32_t>(m_blockRuns.size()));
            m_blockRuns.emplace_back();
        }
        place->second = m_freeBlockRuns.back();
        m_freeBlockRuns.pop_back();
        m_blockRuns[place->second] = BlockRun();
    }
    return place->second;
}

void
PacketNetwork::Join(DeviceId device, TaskId task, uint32_t microBatch, std::function<void()> done)
{
    NS_LOG_FUNCTION(this << device << task << microBatch);
    if (m_freeRankRuns.empty())
    {
        m_freeRankRuns.push_back(static_cast<uint32_t>(m_rankRuns.size()));
        m_rankRuns.emplace_back();
    }
    const uint32_t id = m_freeRankRuns.back();
    m_freeRankRuns.pop_back();
    RankRun& run = m_rankRuns[id];
    run = RankRun();
    run.task = task;
    run.microBatch = microBatch;
    run.device = device;
    run.program = GetProgram(task);
    run.facts = &GetFacts(run.program);
    run.rank = GetRank(m_graph->GetTask(task).place, device);
    run.done = std::move(done);
    m_rankIndex.emplace(BlockKey{task, microBatch, device, 0}, id);
    ScheduleFunctionWithContext(
        m_fabric->GetNodes().Get(m_fabric->GetCluster().GetGpus()[device])->GetId(),
        CeilToStep(Launch(device, task)) - Simulator::Now(),
        [this, id]() { StartRank(id); });
}

const CollectiveKernelCost&
PacketNetwork::GetKernelCost(DeviceId device) const
{
    const Cluster& cluster = m_fabric->GetCluster();
    const uint32_t known =
        FindComputeCapability(cluster.GetVertices()[cluster.GetGpus()[device]].model);
    return GetCollectiveKernelCost(known);
}

int64_t
PacketNetwork::Launch(DeviceId device, TaskId id)
{
    int64_t launchedPs = Simulator::Now().GetPicoSeconds();
    const NcclProtocol protocol = ToNcclProtocol(GetProgram(id)->protocol);
    if (m_launchMode != "stream")
    {
        const Task& task = m_graph->GetTask(id);
        const CollectiveProgram& program = *GetProgram(id);
        const CollectiveLaunchCost& cost = GetCollectiveLaunchCost();
        const uint32_t rank = GetRank(task.place, device);
        int64_t onePs = cost.kernelPs;
        if (program.algorithm == "direct" || program.algorithm == "pxn")
        {
            std::set<std::pair<uint32_t, uint32_t>> peers;
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                peers.emplace(block.receivePeer, block.sendPeer);
            }
            // Of messages, every rank sends one and receives one in a kernel.
            onePs = task.collective == Collective::SEND_RECV ? onePs / 2 : onePs;
            onePs += static_cast<int64_t>(peers.size()) * cost.peerPs;
        }
        else
        {
            onePs += program.channels * cost.channelPs;
        }
        const auto& cluster = m_fabric->GetCluster();
        const auto& gpus = cluster.GetGpus();
        int64_t before = 0;
        int64_t all = 1;
        if (m_launchMode == "one-process")
        {
            const auto& vertices = cluster.GetVertices();
            all = 0;
            for (DeviceId other : m_graph->GetGroup(task.place))
            {
                const bool same = vertices[gpus[other]].server == vertices[gpus[device]].server;
                all += same;
                before += same && other < device;
            }
        }
        launchedPs = std::max(launchedPs, m_hostPs[device] + (before + 1) * onePs);
        m_hostPs[device] += all * onePs;
    }
    return launchedPs + m_launchGap.GetPicoSeconds() +
           (m_launchOverhead.IsStrictlyNegative()
                ? (m_kernelCosts ? GetKernelCost(device).GetKernelPs(protocol) : 0)
                : m_launchOverhead.GetPicoSeconds());
}

HopKind
PacketNetwork::GetHop(uint32_t queuePair) const
{
    return m_hops[queuePair];
}

double
PacketNetwork::GetWireRate(DeviceId device,
                           const CollectiveProgram& program,
                           uint32_t from,
                           uint32_t to,
                           uint16_t channel) const
{
    const auto& blocks = program.ranks[from].blocks;
    const auto sender = std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
        return block.channel == channel && block.sendPeer == to;
    });
    if (!m_kernelCosts || sender == blocks.end())
    {
        return 0;
    }
    return GetBlockWireRate(GetKernelCost(device),
                            program.protocol,
                            m_facts.at(&program)->shares.Get(from, *sender));
}

void
PacketNetwork::SetCosts(BlockRun& run)
{
    const RankRun& rankRun = m_rankRuns[run.rankRun];
    const CollectiveProgram& program = *rankRun.program;
    const uint32_t rank = GetRank(m_graph->GetTask(rankRun.task).place, rankRun.device);
    const BlockShare share = m_facts.at(&program)->shares.Get(rank, *run.block);
    if (!m_kernelCosts || share.part == 0)
    {
        return;
    }
    const auto hop = [this](uint32_t queuePair) {
        return queuePair == NO_ID ? std::optional<HopKind>() : GetHop(queuePair);
    };
    run.cost = GetBlockCost(GetKernelCost(rankRun.device),
                            program.protocol,
                            share,
                            run.group != NO_ID,
                            hop(run.receiveQueuePair),
                            hop(run.sendQueuePair));
    if (run.receiveQueuePair != NO_ID && GetHop(run.receiveQueuePair) == HopKind::NETWORK)
    {
        run.cost.latencyPs += m_pluginLatency.GetPicoSeconds();
    }
}

void
PacketNetwork::CallLater(DeviceId device, int64_t delayPs, std::function<void()> callback)
{
    ScheduleFunctionWithContext(
        m_fabric->GetNodes().Get(m_fabric->GetCluster().GetGpus()[device])->GetId(),
        CeilToStep(m_fabric->GetTimePs() + delayPs) - Simulator::Now(),
        std::move(callback));
}

void
PacketNetwork::StartRank(uint32_t id)
{
    const GroupId group = m_graph->GetTask(m_rankRuns[id].task).place;
    const uint32_t rank = m_rankRuns[id].rank;
    const auto& blocks = m_rankRuns[id].program->ranks[rank].blocks;
    OpenGroups(id, rank);
    for (uint32_t i = 0; i < blocks.size(); ++i)
    {
        const ThreadBlock& block = blocks[i];
        const uint32_t blockRun = GetBlockRun(
            BlockKey{m_rankRuns[id].task, m_rankRuns[id].microBatch, m_rankRuns[id].device, i});
        m_rankRuns[id].blocks.push_back(blockRun);
        BlockRun& run = m_blockRuns[blockRun];
        run.rankRun = id;
        run.number = i;
        run.block = &block;
        run.startPs = m_fabric->GetTimePs();
        if (!block.steps.empty())
        {
            ++m_rankRuns[id].blocksLeft;
        }
        if (block.group != NO_GROUP)
        {
            std::tie(run.group, run.member) = m_rankRuns[id].groups[block.group];
            m_groups.AddBlock(run.group, run.member, blockRun);
        }
        const auto getPair = [&](uint32_t from, uint32_t to) {
            return GetQueuePair(group,
                                block.channel,
                                from,
                                to,
                                GetWireRate(m_graph->GetGroup(group)[from],
                                            *m_rankRuns[id].program,
                                            from,
                                            to,
                                            block.channel));
        };
        if (block.sendPeer != NO_RANK)
        {
            run.sendQueuePair = getPair(rank, block.sendPeer);
        }
        if (block.receivePeer != NO_RANK)
        {
            run.receiveQueuePair = getPair(block.receivePeer, rank);
            run.ungranted = static_cast<uint32_t>(
                std::count_if(block.steps.begin(), block.steps.end(), [](const Step& step) {
                    return Receives(step.kind);
                }));
            GrantChunks(blockRun, std::min(run.ungranted, m_rankRuns[id].program->slots));
        }
        SetCosts(m_blockRuns[blockRun]);
    }
    // Blocks may end within Advance(), which may end the rank: keep what is needed.
    const std::vector<uint32_t> runs = m_rankRuns[id].blocks;
    if (m_rankRuns[id].blocksLeft == 0)
    {
        CheckDone(id);
        return;
    }
    for (uint32_t run : runs)
    {
        Advance(run);
    }
}

void
PacketNetwork::GrantChunks(uint32_t id, uint32_t chunks)
{
    BlockRun& run = m_blockRuns[id];
    if (chunks == 0)
    {
        return;
    }
    run.ungranted -= chunks;
    const RankRun& rankRun = m_rankRuns[run.rankRun];
    Grant grant{rankRun.task, rankRun.microBatch, NO_ID, id, run.receivePeerRun, chunks};
    if (run.receivePeerRun == NO_ID)
    {
        const uint32_t rank = rankRun.rank;
        const auto& blocks = rankRun.program->ranks[run.block->receivePeer].blocks;
        const auto sender =
            std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
                return block.channel == run.block->channel && block.sendPeer == rank;
            });
        grant.block = static_cast<uint32_t>(sender - blocks.begin());
    }
    if (m_freeGrants.empty())
    {
        m_freeGrants.push_back(static_cast<uint32_t>(m_grants.size()));
        m_grants.emplace_back();
    }
    const uint32_t place = m_freeGrants.back();
    m_freeGrants.pop_back();
    m_grants[place] = grant;
    m_transport->SendControl(run.receiveQueuePair, place);
}

void
PacketNetwork::ReceiveControl(uint32_t queuePair, uint32_t value)
{
    const Grant grant = m_grants[value];
    m_freeGrants.push_back(value);
    uint32_t id = grant.senderRun;
    if (id == NO_ID)
    {
        const VertexId vertex = m_transport->GetSource(queuePair);
        const auto& gpus = m_fabric->GetCluster().GetGpus();
        const auto device = static_cast<DeviceId>(
            std::lower_bound(gpus.begin(), gpus.end(), vertex) - gpus.begin());
        id = GetBlockRun(BlockKey{grant.task, grant.microBatch, device, grant.block});
        m_blockRuns[id].sendPeerRun = grant.receiverRun;
    }
    m_blockRuns[id].grants += grant.chunks;
    if (m_blockRuns[id].block)
    {
        Advance(id);
    }
}

void
PacketNetwork::ReceiveMessage(uint32_t /* queuePair */, uint64_t tag, uint64_t bytes)
{
    const auto id = static_cast<uint32_t>(tag);
    BlockRun& run = m_blockRuns[id];
    run.receivePeerRun = static_cast<uint32_t>(tag >> 32);
    ++m_messages;
    m_rankRuns[run.rankRun].receivedBytes += bytes;
    const auto use = [this, id]() {
        ++m_blockRuns[id].arrived;
        Advance(id);
    };
    if (run.cost.latencyPs == 0)
    {
        use();
        return;
    }
    CallLater(m_rankRuns[run.rankRun].device, run.cost.latencyPs, use);
}

void
PacketNetwork::ReceiveAcknowledgement(uint32_t /* queuePair */, uint64_t tag)
{
    const uint32_t rankRun = m_blockRuns[tag >> 32].rankRun;
    --m_rankRuns[rankRun].unacknowledged;
    CheckDone(rankRun);
}

void
PacketNetwork::Advance(uint32_t id)
{
    const uint32_t rankRun = m_blockRuns[id].rankRun;
    const auto& steps = m_blockRuns[id].block->steps;
    bool advanced = false;
    while (m_blockRuns[id].next < steps.size() && !m_blockRuns[id].busy)
    {
        const BlockRun& run = m_blockRuns[id];
        const Step& step = steps[run.next];
        if ((Receives(step.kind) && run.arrived == 0) || (Sends(step.kind) && run.grants == 0) ||
            !HasWaited(rankRun, step) || (run.group != NO_ID && !IsGroupStepReady(run, step)))
        {
            break;
        }
        BeginStep(id, step);
        const int64_t busyPs =
            m_blockRuns[id].cost.busyPs +
            static_cast<int64_t>(static_cast<double>(step.bytes) * m_blockRuns[id].cost.psPerByte);
        if (busyPs > 0)
        {
            m_blockRuns[id].busy = true;
            CallLater(m_rankRuns[rankRun].device, busyPs, [this, id]() { FinishStep(id); });
            break;
        }
        EndStep(id, step);
        advanced = true;
    }
    if (advanced)
    {
        WakeOthers(id);
    }
}

void
PacketNetwork::SendStep(uint32_t id, const Step& step)
{
    BlockRun& run = m_blockRuns[id];
    RankRun& rankRun = m_rankRuns[run.rankRun];
    --run.grants;
    ++rankRun.unacknowledged;
    // A step without bytes is a flag, which has at least one.
    const uint64_t bytes =
        std::max<uint64_t>(GetTraits(rankRun.program->protocol).WireBytes(step.bytes), 1);
    rankRun.sentBytes += bytes;
    rankRun.expectedBytes += bytes;
    m_transport->Send(run.sendQueuePair, bytes, uint64_t{id} << 32 | run.sendPeerRun);
}

void
PacketNetwork::BeginStep(uint32_t id, const Step& step)
{
    if (m_blockRuns[id].group != NO_ID)
    {
        DoGroupStep(m_blockRuns[id], step);
    }
    // Stores go to a GPU of the same server as they are made; a NIC fetches a chunk that is whole.
    if (Sends(step.kind) && GetHop(m_blockRuns[id].sendQueuePair) != HopKind::NETWORK)
    {
        SendStep(id, step);
    }
}

void
PacketNetwork::EndStep(uint32_t id, const Step& step)
{
    if (Sends(step.kind) && GetHop(m_blockRuns[id].sendQueuePair) == HopKind::NETWORK)
    {
        SendStep(id, step);
    }
    BlockRun& run = m_blockRuns[id];
    ++run.next;
    if (Receives(step.kind))
    {
        --run.arrived;
        GrantChunks(id, std::min(run.ungranted, 1u));
    }
}

void
PacketNetwork::FinishStep(uint32_t id)
{
    BlockRun& run = m_blockRuns[id];
    run.busy = false;
    EndStep(id, run.block->steps[run.next]);
    if (WakeOthers(id) && m_blockRuns[id].next < m_blockRuns[id].block->steps.size())
    {
        Advance(id);
    }
}

bool
PacketNetwork::WakeOthers(uint32_t id)
{
    const uint32_t rankRun = m_blockRuns[id].rankRun;
    if (m_blockRuns[id].next == m_blockRuns[id].block->steps.size())
    {
        TraceChannelEnd(id);
        --m_rankRuns[rankRun].blocksLeft;
        if (CheckDone(rankRun))
        {
            return false;
        }
    }
    // Others of this rank may have waited for these steps.
    const uint32_t self = m_blockRuns[id].number;
    const ProgramFacts& facts = *m_rankRuns[rankRun].facts;
    for (const uint32_t i : facts.waiters[m_rankRuns[rankRun].rank][self])
    {
        const uint32_t other = m_rankRuns[rankRun].blocks[i];
        const BlockRun& run = m_blockRuns[other];
        if (other != id && run.next < run.block->steps.size() &&
            run.block->steps[run.next].waitBlock == self)
        {
            Advance(other);
            if (m_rankRuns[rankRun].program == nullptr)
            {
                return false; // that was the last step of this rank
            }
        }
    }
    return true;
}

void
PacketNetwork::TraceChannelEnd(uint32_t id) const
{
    if (m_channelEndTrace.IsEmpty())
    {
        return;
    }
    const BlockRun& run = m_blockRuns[id];
    const RankRun& rank = m_rankRuns[run.rankRun];
    m_channelEndTrace({rank.device,
                       rank.task,
                       rank.microBatch,
                       run.block->channel,
                       run.number,
                       run.startPs,
                       m_fabric->GetTimePs()});
}

bool
PacketNetwork::HasWaited(uint32_t rankRun, const Step& step) const
{
    return step.waitBlock == NO_BLOCK ||
           m_blockRuns[m_rankRuns[rankRun].blocks[step.waitBlock]].next > step.waitStep;
}

bool
PacketNetwork::CheckDone(uint32_t id)
{
    RankRun& run = m_rankRuns[id];
    if (run.blocksLeft > 0 || run.unacknowledged > 0)
    {
        return false;
    }
    for (uint32_t i = 0; i < run.blocks.size(); ++i)
    {
        m_blockIndex.erase(BlockKey{run.task, run.microBatch, run.device, i});
        m_freeBlockRuns.push_back(run.blocks[i]);
    }
    m_rankIndex.erase(BlockKey{run.task, run.microBatch, run.device, 0});
    for (const auto& [group, member] : run.groups)
    {
        if (group != NO_ID)
        {
            m_groups.Close(group, member);
        }
    }
    CommunicationStatistics& statistics = m_statistics[run.task];
    statistics.task = run.task;
    statistics.sentBytes += run.sentBytes;
    statistics.expectedBytes += run.expectedBytes;
    statistics.receivedBytes += run.receivedBytes;
    m_fabric->CallAtPresent(m_fabric->GetCluster().GetGpus()[run.device], std::move(run.done));
    run = RankRun();
    m_freeRankRuns.push_back(id);
    return true;
}

std::string
PacketNetwork::DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const
{
    const auto found = m_rankIndex.find(BlockKey{task, microBatch, device, 0});
    if (found == m_rankIndex.end())
    {
        return "";
    }
    const GroupId group = m_graph->GetTask(task).place;
    const auto name = [&](uint32_t rank) {
        const DeviceId peer = m_graph->GetGroup(group)[rank];
        const bool joined = m_rankIndex.count(BlockKey{task, microBatch, peer, 0}) > 0;
        const Cluster& cluster = m_fabric->GetCluster();
        return "device " + std::to_string(peer) + " (" +
               cluster.GetVertices()[cluster.GetGpus()[peer]].name +
               (joined ? ")" : "), which has not joined");
    };
    for (uint32_t id : m_rankRuns[found->second].blocks)
    {
        const BlockRun& run = m_blockRuns[id];
        if (run.next == run.block->steps.size())
        {
            continue;
        }
        const Step& step = run.block->steps[run.next];
        if (run.group != NO_ID && !IsGroupStepReady(run, step))
        {
            return DescribeGroupWait(run, step, name);
        }
        if (Receives(step.kind) && run.arrived == 0)
        {
            return "waits for a chunk from " + name(run.block->receivePeer);
        }
        if (Sends(step.kind) && run.grants == 0)
        {
            return "waits for clear-to-send from " + name(run.block->sendPeer);
        }
        if (!HasWaited(found->second, step))
        {
            continue; // the block that it waits for says why
        }
    }
    return "waits for acknowledgements";
}

std::vector<CommunicationStatistics>
PacketNetwork::GetCommunicationStatistics() const
{
    std::vector<CommunicationStatistics> statistics;
    for (const auto& entry : m_statistics)
    {
        statistics.push_back(entry.second);
    }
    return statistics;
}

NetworkStatistics
PacketNetwork::GetStatistics() const
{
    NetworkStatistics statistics;
    statistics.packets = m_transport->GetPackets();
    statistics.controlPackets = m_transport->GetControlPackets();
    statistics.packetHops = m_fabric->GetPacketHops();
    statistics.events = m_fabric->GetEventCount();
    statistics.messages = m_messages;
    statistics.queuePairs = m_transport->GetNQueuePairs();
    return statistics;
}

std::string
PacketNetwork::CheckAtRest() const
{
    if (!m_rankIndex.empty() || !m_blockIndex.empty())
    {
        return std::to_string(m_rankIndex.size()) + " communications under way";
    }
    for (const auto& entry : m_statistics)
    {
        if (entry.second.expectedBytes != entry.second.receivedBytes)
        {
            return "task " + std::to_string(entry.first) + ": received " +
                   std::to_string(entry.second.receivedBytes) + " of " +
                   std::to_string(entry.second.expectedBytes) + " bytes that are due";
        }
    }
    const std::string open = m_groups.CheckAtRest();
    if (!open.empty())
    {
        return open;
    }
    const std::string left = m_transport->CheckAtRest();
    if (!left.empty())
    {
        return left;
    }
    return m_fabric->CheckAtRest();
}

} // namespace proteus
} // namespace ns3
