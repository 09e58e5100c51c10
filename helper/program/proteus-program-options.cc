/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-options.h"

#include "proteus-error-line.h"
#include "proteus-executors.h"
#include "proteus-flow-expectation.h"
#include "proteus-held-output.h"
#include "proteus-name-lists.h"
#include "proteus-nccl-cluster.h"
#include "proteus-option-meanings.h"
#include "proteus-run-notes.h"
#include "proteus-scenario-run.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-bundles.h"
#include "ns3/proteus-classic-ring.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph-computation.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param options of a run @param executors that were chosen
/// @throw std::invalid_argument if several processes (MPI ranks) cannot do what they say
void
RequireRanks(const ProgramOptions& options, const std::vector<std::string>& executors)
{
    const std::string packet = ProgramOptions().executor;
    if (executors != std::vector<std::string>{packet})
    {
        RequireOneProcess("--executor=" + options.executor, "take --executor=" + packet);
    }
    const ScheduleOptions usual;
    const std::vector<std::pair<const char*, bool>> ofOneProcess{
        {"iterations", options.communication.iterations != usual.iterations},
        {"communicationSchedule", options.communication.schedule != usual.schedule},
        {"pcap", !options.traces.pcap.empty()},
        {"ascii", !options.traces.ascii.empty()},
        {"linkSeries", !options.traces.linkSeries.empty()},
        {"congestionSeries", !options.traces.congestionSeries.empty()}};
    for (const auto& [name, isGiven] : ofOneProcess)
    {
        if (isGiven)
        {
            RequireOneProcess(std::string("--") + name, "this option");
        }
    }
}

/// @param name of an option @param value of it @param executors that were chosen
/// @throw std::invalid_argument if it is no slowdown, or none of them knows it
void
CheckSlowdown(const std::string& name, double value, const std::vector<std::string>& executors)
{
    constexpr double MOST = 1000; // times of runs stay in range
    if (!(value >= 0 && value <= MOST))
    {
        throw std::invalid_argument("--" + name + ": must be a number from 0 to 1000");
    }
    const bool isKnown =
        HasExecutor(executors, [](const ExecutorTraits& traits) { return traits.hasSlowdowns; });
    if (value > 0 && !isKnown)
    {
        throw std::invalid_argument("--" + name +
                                    " belongs to the flow network: add --executor=flow or "
                                    "--executor=both");
    }
}

} // namespace

std::istream&
operator>>(std::istream& input, LaunchInterval& interval)
{
    interval.isGiven = true;
    return input >> interval.value;
}

std::ostream&
operator<<(std::ostream& output, const LaunchInterval& interval)
{
    return output << interval.value.As(Time::US);
}

ProgramOptions::ProgramOptions()
    : launchInterval{PicoSeconds(RooflineModel().launchIntervalPs)}
{
}

void
ProgramOptions::AddClusterTo(OptionList& command)
{
    const std::string presets = ListNames(GetServerPresets());
    std::string classics;
    for (const std::string& name : GetClassicClusters())
    {
        classics += (classics.empty() ? "" : ", classic:") + name;
    }
    command.StartGroup("Cluster");
    command.AddValue("cluster",
                     "server preset (" + presets +
                         "), a cluster of the published Proteus (classic:" + classics +
                         "), or a file: cluster JSON, NCCL topology, text topology",
                     cluster);
    command.AddMeaning("cluster", GetClusterMeaning);
    command.AddChoices("cluster", ListClusters());
    command.AddValue("nodes",
                     "servers of a preset (0: two for a preset, what the file says for a file)",
                     nodes);
    AddFabricTo(command);
    command.AddValue("bundles",
                     "cables between two switches: whole (one link of their summed rate) or cables "
                     "(a link each, among which paths are chosen)",
                     bundles);
    command.AddNames("bundles", GetBundlingNames());
    command.AddIdle("bundles", [this]() {
        ProgramOptions whole = *this;
        whole.bundles = ProgramOptions().bundles;
        return DescribeNetwork(whole.BuildCluster()) == DescribeNetwork(BuildCluster())
                   ? "no link between two switches is of several cables"
                   : "";
    });
    command.AddValue("stream",
                     "random stream that decides which of several equal paths a flow takes",
                     stream);
}

void
AddLaunchInterval(OptionList& command, const std::string& help, LaunchInterval& interval)
{
    command.AddValue("launchInterval", help, interval);
    command.AddTimeRange("launchInterval", Time(0), Seconds(1));
}

void
ProgramOptions::AddLaunchTo(OptionList& command)
{
    AddLaunchInterval(
        command,
        "the host's pace in issuing kernels: the least time of a kernel of a model (default there: "
        "the framework's), or of a task of a graph or trace that comes without a time",
        launchInterval);
    framework.AddTo(command);
}

void
ProgramOptions::AddComputeTimeTo(OptionList& command)
{
    command.AddValue("computeTime",
                     "what the kernels of an iteration take on the GPU that computes most, as "
                     "measured, e.g. 325ms: every kernel is scaled by the same factor (0: as "
                     "computed)",
                     computeTime);
    // No kernel takes longer than all of its GPU.
    command.AddTimeRange("computeTime", Time(0), PicoSeconds(MAX_TASK_PS));
}

void
ProgramOptions::AddTimeTo(OptionList& command)
{
    AddLaunchTo(command);
    AddComputeTimeTo(command);
    command.AddValue("executor",
                     "how finely time is resolved, one or several separated by commas: " +
                         DescribeExecutors(),
                     executor);
    AddExecutorNames(command);
    command.AddValue("calibration",
                     "file of proteus-calibrate with parameters of the flow network: the executor "
                     "flow_calibrated uses them, in the place of flow or, of several, beside it",
                     calibration);
    command.AddInput("calibration");
}

void
ProgramOptions::AddTo(OptionList& command)
{
    AddClusterTo(command);
    command.StartGroup("Run");
    AddTimeTo(command);
    command.AddValue("htae",
                     "what the executor flow stands for: flow, or classic for the rules of the "
                     "published Proteus; classic alone means --executor=classic",
                     htae);
    command.AddNames("htae", ListHtae());
    command.AddIdle("executor", [this]() -> std::string {
        const ProgramOptions defaults;
        return executor == defaults.executor && htae != defaults.htae
                   ? "--htae=" + htae + " alone means --executor=" + htae
                   : "";
    });
    command.AddIdle("htae", [this]() {
        return ParseExecutors(executor, "flow", calibration) ==
                       ParseExecutors(executor, "classic", calibration)
                   ? "it is about the executor flow, which does not run"
                   : "";
    });
    command.AddValue(
        "gpuSharing",
        "packet, flow, alpha-beta: whether kernels and collectives at the same time on one GPU "
        "share its multiprocessors and its memory bandwidth, on or off",
        gpuSharing);
    command.AddNames("gpuSharing", {"on", "off"});
    command.AddIdle("gpuSharing", [this]() {
        return HasExecutor(ListExecutors(),
                           [](const ExecutorTraits& traits) { return traits.sharesGpus; })
                   ? ""
                   : "no executor of this run knows it";
    });
    command.AddValue("overlapFactor",
                     "classic: gamma, by which computation and the reduction of gradients slow "
                     "each other (-1: as published, 0.1, and 0.3 for TITAN and GTX 1080)",
                     overlapFactor);
    command.AddValue("linkSharing",
                     "classic: whether communications at the same time share links, on or off",
                     linkSharing);
    command.AddNames("linkSharing", {"on", "off"});
    command.Add("computeSlowdown",
                "flow: part by which computation takes longer while its GPU communicates, in the "
                "place of gpuSharing",
                OptionKind::RATIO,
                computeSlowdown);
    command.Add("communicationSlowdown",
                "flow: part by which a collective takes longer while one of its GPUs computes",
                OptionKind::RATIO,
                communicationSlowdown);
    command.AddValue(
        "scenario",
        "JSON file of what happens besides: failures, slow links and GPUs, other jobs, "
        "traffic, placement (workloads/scenarios/ has examples)",
        scenario);
    command.AddInput("scenario");
    command.AddValue("scenarioSet",
                     "values of the scenario's file to set, /PLACE=VALUE, several separated by "
                     "semicolons, e.g. /jobs/0/start=3ms",
                     scenarioSet);
    command.StartGroup("Collectives");
    nccl.AddTo(command, [this]() { return BuildCluster(); });
    command.StartGroup("Results");
    results.AddTo(command);
    command.StartGroup("What happens on the links");
    traces.AddTo(command);
    command.StartGroup("Scheduling of communication");
    communication.AddTo(command);
    command.StartGroup("Run");
    command.AddValue("ignoreMemory", "run also what does not fit into memory", ignoreMemory);
    command.AddValue("quiet", "no progress line", quiet);
}

bool
ToSwitch(const std::string& text, const std::string& name)
{
    if (text != "on" && text != "off")
    {
        throw std::invalid_argument("--" + name + "=" + text + ": must be on or off");
    }
    return text == "on";
}

uint32_t
ToCount(int64_t value, const std::string& name, int64_t least, int64_t most)
{
    if (value < least || value > most)
    {
        throw std::invalid_argument("--" + name + "=" + std::to_string(value) +
                                    ": must be a number from " + std::to_string(least) + " to " +
                                    std::to_string(most));
    }
    return static_cast<uint32_t>(value);
}

void
ProgramOptions::AddFabricTo(OptionList& command)
{
    fabric.AddTo(command, [this](const FabricOptions& fabricOptions) {
        return DescribeNetwork(BuildCluster(fabricOptions));
    });
}

std::vector<std::string>
ProgramOptions::ListExecutors() const
{
    return calibrations ? ParseExecutors(executor, htae, *calibrations, "--calibrations=FOLDER")
                        : ParseExecutors(executor, htae, calibration);
}

std::string
ProgramOptions::FindNoPackets() const
{
    return HasExecutor(ListExecutors(),
                       [](const ExecutorTraits& traits) { return traits.hasPackets; })
               ? ""
               : "no executor of this run sends packets";
}

std::string
ProgramOptions::FindNoJoins() const
{
    const std::string noPackets = FindNoPackets();
    const bool areTogether =
        HasExecutor(ListExecutors(), [](const ExecutorTraits& traits) { return traits.isExact; });
    return !noPackets.empty() || areTogether
               ? noPackets
               : "communications are executed one by one, each of ranks that all join at once";
}

std::string
ProgramOptions::FindNoPaths() const
{
    return HasExecutor(ListExecutors(),
                       [](const ExecutorTraits& traits) { return traits.hasPaths; })
               ? ""
               : "no executor of this run chooses paths";
}

Cluster
ProgramOptions::BuildCluster(const FabricOptions& fabricOptions) const
{
    const Cluster whole = MakeNcclCluster(nccl, BuildWholeCluster(fabricOptions));
    return BundlingFromString(bundles) == Bundling::CABLES ? SplitBundles(whole) : whole;
}

std::string
ProgramOptions::FindGpu() const
{
    const auto presets = GetServerPresets();
    ProgramOptions one = *this; // server of many
    const bool isPreset =
        std::find(presets.begin(), presets.end(), FindClusterName(cluster)) != presets.end();
    one.nodes = isPreset ? 1 : nodes;
    const Cluster built = one.BuildWholeCluster(FabricOptions());
    return built.GetVertices()[built.GetGpus().at(0)].model;
}

Cluster
ProgramOptions::BuildWholeCluster(const FabricOptions& fabricOptions) const
{
    const std::string classic = "classic:"; // the clusters that Proteus was published with
    if (cluster.compare(0, classic.size(), classic) == 0)
    {
        const uint32_t servers = nodes == 0 ? 1 : ToCount(nodes, "nodes", 1, MAX_SERVERS);
        return ReadNamed("--cluster=" + cluster, [&]() {
            return MakeClassicCluster(cluster.substr(classic.size()), servers);
        });
    }
    const auto presets = GetServerPresets();
    const std::string name = FindClusterName(cluster);
    const bool isPreset = std::find(presets.begin(), presets.end(), name) != presets.end();
    const uint32_t servers = ToCount(nodes, "nodes", 0, MAX_SERVERS);
    return LoadCluster(name, servers == 0 && isPreset ? 2 : servers, fabricOptions);
}

void
ProgramOptions::CheckMemory(const ExecutionGraph& graph, const Cluster& cluster) const
{
    const GpuDatasheet& gpu =
        FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus().at(0)].model);
    const std::string verdict = FindOutOfMemory(AccountMemory(graph), gpu.memoryBytes);
    if (ignoreMemory)
    {
        RunNotes::HearMemory(verdict.empty());
    }
    else if (!verdict.empty())
    {
        throw std::invalid_argument(verdict + ", or add --ignoreMemory to run it all the same");
    }
}

ExecutionGraph
ProgramOptions::FitComputation(ExecutionGraph graph, std::vector<std::string>& notes) const
{
    if (computeTime.IsZero())
    {
        return graph;
    }
    const auto computedPs = static_cast<double>(
        ReadNamed("--computeTime", [&]() { return GetBusiestComputationPs(graph); }));
    graph = ReadNamed("--computeTime",
                      [&]() { return StretchComputation(graph, computeTime.GetPicoSeconds()); });
    std::ostringstream note;
    note << std::setprecision(4) << "kernels take "
         << static_cast<double>(computeTime.GetPicoSeconds()) / computedPs
         << " times as long as computed, for --computeTime";
    notes.push_back(note.str());
    return graph;
}

void
ProgramOptions::NotePublishedErrors(const Framework& timing,
                                    const Cluster& gpus,
                                    std::vector<std::string>& notes) const
{
    if (computeTime.IsZero() && !launchInterval.isGiven)
    {
        notes.push_back(
            framework.DescribeErrors(timing, gpus.GetVertices()[gpus.GetGpus().at(0)].model));
    }
}

void
ProgramOptions::Check() const
{
    const std::vector<std::string> executors = ListExecutors();
    RequireRanks(*this, executors);
    if (traces.IsOn() &&
        !HasExecutor(executors, [](const ExecutorTraits& traits) { return traits.isExact; }))
    {
        throw std::invalid_argument(
            "--pcap, --ascii, --linkSeries and --congestionSeries are about "
            "packets, and no executor of this run sends every one: add "
            "--executor=packet (--json has links over time of flows, too)");
    }
    if (!scenarioSet.empty() && scenario.empty())
    {
        throw std::invalid_argument("--scenarioSet: changes a scenario: add --scenario=FILE");
    }
    CheckSlowdown("computeSlowdown", computeSlowdown, executors);
    CheckSlowdown("communicationSlowdown", communicationSlowdown, executors);
    MakeExecutorSettings(*this); // a bad calibration is known before a long run
    communication.Check();
    if (communication.iterations > 1 &&
        CrossIterationFromString(communication.crossIteration) == CrossIteration::TENSOR)
    {
        RequireStreams(executors, "--crossIteration=tensor");
    }
    results.Check();
    traces.Check();
}

namespace
{

/// @param options of a run @param cluster that it ran on @param results of its executors; those
/// that have no packets beside them say how far they are from packets
void
NoteFlowErrors(const ProgramOptions& options,
               const Cluster& cluster,
               std::vector<RunRecord>& results)
{
    if (std::any_of(results.begin(), results.end(), [](const RunRecord& result) {
            return FindExecutor(result.executor).GetTraits().isExact;
        }))
    {
        return;
    }
    for (RunRecord& result : results)
    {
        const std::string line =
            DescribeFlowDistance(options.framework.workloads,
                                 result.executor,
                                 "models",
                                 FindComparedSetting(cluster, result, FindChangedEngineSettings()));
        if (!line.empty())
        {
            result.notes.push_back(line);
        }
    }
}

/// Runs a graph as it is, and reports.
/// @param job what the graph is of, if it is repeated or scheduled
void
RunGraph(const ProgramOptions& options,
         const Cluster& cluster,
         const ExecutionGraph& graph,
         DataType dataType,
         const ScheduledJob* job = nullptr)
{
    ReportedRun run{graph,
                    cluster,
                    dataType,
                    options.information,
                    {},
                    job ? job->repeated.iterationOf : std::vector<uint32_t>()};
    for (const std::string& executor : options.ListExecutors())
    {
        if (!run.results.empty() && StopSignals::Obey())
        {
            run.results.back().notes.push_back("executor " + executor +
                                               " and those after it did not "
                                               "run: ended by " +
                                               StopSignals::GetName());
            break;
        }
        try
        {
            std::optional<EndAtOnce> setUp;
            if (run.results.empty())
            {
                setUp.emplace();
            }
            run.results.push_back(RunExecutor(options, executor, cluster, graph, std::cout));
            RunRecord& record = run.results.back();
            for (const std::string& line :
                 job ? options.communication.FindUnused(*job, record) : std::vector<std::string>())
            {
                record.notes.push_back(line);
            }
        }
        catch (const RunStopped& stop)
        {
            if (run.results.empty())
            {
                throw;
            }
            run.results.back().notes.push_back(std::string(stop.what()) + ", and has no result");
        }
    }
    NoteFlowErrors(options, cluster, run.results);
    AddOptionNotes(run, options.results);
    options.results.Write(run);
    const auto find = [&](const std::string& executor) {
        return std::find_if(run.results.begin(), run.results.end(), [&](const RunRecord& result) {
            return result.executor == executor;
        });
    };
    for (const RunRecord& replay : run.results)
    {
        const auto whole = find(FindExecutor(replay.executor).GetTraits().repeats);
        if (whole != run.results.end() && !replay.isPartial && !whole->isPartial)
        {
            PrintContention(replay, *whole, graph, std::cout);
        }
    }
}

} // namespace

void
RunAndReport(const ProgramOptions& options,
             const Cluster& cluster,
             const ExecutionGraph& graph,
             DataType dataType,
             const std::vector<CarriedDependency>* carried)
{
    options.Check();
    options.CheckMemory(graph, cluster);
    if (!options.scenario.empty())
    {
        RunScenario(options, cluster, graph, dataType, carried);
        return;
    }
    if (options.communication.IsUsed())
    {
        const ScheduledJob job = options.communication.Prepare(graph, carried);
        ProgramOptions changed = options; // with what was said until now
        changed.startControl = job.run.startControl;
        RunGraph(changed, cluster, job.run.graph, dataType, &job);
        return;
    }
    RunGraph(options, cluster, graph, dataType);
}

int
RunProgram(const std::string& program, const std::function<void()>& body)
{
    const StopSignals signals(program);
    HeldOutput held;
    try
    {
        body();
        HeldOutput::Release();
        std::cout.flush();
        if (!std::cout)
        {
            throw std::runtime_error("standard output cannot be written");
        }
        if (StopSignals::Get() != 0)
        {
            std::cerr << program << ": ended by " << StopSignals::GetName()
                      << (StopSignals::IsObeyed()
                              ? ": what is printed and written is marked as partial"
                              : ", when all was done: the results are whole")
                      << std::endl;
            return StopSignals::GetExitCode();
        }
    }
    catch (const RunStopped& stop)
    {
        std::cout.flush();
        if (StopSignals::Get() == 0) // nobody asked for it
        {
            WriteErrorLine(program, stop.what());
            return 1;
        }
        std::cerr << signals.DescribeEarlyEnd(StopSignals::Get()) << std::flush;
        return StopSignals::GetExitCode();
    }
    catch (const std::exception& error)
    {
        if (dynamic_cast<const std::invalid_argument*>(&error) != nullptr)
        {
            held.Drop(); // which belongs to what was refused
        }
        WriteErrorLine(program, error.what());
        return 1;
    }
    return 0;
}

void
NoteBalancedExperts(const Model& model,
                    const ExecutionGraph& graph,
                    std::vector<std::string>& notes)
{
    const std::vector<ModelOperator>& operators = model.GetOperators();
    const bool isBalanced =
        std::any_of(operators.begin(), operators.end(), [&](const ModelOperator& op) {
            return op.routing.experts > 0 && model.GetNeededPart(op) == 1;
        });
    const std::vector<Task>& tasks = graph.GetTasks();
    const bool hasExchange = std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
        return task.kind == TaskKind::COMMUNICATION && task.collective == Collective::ALL_TO_ALL &&
               task.parallelism == Parallelism::EXPERT;
    });
    if (isBalanced && hasExchange)
    {
        notes.emplace_back(
            "devices with experts are equally busy, as benchmarks force them to be; where routers "
            "decide, --variables=busiest=160 is what one of eight may have (doc/strategies.rst)");
    }
}

} // namespace proteus
} // namespace ns3
