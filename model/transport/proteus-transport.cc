/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/string.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransport");
NS_OBJECT_ENSURE_REGISTERED(Transport);

namespace
{

/// Bits of QueuePair::listed.
constexpr uint32_t MAX_CANDIDATE_PORTS = 64;

} // namespace

TypeId
Transport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::Transport")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<Transport>()
            .AddAttribute("PathRandom",
                          "The random variable that decides which of several equal-cost paths a "
                          "flow hashes to. One value is drawn, when the fabric is set.",
                          StringValue("ns3::UniformRandomVariable"),
                          MakePointerAccessor(&Transport::m_pathRandom),
                          MakePointerChecker<UniformRandomVariable>());
    return tid;
}

Transport::Transport()
{
    NS_LOG_FUNCTION(this);
}

Transport::~Transport()
{
    NS_LOG_FUNCTION(this);
}

void
Transport::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_fabric = nullptr;
    m_user = nullptr;
    m_pathRandom = nullptr;
    Object::DoDispose();
}

int64_t
Transport::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_pathRandom->SetStream(stream);
    return 1;
}

void
Transport::SetFabric(Ptr<Fabric> fabric, TransportUser* user)
{
    NS_LOG_FUNCTION(this << fabric);
    m_fabric = fabric;
    m_user = user;
    m_fabric->SetEndpoint(this);
    m_active.resize(2 * m_fabric->GetCluster().GetLinks().size());
    m_pathSeed = m_pathRandom->GetInteger(0, UINT32_MAX - 1);
}

uint32_t
Transport::CreateQueuePair(VertexId source,
                           VertexId destination,
                           VertexId sourceNic,
                           VertexId destinationNic,
                           uint64_t flow)
{
    NS_LOG_FUNCTION(this << source << destination << flow);
    const Cluster& cluster = m_fabric->GetCluster();
    const Paths& paths = m_fabric->GetPaths();

    QueuePair pair;
    pair.source = source;
    pair.destination = destination;
    pair.sourceNic = sourceNic;
    pair.destinationNic = destinationNic;
    pair.hash = MixHash(m_pathSeed, flow);
    pair.unitBytes = UINT32_MAX;
    VertexId from = source;
    for (VertexId to : {sourceNic, destinationNic, destination})
    {
        if (to == Cluster::NO_VERTEX)
        {
            continue;
        }
        const auto links = paths.Walk(from, to, [](VertexId, std::size_t) { return 0; });
        NS_ABORT_MSG_IF(links.empty(),
                        "proteus::Transport: no path from " << cluster.GetVertices()[from].name
                                                            << " to "
                                                            << cluster.GetVertices()[to].name);
        for (LinkId link : links)
        {
            pair.unitBytes = std::min(pair.unitBytes, cluster.GetLinks()[link].framing.unitBytes);
        }
        from = to;
    }

    const VertexId first = sourceNic != Cluster::NO_VERTEX ? sourceNic : destination;
    const auto& choices = paths.NextPorts(source, first);
    pair.firstPort = static_cast<uint32_t>(m_candidatePorts.size());
    for (uint16_t choice : choices)
    {
        const PortId port = m_fabric->GetPort(source, choice);
        if (m_fabric->GetLink(port).technology == LinkTechnology::NVLINK &&
            m_candidatePorts.size() - pair.firstPort < MAX_CANDIDATE_PORTS)
        {
            m_candidatePorts.push_back(port);
        }
    }
    if (m_candidatePorts.size() == pair.firstPort)
    {
        const uint64_t hash = MixHash(pair.hash, source);
        m_candidatePorts.push_back(m_fabric->GetPort(source, choices[hash % choices.size()]));
    }
    pair.nPorts = static_cast<uint32_t>(m_candidatePorts.size()) - pair.firstPort;
    m_queuePairs.push_back(pair);
    return static_cast<uint32_t>(m_queuePairs.size()) - 1;
}

uint64_t
Transport::GetPortBit(const QueuePair& pair, PortId port) const
{
    uint32_t index = 0;
    while (m_candidatePorts[pair.firstPort + index] != port)
    {
        ++index;
    }
    return uint64_t{1} << index;
}

void
Transport::Send(uint32_t queuePair, uint64_t bytes, uint64_t tag)
{
    NS_LOG_FUNCTION(this << queuePair << bytes << tag);
    NS_ABORT_MSG_IF(bytes == 0, "proteus::Transport: a message needs at least one byte");
    QueuePair& pair = m_queuePairs[queuePair];
    pair.messages.Push({tag, bytes, bytes, bytes});
    for (uint32_t i = 0; i < pair.nPorts; ++i)
    {
        const PortId port = m_candidatePorts[pair.firstPort + i];
        if ((pair.listed & uint64_t{1} << i) == 0)
        {
            pair.listed |= uint64_t{1} << i;
            m_active[port].queuePairs.push_back(queuePair);
            m_fabric->Offer(port);
        }
    }
}

bool
Transport::Pull(PortId port, PacketRecord& record, bool& more)
{
    ActiveList& active = m_active[port];
    while (!active.queuePairs.empty())
    {
        if (active.next >= active.queuePairs.size())
        {
            active.next = 0;
        }
        const uint32_t id = active.queuePairs[active.next];
        QueuePair& pair = m_queuePairs[id];
        if (pair.sending == pair.messages.GetTail())
        {
            pair.listed &= ~GetPortBit(pair, port);
            active.queuePairs[active.next] = active.queuePairs.back();
            active.queuePairs.pop_back();
            continue;
        }
        Message& message = pair.messages.At(pair.sending);
        record.queuePair = id;
        record.message = pair.sending;
        record.destination =
            pair.sourceNic != Cluster::NO_VERTEX ? pair.sourceNic : pair.destination;
        record.payloadBytes =
            static_cast<uint32_t>(std::min<uint64_t>(pair.unitBytes, message.unsent));
        record.kind = PacketKind::DATA;
        record.priority = 1;
        message.unsent -= record.payloadBytes;
        if (message.unsent == 0)
        {
            ++pair.sending;
        }
        pair.statistics.sentBytes += record.payloadBytes;
        ++m_packets;
        m_sentBytes += record.payloadBytes;
        ++active.next;
        // A lone queue pair that has just run dry leaves the list at the next pull.
        more = true;
        if (active.queuePairs.size() == 1 && pair.sending == pair.messages.GetTail())
        {
            pair.listed &= ~GetPortBit(pair, port);
            active.queuePairs.clear();
            more = false;
        }
        return true;
    }
    more = false;
    return false;
}

uint64_t
Transport::GetFlowHash(uint32_t queuePair) const
{
    return m_queuePairs[queuePair].hash;
}

void
Transport::SendBack(uint32_t id, PacketKind kind, uint32_t message)
{
    const QueuePair& pair = m_queuePairs[id];
    PacketRecord record;
    record.queuePair = id;
    record.message = message;
    record.kind = kind;
    record.destination =
        pair.destinationNic != Cluster::NO_VERTEX ? pair.destinationNic : pair.source;
    ++m_controlPackets;
    m_fabric->SendControl(pair.destination, record);
}

void
Transport::SendControl(uint32_t queuePair, uint32_t value)
{
    NS_LOG_FUNCTION(this << queuePair << value);
    SendBack(queuePair, PacketKind::CONTROL, value);
}

VertexId
Transport::Deliver(const PacketRecord& record, VertexId at)
{
    QueuePair& pair = m_queuePairs[record.queuePair];
    if (record.kind != PacketKind::DATA)
    {
        if (at != pair.source)
        {
            return at == pair.destinationNic && pair.sourceNic != Cluster::NO_VERTEX
                       ? pair.sourceNic
                       : pair.source;
        }
        if (record.kind == PacketKind::CONTROL)
        {
            m_user->ReceiveControl(record.queuePair, record.message);
        }
        else
        {
            NS_ABORT_MSG_IF(record.message != pair.messages.GetHead(),
                            "proteus::Transport: acknowledgement out of order");
            const uint64_t tag = pair.messages.Front().tag;
            pair.messages.Pop();
            m_user->ReceiveAcknowledgement(record.queuePair, tag);
        }
        return Cluster::NO_VERTEX;
    }
    if (at != pair.destination)
    {
        return at == pair.sourceNic && pair.destinationNic != Cluster::NO_VERTEX
                   ? pair.destinationNic
                   : pair.destination;
    }
    pair.statistics.receivedBytes += record.payloadBytes;
    pair.messages.At(record.message).unreceived -= record.payloadBytes;
    while (true)
    {
        // The user may create queue pairs or send on this one: refer to it afresh.
        QueuePair& receiver = m_queuePairs[record.queuePair];
        if (receiver.delivering == receiver.messages.GetTail() ||
            receiver.messages.At(receiver.delivering).unreceived > 0)
        {
            return Cluster::NO_VERTEX;
        }
        const Message message = receiver.messages.At(receiver.delivering);
        ++receiver.statistics.messages;
        SendBack(record.queuePair, PacketKind::ACKNOWLEDGE, receiver.delivering++);
        m_user->ReceiveMessage(record.queuePair, message.tag, message.bytes);
    }
}

} // namespace proteus
} // namespace ns3
