/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"

#include "ns3/nstime.h"

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

int
CommandLineProgram::Main(int argc, char* argv[])
{
    CommandLine command(GetName() + ".cc"); // as ns-3 takes __FILE__
    AddTo(command);
    if (ProgramOptions* options = GetRunOptions())
    {
        options->Parse(command, argc, argv);
    }
    else
    {
        command.Parse(argc, argv);
    }
    return RunProgram(GetName(), [this]() { Run(); });
}

} // namespace proteus
} // namespace ns3
