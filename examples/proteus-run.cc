/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Runs an execution graph from a file on a cluster.
 */

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-program-options.h"

#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    ProgramOptions options;
    std::string graph;
    std::string dataType{"bf16"};

    CommandLine command(__FILE__);
    command.Usage("Runs an execution graph on a cluster, packet by packet, and says how long it\n"
                  "takes, where it waits, and which links are busy.");
    command.AddValue("graph", "execution graph to run, a .json or .pb file", graph);
    command.AddValue("dataType",
                     "number format whose peak rate the utilisation refers to",
                     dataType);
    options.AddTo(command);
    command.Parse(argc, argv);

    return RunProgram("proteus-run", [&]() {
        if (graph.empty())
        {
            throw std::invalid_argument("--graph=FILE is missing: proteus-gpt3 --graph=FILE makes "
                                        "such a file, and workloads/graphs/ has small ones");
        }
        const DataType type = DataTypeFromString(dataType);
        RunAndReport(options, options.BuildCluster(), LoadGraph(graph), type);
    });
}
