/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-graph-times.h"
#include "proteus-host-waits.h"
#include "proteus-model-options.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-scenario-run.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-graph-kinds.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-trace-file.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Runs an execution graph, a trace of another program, or a model with a strategy on a cluster.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// What there is to run, of which one is given.
struct Input
{
    CommandLineText graph;
    CommandLineText trace;
    ModelOptions model;
    CommandLineText profile;
    int64_t ranks{0};                       //!< of a trace; 0: as many as it says
    std::string compute{"recorded"};        //!< how the compute nodes of a trace are timed
    std::string communication{"simulated"}; //!< how the communication of a trace is timed
    std::string groups;                     //!< file with the process groups of a trace
    std::string dataType;                   //!< empty: bf16, or that of the strategy
};

/// @throw std::invalid_argument unless there is exactly one thing to run
void
CheckInput(const Input& input)
{
    const int kinds = !input.graph.empty() + !input.trace.empty() + !input.model.model.empty();
    if (kinds > 1)
    {
        throw std::invalid_argument(
            "--graph, --trace and --model are each something to run; give one of them "
            "(--timeline=FILE writes the timeline of a run)");
    }
    if (input.model.model.empty() && !(input.model.strategy.empty() && input.profile.empty()))
    {
        throw std::invalid_argument(
            "--strategy and --profile belong to a model: add --model=NAME, e.g. gpt3-6.7b");
    }
    if (kinds == 0)
    {
        throw std::invalid_argument(
            "--graph=FILE, --trace=PATH or --model=NAME with --strategy=FILE is missing: "
            "proteus-gpt3 --saveGraph=FILE makes a graph, and workloads/ has small graphs, models "
            "and "
            "strategies");
    }
}

/// Compiles a model, says whether it fits, and runs it.
void
RunModel(const Input& input, ProgramOptions& options, const Cluster& cluster)
{
    options.Check();
    ModelOptions model = input.model;
    const bool isTyped = !model.strategy.empty();
    if (!isTyped)
    {
        model.strategy = "dp=" + std::to_string(cluster.GetGpus().size());
    }
    const auto [plan, framework] = options.framework.LoadPlan(
        cluster,
        options.launchInterval,
        [&](const FrameworkDefaults& defaults) { return model.Load(defaults); });
    if (!isTyped)
    {
        options.information.notes.push_back(
            "no --strategy: every GPU is a replica that computes one sample, --strategy=" +
            std::string(model.strategy) + ", and all else is as " + framework.name +
            " has it (doc/strategies.rst)");
    }
    for (const std::string& file : plan.files)
    {
        AddRunInput(file, options.information);
    }
    std::vector<CarriedDependency> carried;
    const ExecutionGraph graph =
        options.FitComputation(CompileForCluster(plan, cluster, framework, input.profile, &carried),
                               options.information.notes);
    if (input.profile.empty())
    {
        options.NotePublishedErrors(framework, cluster, options.information.notes);
    }
    NoteBalancedExperts(plan.model, graph, options.information.notes);
    NoteHostWaits(graph, framework.name, options.information.notes);
    std::cout << plan.model.GetName() << ": " << plan.model.CountParameters() << " parameters, "
              << graph.GetNDevices() << " devices, " << graph.GetNTasks() << " tasks, framework "
              << framework.name
              << (plan.tree.hasRepresentative ? ", GPU 0 stands for all GPUs, which do the same"
                                              : "")
              << "\n";
    const Vertex& gpu = cluster.GetVertices()[cluster.GetGpus()[0]];
    PrintMemory(AccountMemory(graph), FindGpuDatasheet(gpu.model), std::cout);
    RunAndReport(options,
                 cluster,
                 graph,
                 input.dataType.empty() ? plan.tree.precision.compute
                                        : DataTypeFromString(input.dataType),
                 &carried);
}

/// Names a number format that is given and changes nothing.
/// @param input with the format @param graph to run @param isTimed whether the format has a part in
/// the times of kernels: in a trace; those of a graph have formats of their own
void
WarnOfIdleType(const Input& input, const ExecutionGraph& graph, bool isTimed)
{
    if (!input.dataType.empty() && graph.GetFacts().modelFlopsPerIteration == 0 &&
        !(isTimed && CountTimed(graph) > 0))
    {
        Warn("--dataType=" + input.dataType + " has no effect: the file has the " +
             (CountTimed(graph) == 0 ? "times of all kernels" : "formats of all kernels") +
             ", and not the FLOPs of the model");
    }
}

/// Loads a trace and runs it.
void
RunTrace(const Input& input, ProgramOptions& options, const Cluster& cluster, DataType type)
{
    const std::filesystem::path read = input.trace.c_str();
    std::error_code none; // paths that are not there are different ones
    if (std::filesystem::is_directory(read, none) &&
        std::filesystem::equivalent(read, options.results.timeline.c_str(), none))
    {
        throw std::invalid_argument("--timeline=" + options.results.timeline +
                                    " would write into the folder whose traces --trace reads: "
                                    "give it another name");
    }
    TraceOptions traceOptions;
    traceOptions.ranks = ToCount(input.ranks, "ranks", 0);
    traceOptions.availableRanks = static_cast<uint32_t>(cluster.GetGpus().size());
    traceOptions.gpuModel = cluster.GetVertices()[cluster.GetGpus().at(0)].model;
    traceOptions.ncclVersion = options.nccl.GetVersion();
    traceOptions.isRoofline = input.compute == "roofline";
    traceOptions.isCommunicationRecorded = input.communication == "recorded";
    traceOptions.dataType = type;
    traceOptions.groupFile = input.groups;
    const ExecutionGraph graph =
        options.FitComputation(LoadTrace(input.trace, traceOptions, &options.information.recording),
                               options.information.notes);
    if (traceOptions.isCommunicationRecorded)
    {
        options.information.notes.push_back(
            "--traceCommunication=recorded: communication counts as computation, and nothing "
            "crosses the network");
    }
    CheckSizes(input.trace, graph);
    WarnOfTimes(input.trace, options, cluster, graph);
    WarnOfLargeSizes(input.trace, cluster, graph);
    WarnOfIdleType(input, graph, true);
    std::cout << "Trace " << input.trace << ": " << FormatThings(graph.GetNDevices(), "rank")
              << ", " << FormatThings(graph.GetNTasks(), "task") << "\n";
    RunAndReport(options, cluster, graph, type);
}

/// Runs what there is.
void
RunJob(const Input& input, ProgramOptions& options)
{
    CheckInput(input);
    const EndAtOnce untilItRuns;
    const DataType type = DataTypeFromString(input.dataType.empty() ? "bf16" : input.dataType);
    const Cluster cluster = options.BuildCluster();
    CheckScenario(options, cluster);
    if (!input.model.model.empty())
    {
        RunModel(input, options, cluster);
    }
    else if (!input.graph.empty())
    {
        const ExecutionGraph graph =
            options.FitComputation(LoadGraph(input.graph), options.information.notes);
        if (graph.GetNTasks() == 0)
        {
            throw std::invalid_argument(input.graph +
                                        ": has no tasks, so that there is nothing to run");
        }
        CheckSizes(input.graph, graph);
        WarnOfTimes(input.graph, options, cluster, graph);
        WarnOfLargeSizes(input.graph, cluster, graph);
        WarnOfIdleDevices(input.graph, graph);
        WarnOfIdleType(input, graph, false);
        RunAndReport(options, cluster, graph, type);
    }
    else
    {
        RunTrace(input, options, cluster, type);
    }
}

/// @param command to add the options to @param input that it sets @param options of the job
void
AddInput(OptionList& command, Input& input, const ProgramOptions& options)
{
    command.AddValue("graph", "execution graph to run, a .json or .pb file", input.graph);
    command.AddInput("graph");
    command.AddValue("trace",
                     "trace to run, a file or folder: " + DescribeTraceFormats(),
                     input.trace);
    input.model.AddTo(command, options.framework, [&options]() { return options.FindGpu(); });
    command.AddValue(
        "profile",
        "model: JSON file with measured times of operators, which go before computed ones",
        input.profile);
    command.AddInput("profile");
    command.AddValue("ranks",
                     "trace: ranks of the job (0: as many as the trace says, or as the cluster has "
                     "GPUs); one rank's trace stands for all of them",
                     input.ranks);
    command.AddValue("traceCompute",
                     "trace: time of compute nodes, as they were recorded or by the roofline of "
                     "their FLOPs and bytes",
                     input.compute);
    command.AddNames("traceCompute", {"recorded", "roofline"});
    command.AddValue("traceCommunication",
                     "trace: communication is simulated on the cluster, or lasts as it was "
                     "recorded, which shows how near the rest comes to the recording",
                     input.communication);
    command.AddNames("traceCommunication", {"simulated", "recorded"});
    command.AddValue("traceGroups",
                     "trace: JSON file with the process groups, {\"NAME\": [RANK, ...]}",
                     input.groups);
    command.AddValue("dataType",
                     "number format whose peak rate the utilisation refers to, and the roofline of "
                     "a trace (default: bf16, for a model that of the strategy)",
                     input.dataType);
    command.AddInput("traceGroups");
    command.AddNames("dataType", GetDataTypeNames());
    for (const char* name : {"ranks", "traceCompute", "traceCommunication", "traceGroups"})
    {
        command.AddIdle(name,
                        [&input]() { return input.trace.empty() ? "there is no --trace" : ""; });
    }
    input.model.AddIdleTo(command, [&input]() {
        return input.model.model.empty() ? "there is no --model" : "";
    });
}

/// The program.
class RunInputProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-run";
    }

    bool RunsOnRanks() const override
    {
        return true;
    }

    void AddTo(OptionList& command) override
    {
        m_input.model.folder = GetWorkloads() + "/models";
        command.Usage(
            "Runs an execution graph, a trace, or a model with a strategy on a cluster, packet by\n"
            "packet, and says how long it takes, where it waits, and which links are busy.");
        command.StartGroup("Job");
        AddInput(command, m_input, m_options);
        m_options.AddTo(command);
        m_options.inputs.insert({"graph", "trace", "traceGroups", "strategy", "profile"});
    }

    bool PrintsNotes() const override
    {
        return true;
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
    }

    void Run() override
    {
        RunJob(m_input, m_options);
    }

    ProgramOptions m_options;
    Input m_input;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeRunInputProgram(const std::string& workloads)
{
    return std::make_unique<RunInputProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
