/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_NOTES_H
#define PROTEUS_SCENARIO_NOTES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"
#include "ns3/proteus-scenario.h"

#include <cstdint>
#include <set>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What of a scenario has no effect in a run.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Names events and traffic of a scenario that change nothing in a run, or are not sent.
class ScenarioNotes
{
  public:
    /// @param scenario that was run @param file it is of
    /// @param cluster whose first ranks are the devices of all jobs @param graph of all jobs
    /// All must outlive this object.
    ScenarioNotes(const Scenario& scenario,
                  const std::string& file,
                  const Cluster& cluster,
                  const ExecutionGraph& graph)
        : m_scenario(scenario),
          m_file(file),
          m_ranked(cluster),
          m_graph(graph)
    {
    }

    /// @param record of the run, which gets the notes
    /// @param alonePs time of the first job alone, picoseconds; 0: not known
    void AddTo(RunRecord& record, int64_t alonePs) const
    {
        NoteTooLate(alonePs, record);
        NoteUnsentTraffic(alonePs, record);
        NoteIdleEvents(alonePs, record);
    }

  private:
    /// Names events and traffic that begin when all is over.
    /// @param alonePs time of the first job alone @param record gets the notes
    void NoteTooLate(int64_t alonePs, RunRecord& record) const;

    /// Names what traffic that has begun in time does not send. @param alonePs time of the first
    /// job alone @param record of the run, which gets the notes
    void NoteUnsentTraffic(int64_t alonePs, RunRecord& record) const;

    /// @param event that slows GPUs or hosts down @param alonePs time of the first job alone
    /// @param timeline of all jobs @return whether a compute task takes longer for it
    bool SlowsATask(const ScenarioEvent& event, int64_t alonePs, const Timeline& timeline) const;

    /// @param event of links @param record of the run @return whether it knows what links carried,
    /// and that event's ones nothing; of links that fail, without which others may carry more, that
    /// no link of the network carried anything
    bool IsUncrossed(const ScenarioEvent& event, const RunRecord& record) const;

    /// @param event of links @param busy GPUs of all jobs @return whether its links fail, and all
    /// end at servers that no job and no traffic is on: no path runs through those
    bool IsOfIdleServers(const ScenarioEvent& event, const std::set<VertexId>& busy) const;

    /// Names events that change nothing, those that slow GPUs down of which no job has one, and
    /// those that come to no task, among them.
    /// @param alonePs time of the first job alone @param record gets the notes
    void NoteIdleEvents(int64_t alonePs, RunRecord& record) const;

    const Scenario& m_scenario;
    const std::string& m_file;
    const Cluster& m_ranked;
    const ExecutionGraph& m_graph;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_NOTES_H
