/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-rows.h"

#include "proteus-executors.h"
#include "proteus-host-waits.h"
#include "proteus-name-lists.h"
#include "proteus-run-notes.h"
#include "proteus-scheduled-kinds.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-executor-packet.h"
#include "ns3/proteus-iteration-use.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-perfetto-trace.h"
#include "ns3/proteus-schedule-json.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-span-csv.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Where a search looks for them.
constexpr double LEAST_PARTITION_BYTES = 262144;
constexpr double MOST_PARTITION_BYTES = 1 << 27;
constexpr double LEAST_CREDIT_BYTES = 262144;
constexpr double MOST_CREDIT_BYTES = 1 << 29;
constexpr double STEP_BYTES = 65536;
constexpr double S_PER_PS = 1e-12;

/// @param options of the user @param cluster where the job runs @return settings of executors
ExecutorSettings
MakeRunSettings(const ScheduleTrialOptions& options, const Cluster& cluster)
{
    ExecutorSettings settings = MakeExecutorSettings(options);
    options.servers.ApplyTo(settings, cluster);
    return settings;
}

/// Writes the timeline of a row, and its spans, if the user wants them.
/// @param run graph and @param record result of the row @param name of the files
void
WriteTimelines(const ScheduleTrialOptions& options,
               const RepeatedJob& job,
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
ScheduleResult
RunPolicy(const ScheduleTrialOptions& options,
          const RepeatedJob& job,
          const std::string& executor,
          const ScheduleTrial& trial)
{
    const ScheduleSettings& settings = trial.settings;
    const ScheduledRun run =
        job.servers ? PrepareSchedule(job.repeated, settings, *job.servers)
                    : ReadNamed("--partition=" + std::to_string(settings.partBytes),
                                [&] { return PrepareSchedule(job.repeated.graph, settings); });
    ExecutorSettings executorSettings = MakeRunSettings(options, job.cluster);
    executorSettings.runtime.startControl = run.startControl;
    SignalObserver observer;
    RunRecord record =
        trial.wire
            ? RunPacketsByClass(run.graph,
                                job.cluster,
                                executorSettings,
                                MakeWirePriority(job.repeated, settings, *trial.wire),
                                &observer)
            : FindExecutor(executor).Run(run.graph, job.cluster, executorSettings, &observer);
    RequireWhole(record);
    RunNotes::Hear(options,
                   FindExecutor(record.executor),
                   executorSettings,
                   job.cluster,
                   run.graph,
                   record);
    WriteTimelines(options,
                   job,
                   run,
                   record,
                   trial.name.empty() ? "" : executor + "-" + trial.name);
    ScheduleResult row{executor,
                       settings,
                       MeasureIterations(run.graph, job.repeated, record.timeline),
                       {},
                       trial.wire ? trial.wire->classes : 0};
    const IterationAccount account =
        AccountIterations(run.graph, job.repeated.iterationOf, record.timeline);
    row.exposedS = account.uses[account.steady].mean.exposedCommunicationS;
    row.hasOverlap = !FindExecutor(executor).GetTraits().hasStreams ||
                     DoIterationsOverlap(run.graph, job.repeated.iterationOf, record.timeline);
    int64_t busyPs = 0;
    for (const LinkStatistics& link : record.links)
    {
        busyPs = std::max(busyPs, link.busyPs);
    }
    if (!record.links.empty())
    {
        row.idle = 1 - static_cast<double>(busyPs) / static_cast<double>(record.timeline.endPs);
    }
    return row;
}

/// Looks for the sizes of part and credit with the least steady time.
ScheduleSearch
Search(const ScheduleTrialOptions& options, const RepeatedJob& job, const std::string& executor)
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
            ScheduleTrialOptions tried = options;
            tried.partition = static_cast<int64_t>(values[0]);
            tried.credit = static_cast<int64_t>(values[1]);
            const ScheduleResult row = RunPolicy(options,
                                                 job,
                                                 executor,
                                                 {MakeScheduleSettings(tried, "priority"), {}, {}});
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
RunTuned(const ScheduleTrialOptions& options,
         const RepeatedJob& job,
         const std::string& executor,
         ScheduleOutcome& outcome)
{
    const ScheduleSearch search = Search(options, job, executor);
    const TunerTrial& best = search.result.trials[search.result.best];
    ScheduleTrialOptions tuned = options;
    tuned.partition = static_cast<int64_t>(best.values[0]);
    tuned.credit = static_cast<int64_t>(best.values[1]);
    const ScheduleSettings settings = MakeScheduleSettings(tuned, "priority");
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

} // namespace

RepeatedJob
MakeRepeatedJob(const ScheduleTrialOptions& options)
{
    RepeatedJob job{options.BuildCluster(), {}, {}, {}, {}, {}};
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
    const ExecutionGraph graph =
        options.FitComputation(CompileForCluster(plan, job.cluster, framework, "", &carried),
                               job.notes);
    options.NotePublishedErrors(framework, job.cluster, job.notes);
    NoteBalancedExperts(plan.model, graph, job.notes);
    NoteHostWaits(graph, framework.name, job.notes);
    options.CheckMemory(graph, job.cluster);
    if (!HasScheduled(graph, ScheduleSettings()))
    {
        job.notes.emplace_back("no policy has anything to put into order: the job has no "
                               "communication of gradients (data)");
    }
    job.idle = options.servers.ListIdle(graph, job.cluster);
    const RunRecord alone =
        FindExecutor("ideal").Run(graph, job.cluster, MakeExecutorSettings(options));
    std::vector<int64_t> timesPs = GetTaskTimes(graph, alone.timeline);
    if (options.servers.HasSteps())
    {
        job.servers = options.servers.AddHosts(job.cluster, graph.GetNDevices());
        options.servers.SetLeastTimes(graph, job.cluster, *job.servers, timesPs);
        const uint32_t staleness = job.servers->staleness;
        if (staleness != ParameterServers::ASYNCHRONOUS && staleness >= options.iterations &&
            job.idle.empty())
        {
            job.notes.push_back("--staleness=" + options.servers.staleness +
                                ": no worker gets so far ahead in " +
                                std::to_string(options.iterations) +
                                " iterations that it waits for others, so that it is as async");
        }
    }
    job.work = {FindLeastPeriodS(graph, carried, timesPs, ScheduleSettings().kinds),
                FindLeastPeriodS(graph, carried, timesPs, {}),
                graph.GetFacts()};
    job.repeated = ReadNamed("--iterations=" + std::to_string(options.iterations), [&] {
        return RepeatGraph(graph,
                           carried,
                           ToCount(options.iterations, "iterations", 2),
                           CrossIterationFromString(options.crossIteration));
    });
    return job;
}

void
RunAll(const ScheduleTrialOptions& options,
       const RepeatedJob& job,
       const std::vector<std::string>& executors,
       const std::vector<ScheduleTrial>& trials,
       ScheduleOutcome& outcome)
{
    for (const std::string& executor : executors)
    {
        for (const ScheduleTrial& trial : trials)
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

} // namespace proteus
} // namespace ns3
