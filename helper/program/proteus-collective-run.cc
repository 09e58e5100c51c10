/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-run.h"

#include "proteus-run-notes.h"
#include "proteus-same-choices.h"
#include "proteus-stop-signals.h"

#include "ns3/nstime.h"
#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-packet-network.h"
#include "ns3/proteus-path-type.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-program-repeat.h"
#include "ns3/proteus-published-logs.h"
#include "ns3/proteus-ranks.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Up to this size the launch of a collective may take longer than the collective.
constexpr uint64_t LAUNCH_BOUND_BYTES = uint64_t{8} << 20;
constexpr uint64_t ELEMENT_BYTES = 4; // float, as nccl-tests has it by default

/// Iterations that nccl-tests times, one after the other on a stream, and divides the time by (-n,
/// 20 by default). Their caches are warm, but the first of them still fills the pipeline.
constexpr uint32_t TIMED = 20;
// How many are simulated, the first of which fills the pipeline; those behind have one period.
constexpr uint32_t SIMULATED_SMALL = 4; // up to LAUNCH_BOUND_BYTES
constexpr uint32_t SIMULATED_LARGE = 2; // all ranks end together

/// @param test what is run @param bytes wanted @param ranks of a group @return what they can share
uint64_t
RoundBytes(const CollectiveTest& test, uint64_t bytes, uint64_t ranks)
{
    uint64_t unit = 1;
    switch (test.collective)
    {
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
    case Collective::ALL_TO_ALL:
    case Collective::GATHER:
    case Collective::SCATTER:
        unit = ranks * ELEMENT_BYTES;
        break;
    default:
        break;
    }
    unit = test.schedule ? std::lcm(unit, uint64_t{test.schedule->chunks}) : unit;
    return std::max(bytes / unit, uint64_t{1}) * unit;
}

/// A schedule is cut into the chunks that it has.
/// @throw std::invalid_argument if chunks of another size are asked for
void
RefuseChunkBytes()
{
    const uint64_t bytes =
        ReadDefault<UintegerValue>(PacketNetwork::GetTypeId(), "ChunkBytes").Get();
    if (bytes != 0)
    {
        throw std::invalid_argument(
            "--ns3::proteus::PacketNetwork::ChunkBytes=" + std::to_string(bytes) +
            " and --msccl: a schedule has chunks of its own; leave "
            "ChunkBytes out");
    }
}

/// What is run, and the task of each group whose program is the one to name.
struct TestGraph
{
    ExecutionGraph graph;
    std::vector<std::vector<TaskId>> tasks; //!< by group
};

TestGraph
MakeGraph(const Cluster& cluster, const CollectiveTest& test, uint64_t bytes, uint32_t iterations)
{
    GraphBuilder builder(static_cast<uint32_t>(cluster.GetGpus().size()));
    const StreamId stream = builder.AddStream("collective");
    const PhaseId phase = builder.AddPhase("iteration", iterations);
    TestGraph result;
    for (const auto& group : test.groups)
    {
        auto& tasks = result.tasks.emplace_back();
        if (test.collective != Collective::SEND_RECV)
        {
            tasks.push_back(builder.AddCommunication(phase,
                                                     builder.AddGroup(group),
                                                     stream,
                                                     ToString(test.collective),
                                                     test.collective,
                                                     bytes,
                                                     Parallelism::NONE,
                                                     {},
                                                     static_cast<uint16_t>(test.root)));
            continue;
        }
        for (std::size_t i = 0; i < group.size(); ++i)
        {
            tasks.push_back(builder.AddCommunication(
                phase,
                builder.AddGroup({group[i], group[(i + 1) % group.size()]}),
                stream,
                "message",
                test.collective,
                bytes,
                Parallelism::NONE));
        }
    }
    result.graph = builder.Build();
    return result;
}

/// @return what makes programs of requests that a graph cannot express
PacketNetwork::ProgramMaker
MakeMaker(const Cluster& cluster, const CollectiveTest& test)
{
    return [&cluster,
            paths = std::make_shared<const Paths>(cluster),
            splits = test.splits,
            servers = test.parameterServers](CollectiveRequest request) {
        if (splits)
        {
            request.splits = ScaleSplits(*splits, request.bytes, ELEMENT_BYTES);
        }
        request.parameterServers = servers;
        return MakeProgram(cluster, *paths, request);
    };
}

/**
 * @param cluster to run on @param test that is run
 * @return what kernels start later: the attribute LaunchGap, or, where that is 0, what it takes
 * that one thread launches all those of a server; nothing from B200 on, where logs of one process
 * have none (mghpcc/aicr-benchmarks, nine collectives of two to eight B200 by NCCL 2.29.3); four
 * H100 have none either, but keep it, as sizes that are simulated too fast would be farther off
 */
Time
GetLaunchGap(const Cluster& cluster, const CollectiveTest& test)
{
    constexpr int64_t GPUS_OF_COST = 8; // that CollectiveLaunchCost::sharedThreadPs is of
    const Time gap = ReadDefault<TimeValue>(PacketNetwork::GetTypeId(), "LaunchGap").Get();
    if (!gap.IsZero())
    {
        return gap;
    }
    constexpr uint32_t FIRST_WITHOUT = 100; // compute capability, ten times
    const VertexId first = cluster.GetGpus().at(test.groups[0].front());
    if (test.launchMode != "one-process" ||
        FindComputeCapability(cluster.GetVertices()[first].model) >= FIRST_WITHOUT)
    {
        return Time();
    }
    const auto& group = test.groups[0];
    const int64_t gpus = std::count_if(group.begin(), group.end(), [&](DeviceId device) {
        return cluster.GetServer(device) == cluster.GetServer(group[0]);
    });
    return PicoSeconds(CollectiveCosts::Get(test.costs).GetLaunch(test.ncclVersion).sharedThreadPs *
                       gpus / GPUS_OF_COST);
}

/// @param cluster to run on @param test that is run @param times how often
/// @return what makes programs of so many kernels, which have the room of connections in common
PacketNetwork::ProgramMaker
MakeRepeater(const Cluster& cluster, const CollectiveTest& test, uint32_t times)
{
    return [&cluster,
            paths = std::make_shared<const Paths>(cluster),
            costs = test.costs,
            gapPs = GetLaunchGap(cluster, test).GetPicoSeconds(),
            times](const CollectiveRequest& request) {
        const CollectiveProgram program = MakeProgram(cluster, *paths, request);
        const BlockShares shares(program);
        const NcclProtocol protocol = ToNcclProtocol(program.protocol);
        return RepeatProgram(program, times, [&](uint32_t rank, uint32_t block) -> uint64_t {
            const CollectiveKernelCost& kernel = CollectiveCosts::Get(costs).GetKernel(
                FindComputeCapability(cluster.GetVertices()[request.vertices[rank]].model));
            const BlockShare share = shares.Get(rank, program.ranks[rank].blocks[block]);
            const double psPerByte =
                share.part > 0
                    ? GetBlockCost(kernel, program.protocol, share, false, {}, {}).psPerByte
                    : 0;
            const int64_t startPs =
                kernel.GetKernelPs(protocol) + gapPs - kernel.Get(HopKind::PCIE, protocol).busyPs;
            return psPerByte > 0 ? std::llround(std::max<double>(startPs, 0) / psPerByte) : 0;
        });
    };
}

/// @param cluster to run on @param test that is run @param group of its ranks
/// @param program of the collective
/// @return from one launch to the next, picoseconds: what the host threads need at least
int64_t
GetLaunchPeriodPs(const Cluster& cluster,
                  const CollectiveTest& test,
                  const std::vector<DeviceId>& group,
                  const CollectiveProgram& program)
{
    const CollectiveLaunchCost& cost = CollectiveCosts::Get(test.costs).GetLaunch(test.ncclVersion);
    std::map<int32_t, int64_t> threads; // by server, or by GPU
    for (uint32_t rank = 0; rank < group.size(); ++rank)
    {
        const int32_t server = cluster.GetServer(group[rank]);
        // Of messages in a circle, every rank sends one and receives one in a kernel.
        threads[test.launchMode == "one-process" ? server : static_cast<int32_t>(rank)] +=
            test.collective == Collective::SEND_RECV
                ? GetLaunchPs(cost, program, 0) + GetLaunchPs(cost, program, 1) - cost.kernelPs
                : GetLaunchPs(cost, program, rank);
    }
    int64_t mostPs = 0;
    for (const auto& [thread, ps] : threads)
    {
        mostPs = std::max(mostPs, ps);
    }
    return test.launchMode == "stream" ? 0 : mostPs;
}

/// @param test with its choices @param settings of collectives that get them
void
TakeChoices(const CollectiveTest& test, CollectiveSettings& settings)
{
    settings.algorithm = test.algorithm;
    settings.protocol = test.protocol;
    settings.channels = test.channels;
    settings.networkChannels = test.networkChannels;
    settings.ncclVersion = test.ncclVersion;
    settings.cpuVendor = test.cpuVendor;
    settings.netPlugin = test.netPlugin;
    settings.ncclVariables = test.ncclVariables;
    settings.pluginLatencyPs = test.pluginLatencyPs;
    settings.costs = test.costs;
}

/// @param test that is run @return whether its executor has hosts that launch kernels; otherwise
/// streams do, and launching costs nothing
bool
HasHosts(const CollectiveTest& test)
{
    return FindExecutor(test.executor).GetTraits().hasPackets;
}

/// @param cluster to run on @param test that is run @param kernels of one program
/// @return the settings of its runs
ExecutorSettings
MakeTestSettings(const Cluster& cluster, const CollectiveTest& test, uint32_t kernels)
{
    ExecutorSettings settings = ReadExecutorSettings(test.stream);
    CollectiveSettings& collectives = settings.collectives;
    TakeChoices(test, collectives);
    if (const auto known = test.communicator ? test.communicator : FindCommunicator(cluster, test))
    {
        const auto fill = [](uint32_t& value, uint32_t found) {
            value = value != 0 ? value : found; // attributes go before it
        };
        fill(collectives.communicatorRanks, known->ranks);
        fill(collectives.communicatorServers, known->servers);
        fill(collectives.communicatorChannels, known->channels);
    }
    const bool hasHosts = HasHosts(test);
    collectives.launchMode = hasHosts ? test.launchMode : CollectiveSettings().launchMode;
    collectives.launchGapPs = hasHosts ? GetLaunchGap(cluster, test).GetPicoSeconds() : 0;
    if (test.schedule)
    {
        RefuseChunkBytes();
        collectives.maker = [schedule = test.schedule](const CollectiveRequest& request) {
            return MakeProgram(*schedule, request);
        };
        collectives.isMadeWhole = true;
    }
    else if (test.splits || test.parameterServers > 1)
    {
        collectives.maker = MakeMaker(cluster, test);
    }
    else if (kernels > 1)
    {
        collectives.maker = MakeRepeater(cluster, test, kernels);
    }
    return settings;
}

/// @param bytes of a collective @return iterations after which its period is known
uint32_t
CountSimulated(uint64_t bytes)
{
    return bytes <= LAUNCH_BOUND_BYTES ? SIMULATED_SMALL : SIMULATED_LARGE;
}

/// Passes progress on, until a signal comes.
class TestObserver : public RunObserver
{
  public:
    /// @param report of progress, or none; must outlive this object
    explicit TestObserver(const std::function<void(const RunProgress&)>& report)
        : m_report(report)
    {
    }

    void OnProgress(const RunProgress& progress) override
    {
        if (m_report)
        {
            m_report(progress);
        }
    }

    bool IsStopWanted() const override
    {
        return StopSignals::Obey();
    }

  private:
    const std::function<void(const RunProgress&)>& m_report;
};

/// @param programs of a test @param task of it @param test that is run
/// @return a program of its kind, of fewer bytes where it is a long one: the same algorithm,
/// channels, and peers of every rank
CollectiveProgram
MakeKindOfProgram(const ProgramCache& programs, TaskId task, const CollectiveTest& test)
{
    constexpr uint64_t ENOUGH_BYTES = uint64_t{1} << 20;
    CollectiveRequest request = programs.MakeRequest(task);
    if (!test.schedule && !test.splits && request.bytes > ENOUGH_BYTES)
    {
        request.bytes = RoundBytes(test, ENOUGH_BYTES, request.vertices.size());
    }
    return programs.Make(request);
}

/// @param cluster to run on @param test that is run @param size of it
/// @param kernels of an iteration, which has them in one program
/// @return a program of the kind that each group executes
std::vector<CollectiveProgram>
ListPrograms(const Cluster& cluster, const CollectiveTest& test, uint64_t size, uint32_t kernels)
{
    const TestGraph made = MakeGraph(cluster, test, size, 1);
    const Paths paths(cluster);
    const ProgramCache programs(made.graph,
                                cluster,
                                paths,
                                MakeTestSettings(cluster, test, kernels).collectives);
    std::vector<CollectiveProgram> result;
    for (const auto& tasks : made.tasks)
    {
        result.push_back(MakeKindOfProgram(programs, tasks.front(), test));
    }
    return result;
}

/// What was simulated of each group.
struct Simulated
{
    std::vector<int64_t> firstPs; //!< end of the first iteration
    std::vector<int64_t> lastPs;  //!< end of the last one; 0 of a single one
};

/// @param cluster to run on @param test that is run @param size of it @param iterations how many
/// @param kernels of an iteration, which has them in one program
/// @param report of progress, or none @return what came out
Simulated
Simulate(const Cluster& cluster,
         const CollectiveTest& test,
         uint64_t size,
         uint32_t iterations,
         uint32_t kernels,
         const std::function<void(const RunProgress&)>& report)
{
    const TestGraph made = MakeGraph(cluster, test, size, iterations);
    const ExecutorSettings settings = MakeTestSettings(cluster, test, kernels);
    TestObserver observer(report);
    const RunRecord record =
        FindExecutor(test.executor).Run(made.graph, cluster, settings, &observer);
    if (record.isPartial)
    {
        throw RunStopped("a collective was stopped");
    }
    RunNotes::HearAlone(test.executor, settings, cluster, &made.graph, record);
    if (test.hear)
    {
        test.hear(record);
    }
    Simulated result;
    for (const auto& tasks : made.tasks)
    {
        int64_t firstPs = 0;
        int64_t lastPs = 0;
        for (const Span& span : record.timeline.spans)
        {
            if (span.task >= tasks.front() && span.task <= tasks.back())
            {
                int64_t& end = span.microBatch == 0 ? firstPs : lastPs;
                end = std::max(end, span.endPs);
            }
        }
        result.firstPs.push_back(firstPs);
        result.lastPs.push_back(lastPs);
    }
    return result;
}

/// @param cluster to run on @param test that is run @return whether its ranks go on without the
/// others, with the room that connections have left, so that its kernels are one program; see
/// NetPlugin::asksForRoom
bool
IsPipelined(const Cluster& cluster, const CollectiveTest& test)
{
    return HasRoot(test.collective) && !test.schedule &&
           (!FindNetPlugin(test.netPlugin).asksForRoom ||
            std::all_of(test.groups.begin(), test.groups.end(), [&](const auto& group) {
                return GroupByServer(cluster, GetVertices(cluster, group)).size() == 1;
            }));
}

/// @param cluster that was run on @param group of a collective @param test that was run
/// @return how its bytes get from GPUs to the network, by the GPU of each server that is nearest to
/// its NIC
GpuNetwork
FindGpuNetwork(const Cluster& cluster,
               const std::vector<DeviceId>& group,
               const CollectiveTest& test)
{
    const auto& vertices = cluster.GetVertices();
    const Paths paths(cluster);
    const NicTable nics(cluster);
    std::map<int32_t, std::pair<PathType, DeviceId>> nearest; // by server
    for (const DeviceId rank : group)
    {
        const VertexId gpu = cluster.GetGpus()[rank];
        const VertexId nic = nics.Get(gpu, 0);
        const PathType way =
            nic == Cluster::NO_VERTEX ? PathType::SYS : FindPathType(cluster, paths, gpu, nic);
        const auto [found, isNew] =
            nearest.try_emplace(vertices[gpu].server, std::make_pair(way, rank));
        found->second = std::min(found->second, std::make_pair(way, rank));
    }
    const auto [way, first] = nearest.begin()->second;
    const DeviceId last = nearest.rbegin()->second.second;
    const TransportRules rules = MakeTransportRules(MakePreferences(test));
    const auto waypoints =
        PlanConnection(cluster, paths, nics, 0, 0, first, last, true, rules).waypoints;
    // By NVLink-C2C host memory is as near as the NIC.
    const bool isStaged =
        way != PathType::P2C && std::any_of(waypoints.begin(), waypoints.end(), [&](VertexId at) {
            return vertices[at].kind == VertexKind::CPU;
        });
    if (rules.sockets || way > PathType::PXN || isStaged || !rules.gdr ||
        way > rules.gdrLevel.value_or(PathType::SYS))
    {
        return GpuNetwork::OVER_CPU;
    }
    const bool isLikeOwn = FindNetPlugin(test.netPlugin).GetChunkPs() == 0;
    return isLikeOwn ? GpuNetwork::DIRECT : GpuNetwork::PLUG_IN;
}

} // namespace

std::vector<std::string>
DescribeLogs(const std::string& workloads, const Cluster& cluster, const CollectiveTest& test)
{
    const GpuModel* gpu = MatchGpuModel(cluster.GetVertices()[cluster.GetGpus().front()].model);
    if (workloads.empty() || !gpu || test.isBarrier || test.schedule || test.splits ||
        test.parameterServers > 1 || test.groups.size() > 1)
    {
        return {};
    }
    const std::vector<DeviceId>& group = test.groups.front();
    const bool isOneServer = GroupByServer(cluster, GetVertices(cluster, group)).size() == 1;
    const std::string path = workloads + "/evaluation/published-logs.json";
    InputFile file(path);
    return {(HasHosts(test) ? "" : "by packets, ") +
            DescribePublishedLogs(ReadPublishedLogs(file.GetStream(), path),
                                  gpu->sheet.model,
                                  isOneServer ? GpuNetwork::NONE
                                              : FindGpuNetwork(cluster, group, test))};
}

bool
RunAlike(const Cluster& cluster,
         const CollectiveTest& a,
         const CollectiveTest& b,
         const std::vector<uint64_t>& sizes)
{
    try
    {
        return std::all_of(sizes.begin(), sizes.end(), [&](uint64_t bytes) {
            const uint64_t size =
                a.isBarrier ? BARRIER_ELEMENT_BYTES : RoundBytes(a, bytes, a.groups.at(0).size());
            const ExecutionGraph graph = MakeGraph(cluster, a, size, 1).graph;
            return CommunicateAlike(graph, cluster, a, b) ||
                   TimeAlike(FindExecutor(a.executor).GetTraits(),
                             MakeTestSettings(cluster, a, 1),
                             MakeTestSettings(cluster, b, 1).collectives,
                             cluster,
                             graph,
                             false);
        });
    }
    catch (const std::invalid_argument&)
    {
        return false;
    }
}

std::optional<TestCommunicator>
FindCommunicator(const Cluster& cluster, const CollectiveTest& test)
{
    if (test.collective != Collective::SEND_RECV)
    {
        return std::nullopt;
    }
    const std::vector<VertexId> vertices = GetVertices(cluster, test.groups.at(0));
    const Paths paths(cluster);
    const CollectiveChooser chooser(cluster, paths, MakePreferences(test));
    return TestCommunicator{static_cast<uint32_t>(vertices.size()),
                            chooser.MakeSystem(vertices).servers,
                            chooser.GetSearch(vertices).workingChannels};
}

std::vector<VertexId>
GetVertices(const Cluster& cluster, const std::vector<DeviceId>& group)
{
    std::vector<VertexId> vertices;
    for (const DeviceId device : group)
    {
        vertices.push_back(cluster.GetGpus()[device]);
    }
    return vertices;
}

std::vector<CollectiveRow>
RunCollective(const Cluster& cluster,
              const CollectiveTest& test,
              uint64_t bytes,
              const std::function<void(const RunProgress&)>& report)
{
    const uint64_t size =
        test.isBarrier ? BARRIER_ELEMENT_BYTES : RoundBytes(test, bytes, test.groups.at(0).size());
    const uint32_t timed = test.iterations > 0 ? test.iterations : TIMED;
    const uint32_t simulated = std::min(timed, CountSimulated(size));
    const bool isPipelined = IsPipelined(cluster, test);
    const bool hasHosts = HasHosts(test);
    // Kernels of one program are told apart by leaving some out.
    const uint32_t fill = isPipelined ? (simulated + 1) / 2 : 1;
    Simulated run = isPipelined ? Simulate(cluster, test, size, 1, fill, report)
                                : Simulate(cluster, test, size, simulated, 1, report);
    if (isPipelined && simulated > fill)
    {
        run.lastPs = Simulate(cluster, test, size, 1, simulated, report).firstPs;
    }
    const std::vector<CollectiveProgram> programs = ListPrograms(cluster, test, size, fill);
    std::vector<CollectiveRow> rows;
    for (uint32_t group = 0; group < test.groups.size(); ++group)
    {
        const CollectiveProgram& program = programs[group];
        auto firstPs = static_cast<double>(run.firstPs[group]);
        double periodPs = simulated > fill ? (static_cast<double>(run.lastPs[group]) - firstPs) /
                                                 (simulated - fill)
                                           : 0;
        const auto launchPs =
            static_cast<double>(GetLaunchPeriodPs(cluster, test, test.groups[group], program));
        if (!hasHosts)
        {
            const double gapPs = GetLaunchGap(cluster, test).ToDouble(Time::PS);
            firstPs += launchPs + gapPs;
            periodPs += gapPs;
        }
        if (simulated > fill)
        {
            periodPs = std::max(periodPs, launchPs);
        }
        CollectiveRow row;
        row.collective = test.collective;
        row.bytes = test.isBarrier ? 0 : size;
        row.ranks = static_cast<uint32_t>(test.groups[0].size());
        row.group = group;
        row.root = HasRoot(test.collective) ? static_cast<int64_t>(test.root) : -1;
        row.timeUs = (firstPs + (timed - fill) * periodPs) * 1e-6 / timed;
        row.algorithm = program.algorithm;
        row.protocol = ToString(program.protocol);
        row.channels = program.channels;
        rows.push_back(row);
    }
    return rows;
}

} // namespace proteus
} // namespace ns3
