/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-options.h"

#include "proteus-progress.h"

#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-summary.h"
#include "ns3/proteus-tables.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

ProgramOptions::ProgramOptions()
    : launchInterval(PicoSeconds(RooflineModel().launchIntervalPs))
{
}

void
ProgramOptions::AddTo(CommandLine& command, bool isTraceInput)
{
    command.AddValue("cluster",
                     "server preset (dgx1-v100, dgx-a100, dgx-h100) or path of a cluster JSON file",
                     cluster);
    command.AddValue("nodes",
                     "servers of a preset (0: two for a preset, what the file says for a file)",
                     nodes);
    command.AddValue("fabric", "between servers of a preset: single-switch or leaf-spine", fabric);
    command.AddValue("oversubscription",
                     "leaf-spine: capacity of a leaf to its servers over that to the spines",
                     oversubscription);
    command.AddValue("serversPerLeaf", "leaf-spine: servers on a leaf", serversPerLeaf);
    command.AddValue("spines", "leaf-spine: number of spine switches", spines);
    command.AddValue("stream",
                     "random stream that decides which of several equal paths a flow takes",
                     stream);
    command.AddValue("launchInterval",
                     "least time of an operator: the host's pace in issuing kernels",
                     launchInterval);
    command.AddValue("timeline", "write a timeline to this file, for ui.perfetto.dev", timeline);
    if (!isTraceInput)
    {
        command.AddValue("trace", "the same as --timeline", timeline);
    }
    command.AddValue("csv", "write the spans of all tasks to this file", csv);
    command.AddValue("summary", "write the results to this file as JSON", summary);
    traces.AddTo(command);
    command.AddValue("quiet", "no progress line", quiet);
}

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

Cluster
ProgramOptions::BuildCluster() const
{
    FabricOptions options;
    options.kind = fabric;
    options.oversubscription = oversubscription;
    options.serversPerLeaf = ToCount(serversPerLeaf, "serversPerLeaf", 1);
    options.spines = ToCount(spines, "spines", 1);
    const auto presets = GetServerPresets();
    const bool isPreset = std::find(presets.begin(), presets.end(), cluster) != presets.end();
    const uint32_t servers = ToCount(nodes, "nodes", 0);
    return LoadCluster(cluster, servers == 0 && isPreset ? 2 : servers, options);
}

void
RunAndReport(const ProgramOptions& options,
             const Cluster& cluster,
             const ExecutionGraph& graph,
             DataType dataType)
{
    if (options.launchInterval.IsStrictlyNegative())
    {
        throw std::invalid_argument("--launchInterval: must not be negative");
    }
    for (const std::string& path : {options.timeline, options.csv, options.summary})
    {
        if (!path.empty())
        {
            CheckWritable(path);
        }
    }
    ProteusHelper helper;
    helper.AssignStreams(ToCount(options.stream, "stream", 0));
    RuntimeOptions runtime;
    runtime.roofline.launchIntervalPs = options.launchInterval.GetPicoSeconds();
    helper.SetRuntimeOptions(runtime);
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    options.traces.Enable(job->GetFabric(), job->GetNetwork()->GetTransport());

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
                                dataType);
    summary.wallS = wallS;
    job->Dispose();
    Simulator::Destroy();

    PrintSummary(summary, std::cout);
    const auto write = [](const std::string& path, const std::function<void(std::ostream&)>& f) {
        if (!path.empty())
        {
            WriteFile(path, f);
        }
    };
    write(options.timeline,
          [&](std::ostream& out) { WriteChromeTrace(graph, cluster, timeline, out); });
    write(options.csv, [&](std::ostream& out) { WriteSpanCsv(graph, cluster, timeline, out); });
    write(options.summary, [&](std::ostream& out) { WriteSummaryJson(summary, out); });
}

int
RunProgram(const std::string& program, const std::function<void()>& body)
{
    try
    {
        body();
        std::cout.flush();
        if (!std::cout)
        {
            throw std::runtime_error("standard output cannot be written");
        }
    }
    catch (const std::exception& error)
    {
        std::cout.flush();
        std::cerr << program << ": error: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}

} // namespace proteus
} // namespace ns3
