/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"

#include "proteus-command-line-text.h"
#include "proteus-rank-program.h"

#include "ns3/config.h"
#include "ns3/nstime.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/string.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param mode of the command line @param joinGrid of the command line
/// @throw std::invalid_argument if there is no such mode, or for a time below 0
void
SetRepetition(const std::string& mode, const Time& joinGrid)
{
    if (joinGrid.IsStrictlyNegative())
    {
        throw std::invalid_argument("--joinGrid: must be 0 or more");
    }
    if (joinGrid.IsStrictlyPositive())
    {
        Config::SetDefault("ns3::proteus::PacketNetwork::JoinGrid", TimeValue(joinGrid));
    }
    if (mode != "on" && mode != "off" && mode != "verify")
    {
        throw std::invalid_argument("--repetition=" + mode + ": must be on, off or verify");
    }
    if (mode != "on") // which the attribute is by itself
    {
        Config::SetDefault("ns3::proteus::PacketNetwork::Repetition", StringValue(mode));
    }
}

} // namespace

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
    return RunOnRanks(GetName(), argc, argv, [&]() {
        if (GetNRanks() > 1 && !RunsOnRanks())
        {
            throw std::invalid_argument("it runs as one process only, not on " +
                                        std::to_string(GetNRanks()) +
                                        " MPI ranks; proteus-flows can");
        }
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
            options->modelFolder = m_workloads + "/models";
        }
        CommandLineText repetition("on");
        Time joinGrid;
        if (SendsPackets())
        {
            command.StartGroup("Packets");
            command.AddValue("repetition",
                             "what becomes of a communication that has been executed before, from "
                             "the same state: on: it gets the same results without being executed; "
                             "verify: it is executed, and a difference ends the run; off",
                             repetition);
            command.AddValue("joinGrid",
                             "kernels of collectives start at the next multiple of this time, so "
                             "that more of them are equal to one before; 0: at any time",
                             joinGrid);
        }
        if (!command.Parse(arguments, std::cout))
        {
            return;
        }
        if (ProgramOptions* options = GetRunOptions())
        {
            options->information.configuration = command.GetConfiguration();
            options->nccl.SetDefaults();
        }
        SetRepetition(repetition, joinGrid);
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
