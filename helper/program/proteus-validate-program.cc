/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-program.h"
#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-kernel-costs-option.h"
#include "proteus-name-lists.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"
#include "proteus-validation.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-kernel-costs-json.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Simulates the measured tables of collectives and prints how far off the simulation is.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// What the user asks for.
struct Options
{
    std::string directory; //!< with tables.csv
    std::string tables;    //!< parts of names
    std::string min{"1"};  //!< smallest size
    std::string max{"1G"}; //!< largest size
    CommandLineText csv;   //!< file, or empty
    CommandLineText plots; //!< directory, or empty
    KernelCostsOption costs;
    CommandLineText saveCosts;          //!< file, or empty
    CommandLineText executor{"packet"}; //!< that runs the collectives
    bool isBrief{false};                //!< summary only
    bool isQuiet{false};                //!< no progress
};

/// @param options with parts of names, commas between them @return the tables that have one of them
std::vector<MeasuredTable>
SelectTables(const Options& options)
{
    const auto all = ReadNamed("--directory=" + options.directory,
                               [&options] { return LoadMeasuredTables(options.directory); });
    if (options.tables.empty())
    {
        return all;
    }
    std::vector<bool> chosen(all.size(), false);
    for (const std::string& part : SplitOnce("--only=" + options.tables, options.tables))
    {
        bool isKnown = false;
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            const bool has = all[i].file.find(part) != std::string::npos;
            isKnown = isKnown || has;
            chosen[i] = chosen[i] || has;
        }
        if (!isKnown)
        {
            std::string names;
            for (const MeasuredTable& table : all)
            {
                AppendName(names, table.file);
            }
            throw std::invalid_argument("--only=" + part + ": no table of " + options.directory +
                                        "/tables.csv has that in its name; there are " + names);
        }
    }
    std::vector<MeasuredTable> tables;
    for (std::size_t i = 0; i < all.size(); ++i)
    {
        if (chosen[i])
        {
            tables.push_back(all[i]);
        }
    }
    return tables;
}

/// Prints and draws what came out of a table, as far as is asked for.
void
Show(const CollectiveComparison& comparison, const Options& options)
{
    if (!options.isBrief)
    {
        PrintComparison(comparison, std::cout);
        std::cout.flush();
    }
    if (!options.plots.empty())
    {
        WriteFile(options.plots + "/" + comparison.name + ".svg",
                  [&](std::ostream& out) { WriteComparisonSvg(comparison, out); });
    }
}

void
ValidateTables(const Options& options)
{
    ValidationOptions validation;
    validation.directory = options.directory;
    validation.minBytes = ParseSize(options.min, "min");
    validation.maxBytes = ParseSize(options.max, "max");
    if (validation.maxBytes < validation.minBytes)
    {
        throw std::invalid_argument("--max=" + options.max + " is below --min=" + options.min);
    }
    validation.costs = options.costs.Load();
    validation.executor = options.executor;
    std::vector<LoadedTable> tables; // all of them first: what is wrong is said before any is run
    for (const MeasuredTable& table : SelectTables(options))
    {
        tables.push_back(LoadTable(table, options.directory));
    }
    if (!options.saveCosts.empty())
    {
        const auto costs = options.costs.LoadTable();
        WriteFile(options.saveCosts, [&](std::ostream& out) {
            WriteKernelCostsJson(costs, "what proteus-validate simulated with", out);
        });
    }
    if (!options.csv.empty())
    {
        CheckWritable(options.csv);
    }
    if (!options.plots.empty())
    {
        MakeFolder(options.plots);
    }
    std::vector<CollectiveComparison> comparisons;
    for (const LoadedTable& table : tables)
    {
        {
            ProgressLine progress;
            validation.report = [&](const std::string& file, uint64_t bytes) {
                if (!options.isQuiet)
                {
                    progress.Say("table " + std::to_string(comparisons.size() + 1) + " of " +
                                 std::to_string(tables.size()) + ", " + file + ": " +
                                 std::to_string(bytes) + " bytes");
                }
            };
            comparisons.push_back(Validate(table, validation));
        }
        if (StopSignals::IsObeyed() && comparisons.back().sizes.empty())
        {
            comparisons.pop_back();
        }
        if (StopSignals::IsObeyed())
        {
            break;
        }
        if (comparisons.back().sizes.empty())
        {
            std::cout << comparisons.back().name << ": nothing to compare: "
                      << (!table.cluster ? "tables.csv names no cluster for it"
                                         : "no size from --min to --max")
                      << '\n';
            comparisons.pop_back();
            continue;
        }
        Show(comparisons.back(), options);
    }
    if (comparisons.empty() && StopSignals::IsObeyed())
    {
        throw RunStopped("no size was simulated");
    }
    if (comparisons.empty())
    {
        throw std::invalid_argument("no table has a size from --min=" + options.min +
                                    " to --max=" + options.max);
    }
    if (const std::string text = DescribeApproximation(options.executor); !text.empty())
    {
        std::cout << "Simulated" << text << ".\n";
    }
    PrintComparisonSummary(comparisons, std::cout);
    std::cout << DescribeStop(comparisons.size(), tables.size(), "tables, the last one in part");
    WriteCsvFile(options.csv, [&](std::ostream& out) { WriteComparisonCsv(comparisons, out); });
}

/// The program.
class ValidateProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-validate";
    }

    void AddTo(OptionList& command) override
    {
        m_options.directory = GetWorkloads() + "/measurements";
        command.Usage(
            "Simulates the collectives of measured tables, one after the other, and prints "
            "measured\n"
            "and simulated times for every size, and a summary of the errors with the reasons of\n"
            "those that miss their goal. All tables up to 1 GiB take a minute or two.\n"
            "\n"
            "For example:\n"
            "  proteus-validate --brief\n"
            "  proteus-validate --only=a100,h100-8 --max=64M --csv=errors.csv --plots=.");
        command.AddHint("tables", "--only=PART,... chooses (--tables is a folder to write to)");
        command.AddValue("only",
                         "which tables: parts of their names, commas between them (empty: all)",
                         m_options.tables);
        command.AddValue("min", "smallest size, in bytes; K, M and G may follow", m_options.min);
        command.AddValue("max", "largest size", m_options.max);
        command.AddIdle("joinWindow", [this]() -> std::string {
            try
            {
                const auto tables = SelectTables(m_options);
                return std::any_of(tables.begin(),
                                   tables.end(),
                                   [](const auto& table) { return table.launch == "stream"; })
                           ? ""
                           : "kernels wait for each other only in launch mode stream";
            }
            catch (const std::invalid_argument&) // which the run reports
            {
                return "";
            }
        });
        AddTestExecutors(command, m_options.executor);
        command.AddValue("brief", "print the summary only", m_options.isBrief);
        command.AddOutput("csv",
                          "write all sizes of all tables to this file",
                          m_options.csv,
                          ".csv");
        command.AddFolder("plots",
                          "write a plot of every table (SVG) to this folder",
                          m_options.plots);
        command.AddParts("plots", R"(/[^/]+\.svg)");
        m_options.costs.AddTo(command);
        command.AddOutput(
            "saveKernelCosts",
            "write the costs of kernels that this run takes, with their sources, to this file",
            m_options.saveCosts,
            ".json");
        command.AddValue("directory",
                         "folder that has tables.csv and the tables that it names",
                         m_options.directory);
        command.AddValue("quiet", "no progress line", m_options.isQuiet);
    }

    std::string FindNoPackets() override
    {
        return ns3::proteus::FindNoPackets(m_options.executor);
    }

    void Run() override
    {
        ValidateTables(m_options);
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeValidateProgram(const std::string& workloads)
{
    return std::make_unique<ValidateProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
