/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-critical-path.h"
#include "proteus-device-rows.h"
#include "proteus-report-data.h"
#include "proteus-report-input.h"
#include "proteus-timeline-tracks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr int64_t PS_PER_NS = 1000;

/// @param task of a slice @return what its colour says
const char*
KindOf(const Task& task)
{
    return task.kind == TaskKind::COMPUTE ? "compute" : ToString(task.parallelism);
}

/// @return what a task does, more finely than KindOf(): a part of the iteration, or a collective
std::string
ClassOf(const ExecutionGraph& graph, const Task& task)
{
    if (task.kind != TaskKind::COMPUTE)
    {
        return ToString(task.collective);
    }
    const std::string& name = graph.GetName(task);
    const std::string again = ".recompute";
    if (name.find(again) != std::string::npos)
    {
        return "recomputation";
    }
    const std::string& phase = graph.GetPhases()[task.phase].name;
    for (const char* part : {"forward", "backward", "weight-gradient", "optimizer"})
    {
        if (phase.rfind(part, 0) == 0)
        {
            return part == std::string("weight-gradient") ? "backward" : part;
        }
    }
    return "other";
}

/// Turns the slices of a track into numbers.
class SliceWriter
{
  public:
    /// @param resolutionPs slices below it are drawn together
    SliceWriter(const ExecutionGraph& graph, const Sends& sends, int64_t resolutionPs)
        : m_graph(graph),
          m_sends(sends),
          m_resolutionPs(resolutionPs)
    {
    }

    /// @param track to write @return its slices
    Json Write(const TimelineTrack& track)
    {
        m_slices = Json::array();
        m_lastNs = 0;
        for (const Span* span : track.spans)
        {
            int64_t startPs = span->startPs;
            if (IsReceive(m_graph, *span))
            {
                startPs = std::max(startPs, m_sends.Find(*span).startPs); // posted before
            }
            Add(*span, startPs);
        }
        Flush();
        return std::move(m_slices);
    }

    /// @return all names so far, by index: name, kind and class
    Json GetNames() const
    {
        Json names = Json::array();
        for (const auto& [name, kind, part] : m_names)
        {
            names.push_back({name, kind, part});
        }
        return names;
    }

    /// @param task any @return index of its name
    std::size_t NameOf(const Task& task)
    {
        return FindName(m_graph.GetName(task), KindOf(task), ClassOf(m_graph, task));
    }

  private:
    /// Short slices of one part of the run.
    struct Pool
    {
        int64_t part{-1};
        int64_t startPs{0};
        int64_t endPs{0};
        uint32_t count{0};
        const Span* last{nullptr};
        std::map<std::pair<std::string, std::string>, int64_t> timePs; //!< by kind and class
    };

    void Add(const Span& span, int64_t startPs)
    {
        if (span.endPs - startPs >= m_resolutionPs)
        {
            Flush();
            Emit(startPs, span.endPs, NameOf(span), span.microBatch);
            return;
        }
        const int64_t part = startPs / m_resolutionPs;
        if (part != m_pool.part)
        {
            Flush();
            m_pool.part = part;
            m_pool.startPs = startPs;
        }
        m_pool.endPs = span.endPs;
        m_pool.last = &span;
        ++m_pool.count;
        const Task& task = m_graph.GetTask(span.task);
        m_pool.timePs[{KindOf(task), ClassOf(m_graph, task)}] += span.endPs - startPs;
    }

    void Flush()
    {
        if (m_pool.count == 1)
        {
            Emit(m_pool.startPs, m_pool.endPs, NameOf(*m_pool.last), m_pool.last->microBatch);
        }
        else if (m_pool.count > 1)
        {
            const auto most =
                std::max_element(m_pool.timePs.begin(),
                                 m_pool.timePs.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
            Emit(m_pool.startPs,
                 m_pool.endPs,
                 FindName(std::to_string(m_pool.count) + " short tasks",
                          most->first.first,
                          most->first.second),
                 m_pool.last->microBatch);
        }
        m_pool = Pool();
    }

    void Emit(int64_t startPs, int64_t endPs, std::size_t name, uint32_t microBatch)
    {
        const int64_t startNs = startPs / PS_PER_NS;
        const int64_t endNs = endPs / PS_PER_NS;
        for (int64_t number :
             {startNs - m_lastNs, endNs - startNs, static_cast<int64_t>(name), int64_t{microBatch}})
        {
            m_slices.push_back(number);
        }
        m_lastNs = endNs;
    }

    std::size_t NameOf(const Span& span)
    {
        return NameOf(m_graph.GetTask(span.task));
    }

    std::size_t FindName(const std::string& name, const std::string& kind, const std::string& part)
    {
        const auto [place, isNew] =
            m_index.emplace(std::make_tuple(name, kind, part), m_names.size());
        if (isNew)
        {
            m_names.emplace_back(name, kind, part);
        }
        return place->second;
    }

    const ExecutionGraph& m_graph;
    const Sends& m_sends;
    const int64_t m_resolutionPs;
    Json m_slices;
    int64_t m_lastNs{0};
    Pool m_pool;
    std::vector<std::tuple<std::string, std::string, std::string>> m_names;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> m_index;
};

/// @param run that is reported @param result of it @param rows of the picture
/// @param writer knows the names @return the critical path, four numbers for each step: row (-1:
/// none that is shown), name (-1: a wait), begin, length; steps in one row with one name are joined
Json
MakePathData(const ReportedRun& run,
             const RunRecord& result,
             const std::vector<AlikeDevices>& rows,
             SliceWriter& writer)
{
    std::vector<int64_t> rowOf(run.graph.GetNDevices(), -1);
    for (std::size_t row = 0; row < rows.size(); ++row)
    {
        for (const DeviceId device : rows[row].devices)
        {
            rowOf[device] = static_cast<int64_t>(row);
        }
    }
    Json path = Json::array();
    int64_t lastRow = -2;
    int64_t lastName = -2;
    for (const CriticalStep& step : FindCriticalPath(run.graph, result.timeline))
    {
        const int64_t row = rowOf[step.device];
        const int64_t name =
            step.isTask ? static_cast<int64_t>(writer.NameOf(run.graph.GetTask(step.task))) : -1;
        const int64_t startNs = step.startPs / PS_PER_NS;
        const int64_t endNs = step.endPs / PS_PER_NS;
        if (row == lastRow && name == lastName)
        {
            Json& length = path.back();
            length = endNs - path[path.size() - 2].get<int64_t>();
            continue;
        }
        path.push_back(row);
        path.push_back(name);
        path.push_back(startNs);
        path.push_back(endNs - startNs);
        lastRow = row;
        lastName = name;
    }
    return path;
}

/// @param graph with the phases @param spans of a track, in order of their begins
/// @param gapPs most picoseconds between two spans that are joined
/// @param classes parts of the iteration so far; gets those that are new
/// @return what is computed for which micro-batch, four numbers each: index of the class, of the
/// micro-batch, begin, length; spans of the same that follow each other are joined
Json
MakeBlocks(const ExecutionGraph& graph,
           const std::vector<const Span*>& spans,
           int64_t gapPs,
           std::vector<std::string>& classes)
{
    Json blocks = Json::array();
    std::string lastClass;
    uint32_t lastBatch = 0;
    int64_t lastPs = 0;
    for (const Span* span : spans)
    {
        const std::string part = ClassOf(graph, graph.GetTask(span->task));
        const bool goesOn = !blocks.empty() && part == lastClass && span->microBatch == lastBatch &&
                            span->startPs - lastPs <= gapPs;
        lastPs = span->endPs;
        if (goesOn)
        {
            Json& length = blocks.back();
            length = lastPs / PS_PER_NS - blocks[blocks.size() - 2].get<int64_t>();
            continue;
        }
        auto place = std::find(classes.begin(), classes.end(), part);
        place = place == classes.end() ? classes.insert(place, part) : place;
        lastClass = part;
        lastBatch = span->microBatch;
        for (const int64_t number : {static_cast<int64_t>(place - classes.begin()),
                                     int64_t{span->microBatch},
                                     span->startPs / PS_PER_NS,
                                     lastPs / PS_PER_NS - span->startPs / PS_PER_NS})
        {
            blocks.push_back(number);
        }
    }
    return blocks;
}

/// @return the computation of a device, in the order of its begins
std::vector<const Span*>
ListComputation(const ExecutionGraph& graph, const std::vector<TimelineTrack>& tracks)
{
    std::vector<const Span*> spans;
    for (const TimelineTrack& track : tracks)
    {
        for (const Span* span : track.spans)
        {
            if (graph.GetTask(span->task).kind == TaskKind::COMPUTE)
            {
                spans.push_back(span);
            }
        }
    }
    std::stable_sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) {
        return a->startPs < b->startPs;
    });
    return spans;
}

/// @return who is in a row, by server: "n0: gpu0 gpu1"; and what they are in the job
Json
DescribeRow(const ReportedRun& run,
            const TimelineTracks& tracks,
            const std::vector<DeviceRole>& roles,
            const AlikeDevices& row)
{
    std::set<uint32_t> stages;
    std::set<uint32_t> replicas;
    Json servers = Json::object();
    for (const DeviceId device : row.devices)
    {
        stages.insert(roles[device].stage);
        replicas.insert(roles[device].replica);
        const TimelinePlace& place = tracks.GetPlace(device);
        servers[tracks.GetProcesses()[place.process]].push_back(place.gpu);
    }
    const DeviceId first = row.devices.front();
    return {{"name", run.cluster.GetVertices()[run.cluster.GetGpus()[first]].name},
            {"device", first},
            {"count", row.devices.size()},
            {"difference_ns", row.differencePs / PS_PER_NS},
            {"stages", stages},
            {"replicas", replicas},
            {"servers", std::move(servers)}};
}

/// @return length below which slices are drawn together, picoseconds; 1: none
int64_t
FindResolution(const std::vector<std::vector<TimelineTrack>>& rows, int64_t endPs, std::size_t most)
{
    std::size_t nTracks = 0;
    std::size_t nSlices = 0;
    for (const auto& tracks : rows)
    {
        for (const TimelineTrack& track : tracks)
        {
            ++nTracks;
            nSlices += track.spans.size();
        }
    }
    if (nSlices <= most)
    {
        return 1;
    }
    // Of every part there are at most one short and one long slice.
    const auto parts = static_cast<int64_t>(std::max<std::size_t>(most / 2 / nTracks, 1));
    return std::max<int64_t>(endPs / parts, 1);
}

} // namespace

Json
MakeTimelineData(const ReportedRun& run, const RunRecord& result, const ReportLimits& limits)
{
    const Timeline& timeline = result.timeline;
    const TimelineTracks tracks(run.graph, run.cluster, timeline);
    const Sends sends(run.graph, timeline);
    const auto all = FindRows(run.graph, timeline);
    const auto rows = ChooseRows(all, limits.gpus);
    const auto roles = FindRoles(run.graph, timeline);
    std::vector<std::vector<TimelineTrack>> tracksOf;
    for (const AlikeDevices& row : rows)
    {
        tracksOf.push_back(tracks.MakeTracks(row.devices.front()));
    }
    const int64_t resolutionPs = FindResolution(tracksOf, timeline.endPs, limits.slices);
    constexpr int64_t BLOCK_PARTS = 100; // of the run, a gap in a block is shorter than one
    SliceWriter writer(run.graph, sends, resolutionPs);
    std::vector<std::string> classes;
    Json gpus = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        Json row = DescribeRow(run, tracks, roles, rows[i]);
        row["blocks"] = MakeBlocks(run.graph,
                                   ListComputation(run.graph, tracksOf[i]),
                                   timeline.endPs / BLOCK_PARTS,
                                   classes);
        row["tracks"] = Json::array();
        for (const TimelineTrack& track : tracksOf[i])
        {
            row["tracks"].push_back({{"name", track.name}, {"slices", writer.Write(track)}});
        }
        gpus.push_back(std::move(row));
    }
    Json path = MakePathData(run, result, rows, writer);
    return {{"end_ns", timeline.endPs / PS_PER_NS},
            {"devices", run.graph.GetNDevices()},
            {"rows", all.size()},
            {"merged_ns", resolutionPs > 1 ? resolutionPs / PS_PER_NS : 0},
            {"names", writer.GetNames()},
            {"classes", classes},
            {"path", std::move(path)},
            {"gpus", std::move(gpus)}};
}

} // namespace proteus
} // namespace ns3
