/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/proteus-compat.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>

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
                          "Congestion control of queue pairs that cross a network: none, dcqcn, "
                          "hpcc, timely, swift, dctcp, tcp, the name of a TypeId derived from "
                          "ns3::proteus::CongestionType, or auto: dcqcn over RoCE and none over "
                          "InfiniBand.",
                          StringValue("auto"),
                          MakeStringAccessor(&Transport::m_congestionControl),
                          MakeStringChecker())
            .AddAttribute(
                "Reliability",
                "How lost packets are sent again: GoBackN, all from the first that is "
                "missing on, or SelectiveRepeat. Where packets of a queue pair take "
                "several paths, and with tcp, it is always SelectiveRepeat.",
                EnumValue(GO_BACK_N),
                MakeEnumMemberAccessor(&Transport::m_reliability),
                MakeEnumChecker(GO_BACK_N, "GoBackN", SELECTIVE_REPEAT, "SelectiveRepeat"))
            .AddAttribute("Window",
                          "Payload bytes in flight at which a queue pair stops sending, whatever "
                          "its congestion control says; 0: no such limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Transport::m_window),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("WindowProducts",
                          "The same in bandwidth-delay products of the path: rate of its slowest "
                          "link x round trip of a full packet and its acknowledgement without "
                          "queues. 0: no such limit.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&Transport::m_windowProducts),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("AckEveryPackets",
                          "A packet out of so many asks for an acknowledgement, besides the one "
                          "that fills the window. 0: as often as the congestion control needs, "
                          "every packet with a window, and none otherwise.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Transport::m_ackEveryPackets),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("AckEveryMessage",
                          "Whether the last packet of a message asks for an acknowledgement.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Transport::m_ackEveryMessage),
                          MakeBooleanChecker())
            .AddAttribute("AckDelay",
                          "Packets that do not ask for it are acknowledged after this time at the "
                          "latest; 0: not until one asks.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Transport::m_ackDelay),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("AckTrafficClass",
                          "Traffic class of acknowledgements, notifications and control units.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Transport::m_ackClass),
                          MakeUintegerChecker<uint32_t>(0, MAX_TRAFFIC_CLASSES - 1))
            .AddAttribute("ReorderingDistance",
                          "Selective repeat: a packet is lost when one that was sent so many "
                          "packets later has arrived. 0: 1 on a single path (3 with tcp), and "
                          "never, so that losses show by the timeout, where packets take several.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Transport::m_reorderingDistance),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ReorderBuffer",
                          "Packets that a receiver holds before their turn, at most, counted from "
                          "the first that is missing; others are dropped.",
                          UintegerValue(262144),
                          MakeUintegerAccessor(&Transport::m_reorderBuffer),
                          MakeUintegerChecker<uint32_t>(1, 524287))
            .AddAttribute("NakInterval",
                          "Go-back-N: the receiver asks again for the same packet after this time "
                          "at the earliest.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Transport::m_nakInterval),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("RetransmissionTimeout",
                          "Unacknowledged packets are sent again after this time, doubled with "
                          "every timeout in a row. The default is InfiniBand's 4.096 us x 2^14, "
                          "the local acknowledgement timeout that rdma-core's perftest sets.",
                          TimeValue(NanoSeconds(67108864)),
                          MakeTimeAccessor(&Transport::m_retransmissionTimeout),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which a queue pair gives up, which ends the "
                          "run. The default is that of InfiniBand's retry count.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&Transport::m_retryLimit),
                          MakeUintegerChecker<uint32_t>(0, 30))
            .AddAttribute("FirstSequence",
                          "Number of the first packet of every queue pair.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Transport::m_firstSequence),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("CongestionState",
                            "The rate or the window of a queue pair has changed.",
                            MakeTraceSourceAccessor(&Transport::m_congestionTrace),
                            "ns3::proteus::Transport::CongestionTracedCallback");
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
    m_congestionTypes.clear();
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
Transport::Send(uint32_t queuePair, uint64_t bytes, uint64_t tag)
{
    NS_LOG_FUNCTION(this << queuePair << bytes << tag);
    NS_ABORT_MSG_IF(bytes == 0, "proteus::Transport: a message needs at least one byte");
    SenderState& sender = m_senders[queuePair];
    ReceiverState& receiver = m_receivers[queuePair];
    QueuePairState& state = m_states[queuePair];
    const uint64_t packets = (bytes + sender.unitBytes - 1) / sender.unitBytes;
    NS_ABORT_MSG_IF(packets >= (uint64_t{1} << 30),
                    "proteus::Transport: a message of " << bytes << " bytes has too many packets");
    QueuePairMessage message;
    message.tag = tag;
    message.bytes = bytes;
    message.position = sender.totalBytes;
    const uint32_t number = state.messages.GetTail();
    message.first = state.messages.IsEmpty() ? sender.highest : state.messages.At(number - 1).end;
    message.end = message.first + static_cast<uint32_t>(packets);
    if (sender.ackedBytes == sender.totalBytes)
    {
        sender.headEnd = message.end;
    }
    if (receiver.delivering == number)
    {
        receiver.messageEnd = message.end;
    }
    state.messages.Push(message);
    sender.totalBytes += bytes;
    Activate(queuePair);
}

uint64_t
Transport::GetFlowHash(uint32_t queuePair) const
{
    return m_hashes[queuePair];
}

QueuePairStatistics
Transport::GetStatistics(uint32_t queuePair) const
{
    const SenderState& sender = m_senders[queuePair];
    const QueuePairState& state = m_states[queuePair];
    QueuePairStatistics statistics = state.statistics;
    statistics.sentBytes = std::max(state.statistics.sentBytes, sender.nextBytes);
    statistics.receivedBytes = m_receivers[queuePair].receivedBytes;
    statistics.acknowledgedBytes = sender.ackedBytes;
    statistics.messages = m_receivers[queuePair].delivering;
    statistics.windowBytes = sender.windowBytes;
    statistics.bytesPerSecond =
        state.control ? state.control->GetRate() : std::numeric_limits<double>::infinity();
    return statistics;
}

std::string
Transport::CheckAtRest() const
{
    for (uint32_t id = 0; id < m_senders.size(); ++id)
    {
        const SenderState& sender = m_senders[id];
        const QueuePairState& state = m_states[id];
        std::string left;
        if (sender.nextBytes != sender.totalBytes)
        {
            left = std::to_string(sender.totalBytes - sender.nextBytes) + " bytes not sent";
        }
        else if (sender.ackedBytes != sender.totalBytes)
        {
            left = std::to_string(sender.GetInFlight()) + " bytes not acknowledged";
        }
        else if ((sender.flags & SenderState::GROUP) == 0 &&
                 (m_receivers[id].receivedBytes != sender.totalBytes || m_receivers[id].held > 0))
        {
            left = "received " + std::to_string(m_receivers[id].receivedBytes) + " of " +
                   std::to_string(sender.totalBytes) + " bytes";
        }
        else if (!state.pendingControls.IsEmpty())
        {
            left =
                std::to_string(state.pendingControls.GetSize()) + " control units not acknowledged";
        }
        if (!left.empty())
        {
            const auto& vertices = m_fabric->GetCluster().GetVertices();
            return "queue pair " + std::to_string(id) + " from " + vertices[state.source].name +
                   " to " + vertices[state.destination].name + ": " + left;
        }
    }
    for (uint32_t id = 0; id < m_groups.size(); ++id)
    {
        const std::string left = m_groups[id].CheckAtRest();
        if (!left.empty())
        {
            return "group " + std::to_string(id) + ": " + left;
        }
    }
    return "";
}

void
Transport::CollectTelemetry(const PacketRecord& record, const HopTelemetry& hop)
{
    if ((m_senders[record.queuePair].flags & SenderState::TELEMETRY) != 0)
    {
        auto& stacks = m_states[record.queuePair].stacks;
        HopStack& stack = stacks[record.sequence & (stacks.size() - 1)];
        if (stack.nHops < HopStack::MAX_HOPS)
        {
            stack.hops[stack.nHops++] = hop;
        }
    }
}

} // namespace proteus
} // namespace ns3
