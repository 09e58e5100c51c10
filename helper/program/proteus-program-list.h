/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_LIST_H
#define PROTEUS_PROGRAM_LIST_H

#include "proteus-command-line-program.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Makes a program. @param workloads the folder workloads/ @return it
using ProgramMaker = std::function<std::unique_ptr<CommandLineProgram>(const std::string&)>;

/// @ingroup proteus
/// @return the programs that a study may run, by name, e.g. "proteus-run"
const std::map<std::string, ProgramMaker>& GetPrograms();

/**
 * @ingroup proteus
 * @param name of a program
 * @param workloads the folder workloads/
 * @return it
 * @throw std::invalid_argument that says which was meant, or which there are
 */
std::unique_ptr<CommandLineProgram> MakeProgram(const std::string& name,
                                                const std::string& workloads);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_LIST_H
