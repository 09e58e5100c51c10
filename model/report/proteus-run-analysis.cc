/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-analysis.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Sets beside the simulated times those that the trace has. @param recording of the trace
/// @param summary gets them
void
AddRecorded(const Recording& recording, Summary& summary)
{
    summary.recordedS = recording.lengthS;
    summary.isRecordedOneForAll = recording.isOneForAll;
    for (CollectiveUse& use : summary.collectives)
    {
        const auto same = std::find_if(recording.collectives.begin(),
                                       recording.collectives.end(),
                                       [&use](const RecordedCollective& it) {
                                           return it.collective == use.collective &&
                                                  it.parallelism == use.parallelism &&
                                                  it.bytes == use.bytes && it.ranks == use.ranks;
                                       });
        if (same != recording.collectives.end())
        {
            use.recordedMeanS = same->meanS;
            use.recordedLeastS = same->leastS;
        }
    }
}

} // namespace

RunAnalysis
Analyze(const ExecutionGraph& graph,
        const Cluster& cluster,
        const RunRecord& result,
        DataType dataType,
        const std::vector<uint32_t>& iterationOf)
{
    constexpr std::size_t MOST_HOT_SPOTS = 50;
    RunAnalysis analysis;
    const bool hasSeveral = !iterationOf.empty() && iterationOf.back() > 0 && !result.isPartial;
    if (hasSeveral)
    {
        analysis.iterations = AccountIterations(graph, iterationOf, result.timeline);
    }
    analysis.breakdowns =
        hasSeveral ? std::move(analysis.iterations.breakdowns) : BreakDown(graph, result.timeline);
    analysis.phases = SummarizePhases(graph, result.timeline);
    analysis.links = BusiestLinks(cluster,
                                  result.links,
                                  result.timeline.endPs,
                                  std::numeric_limits<std::size_t>::max());
    analysis.hotSpots = FindHotSpots(cluster, analysis.links, MOST_HOT_SPOTS);
    analysis.summary = Summarize(graph,
                                 cluster,
                                 result,
                                 dataType,
                                 {analysis.breakdowns,
                                  analysis.links,
                                  analysis.hotSpots,
                                  analysis.iterations.uses,
                                  hasSeveral ? iterationOf : std::vector<uint32_t>()});
    return analysis;
}

AnalyzedRun
Analyze(const ReportedRun& run)
{
    if (run.results.empty())
    {
        throw std::invalid_argument("report: there is no result");
    }
    AnalyzedRun analyzed{run, {}};
    for (const RunRecord& result : run.results)
    {
        analyzed.analyses.push_back(
            Analyze(run.graph, run.cluster, result, run.dataType, run.iterationOf));
        AddRecorded(run.information.recording, analyzed.analyses.back().summary);
    }
    return analyzed;
}

} // namespace proteus
} // namespace ns3
