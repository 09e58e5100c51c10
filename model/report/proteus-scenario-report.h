/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_REPORT_H
#define PROTEUS_SCENARIO_REPORT_H

#include "proteus-summary.h"
#include "proteus-table.h"

#include "ns3/proteus-scenario.h"
#include "ns3/proteus-traffic-record.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a scenario did to its jobs, and how its traffic fared.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A job of a scenario after a run.
struct JobOutcome
{
    std::string executor;         //!< who ran it
    std::string name;             //!< of the job
    uint32_t servers{0};          //!< that its GPUs are in
    uint32_t iterations{1};       //!< that it had
    double startS{0};             //!< when it began
    std::optional<double> aloneS; //!< how long it takes alone on the same GPUs, if that was run
    Summary summary;              //!< of its own part of the run; iterationS is its time
};

/// @ingroup proteus
/// @param jobs after a run @return a row per executor and job
Table MakeJobTable(const std::vector<JobOutcome>& jobs);

/// @ingroup proteus
/// What a run of an executor did with the traffic of a plan.
struct TrafficOutcome
{
    std::string executor;               //!< who ran it
    ScenarioPlan plan;                  //!< with the patterns
    std::vector<TrafficRecord> traffic; //!< their messages
};

/// @ingroup proteus
/// @param runs by executor @return a row per executor and pattern
Table MakeTrafficTable(const std::vector<TrafficOutcome>& runs);

/**
 * @ingroup proteus
 * Prints both tables as text, those that have rows.
 * @param jobs as MakeJobTable()
 * @param runs as MakeTrafficTable()
 * @param out where to
 */
void PrintScenario(const std::vector<JobOutcome>& jobs,
                   const std::vector<TrafficOutcome>& runs,
                   std::ostream& out);

/**
 * @ingroup proteus
 * Adds rows of tables to a summary: a list by the table's name, of those of one executor.
 * @param summary as WriteSummaryJson() writes it
 * @param tables that have a column "executor"
 * @param executor of the summary
 * @return the summary with them
 */
std::string AddToSummary(const std::string& summary,
                         const std::vector<Table>& tables,
                         const std::string& executor);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_REPORT_H
