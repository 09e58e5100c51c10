/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include "ns3/proteus-rank-words.h"
#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <cstring>
#include <set>

/**
 * @file
 * @ingroup proteus
 * Communications whose ranks several processes (MPI ranks) simulate.
 *
 * Every process has all queue pairs, under the same numbers, and executes the ranks of its own
 * GPUs. Chunks, grants and acknowledgements are units of the fabric, which cross by themselves. A
 * grant is a control unit, which carries one number; what that stands for crosses as a word ahead
 * of it. A message carries the numbers of blocks in both processes in its tag. That a rank has been
 * launched is told to the processes of the others, which may wait for it: see KernelStarts; and
 * that it has joined, from when on bytes move: see GpuSharing. Nothing else of a communication is
 * known in more than one process: rendezvous is local.
 */

namespace ns3
{
namespace proteus
{

void
PacketWire::SendControl(uint32_t queuePair, const ControlMessage& message)
{
    const bool crosses =
        m_fabric->GetRanks() && !m_fabric->IsLocal(m_transport->GetSource(queuePair));
    if (crosses)
    {
        m_fabric->TellRank(m_transport->GetSource(queuePair),
                           CONTROL_WORD,
                           ControlWord{message, queuePair});
    }
    m_transport->SendControl(queuePair, crosses ? 0 : m_control.Add(message));
}

PacketWire::ControlMessage
PacketWire::TakeControl(uint32_t queuePair, uint32_t value)
{
    if (!m_fabric->GetRanks() || m_fabric->IsLocal(m_transport->GetDestination(queuePair)))
    {
        const ControlMessage message = m_control[value];
        m_control.GiveBack(value);
        return message;
    }
    std::deque<ControlMessage>& messages = m_controlOfOthers[queuePair];
    const ControlMessage message = messages.front();
    messages.pop_front();
    return message;
}

const std::vector<VertexId>&
PacketWire::FindElsewhere(GroupId group)
{
    const auto [place, isNew] = m_elsewhere.try_emplace(group);
    if (isNew)
    {
        const auto& rankOf = m_fabric->GetRanks()->GetPartition().rankOf;
        std::set<uint32_t> ranks;
        for (const VertexId gpu : GetGpus(group))
        {
            if (!m_fabric->IsLocal(gpu) && ranks.insert(rankOf[gpu]).second)
            {
                place->second.push_back(gpu);
            }
        }
    }
    return place->second;
}

void
PacketWire::TellLaunch(LaunchWord word)
{
    if (!m_fabric->GetRanks())
    {
        return;
    }
    word.rank.id = NO_ID;
    for (const VertexId gpu : FindElsewhere(m_graph.GetTask(word.task).place))
    {
        m_fabric->TellRank(gpu, LAUNCH_WORD, word);
    }
}

void
PacketWire::TellJoins(const JoinsOfRank& joins)
{
    for (const VertexId gpu : FindElsewhere(m_graph.GetTask(joins.instance.task).place))
    {
        m_fabric->TellRank(gpu, JOIN_WORD, joins);
    }
}

void
PacketWire::HandleRankWord(uint32_t kind, const uint8_t* data)
{
    if (kind == JOIN_WORD)
    {
        JoinsOfRank joins;
        std::memcpy(&joins, data, sizeof(joins));
        m_joinReport(joins);
        return;
    }
    if (kind == LAUNCH_WORD)
    {
        LaunchWord word;
        std::memcpy(&word, data, sizeof(word));
        CallStarts(
            m_starts.Add({word.task, word.microBatch}, word.communication, word.rank).begins);
        return;
    }
    ControlWord word;
    std::memcpy(&word, data, sizeof(word));
    m_controlOfOthers[word.queuePair].push_back(word.message);
}

void
PacketWire::RequireRanks(GroupId group, const CollectiveProgram& program) const
{
    if (!m_fabric->GetRanks())
    {
        return;
    }
    const Cluster& cluster = m_fabric->GetCluster();
    for (const NetworkGroup& network : program.groups)
    {
        const std::vector<VertexId> vertices = GetVertices(group, network);
        const bool isInside = std::all_of(vertices.begin(), vertices.end(), [&](VertexId vertex) {
            const int32_t domain = cluster.GetDomain(vertex);
            return domain >= 0 && domain == cluster.GetDomain(vertices.front());
        });
        if (!isInside)
        {
            RequireOneProcess("algorithm " + program.algorithm +
                                  ", which adds up in the switches between servers,",
                              "take another algorithm");
        }
    }
}

bool
PacketWire::IsElsewhere(const std::vector<VertexId>& gpus) const
{
    const auto& vertices = m_fabric->GetCluster().GetVertices();
    const int32_t server = vertices[gpus.front()].server;
    return server >= 0 && !m_fabric->IsLocal(gpus.front()) &&
           std::all_of(gpus.begin(), gpus.end(), [&](VertexId gpu) {
               return vertices[gpu].server == server;
           });
}

void
PacketWire::PlanRepetition(const std::function<const CollectiveProgram&(TaskId)>& getProgram)
{
    if (!m_fabric->GetRanks() || !m_repetition.IsOn())
    {
        return;
    }
    for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
    {
        const Task& task = m_graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION && !IsElsewhere(GetGpus(task.place)))
        {
            const CollectiveProgram& program = getProgram(id);
            GetPlan(id, program, GetFacts(program));
        }
    }
    m_repetition.GetPlans().ExcludeCrossing();
}

void
PacketWire::Gather()
{
    CommunicationLedger all;
    for (const CommunicationStatistics& part : JoinRecordsOfRanks(m_ledger.GetAll()))
    {
        all.Add(part);
    }
    m_ledger = all;
    std::vector<uint64_t> messages{m_messages};
    SumOverRanks(messages);
    m_messages = messages[0];
}

} // namespace proteus
} // namespace ns3
