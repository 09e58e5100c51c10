/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-evaluation.h"

#include "proteus-executors.h"
#include "proteus-host-waits.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-graph-part.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-plan-reduction.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

Json
ToJson(const SearchRun& run)
{
    Json object;
    object["seconds"] = run.seconds;
    object["mfu"] = run.modelFlopUtilisation;
    object["peak_memory_bytes"] = run.peakMemoryBytes;
    object["compute_s"] = run.mean.computeS;
    object["waiting_for_peers_s"] = run.mean.waitingForPeersS;
    object["bubble_s"] = run.mean.bubbleS;
    object["host_s"] = run.mean.hostS;
    object["idle_s"] = run.mean.idleS;
    object["exposed_s"] = run.mean.exposedS;
    object["failure"] = run.failure;
    return object;
}

/// @param json what ToJson() wrote @return the run
SearchRun
FromJson(const JsonValue& json)
{
    json.AllowKeys("a run",
                   {"seconds",
                    "mfu",
                    "peak_memory_bytes",
                    "compute_s",
                    "waiting_for_peers_s",
                    "bubble_s",
                    "host_s",
                    "idle_s",
                    "exposed_s",
                    "failure"});
    constexpr double MOST = std::numeric_limits<double>::infinity();
    constexpr double LEAST = -1e-6; // of what is a difference of times
    SearchRun run;
    run.seconds = json.Get("seconds").AsNumber(0, MOST);
    run.modelFlopUtilisation = json.Get("mfu").AsNumber(0, MOST);
    run.peakMemoryBytes = json.Get("peak_memory_bytes").AsUnsigned(0, UINT64_MAX);
    run.mean.computeS = json.Get("compute_s").AsNumber(LEAST, MOST);
    run.mean.waitingForPeersS = json.Get("waiting_for_peers_s").AsNumber(LEAST, MOST);
    run.mean.bubbleS = json.Get("bubble_s").AsNumber(LEAST, MOST);
    run.mean.hostS = json.Get("host_s").AsNumber(LEAST, MOST);
    run.mean.idleS = json.Get("idle_s").AsNumber(LEAST, MOST);
    const JsonValue exposed = json.Get("exposed_s");
    if (exposed.Size() != run.mean.exposedS.size())
    {
        exposed.Fail("must have " + std::to_string(run.mean.exposedS.size()) + " numbers");
    }
    for (std::size_t i = 0; i < exposed.Size(); ++i)
    {
        run.mean.exposedS[i] = exposed.At(i).AsNumber(LEAST, MOST);
        run.mean.exposedCommunicationS += run.mean.exposedS[i];
    }
    run.failure = json.Get("failure").AsString();
    return run;
}

/// @return whether two GPUs of a server send through the same NIC
bool
SharesNics(const Cluster& cluster)
{
    std::set<VertexId> nics;
    return std::any_of(cluster.GetGpus().begin(), cluster.GetGpus().end(), [&](VertexId gpu) {
        return !nics.insert(cluster.GetNic(gpu)).second;
    });
}

std::optional<double>
GetSeconds(const SearchRun& run)
{
    return run.failure.empty() ? std::optional<double>(run.seconds) : std::nullopt;
}

/// What a log calls a strategy. A plan in its short form says all of itself; a file, and layouts
/// that were found, may be others under the same name.
/// @param candidate a strategy @return its name in a log
std::string
GetLogName(const SearchCandidate& candidate)
{
    if (candidate.plan || !candidate.write)
    {
        return candidate.strategy;
    }
    std::ostringstream content;
    candidate.write(content);
    return candidate.strategy + ", content " + Digest(content.str());
}

/// @param bytes that a plan needs on a GPU @return why it is not run
std::string
DescribeMisfit(uint64_t bytes)
{
    return "does not fit: needs " + FormatBytes(static_cast<double>(bytes));
}

} // namespace

SearchEvaluation::SearchEvaluation(const ProgramOptions& options,
                                   const Cluster& cluster,
                                   uint64_t memoryBytes,
                                   const std::string& log,
                                   const std::string& subject)
    : m_options(options),
      m_cluster(cluster),
      m_memoryBytes(memoryBytes),
      m_settings(MakeExecutorSettings(options)),
      m_flow(FindExecutor("flow")),
      m_sharesNics(cluster.GetNServers() > 1 && SharesNics(cluster))
{
    if (!log.empty())
    {
        ReadLog(log, subject);
    }
}

/// A line that says what is searched, and one for every result.
void
SearchEvaluation::ReadLog(const std::string& path, const std::string& subject)
{
    std::error_code none; // a name that cannot be looked at is said when it is written
    const auto status = std::filesystem::status(path, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    {
        throw std::invalid_argument("--log=" + path + ": is no regular file");
    }
    std::ifstream input(path);
    std::size_t number = 0;
    for (std::string line; std::getline(input, line);)
    {
        std::istringstream text(line);
        const std::string place = "--log=" + path + ':' + std::to_string(++number);
        const JsonDocument document(text, place);
        const JsonValue json = document.GetRoot();
        if (number > 1)
        {
            json.AllowKeys("a result", {"rung", "strategy", "run"});
            m_known[{json.Get("rung").AsString(), json.Get("strategy").AsString()}] =
                FromJson(json.Get("run"));
            continue;
        }
        json.AllowKeys("the first line of a search's log", {"search"});
        const std::string& other = json.Get("search").AsString();
        if (other != subject)
        {
            throw std::invalid_argument("--log=" + path + ": is of another search (" + other +
                                        "), this one is of " + subject + "; take another file");
        }
    }
    m_log.open(path, std::ios::app);
    m_logPath = path;
    if (number == 0)
    {
        m_log << Json{{"search", subject}}.dump() << std::endl;
    }
    if (!m_log)
    {
        throw std::invalid_argument("--log=" + path +
                                    ": cannot be written: " + std::strerror(errno));
    }
}

bool
SearchEvaluation::Recall(const std::string& rung, const SearchCandidate& candidate, SearchRun& run)
{
    const std::string strategy = GetLogName(candidate);
    const std::lock_guard<std::mutex> lock(m_mutex);
    const auto found = m_known.find({rung, strategy});
    if (found == m_known.end())
    {
        return false;
    }
    run = found->second;
    return true;
}

void
SearchEvaluation::Remember(const std::string& rung,
                           const SearchCandidate& candidate,
                           const SearchRun& run)
{
    const std::string strategy = GetLogName(candidate);
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_known[{rung, strategy}] = run;
    if (m_log.is_open())
    {
        m_log << Json{{"rung", rung}, {"strategy", strategy}, {"run", ToJson(run)}}.dump()
              << std::endl;
        RequireWritten(m_log, m_logPath);
    }
}

Framework
SearchEvaluation::LoadFramework(const Model& model) const
{
    return m_options.framework.Load(m_cluster.GetVertices()[m_cluster.GetGpus().at(0)].model,
                                    model,
                                    nullptr, // the same one for all plans
                                    m_options.launchInterval);
}

ExecutionGraph
SearchEvaluation::Compile(const TrainingPlan& plan) const
{
    return CompileForCluster(plan, m_cluster, LoadFramework(plan.model), "");
}

SearchRun
SearchEvaluation::Measure(const ExecutionGraph& graph,
                          const Timeline& timeline,
                          DataType dataType,
                          uint64_t accountedBytes) const
{
    RunRecord record;
    record.timeline = timeline;
    const Summary summary = Analyze(graph, m_cluster, record, dataType).summary;
    SearchRun run;
    run.seconds = summary.iterationS;
    run.modelFlopUtilisation = summary.modelFlopUtilisation;
    run.peakMemoryBytes = std::max(accountedBytes, summary.peakMemoryBytes);
    run.mean = summary.mean;
    if (run.peakMemoryBytes > m_memoryBytes)
    {
        run.failure = DescribeMisfit(run.peakMemoryBytes);
    }
    return run;
}

std::optional<double>
SearchEvaluation::RunFlows(SearchCandidate& candidate)
{
    SearchRun& run = candidate.flow;
    if (Recall("flow", candidate, run))
    {
        return GetSeconds(run);
    }
    try
    {
        const TrainingPlan plan = candidate.make();
        const Framework framework = LoadFramework(plan.model);
        const ExecutionGraph graph = CompileForCluster(plan, m_cluster, framework, "");
        const std::vector<MemoryAccount> accounts = AccountMemory(graph);
        const uint64_t peak = accounts[FindFullest(accounts)].peakBytes;
        if (peak > m_memoryBytes)
        {
            run.peakMemoryBytes = peak;
            run.failure = DescribeMisfit(peak);
        }
        else
        {
            SignalObserver observer;
            RunRecord flow = m_flow.Run(graph, m_cluster, m_settings, &observer);
            RequireWhole(flow);
            std::vector<std::string> expected;
            m_options.NotePublishedErrors(framework, m_cluster, expected);
            NoteBalancedExperts(plan.model, graph, expected);
            NoteHostWaits(graph, framework.name, expected);
            RunNotes::HearExpected(expected);
            RunNotes::Hear(m_options, m_flow, m_settings, m_cluster, graph, flow);
            run = Measure(graph, flow.timeline, plan.tree.precision.compute, peak);
        }
    }
    catch (const std::invalid_argument& error)
    {
        run.failure = std::string("does not compile: ") + error.what();
    }
    Remember("flow", candidate, run);
    return GetSeconds(run);
}

std::unique_ptr<Paths>
SearchEvaluation::TakePaths()
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_paths.empty())
    {
        return std::make_unique<Paths>(m_cluster);
    }
    std::unique_ptr<Paths> paths = std::move(m_paths.back());
    m_paths.pop_back();
    return paths;
}

std::optional<double>
SearchEvaluation::RunReduced(SearchCandidate& candidate)
{
    SearchRun& run = candidate.reduced;
    if (Recall("reduced", candidate, run))
    {
        return GetSeconds(run);
    }
    run = candidate.job.estimate;
    try
    {
        ExecutionGraph graph = Compile(candidate.job.make());
        if (!m_sharesNics)
        {
            graph = KeepDevices(graph, FindRepresentatives(candidate.job.plan));
        }
        std::unique_ptr<Paths> paths = TakePaths();
        const FlowRun flow =
            RunFlow(graph,
                    m_cluster,
                    *paths,
                    m_settings.runtime,
                    MakeFlowParameters(m_settings, false),
                    m_settings.collectives,
                    FlowRung::FLOW,
                    [](uint64_t, uint64_t, int64_t) { return !StopSignals::Obey(); });
        RunRecord record;
        record.isPartial = flow.isPartial;
        RequireWhole(record);
        run.seconds = 1e-12 * static_cast<double>(flow.timeline.endPs) * candidate.job.scale;
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_paths.push_back(std::move(paths));
    }
    catch (const std::invalid_argument& error)
    {
        run.failure = std::string("does not compile: ") + error.what();
    }
    Remember("reduced", candidate, run);
    return GetSeconds(run);
}

std::optional<double>
SearchEvaluation::RunPackets(SearchCandidate& candidate)
{
    SearchRun& run = candidate.packet;
    if (Recall("packet", candidate, run))
    {
        return GetSeconds(run);
    }
    const TrainingPlan plan = candidate.make();
    const ExecutionGraph graph = Compile(plan);
    const RunRecord record = RunWhole(m_options, "packet", m_cluster, graph, std::cout);
    run = Measure(graph,
                  record.timeline,
                  plan.tree.precision.compute,
                  candidate.flow.peakMemoryBytes);
    Remember("packet", candidate, run);
    return GetSeconds(run);
}

} // namespace proteus
} // namespace ns3
