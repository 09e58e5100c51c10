/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Runs an execution graph, or a trace of another program, from a file on a cluster.
 */

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-trace-file.h"

#include <iostream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    ProgramOptions options;
    std::string graph;
    std::string trace;
    std::string dataType{"bf16"};
    std::string compute{"recorded"};
    std::string groups;
    int64_t ranks = 0;

    CommandLine command(__FILE__);
    command.Usage(
        "Runs an execution graph or a trace on a cluster, packet by packet, and says how\n"
        "long it takes, where it waits, and which links are busy.");
    command.AddValue("graph", "execution graph to run, a .json or .pb file", graph);
    command.AddValue("trace", "trace to run, a file or folder: " + DescribeTraceFormats(), trace);
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
                     "a trace",
                     dataType);
    options.AddTo(command, true);
    command.Parse(argc, argv);

    return RunProgram("proteus-run", [&]() {
        if (graph.empty() == trace.empty())
        {
            throw std::invalid_argument(
                graph.empty()
                    ? "--graph=FILE or --trace=PATH is missing: proteus-gpt3 --graph=FILE makes a "
                      "graph, and workloads/graphs/ has small ones"
                    : "--graph and --trace are both something to run; give one of them "
                      "(--timeline=FILE writes the timeline of a run)");
        }
        if (compute != "recorded" && compute != "roofline")
        {
            throw std::invalid_argument("--traceCompute=" + compute +
                                        ": must be recorded or roofline");
        }
        const DataType type = DataTypeFromString(dataType);
        const Cluster cluster = options.BuildCluster();
        if (!graph.empty())
        {
            RunAndReport(options, cluster, LoadGraph(graph), type);
            return;
        }
        TraceOptions traceOptions;
        traceOptions.ranks = ToCount(ranks, "ranks", 0);
        traceOptions.availableRanks = static_cast<uint32_t>(cluster.GetGpus().size());
        traceOptions.isRoofline = compute == "roofline";
        traceOptions.dataType = type;
        traceOptions.groupFile = groups;
        const ExecutionGraph loaded = LoadTrace(trace, traceOptions);
        std::cout << "Trace " << trace << ": " << loaded.GetNDevices() << " ranks, "
                  << loaded.GetNTasks() << " tasks\n";
        RunAndReport(options, cluster, loaded, type);
    });
}
