/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JOB_COMPOSITION_H
#define PROTEUS_JOB_COMPOSITION_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Several jobs as one graph, so that whatever runs a graph runs them all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A job that is to run beside others.
struct JobGraph
{
    const ExecutionGraph* graph{nullptr}; //!< what it does
    std::string name;                     //!< distinct
    int64_t startPs{0};                   //!< when it begins
};

/// @ingroup proteus
/// Where a job is in the graph of all.
struct JobPart
{
    DeviceId firstDevice{0}; //!< its device 0; the others follow
    uint32_t nDevices{0};    //!< how many it has
    TaskId firstTask{0};     //!< its task 0; the others follow
    uint32_t nTasks{0};      //!< how many it has
    int64_t startPs{0};      //!< when it begins
};

/// @ingroup proteus
/// Several jobs as one graph.
struct ComposedJobs
{
    ExecutionGraph graph;       //!< of all; devices and tasks job by job
    std::vector<JobPart> parts; //!< of each job
};

/**
 * @ingroup proteus
 * Makes one graph of several jobs. Its phases have the job in their names, "JOB/forward"; streams
 * of one name become one stream, since no two jobs share a device. A job that begins later waits on
 * each of its devices for a task of that length, on a stream "start" of the host. A single job that
 * begins at once stays as it is.
 * @param jobs at least one
 * @return the graph; its facts are the sums of those of the jobs
 * @throw std::invalid_argument if the graph becomes too large, a job has no graph, or begins before
 * time 0
 */
ComposedJobs ComposeJobs(const std::vector<JobGraph>& jobs);

/**
 * @ingroup proteus
 * @param timeline of the graph of all jobs
 * @param part a job
 * @return what happened on the job's devices, devices and tasks as in its own graph, times from its
 * start on
 */
Timeline ExtractTimeline(const Timeline& timeline, const JobPart& part);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JOB_COMPOSITION_H
