/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-calibration-run.h"
#include "proteus-command-line-program.h"
#include "proteus-command-line-text.h"
#include "proteus-evaluation.h"
#include "proteus-executors.h"
#include "proteus-name-lists.h"
#include "proteus-programs.h"
#include "proteus-progress.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Runs a list of workloads by several executors, and says how far they are from the packet level.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Servers of a calibration, unless no workload has as many.
constexpr uint32_t CALIBRATION_NODES = 2;

/// What the user asked for.
struct Options
{
    ProgramOptions run;
    std::string models; //!< folder
    CommandLineText list;
    CommandLineText only;
    CommandLineText csv;
    CommandLineText json;
    CommandLineText reuse;
};

/// @return the workloads of the list whose title contains what is asked for
std::vector<EvaluationWorkload>
LoadWorkloads(const Options& options)
{
    InputFile file(options.list);
    std::vector<EvaluationWorkload> workloads = ReadEvaluation(file.GetStream(), options.list);
    workloads.erase(std::remove_if(workloads.begin(),
                                   workloads.end(),
                                   [&](const EvaluationWorkload& workload) {
                                       return workload.GetTitle().find(options.only) ==
                                              std::string::npos;
                                   }),
                    workloads.end());
    if (workloads.empty())
    {
        throw std::invalid_argument("--only=" + options.only + ": no workload of " + options.list +
                                    " has that in its title");
    }
    return workloads;
}

/// @param cluster as a workload names it @return the file with its calibration, in their folder
std::string
GetFileName(std::string cluster)
{
    std::replace(cluster.begin(), cluster.end(), '/', '-'); // of a file's path
    const std::string ending = ".json";
    const bool isFile = cluster.size() > ending.size() &&
                        cluster.compare(cluster.size() - ending.size(), ending.size(), ending) == 0;
    return cluster + (isFile ? "" : ending);
}

/// Names a calibration that is of another cluster.
/// @param file with it @param server as a calibration made now would say @param cluster that it
/// would be made for
void
WarnOfOtherCluster(const std::string& file, const std::string& server, const Cluster& cluster)
{
    InputFile input(file);
    const FlowCalibration made = ReadFlowCalibration(input.GetStream(), file);
    if (!IsFittedElsewhere(made, server, cluster))
    {
        return;
    }
    Warn("--calibrations: " + file + ": its parameters were fitted on another cluster, " +
         ShownName(made.cluster) + ", not on " + ShownName(cluster.GetName()) +
         "; without the file the cluster is calibrated");
}

/// Calibrates for what is not calibrated yet. @return calibration file by preset
std::map<std::string, std::string>
FindCalibrations(const Options& options, const std::vector<EvaluationWorkload>& workloads)
{
    std::map<std::string, std::string> files;
    if (options.run.calibrations->empty())
    {
        return files;
    }
    std::map<std::string, uint32_t> nodes;
    for (const EvaluationWorkload& workload : workloads)
    {
        uint32_t& most = nodes[workload.cluster];
        most = std::max(most, workload.nodes);
    }
    for (const EvaluationWorkload& workload : workloads)
    {
        if (files.count(workload.cluster) > 0)
        {
            continue;
        }
        std::string& file = files[workload.cluster];
        file = *options.run.calibrations + "/" + GetFileName(workload.cluster);
        ProgramOptions run = options.run;
        run.cluster = workload.cluster;
        run.nodes = std::min(nodes[workload.cluster], CALIBRATION_NODES);
        const Cluster cluster = run.BuildCluster();
        std::error_code none; // a name that cannot be looked at is said when it is written
        if (std::filesystem::exists(file, none))
        {
            WarnOfOtherCluster(file, run.cluster, cluster);
            continue;
        }
        std::cerr << "calibrating for " << cluster.GetName() << std::endl;
        const FlowCalibration calibration =
            RunCalibration(run, cluster, GetCalibrationSizes(false));
        WriteFile(file, [&](std::ostream& out) { WriteFlowCalibration(calibration, out); });
    }
    return files;
}

/// What earlier runs by packets have found, by workload and strategy.
using KnownRuns = std::map<std::pair<std::string, std::string>, EvaluatedStrategy>;

/// @return what is known
KnownRuns
LoadPacketTimes(const Options& options)
{
    KnownRuns known;
    if (!options.reuse.empty())
    {
        InputFile file(options.reuse);
        for (const EvaluatedStrategy& run : ReadEvaluationJson(file.GetStream(), options.reuse))
        {
            if (run.times.count("packet") > 0)
            {
                known[{run.workload, run.strategy}] = run;
            }
        }
    }
    return known;
}

/// What is run.
struct Evaluation
{
    const Options& options;
    const std::vector<std::string>& executors;
    const std::vector<EvaluationWorkload>& workloads;
    const std::vector<std::string>& jobs; //!< of all workloads and strategies, see CheckEvaluated()
    const KnownRuns& known;               //!< which may be of other jobs of the same names
    const std::map<std::string, std::string>& calibrations; //!< file by preset
    std::size_t total;                                      //!< runs
};

/// @param job as DescribeEvaluated() has it @return the same without what its files contain
std::string
WithoutContent(const std::string& job)
{
    auto json = nlohmann::json::parse(job);
    json.erase("content");
    return json.dump();
}

/// How many times by packets were known.
struct Reuse
{
    std::size_t taken{0};   //!< from runs of the same job
    std::size_t unsure{0};  //!< of them, from runs that do not say of which job they are
    std::size_t foreign{0}; //!< of other jobs, or with other options, and not taken

    /// @param known runs @param workload of a job @param strategy its name @param job as
    /// DescribeEvaluated() has it @return the time by packets; null if it is not known
    const ExecutorTime* Take(const KnownRuns& known,
                             const std::string& workload,
                             const std::string& strategy,
                             const std::string& job)
    {
        const auto found = known.find({workload, strategy});
        if (found == known.end())
        {
            return nullptr;
        }
        const std::string& other = found->second.job;
        const bool isWhole = !other.empty() && nlohmann::json::parse(other).contains("content");
        if (!other.empty() && other != (isWhole ? job : WithoutContent(job)))
        {
            ++foreign;
            return nullptr;
        }
        ++taken;
        unsure += isWhole ? 0 : 1;
        return &found->second.times.at("packet");
    }

    /// Says what was taken. @param file that it is from @param total runs
    void Say(const std::string& file, std::size_t total) const
    {
        if (foreign > 0)
        {
            Warn("--reuse=" + file + ": " + FormatThings(foreign, "time") +
                 " by packets are of other models, strategies, files or options of the same "
                 "names, and "
                 "are not taken");
        }
        else if (taken == 0)
        {
            Warn("--reuse=" + file +
                 " has no effect: it has no time by packets of these workloads and strategies");
        }
        if (unsure > 0)
        {
            Warn("--reuse=" + file +
                 ": does not say of which models, strategies, files and options " +
                 FormatThings(unsure, "time") + " by packets are: those of the same names count");
        }
        if (taken > 0)
        {
            std::cout << "\nTimes of executor packet of " << taken << " of " << total
                      << " runs are those of " << file << ".\n";
        }
    }
};

/// Runs everything. @param evaluation what is run @param runs that are added @param reuse counts
/// what was known
/// @throw RunStopped if a signal comes; the runs until then are there
void
RunAll(const Evaluation& evaluation, std::vector<EvaluatedStrategy>& runs, Reuse& reuse)
{
    ProgressLine progress("evaluation");
    for (const EvaluationWorkload& workload : evaluation.workloads)
    {
        for (std::size_t i = 0; i < workload.strategies.size(); ++i)
        {
            ThrowIfStopped();
            const std::string strategy = GetStrategyName(workload, i);
            if (!evaluation.options.run.quiet)
            {
                progress.Say(DescribeStep("run " + std::to_string(runs.size() + 1) + " of " +
                                              std::to_string(evaluation.total) + ", " +
                                              workload.GetTitle() + ", " + strategy,
                                          static_cast<double>(runs.size()) /
                                              static_cast<double>(evaluation.total),
                                          progress.GetElapsedSeconds()));
            }
            ProgramOptions run = evaluation.options.run;
            run.quiet = true;
            run.calibration =
                evaluation.calibrations.empty() ? "" : evaluation.calibrations.at(workload.cluster);
            std::vector<std::string> left = evaluation.executors;
            const ExecutorTime* packet = reuse.Take(evaluation.known,
                                                    workload.GetTitle(),
                                                    strategy,
                                                    evaluation.jobs.at(runs.size()));
            if (packet)
            {
                left.erase(std::remove(left.begin(), left.end(), "packet"), left.end());
            }
            runs.push_back(ReadNamed(evaluation.options.list, [&] {
                return Evaluate(workload, i, evaluation.options.models, left, run);
            }));
            runs.back().job = evaluation.jobs.at(runs.size() - 1);
            if (packet)
            {
                runs.back().times["packet"] = *packet;
            }
            if (!evaluation.options.json.empty())
            {
                WriteFile(evaluation.options.json,
                          [&](std::ostream& out) { WriteEvaluationJson(runs, out); });
            }
        }
    }
}

/// @param options of the program @param workloads to run @return the jobs of all strategies, in
/// order
/// @throw std::invalid_argument for a mistake in one of them, before anything has run
std::vector<std::string>
CheckAll(const Options& options, const std::vector<EvaluationWorkload>& workloads)
{
    std::vector<std::string> jobs;
    std::vector<std::string> doubts; // what is refused says nothing else
    {
        const EndAtOnce nothingDone;
        const WarningListener listener([&doubts](const std::string& text) {
            doubts.push_back(text);
            return false;
        });
        for (const EvaluationWorkload& workload : workloads)
        {
            for (std::size_t i = 0; i < workload.strategies.size(); ++i)
            {
                jobs.push_back(ReadNamed(options.list, [&] {
                    return CheckEvaluated(workload, i, options.models, options.run);
                }));
            }
        }
    }
    for (const std::string& doubt : doubts)
    {
        Warn(doubt);
    }
    return jobs;
}

void
EvaluateAll(const Options& options, const std::vector<std::string>& executors)
{
    const std::vector<EvaluationWorkload> workloads = LoadWorkloads(options);
    InputFile list(options.list);
    const std::vector<std::string> published = ReadPublished(list.GetStream(), options.list);
    const auto known = LoadPacketTimes(options);
    if (!options.run.calibrations->empty())
    {
        MakeFolder(*options.run.calibrations);
    }
    const std::vector<std::string> jobs = CheckAll(options, workloads);
    const auto calibrations = FindCalibrations(options, workloads);
    const std::size_t total = jobs.size();
    std::vector<EvaluatedStrategy> runs;
    Reuse reuse;
    try
    {
        RunAll({options, executors, workloads, jobs, known, calibrations, total}, runs, reuse);
    }
    catch (const RunStopped&)
    {
        if (runs.empty())
        {
            throw;
        }
    }
    PrintEvaluation(runs, executors, std::cout);
    std::cout << DescribeStop(runs.size(), total, "runs");
    for (const std::string& sentence : published)
    {
        std::cout << (&sentence == &published.front() ? "\nPublished, against real machines:\n"
                                                      : "")
                  << "  " << sentence << '\n';
    }
    if (!options.reuse.empty())
    {
        reuse.Say(options.reuse, runs.size());
    }
    WriteCsvFile(options.csv, [&](std::ostream& out) { WriteEvaluationCsv(runs, out); });
}

/// The program.
class EvaluateProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-evaluate";
    }

    void AddTo(OptionList& command) override
    {
        m_options.run.executor = "packet,flow,alpha-beta";
        m_options.models = GetWorkloads() + "/models";
        m_options.list = GetWorkloads() + "/evaluation/flow-against-packet.json";
        command.Usage(
            "Runs every workload of a list with each of its strategies by several executors, one "
            "after\n"
            "the other, and prints their iteration times, how far they are from the packet level, "
            "how\n"
            "well they keep the order of the strategies, and how much faster they are.\n"
            "\n"
            "For example:\n"
            "  proteus-evaluate --calibrations=calibrations --csv=evaluation.csv\n"
            "  proteus-evaluate --only=VGG\n"
            "  proteus-evaluate --list=workloads/evaluation/proteus-paper.json "
            "--executor=packet,classic,classic-plain,flow");
        command.AddValue("list", "JSON file with the workloads", m_options.list);
        command.AddInput("list");
        m_options.run.calibrations.emplace();
        command.AddValue(
            "calibrations",
            "folder with a file of proteus-calibrate for every preset, NAME.json; what is "
            "not there is calibrated with two servers, or one if no workload has two, and written "
            "there. Adds the "
            "executor flow_calibrated",
            *m_options.run.calibrations);
        command.AddCheck("calibrations", [](const std::string& folder) {
            std::error_code none;
            if (std::filesystem::exists(folder, none) && !IsFolder(folder))
            {
                throw std::invalid_argument("is a file, and no folder");
            }
        });
        command.AddValue("only", "workloads whose title contains this", m_options.only);
        command.AddValue("executor", "executors, separated by commas", m_options.run.executor);
        AddExecutorNames(command);
        command.AddOutput("csv", "write all times to this file", m_options.csv, ".csv");
        command.AddHint("output", "it is --json");
        command.AddOutput("json",
                          "write all times to this file as JSON, after every run",
                          m_options.json,
                          ".json");
        command.AddValue(
            "reuse",
            "file of --json: times of executor packet come from there, where it has them",
            m_options.reuse);
        command.AddInput("reuse");
        command.AddValue("stream", "random stream of path choice", m_options.run.stream);
        command.AddValue("gpuSharing",
                         "packet, flow: whether kernels and collectives at the same time share a "
                         "GPU, on or off",
                         m_options.run.gpuSharing);
        command.AddNames("gpuSharing", {"on", "off"});
        command.AddIdle("gpuSharing", [this]() -> std::string {
            const bool isKnown =
                HasExecutor(m_options.run.ListExecutors(),
                            [](const ExecutorTraits& traits) { return traits.sharesGpus; });
            return isKnown ? "" : "no executor of this run knows it";
        });
        command.AddValue("ignoreMemory",
                         "run also what does not fit into memory",
                         m_options.run.ignoreMemory);
        command.AddValue("quiet", "no progress", m_options.run.quiet);
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options.run;
    }

    std::vector<Table> DescribeTables() override
    {
        return {}; // --json has times
    }

    void Run() override
    {
        for (const std::string& path : {m_options.csv, m_options.json})
        {
            if (!path.empty())
            {
                CheckWritable(path);
            }
        }
        EvaluateAll(m_options, m_options.run.ListExecutors());
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeEvaluateProgram(const std::string& workloads)
{
    return std::make_unique<EvaluateProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
