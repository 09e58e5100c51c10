/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RUN_ANALYSIS_H
#define PROTEUS_RUN_ANALYSIS_H

#include "proteus-breakdown.h"
#include "proteus-hot-spots.h"
#include "proteus-iteration-use.h"
#include "proteus-link-use.h"
#include "proteus-phase-use.h"
#include "proteus-run-information.h"
#include "proteus-summary.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * All that follows from the executions of a graph, derived once, for all reports alike.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// All that a report is made from.
struct ReportedRun
{
    const ExecutionGraph& graph;       //!< that was executed
    const Cluster& cluster;            //!< that it ran on
    DataType dataType{DataType::BF16}; //!< whose peak the utilisation refers to
    RunInformation information;        //!< how it came about
    std::vector<RunRecord> results;    //!< at least one; by executor
    /// by PhaseId: which iteration of several, from 0; empty: the graph is one
    std::vector<uint32_t> iterationOf{};
};

/// @ingroup proteus
/// What follows from one execution of a graph.
struct RunAnalysis
{
    std::vector<DeviceBreakdown> breakdowns; //!< by device, of the steady iteration of several
    IterationAccount iterations;             //!< of several; empty for one, and where the run was
                                             //!< stopped
    std::vector<PhaseUse> phases;            //!< those that have tasks, in the order of the graph
    std::vector<LinkUse> links;              //!< that carried something, busiest first
    std::vector<HotSpot> hotSpots;           //!< worst first, 50 at most
    Summary summary;                         //!< the numbers of the run, and its collectives
};

/// @ingroup proteus
/// A run and what follows from it.
struct AnalyzedRun
{
    const ReportedRun& run;            //!< what was run; must outlive this object
    std::vector<RunAnalysis> analyses; //!< one for each of its results, in their order
};

/**
 * @ingroup proteus
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param result of the execution
 * @param dataType whose peak rate the model FLOP utilisation refers to
 * @param iterationOf ReportedRun::iterationOf
 * @return what follows
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, the timeline
 * is not one of the graph, a link is not one of the cluster, or a GPU has no data sheet
 */
RunAnalysis Analyze(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const RunRecord& result,
                    DataType dataType,
                    const std::vector<uint32_t>& iterationOf = {});

/**
 * @ingroup proteus
 * @param run to analyze; must outlive what is returned
 * @return the run, and what follows from each of its results
 * @throw std::invalid_argument as the other Analyze(), or if there is no result
 */
AnalyzedRun Analyze(const ReportedRun& run);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RUN_ANALYSIS_H
