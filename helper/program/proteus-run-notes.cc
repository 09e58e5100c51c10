/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-notes.h"

#include "proteus-flow-expectation.h"
#include "proteus-same-choices.h"
#include "proteus-unused-cards.h"
#include "proteus-unused-choices.h"
#include "proteus-unused-network.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-compiler-streams.h"
#include "ns3/proteus-gpu-sharing.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-reached-links.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// Who hears, or null.
RunNotes* g_notes = nullptr;

/// In the place of an executor: what is heard is of jobs.
const char* const OF_JOBS = "";

/// @param configuration options, as they were typed @param name of one that is a number @return
/// whether it was typed, and is not 0
bool
IsTypedAbove0(const Configuration& configuration, const std::string& name)
{
    const std::string text = FindTyped(configuration, name);
    return !text.empty() && text.find_first_not_of("0.+") != std::string::npos;
}

/// @param graph that was run @param timeline of the run @return whether two communications were
/// under way at the same time
bool
HasCommunicationsAtOnce(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::map<TaskInstance, std::pair<int64_t, int64_t>> times;
    for (const Span& span : timeline.spans)
    {
        if (graph.GetTask(span.task).kind == TaskKind::COMMUNICATION)
        {
            const auto [found, isNew] =
                times.emplace(span.GetInstance(), std::make_pair(span.startPs, span.endPs));
            found->second.first = std::min(found->second.first, span.startPs);
            found->second.second = std::max(found->second.second, span.endPs);
        }
    }
    std::vector<std::pair<int64_t, int64_t>> sorted;
    for (const auto& [instance, time] : times)
    {
        sorted.push_back(time);
    }
    std::sort(sorted.begin(), sorted.end());
    int64_t end = std::numeric_limits<int64_t>::min();
    for (const auto& [from, to] : sorted)
    {
        if (from < end)
        {
            return true;
        }
        end = std::max(end, to);
    }
    return false;
}

/// @param configuration options, as they were typed @param traits of an executor that has run
/// @param graph that was run @param timeline of the run
/// @return lines about what was said of things that happen at the same time, where none did
std::vector<std::string>
FindUnusedSharing(const Configuration& configuration,
                  const ExecutorTraits& traits,
                  const ExecutionGraph& graph,
                  const Timeline& timeline)
{
    std::vector<std::string> ofKernels;
    if (traits.sharesGpus && FindTyped(configuration, "gpuSharing") == "off")
    {
        ofKernels.emplace_back("gpuSharing");
    }
    for (const char* name : {"computeSlowdown", "communicationSlowdown"})
    {
        if (traits.hasSlowdowns && IsTypedAbove0(configuration, name))
        {
            ofKernels.emplace_back(name);
        }
    }
    if (traits.hasOverlapFactor && !FindTyped(configuration, "overlapFactor").empty())
    {
        ofKernels.emplace_back("overlapFactor");
    }
    std::vector<std::string> lines;
    if (!ofKernels.empty())
    {
        const auto devices = BreakDown(graph, timeline);
        const bool isIdle =
            std::none_of(devices.begin(), devices.end(), [](const DeviceBreakdown& device) {
                return device.overlapPs > 0;
            });
        for (std::size_t i = 0; isIdle && i < ofKernels.size(); ++i)
        {
            lines.push_back("--" + ofKernels[i] + "=" + FindTyped(configuration, ofKernels[i]) +
                            " has no effect: no kernel runs beside communication");
        }
        if (!isIdle && ofKernels.front() == "gpuSharing")
        {
            const int64_t besidePs = std::accumulate(
                devices.begin(),
                devices.end(),
                int64_t{0},
                [](int64_t sum, const DeviceBreakdown& device) { return sum + device.overlapPs; });
            lines.push_back("--gpuSharing=off: kernels are beside communication for " +
                            FormatTime(static_cast<double>(besidePs) /
                                       static_cast<double>(devices.size()) / PS_PER_S) +
                            " on the mean GPU, and whether it would slow them is not looked at");
        }
    }
    if (traits.hasOverlapFactor && FindTyped(configuration, "linkSharing") == "off" &&
        !HasCommunicationsAtOnce(graph, timeline))
    {
        lines.emplace_back(
            "--linkSharing=off has no effect: no two communications are under way at "
            "the same time");
    }
    return lines;
}

/// @param graph that was run @param timeline of the run
/// @return a line about an input pipeline (dataSamplesPerS) that is done before the rest
std::vector<std::string>
FindIdleInput(const ExecutionGraph& graph, const Timeline& timeline)
{
    const auto& streams = graph.GetStreams();
    const auto found = std::find(streams.begin(),
                                 streams.end(),
                                 COMPILER_STREAMS.Get(CompilerStream::DATA_LOADING));
    if (found == streams.end())
    {
        return {};
    }
    const auto stream = static_cast<StreamId>(found - streams.begin());
    int64_t inputPs = -1;
    int64_t restPs = -1;
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const bool isInput = task.kind == TaskKind::COMPUTE && task.stream == stream;
        int64_t& endPs = isInput ? inputPs : restPs;
        endPs = std::max(endPs, span.endPs);
    }
    if (inputPs < 0 || inputPs >= restPs)
    {
        return {};
    }

    return {"dataSamplesPerS of the strategy has no effect: the input pipeline is done at " +
            FormatTime(static_cast<double>(inputPs) / PS_PER_S) + ", and the rest at " +
            FormatTime(static_cast<double>(restPs) / PS_PER_S)};
}

} // namespace

RunNotes::RunNotes(TypedNetwork typed, std::string workloads)
    : m_typed(std::move(typed)),
      m_workloads(std::move(workloads)),
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
    // Searches run in threads, and values of attributes count their users without a lock.
    static std::mutex attributes;
    const std::lock_guard<std::mutex> lock(attributes);
    const ExecutorTraits& traits = executor.GetTraits();
    const TypedNetwork typed{
        options.fabric.GetOptions(),
        options.information.configuration,
        options.information.notes,
        [&options](const FabricOptions& fabric) { return options.BuildCluster(fabric); },
        settings.scenario};
    std::optional<std::vector<LinkId>> crossed = record.crossed;
    if (!crossed && SaysNetwork(typed))
    {
        crossed = FindReachedLinks(graph, cluster);
    }
    std::vector<std::string> lines = FindUnusedOptions(typed, traits, cluster, record, crossed);
    for (const auto& more :
         {FindUnusedServers(typed, cluster, graph),
          FindUnusedChoices(typed, traits, settings, cluster, graph, record.timeline),
          FindUnusedCards(typed, traits, settings, cluster, graph),
          FindUnusedSharing(typed.configuration, traits, graph, record.timeline),
          FindIdleInput(graph, record.timeline)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    if (Honours(traits, "Algorithm"))
    {
        const auto unlike = FindUnlikeNccl(settings.collectives, options.nccl.ncclVersion, cluster);
        lines.insert(lines.end(), unlike.begin(), unlike.end());
    }
    for (std::string& line : lines)
    {
        line = traits.name + ": " + line; // another executor may know more
    }
    const std::vector<std::string> remarks = record.notes;
    record.notes.insert(record.notes.begin(), lines.begin(), lines.end());
    for (const auto& more : {ListIgnoredSettings(traits, settings),
                             ListIdleSettings(traits, settings, cluster, record.crossed)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    Note(traits.name, lines);
    NoteRemarks(traits.name, remarks);
    NoteLosses(traits.name, record.links, record.network);
    NoteSetting(traits.name, FindComparedSetting(cluster, record, settings.engine));
}

void
RunNotes::HearAlone(const std::string& executor,
                    const ExecutorSettings& settings,
                    const Cluster& cluster,
                    const ExecutionGraph* graph,
                    const RunRecord& record,
                    bool printsLosses)
{
    if (g_notes == nullptr)
    {
        return;
    }
    const ExecutorTraits& traits = FindExecutor(executor).GetTraits();
    std::vector<std::string> lines =
        FindUnusedOptions(g_notes->m_typed, traits, cluster, record, record.crossed);
    if (graph != nullptr)
    {
        const auto cards = FindUnusedCards(g_notes->m_typed, traits, settings, cluster, *graph);
        lines.insert(lines.end(), cards.begin(), cards.end());
    }
    for (const auto& more : {ListIgnoredSettings(traits, settings),
                             ListIdleSettings(traits, settings, cluster, record.crossed)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    Note(traits.name, lines);
    NoteRemarks(traits.name, record.notes);
    if (!printsLosses)
    {
        NoteLosses(traits.name, record.links, record.network);
    }
}

void
RunNotes::NoteRemarks(const std::string& executor, const std::vector<std::string>& notes)
{
    if (g_notes == nullptr)
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    Heard& heard = g_notes->m_heard[executor];
    for (const std::string& note : std::set<std::string>(notes.begin(), notes.end()))
    {
        // What kernels take beside communication is modelled, and part of every time.
        if (heard.of.count(note) > 0 || IsSharingNote(note))
        {
            continue;
        }
        heard.remarks.Add(note);
    }
}

void
RunNotes::HearExpected(const std::vector<std::string>& lines)
{
    if (g_notes == nullptr)
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    for (const std::string& line : lines)
    {
        g_notes->m_expected.Add(line);
    }
}

void
RunNotes::NoteSetting(const std::string& executor, const std::string& setting)
{
    if (g_notes == nullptr || setting.empty())
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    ++g_notes->m_heard[executor].settings[setting];
}

void
RunNotes::NoteLosses(const std::string& executor,
                     const std::vector<LinkStatistics>& links,
                     const NetworkStatistics& network)
{
    const LossAccount losses = SumLosses(links, network);
    if (g_notes == nullptr || IsLossless(losses))
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    Heard& heard = g_notes->m_heard[executor];
    ++heard.lossyRuns;
    AddTo(heard.losses, losses);
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
            heard.AddResultsTo(executor, lines);
        }
    }
    return lines;
}

std::vector<std::string>
RunNotes::ListExpected() const
{
    std::vector<std::string> lines;
    const std::lock_guard<std::mutex> lock(m_mutex);
    for (const auto& [line, jobs] : m_expected.List())
    {
        lines.push_back(line);
    }
    const bool hadPackets = std::any_of(m_heard.begin(), m_heard.end(), [](const auto& heard) {
        return heard.first != OF_JOBS && FindExecutor(heard.first).GetTraits().isExact;
    });
    for (const auto& [executor, heard] : m_heard)
    {
        if (!hadPackets)
        {
            heard.AddDistancesTo(executor, m_workloads, lines);
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

void
RunNotes::Heard::AddResultsTo(const std::string& executor, std::vector<std::string>& lines) const
{
    const std::string begin = executor + ": ";
    if (lossyRuns > 0)
    {
        lines.push_back(begin + DescribeCount(lossyRuns) +
                        "packets did not arrive, or were sent again: " + DescribeLosses(losses));
    }
    for (const auto& [remark, some] : remarks.List())
    {
        const bool isNamed = remark.compare(0, begin.size(), begin) == 0;
        lines.push_back(begin + DescribeCount(some) +
                        (isNamed ? remark.substr(begin.size()) : remark));
    }
}

void
RunNotes::Heard::AddDistancesTo(const std::string& executor,
                                const std::string& workloads,
                                std::vector<std::string>& lines) const
{
    std::map<std::string, uint32_t> distances; // settings may have the same
    for (const auto& [setting, some] : settings)
    {
        distances[DescribeFlowDistance(workloads, executor, "models", setting)] += some;
    }
    for (const auto& [line, some] : distances)
    {
        if (!line.empty())
        {
            lines.push_back(executor + ": " + DescribeCount(some) + line);
        }
    }
}

std::string
RunNotes::Heard::DescribeCount(uint32_t some) const
{
    return DescribePart(some, runs, "run");
}

std::string
DescribePart(uint64_t some, uint64_t all, const std::string& thing)
{
    return some == all ? "" : "in " + FormatCount(some) + " of " + FormatThings(all, thing) + ": ";
}

} // namespace proteus
} // namespace ns3
