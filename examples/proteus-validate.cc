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

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    std::string directory = PROTEUS_SOURCE_DIR "/workloads/measurements";
    std::string only;
    std::string min = "1";
    std::string max = "1G";
    std::string csv;
    std::string plots;
    bool isBrief = false;
    bool isQuiet = false;
    CommandLine command(__FILE__);
    command.Usage("Simulates the collectives of measured tables, one after the other, and prints\n"
                  "measured and simulated times, and a summary of the errors.\n"
                  "\n"
                  "For example:\n"
                  "  proteus-validate\n"
                  "  proteus-validate --only=a100 --max=64M --plots=.");
    command.AddValue("directory", "with tables.csv and the tables", directory);
    command.AddValue("only", "tables whose name contains this", only);
    command.AddValue("min", "smaller sizes are left out", min);
    command.AddValue("max", "larger sizes are left out", max);
    command.AddValue("csv", "write all sizes of all tables to this file", csv);
    command.AddValue("plots", "write an SVG plot of every table to this directory", plots);
    command.AddValue("brief", "print the summary only", isBrief);
    command.AddValue("quiet", "no progress", isQuiet);
    command.Parse(argc, argv);
    return RunProgram("proteus-validate", [&]() {
        ValidationOptions options;
        options.directory = directory;
        options.minBytes = ParseSize(min, "min");
        options.maxBytes = ParseSize(max, "max");
        if (!isQuiet)
        {
            options.report = [](const std::string& file, uint64_t bytes) {
                std::cerr << "\r" << file << " " << bytes << " B        " << std::flush;
            };
        }
        if (!csv.empty())
        {
            CheckWritable(csv);
        }
        std::vector<CollectiveComparison> comparisons;
        for (const MeasuredTable& table : LoadMeasuredTables(directory))
        {
            if (table.file.find(only) == std::string::npos)
            {
                continue;
            }
            comparisons.push_back(Validate(table, options));
            if (!isQuiet)
            {
                std::cerr << "\r                                                              \r";
            }
            if (!isBrief)
            {
                PrintComparison(comparisons.back(), std::cout);
            }
            if (!plots.empty())
            {
                WriteFile(plots + "/" + comparisons.back().name + ".svg",
                          [&](std::ostream& out) { WriteComparisonSvg(comparisons.back(), out); });
            }
        }
        if (comparisons.empty())
        {
            throw std::invalid_argument("--only=" + only + ": no table of " + directory +
                                        "/tables.csv has that in its name");
        }
        PrintComparisonSummary(comparisons, std::cout);
        if (!csv.empty())
        {
            WriteFile(csv, [&](std::ostream& out) { WriteComparisonCsv(comparisons, out); });
        }
    });
}
