/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-network.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <stdexcept>
#include <thread>
#include <utility>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusPacketNetwork");
NS_OBJECT_ENSURE_REGISTERED(PacketNetwork);

namespace
{

/// All that RepetitionStatistics counts.
constexpr uint64_t RepetitionStatistics::*REPETITION_COUNTS[] = {
    &RepetitionStatistics::communications,
    &RepetitionStatistics::repeated,
    &RepetitionStatistics::recorded,
    &RepetitionStatistics::packets,
    &RepetitionStatistics::periodPackets,
    &RepetitionStatistics::packetHops,
    &RepetitionStatistics::vainHops,
    &RepetitionStatistics::postponed,
    &RepetitionStatistics::verified,
};

} // namespace

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
                          MakeUintegerChecker<uint32_t>(0, 64))
            .AddAttribute("NetworkChannels",
                          "Channels of a message, or of a pair of ranks of an all-to-all, between "
                          "servers; 0: as NCCL takes, see PlanMessage().",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_networkChannels),
                          MakeUintegerChecker<uint32_t>(0, 64))
            .AddAttribute("CommunicatorRanks",
                          "Ranks of the communicator whose channels messages share; 0: the two of "
                          "the message.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_communicatorRanks),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("CommunicatorServers",
                          "Servers that the ranks of the communicator are in; 0: those of the "
                          "message.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_communicatorServers),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("CommunicatorChannels",
                          "Channels of the communicator; 0: as the ranks of the message would "
                          "have.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_communicatorChannels),
                          MakeUintegerChecker<uint32_t>(0, 64))
            .AddAttribute(
                "NcclVersion",
                "Version of NCCL that chooses algorithm and protocol, 100 times the major "
                "and the minor number, e.g. 207: see CollectivePreferences.",
                UintegerValue(NEWEST_NCCL),
                MakeUintegerAccessor(&PacketNetwork::m_ncclVersion),
                MakeUintegerChecker<uint32_t>(OLDEST_NCCL, 999)) // no NCCL_VERSION_CODE
            .AddAttribute("CpuVendor",
                          "Who made the CPUs, to NCCL's tuner: intel, amd, arm, power or other; "
                          "empty: as the cluster says, see CpuVendor.",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_cpuVendor),
                          MakeStringChecker())
            .AddAttribute("NetPlugin",
                          "Plug-in by which NCCL uses the network, e.g. efa: see NetPlugin; empty: "
                          "NCCL's own for InfiniBand and RoCE.",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_netPlugin),
                          MakeStringChecker())
            .AddAttribute("NcclVariables",
                          "Variables of NCCL's environment, e.g. "
                          "NCCL_BUFFSIZE=8M,NCCL_MAX_NCHANNELS=8: see ParseNcclVariables().",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_ncclVariables),
                          MakeStringChecker())
            .AddAttribute("KernelCopies",
                          "Whether kernels move the bytes between GPUs of one server, as NCCL's "
                          "do, and not copy engines.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_kernelCopies),
                          MakeBooleanChecker())
            .AddAttribute("Repetition",
                          "What becomes of a communication that has been executed before, from the "
                          "same state: on, it gets the same results without being executed, which "
                          "changes nothing but the time that the run takes; verify, it is "
                          "executed, and a difference ends the run; off, it is executed.",
                          StringValue("on"),
                          MakeStringAccessor(&PacketNetwork::m_repetition),
                          MakeStringChecker())
            .AddAttribute("Threads",
                          "How many long communications are executed at a time, each by a process "
                          "of its own, while the run goes on; results do not depend on it. 0: as "
                          "many as the machine has cores.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_threads),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("LongCommunication",
                          "Payload, in bytes sent by all ranks together, from which on a "
                          "communication is worth a process of its own, see Threads. At the "
                          "default, its packets take some fifty milliseconds. In clusters of more "
                          "than 256 GPUs, copies of which take longer, it is more in proportion.",
                          UintegerValue(400'000'000),
                          MakeUintegerAccessor(&PacketNetwork::m_longCommunication),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("RepetitionMemory",
                          "Most bytes of memory for the results of communications; those that "
                          "were used longest ago are forgotten first.",
                          UintegerValue(uint64_t{1} << 30),
                          MakeUintegerAccessor(&PacketNetwork::m_repetitionMemory),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "JoinWindow",
                "Kernels of a collective whose ranks all need each other begin a multiple of this "
                "time before the last one of them, less than it later than they are launched; a "
                "receiver begins when its sender is being launched, the first of two ranks when "
                "the other one is. 0: none waits. In launch mode stream, for kernels whose launch "
                "takes time; see KernelStarts.",
                TimeValue(NanoSeconds(100)),
                MakeTimeAccessor(&PacketNetwork::m_joinWindow),
                MakeTimeChecker(Seconds(0)))
            .AddAttribute(
                "JoinWindowShare",
                "An all-reduce has a longer JoinWindow, if that is not 0: this share of the time "
                "that the bytes of the rank that sends most take on all NVLinks of its GPU "
                "(without NVLink, on all its links), or what a rank sends over the network on its "
                "other links. 0: collectives between servers have none.",
                DoubleValue(1.0 / 60),
                MakeDoubleAccessor(&PacketNetwork::m_joinWindowShare),
                MakeDoubleChecker<double>(0, 1))
            .AddAttribute(
                "JoinGrid",
                "Kernels of collectives start at the next multiple of this time; 0: when "
                "they are launched. Hosts and GPUs do not start kernels at the picosecond, "
                "and on a grid many more collectives are equal to one before.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&PacketNetwork::m_joinGrid),
                MakeTimeChecker(Seconds(0)))
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
    if (m_wire)
    {
        m_wire->Dispose();
    }
    m_transport->Dispose();
    m_fabric = nullptr;
    Object::DoDispose();
}

int64_t
PacketNetwork::AssignStreams(int64_t stream)
{
    return m_transport->AssignStreams(stream);
}

CollectiveSettings
PacketNetwork::MakeSettings() const
{
    CollectiveSettings settings;
    settings.algorithm = m_algorithm;
    settings.protocol = m_protocol;
    settings.chunkBytes = m_chunkBytes;
    settings.channels = m_channels;
    settings.networkChannels = m_networkChannels;
    settings.communicatorRanks = m_communicatorRanks;
    settings.communicatorServers = m_communicatorServers;
    settings.communicatorChannels = m_communicatorChannels;
    settings.ncclVersion = m_ncclVersion;
    settings.cpuVendor = m_cpuVendor;
    settings.netPlugin = m_netPlugin;
    settings.ncclVariables = m_ncclVariables;
    settings.maker = m_maker;
    settings.costs = m_costs;
    settings.launchMode = m_launchMode;
    settings.launchPs = m_launchOverhead.GetPicoSeconds();
    settings.launchGapPs = m_launchGap.GetPicoSeconds();
    settings.pluginLatencyPs = m_pluginLatency.GetPicoSeconds();
    settings.kernelCosts = m_kernelCosts;
    settings.kernelCopies = m_kernelCopies;
    return settings;
}

void
PacketNetwork::SetUp(const ExecutionGraph& graph, Ptr<Fabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    if (m_fabric)
    {
        throw std::logic_error("PacketNetwork::SetUp(): it serves a job already; each has its own");
    }
    RequireThere(fabric, "the fabric");
    m_graph = &graph;
    m_fabric = fabric;
    const CollectiveSettings settings = MakeSettings();
    CheckCollectiveSettings(settings);
    m_wire = std::make_unique<PacketWire>(graph, fabric, m_transport, settings, m_channelEndTrace);
    m_wire->SetTrafficClasses(m_trafficClasses);
    m_wire->SetUpStarts(m_joinGrid.GetPicoSeconds(),
                        m_joinWindow.GetPicoSeconds(),
                        m_joinWindowShare);
    m_wire->GetRepetition().SetUp(RepetitionModeFromString(m_repetition),
                                  m_repetitionMemory,
                                  m_threads > 0 ? m_threads
                                                : std::max(1U, std::thread::hardware_concurrency()),
                                  GetLongBytes());
    m_paths = m_fabric->SharePaths();
    m_programs = std::make_shared<ProgramCache>(graph, m_fabric->GetCluster(), *m_paths, settings);
}

PacketWire&
PacketNetwork::GetWire(const char* function) const
{
    if (!m_wire || !m_fabric)
    {
        throw std::logic_error("PacketNetwork::" + std::string(function) +
                               "(): before SetUp(), or after Dispose()");
    }
    return *m_wire;
}

uint64_t
PacketNetwork::GetLongBytes() const
{
    constexpr double CHEAP_TO_COPY = 256; // GPUs of a cluster
    const auto nGpus = static_cast<double>(m_fabric->GetCluster().GetGpus().size());
    const double bytes =
        static_cast<double>(m_longCommunication) * std::max(1.0, nGpus / CHEAP_TO_COPY);
    constexpr double MOST = 1e19; // below 2^64
    return static_cast<uint64_t>(std::min(bytes, MOST));
}

std::shared_ptr<const CollectiveProgram>
PacketNetwork::GetProgram(TaskId id)
{
    GetWire("GetProgram");
    RequireIndex(id, m_graph->GetNTasks(), "task", "the graph");
    if (m_graph->GetTask(id).kind != TaskKind::COMMUNICATION)
    {
        throw std::invalid_argument("PacketNetwork::GetProgram(): task " + std::to_string(id) +
                                    " is no communication");
    }
    return m_programs->Get(id);
}

void
PacketNetwork::MakeQueuePairs()
{
    PacketWire& wire = GetWire("MakeQueuePairs");
    for (TaskId id = 0; id < m_graph->GetNTasks(); ++id)
    {
        if (m_graph->GetTask(id).kind == TaskKind::COMMUNICATION)
        {
            wire.Prepare(id, *GetProgram(id));
        }
    }
    wire.PlanRepetition([this](TaskId id) -> const CollectiveProgram& { return *GetProgram(id); });
    m_commonPairs = m_transport->GetNQueuePairs();
}

void
PacketNetwork::Gather()
{
    PacketWire& wire = GetWire("Gather");
    std::vector<uint64_t> sums{m_transport->GetPackets(),
                               m_transport->GetControlPackets(),
                               m_transport->GetRetransmittedPackets(),
                               m_transport->GetTimeouts(),
                               m_transport->GetNQueuePairs() - m_commonPairs};
    for (const auto count : REPETITION_COUNTS)
    {
        sums.push_back(GetRepetition().*count);
    }
    const std::vector<uint64_t> own = sums;
    SumOverRanks(sums);
    m_ofOthers.packets = sums[0] - own[0];
    m_ofOthers.controlPackets = sums[1] - own[1];
    m_ofOthers.repeated = sums[2] - own[2];
    m_ofOthers.timeouts = sums[3] - own[3];
    m_ofOthers.queuePairs = sums[4] - own[4];
    std::size_t next = 5;
    for (const auto count : REPETITION_COUNTS)
    {
        m_ofOthers.repetition.*count = sums[next] - own[next];
        ++next;
    }
    wire.Gather();
    m_fabric->GatherStatistics();
}

uint64_t
PacketNetwork::GetTotalBytes()
{
    PacketWire& wire = GetWire("GetTotalBytes");
    uint64_t bytes = 0;
    for (TaskId id = 0; id < m_graph->GetNTasks(); ++id)
    {
        const Task& task = m_graph->GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION)
        {
            bytes += wire.GetFacts(*GetProgram(id)).sentBytes * m_graph->GetNInstances(task);
        }
    }
    return bytes;
}

void
PacketNetwork::Join(DeviceId device, TaskId task, uint32_t microBatch, std::function<void()> done)
{
    NS_LOG_FUNCTION(this << device << task << microBatch);
    GetWire("Join").Join(device, task, microBatch, GetProgram(task), std::move(done));
}

std::string
PacketNetwork::DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const
{
    return GetWire("DescribeWait").DescribeWait(device, task, microBatch);
}

std::vector<CommunicationStatistics>
PacketNetwork::GetCommunicationStatistics() const
{
    return m_wire ? m_wire->GetCommunicationStatistics() : std::vector<CommunicationStatistics>();
}

void
PacketNetwork::Settle(bool atEnd)
{
    GetWire("Settle").GetRepetition().Settle(atEnd);
}

bool
PacketNetwork::ExecuteHeld()
{
    return GetWire("ExecuteHeld").GetRepetition().ExecuteAll();
}

NetworkStatistics
PacketNetwork::GetStatistics() const
{
    const PacketWire& wire = GetWire("GetStatistics");
    NetworkStatistics statistics = m_ofOthers;
    statistics.packets += m_transport->GetPackets();
    statistics.controlPackets += m_transport->GetControlPackets();
    statistics.repeated += m_transport->GetRetransmittedPackets();
    m_fabric->AddTotals(statistics);
    statistics.messages = wire.GetMessages();
    statistics.queuePairs += m_transport->GetNQueuePairs();
    statistics.timeouts += m_transport->GetTimeouts();
    for (const auto count : REPETITION_COUNTS)
    {
        statistics.repetition.*count += GetRepetition().*count;
    }
    return statistics;
}

std::string
PacketNetwork::CheckAtRest() const
{
    const std::string open = GetWire("CheckAtRest").CheckAtRest();
    if (!open.empty())
    {
        return open;
    }
    const std::string left = m_transport->CheckAtRest();
    return left.empty() ? m_fabric->CheckAtRest() : left;
}

} // namespace proteus
} // namespace ns3
