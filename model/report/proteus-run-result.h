/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_RESULT_H
#define PROTEUS_RUN_RESULT_H

#include "proteus-link-series.h"

#include "ns3/proteus-channel-span.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What one execution of a graph leaves behind, for all reports alike.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One execution of a graph by one of the executors.
struct RunResult
{
    std::string executor{"packet"};    //!< who ran it, e.g. "packet"
    Timeline timeline;                 //!< what happened on the devices
    std::vector<LinkStatistics> links; //!< what each direction carried
    NetworkStatistics network;         //!< work of the simulator
    LinkSeries series;                 //!< links over time; may be empty
    std::vector<ChannelSpan> channels; //!< may be empty
    double wallS{0};                   //!< time that the simulation took
};

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
/// How a result came about.
struct RunInformation
{
    std::string program;          //!< name
    std::string command;          //!< as typed, quoted for a POSIX shell
    std::vector<RunInput> inputs; //!< what was read
    std::string version;          //!< of proteus
    std::string ns3Version;       //!< of ns-3, e.g. "3.37"
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
 * Adds what a run reads.
 * @param path of a file, or of a folder, of which all files count in the order of their names;
 * nothing is added if it is neither or cannot be read
 * @param information to add it to
 */
void AddRunInput(const std::string& path, RunInformation& information);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_RESULT_H
