/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-run.h"

#include "proteus-executors.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-scenario-notes.h"

#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-executor-packet.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-job-composition.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-scenario-idle.h"
#include "ns3/proteus-scenario-json.h"
#include "ns3/proteus-scenario-parts.h"
#include "ns3/proteus-scenario-report.h"
#include "ns3/proteus-warning.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12;

/// @param job a neighbour that is a model @param options of the program @return as it is compiled
ModelOptions
MakeModelOptions(const ScenarioJob& job, const ProgramOptions& options)
{
    ModelOptions model;
    model.model = job.model;
    model.strategy = job.strategy;
    model.variables = job.variables;
    model.folder = options.framework.workloads + "/models";
    return model;
}

/// @param job a neighbour @param options of the program @param cluster to run on
/// @return all iterations of the job
ExecutionGraph
LoadNeighbour(const ScenarioJob& job, const ProgramOptions& options, const Cluster& cluster)
{
    std::vector<CarriedDependency> carried;
    ExecutionGraph graph;
    if (!job.graph.empty())
    {
        graph = LoadGraph(job.graph);
    }
    else
    {
        const ModelOptions model = MakeModelOptions(job, options);
        const auto [plan, framework] = options.framework.LoadPlan(
            cluster,
            options.launchInterval,
            [&](const FrameworkDefaults& defaults) { return model.Load(defaults); });
        graph = CompileForCluster(plan, cluster, framework, "", &carried);
        options.CheckMemory(graph, cluster);
    }
    return RepeatGraph(graph, carried, job.iterations, CrossIteration::BARRIER).graph;
}

/// @param options with a scenario @param cluster whose vertices it names @return the scenario
Scenario
LoadScenario(const ProgramOptions& options, const Cluster& cluster)
{
    InputFile file(options.scenario);
    if (options.scenarioSet.empty())
    {
        return ReadScenarioJson(file.GetStream(), options.scenario, cluster);
    }
    std::istringstream changed(
        ChangeScenarioJson(file.GetStream(), options.scenario, options.scenarioSet));
    return ReadScenarioJson(changed, options.scenario, cluster);
}

/// Runs the jobs of a scenario, together and alone.
class ScenarioRunner
{
  public:
    ScenarioRunner(const ProgramOptions& options,
                   const Cluster& cluster,
                   const ExecutionGraph& graph,
                   const std::vector<CarriedDependency>* carried)
        : m_options(options),
          m_cluster(cluster),
          m_ranked(cluster),
          m_scenario(LoadScenario(options, cluster))
    {
        LoadJobs(graph, carried);
        Place();
        CheckCutsAtOnce();
    }

    /// Runs all executors, prints and writes what came out. @param dataType as RunScenario()
    void Run(DataType dataType)
    {
        ReportedRun run{m_composed.graph, m_ranked, dataType, m_options.information, {}};
        AddRunInput(m_options.scenario, run.information);
        for (const std::string& executor : m_options.ListExecutors())
        {
            run.results.push_back(RunOne(executor, dataType));
        }
        AddOptionNotes(run, m_options.results);
        m_options.results.Write(run, {MakeJobTable(m_jobs), MakeTrafficTable(m_traffic)});
        PrintScenario(m_jobs, m_traffic, std::cout);
    }

  private:
    /**
     * @param place in the scenario's file, or empty
     * @param make what a mistake there keeps from being made
     * @return what it makes
     * @throw std::invalid_argument that says which file and where
     */
    template <class Make>
    auto InFile(const std::string& place, const Make& make) const
    {
        try
        {
            return make();
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument(m_options.scenario + ": " + place + error.what());
        }
    }

    /// Loads the graphs of all jobs.
    void LoadJobs(const ExecutionGraph& graph, const std::vector<CarriedDependency>* carried)
    {
        m_scenario.job.iterations = ToCount(m_options.communication.iterations, "iterations", 1);
        ScheduledJob job = m_options.communication.Prepare(graph, carried);
        m_startControl = job.run.startControl;
        if (m_startControl && (!m_scenario.jobs.empty() || m_scenario.job.startPs > 0))
        {
            throw std::invalid_argument(
                "--communicationSchedule: in a scenario with several jobs, or a job that starts "
                "later, communications keep the order of their streams: leave it out");
        }
        m_specs.push_back(m_scenario.job);
        m_graphs.push_back(std::move(job.run.graph));
        for (std::size_t i = 0; i < m_scenario.jobs.size(); ++i)
        {
            const ScenarioJob& spec = m_scenario.jobs[i];
            m_specs.push_back(spec);
            m_graphs.push_back(InFile("/jobs/" + std::to_string(i) + ": ",
                                      [&] { return LoadNeighbour(spec, m_options, m_cluster); }));
            NameIdleKeys(i);
        }
    }

    /// Names, as warnings, keys of a neighbour's strategy that change nothing; of neighbours that
    /// are compiled alike those of the first. @param number of the neighbour
    void NameIdleKeys(std::size_t number) const
    {
        const ScenarioJob& job = m_scenario.jobs[number];
        const auto end = m_scenario.jobs.begin() + static_cast<std::ptrdiff_t>(number);
        const auto isLike = [&job](const ScenarioJob& other) {
            return other.model == job.model && other.strategy == job.strategy &&
                   other.variables == job.variables;
        };
        if (job.model.empty() || std::any_of(m_scenario.jobs.begin(), end, isLike))
        {
            return;
        }
        for (const std::string& key :
             MakeModelOptions(job, m_options).FindIdle(m_options.framework, m_options.FindGpu()))
        {
            Warn(m_options.scenario + ": /jobs/" + std::to_string(number) + "/strategy: " + key +
                 " has no effect: the job is the same without it");
        }
    }

    /// Gives the jobs their GPUs, and makes one graph of all.
    void Place()
    {
        std::vector<PlacementRequest> requests;
        std::vector<JobGraph> jobs;
        for (std::size_t i = 0; i < m_specs.size(); ++i)
        {
            requests.push_back({m_specs[i].name, m_graphs[i].GetNDevices(), m_specs[i].placement});
            jobs.push_back({&m_graphs[i], m_specs[i].name, m_specs[i].startPs});
        }
        m_places = InFile("", [&] { return PlaceJobs(m_cluster, requests, m_scenario.seed); });
        for (const std::string& line :
             FindIdlePlacements(m_cluster, requests, m_scenario.seed, m_places))
        {
            Warn(m_options.scenario + ": " + line);
        }
        std::vector<VertexId> gpus;
        for (const auto& place : m_places)
        {
            gpus.insert(gpus.end(), place.begin(), place.end());
        }
        m_ranked.RankGpus(gpus);
        m_composed = ComposeJobs(jobs);
    }

    /// @param job position of a job @return the cluster, whose first ranks are its devices
    Cluster RankFor(std::size_t job) const
    {
        Cluster own = m_cluster;
        own.RankGpus(m_places[job]);
        return own;
    }

    /// @param executor that runs it @param job position of a job @return its time alone
    int64_t RunAlone(const std::string& executor, std::size_t job) const
    {
        ProgramOptions options = m_options;
        options.scenarioPlan = nullptr;
        options.traces = PacketTraceOptions();
        options.results = ResultOptions();
        options.startControl = job == 0 ? m_startControl : nullptr;
        options.runName = m_specs[job].name + " alone";
        return RunExecutor(options, executor, RankFor(job), m_graphs[job], std::cout)
            .timeline.endPs;
    }

    /// @param executor that runs all jobs @param dataType as RunScenario() @return its record
    RunRecord RunOne(const std::string& executor, DataType dataType)
    {
        std::vector<std::optional<int64_t>> alonePs(m_specs.size());
        for (std::size_t i = 0; i < m_specs.size(); ++i)
        {
            if (m_scenario.comparesAlone || (i == 0 && m_scenario.NeedsAlone()))
            {
                alonePs[i] = RunAlone(executor, i);
            }
        }
        const uint32_t nDevices = m_composed.graph.GetNDevices();
        const int64_t firstPs = alonePs[0].value_or(0);
        const Scenario kept = LeaveOutLateCuts(firstPs);
        const auto plan = std::make_shared<const ScenarioPlan>(
            InFile("", [&] { return MakeScenarioPlan(kept, m_ranked, nDevices, firstPs); }));
        ProgramOptions options = m_options;
        options.scenarioPlan = plan;
        options.startControl = m_startControl;
        options.runName = m_specs.size() > 1 ? "all jobs" : "scenario";
        RunRecord record = RunExecutor(options, executor, m_ranked, m_composed.graph, std::cout);
        CheckCutsAreLate(kept, firstPs, record);
        ScenarioNotes(m_scenario, m_options.scenario, m_ranked, m_composed.graph)
            .AddTo(record, firstPs);
        for (std::size_t i = 0; i < m_specs.size(); ++i)
        {
            m_jobs.push_back(Examine(record, i, alonePs[i], dataType));
        }
        m_traffic.push_back({executor, *plan, record.traffic});
        return record;
    }

    /// @param event any @return whether links fail for good
    static bool IsForGood(const ScenarioEvent& event)
    {
        return event.kind == ScenarioEvent::Kind::DOWN && !event.until;
    }

    /// @param scenario any @param alonePs time of the first job alone
    /// @throw std::invalid_argument if its failures keep jobs from ending
    void CheckCuts(const Scenario& scenario, int64_t alonePs) const
    {
        const uint32_t nDevices = m_composed.graph.GetNDevices();
        const std::string cut = FindCutOff(
            InFile("", [&] { return MakeScenarioPlan(scenario, m_ranked, nDevices, alonePs); }),
            m_ranked,
            nDevices);
        if (!cut.empty())
        {
            throw std::invalid_argument(m_options.scenario +
                                        ": failures that are never repaired cut " + cut +
                                        " off from each other, and the jobs would never end: add "
                                        "'until'");
        }
    }

    /// Refuses, before anything runs, failures for good that begin before the first job can end.
    void CheckCutsAtOnce() const
    {
        constexpr int64_t ANY_PS = 1000000;
        Scenario early = m_scenario;
        early.events.clear();
        for (const ScenarioEvent& event : m_scenario.events)
        {
            const bool isEarly = event.at.isShare ? event.at.share < 1 : event.at.ps == 0;
            if (IsForGood(event) && isEarly)
            {
                early.events.push_back(event);
            }
        }
        CheckCuts(early, ANY_PS);
    }

    /// @param alonePs time of the first job alone, 0: not known
    /// @return the scenario, if its failures cut jobs off without those for good that begin when
    /// the first job would have ended: the run tells whether all have by then
    /// @throw std::invalid_argument as CheckCuts()
    Scenario LeaveOutLateCuts(int64_t alonePs) const
    {
        Scenario kept = m_scenario;
        try
        {
            CheckCuts(kept, alonePs);
        }
        catch (const std::invalid_argument&)
        {
            const auto isLate = [alonePs](const ScenarioEvent& event) {
                return IsForGood(event) && alonePs > 0 && event.at.Resolve(alonePs) >= alonePs;
            };
            kept.events.erase(std::remove_if(kept.events.begin(), kept.events.end(), isLate),
                              kept.events.end());
            CheckCuts(kept, alonePs);
        }
        return kept;
    }

    /// @param kept what of the scenario was run @param alonePs time of the first job alone
    /// @param record of the run @throw std::invalid_argument if something was left out that begins
    /// before all jobs have ended
    void CheckCutsAreLate(const Scenario& kept, int64_t alonePs, const RunRecord& record) const
    {
        const bool isEarly = std::any_of(m_scenario.events.begin(),
                                         m_scenario.events.end(),
                                         [&](const ScenarioEvent& event) {
                                             return IsForGood(event) && event.at.Resolve(alonePs) <
                                                                            record.timeline.endPs;
                                         });
        if (kept.events.size() < m_scenario.events.size() && isEarly)
        {
            CheckCuts(m_scenario, alonePs);
        }
    }

    /// @return what became of a job
    JobOutcome Examine(const RunRecord& record,
                       std::size_t job,
                       std::optional<int64_t> alonePs,
                       DataType dataType) const
    {
        const JobPart& part = m_composed.parts[job];
        RunRecord own;
        own.executor = record.executor;
        own.timeline = ExtractTimeline(record.timeline, part);
        JobOutcome outcome;
        outcome.executor = record.executor;
        outcome.name = m_specs[job].name;
        std::set<int32_t> servers;
        for (const VertexId gpu : m_places[job])
        {
            servers.insert(m_cluster.GetVertices()[gpu].server);
        }
        outcome.servers = static_cast<uint32_t>(servers.size());
        outcome.iterations = m_specs[job].iterations;
        outcome.startS = static_cast<double>(part.startPs) * PS;
        if (alonePs && m_scenario.comparesAlone)
        {
            outcome.aloneS = static_cast<double>(*alonePs) * PS;
        }
        outcome.summary = Analyze(m_graphs[job], RankFor(job), own, dataType).summary;
        return outcome;
    }

    const ProgramOptions& m_options;
    const Cluster& m_cluster;
    Cluster m_ranked; //!< whose first ranks are the devices of all jobs
    Scenario m_scenario;
    std::vector<ScenarioJob> m_specs;            //!< all jobs
    std::vector<ExecutionGraph> m_graphs;        //!< of each
    std::vector<std::vector<VertexId>> m_places; //!< of each
    std::function<std::unique_ptr<StartControl>(const ExecutionGraph&, Clock&)> m_startControl;
    ComposedJobs m_composed;
    std::vector<JobOutcome> m_jobs;        //!< of all executors
    std::vector<TrafficOutcome> m_traffic; //!< of all executors
};

/// @param scenario to run by packets
/// @throw std::invalid_argument that names traffic of a class that the network does not have
void
RequireClasses(const Scenario& scenario)
{
    const uint64_t classes =
        ReadDefault<UintegerValue>(Fabric::GetTypeId(), "TrafficClasses").Get();
    for (std::size_t i = 0; i < scenario.traffic.size(); ++i)
    {
        const uint32_t wanted = scenario.traffic[i].pattern.trafficClass;
        if (wanted >= classes)
        {
            throw std::invalid_argument(
                "/traffic/" + std::to_string(i) + "/traffic_class: is " + std::to_string(wanted) +
                ", but the last class of the network is " + std::to_string(classes - 1) +
                "; add --ns3::proteus::Fabric::TrafficClasses=" + std::to_string(wanted + 1));
        }
    }
}

} // namespace

void
CheckScenario(const ProgramOptions& options, const Cluster& cluster)
{
    if (options.scenario.empty())
    {
        return;
    }
    const Scenario scenario = LoadScenario(options, cluster);
    ReadNamed(options.scenario, [&]() {
        const std::vector<std::string> executors = options.ListExecutors();
        if (HasExecutor(executors, [](const ExecutorTraits& traits) { return traits.hasPackets; }))
        {
            RequireClasses(scenario);
        }
        const auto nGpus = static_cast<uint32_t>(cluster.GetGpus().size());
        // When things happen may be known only once the job has run alone; what happens is known.
        constexpr int64_t ANY_ALONE_PS = 1000000000000;
        ScenarioPlan plan;
        try
        {
            plan = MakeScenarioPlan(scenario,
                                    cluster,
                                    nGpus,
                                    scenario.NeedsAlone() ? ANY_ALONE_PS : 0);
        }
        catch (const std::invalid_argument&)
        {
            if (scenario.NeedsAlone())
            {
                return; // it may be wrong of this time only; the run makes the plan again
            }
            throw;
        }
        RequireRanks(plan);
        for (const std::string& name : executors)
        {
            RequireParts(plan, name, FindExecutor(name).GetTraits().scenarioParts);
        }
    });
}

bool
HasNeighbours(const ProgramOptions& options, const Cluster& cluster)
{
    return !options.scenario.empty() && !LoadScenario(options, cluster).jobs.empty();
}

void
RunScenario(const ProgramOptions& options,
            const Cluster& cluster,
            const ExecutionGraph& graph,
            DataType dataType,
            const std::vector<CarriedDependency>* carried)
{
    ScenarioRunner(options, cluster, graph, carried).Run(dataType);
}

} // namespace proteus
} // namespace ns3
