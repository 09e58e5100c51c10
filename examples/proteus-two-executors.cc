/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * The shortest way from a model, a strategy and a cluster to results, from C++: two executors run
 * one graph.
 */

#include "ns3/command-line.h"
#include "ns3/proteus-compile.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-link-use.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-tables.h"

#include <iostream>

using namespace ns3;
using namespace ns3::proteus;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    CommandLine command(__FILE__);
    command.Usage("GPT-3 125M on two DGX A100, by packets and by flows: an example of a program in "
                  "C++. Attributes are set as --ns3::proteus::Fabric::Routing=Spray.");
    command.Parse(argc, argv);
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const TrainingPlan plan = LoadTrainingPlan("gpt3-125m",
                                               "tp=4,dp=4,globalBatch=8",
                                               PROTEUS_SOURCE_DIR "/workloads/models");
    const ExecutionGraph graph = Compile(plan.model, plan.tree, cluster);
    for (const char* name : {"packet", "flow"})
    {
        const RunRecord run = FindExecutor(name).Run(graph, cluster, ReadExecutorSettings());
        const LinkUse slowest = BusiestLinks(cluster, run.links, run.timeline.endPs, 1).at(0);
        std::cout << name << ": " << FormatTime(run.timeline.endPs * 1e-12) << ", slowest link "
                  << slowest.name << ", " << FormatPercent(slowest.utilisation, 1) << " busy\n";
    }
    return 0;
}
