/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"

#include "ns3/nstime.h"
#include "ns3/proteus-result-tables.h"

#include <iostream>
#include <utility>

namespace ns3
{
namespace proteus
{

CommandLineProgram::CommandLineProgram(std::string workloads)
    : m_workloads(std::move(workloads))
{
    Time::SetResolution(Time::PS);
}

ProgramOptions*
CommandLineProgram::GetRunOptions()
{
    return nullptr;
}

std::vector<Table>
CommandLineProgram::DescribeTables()
{
    return GetRunOptions() ? DescribeResultTables() : std::vector<Table>();
}

int
CommandLineProgram::Main(int argc, char* argv[])
{
    CommandLine command(GetName() + ".cc"); // as ns-3 takes __FILE__
    AddTo(command);
    const std::vector<Table> tables = DescribeTables();
    bool printsColumns = false;
    if (!tables.empty())
    {
        command.AddValue("columns",
                         "print what the columns of --json and --tables mean, and end",
                         printsColumns);
    }
    if (ProgramOptions* options = GetRunOptions())
    {
        options->Parse(command, argc, argv);
    }
    else
    {
        command.Parse(argc, argv);
    }
    return RunProgram(GetName(), [&]() {
        if (printsColumns)
        {
            PrintColumns(tables, std::cout);
            return;
        }
        Run();
    });
}

} // namespace proteus
} // namespace ns3
