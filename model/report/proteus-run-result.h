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
/// A file that a run has read.
struct RunInput
{
    std::string path;  //!< as given
    uint64_t bytes{0}; //!< its size
    uint32_t crc32{0}; //!< checksum (as of gzip) of its content
};

/// @ingroup proteus
/// How a result came about.
struct RunInformation
{
    std::string program;          //!< name
    std::string command;          //!< as typed, quoted for a POSIX shell
    std::vector<RunInput> inputs; //!< files that the command names and that were there before
    std::string version;          //!< of proteus
    std::string ns3Version;       //!< of ns-3, e.g. "3.37"
};

/**
 * @ingroup proteus
 * @param arguments those of main(), the program first
 * @return how the run came about: an argument --NAME=PATH, where PATH is a regular file, counts as
 * input; so call it before the run writes anything
 */
RunInformation DescribeRun(const std::vector<std::string>& arguments);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_RESULT_H
