/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * One training iteration of a GPT-3 model, simulated packet by packet.
 */

#include "ns3/command-line.h"
#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-gpt.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-progress.h"
#include "ns3/proteus-summary.h"
#include "ns3/proteus-tables.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What the user asked for.
struct Options
{
    std::string model{"6.7B"};
    std::string cluster{"dgx-a100"};
    int64_t nodes{0};
    int64_t tp{8};
    int64_t pp{1};
    int64_t dp{0};
    int64_t globalBatch{8};
    int64_t microBatch{1};
    std::string recompute{"none"};
    std::string schedule{"1f1b"};
    std::string dataType{"bf16"};
    bool overlapGradientReduction{false};
    std::string fabric{"single-switch"};
    double oversubscription{1.0};
    int64_t serversPerLeaf{4};
    int64_t spines{4};
    int64_t stream{1};
    std::string trace;
    std::string graph;
    std::string csv;
    std::string summary;
    bool quiet{false};
    Time launchInterval;
};

/// @param value from the command line @param name of the option @param least allowed
uint32_t
ToCount(int64_t value, const std::string& name, int64_t least)
{
    if (value < least || value > INT32_MAX)
    {
        throw std::invalid_argument("--" + name + "=" + std::to_string(value) +
                                    ": must be a number from " + std::to_string(least) + " to " +
                                    std::to_string(INT32_MAX));
    }
    return static_cast<uint32_t>(value);
}

/// @param text of --schedule @return the schedule
PipelineSchedule
ToSchedule(const std::string& text)
{
    if (text == "1f1b")
    {
        return PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
    }
    if (text == "gpipe")
    {
        return PipelineSchedule::GPIPE;
    }
    throw std::invalid_argument("--schedule=" + text + ": choose one of 1f1b, gpipe");
}

/// The cluster that the options name.
Cluster
BuildCluster(const Options& options)
{
    FabricOptions fabric;
    fabric.kind = options.fabric;
    fabric.oversubscription = options.oversubscription;
    fabric.serversPerLeaf = ToCount(options.serversPerLeaf, "serversPerLeaf", 1);
    fabric.spines = ToCount(options.spines, "spines", 1);
    const auto presets = GetServerPresets();
    const bool isPreset =
        std::find(presets.begin(), presets.end(), options.cluster) != presets.end();
    const uint32_t nodes = ToCount(options.nodes, "nodes", 0);
    return LoadCluster(options.cluster, nodes == 0 && isPreset ? 2 : nodes, fabric);
}

/// The plan that the options name, for a cluster.
GptPlan
BuildPlan(const Options& options, const Cluster& cluster)
{
    GptPlan plan;
    plan.tensorParallel = ToCount(options.tp, "tp", 1);
    plan.pipelineParallel = ToCount(options.pp, "pp", 1);
    plan.dataParallel = ToCount(options.dp, "dp", 0);
    if (plan.dataParallel == 0)
    {
        const uint64_t modelParallel = uint64_t{plan.tensorParallel} * plan.pipelineParallel;
        plan.dataParallel =
            static_cast<uint32_t>(std::max<uint64_t>(cluster.GetGpus().size() / modelParallel, 1));
    }
    if (plan.GetNDevices() > cluster.GetGpus().size())
    {
        throw std::invalid_argument(
            "tp * pp * dp = " + std::to_string(plan.tensorParallel) + " * " +
            std::to_string(plan.pipelineParallel) + " * " + std::to_string(plan.dataParallel) +
            " = " + std::to_string(plan.GetNDevices()) + " GPUs, and the cluster has " +
            std::to_string(cluster.GetGpus().size()) + ": lower one of them, or raise --nodes");
    }
    plan.globalBatch = ToCount(options.globalBatch, "globalBatch", 1);
    plan.microBatch = ToCount(options.microBatch, "microBatch", 1);
    plan.recompute = RecomputeFromString(options.recompute);
    plan.schedule = ToSchedule(options.schedule);
    plan.overlapGradientReduction = options.overlapGradientReduction;
    plan.dataType = DataTypeFromString(options.dataType);
    return plan;
}

/// Prints what is about to be simulated.
void
PrintJob(const Options& options, const Cluster& cluster, const GptPlan& plan)
{
    const uint32_t microBatches = plan.GetNMicroBatches();
    std::cout << "GPT-3 " << options.model << " on " << cluster.GetName() << ": TP "
              << plan.tensorParallel << ", PP " << plan.pipelineParallel << ", DP "
              << plan.dataParallel << ", " << plan.globalBatch << " sequences in " << microBatches
              << (microBatches == 1 ? " micro-batch" : " micro-batches") << " of "
              << plan.microBatch << " per replica, recomputation " << ToString(plan.recompute)
              << std::endl;
}

void
Run(const Options& options)
{
    const Cluster cluster = BuildCluster(options);
    const GptPlan plan = BuildPlan(options, cluster);
    const ExecutionGraph graph = MakeGptGraph(FindGptModel(options.model), plan);
    PrintJob(options, cluster, plan);
    if (!options.graph.empty())
    {
        SaveGraph(graph, options.graph);
    }

    ProteusHelper helper;
    if (options.stream < 0)
    {
        throw std::invalid_argument("--stream=" + std::to_string(options.stream) +
                                    ": must not be negative");
    }
    helper.AssignStreams(options.stream);
    RuntimeOptions runtime;
    runtime.roofline.launchIntervalPs = options.launchInterval.GetPicoSeconds();
    helper.SetRuntimeOptions(runtime);
    Ptr<TrainingJob> job = helper.Install(cluster, graph);

    double wallS = 0;
    {
        ProgressLine progress;
        if (!options.quiet)
        {
            job->SetProgressReport(
                [&progress](const TrainingJob::Progress& state) { progress.Update(state); });
        }
        job->Run();
        wallS = progress.GetElapsedSeconds();
    }

    const Timeline timeline = job->GetTimeline();
    Summary summary = Summarize(graph,
                                cluster,
                                timeline,
                                job->GetFabric()->GetLinkStatistics(),
                                job->GetNetwork()->GetStatistics(),
                                plan.dataType);
    summary.wallS = wallS;
    PrintSummary(summary, std::cout);
    const auto write = [](const std::string& path, const std::function<void(std::ostream&)>& f) {
        if (!path.empty())
        {
            WriteFile(path, f);
        }
    };
    write(options.trace,
          [&](std::ostream& out) { WriteChromeTrace(graph, cluster, timeline, out); });
    write(options.csv, [&](std::ostream& out) { WriteSpanCsv(graph, cluster, timeline, out); });
    write(options.summary, [&](std::ostream& out) { WriteSummaryJson(summary, out); });
    job->Dispose();
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    options.launchInterval = PicoSeconds(RooflineModel().launchIntervalPs);

    CommandLine command(__FILE__);
    command.Usage("Simulates one training iteration of a GPT-3 model, packet by packet, and says\n"
                  "how long it takes, where it waits, and which links are busy.");
    command.AddValue("model",
                     "GPT-3 model: 125M, 350M, 760M, 1.3B, 2.7B, 6.7B, 13B or 175B",
                     options.model);
    command.AddValue("cluster",
                     "server preset (dgx1-v100, dgx-a100, dgx-h100) or path of a cluster JSON file",
                     options.cluster);
    command.AddValue("nodes",
                     "servers of a preset (0: two for a preset, what the file says for a file)",
                     options.nodes);
    command.AddValue("tp", "tensor-parallel size", options.tp);
    command.AddValue("pp", "pipeline stages", options.pp);
    command.AddValue("dp", "data-parallel replicas (0: as many as the GPUs allow)", options.dp);
    command.AddValue("globalBatch", "sequences per iteration", options.globalBatch);
    command.AddValue("microBatch", "sequences per micro-batch and replica", options.microBatch);
    command.AddValue("recompute",
                     "what the backward pass computes again: none, selective or full",
                     options.recompute);
    command.AddValue("schedule", "pipeline schedule: 1f1b or gpipe", options.schedule);
    command.AddValue("dataType", "number format of the GEMMs: bf16, fp16 or fp8", options.dataType);
    command.AddValue("overlapGradientReduction",
                     "reduce gradients in buckets while the backward pass runs",
                     options.overlapGradientReduction);
    command.AddValue("launchInterval",
                     "least time of an operator: the host's pace in issuing kernels",
                     options.launchInterval);
    command.AddValue("fabric",
                     "between servers of a preset: single-switch or leaf-spine",
                     options.fabric);
    command.AddValue("oversubscription",
                     "leaf-spine: capacity of a leaf to its servers over that to the spines",
                     options.oversubscription);
    command.AddValue("serversPerLeaf", "leaf-spine: servers on a leaf", options.serversPerLeaf);
    command.AddValue("spines", "leaf-spine: number of spine switches", options.spines);
    command.AddValue("stream",
                     "random stream that decides which of several equal paths a flow takes",
                     options.stream);
    command.AddValue("trace", "write a timeline to this file, for ui.perfetto.dev", options.trace);
    command.AddValue("graph", "save the execution graph to this .json or .pb file", options.graph);
    command.AddValue("csv", "write the spans of all tasks to this file", options.csv);
    command.AddValue("summary", "write the results to this file as JSON", options.summary);
    command.AddValue("quiet", "no progress line", options.quiet);
    command.Parse(argc, argv);

    try
    {
        Run(options);
    }
    catch (const std::exception& error)
    {
        std::cerr << "proteus-gpt3: error: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
