/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executors.h"

#include "proteus-progress.h"

#include "ns3/proteus-classic-executor.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Seconds of wall time.
class Stopwatch
{
  public:
    double GetSeconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }

  private:
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

/// A graph with one communication.
ExecutionGraph
MakeLoneCommunication(const Task& task, const std::vector<DeviceId>& group, uint32_t nDevices)
{
    GraphBuilder builder(nDevices);
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(group),
                             builder.AddStream("communication"),
                             ToString(task.collective),
                             task.collective,
                             task.bytes,
                             task.parallelism,
                             {},
                             task.root);
    return builder.Build();
}

void
AddWork(NetworkStatistics& sum, const NetworkStatistics& more)
{
    sum.packets += more.packets;
    sum.controlPackets += more.controlPackets;
    sum.packetHops += more.packetHops;
    sum.events += more.events;
    sum.messages += more.messages;
    sum.queuePairs += more.queuePairs;
}

} // namespace

RunRecord
RunClassicLevel(const ProgramOptions& options, const Cluster& cluster, const ExecutionGraph& graph)
{
    ClassicOptions classic;
    classic.roofline.launchIntervalPs = options.launchInterval.value.GetPicoSeconds();
    const Stopwatch watch;
    RunRecord result;
    result.executor = "classic";
    result.timeline = RunClassic(graph, cluster, classic);
    result.wallS = watch.GetSeconds();
    return result;
}

RunRecord
RunDistSimLevel(const ProgramOptions& options,
                const Cluster& cluster,
                const ExecutionGraph& graph,
                bool isPacketLevel,
                std::ostream& out)
{
    ProgramOptions alone = options;
    alone.traces = PacketTraceOptions(); // files are of the whole run
    alone.results = ResultOptions();
    alone.quiet = true;
    DistSimOptions distSim;
    distSim.runtime.roofline.launchIntervalPs = options.launchInterval.value.GetPicoSeconds();
    const Stopwatch watch;
    RunRecord result;
    result.executor = isPacketLevel ? "distsim" : "distsim-flow";
    ProgressLine progress(options.runName);
    uint64_t timed = 0;
    const IsolatedRun run = [&](const Task& task, const std::vector<DeviceId>& group) {
        ++timed;
        if (!options.quiet)
        {
            progress.Say("communication " + std::to_string(timed) + " alone, " +
                         ToString(task.collective) + " of " +
                         FormatBytes(static_cast<double>(task.bytes)) + " among " +
                         std::to_string(group.size()));
        }
        const ExecutionGraph lonely = MakeLoneCommunication(task, group, graph.GetNDevices());
        const RunRecord lone = isPacketLevel ? RunPacketLevel(alone, cluster, lonely)
                                             : RunFlowLevel(alone, cluster, lonely);
        AddWork(result.network, lone.network);
        std::vector<int64_t> ends;
        for (const DeviceId device : group)
        {
            for (const Span& span : lone.timeline.spans)
            {
                if (span.device == device)
                {
                    ends.push_back(span.endPs);
                }
            }
        }
        return ends;
    };
    DistSimResult replay = RunDistSim(graph, cluster, run, distSim);
    uint64_t instances = 0;
    for (const UniqueEvent& event : replay.events)
    {
        instances += event.instances;
    }
    out << "DistSim: " << FormatCount(instances) << " events, " << replay.events.size()
        << " of them unique, " << timed << " communications timed alone at "
        << (isPacketLevel ? "packet" : "flow") << " level\n";
    result.timeline = std::move(replay.timeline);
    result.wallS = watch.GetSeconds();
    return result;
}

namespace
{

/// @param text names, separated by commas @return them, each once
/// @throw std::invalid_argument if one is none of an executor
std::vector<std::string>
ListExecutors(const std::string& text)
{
    static const std::vector<std::string> known{"packet",
                                                "flow",
                                                "flow_calibrated",
                                                "alpha-beta",
                                                "classic",
                                                "distsim",
                                                "distsim-flow"};
    std::vector<std::string> executors;
    std::stringstream stream(text + ','); // so that nothing behind the last comma is a name, too
    for (std::string name; std::getline(stream, name, ',');)
    {
        if (std::find(known.begin(), known.end(), name) == known.end())
        {
            std::string names;
            for (const std::string& one : known)
            {
                names += one + ", ";
            }
            throw std::invalid_argument("--executor=" + text + ": must be of " + names +
                                        "several separated by commas, or both");
        }
        if (std::find(executors.begin(), executors.end(), name) == executors.end())
        {
            executors.push_back(name);
        }
    }
    return executors;
}

} // namespace

std::vector<std::string>
ParseExecutors(const std::string& text, const std::string& htae, const std::string& calibration)
{
    if (htae != "flow" && htae != "classic")
    {
        throw std::invalid_argument("--htae=" + htae + ": must be flow or classic");
    }
    // The default, packet, is not what somebody wants who asks for a kind of HTAE.
    const std::string list = htae == "classic" && text == "packet" ? "classic" : text;
    std::vector<std::string> executors = ListExecutors(list == "both" ? "packet,flow" : list);
    const auto has = [&executors](const std::string& name) {
        return std::find(executors.begin(), executors.end(), name) != executors.end();
    };
    if (htae == "classic" && has("flow"))
    {
        executors.erase(std::remove(executors.begin(), executors.end(), "classic"),
                        executors.end());
        std::replace(executors.begin(), executors.end(), std::string("flow"), htae);
    }
    if (calibration.empty())
    {
        if (has("flow_calibrated"))
        {
            throw std::invalid_argument("--executor=" + text +
                                        ": flow_calibrated needs --calibration=FILE, which "
                                        "proteus-calibrate writes");
        }
    }
    else if (executors == std::vector<std::string>{"flow"})
    {
        executors = {"flow_calibrated"};
    }
    else if (has("flow") && !has("flow_calibrated"))
    {
        executors.push_back("flow_calibrated");
    }
    else if (!has("flow_calibrated"))
    {
        throw std::invalid_argument("--calibration belongs to the flow network: add "
                                    "--executor=flow or --executor=both");
    }
    return executors;
}

RunRecord
RunExecutor(const ProgramOptions& options,
            const std::string& executor,
            const Cluster& cluster,
            const ExecutionGraph& graph,
            std::ostream& out)
{
    if (executor == "packet")
    {
        return RunPacketLevel(options, cluster, graph);
    }
    if (executor == "classic")
    {
        return RunClassicLevel(options, cluster, graph);
    }
    if (executor == "distsim" || executor == "distsim-flow")
    {
        return RunDistSimLevel(options, cluster, graph, executor == "distsim", out);
    }
    return RunFlowLevel(options,
                        cluster,
                        graph,
                        executor == "alpha-beta" ? FlowRung::ALPHA_BETA : FlowRung::FLOW,
                        executor == "flow_calibrated");
}

void
PrintContention(const RunRecord& replay,
                const RunRecord& whole,
                const ExecutionGraph& graph,
                std::ostream& out)
{
    const std::vector<double> errors =
        GetActivityErrors(replay.timeline, whole.timeline, graph.GetNDevices());
    const auto worst = std::max_element(errors.begin(), errors.end());
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(errors.size(), 1));
    const int64_t missing = whole.timeline.endPs - replay.timeline.endPs;
    out << "\nContention, and the waits that follow from it (" << whole.executor << " against "
        << replay.executor << "): " << FormatTime(missing * 1e-12) << " of "
        << FormatTime(whole.timeline.endPs * 1e-12) << "\n"
        << FormatTable(
               {{"batch-time error",
                 FormatNumber(100 * GetBatchTimeError(replay.timeline.endPs, whole.timeline.endPs),
                              3) +
                     " %"},
                {"activity error, mean of the GPUs", FormatPercent(mean, 3)},
                {"activity error, GPU " + std::to_string(worst - errors.begin()),
                 FormatNumber(100 * *worst, 3) + " %, the largest"}},
               "lr");
}

} // namespace proteus
} // namespace ns3
