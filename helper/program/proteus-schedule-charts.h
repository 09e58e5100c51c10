/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_CHARTS_H
#define PROTEUS_SCHEDULE_CHARTS_H

#include "proteus-schedule-table.h"

#include "ns3/proteus-schedule-json.h"

#include <ostream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What stands above pictures of schedules.
struct ScheduleChartHead
{
    std::string model; //!< that is trained
    std::string where; //!< its strategy and cluster
    double boundS{0};  //!< least time between iterations, in seconds
};

/**
 * @ingroup proteus
 * Draws the table: a bar for each policy and executor, and the bound.
 * @param head above it
 * @param rows of the table
 * @param out where to, as SVG
 */
void DrawSchedules(const ScheduleChartHead& head,
                   const std::vector<ScheduleResult>& rows,
                   std::ostream& out);

/**
 * @ingroup proteus
 * Draws what a search has tried: times over partition and credit.
 * @param head above it
 * @param search with at least one trial
 * @param out where to, as SVG
 */
void DrawTrials(const ScheduleChartHead& head, const ScheduleSearch& search, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_CHARTS_H
