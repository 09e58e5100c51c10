/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-fabric-contenders.h"
#include "proteus-graph-times.h"
#include "proteus-host-waits.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-nic-payloads.h"
#include "proteus-option-meanings.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"
#include "proteus-unused-network.h"

#include "ns3/config.h"
#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-fabric-table.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-spread.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-tables.h"
#include "ns3/string.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One training job on several fabrics: how long an iteration takes, and what each fabric takes.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the model and strategy that the options name, or the usual job: pairs of GPUs with a
/// replica each, which reduce their gradients over the network all at once
ModelOptions
GetModelOptions(const FabricsOptions& options, const Cluster& cluster)
{
    ModelOptions model = options.model;
    if (model.model.empty() && model.strategy.empty())
    {
        const std::size_t gpus = cluster.GetGpus().size();
        const std::size_t tensor = gpus % 2 == 0 ? 2 : 1;
        const std::string replicas = std::to_string(gpus / tensor);
        model.model = "gpt3-125m";
        model.strategy = "tp=" + std::to_string(tensor) + ",dp=" + replicas +
                         ",globalBatch=" + replicas + ",dataType=bf16";
    }
    return model;
}

/// The job on the GPUs of one contender.
struct FabricJob
{
    ExecutionGraph graph;
    DataType dataType;              //!< whose peak rate utilisation refers to
    std::vector<std::string> notes; //!< on the job, see ProgramOptions::FitComputation()
};

/// @return the job
FabricJob
MakeJob(const FabricsOptions& options, const Cluster& cluster)
{
    std::vector<std::string> notes;
    if (!options.graph.empty())
    {
        if (!options.model.model.empty() || !options.model.strategy.empty())
        {
            throw std::invalid_argument("--graph and --model with --strategy are each a job; give "
                                        "one of them");
        }
        ExecutionGraph graph = LoadGraph(options.graph);
        CheckSizes(options.graph, graph);
        WarnOfTimes(options.graph, options, cluster, graph);
        WarnOfLargeSizes(options.graph, cluster, graph);
        WarnOfIdleDevices(options.graph, graph);
        graph = options.FitComputation(std::move(graph), notes);
        return {std::move(graph), DataType::BF16, std::move(notes)};
    }
    FrameworkOption trainedBy = options.framework;
    if (options.model.model.empty() && options.model.strategy.empty() && trainedBy.name.empty())
    {
        // So small a model would wait for a host that issues its kernels one by one.
        trainedBy.name = "megatron-core-graphs";
        notes.emplace_back("the usual job: every two GPUs with a replica, "
                           "--framework=megatron-core-graphs");
    }
    const auto [plan, framework] =
        trainedBy.LoadPlan(cluster,
                           options.launchInterval,
                           [model = GetModelOptions(options, cluster)](
                               const FrameworkDefaults& defaults) { return model.Load(defaults); });
    ExecutionGraph graph =
        options.FitComputation(CompileForCluster(plan, cluster, framework, ""), notes);
    options.NotePublishedErrors(framework, cluster, notes);
    NoteBalancedExperts(plan.model, graph, notes);
    NoteHostWaits(graph, framework.name, notes);
    return {std::move(graph), plan.tree.precision.compute, std::move(notes)};
}

/// @return the random streams that the comparison throws, at least one
std::vector<int64_t>
ListStreams(const FabricsOptions& options)
{
    if (options.streams.empty())
    {
        return {options.stream};
    }
    const auto streams = ReadNamed("--streams", [&]() { return ParseNumbers(options.streams); });
    return {streams.begin(), streams.end()};
}

/// @param typed value of --cluster @return the servers that it means, see MakeTextVariant()
/// @throw std::invalid_argument if it says more than servers
std::string
FindServers(const std::string& typed)
{
    const std::string name = FindClusterName(typed);
    return IsClusterText(name) || !FindServerPreset(name).empty()
               ? name
               : MatchName("cluster", name, GetServerPresets());
}

/// What came out for one fabric.
struct FabricRun
{
    FabricRow row;
    std::string job;                //!< in words
    std::vector<std::string> notes; //!< on it
};

/// Compiles jobs on other GPUs, or another number of them, than the first contender has, to refuse
/// what does not fit before anything runs.
void
CheckOtherGpus(const FabricsOptions& options, const std::vector<Contender>& contenders)
{
    std::set<std::pair<std::string, std::size_t>> met; // GPUs, and how many
    for (const Contender& contender : contenders)
    {
        const Cluster cluster = MakeContenderCluster(options, contender);
        const std::vector<VertexId>& gpus = cluster.GetGpus();
        const bool isFirst = met.empty();
        const bool isNew = met.emplace(cluster.GetVertices()[gpus.at(0)].model, gpus.size()).second;
        if (isNew && !isFirst)
        {
            ReadNamed("--fabrics: " + GetName(contender),
                      [&]() { options.CheckMemory(MakeJob(options, cluster).graph, cluster); });
        }
    }
}

/// Runs the job on one fabric, once for every stream. @param isFirst whether nothing has run before
/// @return the row of the median, with the spread
FabricRun
RunContender(const FabricsOptions& options,
             const Contender& contender,
             const Cluster& cluster,
             const std::string& executor,
             bool isFirst)
{
    auto [graph, dataType, notes] = MakeJob(options, cluster);
    if (isFirst)
    {
        options.CheckMemory(graph, cluster);
    }
    Config::SetDefault("ns3::proteus::Fabric::Routing", StringValue(contender.variant.routing));
    std::ostringstream unheard;
    std::ostream& out = options.quiet ? unheard : std::cerr;
    std::vector<FabricRow> rows;
    std::vector<double> times;
    std::vector<std::string> unseen;
    for (const int64_t stream : ListStreams(options))
    {
        FabricsOptions thrown = options;
        thrown.stream = stream;
        const RunRecord result = RunWhole(thrown, executor, cluster, graph, out);
        const RunAnalysis analysis = Analyze(graph, cluster, result, dataType);
        rows.push_back(MakeFabricRow(contender.variant, cluster, analysis.summary, analysis.links));
        times.push_back(rows.back().iterationS);
        unseen =
            FindUnseenNetwork(FindExecutor(executor).GetTraits(), cluster, graph, result.links);
    }
    notes.insert(notes.end(), unseen.begin(), unseen.end());
    std::stable_sort(rows.begin(), rows.end(), [](const FabricRow& a, const FabricRow& b) {
        return a.iterationS < b.iterationS;
    });
    FabricRow row = rows[(rows.size() - 1) / 2];
    if (times.size() > 1)
    {
        row.throws = FindSpread(times);
        row.iterationS = row.throws->median;
    }
    row.executor = ListExecutors(options).size() > 1 ? executor : "";
    const std::string& name = graph.GetFacts().name;
    return {row,
            (name.empty() ? "The graph" : name) + " on " + std::to_string(graph.GetNDevices()) +
                " GPUs",
            notes};
}

/// @param runs at least one @return what they say of their jobs, each sentence once, with the
/// number of rows that do; and which rows have another job than the first
std::vector<std::string>
ListJobNotes(const std::vector<FabricRun>& runs)
{
    std::vector<std::pair<std::string, std::size_t>> counts; // in the order of the rows
    const auto add = [&counts](const std::string& note) {
        const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& counted) {
            return counted.first == note;
        });
        if (found == counts.end())
        {
            counts.emplace_back(note, 1);
            return;
        }
        ++found->second;
    };
    for (const FabricRun& run : runs)
    {
        if (run.job != runs.front().job)
        {
            add("the job is " + run.job + ", another one than that of the first row");
        }
        std::for_each(run.notes.begin(), run.notes.end(), add);
    }
    std::vector<std::string> lines;
    for (const auto& [note, rows] : counts)
    {
        lines.push_back(DescribePart(rows, runs.size(), "row") + note);
    }
    return lines;
}

/// Prints the comparison. @param rows at least one
void
Print(const FabricsOptions& options, const std::string& job, const std::vector<FabricRow>& rows)
{
    std::cout << job << ", " << options.nodes << " x " << options.cluster << ", executor "
              << options.executor << "\n\n";
    WriteFabricTable(rows, FabricTableFormat::TEXT, std::cout);
    std::cout << "\nLonger: than the first row. Exposed: communication during which a GPU does not "
                 "compute, mean.\nPorts of switches and cables are counted at the rate of a NIC; "
                 "Radix: ports of the largest switch.\nCost: of performance, ports times "
                 "iteration over those of the first row; the network alone.\n"
              << (KnowRouting(options, "Adaptive")
                      ? ""
                      : "Adaptive routing is known to packets and flows only: --executor=packet.\n")
              << (options.streams.empty()
                      ? ""
                      : "Iteration: median of the streams. Within spread: the ranges from least to "
                        "most of this row and\nthe first meet, so that chance may be all of the "
                        "difference.\n");
}

/// @return the comparison as a picture
BarChart
MakeChart(const std::vector<FabricRow>& rows, const std::string& job, const FabricsOptions& options)
{
    BarChart chart;
    chart.title = job + " by fabric";
    chart.subtitle = "Iteration on " + std::to_string(options.nodes) + " x " + options.cluster +
                     ", executor " + options.executor;
    chart.parts = {"computation, waiting and hidden communication", "exposed communication"};
    for (const FabricRow& row : rows)
    {
        const double relative = row.iterationS / rows.front().iterationS;
        const double exposedS = std::min(row.exposedS, row.iterationS);
        chart.bars.push_back({DescribeFabric(row),
                              {row.iterationS - exposedS, exposedS},
                              FormatTime(row.iterationS) + ", x " + FormatNumber(relative, 2)});
    }
    return chart;
}

/// Writes what the user asked for. @param rows at least one @param notes on the job
void
WriteFiles(const FabricsOptions& options,
           const std::vector<FabricRow>& rows,
           const std::vector<std::string>& notes)
{
    const std::string endedBy = StopSignals::IsObeyed() ? StopSignals::GetName() : "";
    for (const auto& [path, format] :
         {std::make_pair(options.csv, FabricTableFormat::CSV),
          std::make_pair(options.markdown, FabricTableFormat::MARKDOWN)})
    {
        if (!path.empty())
        {
            WriteFile(path, [&, format = format](std::ostream& out) {
                out << (endedBy.empty() ? "" : "# PARTIAL: ended by " + endedBy + '\n');
                WriteFabricTable(rows, format, out);
            });
        }
    }
    if (!options.json.empty())
    {
        std::vector<std::string> all = notes;
        const std::vector<std::string> more = options.command->GetNotes();
        all.insert(all.end(), more.begin(), more.end());
        WriteFile(options.json, [&](std::ostream& out) {
            WriteFabricJson(rows, options.information.configuration, endedBy, all, out);
        });
    }
}

void
CompareFabrics(FabricsOptions& options)
{
    options.cluster = FindServers(options.cluster);
    if (IsClusterText(options.cluster))
    {
        MakeTextVariant(options.cluster, 2, FabricVariant()); // refuses what is not of servers
        LoadCluster(options.cluster, 2);                      // warns of doubtful rates
    }
    for (const CommandLineText* path : {&options.csv, &options.json, &options.markdown})
    {
        if (!path->empty())
        {
            CheckWritable(*path);
        }
    }
    options.Check();
    options.plot.Check();
    ListStreams(options);
    const std::vector<Contender> contenders = ListContenders(options, options.fabric.GetOptions());
    WarnOfSame(options, contenders);
    WarnOfFitted(options, contenders);
    const std::vector<std::string> executors = ListExecutors(options);
    CheckOtherGpus(options, contenders);
    std::vector<FabricRun> runs;
    NicPayloads payloads;
    for (const std::string& executor : executors)
    {
        for (const Contender& contender : contenders)
        {
            const FabricVariant& variant = contender.variant;
            const Cluster cluster = MakeContenderCluster(options, contender);
            payloads.Add(cluster);
            FabricsOptions named = options;
            named.runName = std::to_string(runs.size() + 1) + " of " +
                            std::to_string(contenders.size() * executors.size()) + ", " +
                            variant.name +
                            (variant.technology.empty() ? "" : ", " + variant.technology) + ", " +
                            variant.routing;
            try
            {
                ThrowIfStopped();
                runs.push_back(RunContender(named, contender, cluster, executor, runs.empty()));
            }
            catch (const RunStopped&)
            {
                if (runs.empty())
                {
                    throw;
                }
                break;
            }
        }
    }
    const std::string& job = runs.front().job;
    std::vector<FabricRow> rows;
    std::transform(runs.begin(), runs.end(), std::back_inserter(rows), [](const FabricRun& run) {
        return run.row;
    });
    Print(options, job, rows);
    std::vector<std::string> notes = ListJobNotes(runs);
    if (const std::string difference = payloads.Describe(); !difference.empty())
    {
        notes.push_back(difference);
    }
    for (const std::string& note : notes)
    {
        std::cout << "Note: " << note << '\n';
    }
    std::cout << DescribeStop(rows.size(), contenders.size() * executors.size(), "rows");
    options.plot.Write([&](std::ostream& out) { WriteBarSvg(MakeChart(rows, job, options), out); });
    WriteFiles(options, rows, notes);
}

/// The program.
class FabricsProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-fabrics";
    }

    void AddTo(OptionList& command) override
    {
        m_options.model.folder = GetWorkloads() + "/models";
        command.Usage(
            "Runs one training job on the same servers, joined by several fabrics, and prints\n"
            "a table of how long an iteration takes and what the fabrics are made of. The usual\n"
            "job: GPT-3 125M in CUDA graphs, every two GPUs with a replica.");
        m_options.model.AddTo(command, m_options.framework, [this]() {
            return m_options.FindGpu();
        });
        command.AddValue("graph", "execution graph to run, a .json or .pb file", m_options.graph);
        command.AddInput("graph");
        m_options.model.AddIdleTo(command, [this]() {
            return m_options.graph.empty() ? "" : "the job is that of --graph";
        });
        command.AddValue(
            "fabrics",
            "what to compare, separated by commas, or by semicolons where a part has "
            "commas: KIND[:RATIO][+infiniband|+roce][+ecmp|+adaptive|+spray|+up-down]"
            "[+cables][+rails=N], KIND one of --fabric but nvlink-domain, or single-rail; presets, "
            "also "
            "with changes (dgx-a100:nic=4x); cluster files (default: the usual twelve, "
            "with packets)",
            m_options.fabrics);
        command.AddValue("cluster",
                         "server preset, or one with changes of the server, e.g. dgx-a100 or "
                         "dgx-h100:nic=4x200G",
                         m_options.cluster);
        command.AddMeaning("cluster", GetClusterMeaning);
        command.AddValue("nodes", "servers", m_options.nodes);
        const std::string own = "what --fabrics names says it itself";
        command.AddIdle("nodes",
                        [this, own]() { return DoesNoneTake(m_options, TakesNodes) ? own : ""; });
        command.AddIdle("cluster", [this, own]() {
            const auto takes = [](const Contender& contender) { return contender.cluster.empty(); };
            return DoesNoneTake(m_options, takes) ? own : "";
        });
        m_options.fabric.AddTo(command, [this](const FabricOptions& sizes) {
            return DescribeNetworks(m_options, sizes);
        });
        m_options.framework.AddTo(command);
        m_options.nccl.AddTo(command, nullptr);
        command.AddValue("stream",
                         "random stream that decides which of several equal paths a flow takes",
                         m_options.stream);
        command.AddIdle("stream", [this]() {
            return m_options.streams.empty() ? "" : "--streams says which there are";
        });
        command.AddValue("streams",
                         "several random streams, e.g. 1-20: the median is compared, and least and "
                         "most are shown",
                         m_options.streams);
        command.AddIdle("streams", [this]() {
            const std::vector<std::string> executors = ListExecutors(m_options);
            return std::any_of(executors.begin(),
                               executors.end(),
                               [](const std::string& executor) {
                                   return FindExecutor(executor).GetTraits().hasPaths;
                               })
                       ? ""
                       : "no executor of this run chooses among equal paths";
        });
        AddLaunchInterval(
            command,
            "least time of a kernel (default: the framework's): the host's pace in issuing them",
            m_options.launchInterval);
        m_options.AddComputeTimeTo(command);
        command.AddValue("executor",
                         "how finely time is resolved, one or several of those of proteus-run",
                         m_options.executor);
        AddExecutorNames(command);
        command.AddValue("calibration",
                         "file of proteus-calibrate with parameters of the flow network, with "
                         "--executor=flow",
                         m_options.calibration);
        command.AddInput("calibration");
        command.AddOutput("csv", "write the table to this file as CSV", m_options.csv, ".csv");
        command.AddOutput("json", "write the table to this file as JSON", m_options.json, ".json");
        m_options.plot.AddTo(command);
        command.AddOutput("markdown",
                          "write the table to this file as Markdown",
                          m_options.markdown,
                          ".md");
        command.AddValue("ignoreMemory",
                         "run also what does not fit into memory",
                         m_options.ignoreMemory);
        command.AddValue("quiet", "no progress", m_options.quiet);
        m_options.command = &command;
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
    }

    std::vector<Table> DescribeTables() override
    {
        return {}; // --json has the columns of --csv
    }

    void Run() override
    {
        CompareFabrics(m_options);
    }

    FabricsOptions m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeFabricsProgram(const std::string& workloads)
{
    return std::make_unique<FabricsProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
