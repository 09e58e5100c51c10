/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAMS_H
#define PROTEUS_PROGRAMS_H

#include "proteus-command-line-program.h"

#include <memory>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The programs of examples/, each in a file of its own, proteus-NAME-program.cc.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-calibrate: fits the flow network to the
/// packet network on a cluster
std::unique_ptr<CommandLineProgram> MakeCalibrateProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-collective: prints the table that
/// nccl-tests prints on the real machine
std::unique_ptr<CommandLineProgram> MakeNcclTestsProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-compile: compiles a model and a strategy,
/// and says what they communicate and how much memory they need
std::unique_ptr<CommandLineProgram> MakeCompileProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-evaluate: runs a list of workloads by
/// several executors, and says how far they are from the packet level
std::unique_ptr<CommandLineProgram> MakeEvaluateProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-fabrics: runs one training job on several
/// fabrics
std::unique_ptr<CommandLineProgram> MakeFabricsProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-flows: plays a list of flows with
/// dependencies
std::unique_ptr<CommandLineProgram> MakeFlowsProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-gpt3: one training iteration of a GPT-3
/// model
std::unique_ptr<CommandLineProgram> MakeGpt3Program(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-run: runs an execution graph, a trace, or
/// a model with a strategy
std::unique_ptr<CommandLineProgram> MakeRunInputProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-search: finds strategies for a model on a
/// cluster
std::unique_ptr<CommandLineProgram> MakeSearchProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-schedule: runs one training job with its
/// communication in the order of several policies
std::unique_ptr<CommandLineProgram> MakeScheduleProgram(const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @param executable path of the program that is running,
/// which is started again for every point @return proteus-study: runs a program at all points of a
/// study
std::unique_ptr<CommandLineProgram> MakeStudyProgram(const std::string& workloads,
                                                     const std::string& executable);

/// @ingroup proteus
/// The body of main() of proteus-study, which is all programs in one: with the name of a program as
/// its first argument it is that program. So a study's points are run by the same build.
/// @param argc of main() @param argv of main() @param workloads the folder workloads/
/// @return the exit code
int RunStudyMain(int argc, char* argv[], const std::string& workloads);

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-validate: simulates measured tables of
/// collectives, and says how far off that is
std::unique_ptr<CommandLineProgram> MakeValidateProgram(const std::string& workloads);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAMS_H
