/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-flow-links.h"
#include "proteus-name-lists.h"
#include "proteus-packet-trace-options.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-flow-csv.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-rank-work.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-warning.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

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

/// What the command line says, as it says it.
struct Options
{
    CommandLineText cluster;       //!< preset or file
    int64_t nodes{0};              //!< servers
    FabricFlags fabric;            //!< between servers of a preset
    CommandLineText flows;         //!< file
    std::string transport;         //!< empty: attributes decide
    int64_t payload{0};            //!< 0: the cluster decides
    int64_t overhead{-1};          //!< -1: the cluster decides
    int64_t ackBytes{0};           //!< 0: the cluster decides
    std::string trigger;           //!< empty: attributes decide
    std::string window;            //!< empty: attributes decide
    std::string congestionControl; //!< empty: attributes decide
    int64_t stream{1};             //!< random stream
    CommandLineText csv;           //!< file, may be empty
    TableOptions tables;           //!< all results
    PacketTraceOptions traces;     //!< what happens on the links
    bool quiet{false};             //!< no progress line
};

/// @param trigger as typed, not empty @return value of the attribute of the player
std::string
ParseTrigger(const std::string& trigger)
{
    if (trigger == "receive")
    {
        return "Receive";
    }
    if (trigger == "ack")
    {
        return "Acknowledgement";
    }
    throw std::invalid_argument("--trigger=" + trigger + ": known are receive and ack");
}

/// @param options to apply to the transport that will be made
void
SetTransportDefaults(const Options& options)
{
    const std::string transport = "ns3::proteus::Transport::";
    if (options.transport == "go-back-n")
    {
        Config::SetDefault(transport + "Reliability", StringValue("GoBackN"));
    }
    else if (options.transport == "selective-repeat")
    {
        Config::SetDefault(transport + "Reliability", StringValue("SelectiveRepeat"));
    }
    else if (options.transport == "tcp")
    {
        if (!options.congestionControl.empty() && options.congestionControl != "tcp")
        {
            throw std::invalid_argument("--transport=tcp has its own congestion control: leave "
                                        "--congestionControl away");
        }
        Config::SetDefault(transport + "CongestionControl", StringValue("tcp"));
    }
    else if (!options.transport.empty())
    {
        throw std::invalid_argument("--transport=" + options.transport +
                                    ": known are go-back-n, selective-repeat and tcp");
    }
    if (!options.congestionControl.empty())
    {
        if (options.congestionControl != "auto")
        {
            MakeCongestionType(options.congestionControl); // an error names the known ones
        }
        Config::SetDefault(transport + "CongestionControl", StringValue(options.congestionControl));
    }
    if (!options.trigger.empty())
    {
        Config::SetDefault("ns3::proteus::FlowPlayer::Trigger",
                           StringValue(ParseTrigger(options.trigger)));
    }
    if (options.window == "bdp")
    {
        Config::SetDefault(transport + "WindowProducts", DoubleValue(1));
    }
    else if (!options.window.empty())
    {
        if (options.window.find_first_not_of("0123456789") != std::string::npos ||
            options.window.size() > 15)
        {
            throw std::invalid_argument("--window=" + options.window +
                                        ": must be a number of bytes, or bdp for one "
                                        "bandwidth-delay product of the path");
        }
        Config::SetDefault(transport + "Window", UintegerValue(std::stoull(options.window)));
    }
}

/// @param cluster to copy @param options with payload and overhead @return it, with the packets of
/// its network as the options say
Cluster
WithPackets(const Cluster& cluster, const Options& options)
{
    Cluster changed(cluster.GetName());
    for (const Vertex& vertex : cluster.GetVertices())
    {
        changed.AddVertex(vertex);
    }
    for (Link link : cluster.GetLinks())
    {
        if (link.technology == LinkTechnology::INFINIBAND ||
            link.technology == LinkTechnology::ROCE)
        {
            if (options.payload > 0)
            {
                link.framing.unitBytes = static_cast<uint32_t>(options.payload);
                link.framing.packetBytes = link.framing.unitBytes;
            }
            if (options.overhead >= 0)
            {
                link.framing.unitHeaderBytes = 0;
                link.framing.packetHeaderBytes = static_cast<uint32_t>(options.overhead);
            }
            if (options.ackBytes > 0)
            {
                link.framing.controlBytes = static_cast<uint32_t>(options.ackBytes);
            }
        }
        changed.AddLink(link);
    }
    return changed;
}

/// @param options with a cluster @param fabric between servers of a preset @return the cluster
Cluster
MakeCluster(const Options& options, const FabricOptions& fabric)
{
    if (options.cluster.empty())
    {
        throw std::invalid_argument("--cluster is missing: a preset (dgx-h100, ...) or a file; "
                                    "workloads/flows/ has small ones");
    }
    const int64_t most = 1 << 20;
    if (options.payload < 0 || options.payload > most)
    {
        throw std::invalid_argument("--payload=" + std::to_string(options.payload) +
                                    ": must be a number of bytes from 1 to " +
                                    std::to_string(most));
    }
    if (options.overhead < -1 || options.overhead > most)
    {
        throw std::invalid_argument("--overhead=" + std::to_string(options.overhead) +
                                    ": must be a number of bytes from 0 to " +
                                    std::to_string(most));
    }
    if (options.ackBytes < 0 || options.ackBytes > most)
    {
        throw std::invalid_argument("--ackBytes=" + std::to_string(options.ackBytes) +
                                    ": must be a number of bytes from 1 to " +
                                    std::to_string(most));
    }
    HpccTopologyOptions hpcc;
    hpcc.payloadBytes =
        options.payload > 0 ? static_cast<uint32_t>(options.payload) : hpcc.payloadBytes;
    hpcc.overheadBytes =
        options.overhead >= 0 ? static_cast<uint32_t>(options.overhead) : hpcc.overheadBytes;
    const Cluster cluster = LoadCluster(FindClusterName(options.cluster),
                                        ToCount(options.nodes, "nodes", 0),
                                        fabric,
                                        hpcc);
    return options.payload > 0 || options.overhead >= 0 || options.ackBytes > 0
               ? WithPackets(cluster, options)
               : cluster;
}

/// What is said of all flows together.
struct FlowsSummary
{
    std::size_t flows{0};
    std::string partial; //!< says so if a signal has ended the run
    uint64_t bytes{0};
    double endS{0};     //!< last byte of the last one
    double meanS{0};    //!< from the start to the last byte
    double longestS{0}; //!< the same
    NetworkStatistics work;
    LinkStatistics links; //!< sums
    double wallS{0};
    uint64_t train{1};             //!< packets of the network per event
    std::string ranks;             //!< how several processes divided the work; empty for one
    std::vector<std::string> idle; //!< options that changed nothing
};

/// @param player that has run @param fabric of it @param wallS how long that took @return of it
FlowsSummary
Summarize(const FlowPlayer& player, Ptr<Fabric> fabric, double wallS)
{
    constexpr double PS = 1e-12;
    const auto& flows = player.GetFlows();
    const auto& times = player.GetTimes();
    FlowsSummary summary;
    summary.flows = flows.size();
    summary.endS = static_cast<double>(player.GetEndPs()) * PS;
    const auto arrived = static_cast<std::size_t>(player.GetNReceived());
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        summary.bytes += flows[i].bytes;
        if (times[i].receivedPs >= 0) // a run that was ended leaves some behind
        {
            const double tookS = static_cast<double>(times[i].receivedPs - times[i].startPs) * PS;
            summary.meanS += tookS / static_cast<double>(arrived);
            summary.longestS = std::max(summary.longestS, tookS);
        }
    }
    summary.partial = DescribeStop(arrived, flows.size(), "flows have arrived");
    summary.work = player.GetStatistics();
    for (const LinkStatistics& link : fabric->GetLinkStatistics())
    {
        AddTo(summary.links, link);
    }
    summary.wallS = wallS;
    UintegerValue train;
    fabric->GetAttribute("TrainPackets", train);
    summary.train = train.Get();
    if (fabric->GetRanks())
    {
        summary.ranks = std::to_string(GetNRanks()) + ", " + DescribeRankWork(fabric);
    }
    return summary;
}

/// @param s to print
void
Print(const FlowsSummary& s)
{
    std::cout << std::fixed << std::setprecision(6) << "flows            " << s.flows << ", "
              << s.bytes << " bytes\n"
              << "last byte        " << s.endS * 1e3 << " ms\n"
              << "completion time  " << s.meanS * 1e3 << " ms mean, " << s.longestS * 1e3
              << " ms longest\n"
              << "packets          " << s.work.packets << " data (" << s.work.repeated
              << " repeated), " << s.work.controlPackets << " control, " << s.work.packetHops
              << " packet-hops\n"
              << "network          " << s.links.markedPackets << " marked, " << s.links.pauses
              << " pauses, " << s.links.droppedPackets << " dropped, " << s.links.lostPackets
              << " lost\n"
              << std::setprecision(3) << "run              " << s.wallS << " s, "
              << (s.wallS > 0 ? static_cast<double>(s.work.packetHops) / s.wallS * 1e-6 : 0)
              << " M packet-hops/s\n";
    if (!s.partial.empty())
    {
        std::cout << s.partial;
    }
    if (!s.ranks.empty())
    {
        std::cout << "ranks            " << s.ranks << '\n';
    }
    for (const std::string& line : s.idle)
    {
        Warn(line);
    }
    if (s.train > 1)
    {
        std::cout << "approximation    " << s.train << " packets of the network per event "
                  << "(TrainPackets); 1 is exact\n";
    }
}

/// @param s of the run @return it as a table
Table
MakeSummaryTable(const FlowsSummary& s)
{
    Table table = MakeQuantityTable("summary",
                                    "Summary",
                                    "All flows together.",
                                    {{"flows", uint64_t{s.flows}, ""},
                                     {"payload", s.bytes, "B"},
                                     {"last byte", s.endS, "s"},
                                     {"mean completion time", s.meanS, "s"},
                                     {"longest completion time", s.longestS, "s"},
                                     {"data packets", s.work.packets, ""},
                                     {"repeated packets", s.work.repeated, ""},
                                     {"timeouts", s.work.timeouts, ""},
                                     {"control packets", s.work.controlPackets, ""},
                                     {"packet-hops", s.work.packetHops, ""},
                                     {"marked packets", s.links.markedPackets, ""},
                                     {"pauses", s.links.pauses, ""},
                                     {"dropped packets", s.links.droppedPackets, ""},
                                     {"lost packets", s.links.lostPackets, ""},
                                     {"packets per event", s.train, ""},
                                     {"wall time", s.wallS, "s"}});
    if (!s.ranks.empty())
    {
        table.rows.push_back({std::string("ranks"), s.ranks, std::string()});
    }
    for (const std::string& line : s.idle)
    {
        table.rows.push_back({std::string("note"), line, std::string()});
    }
    if (!s.partial.empty())
    {
        table.rows.push_back(
            {std::string("partial"), s.partial.substr(0, s.partial.size() - 1), std::string()});
    }
    return table;
}

/// A flow that was played.
struct PlayedFlow
{
    const FlowSpec& flow;
    const FlowTimes& times;
};

/// @return seconds; nothing for a time that never came
Cell
ToSeconds(int64_t ps)
{
    return ps < 0 ? Cell() : Cell(static_cast<double>(ps) * 1e-12);
}

/// @param flows that were played @return a row per flow
Table
MakeFlowTable(const std::vector<PlayedFlow>& flows)
{
    using F = PlayedFlow;
    const TableLayout<F> layout{
        "flows",
        "Flows",
        "A row per flow, in the order of the list.",
        {{"id", "", "of the list", [](const F& f) { return f.flow.id; }},
         {"src", "", "rank that sends", [](const F& f) { return uint64_t{f.flow.source}; }},
         {"dst", "", "rank that receives", [](const F& f) { return uint64_t{f.flow.destination}; }},
         {"bytes", "B", "payload", [](const F& f) { return f.flow.bytes; }},
         {"start_s",
          "s",
          "handed to the transport",
          [](const F& f) { return ToSeconds(f.times.startPs); }},
         {"received_s",
          "s",
          "the last byte has arrived",
          [](const F& f) { return ToSeconds(f.times.receivedPs); }},
         {"acknowledged_s", "s", "the sender knows", [](const F& f) {
              return ToSeconds(f.times.acknowledgedPs);
          }}}};
    return layout.Make(flows);
}

/// @param player that has run @return its flows
std::vector<PlayedFlow>
ListFlows(const FlowPlayer& player)
{
    std::vector<PlayedFlow> flows;
    for (std::size_t i = 0; i < player.GetFlows().size(); ++i)
    {
        flows.push_back({player.GetFlows()[i], player.GetTimes()[i]});
    }
    return flows;
}

/// @param command to add the options to @param options that it sets
void
AddOptions(OptionList& command, Options& options)
{
    command.AddValue("cluster",
                     "a cluster JSON file, an NCCL topology XML, a text topology as the HPCC "
                     "simulator has it, or a server preset",
                     options.cluster);
    command.AddValue("nodes", "servers of a preset (0: what the file says, or one)", options.nodes);
    options.fabric.AddTo(command, [&options](const FabricOptions& fabric) {
        return DescribeNetwork(MakeCluster(options, fabric));
    });
    command.AddValue("flows", "list of flows, a CSV file", options.flows);
    command.AddValue("transport",
                     "how lost packets come again: go-back-n, selective-repeat, or tcp, which is a "
                     "congestion control, too",
                     options.transport);
    command.AddValue("payload",
                     "payload bytes of a packet of the network (0: what the cluster says; 1000 for "
                     "a text topology)",
                     options.payload);
    command.AddValue("overhead",
                     "header bytes of such a packet (-1: what the cluster says; 48 for a text "
                     "topology, as the HPCC simulator; ASTRA-sim's has 36)",
                     options.overhead);
    command.AddValue("ackBytes",
                     "bytes on the wire of an acknowledgement or another control packet of the "
                     "network (0: what the cluster says; 64 for a text topology)",
                     options.ackBytes);
    command.AddValue("trigger",
                     "what of a flow starts those that depend on it: receive, its last byte has "
                     "arrived (the default), or ack, its sender has the acknowledgement",
                     options.trigger);
    command.AddValue("window",
                     "payload bytes in flight per flow, or bdp for a bandwidth-delay product of "
                     "its path",
                     options.window);
    command.AddValue("congestionControl",
                     "auto, or one of: " + ListCongestionNames(),
                     options.congestionControl);
    command.AddValue("stream",
                     "random stream of paths among equals, marks and losses, from 1 on",
                     options.stream);
    command.AddHint("seed", "it is --stream; ns-3's own seed of all streams is --RngSeed");
    command.AddOutput("csv",
                      "write id,src,dst,bytes,start_ns,rx_done_ns,ack_done_ns to this file",
                      options.csv);
    options.tables.AddTo(command);
    options.traces.AddTo(command);
    command.AddValue("quiet", "no progress line", options.quiet);
}

/// @param options with the progress line @param player that is run, until a signal comes
/// @return seconds that it took
double
RunPlayer(const Options& options, Ptr<FlowPlayer> player)
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

/// @param fabric that has run @return whether something has crossed InfiniBand or RoCE
bool
HasCrossedNetwork(Ptr<Fabric> fabric)
{
    const auto& links = fabric->GetCluster().GetLinks();
    const auto statistics = fabric->GetLinkStatistics();
    return std::any_of(statistics.begin(), statistics.end(), [&](const LinkStatistics& use) {
        const LinkTechnology technology = links[use.link].technology;
        return use.wireBytes > 0 &&
               (technology == LinkTechnology::INFINIBAND || technology == LinkTechnology::ROCE);
    });
}

/// @param options as given @param player that has run @return a line for each that changed nothing
std::vector<std::string>
FindIdle(const Options& options, const FlowPlayer& player, Ptr<Fabric> fabric)
{
    std::vector<std::string> idle;
    const auto add =
        [&idle](const std::string& name, const std::string& value, const std::string& reason) {
            idle.push_back("--" + name + "=" + value + " has no effect: " + reason);
        };
    if (!HasCrossedNetwork(fabric))
    {
        const std::string reason = "no flow has crossed InfiniBand or RoCE";
        if (options.payload > 0)
        {
            add("payload", std::to_string(options.payload), reason);
        }
        if (options.overhead >= 0)
        {
            add("overhead", std::to_string(options.overhead), reason);
        }
        if (options.ackBytes > 0)
        {
            add("ackBytes", std::to_string(options.ackBytes), reason);
        }
        if (!options.congestionControl.empty())
        {
            add("congestionControl", options.congestionControl, reason);
        }
    }
    const auto& flows = player.GetFlows();
    const bool areAlone = std::all_of(flows.begin(), flows.end(), [](const FlowSpec& flow) {
        return flow.after.empty();
    });
    if (!options.trigger.empty() && areAlone)
    {
        add("trigger", options.trigger, "no flow depends on another");
    }
    return idle;
}

/// @param options what to say and write @param player that has run @param wallS how long that took
void
WriteResults(const Options& options, const FlowPlayer& player, Ptr<Fabric> fabric, double wallS)
{
    WriteCsvFile(options.csv, [&player](std::ostream& out) {
        WriteFlowCsv(player.GetFlows(), player.GetTimes(), out);
    });
    FlowsSummary summary = Summarize(player, fabric, wallS);
    summary.idle = FindIdle(options, player, fabric);
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
Play(const Options& options)
{
    SetTransportDefaults(options);
    if (options.flows.empty())
    {
        throw std::invalid_argument("--flows=FILE is missing; workloads/flows/ has small ones");
    }
    const Cluster cluster = MakeCluster(options, options.fabric.GetOptions());
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
        AddOptions(command, m_options);
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

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeFlowsProgram(const std::string& workloads)
{
    return std::make_unique<FlowsProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
