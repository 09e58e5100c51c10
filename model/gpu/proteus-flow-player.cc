/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-player.h"

#include "proteus-flow-order.h"
#include "proteus-message-pair.h"
#include "proteus-stall-watch.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-link-losses.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFlowPlayer");
NS_OBJECT_ENSURE_REGISTERED(FlowPlayer);

namespace
{

/// Packets of one message, at most: the transport numbers them modulo 2^32.
constexpr uint64_t MAX_PACKETS = uint64_t{1} << 30;
/// Flows that a message about a stalled run names.
constexpr uint32_t MAX_NAMED = 5;

[[noreturn]] void
FailFlow(const FlowSpec& flow, const std::string& cause)
{
    throw std::invalid_argument("flow '" + flow.id + "': " + cause);
}

/// @param fabric of a player @param function that is called @throw std::logic_error if it is null
void
RequireInstalled(const Ptr<Fabric>& fabric, const std::string& function)
{
    if (!fabric)
    {
        throw std::logic_error("FlowPlayer::" + function +
                               "(): nothing is installed, or Dispose() was called");
    }
}

} // namespace

TypeId
FlowPlayer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::FlowPlayer")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<FlowPlayer>()
            .AddAttribute("QueuePairPerPair",
                          "Whether all flows from one GPU to another share a queue pair, on which "
                          "they come one after the other. Otherwise each has its own.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FlowPlayer::m_perPair),
                          MakeBooleanChecker())
            .AddAttribute(
                "Trigger",
                "What of a flow starts those that depend on it, where its list does not say it: "
                "that its last byte has arrived (Receive), or that its sender has the "
                "acknowledgement of it (Acknowledgement), as where one host runs all of a chain.",
                EnumValue(ON_RECEIVE),
                MakeEnumMemberAccessor(&FlowPlayer::m_trigger),
                MakeEnumChecker(ON_RECEIVE, "Receive", ON_ACKNOWLEDGEMENT, "Acknowledgement"))
            .AddAttribute("DeadlockCheckInterval",
                          "Simulated time between two looks for ports that wait for each other in "
                          "a circle, which ends the run, longer while no packet moves; 0: look "
                          "only when nothing moves any more.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&FlowPlayer::m_deadlockInterval),
                          MakeTimeChecker(Seconds(0)))
            .AddTraceSource("FlowDone",
                            "A flow has arrived, and its sender knows.",
                            MakeTraceSourceAccessor(&FlowPlayer::m_doneTrace),
                            "ns3::proteus::FlowPlayer::FlowTracedCallback");
    return tid;
}

FlowPlayer::FlowPlayer()
    : m_transport(CreateObject<Transport>())
{
    NS_LOG_FUNCTION(this);
}

FlowPlayer::~FlowPlayer()
{
    NS_LOG_FUNCTION(this);
}

void
FlowPlayer::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_startEvent.Cancel();
    m_report = nullptr;
    m_transport->Dispose();
    m_fabric = nullptr;
    Object::DoDispose();
}

int64_t
FlowPlayer::AssignStreams(Ptr<Fabric> fabric, int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    RequireThere(fabric, "the fabric");
    if (m_isSetUp)
    {
        throw std::logic_error("FlowPlayer::AssignStreams(): after Install(), which has chosen the "
                               "paths");
    }
    const int64_t used = m_transport->AssignStreams(stream);
    return used + fabric->AssignStreams(stream + used);
}

uint32_t
FlowPlayer::CreateQueuePair(const FlowSpec& flow, uint64_t name)
{
    const auto& gpus = m_fabric->GetCluster().GetGpus();
    return m_transport->CreateQueuePair(
        MakeMessagePair(m_fabric, gpus[flow.source], gpus[flow.destination], name));
}

void
FlowPlayer::CheckFlow(const FlowSpec& flow) const
{
    const std::size_t ranks = m_fabric->GetCluster().GetGpus().size();
    if (flow.source >= ranks || flow.destination >= ranks)
    {
        FailFlow(flow,
                 "rank " + std::to_string(std::max(flow.source, flow.destination)) +
                     " of a cluster with " + std::to_string(ranks) + " GPUs");
    }
    if (flow.source == flow.destination || flow.bytes == 0 || flow.startPs < 0)
    {
        FailFlow(flow,
                 "it needs two different ranks, at least one byte, and a time that is not "
                 "negative");
    }
}

void
FlowPlayer::CheckPackets(const FlowSpec& flow, uint32_t queuePair) const
{
    const uint32_t packetBytes = m_transport->GetPath(queuePair).packetBytes;
    if (flow.bytes / packetBytes >= MAX_PACKETS - 1)
    {
        FailFlow(flow,
                 std::to_string(flow.bytes) + " bytes are more than 2^30 packets of " +
                     std::to_string(packetBytes) + " bytes; divide it");
    }
}

void
FlowPlayer::CountDependents(uint32_t i)
{
    const FlowSpec& flow = m_flows[i];
    m_missing[i] = static_cast<uint32_t>(flow.after.size());
    for (uint32_t before : flow.after)
    {
        if (before >= m_flows.size())
        {
            FailFlow(flow, "it depends on a flow that is not there");
        }
        ++m_firstDependents[before + 1];
    }
}

void
FlowPlayer::LinkDependents()
{
    const auto n = static_cast<uint32_t>(m_flows.size());
    for (uint32_t i = 0; i < n; ++i)
    {
        m_firstDependents[i + 1] += m_firstDependents[i];
    }
    std::vector<uint32_t> next(m_firstDependents.begin(), m_firstDependents.end() - 1);
    m_dependents.resize(m_firstDependents.back());
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        const uint32_t i = m_order[rank];
        for (uint32_t before : m_flows[i].after)
        {
            m_dependents[next[before]++] = i;
        }
        if (m_missing[i] == 0 && m_fabric->IsLocal(GetSource(m_flows[i])))
        {
            m_due.emplace_back(m_flows[i].startPs, rank);
        }
    }
    std::make_heap(m_due.begin(), m_due.end(), std::greater<Due>());
}

void
FlowPlayer::Install(Ptr<Fabric> fabric, std::vector<FlowSpec> flows)
{
    NS_LOG_FUNCTION(this << fabric << flows.size());
    if (m_isSetUp)
    {
        throw std::logic_error("FlowPlayer::Install(): was called before");
    }
    RequireThere(fabric, "the fabric");
    RequireCluster(*fabric);
    m_isSetUp = true;
    m_fabric = fabric;
    m_flows = std::move(flows);
    m_transport->SetFabric(fabric, this);
    const auto n = static_cast<uint32_t>(m_flows.size());
    m_times.resize(n);
    m_missing.resize(n);
    m_firstDependents.assign(n + 1, 0);
    for (uint32_t i = 0; i < n; ++i)
    {
        CheckFlow(m_flows[i]);
        m_totalBytes += m_flows[i].bytes;
        CountDependents(i);
    }
    const auto cycle = FindFlowCycle(m_flows);
    if (!cycle.empty())
    {
        FailFlow(m_flows[cycle[0]], "it waits for itself");
    }
    CreateQueuePairs();
    for (const FlowSpec& flow : m_flows)
    {
        CheckRanks(flow);
    }
    LinkDependents();
    m_settled.Add(m_fabric);
    m_settled.Add(m_transport);
    m_startEventPs = 0;
    m_startEvent = ScheduleFunction(Time(0), [this] { StartDue(); });
}

void
FlowPlayer::CreateQueuePairs()
{
    const auto n = static_cast<uint32_t>(m_flows.size());
    m_order = SortFlows(m_flows);
    m_queuePairs.resize(n);
    m_rankOf.resize(n);
    uint32_t ofEnds = 0; // flows of the same ends that came before
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        const uint32_t i = m_order[rank];
        const FlowSpec& flow = m_flows[i];
        const FlowSpec& before = m_flows[m_order[std::max(1U, rank) - 1]];
        const bool isSame =
            rank > 0 && before.source == flow.source && before.destination == flow.destination;
        ofEnds = isSame ? ofEnds + 1 : 0;
        const uint64_t ends = MixHash(flow.source, flow.destination);
        m_rankOf[i] = rank;
        m_queuePairs[i] = m_perPair && isSame
                              ? m_queuePairs[m_order[rank - 1]]
                              : CreateQueuePair(flow, m_perPair ? ends : MixHash(ends, ofEnds));
        CheckPackets(flow, m_queuePairs[i]);
    }
}

void
FlowPlayer::CheckRanks(const FlowSpec& flow) const
{
    if (!m_fabric->GetRanks())
    {
        return;
    }
    const auto& rankOf = m_fabric->GetRanks()->GetPartition().rankOf;
    for (uint32_t before : flow.after)
    {
        const FlowSpec& other = m_flows[before];
        const uint32_t end = GetTrigger(other) == ON_RECEIVE ? other.destination : other.source;
        const VertexId knows = m_fabric->GetCluster().GetGpus()[end];
        if (rankOf[knows] != rankOf[GetSource(flow)])
        {
            FailFlow(flow,
                     "it starts at MPI rank " + std::to_string(rankOf[GetSource(flow)]) +
                         " in the moment in which rank " + std::to_string(rankOf[knows]) +
                         " knows of '" + other.id +
                         "', and nothing goes from rank to rank without a delay; use fewer ranks");
        }
    }
}

void
FlowPlayer::StartDue()
{
    m_startEventPs = -1;
    const int64_t now = m_fabric->GetTimePs();
    while (!m_due.empty() && m_due.front().first <= now)
    {
        const uint32_t flow = m_order[m_due.front().second];
        std::pop_heap(m_due.begin(), m_due.end(), std::greater<Due>());
        m_due.pop_back();
        Start(flow);
    }
    if (!m_due.empty())
    {
        m_startEventPs = m_due.front().first;
        m_startEvent =
            ScheduleFunction(CeilToStep(m_startEventPs) - Simulator::Now(), [this] { StartDue(); });
    }
}

void
FlowPlayer::Release(uint32_t flow)
{
    const int64_t startPs = m_flows[flow].startPs;
    if (startPs <= m_fabric->GetTimePs())
    {
        Start(flow);
        return;
    }
    m_due.emplace_back(startPs, m_rankOf[flow]);
    std::push_heap(m_due.begin(), m_due.end(), std::greater<Due>());
    if (m_startEventPs < 0 || startPs < m_startEventPs)
    {
        // The fabric may be ahead of the simulator's clock.
        m_startEvent.Cancel();
        m_startEventPs = m_fabric->GetTimePs();
        m_fabric->CallAtPresent(m_fabric->GetCluster().GetGpus()[m_flows[flow].source], [this] {
            m_startEvent.Cancel();
            StartDue();
        });
    }
}

void
FlowPlayer::Start(uint32_t flow)
{
    m_times[flow].startPs = m_fabric->GetTimePs();
    m_transport->Send(m_queuePairs[flow], m_flows[flow].bytes, flow);
}

void
FlowPlayer::ReceiveMessage(uint32_t /* queuePair */, uint64_t tag, uint64_t bytes)
{
    const auto flow = static_cast<uint32_t>(tag);
    NS_ABORT_MSG_IF(bytes != m_flows[flow].bytes || m_times[flow].receivedPs >= 0,
                    "proteus::FlowPlayer: flow '" << m_flows[flow].id
                                                  << "' has arrived twice, or not as it was sent");
    m_times[flow].receivedPs = m_fabric->GetTimePs();
    ++m_nReceived;
    if (GetTrigger(m_flows[flow]) == ON_RECEIVE)
    {
        ReleaseDependents(flow);
    }
}

FlowTrigger
FlowPlayer::GetTrigger(const FlowSpec& flow) const
{
    switch (flow.release)
    {
    case FlowRelease::RECEIVE:
        return ON_RECEIVE;
    case FlowRelease::ACKNOWLEDGEMENT:
        return ON_ACKNOWLEDGEMENT;
    case FlowRelease::OF_PLAYER:
        break;
    }
    return m_trigger;
}

void
FlowPlayer::ReleaseDependents(uint32_t flow)
{
    for (uint32_t i = m_firstDependents[flow]; i < m_firstDependents[flow + 1]; ++i)
    {
        if (--m_missing[m_dependents[i]] == 0)
        {
            Release(m_dependents[i]);
        }
    }
}

void
FlowPlayer::ReceiveAcknowledgement(uint32_t /* queuePair */, uint64_t tag)
{
    const auto flow = static_cast<uint32_t>(tag);
    m_times[flow].acknowledgedPs = m_fabric->GetTimePs();
    ++m_nAcknowledged;
    if (GetTrigger(m_flows[flow]) == ON_ACKNOWLEDGEMENT)
    {
        ReleaseDependents(flow);
    }
    if (!m_doneTrace.IsEmpty())
    {
        m_fabric->CallAtPresent(m_fabric->GetCluster().GetGpus()[m_flows[flow].source],
                                [this, flow] { m_doneTrace(flow, m_times[flow]); });
    }
}

void
FlowPlayer::SetProgressReport(std::function<void(const TrainingJob::Progress&)> report)
{
    RequireInstalled(m_fabric, "SetProgressReport");
    if (!m_report)
    {
        m_rankProgress = std::make_unique<RankProgress>();
        m_fabric->TraceConnectWithoutContext("Progress",
                                             MakeCallback(&FlowPlayer::OnFabricProgress, this));
    }
    m_report = std::move(report);
}

void
FlowPlayer::OnFabricProgress(uint64_t /* events */)
{
    TrainingJob::Progress progress;
    progress.tasks = m_nReceived;
    progress.totalTasks = m_flows.size();
    progress.bytes = m_transport->GetSentBytes();
    progress.totalBytes = m_totalBytes;
    progress.packetHops = m_fabric->GetPacketHops();
    progress.timePs = m_fabric->GetTimePs();
    progress = m_rankProgress->Add(progress);
    if (GetRank() == 0)
    {
        m_report(progress);
    }
}

std::string
FlowPlayer::DescribeRest() const
{
    if (m_nReceived < m_flows.size())
    {
        const std::string circle = m_fabric->FindDeadlock();
        if (!circle.empty())
        {
            return "deadlock: " + circle;
        }
        std::string text = std::to_string(m_flows.size() - m_nReceived) + " of " +
                           std::to_string(m_flows.size()) + " flows have not arrived: ";
        uint32_t named = 0;
        for (uint32_t i = 0; i < m_flows.size() && named < MAX_NAMED; ++i)
        {
            if (m_times[i].receivedPs < 0)
            {
                text += (named++ > 0 ? ", '" : "'") + m_flows[i].id + "'";
            }
        }
        return text + DescribeLinkFaults(*m_fabric);
    }
    const std::string left = m_fabric->GetRanks() ? "" : m_transport->CheckAtRest();
    return left.empty() ? m_fabric->CheckAtRest() : left;
}

void
FlowPlayer::Run()
{
    NS_LOG_FUNCTION(this);
    RequireInstalled(m_fabric, "Run");
    m_settled.RequireUnchanged();
    bool isCut = false;
    if (m_fabric->GetRanks())
    {
        RunRanks();
    }
    else
    {
        isCut = StallWatch::Run(m_fabric, m_deadlockInterval);
    }
    if (isCut && !m_isStopped && m_nReceived < m_flows.size())
    {
        throw std::runtime_error(DescribeCut(m_nReceived, m_flows.size(), "flows have arrived"));
    }
    if (isCut || m_isStopped)
    {
        SampleClock::Finish();
        return;
    }
    const std::string rest = DescribeRest();
    if (!rest.empty())
    {
        throw std::runtime_error("the run has come to a stop before its end: " + rest);
    }
}

void
FlowPlayer::RunRanks()
{
    if (RankSession::Agree(true) != RankSession::ALL_WELL)
    {
        throw RanksGone();
    }
    std::string rest;
    try
    {
        // A circle of ports may go through several ranks: none is looked for.
        StallWatch::Run(m_fabric, Time(0));
        rest = m_transport->CheckAtRest();
    }
    catch (const std::exception& error)
    {
        throw RankFailure(error.what());
    }
    if (m_rankProgress)
    {
        m_rankProgress->Finish();
    }
    Gather();
    rest = GetFirstTextOfRanks(rest);
    if (m_nReceived == m_flows.size() && !rest.empty())
    {
        throw std::runtime_error("the run has come to a stop before its end: " + rest);
    }
}

void
FlowPlayer::Gather()
{
    const NetworkStatistics own = GetStatistics();
    std::vector<uint64_t> sums{own.packets,
                               own.controlPackets,
                               own.repeated,
                               own.timeouts,
                               m_nReceived,
                               m_nAcknowledged};
    SumOverRanks(sums);
    m_ofOthers.packets = sums[0] - own.packets;
    m_ofOthers.controlPackets = sums[1] - own.controlPackets;
    m_ofOthers.repeated = sums[2] - own.repeated;
    m_ofOthers.timeouts = sums[3] - own.timeouts;
    m_nReceived = static_cast<uint32_t>(sums[4]);
    m_nAcknowledged = static_cast<uint32_t>(sums[5]);
    // A rank knows the times of what happened at its vertices; others are -1.
    std::vector<int64_t> times;
    for (const FlowTimes& flow : m_times)
    {
        times.insert(times.end(), {flow.startPs, flow.receivedPs, flow.acknowledgedPs});
    }
    MaxOverRanks(times);
    for (std::size_t i = 0; i < m_times.size(); ++i)
    {
        m_times[i].startPs = times[3 * i];
        m_times[i].receivedPs = times[3 * i + 1];
        m_times[i].acknowledgedPs = times[3 * i + 2];
    }
    m_fabric->GatherStatistics();
}

void
FlowPlayer::Stop()
{
    NS_LOG_FUNCTION(this);
    RequireInstalled(m_fabric, "Stop");
    RequireOneProcess("a run that is stopped before its end", "let it come to its end");
    if (!m_isStopped)
    {
        m_isStopped = true;
        StallWatch::StopAtPresent(m_fabric);
    }
}

int64_t
FlowPlayer::GetEndPs() const
{
    int64_t end = -1;
    for (const FlowTimes& times : m_times)
    {
        end = std::max(end, times.receivedPs);
    }
    return end;
}

NetworkStatistics
FlowPlayer::GetStatistics() const
{
    RequireInstalled(m_fabric, "GetStatistics");
    NetworkStatistics statistics = m_ofOthers;
    statistics.packets += m_transport->GetPackets();
    statistics.controlPackets += m_transport->GetControlPackets();
    statistics.repeated += m_transport->GetRetransmittedPackets();
    m_fabric->AddTotals(statistics);
    statistics.messages = m_nReceived;
    statistics.queuePairs = m_transport->GetNQueuePairs();
    statistics.timeouts += m_transport->GetTimeouts();
    return statistics;
}

} // namespace proteus
} // namespace ns3
