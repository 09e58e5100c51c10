/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include "ns3/abort.h"
#include "ns3/proteus-group-gpus.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-required-arguments.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

PacketWire::PacketWire(const ExecutionGraph& graph,
                       Ptr<Fabric> fabric,
                       Ptr<Transport> transport,
                       const CollectiveSettings& settings,
                       const TracedCallback<const ChannelSpan&>& channelEnd)
    : m_graph(graph),
      m_fabric(fabric),
      m_transport(transport),
      m_kernels(graph, fabric->GetCluster(), settings),
      m_channelEnd(channelEnd),
      m_machine(*this),
      m_pairs(graph,
              transport,
              settings.kernelCopies,
              MakeTransportRules(MakePreferences(settings))),
      m_repetition(graph, fabric, transport, *this),
      m_lookahead(fabric->GetCluster())
{
    m_transport->SetFabric(fabric, this);
    m_groups.SetUp(m_transport);
}

void
PacketWire::Dispose()
{
    m_machine.Clear();
    m_repetition.Dispose();
    m_fabric = nullptr;
}

uint32_t
PacketWire::GetBlock(const BlockKey& key)
{
    const auto [place, isNew] = m_blockIndex.emplace(key, NO_ID);
    if (isNew)
    {
        place->second = m_machine.AddBlock();
    }
    return place->second;
}

void
PacketWire::CallAt(int64_t timePs, CallKind kind, uint32_t value)
{
    FabricCall call;
    call.timePs = timePs;
    call.number = m_calls++;
    call.target = this;
    call.kind = kind;
    call.value = value;
    m_fabric->CallAt(call);
}

void
PacketWire::HandleCall(uint32_t kind, uint32_t value)
{
    switch (kind)
    {
    case START:
        BeginRank(value);
        break;
    case EXPIRE: {
        const uint32_t id = m_starts.Expire(value);
        if (id != NO_ID)
        {
            m_machine.GetRank(id).startPs = m_fabric->GetTimePs();
            m_machine.GetRank(id).isStartCertain = true;
            BeginRank(id);
        }
        break;
    }
    case ARRIVE:
        m_machine.Arrive(value);
        break;
    case FINISH:
        m_machine.Finish(value);
        break;
    case TAKE: {
        const GroupArrival arrival = m_arrivals[value];
        m_arrivals.GiveBack(value);
        TakeGroupMessage(arrival);
        break;
    }
    case END:
        TellEnd(value);
        break;
    }
}

uint32_t
PacketWire::GetQueuePair(TaskId task,
                         const CollectiveProgram& program,
                         const ProgramFacts& facts,
                         uint16_t channel,
                         uint32_t from,
                         uint32_t to)
{
    const GroupId group = m_graph.GetTask(task).place;
    const double rate =
        m_kernels.GetWireRate(m_graph.GetGroup(group)[from], program, facts, from, to, channel);
    return m_pairs.Get(program, group, channel, from, to, rate, GetTrafficClass(task));
}

std::vector<VertexId>
PacketWire::GetGpus(GroupId group) const
{
    return GetGroupGpus(m_graph, m_fabric->GetCluster(), group);
}

KernelStarts::Communication
PacketWire::MakeQueuePairs(TaskId id, const CollectiveProgram& program, const ProgramFacts& facts)
{
    const GroupId group = m_graph.GetTask(id).place;
    const auto [place, isNew] =
        m_known.emplace(GetConnections(id, program), KernelStarts::Communication());
    if (!isNew)
    {
        return place->second;
    }
    KernelStarts::Communication& communication = place->second;
    communication.nRanks = static_cast<uint32_t>(program.ranks.size());
    communication.newsPs = m_lookahead.Get(GetGpus(group));
    RequireRanks(group, program);
    MakeGroups(group, program);
    std::vector<uint32_t> queuePairs;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.sendPeer != NO_RANK)
            {
                queuePairs.push_back(
                    GetQueuePair(id, program, facts, block.channel, rank, block.sendPeer));
            }
        }
    }
    m_pairs.ShareHostLinks(program, queuePairs);
    SetStartRule(id, program, facts, communication);
    return communication;
}

void
PacketWire::BeginRank(uint32_t id)
{
    const PacketRank& rank = m_machine.GetRank(id);
    if (rank.communication == Repetition::NONE || m_repetition.Start(rank.communication, rank.rank))
    {
        StartRank(id);
    }
}

void
PacketWire::Join(DeviceId device,
                 TaskId task,
                 uint32_t microBatch,
                 std::shared_ptr<const CollectiveProgram> program,
                 std::function<void()> done)
{
    const ProgramFacts& facts = m_facts.Get(*program);
    const auto& devices = m_graph.GetGroup(m_graph.GetTask(task).place);
    const auto number =
        static_cast<uint32_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
    if (number == devices.size())
    {
        throw std::invalid_argument("device " + std::to_string(device) +
                                    " is not in the group of '" +
                                    m_graph.GetName(m_graph.GetTask(task)) + "'");
    }
    RequireIndex(microBatch,
                 m_graph.GetNInstances(m_graph.GetTask(task)),
                 "micro-batch",
                 "the task");
    const KernelStarts::Communication communication = MakeQueuePairs(task, *program, facts);
    const uint32_t id = m_machine.AddRank(*program, facts.waiters, number);
    PacketRank& rank = m_machine.GetRank(id);
    rank.startPs = m_starts.Align(
        m_kernels.Launch(device, task, *program, number, Simulator::Now().GetPicoSeconds()));
    rank.number = m_joins++;
    rank.microBatch = microBatch;
    rank.device = device;
    rank.traffic.task = task;
    rank.keptProgram = std::move(program);
    rank.facts = &facts;
    rank.done = std::move(done);
    m_rankIndex.emplace(BlockKey{task, microBatch, device, 0}, id);
    if (m_repetition.IsOn())
    {
        JoinRepetition(id);
    }
    if (communication.rule == StartRule::APART)
    {
        CallStart(id);
        return;
    }
    Launch(id, communication);
}

void
PacketWire::StartRank(uint32_t id)
{
    OpenGroups(id);
    const std::size_t blocks =
        m_machine.GetRank(id).program->ranks[m_machine.GetRank(id).rank].blocks.size();
    for (uint32_t number = 0; number < blocks; ++number)
    {
        const PacketRank& rank = m_machine.GetRank(id);
        const uint32_t block =
            GetBlock(BlockKey{rank.traffic.task, rank.microBatch, rank.device, number});
        m_machine.BindBlock(id, block);
        SetUpBlock(block);
        if (id == m_watchedRank &&
            (m_watchedBlock == NO_ID ||
             m_machine.GetBlock(m_watchedBlock).nSteps < m_machine.GetBlock(block).nSteps))
        {
            m_watchedBlock = block;
        }
    }
    if (m_machine.GetRank(id).blocksLeft == 0)
    {
        CheckDone(id);
        return;
    }
    // Blocks may end within Advance(), which may end the rank: keep what is needed.
    const std::vector<uint32_t> runs = m_machine.GetRank(id).blocks;
    for (const uint32_t run : runs)
    {
        m_machine.Advance(run);
    }
}

void
PacketWire::SetUpBlock(uint32_t id)
{
    PacketBlock& block = m_machine.GetBlock(id);
    const PacketRank& rank = m_machine.GetRank(block.rank);
    const ThreadBlock& program = *block.block;
    block.startPs = m_fabric->GetTimePs();
    if (program.group != NO_GROUP)
    {
        std::tie(block.group, block.member) = rank.groups[program.group];
        m_groups.AddBlock(block.group, block.member, id);
    }
    const auto getPair = [&](uint32_t from, uint32_t to) {
        return GetQueuePair(rank.traffic.task,
                            *rank.program,
                            *rank.facts,
                            program.channel,
                            from,
                            to);
    };
    if (program.sendPeer != NO_RANK)
    {
        block.sendQueuePair = getPair(rank.rank, program.sendPeer);
        m_transport->Restart(block.sendQueuePair);
        // Stores go to a GPU of the same server as they are made; a NIC fetches a chunk that is
        // whole.
        block.sendsWhole = m_pairs.GetHopKind(block.sendQueuePair) == HopKind::NETWORK;
    }
    if (program.receivePeer != NO_RANK)
    {
        block.receiveQueuePair = getPair(program.receivePeer, rank.rank);
        m_machine.GrantSlots(id);
    }
    block.cost = FindCost(rank.device,
                          *rank.program,
                          rank.facts->shares.Get(rank.rank, program),
                          program,
                          block.sendQueuePair,
                          block.receiveQueuePair);
}

BlockCost
PacketWire::FindCost(DeviceId device,
                     const CollectiveProgram& program,
                     BlockShare share,
                     const ThreadBlock& block,
                     uint32_t sendQueuePair,
                     uint32_t receiveQueuePair) const
{
    std::optional<BlockHop> sendHop;
    std::optional<BlockHop> receiveHop;
    if (sendQueuePair != NO_ID)
    {
        sendHop = m_pairs.GetSendHop(program, sendQueuePair);
    }
    if (receiveQueuePair != NO_ID)
    {
        receiveHop = m_pairs.GetReceiveHop(program, receiveQueuePair);
    }
    return m_kernels
        .GetCost(device, program.protocol, share, block.group != NO_GROUP, receiveHop, sendHop);
}

void
PacketWire::Grant(uint32_t id, uint32_t chunks)
{
    const PacketBlock& block = m_machine.GetBlock(id);
    const PacketRank& rank = m_machine.GetRank(block.rank);
    ControlMessage message;
    message.task = rank.traffic.task;
    message.microBatch = rank.microBatch;
    message.receiverBlock = id;
    message.senderBlock = block.receivePeerBlock;
    message.chunks = chunks;
    if (message.senderBlock == NO_ID)
    {
        const auto& blocks = rank.program->ranks[block.block->receivePeer].blocks;
        const auto sender =
            std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& candidate) {
                return candidate.channel == block.block->channel && candidate.sendPeer == rank.rank;
            });
        message.block = static_cast<uint32_t>(sender - blocks.begin());
    }
    SendControl(block.receiveQueuePair, message);
}

void
PacketWire::ReceiveControl(uint32_t queuePair, uint32_t value)
{
    const ControlMessage message = TakeControl(queuePair, value);
    uint32_t id = message.senderBlock;
    if (id == NO_ID)
    {
        const VertexId vertex = m_transport->GetSource(queuePair);
        const auto& gpus = m_fabric->GetCluster().GetGpus();
        auto place = std::lower_bound(gpus.begin(), gpus.end(), vertex);
        if (place == gpus.end() || *place != vertex) // Cluster::RankGpus()
        {
            place = std::find(gpus.begin(), gpus.end(), vertex);
        }
        const auto device = static_cast<DeviceId>(place - gpus.begin());
        id = GetBlock(BlockKey{message.task, message.microBatch, device, message.block});
        m_machine.GetBlock(id).sendPeerBlock = message.receiverBlock;
    }
    m_machine.GetBlock(id).grants += message.chunks;
    if (m_machine.GetBlock(id).block)
    {
        m_machine.Advance(id);
    }
}

uint64_t
PacketWire::CountSent(PacketRank& rank, const Step& step) const
{
    // A step without bytes is a flag, which has at least one.
    const uint64_t bytes =
        std::max<uint64_t>(GetTraits(rank.program->protocol).WireBytes(step.bytes), 1);
    ++rank.unacknowledged;
    rank.traffic.sentBytes += bytes;
    return bytes;
}

void
PacketWire::Send(uint32_t id, const Step& step)
{
    const PacketBlock& block = m_machine.GetBlock(id);
    PacketRank& rank = m_machine.GetRank(block.rank);
    const uint64_t bytes = CountSent(rank, step);
    rank.traffic.expectedBytes += bytes;
    m_transport->Send(block.sendQueuePair, bytes, uint64_t{id} << 32 | block.sendPeerBlock);
}

void
PacketWire::ReceiveMessage(uint32_t /* queuePair */, uint64_t tag, uint64_t bytes)
{
    const auto id = static_cast<uint32_t>(tag);
    PacketBlock& block = m_machine.GetBlock(id);
    PacketRank& rank = m_machine.GetRank(block.rank);
    block.receivePeerBlock = static_cast<uint32_t>(tag >> 32);
    ++rank.messages;
    rank.traffic.receivedBytes += bytes;
    if (block.cost.latencyPs == 0)
    {
        m_machine.Arrive(id);
        return;
    }
    CallAt(m_fabric->GetTimePs() + block.cost.latencyPs, ARRIVE, id);
}

void
PacketWire::ReceiveAcknowledgement(uint32_t /* queuePair */, uint64_t tag)
{
    const uint32_t rank = m_machine.GetBlock(tag >> 32).rank;
    --m_machine.GetRank(rank).unacknowledged;
    CheckDone(rank);
}

void
PacketWire::Begin(uint32_t id, const Step& step)
{
    const PacketBlock& block = m_machine.GetBlock(id);
    if (block.group != NO_ID)
    {
        DoGroupStep(block, step);
    }
}

bool
PacketWire::Occupy(uint32_t id, const Step& step)
{
    const PacketBlock& block = m_machine.GetBlock(id);
    const auto busyPs = static_cast<int64_t>(block.cost.GetOccupancyPs(step));
    if (busyPs <= 0)
    {
        return false;
    }
    CallAt(m_fabric->GetTimePs() + busyPs, FINISH, id);
    return true;
}

bool
PacketWire::EndBlock(uint32_t id)
{
    const PacketBlock& block = m_machine.GetBlock(id);
    if (m_channels || !m_channelEnd.IsEmpty())
    {
        PacketRank& rank = m_machine.GetRank(block.rank);
        const ChannelSpan span{rank.device,
                               rank.traffic.task,
                               rank.microBatch,
                               block.block->channel,
                               block.number,
                               block.startPs,
                               m_fabric->GetTimePs()};
        m_channelEnd(span);
        if (m_channels)
        {
            rank.blockEndsPs.resize(rank.program->ranks[rank.rank].blocks.size(),
                                    RepetitionRecord::NOT_DONE);
            rank.blockEndsPs[block.number] = span.endPs;
            if (rank.toldPs < 0)
            {
                m_channels->push_back(span); // else when its end was told
            }
        }
    }
    return CheckDone(block.rank);
}

bool
PacketWire::CheckDone(uint32_t id)
{
    PacketRank& rank = m_machine.GetRank(id);
    if (rank.blocksLeft > 0 || rank.unacknowledged > 0)
    {
        return false;
    }
    const TaskId task = rank.traffic.task;
    for (uint32_t i = 0; i < rank.blocks.size(); ++i)
    {
        m_blockIndex.erase(BlockKey{task, rank.microBatch, rank.device, i});
    }
    m_rankIndex.erase(BlockKey{task, rank.microBatch, rank.device, 0});
    for (const auto& [group, member] : rank.groups)
    {
        if (group != NO_ID)
        {
            m_groups.Close(group, member);
        }
    }
    if (rank.communication != Repetition::NONE)
    {
        m_repetition.Finish(rank.communication,
                            rank.rank,
                            {m_fabric->GetTimePs(), rank.messages, rank.traffic},
                            rank.blockEndsPs);
    }
    if (rank.toldPs >= 0 && rank.toldPs != m_fabric->GetTimePs())
    {
        throw std::logic_error("proteus::PacketNetwork: device " + std::to_string(rank.device) +
                               " is done with task " + std::to_string(task) + " at " +
                               std::to_string(m_fabric->GetTimePs()) + " ps, and not at " +
                               std::to_string(rank.toldPs) +
                               " ps, as it was told; run with --repetition=off");
    }
    if (rank.toldPs < 0)
    {
        m_ledger.Add(rank.traffic);
        m_messages += rank.messages;
        CallEnd(rank, m_fabric->GetTimePs());
    }
    m_machine.FreeRank(id);
    return true;
}

std::string
PacketWire::DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const
{
    const auto found = m_rankIndex.find(BlockKey{task, microBatch, device, 0});
    if (found == m_rankIndex.end())
    {
        return "";
    }
    const GroupId group = m_graph.GetTask(task).place;
    const auto name = [&](uint32_t rank) {
        const DeviceId peer = m_graph.GetGroup(group)[rank];
        const Cluster& cluster = m_fabric->GetCluster();
        const VertexId vertex = cluster.GetGpus()[peer];
        const bool isKnown = m_fabric->IsLocal(vertex); // what others do, other processes know
        const bool joined = m_rankIndex.count(BlockKey{task, microBatch, peer, 0}) > 0;
        return "device " + std::to_string(peer) + " (" + cluster.GetVertices()[vertex].name +
               (joined || !isKnown ? ")" : "), which has not joined");
    };
    const auto& devices = m_graph.GetGroup(group);
    for (uint32_t rank = 0; rank < devices.size(); ++rank)
    {
        if (m_machine.GetRank(found->second).blocks.empty() &&
            m_rankIndex.count(BlockKey{task, microBatch, devices[rank], 0}) == 0)
        {
            return "waits to begin with " + name(rank);
        }
    }
    for (const uint32_t id : m_machine.GetRank(found->second).blocks)
    {
        const PacketBlock& block = m_machine.GetBlock(id);
        if (block.IsOver())
        {
            continue;
        }
        const Step& step = block.GetStep();
        if (m_machine.LacksGroup(block, step))
        {
            return DescribeGroupWait(block, step, name);
        }
        if (Machine::LacksChunk(block, step))
        {
            return "waits for a chunk from " + name(block.block->receivePeer);
        }
        if (Machine::LacksRoom(block, step))
        {
            return "waits for clear-to-send from " + name(block.block->sendPeer);
        }
        // If it waits for another block, that one says why.
    }
    return "waits for acknowledgements";
}

std::string
PacketWire::CheckAtRest() const
{
    if (!m_rankIndex.empty() || !m_blockIndex.empty())
    {
        return std::to_string(m_rankIndex.size()) + " communications under way";
    }
    const std::string left = m_ledger.CheckAtRest();
    return left.empty() ? m_groups.CheckAtRest() : left;
}

} // namespace proteus
} // namespace ns3
