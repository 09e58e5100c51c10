/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-options.h"

#include "proteus-attribute-watch.h"
#include "proteus-page-name.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-executor-comparison.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-graph-representative.h"
#include "ns3/proteus-html-report.h"
#include "ns3/proteus-kineto-trace.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-perfetto-trace.h"
#include "ns3/proteus-result-series.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/proteus-scenario-report.h"
#include "ns3/proteus-span-csv.h"
#include "ns3/proteus-summary.h"
#include "ns3/proteus-tables.h"

#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param path of a timeline @return whether it is to be in Perfetto's format, by its name
bool
IsPerfetto(const std::string& path)
{
    const std::string extension = std::filesystem::path(path).extension().string();
    return extension == ".pftrace" || extension == ".perfetto-trace";
}

/// @param path of a timeline @return whether it is a folder for a file per rank
bool
IsFolder(const std::string& path)
{
    std::error_code none; // a name that cannot be looked at is said when it is written
    return !path.empty() && (path.back() == '/' || std::filesystem::is_directory(path, none));
}

/// Writes a timeline in the format that the name asks for; nothing for no name.
void
WriteTimeline(const std::string& path,
              const ReportedRun& run,
              const RunRecord& result,
              const std::vector<IterationUse>& iterations)
{
    if (path.empty())
    {
        return;
    }
    if (IsFolder(path))
    {
        WriteKinetoTraces(
            run.graph,
            run.cluster,
            result.timeline,
            [&](DeviceId rank, const std::function<void(std::ostream&)>& write) {
                const std::string name = "rank" + std::to_string(rank) + ".json";
                WriteFile((std::filesystem::path(path) / name).string(), write);
            },
            iterations);
        return;
    }
    WriteFile(path, [&](std::ostream& out) {
        if (IsPerfetto(path))
        {
            WritePerfettoTrace(run.graph, run.cluster, result, out, iterations);
        }
        else
        {
            WriteChromeTrace(run.graph, run.cluster, result, out, iterations);
        }
    });
}

/// @param executor of a result @return which rung of the ladder it is
std::string
DescribeExecutor(const std::string& executor)
{
    const ExecutorTraits& traits = FindExecutor(executor).GetTraits();
    return (traits.isExact ? "" : "an approximation: ") + traits.description;
}

} // namespace

bool
ResultOptions::NeedsChannels() const
{
    return !timeline.empty() && !IsFolder(timeline);
}

void
ResultOptions::AddTo(OptionList& command)
{
    command.AddOutput("timeline",
                      "write a timeline to this file, for ui.perfetto.dev: .pftrace in its own "
                      "format; any other as Chrome JSON. Or to a folder, NAME/: a "
                      "file per rank as PyTorch's profiler writes it, for Holistic Trace Analysis",
                      timeline,
                      ".json");
    command.AddParts("timeline", R"(/rank\d+\.json)");
    command.AddHint("trace",
                    "--timeline=FILE writes the timeline (--trace reads one, in proteus-run)");
    command.AddOutput("report",
                      "write a report to this .html file: one page, which needs no network",
                      report);
    tables.AddTo(command);
    command.AddOutput("csv", "write the spans of all tasks to this file", csv, ".csv");
    command.AddOutput("summary",
                      "write the most important results to this file as JSON",
                      summary,
                      ".json");
}

void
ResultOptions::Check() const
{
    RequirePageName("report", report);
    std::vector<std::string> files{report, csv, summary};
    if (IsFolder(timeline))
    {
        MakeFolder(timeline);
        CheckWritable((std::filesystem::path(timeline.c_str()) / "rank0.json").string());
    }
    else
    {
        files.push_back(timeline);
    }
    for (const std::string& path : files)
    {
        if (!path.empty())
        {
            CheckWritable(path);
        }
    }
    tables.Check();
}

void
ResultOptions::Write(const ReportedRun& run, const std::vector<Table>& more) const
{
    const auto write = [](const std::string& path, const std::function<void(std::ostream&)>& f) {
        if (!path.empty())
        {
            WriteFile(path, f);
        }
    };
    const AnalyzedRun analyzed = Analyze(run);
    const RunRecord& first = run.results.front();
    std::string summaries; // of several executors, an object by their names
    for (std::size_t i = 0; i < run.results.size(); ++i)
    {
        const std::string& executor = run.results[i].executor;
        const Summary& summaryOf = analyzed.analyses[i].summary;
        std::cout << (i == 0 ? "" : "\n") << "Executor: " << executor << " ("
                  << DescribeExecutor(executor) << ")\n\n";
        PrintSummary(summaryOf, std::cout);
        for (const std::string& note : run.results[i].notes)
        {
            std::cout << "Note: " << note << '\n';
        }
        std::ostringstream text;
        WriteSummaryJson(summaryOf, text, run.information.configuration);
        const std::string whole = AddToSummary(text.str(), more, executor);
        summaries += run.results.size() == 1
                         ? whole
                         : (i == 0 ? "{\"" : ",\n\"") + executor + "\": " + whole;
    }
    if (run.results.size() > 1)
    {
        summaries += "}\n";
    }
    write(summary, [&](std::ostream& out) { out << summaries; });
    WriteTimeline(timeline, run, first, analyzed.analyses.front().iterations.uses);
    WriteCsvFile(csv, [&](std::ostream& out) {
        WriteSpanCsv(run.graph, run.cluster, first.timeline, out);
    });
    write(report, [&](std::ostream& out) { WriteHtmlReport(analyzed, out); });
    if (tables.IsEmpty() && run.results.size() < 2)
    {
        return;
    }
    std::vector<Table> made = MakeResultTables(analyzed);
    if (run.results.size() > 1)
    {
        PrintExecutorComparison(analyzed, made.back(), std::cout);
    }
    made.insert(made.end(), more.begin(), more.end());
    if (!tables.folder.empty())
    {
        WriteCsvFile(tables.GetPath("links_over_time"),
                     [&](std::ostream& out) { WriteLinkSeriesCsv(run, out); });
        WriteCsvFile(tables.GetPath("memory_over_time"),
                     [&](std::ostream& out) { WriteMemorySeriesCsv(run, out); });
    }
    tables.Write(made);
}

namespace
{

constexpr double PS_PER_S = 1e12;

/// @param run with a timeline @param result one of its results @param peaks of its GPUs, FLOP/s
/// @return FLOPs that its GPUs could have done at their peaks while kernels ran; 0 without kernels
double
CountPossibleFlops(const ReportedRun& run,
                   const RunRecord& result,
                   const std::vector<double>& peaks)
{
    double flops = 0;
    for (const Span& span : result.timeline.spans)
    {
        const Task& task = run.graph.GetTask(span.task);
        if (task.kind == TaskKind::COMPUTE && !run.graph.IsHostStream(task.stream))
        {
            flops +=
                static_cast<double>(span.endPs - span.startPs) / PS_PER_S * peaks.at(span.device);
        }
    }
    return HasRepresentative(run.graph) ? flops * static_cast<double>(peaks.size()) : flops;
}

/// Names results in which the GPUs do more than they can. @param run whose results get notes
void
AddImpossibleRates(ReportedRun& run)
{
    const auto peaks = ListPeakFlops(run.cluster, run.graph.GetNDevices(), run.dataType);
    const double peak = std::accumulate(peaks.begin(), peaks.end(), 0.0);
    const double flops = run.graph.GetFacts().modelFlopsPerIteration; // of all iterations
    for (RunRecord& result : run.results)
    {
        const double takenS = static_cast<double>(result.timeline.endPs) / PS_PER_S;
        if (result.isPartial || !(flops > 0) || !(peak > 0) || !(takenS > 0))
        {
            continue;
        }
        const double leastS = flops / peak;
        const double kernelsS = CountPossibleFlops(run, result, peaks) / peak;
        const bool isShort = takenS < leastS;
        if (isShort || (kernelsS > 0 && kernelsS < leastS))
        {
            result.notes.push_back(
                std::string(isShort ? "an MFU above 100 % is" : "kernels faster than GPUs are") +
                " impossible: at the dense " + std::string(ToString(run.dataType)) +
                " peak of the GPUs the FLOPs of the model take " + FormatTime(leastS) +
                " at least, and " +
                (isShort ? "the run takes " + FormatTime(takenS)
                         : "kernels take " + FormatTime(kernelsS) + " on the mean GPU") +
                ": the times of kernels (--computeTime, --profile, a file) are "
                "too short, the FLOPs that the model or the file says too many, or --dataType "
                "another");
        }
    }
}

/// Names the files that are about the first of several results alone. @param run whose first result
/// gets notes @param options of the files
void
AddLeftOutOfFiles(ReportedRun& run, const ResultOptions& options)
{
    std::string others;
    for (std::size_t i = 1; i < run.results.size(); ++i)
    {
        AppendName(others, run.results[i].executor);
    }
    for (const auto& [name, path] :
         {std::make_pair("timeline", &options.timeline), std::make_pair("csv", &options.csv)})
    {
        if (!others.empty() && !path->empty())
        {
            run.results.front().notes.push_back(
                "--" + std::string(name) + "=" + std::string(*path) + " has the spans of " +
                run.results.front().executor + ", not those of " + others);
        }
    }
}

} // namespace

void
AddOptionNotes(ReportedRun& run, const ResultOptions& options)
{
    AddImpossibleRates(run);
    AddLeftOutOfFiles(run, options);
    if (!run.results.empty())
    {
        std::vector<std::string>& notes = run.results.front().notes;
        const std::vector<std::string>& known = run.information.notes;
        notes.insert(notes.end(), known.begin(), known.end());
        for (const auto& more :
             {RunNotes::FindOfJobs(),
              FindIdleAttributes(run.information.configuration, AttributeReaders::EXECUTORS)})
        {
            notes.insert(notes.end(), more.begin(), more.end());
        }
    }
}

} // namespace proteus
} // namespace ns3
