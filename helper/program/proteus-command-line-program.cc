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
#include <vector>

namespace ns3
{
namespace proteus
{

CommandLineProgram::CommandLineProgram(std::string workloads)
    : m_workloads(std::move(workloads))
{
    if (Time::GetResolution() != Time::PS) // ns-3 takes it once
    {
        Time::SetResolution(Time::PS);
    }
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
    const std::vector<std::string> arguments(argv, argv + argc);
    return RunProgram(GetName(), [&]() {
        OptionList command(GetName(), m_workloads);
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
            options->information = DescribeRun(arguments, options->inputs);
        }
        if (!command.Parse(arguments, std::cout))
        {
            return;
        }
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
