/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-attribute-watch.h"
#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-model-options.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-schedule-charts.h"
#include "proteus-schedule-table.h"
#include "proteus-server-options.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-executor-packet.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-perfetto-trace.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/proteus-schedule-json.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-span-csv.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-tuner.h"
#include "ns3/proteus-whole-number.h"
#include "ns3/proteus-wire-classes.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One training job whose communication is scheduled by several policies.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// ByteScheduler's defaults with parameter servers: a million parameters, and four.
constexpr int64_t PARTITION_BYTES = 4000000;
constexpr int64_t CREDIT_BYTES = 16000000;
/// Where a search looks for them.
constexpr double LEAST_PARTITION_BYTES = 262144;
constexpr double MOST_PARTITION_BYTES = 1 << 27;
constexpr double LEAST_CREDIT_BYTES = 262144;
constexpr double MOST_CREDIT_BYTES = 1 << 29;
constexpr double STEP_BYTES = 65536;
constexpr double S_PER_PS = 1e-12;
/// Of a traffic class of a fabric (its attribute ClassWeights).
constexpr uint32_t MOST_WEIGHT = 1 << 16;

/// Where communications are put into order, by name.
constexpr const char* SENDER = "sender";
constexpr const char* WIRE = "wire";
constexpr const char* BOTH = "both";

/// What the user asked for; what ProgramOptions has beyond these options keeps its defaults.
struct Options : ProgramOptions
{
    Options()
    {
        executor = "flow";
    }

    ModelOptions model;
    std::string policies{"arrival,buckets,priority,p3,critical-path,fair"};
    int64_t partition{PARTITION_BYTES};
    int64_t credit{CREDIT_BYTES};
    double messageUs{0};
    bool serial{false};
    std::string priorityOn{SENDER};
    int64_t wireClasses{4};
    std::string wireWeights;
    int64_t iterations{4};
    std::string crossIteration{"tensor"};
    ServerOptions servers;
    bool tune{false};
    std::string method{"bayesian"};
    int64_t evaluations{TunerSettings().evaluations};
    int64_t seed{1};
    CommandLineText csv;
    TableOptions tables;
    PlotOption plot;
    CommandLineText save;
    CommandLineText timelines; //!< folder for those of all rows, if not empty
};

/// A job and how often it runs.
struct Job
{
    Cluster cluster;
    RepeatedGraph repeated;
    ScheduledWork work;                      //!< of an iteration
    std::vector<std::string> notes;          //!< on its kernels
    std::optional<ParameterServers> servers; //!< that communications go to by steps
};

using Row = ScheduleResult;

/// What came out.
struct Outcome
{
    std::vector<Row> rows;
    std::optional<ScheduleSearch> search; //!< of the first executor
};

/// @param text of a weight @return the number
uint32_t
ToWeight(const std::string& text)
{
    const uint32_t weight = ParseWholeNumber<uint32_t>(text).value_or(0);
    if (weight == 0 || weight > MOST_WEIGHT)
    {
        throw std::invalid_argument("--wireWeights=" + text + ": must be a number from 1 to " +
                                    std::to_string(MOST_WEIGHT) + " for each class");
    }
    return weight;
}

/// @param options of the user @param policy that orders or not @param place where it does
/// @return its settings; only what orders communications cuts them
ScheduleSettings
MakeSettings(const Options& options, const std::string& policy, const std::string& place = SENDER)
{
    ScheduleSettings settings;
    settings.policy = policy;
    if (FindSchedulingPolicy(policy).rank)
    {
        settings.partBytes = ToCount(options.partition, "partition", 1);
        settings.creditBytes = ToCount(options.credit, "credit", 1);
        settings.messagePs = static_cast<int64_t>(options.messageUs * 1e6);
        settings.isSerial = options.serial;
    }
    if (place == WIRE)
    {
        settings.creditBytes = CreditWindow::UNLIMITED;
    }
    CheckScheduleSettings(settings);
    return settings;
}

/// @param options of the user @return how the wire is shared
WireClasses
MakeWireClasses(const Options& options)
{
    WireClasses wire;
    wire.classes = ToCount(options.wireClasses, "wireClasses", 1);
    for (const std::string& weight : SplitList(options.wireWeights))
    {
        wire.weights.push_back(ToWeight(weight));
    }
    return wire;
}

/// @param options of the user @return whether some policy orders, or a search does
bool
OrdersAnything(const Options& options)
{
    const std::vector<std::string> policies = SplitList(options.policies);
    return options.tune ||
           std::any_of(policies.begin(), policies.end(), [](const std::string& policy) {
               return FindSchedulingPolicy(policy).rank != nullptr;
           });
}

/// @param options of the user @param places of --priorityOn @return whether something orders there
bool
OrdersOn(const Options& options, const std::set<std::string>& places)
{
    const std::vector<std::string> all = SplitList(options.priorityOn);
    return OrdersAnything(options) &&
           std::any_of(all.begin(), all.end(), [&places](const std::string& place) {
               return places.count(place) > 0;
           });
}

/// @param option of the command line @param text with names, each of which may stand there once
/// @return the names
/// @throw std::invalid_argument if one stands there twice
std::vector<std::string>
SplitOnce(const std::string& option, const std::string& text)
{
    const std::vector<std::string> names = SplitList(text);
    std::set<std::string> met;
    for (const std::string& name : names)
    {
        if (!met.insert(name).second)
        {
            throw std::invalid_argument("--" + option + "=" + text + ": " + name +
                                        " stands there twice");
        }
    }
    return names;
}

/// What is run.
struct Trial
{
    ScheduleSettings settings;
    std::optional<WireClasses> wire; //!< none: the sender alone decides
    std::string name;                //!< of its timeline; empty: it has none
};

/// @param options of the user @return every policy, at every place where it can put communications
/// into order
std::vector<Trial>
MakeTrials(const Options& options)
{
    const std::vector<std::string> places = SplitOnce("priorityOn", options.priorityOn);
    for (const std::string& place : places)
    {
        if (place != SENDER && place != WIRE && place != BOTH)
        {
            throw std::invalid_argument("--priorityOn=" + place +
                                        ": must be sender, wire or both, or several of them "
                                        "separated by commas");
        }
    }
    std::vector<Trial> all;
    for (const std::string& policy : SplitOnce("policies", options.policies))
    {
        if (!FindSchedulingPolicy(policy).rank)
        {
            all.push_back({MakeSettings(options, policy), {}, policy});
            continue;
        }
        for (const std::string& place : places)
        {
            all.push_back({MakeSettings(options, policy, place), {}, policy});
            if (place != SENDER)
            {
                all.back().wire = MakeWireClasses(options);
                all.back().name += "-" + place;
            }
        }
    }
    return all;
}

/// @param options of the user @param cluster where the job runs @return settings of executors
ExecutorSettings
MakeRunSettings(const Options& options, const Cluster& cluster)
{
    ExecutorSettings settings = MakeExecutorSettings(options);
    options.servers.ApplyTo(settings, cluster);
    return settings;
}

/// Compiles the job: every gradient alone, every parameter updated when its gradient is reduced,
/// where the strategy allows that.
Job
MakeJob(const Options& options)
{
    Job job{options.BuildCluster(), {}, {}, {}, {}};
    auto [plan, framework] = options.framework.LoadPlan(
        job.cluster,
        options.launchInterval,
        [&](const FrameworkDefaults& defaults) { return options.model.Load(defaults); });
    OptimizerSpec& optimizer = plan.tree.optimizer;
    const BucketPolicy buckets = std::exchange(plan.tree.gradients.policy, BucketPolicy::TENSOR);
    optimizer.isImmediate = optimizer.zero == 0 && !optimizer.isOffloaded;
    const bool wasFused = optimizer.isFused;
    optimizer.isFused = optimizer.isFused && !optimizer.isImmediate;
    if (buckets != BucketPolicy::TENSOR || wasFused != optimizer.isFused)
    {
        job.notes.push_back(
            std::string("every gradient is reduced alone") +
            (optimizer.isImmediate ? ", and then its parameter updated" : "") +
            ", for policies to order: buckets=" + ToString(buckets) +
            (wasFused != optimizer.isFused ? " and fusedOptimizer=true are" : " is") + " left out");
    }
    std::vector<CarriedDependency> carried;
    const ExecutionGraph graph = options.FitComputation(
        Compile(plan.model, plan.tree, job.cluster, framework, nullptr, &carried),
        job.notes);
    options.CheckMemory(graph, job.cluster);
    const RunRecord alone =
        FindExecutor("ideal").Run(graph, job.cluster, MakeExecutorSettings(options));
    std::vector<int64_t> timesPs = GetTaskTimes(graph, alone.timeline);
    if (options.servers.HasSteps())
    {
        job.servers = options.servers.AddHosts(job.cluster, graph.GetNDevices());
        options.servers.SetLeastTimes(graph, job.cluster, *job.servers, timesPs);
    }
    job.work = {FindLeastPeriodS(graph, carried, timesPs, ScheduleSettings().kinds),
                FindLeastPeriodS(graph, carried, timesPs, {}),
                graph.GetFacts()};
    job.repeated = RepeatGraph(graph,
                               carried,
                               ToCount(options.iterations, "iterations", 2),
                               CrossIterationFromString(options.crossIteration));
    return job;
}

/// Writes the timeline of a row, and its spans, if the user wants them.
/// @param run graph and @param record result of the row @param name of the files
void
WriteTimelines(const Options& options,
               const Job& job,
               const ScheduledRun& run,
               const RunRecord& record,
               const std::string& name)
{
    if (options.timelines.empty() || name.empty())
    {
        return;
    }
    const std::filesystem::path path = std::filesystem::path(options.timelines.c_str()) / name;
    WriteFile(path.string() + ".pftrace",
              [&](std::ostream& out) { WritePerfettoTrace(run.graph, job.cluster, record, out); });
    WriteCsvFile(path.string() + ".csv", [&](std::ostream& out) {
        WriteSpanCsv(run.graph, job.cluster, record.timeline, out);
    });
}

/// Runs a job under a policy.
Row
RunPolicy(const Options& options, const Job& job, const std::string& executor, const Trial& trial)
{
    const ScheduleSettings& settings = trial.settings;
    const ScheduledRun run = job.servers ? PrepareSchedule(job.repeated, settings, *job.servers)
                                         : PrepareSchedule(job.repeated.graph, settings);
    ExecutorSettings executorSettings = MakeRunSettings(options, job.cluster);
    executorSettings.runtime.startControl = run.startControl;
    SignalObserver observer;
    const RunRecord record =
        trial.wire
            ? RunPacketsByClass(run.graph,
                                job.cluster,
                                executorSettings,
                                MakeWirePriority(job.repeated, settings, *trial.wire),
                                &observer)
            : FindExecutor(executor).Run(run.graph, job.cluster, executorSettings, &observer);
    RequireWhole(record);
    WriteTimelines(options,
                   job,
                   run,
                   record,
                   trial.name.empty() ? "" : executor + "-" + trial.name);
    Row row{executor,
            settings,
            MeasureIterations(run.graph, job.repeated, record.timeline),
            0,
            trial.wire ? trial.wire->classes : 0};
    int64_t busyPs = 0;
    for (const LinkStatistics& link : record.links)
    {
        busyPs = std::max(busyPs, link.busyPs);
    }
    row.idle = 1 - static_cast<double>(busyPs) / static_cast<double>(record.timeline.endPs);
    return row;
}

/// Looks for the sizes of part and credit with the least steady time.
ScheduleSearch
Search(const Options& options, const Job& job, const std::string& executor)
{
    TunerDimension partition{"partition",
                             LEAST_PARTITION_BYTES,
                             MOST_PARTITION_BYTES,
                             true,
                             STEP_BYTES};
    TunerDimension credit{"credit", LEAST_CREDIT_BYTES, MOST_CREDIT_BYTES, true, STEP_BYTES};
    TunerSettings settings;
    settings.evaluations = ToCount(options.evaluations, "evaluations", 1);
    settings.seed = static_cast<uint64_t>(options.seed);
    ScheduleSearch search{options.method, settings.seed, {}};
    search.result = Tune(
        {partition, credit},
        [&](const std::vector<double>& values) {
            Options tried = options;
            tried.partition = static_cast<int64_t>(values[0]);
            tried.credit = static_cast<int64_t>(values[1]);
            const Row row =
                RunPolicy(options, job, executor, {MakeSettings(tried, "priority"), {}, {}});
            if (!options.quiet)
            {
                std::cerr << "partition " << tried.partition << " B, credit " << tried.credit
                          << " B: " << FormatTime(static_cast<double>(row.times.steadyPs) * 1e-12)
                          << '\n';
            }
            return static_cast<double>(row.times.steadyPs) * S_PER_PS;
        },
        options.method,
        settings);
    return search;
}

/// Runs priority with the best sizes that a search finds. @param outcome gets its row, and the
/// search if it is the first one, which then goes to a file, too
void
RunTuned(const Options& options, const Job& job, const std::string& executor, Outcome& outcome)
{
    const ScheduleSearch search = Search(options, job, executor);
    const TunerTrial& best = search.result.trials[search.result.best];
    Options tuned = options;
    tuned.partition = static_cast<int64_t>(best.values[0]);
    tuned.credit = static_cast<int64_t>(best.values[1]);
    const ScheduleSettings settings = MakeSettings(tuned, "priority");
    outcome.rows.push_back(RunPolicy(options, job, executor, {settings, {}, "tuned"}));
    if (outcome.search)
    {
        return;
    }
    outcome.search = search;
    if (!options.save.empty())
    {
        WriteFile(options.save,
                  [&](std::ostream& out) { WriteScheduleJson(settings, &search, out); });
    }
}

/// Runs every policy by every executor, and the search. @param outcome that is added to
/// @throw RunStopped if a signal comes; the rows until then are there
void
RunAll(const Options& options,
       const Job& job,
       const std::vector<std::string>& executors,
       const std::vector<Trial>& trials,
       Outcome& outcome)
{
    for (const std::string& executor : executors)
    {
        for (const Trial& trial : trials)
        {
            ThrowIfStopped();
            outcome.rows.push_back(RunPolicy(options, job, executor, trial));
        }
        if (options.tune)
        {
            RunTuned(options, job, executor, outcome);
        }
    }
}

/// @param options of the user @param trials to run @param executors that run them
/// @throw std::invalid_argument if some of them know no traffic classes
void
CheckWire(const Options& options,
          const std::vector<Trial>& trials,
          const std::vector<std::string>& executors)
{
    const bool isOnWire = std::any_of(trials.begin(), trials.end(), [](const Trial& trial) {
        return trial.wire.has_value();
    });
    if (!isOnWire)
    {
        return;
    }
    for (const std::string& executor : executors)
    {
        if (!FindExecutor(executor).GetTraits().isExact)
        {
            throw std::invalid_argument("--priorityOn=" + options.priorityOn + ": executor " +
                                        executor +
                                        " has no traffic classes; take --executor=packet");
        }
    }
    if (options.servers.HasSteps())
    {
        throw std::invalid_argument("--priorityOn=" + options.priorityOn +
                                    ": steps to servers on hosts of their own, or through the "
                                    "memory of hosts, are ordered by the sender alone; take "
                                    "--serverHosts=workers --hostAggregation=gpu");
    }
}

/// Runs all that was asked for.
void
CompareSchedules(const Options& options)
{
    for (const CommandLineText* path : {&options.csv, &options.save})
    {
        if (!path->empty())
        {
            CheckWritable(*path);
        }
    }
    options.tables.Check();
    options.plot.Check();
    if (!options.timelines.empty())
    {
        MakeFolder(options.timelines);
        CheckWritable((std::filesystem::path(options.timelines.c_str()) / "run.csv").string());
    }
    if (!options.save.empty() && !options.tune)
    {
        throw std::invalid_argument("--saveSchedule keeps what a search has found: add --tune");
    }
    options.Check();
    options.servers.Check(options.crossIteration);
    const std::vector<Trial> all = MakeTrials(options);
    const std::vector<std::string> executors =
        ParseExecutors(options.executor, options.htae, options.calibration);
    CheckWire(options, all, executors);
    RequireStreams(executors, "--policies=" + options.policies);
    const Job job = MakeJob(options);
    Outcome outcome;
    const std::vector<Row>& rows = outcome.rows;
    try
    {
        RunAll(options, job, executors, all, outcome);
    }
    catch (const RunStopped&)
    {
        if (rows.empty())
        {
            throw;
        }
    }
    const Table table = MakeScheduleTable(job.work, rows);
    PrintScheduleTable(table, std::cout);
    std::cout << DescribeStop(rows.size(),
                              executors.size() * (all.size() + (options.tune ? 1 : 0)),
                              "rows");
    std::cout << "\nIteration: median of those after the first of " << job.repeated.iterations
              << ". Bound: least time of any order, by the bandwidth of the links and the kernels "
                 "alone.\nExposed: of an iteration, in which the device with most kernels runs "
                 "none. Idle: the busiest direction of a link.\n";
    std::vector<std::string> notes = job.notes;
    const auto& idle = options.information.notes;
    notes.insert(notes.end(), idle.begin(), idle.end());
    const auto unread =
        FindIdleAttributes(options.information.configuration, AttributeReaders::EXECUTORS);
    notes.insert(notes.end(), unread.begin(), unread.end());
    for (const std::string& note : notes)
    {
        std::cout << "Note: " << note << '\n';
    }
    WriteCsvFile(options.csv, [&](std::ostream& out) { WriteTableCsv(table, out); });
    options.tables.Write({table, MakeNoteTable(notes)});
    options.plot.Write([&](std::ostream& out) {
        const ScheduleChartHead head{options.model.model,
                                     options.model.strategy + " on " + job.cluster.GetName(),
                                     job.work.boundS};
        if (outcome.search)
        {
            DrawTrials(head, *outcome.search, out);
            return;
        }
        DrawSchedules(head, rows, out);
    });
}

/// @return names of the methods of search, for help
std::string
DescribeMethods()
{
    std::string text;
    for (const std::string& method : GetTunerMethods())
    {
        text += (text.empty() ? "" : ", ") + method;
    }
    return text;
}

/// The program.
class ScheduleProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-schedule";
    }

    void AddTo(OptionList& command) override
    {
        m_options.model.folder = GetWorkloads() + "/models";
        command.Usage("Runs a training job several times over with its gradients in the order of "
                      "several policies\n(DDP's buckets, ByteScheduler, P3, ...), and prints how "
                      "long an iteration takes in the steady state,\nand how long it has to take "
                      "at least.");
        m_options.model.AddTo(command, m_options.framework, [this]() {
            return m_options.FindGpu();
        });
        m_options.AddClusterTo(command);
        m_options.AddTimeTo(command);
        command.AddValue("policies",
                         "orders of communication, separated by commas: " +
                             DescribeSchedulingPolicies(),
                         m_options.policies);
        command.AddValue("partition",
                         "bytes of a part, of the policies that order",
                         m_options.partition);
        command.AddValue("credit", "bytes under way, of the policy priority", m_options.credit);
        command.Add("messageUs",
                    "time from the decision of the rank that schedules until the others know, of "
                    "the policies that order, a time or microseconds",
                    OptionKind::MICROSECONDS,
                    m_options.messageUs);
        command.AddValue("serial",
                         "a device carries out one part after the other, as on one stream of NCCL, "
                         "of the policies that order; else those under way share the network",
                         m_options.serial);
        command.AddValue("priorityOn",
                         "where policies that order do so, one or several separated by commas: "
                         "sender (credit), wire (traffic classes of NICs and switches by packets; "
                         "all that is ready starts), both",
                         m_options.priorityOn);
        command.AddValue("wireClasses",
                         "traffic classes on the wire, 1 to 7, each for an equal share of the "
                         "bytes",
                         m_options.wireClasses);
        command.AddValue("wireWeights",
                         "weights of these classes, the most urgent first, separated by commas; "
                         "empty: strictly one after the other",
                         m_options.wireWeights);
        command.AddValue("iterations", "how often the job runs, at least 2", m_options.iterations);
        command.AddValue("crossIteration",
                         "what an iteration waits for of the one before: barrier (all of it) or "
                         "tensor (each operator for its own parameters)",
                         m_options.crossIteration);
        for (const char* name : {"partition", "credit", "messageUs", "serial", "priorityOn"})
        {
            command.AddIdle(name, [this] {
                return OrdersAnything(m_options) ? "" : "no policy of --policies orders anything";
            });
        }
        for (const char* name : {"wireClasses", "wireWeights"})
        {
            command.AddIdle(name, [this] {
                return OrdersOn(m_options, {WIRE, BOTH}) ? ""
                                                         : "nothing is put into order on the wire; "
                                                           "add --priorityOn=wire or both";
            });
        }
        command.AddIdle("credit", [this] {
            return OrdersOn(m_options, {SENDER, BOTH}) ? ""
                                                       : "on the wire all that is ready starts";
        });
        m_options.servers.AddTo(command);
        command.AddValue("tune",
                         "search the partition and the credit of the policy priority",
                         m_options.tune);
        command.AddValue("method", "of the search: " + DescribeMethods(), m_options.method);
        command.AddValue("evaluations", "of the search, at most", m_options.evaluations);
        command.AddValue("searchSeed", "random seed of the search", m_options.seed);
        for (const char* name : {"method", "evaluations", "searchSeed"})
        {
            command.AddIdle(name, [this] {
                return m_options.tune ? "" : "nothing is searched; add --tune";
            });
        }
        command.AddHint("seed",
                        "the seed of the search is --searchSeed; --stream is that of paths");
        command.AddOutput("csv", "write the table to this file as CSV", m_options.csv);
        m_options.tables.AddTo(command);
        m_options.plot.AddTo(command);
        command.AddOutput("saveSchedule",
                          "write what the search has found, and all its trials, to this file, for "
                          "--communicationSchedule",
                          m_options.save);
        command.AddHint("save", "it is --saveSchedule");
        command.AddOutput("timelines",
                          "write the timeline of every row to this folder, with all parts, pushes "
                          "and pulls: EXECUTOR-POLICY.pftrace for ui.perfetto.dev, and .csv with "
                          "the spans",
                          m_options.timelines);
        command.AddHint("timeline", "there is one of every row: --timelines=FOLDER");
        command.AddValue("ignoreMemory",
                         "run also what does not fit into memory",
                         m_options.ignoreMemory);
        command.AddValue("quiet", "no progress", m_options.quiet);
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
    }

    std::vector<Table> DescribeTables() override
    {
        return {MakeScheduleTable({}, {}), MakeNoteTable({})};
    }

    void Run() override
    {
        CompareSchedules(m_options);
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeScheduleProgram(const std::string& workloads)
{
    return std::make_unique<ScheduleProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
