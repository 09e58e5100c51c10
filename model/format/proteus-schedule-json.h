/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_JSON_H
#define PROTEUS_SCHEDULE_JSON_H

#include "ns3/proteus-communication-scheduler.h"
#include "ns3/proteus-tuner.h"

#include <istream>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Settings of communication scheduling as JSON, and the search that found them.
 *
 * One object with format "proteus-schedule", version 1, policy, [partBytes: communications stay
 * whole], [creditBytes: without limit], [bucketBytes 25000000], [kinds ["data"]], [messagePs 0],
 * [serial false]
 * and, of a file that a search wrote, [search]: method, seed and trials, a list of objects with
 * partBytes, creditBytes and iterationS. A reader of settings passes over the search.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How settings were found.
struct ScheduleSearch
{
    std::string method; //!< of GetTunerMethods()
    uint64_t seed{0};   //!< of the search
    TunerResult result; //!< values are the sizes of a part and of the credit, costs seconds
};

/**
 * @ingroup proteus
 * @param settings to write
 * @param search that found them, or null
 * @param output where to
 */
void WriteScheduleJson(const ScheduleSettings& settings,
                       const ScheduleSearch* search,
                       std::ostream& output);

/**
 * @ingroup proteus
 * @param input the text
 * @param fileName for errors
 * @return the settings
 * @throw std::invalid_argument of one line that says where the file is wrong, and as
 * CheckScheduleSettings()
 */
ScheduleSettings ReadScheduleJson(std::istream& input, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_JSON_H
