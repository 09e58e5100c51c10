/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_OPTIONS_H
#define PROTEUS_SCHEDULE_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-scheduled-run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

struct RunRecord;

/// @ingroup proteus
/// A graph as often as it runs, with its communications as a policy wants them.
struct ScheduledJob
{
    RepeatedGraph repeated; //!< before the policy
    ScheduledRun run;       //!< what executors run
};

/// @ingroup proteus
/// @return names of the policies with their descriptions, for help
std::string DescribeSchedulingPolicies();

/**
 * @ingroup proteus
 * @param executors names of executors
 * @param wish what is asked of them, as it was typed
 * @throw std::invalid_argument if one of them does not run streams in order (ExecutorTraits::
 * hasStreams), so that it cannot do that
 */
void RequireStreams(const std::vector<std::string>& executors, const std::string& wish);

/// @ingroup proteus
/// Options about iterations, and about the order of communications.
struct ScheduleOptions
{
    CommandLineText schedule{"arrival"};   //!< for ParseScheduleSettings(), or a file .json for
                                           //!< ReadScheduleJson()
    int64_t iterations{1};                 //!< how often the graph runs
    std::string crossIteration{"barrier"}; //!< what an iteration waits for of the one before

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @return the policy and its settings
    /// @throw std::invalid_argument that says what is wrong
    ScheduleSettings ReadSettings() const;

    /// @throw std::invalid_argument that names a wrong option
    void Check() const;

    /// @return whether a graph has to be changed at all
    bool IsUsed() const;

    /**
     * @param graph one iteration
     * @param carried what its tasks need of the iteration before; null: that is not known
     * @return what executors run
     * @throw std::invalid_argument if iterations are to wait tensor by tensor and it is not known
     * for what, and as Check()
     */
    ScheduledJob Prepare(const ExecutionGraph& graph,
                         const std::vector<CarriedDependency>* carried) const;

    /// @param job that Prepare() made @param record of a run of it
    /// @return lines about options that turned out to change nothing in the run
    std::vector<std::string> FindUnused(const ScheduledJob& job, const RunRecord& record) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_OPTIONS_H
