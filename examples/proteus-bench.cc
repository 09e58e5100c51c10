/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Measures the packet engine: time and memory per packet-hop, next to stock ns-3 devices.
 */

#include "proteus-bench-all-reduce.h"
#include "proteus-bench-cases.h"
#include "proteus-bench-process.h"
#include "proteus-bench-stock.h"
#include "proteus-bench-tables.h"

#include "ns3/boolean.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-command-line-program.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-progress.h"
#include "ns3/proteus-stop-signals.h"
#include "ns3/proteus-table-options.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// @param c to set up @param fabric made @param player made
void
SetUp(const Case& c, std::vector<FlowSpec> flows, Ptr<Fabric>& fabric, Ptr<FlowPlayer>& player)
{
    ProteusHelper helper;
    for (const auto& [name, value] : c.fabric)
    {
        helper.SetFabricAttribute(name, StringValue(value));
    }
    fabric = helper.InstallFabric(c.makeCluster());
    player = CreateObjectWithAttributes<FlowPlayer>("QueuePairPerPair", BooleanValue(c.perPair));
    player->AssignStreams(fabric, 0);
    player->Install(fabric, std::move(flows));
}

/// Takes it all down. @param fabric to dispose @param player to dispose
void
TakeDown(Ptr<Fabric>& fabric, Ptr<FlowPlayer>& player)
{
    player->Dispose();
    fabric->Dispose();
    player = nullptr;
    fabric = nullptr;
    Simulator::Destroy();
}

/// Which links flows take.
class RouteRecorder
{
  public:
    /// @param c whose flows @param flows of it @return the ports of each flow in order
    std::vector<std::vector<uint32_t>> Record(const Case& c, std::vector<FlowSpec> flows)
    {
        // Messages of one packet; the first on every queue pair shows the way.
        std::vector<std::vector<uint32_t>> routes(flows.size());
        for (FlowSpec& flow : flows)
        {
            flow.bytes = 1;
            flow.after.clear();
        }
        m_routes.assign(flows.size(), {});
        Ptr<Fabric> fabric;
        Ptr<FlowPlayer> player;
        SetUp(c, std::move(flows), fabric, player);
        fabric->TraceConnectWithoutContext("Transmit",
                                           MakeCallback(&RouteRecorder::OnTransmit, this));
        player->Run();
        for (uint32_t i = 0; i < routes.size(); ++i)
        {
            routes[i] = m_routes[player->GetQueuePair(i)];
        }
        TakeDown(fabric, player);
        return routes;
    }

  private:
    /// A unit starts on a link. @param port of it @param record the unit
    void OnTransmit(PortId port, const PacketRecord& record, int64_t /* timePs */)
    {
        if (record.kind == PacketKind::DATA && record.sequence == 0)
        {
            m_routes[record.queuePair].push_back(port);
        }
    }

    std::vector<std::vector<uint32_t>> m_routes; //!< by queue pair, which is by flow
};

/// Lets stock devices forward the same packets. @param c that has run @param flows of it
/// @param result of it, which gets what comes out here
void
RunStock(const Case& c, const std::vector<FlowSpec>& flows, Result& result)
{
    StockNetwork::Options options;
    options.routes = RouteRecorder().Record(c, flows);
    const LinkFraming framing = RoceFraming();
    options.packetBytes = framing.unitBytes;
    options.wireBytes = static_cast<uint32_t>(framing.WireBytes(framing.unitBytes));
    options.controlBytes = framing.controlBytes;
    options.packetsPerControl =
        std::max<uint64_t>(1, result.packets / std::max<uint64_t>(1, result.controlPackets));
    const Cluster cluster = c.makeCluster();
    StockNetwork stock(cluster, flows, options);
    const double stockS = GetCpuS();
    stock.Run();
    result.stockCpuS = GetCpuS() - stockS;
    result.stockHops = stock.GetPacketHops();
    result.stockEvents = Simulator::GetEventCount();
}

/// @param c to run once @param withStock whether stock devices forward the same packets, too
/// @return what came out
Result
RunOnce(const Case& c, bool withStock)
{
    Result result;
    std::vector<FlowSpec> flows = c.makeFlows();
    {
        // What is there once per process, however large the cluster.
        Ptr<Fabric> fabric;
        Ptr<FlowPlayer> player;
        Case smallest = c;
        smallest.makeCluster = [] { return MakeSwitch(2); };
        SetUp(smallest, MakePermutation(2, 1), fabric, player);
        player->Run();
        TakeDown(fabric, player);
    }
    const uint64_t before = GetMemory("VmRSS");
    const double beginS = GetCpuS();
    Ptr<Fabric> fabric;
    Ptr<FlowPlayer> player;
    SetUp(c, flows, fabric, player);
    const double setUpS = GetCpuS();
    result.restBytes = GetMemory("VmRSS") - before;
    const auto wall = std::chrono::steady_clock::now();
    player->Run();
    result.cpuS = GetCpuS() - setUpS;
    result.wallS = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    result.setUpS = setUpS - beginS;
    result.peakBytes = GetMemory("VmHWM") - before;
    const NetworkStatistics work = player->GetStatistics();
    result.hosts = static_cast<uint32_t>(fabric->GetCluster().GetGpus().size());
    result.packets = work.packets;
    result.controlPackets = work.controlPackets;
    result.hops = work.packetHops;
    result.events = work.events;
    result.simulatorEvents = Simulator::GetEventCount();
    result.bytes = player->GetTransport()->GetSentBytes();
    result.endPs = player->GetEndPs();
    for (const LinkStatistics& link : fabric->GetLinkStatistics())
    {
        result.marks += link.markedPackets;
        result.pauses += link.pauses;
    }
    TakeDown(fabric, player);
    if (withStock && StockNetwork::IsAvailable())
    {
        RunStock(c, flows, result);
    }
    return result;
}

/// Runs in a process of its own, so that its memory is its own. @param c to run
/// @param withStock as RunOnce() @return what came out
Result
RunApart(const Case& c, bool withStock)
{
    Result result;
    RunInChild(c.name, result, [&] {
        return c.allReduceBytes > 0 ? RunAllReduce(c) : RunOnce(c, withStock);
    });
    return result;
}

/// @param values some @return the one in the middle
double
Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// @param c to run @param repetitions of it @param quiet no progress line
/// @return the first result, with median times
Result
Measure(const Case& c, uint32_t repetitions, bool quiet)
{
    std::vector<Result> results;
    ProgressLine progress("measuring " + c.name);
    for (uint32_t i = 0; i < repetitions; ++i)
    {
        if (!quiet)
        {
            progress.Say("run " + std::to_string(i + 1) + " of " + std::to_string(repetitions));
        }
        results.push_back(RunApart(c, c.stock));
    }
    const auto median = [&results](double Result::*member) {
        std::vector<double> values;
        for (const Result& result : results)
        {
            values.push_back(result.*member);
        }
        return Median(values);
    };
    Result result = results.front();
    result.setUpS = median(&Result::setUpS);
    result.cpuS = median(&Result::cpuS);
    result.wallS = median(&Result::wallS);
    result.stockCpuS = median(&Result::stockCpuS);
    return result;
}

/// @param c that was measured @param result of it
void
Print(const Case& c, const Result& result)
{
    const auto hops = static_cast<double>(std::max<uint64_t>(result.hops, 1));
    std::cout << std::fixed << c.name << ", " << result.hosts << " hosts\n"
              << "  packets             " << result.packets << " data, " << result.controlPackets
              << " acknowledgements and notifications, " << result.marks << " marks, "
              << result.pauses << " pauses\n"
              << "  packet-hops         " << result.hops << " in " << std::setprecision(3)
              << static_cast<double>(result.endPs) * 1e-9 << " ms simulated\n"
              << "  events/packet-hop   " << static_cast<double>(result.events) / hops
              << " of the engine, " << static_cast<double>(result.simulatorEvents) / hops
              << " of ns-3\n"
              << "  CPU/packet-hop      " << std::setprecision(1) << GetNsPerHop(result) << " ns ("
              << std::setprecision(2) << hops / result.cpuS * 1e-6 << " M packet-hops/s)\n"
              << "  payload/CPU second  " << static_cast<double>(result.bytes) / result.cpuS * 1e-9
              << " GB\n"
              << "  set-up              " << std::setprecision(3) << result.setUpS << " s, run "
              << result.cpuS << " s\n"
              << "  memory per GPU      " << std::setprecision(1)
              << static_cast<double>(result.restBytes) / result.hosts * 1e-3 << " KB at rest, "
              << static_cast<double>(result.peakBytes) / result.hosts * 1e-3 << " KB at most ("
              << static_cast<double>(result.peakBytes) * 1e-6 << " MB in all)\n";
    if (result.stockHops > 0)
    {
        std::cout << "  stock device        "
                  << result.stockCpuS * 1e9 / static_cast<double>(result.stockHops) << " ns, "
                  << std::setprecision(2)
                  << static_cast<double>(result.stockEvents) / static_cast<double>(result.stockHops)
                  << " events; " << result.stockHops << " packet-hops; ratio "
                  << std::setprecision(1) << GetRatio(result) << "\n";
    }
    std::cout << std::flush;
}

/// Runs a case with several values of an attribute, and prints what comes out.
/// @param name of an attribute @param values of it, the first of which is exact @param c to run
/// @param rows get one for every value
void
MeasureApproximation(const std::string& name,
                     const std::vector<std::string>& values,
                     const Case& c,
                     std::vector<ApproximationRow>& rows)
{
    std::cout << c.name << ": " << name << "\n";
    Result exact;
    for (const std::string& value : values)
    {
        Case changed = c;
        changed.fabric.emplace_back(name, value);
        const Result result = RunApart(changed, false);
        exact = exact.hops == 0 ? result : exact;
        rows.push_back({c.name, name, value, result, exact});
        const ApproximationRow& row = rows.back();
        std::cout << "  " << std::setw(6) << value << std::setprecision(3) << std::setw(10)
                  << static_cast<double>(result.endPs) * 1e-9 << " ms, error " << std::showpos
                  << std::setprecision(2) << 100 * row.GetError() << " %" << std::noshowpos << ", "
                  << std::setprecision(1) << row.GetSpeedUp() << " times as fast, " << result.marks
                  << " marks\n"
                  << std::flush;
    }
}

/// @param quick fewer packets @return what approximations cost and give
std::vector<ApproximationRow>
MeasureApproximations(bool quick)
{
    const uint64_t unit = RoceFraming().unitBytes;
    const uint64_t scale = quick ? 1 : 10;
    std::vector<ApproximationRow> rows;
    MeasureApproximation("TrainPackets",
                         {"1", "2", "4", "8", "16"},
                         {"fat-tree-permutation, 128 hosts",
                          [] { return MakeFatTree(128); },
                          [=] { return MakePermutation(128, 100 * scale * unit); },
                          {},
                          false},
                         rows);
    const auto server = [] { return LoadCluster("dgx-h100"); };
    const uint64_t megabyte = 1 << 20;
    const std::vector<std::string> bursts{"256", "1024", "4096", "16384"};
    MeasureApproximation("BurstBytes",
                         bursts,
                         {"ring-all-reduce in a server, 8 MiB per step",
                          server,
                          [=] { return MakeRing(8, 8 * megabyte, 14); },
                          {},
                          false},
                         rows);
    MeasureApproximation("BurstBytes",
                         bursts,
                         {"all-to-all in a server, 1 MiB per pair",
                          server,
                          [=] { return MakeAllToAll(8, megabyte); },
                          {},
                          false},
                         rows);
    MeasureApproximation("BurstBytes",
                         bursts,
                         {"ring-all-reduce in a server, 64 KiB per step",
                          server,
                          [=] { return MakeRing(8, megabyte / 16, 14); },
                          {},
                          false},
                         rows);
    return rows;
}

/// Results by name of the case: what grows with the hosts.
using Growth = std::map<std::string, std::vector<Result>>;

/// Prints how costs grow, and their ratios to those of the fewest hosts. @param growth of all cases
void
PrintGrowth(const Growth& growth)
{
    for (const auto& [name, results] : growth)
    {
        const Result& first = results.front();
        if (results.back().hosts == first.hosts)
        {
            continue;
        }
        const bool isSetUp = name.rfind("set-up", 0) == 0;
        std::cout << "growth of " << name
                  << (isSetUp ? ", CPU us per GPU (ratio), KB per GPU:"
                              : ", ns/packet-hop (ratio):")
                  << std::setprecision(isSetUp ? 0 : 1);
        for (const Result& result : results)
        {
            const auto cost = [isSetUp](const Result& r) {
                return isSetUp ? (r.setUpS + r.cpuS) * 1e6 / r.hosts : GetNsPerHop(r);
            };
            std::cout << "  " << result.hosts << ": " << cost(result) << " ("
                      << std::setprecision(2) << cost(result) / cost(first) << ")"
                      << std::setprecision(isSetUp ? 0 : 1);
            if (isSetUp)
            {
                std::cout << " " << static_cast<double>(result.peakBytes) * 1e-3 / result.hosts;
            }
        }
        std::cout << "\n";
    }
}

/// What the command line says.
struct Options
{
    bool quick{false};
    bool large{false};
    bool quiet{false};
    CommandLineText csv;
    TableOptions tables;
    std::string only;
    int64_t repetitions{0};

    /// @return the cases that it chooses
    std::vector<Case> Choose() const
    {
        std::vector<Case> chosen;
        for (const Case& c : MakeCases(quick, large))
        {
            if (c.name.find(only) != std::string::npos)
            {
                chosen.push_back(c);
            }
        }
        return chosen;
    }
};

void
Measure(const Options& options)
{
    const uint32_t n = options.repetitions > 0 ? ToCount(options.repetitions, "repetitions", 1)
                       : options.quick         ? 1
                                               : 5;
    const std::vector<Case> chosen = options.Choose();
    if (chosen.empty() && options.only != "approximation")
    {
        throw std::invalid_argument("--only=" + options.only +
                                    ": no case has that in its name, and it is not approximation");
    }
    if (!options.csv.empty())
    {
        if (chosen.empty())
        {
            throw std::invalid_argument("--csv=" + options.csv +
                                        ": would have no line: --only=" + options.only +
                                        " measures no case; --json and --tables have what it does");
        }
        CheckWritable(options.csv);
    }
    options.tables.Check();
    std::cout << "switched on: PFC, ECN, DCQCN, two traffic classes, shared buffers, ECMP, "
                 "statistics of every message, queue pair and port\nswitched off: trace sinks\n"
              << (StockNetwork::IsAvailable()
                      ? ""
                      : "no comparison: ns-3 was configured without point-to-point\n");
    std::vector<CaseRow> cases;
    Growth growth;
    const EndAtOnce untilItWrites; // what is printed is whole cases
    for (const Case& c : chosen)
    {
        const Result result = Measure(c, n, options.quiet);
        Print(c, result);
        std::cout.flush();
        cases.push_back({c.name, result});
        growth[c.name].push_back(result);
    }
    PrintGrowth(growth);
    std::vector<ApproximationRow> approximations;
    if (options.only.empty() || options.only == "approximation")
    {
        approximations = MeasureApproximations(options.quick);
    }
    EndAtOnce::Cancel();
    const Table table = GetCaseLayout().Make(cases);
    WriteCsvFile(options.csv, [&table](std::ostream& out) { WriteTableCsv(table, out); });
    options.tables.Write(
        {table, GetApproximationLayout().Make(approximations), options.tables.MakeNotes()});
}

/// The program.
class BenchProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-bench";
    }

    bool SendsPackets() const override
    {
        return false; // of collectives that could be repeated
    }

    std::vector<Table> DescribeTables() override
    {
        return {GetCaseLayout().Make(std::vector<CaseRow>()),
                GetApproximationLayout().Make(std::vector<ApproximationRow>())};
    }

    void AddTo(OptionList& command) override
    {
        command.Usage("Measures the packet engine with PFC, ECN and DCQCN on, statistics of every\n"
                      "message and port kept, and no trace sink; and stock PointToPointNetDevices\n"
                      "that forward the same packets over the same routes.");
        command.AddValue("quick", "fewer packets, one repetition", m_options.quick);
        command.AddValue("large",
                         "also 8,192 hosts, all-reduces of 1,024 GPUs, and set-up of up to 8,192: "
                         "minutes",
                         m_options.large);
        command.AddIdle("large", [this]() {
            Options smaller = m_options;
            smaller.large = false;
            return m_options.large && smaller.Choose().size() == m_options.Choose().size()
                       ? "no case of those has --only=" + m_options.only + " in its name"
                       : "";
        });
        command.AddValue(
            "repetitions",
            "runs of every case, of which the median is printed (0: 5, or 1 with --quick)",
            m_options.repetitions);
        command.AddRange("repetitions", 0);
        command.AddIdle("repetitions", [this]() {
            return m_options.Choose().empty() ? "no case is measured" : "";
        });
        command.AddValue("only",
                         "only cases with this in their name; approximation: only those",
                         m_options.only);
        command.AddOutput("csv", "write the cases to this file", m_options.csv, ".csv");
        m_options.tables.AddTo(command);
        command.AddValue("quiet", "no progress line", m_options.quiet);
    }

    void Run() override
    {
        Measure(m_options);
    }

    Options m_options;
};

} // namespace

int
main(int argc, char* argv[])
{
    return BenchProgram(PROTEUS_SOURCE_DIR "/workloads").Main(argc, argv);
}
