/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-run.h"

#include "proteus-alpha-beta-network.h"
#include "proteus-cpu-queues.h"
#include "proteus-flow-executor.h"
#include "proteus-flow-network.h"
#include "proteus-overlap-clock.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-flow-congestion.h"
#include "ns3/proteus-group-gpus.h"
#include "ns3/proteus-network-links.h"
#include "ns3/proteus-rank-partition.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

FlowRun
RunFlow(const ExecutionGraph& graph,
        const Cluster& cluster,
        const RuntimeOptions& options,
        const FlowParameters& parameters,
        const ProgramSettings& settings,
        FlowRung rung,
        const FlowReport& report)
{
    return RunFlow(graph, cluster, Paths(cluster), options, parameters, settings, rung, report);
}

namespace
{

/// Runs a graph on a network. @param devices slows their kernels down, or null @param sharesGpu
/// whether kernels and collectives share GPUs @param run gets the timeline
template <typename NetworkType>
void
Execute(const ExecutionGraph& graph,
        const Cluster& cluster,
        const RuntimeOptions& options,
        FlowClock& clock,
        NetworkType& network,
        Clock* devices,
        bool sharesGpu,
        const FlowReport& report,
        FlowRun& run)
{
    std::optional<GpuSharing> sharing;
    if (sharesGpu)
    {
        sharing.emplace(graph,
                        FindDatasheets(graph, cluster),
                        options.roofline,
                        clock,
                        MakeCommunicationUse(graph, cluster, network.GetProfiles()));
    }
    FlowExecutor
        executor(graph, cluster, options, clock, network, sharing ? &*sharing : nullptr, devices);
    uint64_t ended = 0;
    const auto tell = [&, total = CountSpans(graph)] {
        if (!report(ended, total, clock.GetTimePs()))
        {
            clock.Stop();
        }
    };
    if (report)
    {
        executor.SetSpanReport([&](uint64_t spans) {
            ended = spans;
            tell();
        });
        network.GetProfiles().SetStopCheck([&] {
            tell();
            if (clock.IsStopped())
            {
                throw RunStopped("stopped while a collective was timed");
            }
        });
    }
    run.timeline = executor.Run();
    run.sharing = sharing ? sharing->GetStatistics() : SharingStatistics();
}

/// @param cluster that was used @param links what they carried @return whether a switch has sent
/// over RoCE, where flows that meet have queues and marks
bool
CrossesRoceSwitch(const Cluster& cluster, const std::vector<LinkStatistics>& links)
{
    return std::any_of(links.begin(), links.end(), [&](const LinkStatistics& use) {
        const Link& link = cluster.GetLinks()[use.link];
        const VertexId sender = use.forward ? link.a : link.b;
        return use.wireBytes > 0 && link.technology == LinkTechnology::ROCE &&
               cluster.GetVertices()[sender].kind == VertexKind::SWITCH;
    });
}

/// Finds what may slow a receiver of RoCE down, so that its NIC pauses the switch.
/// @param cluster that was used @param links what they carried, by 2 x link + (1 from Link::b)
/// @return the busiest link next to a NIC, or next to the switch or the CPU there, that is a
/// quarter busier than what the NIC receives over RoCE makes its port; empty if there is none
std::string
FindSlowReceiver(const Cluster& cluster, const std::vector<LinkStatistics>& links)
{
    constexpr double BUSIER = 1.25;
    const auto& vertices = cluster.GetVertices();
    std::string name;
    int64_t most = 0;
    const auto look = [&](VertexId at, int64_t portPs) {
        std::vector<VertexId> next;
        for (const Port& port : cluster.GetPorts(at))
        {
            const Link& link = cluster.GetLinks()[port.link];
            const VertexKind kind = vertices[port.neighbor].kind;
            if (IsOfNetwork(link) || (kind != VertexKind::PCIE_SWITCH && kind != VertexKind::CPU))
            {
                continue;
            }
            next.push_back(port.neighbor);
            const int64_t ps = links[2 * port.link + (link.a == at ? 0 : 1)].busyPs;
            if (ps > most && static_cast<double>(ps) > BUSIER * static_cast<double>(portPs))
            {
                most = ps;
                name = vertices[at].name + " -> " + vertices[port.neighbor].name;
            }
        }
        return next;
    };
    for (const LinkStatistics& use : links)
    {
        const Link& link = cluster.GetLinks()[use.link];
        const VertexId nic = use.forward ? link.b : link.a;
        if (use.payloadBytes > 0 && link.technology == LinkTechnology::ROCE &&
            vertices[nic].kind == VertexKind::NIC)
        {
            for (const VertexId next : look(nic, use.busyPs))
            {
                look(next, use.busyPs);
            }
        }
    }
    return name;
}

} // namespace

FlowRun
RunFlow(const ExecutionGraph& graph,
        const Cluster& cluster,
        const Paths& paths,
        const RuntimeOptions& options,
        const FlowParameters& parameters,
        const ProgramSettings& settings,
        FlowRung rung,
        const FlowReport& report,
        bool recordsSeries)
{
    FlowClock clock;
    FlowRun run;
    if (rung == FlowRung::ALPHA_BETA)
    {
        AlphaBetaNetwork network(graph, cluster, paths, clock, parameters, settings);
        Execute(graph, cluster, options, clock, network, nullptr, options.sharesGpu, report, run);
        run.network.messages = network.GetNCollectives();
        run.isPartial = clock.IsStopped();
        return run;
    }
    const bool hasFactors = parameters.computeSlowdown > 0 || parameters.communicationSlowdown > 0;
    const bool sharesGpu = options.sharesGpu && !hasFactors;
    FlowNetwork network(graph, cluster, paths, clock, parameters, settings);
    if (recordsSeries)
    {
        network.RecordSeries();
    }
    std::optional<OverlapClock> devices;
    if (hasFactors)
    {
        devices.emplace(clock, network, graph.GetNDevices(), parameters.computeSlowdown);
    }
    Clock* const deviceClock = devices ? &*devices : nullptr;
    Execute(graph, cluster, options, clock, network, deviceClock, sharesGpu, report, run);
    run.isPartial = clock.IsStopped();
    const std::string left = run.isPartial ? "" : network.CheckAtRest();
    if (!left.empty())
    {
        throw std::runtime_error("the job is done, but the flow network is not at rest: " + left);
    }
    run.links = network.GetLinkStatistics();
    run.series = network.GetSeries();
    run.network = network.GetStatistics();
    run.notifications = network.GetNotifications();
    run.notReplayed = network.GetNNotReplayed();
    return run;
}

FlowParameters
MakeFlowParameters(const ExecutorSettings& settings, bool isCalibrated)
{
    const CollectiveSettings& collectives = settings.collectives;
    if (collectives.launchMode != CollectiveSettings().launchMode)
    {
        throw std::invalid_argument(
            "ns3::proteus::PacketNetwork::LaunchMode=" + collectives.launchMode +
            ": the flow level launches from streams only; use the packet "
            "level, or LaunchMode=stream");
    }
    FlowParameters parameters = settings.flow;
    if (isCalibrated)
    {
        parameters.links = settings.calibration.value().links;
    }
    parameters.launchPs = collectives.launchPs;
    parameters.kernelCosts = collectives.kernelCosts;
    parameters.pluginLatencyPs = collectives.pluginLatencyPs;
    parameters.pathSeed = settings.pathSeed;
    if (parameters.congestion && !parameters.congestion->make)
    {
        parameters.congestion = nullptr;
    }
    return parameters;
}

std::function<CommunicationUse(TaskId)>
MakeCommunicationUse(const ExecutionGraph& graph, const Cluster& cluster, FlowProfiles& profiles)
{
    return [&graph, &cluster, &profiles, bounds = LookaheadBounds(cluster)](TaskId task) {
        const CollectiveProfile& profile = profiles.Get(task);
        const uint32_t own = graph.GetTask(task).threadBlocks;
        return CommunicationUse{
            own > 0 ? own : profile.multiprocessors,
            profile.memoryBytesPerSecond,
            bounds.Get(GetGroupGpus(graph, cluster, graph.GetTask(task).place))};
    };
}

std::set<std::string>
GetFlowCollectiveFields()
{
    return {"Algorithm",
            "Protocol",
            "ChunkBytes",
            "Channels",
            "NetworkChannels",
            "CommunicatorRanks",
            "CommunicatorServers",
            "CommunicatorChannels",
            "NcclVersion",
            "CpuVendor",
            "NetPlugin",
            "PluginLatency",
            "NcclVariables",
            "LaunchMode",
            "LaunchOverhead",
            "KernelCosts"};
}

RunRecord
RunFlowRung(const ExecutionGraph& graph,
            const Cluster& cluster,
            const ExecutorSettings& settings,
            bool isCalibrated,
            FlowRung rung,
            RunObserver& observer)
{
    FlowParameters parameters = MakeFlowParameters(settings, isCalibrated);
    if (rung != FlowRung::FLOW)
    {
        parameters.congestion = nullptr;
        parameters.networkLoad = {};
        parameters.spreads = false;
    }
    FlowRun run = RunFlow(
        graph,
        cluster,
        Paths(cluster),
        settings.runtime,
        parameters,
        settings.collectives,
        rung,
        [&observer](uint64_t ended, uint64_t total, int64_t timePs) {
            RunProgress progress;
            progress.tasks = ended;
            progress.totalTasks = total;
            progress.timePs = timePs;
            observer.OnProgress(progress);
            return !observer.IsStopWanted();
        },
        settings.recordsSeries);
    RunRecord record;
    record.timeline = std::move(run.timeline);
    record.links = std::move(run.links);
    record.network = run.network;
    record.series = std::move(run.series);
    record.isPartial = run.isPartial;
    if (run.notifications > 0)
    {
        record.notes.push_back("queues at switches of RoCE made congestion control slow flows "
                               "down: " +
                               std::to_string(run.notifications) +
                               " notifications, at random times, so that packets may take longer "
                               "or shorter");
    }
    else if (const std::string& control = settings.flow.networkLoad.control; !control.empty())
    {
        record.notes.push_back(
            control + " stands for equal shares of what it lets links carry: how its windows come "
                      "to that is not modelled, and packets can take much longer");
    }
    else if (!settings.flow.congestion && CrossesRoceSwitch(cluster, record.links))
    {
        record.notes.push_back("flows know no congestion control but by notifications (dcqcn): "
                               "where they meet at a switch of RoCE, packets can take longer");
    }
    if (run.notReplayed > 0)
    {
        record.notes.push_back(std::to_string(run.notReplayed) +
                               " collectives that met others share links with them by mean rates, "
                               "which know no bursts: as many messages had been followed one by "
                               "one as a run follows");
    }
    if (parameters.spreads && parameters.congestion && CrossesRoceSwitch(cluster, record.links))
    {
        record.notes.push_back("parts of flows take all equal ways between switches: congestion "
                               "control knows the queues there of no way, and packets can take "
                               "longer");
    }
    const std::string slow =
        parameters.congestion ? FindSlowReceiver(cluster, record.links) : std::string();
    if (!slow.empty())
    {
        record.notes.push_back(slow +
                               " is busier than the port of RoCE before it: a NIC that waits "
                               "for it pauses its switch, and congestion control slows "
                               "senders down, by random marks, so that packets can take longer "
                               "or shorter");
    }
    AddSharingNote(run.sharing, graph.GetNDevices(), record);
    return record;
}

} // namespace proteus
} // namespace ns3
