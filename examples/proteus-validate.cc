/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Simulates the measured tables of collectives and prints how far off the simulation is.
 */

#include "ns3/command-line.h"
#include "ns3/proteus-collective-program.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-validation.h"

#include <iostream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What the command line says.
struct Options
{
    std::string directory{PROTEUS_SOURCE_DIR "/workloads/measurements"};
    std::string only;
    std::string min{"1"};
    std::string max{"1G"};
    std::string csv;
    std::string plots;
    bool isBrief{false};
    bool isQuiet{false};
};

/// @param command to add the options to @param options that it sets
void
AddOptions(CommandLine& command, Options& options)
{
    command.AddValue("directory", "with tables.csv and the tables", options.directory);
    command.AddValue("only", "tables whose name contains this", options.only);
    command.AddValue("min", "smaller sizes are left out", options.min);
    command.AddValue("max", "larger sizes are left out", options.max);
    command.AddValue("csv", "write all sizes of all tables to this file", options.csv);
    command.AddValue("plots", "write an SVG plot of every table to this directory", options.plots);
    command.AddValue("brief", "print the summary only", options.isBrief);
    command.AddValue("quiet", "no progress", options.isQuiet);
}

/// Simulates the tables, one after the other, and says and writes what came out.
void
Run(const Options& options)
{
    ValidationOptions validation;
    validation.directory = options.directory;
    validation.minBytes = ParseSize(options.min, "min");
    validation.maxBytes = ParseSize(options.max, "max");
    if (!options.isQuiet)
    {
        validation.report = [](const std::string& file, uint64_t bytes) {
            std::cerr << "\r" << file << " " << bytes << " B        " << std::flush;
        };
    }
    if (!options.csv.empty())
    {
        CheckWritable(options.csv);
    }
    std::vector<CollectiveComparison> comparisons;
    for (const MeasuredTable& table : LoadMeasuredTables(options.directory))
    {
        if (table.file.find(options.only) == std::string::npos)
        {
            continue;
        }
        comparisons.push_back(Validate(table, validation));
        if (!options.isQuiet)
        {
            std::cerr << "\r                                                              \r";
        }
        if (!options.isBrief)
        {
            PrintComparison(comparisons.back(), std::cout);
        }
        if (!options.plots.empty())
        {
            WriteFile(options.plots + "/" + comparisons.back().name + ".svg",
                      [&](std::ostream& out) { WriteComparisonSvg(comparisons.back(), out); });
        }
    }
    if (comparisons.empty())
    {
        throw std::invalid_argument("--only=" + options.only + ": no table of " +
                                    options.directory + "/tables.csv has that in its name");
    }
    PrintComparisonSummary(comparisons, std::cout);
    if (!options.csv.empty())
    {
        WriteFile(options.csv, [&](std::ostream& out) { WriteComparisonCsv(comparisons, out); });
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine command(__FILE__);
    command.Usage("Simulates the collectives of measured tables, one after the other, and prints\n"
                  "measured and simulated times, and a summary of the errors.\n"
                  "\n"
                  "For example:\n"
                  "  proteus-validate\n"
                  "  proteus-validate --only=a100 --max=64M --plots=.");
    AddOptions(command, options);
    command.Parse(argc, argv);
    return RunProgram("proteus-validate", [&options]() { Run(options); });
}
