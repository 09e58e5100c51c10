/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-flow-links.h"
#include "proteus-flows-options.h"
#include "proteus-flows-summary.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-flow-csv.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Plays a list of flows with dependencies on a cluster.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @param options with the progress line @param player that is run, until a signal comes
/// @return seconds that it took
double
RunPlayer(const FlowsOptions& options, Ptr<FlowPlayer> player)
{
    ProgressLine progress;
    player->SetProgressReport([&](const TrainingJob::Progress& state) {
        if (!options.quiet)
        {
            progress.Update(state);
        }
        if (StopSignals::Obey())
        {
            player->Stop();
        }
    });
    player->Run();
    return progress.GetElapsedSeconds();
}

/// @param options what to say and write @param player that has run @param wallS how long that took
void
WriteResults(const FlowsOptions& options,
             const FlowPlayer& player,
             Ptr<Fabric> fabric,
             double wallS)
{
    WriteCsvFile(options.csv, [&player](std::ostream& out) {
        WriteFlowCsv(player.GetFlows(), player.GetTimes(), out);
    });
    ExecutorSettings settings = ReadExecutorSettings(options.stream);
    settings.engine.erase(
        std::remove_if(settings.engine.begin(),
                       settings.engine.end(),
                       [&options](const EngineSetting& setting) {
                           // Options of the program are named as such.
                           const bool isTyped =
                               options.congestionControl.empty() && options.transport.empty();
                           return !isTyped &&
                                  setting.name == "ns3::proteus::Transport::CongestionControl";
                       }),
        settings.engine.end());
    RunRecord record;
    record.links = fabric->GetLinkStatistics();
    record.crossed = FindCrossedLinks(record.links);
    record.network = player.GetStatistics();
    RunNotes::HearAlone("packet", settings, fabric->GetCluster(), nullptr, record, true);
    FlowsSummary summary = Summarize(player, fabric, wallS);
    summary.idle = options.FindIdle(player, fabric);
    Print(summary);
    if (!options.tables.IsEmpty())
    {
        options.tables.Write({MakeSummaryTable(summary),
                              MakeFlowTable(ListFlows(player)),
                              MakeFlowLinkTable(fabric),
                              options.tables.MakeNotes()});
    }
}

/// Plays the flows, and says and writes what came out.
void
Play(const FlowsOptions& options)
{
    options.SetTransportDefaults();
    if (options.flows.empty())
    {
        throw std::invalid_argument("--flows=FILE is missing; workloads/flows/ has small ones");
    }
    const Cluster cluster = options.MakeCluster(options.fabric.GetOptions());
    std::vector<FlowSpec> flows = LoadFlows(options.flows, cluster);
    if (GetNRanks() > 1 && options.traces.IsOn())
    {
        throw std::invalid_argument("files of what happens on the links are written by one "
                                    "process: leave --mpi away, or the options of such files");
    }
    if (GetRank() == 0)
    {
        if (!options.csv.empty())
        {
            CheckWritable(options.csv);
        }
        options.tables.Check();
        options.traces.Check();
    }
    Ptr<Fabric> fabric = ProteusHelper().InstallFabric(cluster);
    Ptr<FlowPlayer> player = CreateObject<FlowPlayer>();
    player->AssignStreams(fabric, ToCount(options.stream, "stream", 1) - 1);
    player->Install(fabric, std::move(flows));
    FabricHelper files = options.traces.Enable(fabric, player->GetTransport());
    const double wallS = RunPlayer(options, player);
    files.FinishFiles();
    if (GetRank() == 0)
    {
        WriteResults(options, *player, fabric, wallS);
    }
    player->Dispose();
    fabric->Dispose();
    DestroySimulation();
}

/// The program.
class FlowsProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-flows";
    }

    bool RunsOnRanks() const override
    {
        return true;
    }

    bool SendsPackets() const override
    {
        return false; // no communication of a graph
    }

    void AddTo(OptionList& command) override
    {
        command.Usage(
            "Plays a list of flows with dependencies on a cluster, packet by packet, and says "
            "when\n"
            "each one started and ended.\n"
            "\n"
            "The flows are lines of id,src,dst,bytes,start_ns,deps: src and dst are ranks of GPUs "
            "or\n"
            "hosts, deps are ids separated by \";\". A flow starts at start_ns, or when the last "
            "byte\n"
            "of the last of its deps has arrived (see --trigger), whichever is later. For "
            "example:\n"
            "  proteus-flows --cluster=workloads/flows/switch-9.txt\n"
            "                --flows=workloads/flows/incast-8.csv --window=bdp\n"
            "                --congestionControl=none --csv=out.csv\n"
            "\n"
            "Everything else about links, switches, queue pairs and congestion control is an\n"
            "attribute: --PrintAttributes=ns3::proteus::Fabric, ...::Transport, ...::FlowPlayer.");
        m_options.AddTo(command);
    }

    const FabricFlags* GetFabric() const override
    {
        return &m_options.fabric;
    }

    std::function<Cluster(const FabricOptions&)> GetClusterMaker() const override
    {
        return [this](const FabricOptions& between) { return m_options.MakeCluster(between); };
    }

    std::vector<Table> DescribeTables() override
    {
        return {MakeSummaryTable({}),
                MakeFlowTable({}),
                MakeFlowLinkTable(nullptr),
                MakeNoteTable()};
    }

    void Run() override
    {
        Play(m_options);
    }

    FlowsOptions m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeFlowsProgram(const std::string& workloads)
{
    return std::make_unique<FlowsProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
