/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-notes.h"

#include "proteus-same-choices.h"
#include "proteus-unused-choices.h"
#include "proteus-unused-network.h"

#include "ns3/proteus-breakdown.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Who hears, or null.
RunNotes* g_notes = nullptr;

/// In the place of an executor: what is heard is of jobs.
const char* const OF_JOBS = "";

/// @param configuration options, as they were typed @param traits of an executor that has run
/// @param graph that was run @param timeline of the run
/// @return a line if GPUs were to share nothing, and there was nothing to share
std::vector<std::string>
FindUnusedSharing(const Configuration& configuration,
                  const ExecutorTraits& traits,
                  const ExecutionGraph& graph,
                  const Timeline& timeline)
{
    if (!traits.sharesGpus || FindTyped(configuration, "gpuSharing") != "off")
    {
        return {};
    }
    const auto devices = BreakDown(graph, timeline);
    if (std::any_of(devices.begin(), devices.end(), [](const DeviceBreakdown& device) {
            return device.overlapPs > 0;
        }))
    {
        return {};
    }
    return {"--gpuSharing=off has no effect: no kernel runs beside communication"};
}

} // namespace

RunNotes::RunNotes(TypedNetwork typed)
    : m_typed(std::move(typed)),
      m_before(g_notes)
{
    g_notes = this;
}

RunNotes::~RunNotes()
{
    g_notes = m_before;
}

void
RunNotes::Hear(const ProgramOptions& options,
               const Executor& executor,
               const ExecutorSettings& settings,
               const Cluster& cluster,
               const ExecutionGraph& graph,
               RunRecord& record)
{
    if (record.isPartial)
    {
        return;
    }
    const ExecutorTraits& traits = executor.GetTraits();
    const TypedNetwork typed{
        options.fabric.GetOptions(),
        options.information.configuration,
        options.information.notes,
        [&options](const FabricOptions& fabric) { return options.BuildCluster(fabric); }};
    std::vector<std::string> lines = FindUnusedOptions(typed, traits, cluster, record.links);
    for (const auto& more :
         {FindUnusedServers(typed.configuration, cluster, graph),
          FindUnusedChoices(typed, traits, settings, cluster, graph),
          FindUnusedSharing(typed.configuration, traits, graph, record.timeline)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    if (Honours(traits, "Algorithm"))
    {
        const CollectiveSettings& wanted = settings.collectives;
        for (const std::string& line :
             FindUnlikeNccl(wanted.algorithm, wanted.protocol, wanted.ncclVersion))
        {
            lines.push_back(line);
        }
    }
    for (std::string& line : lines)
    {
        line = traits.name + ": " + line; // another executor may know more
    }
    record.notes.insert(record.notes.begin(), lines.begin(), lines.end());
    for (const auto& more : {ListIgnoredSettings(traits, settings),
                             ListIdleSettings(traits, settings, cluster, record.crossed)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    Note(traits.name, lines);
}

void
RunNotes::HearPackets(const ExecutorSettings& settings,
                      const Cluster& cluster,
                      const std::vector<LinkStatistics>& links)
{
    const ExecutorTraits& traits = FindExecutor("packet").GetTraits();
    if (g_notes == nullptr)
    {
        return;
    }
    std::vector<std::string> lines = FindUnusedOptions(g_notes->m_typed, traits, cluster, links);
    for (const std::string& line :
         ListIdleSettings(traits, settings, cluster, FindCrossedLinks(links)))
    {
        lines.push_back(line);
    }
    Note(traits.name, lines);
}

void
RunNotes::Note(const std::string& executor, const std::vector<std::string>& lines)
{
    if (g_notes == nullptr)
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    Heard& heard = g_notes->m_heard[executor];
    ++heard.runs;
    for (const std::string& line : std::set<std::string>(lines.begin(), lines.end()))
    {
        ++heard.of[line];
    }
}

void
RunNotes::HearMemory(bool fits)
{
    Note(OF_JOBS,
         fits ? std::vector<std::string>{"--ignoreMemory has no effect: the job fits into memory"}
              : std::vector<std::string>());
}

std::vector<std::string>
RunNotes::List() const
{
    std::vector<std::string> lines = ListOfJobs();
    const std::lock_guard<std::mutex> lock(m_mutex);
    for (const auto& [executor, heard] : m_heard)
    {
        if (executor != OF_JOBS)
        {
            heard.AddCommonTo(lines);
        }
    }
    return lines;
}

std::vector<std::string>
RunNotes::ListOfJobs() const
{
    std::vector<std::string> lines;
    const std::lock_guard<std::mutex> lock(m_mutex);
    const auto heard = m_heard.find(OF_JOBS);
    if (heard != m_heard.end())
    {
        heard->second.AddCommonTo(lines);
    }
    return lines;
}

std::vector<std::string>
RunNotes::FindOfJobs()
{
    return g_notes ? g_notes->ListOfJobs() : std::vector<std::string>();
}

void
RunNotes::Heard::AddCommonTo(std::vector<std::string>& lines) const
{
    for (const auto& [line, times] : of)
    {
        if (times == runs)
        {
            lines.push_back(line);
        }
    }
}

} // namespace proteus
} // namespace ns3
