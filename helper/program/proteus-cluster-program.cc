/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-program.h"

#include "proteus-held-output.h"
#include "proteus-name-lists.h"
#include "proteus-option-meanings.h"
#include "proteus-program-options.h"
#include "proteus-table-options.h"

#include "ns3/proteus-bundles.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-cluster-svg.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-network-cost.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-prices-json.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

/**
 * @file
 * @ingroup proteus
 * Says what a cluster is, what its network carries and costs, draws it, and writes it to a file.
 */

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double GIGA = 1e9;

/// What the user asked for.
struct Options : ProgramOptions
{
    CommandLineText output;
    CommandLineText svg;
    CommandLineText prices;
    TableOptions tables;
};

/// What is known of a cluster.
struct Facts
{
    NetworkBill bill;
    Bisection bisection;
    uint64_t paths{0};
    std::string currency;
    std::vector<BillLine> lines; //!< of the bill
    std::string unpriced;        //!< what keeps the bill from being known, or empty
};

/// @return the sum of a column of a bill
double
Sum(const std::vector<BillLine>& lines, double BillLine::*field)
{
    double sum = 0;
    for (const BillLine& line : lines)
    {
        sum += line.*field;
    }
    return sum;
}

/// @return the sum of a column of a bill, empty if that is not known
Cell
SumOf(const Facts& facts, double BillLine::*field)
{
    return facts.unpriced.empty() ? Cell(Sum(facts.lines, field)) : Cell();
}

Table
MakeSummaryTable(const Cluster& cluster, const Facts& facts)
{
    const auto text = [](const std::string& value) { return Cell(value); };
    Table table = MakeQuantityTable("summary", "Cluster", "What the cluster is made of.");
    table.rows = {{text("name"), cluster.GetName(), text("")},
                  {text("servers"), uint64_t{cluster.GetNServers()}, text("")},
                  {text("GPUs"), uint64_t{cluster.GetGpus().size()}, text("")},
                  {text("network switches"), facts.bill.switches, text("")},
                  {text("network ports"), facts.bill.ports, text("")},
                  {text("network cables"), facts.bill.cables, text("")},
                  {text("largest switch"), facts.bill.largestSwitch, text("")},
                  {text("bisection"), facts.bisection.bytesPerSecond, text("B/s")},
                  {text("bisection share"), facts.bisection.share, text("")},
                  {text("paths"), facts.paths, text("")},
                  {text("price"), SumOf(facts, &BillLine::price), text(facts.currency)},
                  {text("power"), SumOf(facts, &BillLine::powerW), text("W")}};
    return table;
}

Table
MakeBillTable(const std::vector<BillLine>& lines)
{
    Table table{"bill",
                "Bill of the network",
                "A row per item and rate of the table of prices.",
                {{"item", "", "switch-port, nic, or a class of cables"},
                 {"gbits_per_s", "", "rate of the item, Gb/s"},
                 {"count", "", "how many"},
                 {"price", "", "all together, in the table's currency"},
                 {"power_w", "W", "all together"}},
                {}};
    for (const BillLine& line : lines)
    {
        table.rows.push_back({line.item, line.gbitsPerSecond, line.count, line.price, line.powerW});
    }
    return table;
}

void
Print(const Cluster& cluster, const Facts& facts)
{
    const double price = Sum(facts.lines, &BillLine::price);
    const double power = Sum(facts.lines, &BillLine::powerW);
    const auto gpus = static_cast<double>(cluster.GetGpus().size());
    std::vector<std::vector<std::string>> rows{
        {"servers", FormatCount(cluster.GetNServers())},
        {"GPUs", FormatCount(cluster.GetGpus().size())},
        {"network",
         FormatCount(facts.bill.switches) + " switches, " + FormatCount(facts.bill.ports) +
             " ports, the largest switch has " + FormatCount(facts.bill.largestSwitch)},
        {"bisection",
         FormatNumber(facts.bisection.bytesPerSecond / GIGA, 1) + " GB/s, " +
             FormatPercent(facts.bisection.share) + " of what the NICs of a half send" +
             (facts.bisection.division.empty() ? "" : " (" + facts.bisection.division + ")")},
        {"paths", FormatCount(facts.paths) + " of equal cost from the first to the last server"},
        {"price",
         FormatCount(static_cast<uint64_t>(price)) + " " + facts.currency + ", " +
             FormatNumber(price / gpus, 0) + " per GPU; network and NICs only"},
        {"power",
         FormatNumber(power / 1000, 2) + " kW, " + FormatNumber(power / gpus, 1) +
             " W per GPU; network and NICs only"}};
    if (!facts.unpriced.empty())
    {
        rows.resize(rows.size() - 2);
        rows.push_back({"price, power", "not known"});
    }
    std::cout << cluster.GetName() << ": valid\n\n" << FormatTable(rows, "ll") << '\n';
    rows = {{"item", "Gb/s", "count", "price", "power"}};
    for (const BillLine& line : facts.lines)
    {
        rows.push_back({line.item,
                        FormatNumber(line.gbitsPerSecond, 0),
                        FormatCount(line.count),
                        FormatCount(static_cast<uint64_t>(line.price)),
                        FormatNumber(line.powerW, 0) + " W"});
    }
    if (!facts.lines.empty())
    {
        std::cout << FormatTable(rows, "lr");
    }
}

/// The program.
class ClusterProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-cluster";
    }

    std::string FindNoSimulation() const override
    {
        return "nothing is simulated";
    }

    bool SendsPackets() const override
    {
        return false;
    }

    void AddTo(OptionList& command) override
    {
        m_builtInPrices = GetWorkloads() + "/prices.json";
        m_options.prices = m_builtInPrices;
        command.Usage("Checks a cluster, says what its network carries and costs, draws it, and "
                      "writes it as\n"
                      "a cluster file, to edit and to run on (--cluster=FILE).");
        command.AddValue("cluster",
                         "server preset, with changes (dgx-h100:nic=8x200G-roce,leafs=4), or a "
                         "cluster file",
                         m_options.cluster);
        command.AddMeaning("cluster", GetClusterMeaning);
        command.AddValue("nodes",
                         "servers of a preset (0: two for a preset, what the file says for a file)",
                         m_options.nodes);
        m_options.AddFabricTo(command);
        command.AddValue("bundles",
                         "cables between two switches: whole (one link) or cables (a link each)",
                         m_options.bundles);
        command.AddNames("bundles", GetBundlingNames());
        command.AddIdle("bundles", [this]() {
            ProgramOptions whole = m_options;
            whole.bundles = ProgramOptions().bundles;
            return DescribeNetwork(whole.BuildCluster()) ==
                           DescribeNetwork(m_options.BuildCluster())
                       ? "no link between two switches is of several cables"
                       : "";
        });
        command.AddValue("prices", "table of prices, a JSON file", m_options.prices);
        command.AddInput("prices");
        command.AddOutput("output", "write the cluster to this file", m_options.output, ".json");
        command.AddOutput("svg", "draw it to this file", m_options.svg);
        m_options.tables.AddTo(command);
        command.AddValue("quiet", "no progress line (this program has none)", m_options.quiet);
    }

    void Run() override
    {
        if (const std::string& svg = m_options.svg;
            !svg.empty() && std::filesystem::path(svg).extension() != ".svg")
        {
            throw std::invalid_argument("--svg=" + svg + ": the name must end in .svg");
        }
        for (const CommandLineText* path : {&m_options.output, &m_options.svg})
        {
            if (!path->empty())
            {
                CheckWritable(*path);
            }
        }
        m_options.tables.Check();
        InputFile file(m_options.prices);
        const PriceTable prices = ReadPricesJson(file.GetStream(), m_options.prices);
        const Cluster cluster = m_options.BuildCluster();
        HeldOutput::Release(); // what is doubtful of a cluster is a result here
        Facts facts{CountNetwork(cluster),
                    FindBisection(cluster),
                    CountPaths(cluster),
                    prices.currency,
                    {},
                    {}};
        try
        {
            facts.lines = ReadNamed("--prices=" + m_options.prices,
                                    [&] { return MakeBill(cluster, prices); });
        }
        catch (const std::invalid_argument& error)
        {
            if (m_options.prices != m_builtInPrices)
            {
                throw;
            }
            facts.unpriced = error.what(); // which is no fault of the cluster
            Warn(facts.unpriced + ", by --prices=FILE; until then price and power are not known");
        }
        Print(cluster, facts);
        if (!m_options.output.empty())
        {
            WriteFile(m_options.output, [&](std::ostream& out) { WriteClusterJson(cluster, out); });
        }
        if (!m_options.svg.empty())
        {
            WriteFile(m_options.svg, [&](std::ostream& out) { WriteClusterSvg(cluster, out); });
        }
        m_options.tables.Write({MakeSummaryTable(cluster, facts),
                                MakeBillTable(facts.lines),
                                m_options.tables.MakeNotes()});
    }

    Options m_options;
    std::string m_builtInPrices; //!< file that counts if nothing is said
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeClusterProgram(const std::string& workloads)
{
    return std::make_unique<ClusterProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
