/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-programs.h"
#include "proteus-schedule-charts.h"
#include "proteus-schedule-options.h"
#include "proteus-schedule-rows.h"
#include "proteus-schedule-table.h"
#include "proteus-schedule-trials.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/proteus-schedule-text.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-tuner.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
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

/// @param options whose outputs can be written, or else it throws
void
CheckOutputs(const ScheduleTrialOptions& options)
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
}

/// Names --crossIteration=tensor where it does nothing.
/// @param options of the program @param command that has read them @param rows of the runs
void
WarnOfNoOverlap(const ScheduleTrialOptions& options,
                const OptionList& command,
                const std::vector<ScheduleResult>& rows)
{
    const auto& typed = command.GetConfiguration();
    const bool isTyped = std::any_of(typed.begin(), typed.end(), [](const auto& option) {
        return option.first == "crossIteration";
    });
    if (isTyped && CrossIterationFromString(options.crossIteration) == CrossIteration::TENSOR &&
        std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.hasOverlap; }))
    {
        Warn("--crossIteration=" + options.crossIteration +
             " has no effect: no GPU begins an iteration before all of the one before has ended "
             "there");
    }
}

/// Runs all that was asked for. @param options of the program @param command that has read them
void
CompareSchedules(const ScheduleTrialOptions& options, const OptionList& command)
{
    CheckOutputs(options);
    if (!options.save.empty() && !options.tune)
    {
        throw std::invalid_argument("--saveSchedule keeps what a search has found: add --tune");
    }
    options.Check();
    options.servers.Check(options.crossIteration);
    const std::vector<ScheduleTrial> all = MakeScheduleTrials(options);
    const std::vector<std::string> executors = options.ListExecutors();
    CheckWire(options, all, executors);
    RequireStreams(executors, "--policies=" + options.policies);
    const RepeatedJob job = MakeRepeatedJob(options);
    ScheduleOutcome outcome;
    const std::vector<ScheduleResult>& rows = outcome.rows;
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
    for (const std::string& line : job.idle) // which a refusal would have gone before
    {
        Warn(line);
    }
    WarnOfNoOverlap(options, command, rows);
    const Table table = MakeScheduleTable(job.work, rows);
    PrintScheduleTable(table, std::cout);
    std::cout << DescribeStop(rows.size(),
                              executors.size() * (all.size() + (options.tune ? 1 : 0)),
                              "rows");
    std::cout
        << "\nIteration: median of those after the first of " << job.repeated.iterations
        << ". Bound: least time of any order, by the bandwidth of the links and the kernels "
           "alone.\nExposed: of an iteration, in which bytes move and a GPU computes nothing, "
           "mean over the GPUs. Idle: the busiest direction of a link.\n";
    std::vector<std::string> notes = job.notes;
    const std::vector<std::string> unheeded = command.GetNotes();
    notes.insert(notes.end(), unheeded.begin(), unheeded.end());
    const std::vector<std::string> below = ListBelowBound(job.work, rows);
    notes.insert(notes.end(), below.begin(), below.end());
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
    return ListNames(GetTunerMethods());
}

/// @return the policies that heed a credit
std::string
ListCreditPolicies()
{
    std::string names;
    for (const SchedulingPolicy& policy : GetSchedulingPolicies())
    {
        if (HeedsCredit(policy))
        {
            AppendName(names, policy.name);
        }
    }
    return names;
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
        m_command = &command;
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
        command.AddValue("credit",
                         "bytes under way, of the policies that heed it: " + ListCreditPolicies(),
                         m_options.credit);
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
        std::vector<std::string> policies;
        for (const SchedulingPolicy& policy : GetSchedulingPolicies())
        {
            policies.push_back(policy.name);
        }
        command.AddNames("policies", policies, NameUse::LIST);
        command.AddNames("priorityOn",
                         {schedule_place::SENDER, schedule_place::WIRE, schedule_place::BOTH},
                         NameUse::LIST);
        command.AddCheck("messageUs", [](const std::string& microseconds) {
            constexpr double MOST = MOST_MESSAGE_PS / 1e6;
            if (std::stod(microseconds) < 0 || std::stod(microseconds) > MOST)
            {
                throw std::invalid_argument("must be 0 to 1e6 microseconds");
            }
        });
        command.AddRange("partition", 1);
        command.AddRange("credit", 1);
        command.AddRange("wireClasses", 1, 7);
        command.AddRange("iterations", 2);
        command.AddNames("crossIteration", GetCrossIterationNames());
        for (const char* name : {"partition", "credit", "messageUs", "serial", "priorityOn"})
        {
            command.AddIdle(name, [this] {
                return OrdersAnything(m_options) ? "" : "no policy of --policies orders anything";
            });
        }
        for (const char* name : {"wireClasses", "wireWeights"})
        {
            command.AddIdle(name, [this] {
                return OrdersOn(m_options, {schedule_place::WIRE, schedule_place::BOTH})
                           ? ""
                           : "nothing is put into order on the wire; "
                             "add --priorityOn=wire or both";
            });
        }
        command.AddIdle("partition", [this]() -> std::string {
            return HasPolicy(m_options, Orders) ? "" : "--tune searches it";
        });
        command.AddIdle("credit", [this]() -> std::string {
            const std::string searched = m_options.tune ? ", and --tune searches it" : "";
            return HasPolicy(m_options, HeedsCredit) ? ""
                                                     : "no policy of --policies heeds it (" +
                                                           ListCreditPolicies() + " do)" + searched;
        });
        command.AddIdle("credit", [this] {
            return OrdersOn(m_options, {schedule_place::SENDER, schedule_place::BOTH})
                       ? ""
                       : "on the wire all that is ready starts";
        });
        for (const char* name : {"messageUs", "serial"})
        {
            command.AddIdle(name, [this] {
                return m_options.servers.HasHostSums() ? "pushes, pulls and copies of a host are "
                                                         "messages, of which nobody else "
                                                         "has to hear, and which go side by side"
                                                       : "";
            });
        }
        command.AddIdle("serial", [this] {
            const bool isAny =
                m_options.tune || HasPolicy(m_options, [](const SchedulingPolicy& policy) {
                    return Orders(policy) && StartsSeveral(policy);
                });
            return isAny || !OrdersAnything(m_options)
                       ? ""
                       : "no policy of --policies that orders has several parts under way";
        });
        m_options.servers.AddTo(command);
        command.AddValue("tune",
                         "search the partition and the credit of the policy priority",
                         m_options.tune);
        command.AddValue("method", "of the search: " + DescribeMethods(), m_options.method);
        command.AddValue("evaluations", "of the search, at most", m_options.evaluations);
        command.AddValue("searchSeed", "random seed of the search", m_options.seed);
        command.AddNames("method", GetTunerMethods());
        command.AddRange("evaluations", 1);
        command.AddRange("searchSeed", 0, INT64_MAX);
        for (const char* name : {"method", "evaluations", "searchSeed"})
        {
            command.AddIdle(name, [this] {
                return m_options.tune ? "" : "nothing is searched; add --tune";
            });
        }
        command.AddIdle("searchSeed", [this] {
            return m_options.method == "grid" ? "a grid has no points at random" : "";
        });
        command.AddHint("seed",
                        "the seed of the search is --searchSeed; --stream is that of paths");
        command.AddOutput("csv", "write the table to this file as CSV", m_options.csv, ".csv");
        m_options.tables.AddTo(command);
        m_options.plot.AddTo(command);
        command.AddOutput("saveSchedule",
                          "write what the search has found, and all its trials, to this file, for "
                          "--communicationSchedule",
                          m_options.save,
                          ".json");
        command.AddHint("save", "it is --saveSchedule");
        command.AddFolder("timelines",
                          "write the timeline of every row to this folder, with all parts, pushes "
                          "and pulls: EXECUTOR-POLICY.pftrace for ui.perfetto.dev, and .csv with "
                          "the spans",
                          m_options.timelines);
        command.AddParts("timelines", R"(/[a-z]+-[^/]+\.(csv|pftrace))");
        command.AddHint("timeline", "there is one of every row: --timelines=FOLDER");
        command.AddValue("ignoreMemory",
                         "run also what does not fit into memory",
                         m_options.ignoreMemory);
        command.AddValue("quiet", "no progress", m_options.quiet);
    }

    bool ListsNotes() const override
    {
        return true;
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
        CompareSchedules(m_options, *m_command);
    }

    ScheduleTrialOptions m_options;
    const OptionList* m_command{nullptr}; //!< that has read them
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeScheduleProgram(const std::string& workloads)
{
    return std::make_unique<ScheduleProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
