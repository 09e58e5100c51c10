/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "proteus-rank-words.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstring>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransport");
NS_OBJECT_ENSURE_REGISTERED(Transport);

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
                          MakePointerChecker<UniformRandomVariable>())
            .AddAttribute("CongestionControl",
                          "Congestion control of queue pairs that cross a network: none, the "
                          "short name of a kind such as dcqcn (an unknown one is answered with "
                          "the list), the name of a TypeId derived from "
                          "ns3::proteus::CongestionType, or auto: dcqcn over RoCE and none over "
                          "InfiniBand.",
                          StringValue("auto"),
                          MakeStringAccessor(Own(&TransportSettings::congestionControl)),
                          MakeStringChecker())
            .AddAttribute(
                "Reliability",
                "How lost packets are sent again: GoBackN, all from the first that is "
                "missing on, or SelectiveRepeat. Where packets of a queue pair take "
                "several paths, and with tcp, it is always SelectiveRepeat.",
                EnumValue(GO_BACK_N),
                MakeEnumMemberAccessor(Own(&TransportSettings::reliability)),
                MakeEnumChecker(GO_BACK_N, "GoBackN", SELECTIVE_REPEAT, "SelectiveRepeat"))
            .AddAttribute("Window",
                          "Payload bytes in flight at which a queue pair stops sending, whatever "
                          "its congestion control says; 0: no such limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(Own(&TransportSettings::window)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("WindowProducts",
                          "The same in bandwidth-delay products of the path: rate of its slowest "
                          "link x round trip of a full packet and its acknowledgement without "
                          "queues. 0: no such limit.",
                          DoubleValue(0),
                          MakeDoubleAccessor(Own(&TransportSettings::windowProducts)),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("AckEveryPackets",
                          "A packet out of so many asks for an acknowledgement, besides the one "
                          "that fills the window. 0: as often as the congestion control needs, "
                          "every packet with a window, and none otherwise.",
                          UintegerValue(0),
                          MakeUintegerAccessor(Own(&TransportSettings::ackEveryPackets)),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("AckEveryMessage",
                          "Whether the last packet of a message asks for an acknowledgement.",
                          BooleanValue(true),
                          MakeBooleanAccessor(Own(&TransportSettings::ackEveryMessage)),
                          MakeBooleanChecker())
            .AddAttribute("AckDelay",
                          "Packets that do not ask for it are acknowledged after this time at the "
                          "latest; 0: not until one asks.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(Own(&TransportSettings::ackDelay)),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("AckTrafficClass",
                          "Traffic class of acknowledgements, notifications and control units.",
                          UintegerValue(0),
                          MakeUintegerAccessor(Own(&TransportSettings::ackClass)),
                          MakeUintegerChecker<uint32_t>(0, MAX_TRAFFIC_CLASSES - 1))
            .AddAttribute("ReorderingDistance",
                          "Selective repeat: a packet is lost when one that was sent so many "
                          "packets later has arrived. 0: 1 on a single path (3 with tcp), and "
                          "never, so that losses show by the timeout, where packets take several.",
                          UintegerValue(0),
                          MakeUintegerAccessor(Own(&TransportSettings::reorderingDistance)),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ReorderBuffer",
                          "Packets that a receiver holds before their turn, at most, counted from "
                          "the first that is missing; others are dropped.",
                          UintegerValue(262144),
                          MakeUintegerAccessor(Own(&TransportSettings::reorderBuffer)),
                          MakeUintegerChecker<uint32_t>(1, 524287))
            .AddAttribute("NakInterval",
                          "Go-back-N: the receiver asks again for the same packet after this time "
                          "at the earliest.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(Own(&TransportSettings::nakInterval)),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("RetransmissionTimeout",
                          "Unacknowledged packets are sent again after this time, doubled with "
                          "every timeout in a row. The default is InfiniBand's 4.096 us x 2^14, "
                          "the local acknowledgement timeout that rdma-core's perftest sets.",
                          TimeValue(NanoSeconds(67108864)),
                          MakeTimeAccessor(Own(&TransportSettings::retransmissionTimeout)),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which a queue pair gives up, which ends the "
                          "run. The default is that of InfiniBand's retry count.",
                          UintegerValue(7),
                          MakeUintegerAccessor(Own(&TransportSettings::retryLimit)),
                          MakeUintegerChecker<uint32_t>(0, 30))
            .AddAttribute("FirstSequence",
                          "Number of the first packet of every queue pair.",
                          UintegerValue(0),
                          MakeUintegerAccessor(Own(&TransportSettings::firstSequence)),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("CongestionState",
                            "The rate or the window of a queue pair has changed.",
                            MakeTraceSourceAccessor(&Transport::m_congestionTrace),
                            "ns3::proteus::Transport::CongestionTracedCallback");
    return tid;
}

Transport::Transport()
    : m_core{*this, nullptr, nullptr, QueuePairTable()},
      m_timers(m_core),
      m_memories(m_core, m_reads, m_timers),
      m_ports(m_core, m_limiters, m_reads, m_memories),
      m_rates(m_core, m_timers, m_congestionTrace),
      m_recovery(m_core),
      m_maker(m_core, m_limiters, m_reads, m_ports, m_rates),
      m_sender(m_core, m_ports, m_timers, m_rates, m_recovery),
      m_acknowledgements(m_core, m_ports, m_timers, m_rates, m_recovery),
      m_returnPath(m_core),
      m_receiver(m_core, m_limiters, m_timers, m_returnPath),
      m_controlUnits(m_core, m_timers, m_returnPath),
      m_groups(m_core, m_maker, m_ports, m_sender)
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
    m_core.fabric = nullptr;
    m_core.user = nullptr;
    m_pathRandom = nullptr;
    m_maker.Clear();
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
    RequireThere(fabric, "the fabric");
    m_core.fabric = fabric;
    m_core.user = user;
    fabric->SetEndpoint(this);
    m_maker.SetUp(m_pathRandom->GetInteger(0, UINT32_MAX - 1));
    m_limiters.SetUp(fabric->GetCluster());
    m_ports.SetUp();
}

void
Transport::RequireAlive(const char* function) const
{
    if (!m_core.fabric)
    {
        throw std::logic_error(std::string("Transport::") + function +
                               "(): before SetFabric(), or after Dispose()");
    }
}

uint32_t
Transport::CreateQueuePair(const QueuePairOptions& options)
{
    NS_LOG_FUNCTION(this << options.source << options.destination << options.flow);
    RequireThere(m_core.fabric, "the fabric of the transport, see SetFabric(),");
    const std::size_t nVertices = m_core.fabric->GetCluster().GetVertices().size();
    if (options.source >= nVertices || options.destination >= nVertices)
    {
        throw std::invalid_argument("transport: a queue pair from vertex " +
                                    std::to_string(options.source) + " to " +
                                    std::to_string(options.destination) + " of a cluster with " +
                                    std::to_string(nVertices));
    }
    if (options.user && options.user != m_core.user)
    {
        m_core.fabric->GetWatch().AddForeignTraffic();
    }
    return m_maker.Create(options);
}

void
Transport::Send(uint32_t queuePair, uint64_t bytes, uint64_t tag)
{
    NS_LOG_FUNCTION(this << queuePair << bytes << tag);
    RequireAlive("Send");
    RequirePair(queuePair);
    m_sender.Append(queuePair, bytes, tag);
}

void
Transport::SendControl(uint32_t queuePair, uint32_t value)
{
    NS_LOG_FUNCTION(this << queuePair << value);
    RequireAlive("SendControl");
    RequirePair(queuePair);
    m_controlUnits.Send(queuePair, value);
}

uint32_t
Transport::CreateGroup(const GroupOptions& options)
{
    NS_LOG_FUNCTION(this << options.members.size() << options.flow);
    RequireThere(m_core.fabric, "the fabric of the transport, see SetFabric(),");
    return m_groups.Create(options);
}

void
Transport::Restart(uint32_t queuePair)
{
    RequirePair(queuePair);
    SenderState& sender = m_core.pairs.GetSender(queuePair);
    if (sender.ackedBytes == sender.totalBytes)
    {
        sender.turn = 0;
    }
}

std::vector<uint32_t>
Transport::MakeLanes(uint32_t group, bool reductions, const std::vector<bool>& multicasts)
{
    return m_groups.MakeLanes(group, reductions, multicasts);
}

void
Transport::RestartGroup(uint32_t group)
{
    m_groups.Restart(group);
}

void
Transport::SendGroup(uint32_t group,
                     GroupOperation operation,
                     uint32_t member,
                     uint64_t bytes,
                     uint64_t tag,
                     uint32_t root)
{
    NS_LOG_FUNCTION(this << group << member << bytes << tag);
    RequireAlive("SendGroup");
    m_groups.Send(group, operation, member, bytes, tag, root);
}

bool
Transport::Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs)
{
    return m_sender.Pull(port, classes, record, nextPs);
}

VertexId
Transport::Deliver(const PacketRecord& record, VertexId at)
{
    const uint32_t id = record.queuePair;
    if (record.kind == PacketKind::DATA)
    {
        ReceiverState& receiver = m_core.pairs.GetReceiver(id);
        if (at == receiver.vertex)
        {
            if ((receiver.flags & ReceiverState::READ) != 0)
            {
                m_ports.ReturnRead(id, m_core.fabric->GetTimePs());
            }
            m_receiver.Receive(record, receiver);
            return CONSUMED;
        }
        if ((receiver.flags & ReceiverState::NIC_ENDS) != 0 && !m_receiver.PassNic(record, at))
        {
            return CONSUMED;
        }
        const uint16_t flags = m_core.pairs.GetSender(id).flags;
        if ((flags & SenderState::GROUP) != 0)
        {
            return m_groups.Deliver(record, at);
        }
        const VertexId next = m_core.pairs.GetNextWaypoint(id, at, true);
        return (flags & SenderState::STAGED) != 0 && !m_memories.LetPass(record, next) ? CONSUMED
                                                                                       : next;
    }
    const bool forward = (record.flags & PacketRecord::TURNED) != 0;
    const QueuePairState& state = m_core.pairs.GetState(id);
    const bool isForNic = record.kind == PacketKind::CONGESTION_NOTIFICATION;
    if (at != (forward ? state.destination : state.source) &&
        !(isForNic && m_core.IsNicOf(at, state.source)))
    {
        return m_core.pairs.GetNextWaypoint(id, at, forward);
    }
    TakeControl(record, forward);
    return CONSUMED;
}

void
Transport::Prepare(const PacketRecord& record) const
{
    m_core.pairs.Prefetch(record.queuePair);
}

void
Transport::TakeControl(const PacketRecord& record, bool forward)
{
    switch (record.kind)
    {
    case PacketKind::ACKNOWLEDGE:
    case PacketKind::NEGATIVE_ACKNOWLEDGE:
        if (forward)
        {
            m_controlUnits.ReceiveAcknowledgement(record);
        }
        else
        {
            m_acknowledgements.Handle(record);
        }
        break;
    case PacketKind::CONGESTION_NOTIFICATION:
        m_rates.OnNotification(record.queuePair);
        break;
    case PacketKind::CONTROL:
        m_controlUnits.Receive(record);
        break;
    case PacketKind::DATA:
    case PacketKind::PAUSE:
        break; // Deliver() and the fabric have handled them
    }
}

void
Transport::Replicate(const PacketRecord& record, VertexId at, std::vector<PacketRecord>& copies)
{
    m_groups.Replicate(record, at, copies);
}

uint64_t
Transport::GetFlowHash(uint32_t queuePair) const
{
    return m_core.pairs.GetFlowHash(queuePair);
}

void
Transport::HandleTimer()
{
    m_timers.Expire([this](uint32_t id, int64_t now) {
        m_receiver.HandleTimer(id, now);
        if (m_rates.HandleTimer(id, now))
        {
            m_ports.Activate(id);
        }
        m_acknowledgements.HandleTimer(id, now);
        m_controlUnits.HandleTimer(id, now);
        if (m_memories.HandleTimer(id, now))
        {
            m_ports.WakeReader(id, now);
        }
    });
}

void
Transport::LeaveNic(const PacketRecord& record, int64_t timePs)
{
    const uint32_t id = record.queuePair;
    ReturnRead(id, timePs);
    if ((m_core.pairs.GetSender(id).flags & SenderState::SEND_TIMES) != 0)
    {
        m_sender.NoteSendTime(id, record.sequence, m_core.fabric->GetTimePs());
    }
}

void
Transport::ReturnRead(uint32_t queuePair, int64_t timePs)
{
    const uint16_t flags = m_core.pairs.GetSender(queuePair).flags;
    if ((flags & (SenderState::READ | SenderState::STAGED)) != 0)
    {
        m_ports.ReturnRead(queuePair, timePs);
    }
}

void
Transport::Lose(const PacketRecord& record)
{
    if (record.kind == PacketKind::CONTROL)
    {
        m_controlUnits.NoteLost(record);
        return;
    }
    const SenderState& sender = m_core.pairs.GetSender(record.queuePair);
    const VertexId reader = (sender.flags & SenderState::STAGED) != 0
                                ? m_core.pairs.GetState(record.queuePair).stage->reader
                                : sender.firstWaypoint;
    if (record.destination == reader)
    {
        ReturnRead(record.queuePair, m_core.fabric->GetTimePs()); // it has never come so far
    }
    if (m_core.pairs.GetState(record.queuePair).nicEnd)
    {
        m_receiver.Lose(record);
    }
}

void
Transport::CollectTelemetry(const PacketRecord& record, const HopTelemetry& hop)
{
    const uint32_t id = record.queuePair;
    if ((m_core.pairs.GetSender(id).flags & SenderState::TELEMETRY) == 0)
    {
        return;
    }
    const VertexId source = m_core.pairs.GetState(id).source;
    if (m_core.fabric->IsLocal(source))
    {
        AddHop(id, record.sequence, hop);
    }
    else
    {
        m_core.fabric->TellRank(source, TELEMETRY_WORD, TelemetryWord{hop, id, record.sequence});
    }
}

void
Transport::AddHop(uint32_t queuePair, uint32_t sequence, const HopTelemetry& hop)
{
    auto& stacks = m_core.pairs.GetState(queuePair).stacks;
    HopStack& stack = stacks[sequence & (stacks.size() - 1)];
    if (stack.nHops < HopStack::MAX_HOPS)
    {
        stack.hops[stack.nHops++] = hop;
    }
}

void
Transport::HandleRankWord(uint32_t kind, const uint8_t* data)
{
    if (kind == MESSAGE_WORD)
    {
        MessageWord word;
        std::memcpy(&word, data, sizeof(word));
        m_receiver.Expect(word.queuePair, word.message);
    }
    else if (kind == TELEMETRY_WORD)
    {
        TelemetryWord word;
        std::memcpy(&word, data, sizeof(word));
        AddHop(word.queuePair, word.sequence, word.hop);
    }
    else
    {
        m_core.user->HandleRankWord(kind, data);
    }
}

void
Transport::HandleTopologyChange()
{
    NS_LOG_FUNCTION(this);
    for (uint32_t id = 0; id < m_core.pairs.GetN(); ++id)
    {
        m_ports.Reassign(id);
    }
    m_groups.CheckLinks();
}

QueuePairEnds
Transport::GetEnds(uint32_t queuePair) const
{
    return m_core.pairs.GetEnds(queuePair);
}

uint64_t
Transport::GetMessageBytes(uint32_t queuePair, uint32_t sequence) const
{
    return m_core.pairs.GetMessageBytes(queuePair, sequence);
}

std::string
Transport::CheckAtRest() const
{
    for (uint32_t id = 0; id < m_core.pairs.GetN(); ++id)
    {
        const QueuePairState& state = m_core.pairs.GetState(id);
        const std::string left =
            m_core.pairs.CheckAtRest(id,
                                     m_core.fabric->IsLocal(state.source),
                                     m_core.fabric->IsLocal(state.destination));
        if (!left.empty())
        {
            return m_core.Describe(id) + ": " + left;
        }
    }
    if (!m_reads.IsAtRest())
    {
        return "a device has not done with all that it has asked of a memory";
    }
    return m_groups.CheckAtRest();
}

} // namespace proteus
} // namespace ns3
