/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-evaluation.h"

#include "proteus-executors.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <iomanip>
#include <limits>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* LIST_FORMAT = "proteus-evaluation";
constexpr const char* RESULT_FORMAT = "proteus-evaluation-results";
constexpr uint32_t VERSION = 1;
constexpr uint64_t MOST_SERVERS = 1 << 16;

/// @param value of a list @return it, what a line of a table begins with
std::string
ReadName(const JsonValue& value)
{
    const std::string& name = value.AsName();
    if (name.empty())
    {
        value.Fail("must not be empty");
    }
    return name;
}

EvaluationWorkload
ReadWorkload(const JsonValue& value)
{
    value.AllowKeys("a workload", {"name", "model", "variables", "cluster", "nodes", "strategies"});
    EvaluationWorkload workload;
    workload.name = ReadName(value.Get("name"));
    workload.model = value.Get("model").AsName();
    workload.cluster = value.Get("cluster").AsName();
    if (const auto nodes = value.Find("nodes"))
    {
        workload.nodes = static_cast<uint32_t>(nodes->AsWhole(1, MOST_SERVERS));
    }
    if (const auto variables = value.Find("variables"))
    {
        for (const std::string& key : variables->GetKeys())
        {
            const uint64_t number =
                variables->Get(key.c_str()).AsWhole(0, std::numeric_limits<int64_t>::max());
            workload.variables +=
                (workload.variables.empty() ? "" : ",") + key + "=" + std::to_string(number);
        }
    }
    const JsonValue strategies = value.Get("strategies");
    std::set<std::string> names;
    for (std::size_t i = 0; i < strategies.Size(); ++i)
    {
        const JsonValue name = strategies.At(i).Get("name");
        if (!names.insert(ReadName(name)).second)
        {
            name.Fail("is the name of another strategy of this workload, too");
        }
        if (const auto file = strategies.At(i).Find("file"))
        {
            strategies.At(i).AllowKeys("a strategy of a file", {"name", "file"});
            file->AsName();
        }
        workload.strategies.push_back(strategies.At(i).Dump());
    }
    if (names.empty())
    {
        strategies.Fail("must not be empty");
    }
    return workload;
}

/// @return CPU time of this process and of those that it has waited for, in which packets are
/// executed that repeat later
double
GetCpuSeconds()
{
    double seconds = 0;
    for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN})
    {
        rusage usage{};
        getrusage(whose, &usage);
        seconds += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return seconds;
}

} // namespace

std::string
EvaluationWorkload::GetTitle() const
{
    return name + " on " + (nodes > 1 ? std::to_string(nodes) + " x " : "") + cluster;
}

std::vector<EvaluationWorkload>
ReadEvaluation(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(LIST_FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("an evaluation", {"format", "version", "source", "published", "workloads"});
    if (const auto source = root.Find("source"))
    {
        source->AsString();
    }
    const JsonValue list = root.Get("workloads");
    std::vector<EvaluationWorkload> workloads;
    std::set<std::string> titles;
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        workloads.push_back(ReadWorkload(list.At(i)));
        if (!titles.insert(workloads.back().GetTitle()).second)
        {
            list.At(i).Fail("there is '" + workloads.back().GetTitle() + "' already");
        }
    }
    if (workloads.empty())
    {
        list.Fail("must not be empty");
    }
    return workloads;
}

std::vector<std::string>
ReadPublished(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(LIST_FORMAT, VERSION);
    std::vector<std::string> sentences;
    if (const auto list = document.GetRoot().Find("published"))
    {
        for (std::size_t i = 0; i < list->Size(); ++i)
        {
            sentences.push_back(list->At(i).AsName());
        }
    }
    return sentences;
}

std::string
GetStrategyName(const EvaluationWorkload& workload, std::size_t strategy)
{
    return nlohmann::json::parse(workload.strategies.at(strategy)).at("name").get<std::string>();
}

std::string
DescribeEvaluated(const EvaluationWorkload& workload,
                  std::size_t strategy,
                  const Configuration& typed,
                  const std::vector<std::string>& files)
{
    static const std::set<std::string> SAME{"list",
                                            "calibrations",
                                            "only",
                                            "executor",
                                            "csv",
                                            "json",
                                            "reuse",
                                            "config",
                                            "ignoreMemory",
                                            "quiet",
                                            "repetition",
                                            "threads"};
    auto plan = nlohmann::json::parse(workload.strategies.at(strategy));
    plan.erase("name");
    nlohmann::json options = nlohmann::json::object();
    for (const auto& [name, value] : typed)
    {
        if (SAME.count(name) == 0)
        {
            options[name] = value;
        }
    }
    std::ostringstream content;
    for (const std::string& path : files)
    {
        InputFile file(path);
        content << file.GetStream().rdbuf() << '\n';
    }
    return nlohmann::json{{"model", workload.model},
                          {"variables", workload.variables},
                          {"cluster", workload.cluster},
                          {"nodes", workload.nodes},
                          {"strategy", plan},
                          {"options", options},
                          {"content", Digest(content.str())}}
        .dump();
}

namespace
{

/// A strategy of a workload, compiled.
struct EvaluatedJob
{
    Cluster cluster;
    ExecutionGraph graph;
    std::vector<std::string> files; //!< that it was read from
    ProgramOptions options;         //!< of its runs
    ModelOptions model;
};

/// @param workload that is run @param strategy which of its strategies @param folder with models
/// @param options of the runs @return it, ready to be run
EvaluatedJob
MakeJob(const EvaluationWorkload& workload,
        std::size_t strategy,
        const std::string& folder,
        const ProgramOptions& options)
{
    EvaluatedJob job;
    job.options = options;
    job.options.framework.workloads = folder + "/.."; // the program has no --framework
    job.options.cluster = workload.cluster;
    job.options.nodes = workload.nodes;
    job.model.folder = folder;
    job.model.model = workload.model;
    job.model.variables = workload.variables;
    const auto json = nlohmann::json::parse(workload.strategies.at(strategy));
    const bool isFile = json.contains("file");
    job.model.strategy = isFile ? folder + "/../strategies/" + json.at("file").get<std::string>()
                                : workload.strategies.at(strategy);
    job.cluster = job.options.BuildCluster();
    const auto [plan, framework] = job.options.framework.LoadPlan(
        job.cluster,
        job.options.launchInterval,
        [&](const FrameworkDefaults& defaults) { return job.model.Load(defaults); });
    job.graph = CompileForCluster(plan, job.cluster, framework, "");
    job.options.CheckMemory(job.graph, job.cluster);
    job.files = plan.files;
    job.files.push_back(job.options.framework.FindFile(framework.name));
    if (isFile)
    {
        job.files.push_back(job.model.strategy);
    }
    if (IsReadable(workload.cluster))
    {
        job.files.push_back(workload.cluster);
    }
    return job;
}

/// @param workload a workload @param strategy which of its strategies @return what it is called in
/// tables and errors
std::string
GetPlace(const EvaluationWorkload& workload, std::size_t strategy)
{
    return workload.GetTitle() + ", " + GetStrategyName(workload, strategy);
}

} // namespace

std::string
CheckEvaluated(const EvaluationWorkload& workload,
               std::size_t strategy,
               const std::string& folder,
               const ProgramOptions& options)
{
    const std::string place = GetPlace(workload, strategy);
    return ReadNamed(place, [&] {
        const EvaluatedJob job = MakeJob(workload, strategy, folder, options);
        for (const std::string& key :
             job.model.FindIdle(job.options.framework, job.options.FindGpu()))
        {
            Warn(place + ": " + key + " has no effect: the job is the same without it");
        }
        return DescribeEvaluated(workload, strategy, options.information.configuration, job.files);
    });
}

EvaluatedStrategy
Evaluate(const EvaluationWorkload& workload,
         std::size_t strategy,
         const std::string& folder,
         const std::vector<std::string>& executors,
         const ProgramOptions& options)
{
    EvaluatedStrategy result;
    result.workload = workload.GetTitle();
    result.strategy = GetStrategyName(workload, strategy);
    const EvaluatedJob job = ReadNamed(GetPlace(workload, strategy), [&] {
        return MakeJob(workload, strategy, folder, options);
    });
    for (const std::string& executor : executors)
    {
        const double begin = GetCpuSeconds();
        std::ostringstream ignored;
        const RunRecord found = RunWhole(job.options, executor, job.cluster, job.graph, ignored);
        result.times[executor] = {static_cast<double>(found.timeline.endPs) * 1e-12,
                                  GetCpuSeconds() - begin};
    }
    return result;
}

void
WriteEvaluationJson(const std::vector<EvaluatedStrategy>& runs, std::ostream& out)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const EvaluatedStrategy& run : runs)
    {
        nlohmann::ordered_json times = nlohmann::ordered_json::object();
        for (const auto& [executor, time] : run.times)
        {
            times[executor] = {{"iteration_s", time.iterationS}, {"cpu_s", time.cpuS}};
        }
        list.push_back(
            {{"workload", run.workload}, {"strategy", run.strategy}, {"executors", times}});
        if (!run.job.empty())
        {
            list.back()["job"] = nlohmann::ordered_json::parse(run.job);
        }
    }
    out << nlohmann::ordered_json{{"format", RESULT_FORMAT}, {"version", VERSION}, {"runs", list}}
               .dump(1)
        << '\n';
}

std::vector<EvaluatedStrategy>
ReadEvaluationJson(std::istream& input, const std::string& fileName)
{
    constexpr double LEAST_S = 1e-12; // a picosecond
    const double most = std::numeric_limits<double>::max();
    const JsonDocument document(input, fileName);
    document.CheckFormat(RESULT_FORMAT, VERSION);
    document.GetRoot().AllowKeys("results of an evaluation", {"format", "version", "runs"});
    const JsonValue list = document.GetRoot().Get("runs");
    std::vector<EvaluatedStrategy> runs;
    std::set<std::pair<std::string, std::string>> known;
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        const JsonValue json = list.At(i);
        json.AllowKeys("a run", {"workload", "strategy", "executors", "job"});
        EvaluatedStrategy run;
        run.workload = json.Get("workload").AsString();
        run.strategy = json.Get("strategy").AsString();
        if (!known.emplace(run.workload, run.strategy).second)
        {
            json.Fail("there is a run of this workload and strategy already");
        }
        const JsonValue executors = json.Get("executors");
        for (const std::string& executor : executors.GetKeys())
        {
            const JsonValue time = executors.Get(executor.c_str());
            time.AllowKeys("a time", {"iteration_s", "cpu_s"});
            run.times[executor] = {time.Get("iteration_s").AsNumber(LEAST_S, most),
                                   time.Get("cpu_s").AsNumber(0, most)};
        }
        if (const auto job = json.Find("job"))
        {
            run.job = job->Dump();
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

void
WriteEvaluationCsv(const std::vector<EvaluatedStrategy>& runs, std::ostream& out)
{
    out << "workload,strategy,executor,iteration_s,error,cpu_s,speedup\n"
        << std::setprecision(std::numeric_limits<double>::max_digits10);
    for (const EvaluatedStrategy& run : runs)
    {
        const auto packet = run.times.find("packet");
        for (const auto& [executor, time] : run.times)
        {
            out << QuoteCsv(run.workload) << ',' << QuoteCsv(run.strategy) << ',' << executor << ','
                << time.iterationS << ',';
            if (packet != run.times.end())
            {
                out << time.iterationS / packet->second.iterationS - 1;
            }
            out << ',' << time.cpuS << ',';
            if (packet != run.times.end())
            {
                out << packet->second.cpuS / time.cpuS;
            }
            out << '\n';
        }
    }
}

namespace
{

/// @return lines of the table of times, a strategy each
std::vector<std::vector<std::string>>
ListTimes(const std::vector<EvaluatedStrategy>& runs, const std::vector<std::string>& executors)
{
    std::vector<std::vector<std::string>> rows{{"Iteration time by", ""}};
    for (const std::string& executor : executors)
    {
        rows[0].push_back(executor);
        if (executor != "packet")
        {
            rows[0].emplace_back("error");
            rows[0].emplace_back("faster");
        }
    }
    std::string workload;
    for (const EvaluatedStrategy& run : runs)
    {
        rows.push_back({run.workload == workload ? "" : run.workload, run.strategy});
        workload = run.workload;
        const auto packet = run.times.find("packet");
        for (const std::string& executor : executors)
        {
            const auto time = run.times.find(executor);
            rows.back().push_back(time == run.times.end() ? "-"
                                                          : FormatTime(time->second.iterationS));
            if (executor == "packet")
            {
                continue;
            }
            const bool known = time != run.times.end() && packet != run.times.end();
            rows.back().push_back(
                known ? FormatPercent(time->second.iterationS / packet->second.iterationS - 1, 2)
                      : "-");
            rows.back().push_back(
                known ? FormatNumber(packet->second.cpuS / std::max(time->second.cpuS, 1e-6), 0) +
                            " x"
                      : "-");
        }
    }
    return rows;
}

/// @return lines of the table of errors, an executor each
std::vector<std::vector<std::string>>
ListScores(const std::vector<EvaluatedStrategy>& runs, const std::vector<std::string>& executors)
{
    std::vector<std::vector<std::string>> rows{{"Against packet",
                                                "runs",
                                                "mean error",
                                                "max",
                                                "tau, mean",
                                                "least",
                                                "faster, geom. mean",
                                                "least",
                                                "largest error at"}};
    for (const std::string& executor : executors)
    {
        const ExecutorScore score = ScoreExecutor(runs, executor);
        if (executor == "packet" || score.strategies == 0)
        {
            continue;
        }
        rows.push_back({executor,
                        std::to_string(score.strategies),
                        FormatPercent(score.meanError, 2),
                        FormatPercent(score.maxError, 2),
                        FormatNumber(score.meanTau, 3),
                        FormatNumber(score.leastTau, 3),
                        FormatNumber(score.geometricSpeedup, 0) + " x",
                        FormatNumber(score.leastSpeedup, 0) + " x",
                        "  " + score.worst});
    }
    return rows;
}

} // namespace

void
PrintEvaluation(const std::vector<EvaluatedStrategy>& runs,
                const std::vector<std::string>& executors,
                std::ostream& out)
{
    out << '\n'
        << FormatTable(ListTimes(runs, executors), "llr") << '\n'
        << FormatTable(ListScores(runs, executors), "lrrrrrrrl");
}

} // namespace proteus
} // namespace ns3
