/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_PROGRAM_H
#define PROTEUS_RANK_PROGRAM_H

#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * RunProgram() of a program that mpirun or srun may have started as several processes. An error
 * ends all of them, and is said once: by the lowest rank that has it if all of them come to where
 * they wait for each other, and at once by any that fails while the others simulate.
 * @param program name for the message
 * @param argc of main()
 * @param argv of main()
 * @param body what the program does
 * @return the exit code
 */
int RunOnRanks(const std::string& program,
               int argc,
               char* argv[],
               const std::function<void()>& body);

/// @ingroup proteus
/// Each rank does as if all others did the same: what differs among them would end in whatever the
/// messages of another simulation do to one. All ranks have to call it.
/// @param what each line is one thing that has to be the same on all ranks, e.g. an argument
/// @throw std::invalid_argument on every rank, with the first line that differs
void RequireSameOnRanks(const std::vector<std::string>& what);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_PROGRAM_H
