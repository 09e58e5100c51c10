/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_RECORD_H
#define PROTEUS_RUN_RECORD_H

#include "proteus-channel-span.h"
#include "proteus-link-series.h"
#include "proteus-link-statistics.h"
#include "proteus-timeline.h"
#include "proteus-traffic-record.h"

#include <optional>
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
struct RunRecord
{
    std::string executor{"packet"};    //!< who ran it, e.g. "packet"
    Timeline timeline;                 //!< what happened on the devices
    std::vector<LinkStatistics> links; //!< what each direction carried
    /// Links that carried something, or that the communication comes to where the executor does not
    /// say what they carried; nothing if neither is known. Executor::Run() fills it in.
    std::optional<std::vector<LinkId>> crossed;
    NetworkStatistics network;          //!< work of the simulator
    LinkSeries series;                  //!< links over time; may be empty
    std::vector<ChannelSpan> channels;  //!< may be empty
    std::vector<TrafficRecord> traffic; //!< messages of a scenario's traffic, as they began
    double wallS{0};                    //!< time that the simulation took
    std::vector<std::string> notes;     //!< what was set and is not modelled, and what a reader of
                                        //!< the times should know, a sentence each
    bool isPartial{false};              //!< stopped before its end; the first note says where
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_RECORD_H
