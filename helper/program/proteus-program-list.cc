/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-list.h"

#include "proteus-cluster-program.h"
#include "proteus-option-values.h"
#include "proteus-programs.h"

#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

const std::map<std::string, ProgramMaker>&
GetPrograms()
{
    static const std::map<std::string, ProgramMaker> programs{
        {"proteus-calibrate", MakeCalibrateProgram},
        {"proteus-cluster", MakeClusterProgram},
        {"proteus-collective", MakeNcclTestsProgram},
        {"proteus-compile", MakeCompileProgram},
        {"proteus-evaluate", MakeEvaluateProgram},
        {"proteus-fabrics", MakeFabricsProgram},
        {"proteus-flows", MakeFlowsProgram},
        {"proteus-gpt3", MakeGpt3Program},
        {"proteus-run", MakeRunInputProgram},
        {"proteus-schedule", MakeScheduleProgram},
        {"proteus-search", MakeSearchProgram},
        {"proteus-validate", MakeValidateProgram}};
    return programs;
}

std::unique_ptr<CommandLineProgram>
MakeProgram(const std::string& name, const std::string& workloads)
{
    const auto place = GetPrograms().find(name);
    if (place == GetPrograms().end())
    {
        std::vector<std::string> names;
        for (const auto& [known, maker] : GetPrograms())
        {
            names.push_back(known);
        }
        throw std::invalid_argument("there is no program '" + name + "': " + Suggest(name, names));
    }
    return place->second(workloads);
}

} // namespace proteus
} // namespace ns3
