/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_ROWS_H
#define PROTEUS_SCHEDULE_ROWS_H

#include "proteus-schedule-charts.h"
#include "proteus-schedule-table.h"
#include "proteus-schedule-trials.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-parameter-servers.h"

#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The job of proteus-schedule, and what it takes under each policy.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A job and how often it runs.
struct RepeatedJob
{
    Cluster cluster;                         //!< where it runs
    RepeatedGraph repeated;                  //!< all of its iterations
    ScheduledWork work;                      //!< of an iteration
    std::vector<std::string> notes;          //!< on its kernels
    std::optional<ParameterServers> servers; //!< that communications go to by steps
    std::vector<std::string> idle;           //!< options that it has no use for, and why
};

/// @ingroup proteus
/// What came out.
struct ScheduleOutcome
{
    std::vector<ScheduleResult> rows;     //!< of the table
    std::optional<ScheduleSearch> search; //!< of the first executor
};

/**
 * @ingroup proteus
 * Compiles the job: every gradient alone, every parameter updated when its gradient is reduced,
 * where the strategy allows that.
 * @param options of the user
 * @return the job
 * @throw std::exception if it cannot be compiled or does not fit into memory
 */
RepeatedJob MakeRepeatedJob(const ScheduleTrialOptions& options);

/**
 * @ingroup proteus
 * Runs every policy by every executor, and the search.
 * @param options of the user
 * @param job to run
 * @param executors that run it
 * @param trials to run
 * @param outcome that is added to
 * @throw RunStopped if a signal comes; the rows until then are there
 */
void RunAll(const ScheduleTrialOptions& options,
            const RepeatedJob& job,
            const std::vector<std::string>& executors,
            const std::vector<ScheduleTrial>& trials,
            ScheduleOutcome& outcome);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_ROWS_H
