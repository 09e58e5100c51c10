/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_TABLE_H
#define PROTEUS_SCHEDULE_TABLE_H

#include "ns3/proteus-communication-scheduler.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-table.h"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What came out for one policy.
struct ScheduleResult
{
    std::string executor;       //!< who ran it
    ScheduleSettings settings;  //!< the policy
    IterationTimes times;       //!< of the run
    std::optional<double> idle; //!< of the busiest direction of a link, share of the run; none
                                //!< where the executor records no links
    uint32_t wireClasses{0};    //!< traffic classes on the wire; 0: the sender alone decides
    bool hasOverlap{true}; //!< whether an iteration may have begun on a GPU before the last one
                           //!< had ended there
    double exposedS{0};    //!< of the steady iteration, in which bytes of a communication move and
                           //!< a GPU computes nothing, seconds; mean over the GPUs, see BreakDown()
};

/// @ingroup proteus
/// What a job is, whatever the policy.
struct ScheduledWork
{
    double boundS{0};        //!< least time between iterations, in seconds
    double computeS{0};      //!< kernels of an iteration alone, of the GPU with most
    WorkloadFacts iteration; //!< samples and tokens of an iteration
};

/**
 * @ingroup proteus
 * @param work that was scheduled
 * @param results executor by executor
 * @return the table, speed-ups over the first policy of each executor
 */
Table MakeScheduleTable(const ScheduledWork& work, const std::vector<ScheduleResult>& results);

/// @ingroup proteus
/// @param work that was scheduled @param results of it @return sentences on executors without links
/// by which iterations take less than the bound
std::vector<std::string> ListBelowBound(const ScheduledWork& work,
                                        const std::vector<ScheduleResult>& results);

/**
 * @ingroup proteus
 * Prints the table for people.
 * @param table made by MakeScheduleTable()
 * @param out where to
 */
void PrintScheduleTable(const Table& table, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_TABLE_H
