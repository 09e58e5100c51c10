/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Runs an execution graph, a trace of another program, or a model with a strategy on a cluster.
 */

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-trace-file.h"

#include <iostream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What there is to run, of which one is given.
struct Input
{
    CommandLineText graph;
    CommandLineText trace;
    ModelOptions model;
    CommandLineText profile;
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
            "proteus-gpt3 --graph=FILE makes a graph, and workloads/ has small graphs, models and "
            "strategies");
    }
}

/// Compiles a model, says whether it fits, and runs it.
void
RunModel(const Input& input,
         ProgramOptions& options,
         const Cluster& cluster,
         const std::string& dataType)
{
    options.Check();
    const TrainingPlan plan = input.model.Load();
    for (const std::string& file : plan.files)
    {
        AddRunInput(file, options.information);
    }
    const ExecutionGraph graph = CompileForCluster(plan,
                                                   cluster,
                                                   GetKernelCostParameters(options.launchInterval),
                                                   input.profile);
    std::cout << plan.model.GetName() << ": " << plan.model.CountParameters() << " parameters, "
              << graph.GetNDevices() << " devices, " << graph.GetNTasks() << " tasks\n";
    const Vertex& gpu = cluster.GetVertices()[cluster.GetGpus()[0]];
    PrintMemory(AccountMemory(graph), FindGpuDatasheet(gpu.model), std::cout);
    std::cout.flush();
    RunAndReport(options,
                 cluster,
                 graph,
                 dataType.empty() ? plan.tree.precision.compute : DataTypeFromString(dataType));
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    ProgramOptions options;
    Input input;
    input.model.folder = PROTEUS_SOURCE_DIR "/workloads/models";
    std::string dataType;
    std::string compute{"recorded"};
    std::string groups;
    int64_t ranks = 0;

    CommandLine command(__FILE__);
    command.Usage(
        "Runs an execution graph, a trace, or a model with a strategy on a cluster, packet by\n"
        "packet, and says how long it takes, where it waits, and which links are busy.");
    command.AddValue("graph", "execution graph to run, a .json or .pb file", input.graph);
    command.AddValue("trace",
                     "trace to run, a file or folder: " + DescribeTraceFormats(),
                     input.trace);
    input.model.AddTo(command);
    command.AddValue(
        "profile",
        "model: JSON file with measured times of operators, which go before computed ones",
        input.profile);
    command.AddValue("ranks",
                     "trace: ranks of the job (0: as many as the trace says, or as the cluster has "
                     "GPUs); one rank's trace stands for all of them",
                     ranks);
    command.AddValue("traceCompute",
                     "trace: time of compute nodes, as they were recorded or by the roofline of "
                     "their FLOPs and bytes",
                     compute);
    command.AddValue("traceGroups",
                     "trace: JSON file with the process groups, {\"NAME\": [RANK, ...]}",
                     groups);
    command.AddValue("dataType",
                     "number format whose peak rate the utilisation refers to, and the roofline of "
                     "a trace (default: bf16, for a model that of the strategy)",
                     dataType);
    options.AddTo(command, true);
    options.inputs.insert({"graph", "trace", "traceGroups", "strategy", "profile"});
    options.Parse(command, argc, argv);

    return RunProgram("proteus-run", [&]() {
        CheckInput(input);
        if (compute != "recorded" && compute != "roofline")
        {
            throw std::invalid_argument("--traceCompute=" + compute +
                                        ": must be recorded or roofline");
        }
        const DataType type = DataTypeFromString(dataType.empty() ? "bf16" : dataType);
        const Cluster cluster = options.BuildCluster();
        if (!input.model.model.empty())
        {
            RunModel(input, options, cluster, dataType);
            return;
        }
        if (!input.graph.empty())
        {
            RunAndReport(options, cluster, LoadGraph(input.graph), type);
            return;
        }
        TraceOptions traceOptions;
        traceOptions.ranks = ToCount(ranks, "ranks", 0);
        traceOptions.availableRanks = static_cast<uint32_t>(cluster.GetGpus().size());
        traceOptions.isRoofline = compute == "roofline";
        traceOptions.dataType = type;
        traceOptions.groupFile = groups;
        const ExecutionGraph loaded = LoadTrace(input.trace, traceOptions);
        std::cout << "Trace " << input.trace << ": " << loaded.GetNDevices() << " ranks, "
                  << loaded.GetNTasks() << " tasks\n";
        RunAndReport(options, cluster, loaded, type);
    });
}
