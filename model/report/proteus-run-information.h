/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_INFORMATION_H
#define PROTEUS_RUN_INFORMATION_H

#include "ns3/proteus-recording.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How a result came about: the command, the files that it read, the versions.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A file that a run has read, or a folder of files.
struct RunInput
{
    std::string path;  //!< as given
    uint32_t files{1}; //!< in the folder
    uint64_t bytes{0}; //!< its size
    uint32_t crc32{0}; //!< checksum (as of gzip) of its content
};

/// @ingroup proteus
/// Options of a program, by name, that repeat a run: what was typed or read by --config, but for
/// files to write.
using Configuration = std::vector<std::pair<std::string, std::string>>;

/// @ingroup proteus
/// How a result came about.
struct RunInformation
{
    std::string program;            //!< name
    std::string command;            //!< as one types it, ./ns3 run "PROGRAM --OPTION=VALUE ..."
    Configuration configuration;    //!< what --config would have to say
    std::vector<RunInput> inputs;   //!< what was read
    std::string version;            //!< of proteus
    std::string ns3Version;         //!< of ns-3, e.g. "3.37"
    std::vector<std::string> notes; //!< on options: given in vain, or what they changed
    Recording recording;            //!< what the trace that was run says of its own run
};

/**
 * @ingroup proteus
 * @param arguments those of main(), the program first
 * @param inputOptions names of the options whose values may be files or folders that are read
 * @return how the run came about
 */
RunInformation DescribeRun(const std::vector<std::string>& arguments,
                           const std::set<std::string>& inputOptions);

/**
 * @ingroup proteus
 * @param arguments those of main(), the program first
 * @return the command that starts the program by the launcher
 */
std::string MakeLauncherCommand(const std::vector<std::string>& arguments);

/**
 * @ingroup proteus
 * Adds what a run reads.
 * @param path of a file, or of a folder, of which all files count in the order of their names;
 * nothing is added if it is neither or cannot be read
 * @param information to add it to
 */
void AddRunInput(const std::string& path, RunInformation& information);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_INFORMATION_H
