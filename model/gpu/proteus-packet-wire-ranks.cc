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
#include <stdexcept>

/**
 * @file
 * @ingroup proteus
 * Communications whose ranks several processes (MPI ranks) simulate.
 *
 * Every process has all queue pairs, under the same numbers, and executes the ranks of its own
 * GPUs. Chunks, grants and acknowledgements are units of the fabric, which cross by themselves. A
 * grant is a control unit, which carries one number; what that stands for crosses as a word ahead
 * of it. A message carries the numbers of blocks in both processes in its tag. Nothing else of a
 * communication is known in more than one process: rendezvous is local.
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
                           TRANSPORT_USER_WORD,
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

void
PacketWire::HandleRankWord(uint32_t /* kind */, const uint8_t* data)
{
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
