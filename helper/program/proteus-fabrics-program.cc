/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-graph-times.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-option-meanings.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-stop-signals.h"

#include "ns3/config.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-fabric-table.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"
#include "ns3/string.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

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

/// What the user asked for; what ProgramOptions has beyond these options keeps its defaults.
struct Options : ProgramOptions
{
    Options()
    {
        cluster = "dgx-h100";
        nodes = 4;
    }

    ModelOptions model;
    CommandLineText graph;
    CommandLineText fabrics;
    CommandLineText csv;
    CommandLineText json;
    PlotOption plot;
    CommandLineText markdown;
    std::string streams;
    const OptionList* command{nullptr}; //!< that has them
};

/// One thing that is compared: servers joined by a fabric, or a cluster by its name.
struct Contender
{
    FabricVariant variant; //!< of the preset; of another cluster only its name and routing count
    std::string cluster;   //!< preset with changes, or file; empty: the preset of --cluster
};

/// @return the executors
std::vector<std::string>
ListExecutors(const Options& options)
{
    return ParseExecutors(options.executor, options.htae, options.calibration);
}

/// @param routing FabricVariant::routing @return whether all executors know how switches choose
/// among equal ports by it: flows have one path, or a part on each
bool
KnowRouting(const Options& options, const std::string& routing)
{
    const std::vector<std::string> executors = ListExecutors(options);
    const bool isSpread = routing == "Spray" || routing == "Adaptive";
    return routing == "Ecmp" ||
           std::all_of(executors.begin(), executors.end(), [&](const std::string& executor) {
               const ExecutorTraits& traits = FindExecutor(executor).GetTraits();
               return traits.hasPackets || (traits.hasCongestion && isSpread);
           });
}

/// @return the parts of --fabrics; clusters in short form have commas of their own, so that ";"
/// separates where there is one
/// @throw std::invalid_argument for a part that is empty, or there twice
std::vector<std::string>
SplitFabrics(const std::string& text)
{
    return SplitOnce("--fabrics=" + text, text, text.find(';') == std::string::npos ? ',' : ';');
}

/// @return one part of --fabrics
Contender
ParseContender(const std::string& text, const FabricOptions& base, const Options& options)
{
    Contender contender;
    std::error_code error;
    const std::string preset = FindServerPreset(text);
    if (IsClusterText(text) || std::filesystem::is_regular_file(GetClusterPath(text), error) ||
        !preset.empty())
    {
        contender.cluster = preset.empty() ? text : preset;
        contender.variant.name = contender.cluster;
        return contender;
    }
    contender.variant = ReadNamed("--fabrics=" + std::string(options.fabrics), [&]() {
        return FitSpines(ParseFabricVariant(text, base), options.cluster);
    });
    if (!KnowRouting(options, contender.variant.routing))
    {
        throw std::invalid_argument("--fabrics: " + text + ": the executor " + options.executor +
                                    " does not know this routing; take --executor=packet");
    }
    return contender;
}

/// @param sizes of fabrics, where --fabrics says nothing else @return what is compared
std::vector<Contender>
ListContenders(const Options& options, const FabricOptions& sizes)
{
    if (sizes.kind != FabricOptions().kind || sizes.oversubscription != 1)
    {
        throw std::invalid_argument("--fabric and --oversubscription: kinds and ratios of all "
                                    "fabrics are said in --fabrics, e.g. "
                                    "--fabrics=fat-tree,leaf-spine:2");
    }
    if (IsChanged(FindAttribute(Fabric::GetTypeId(), "Routing")))
    {
        throw std::invalid_argument("--ns3::proteus::Fabric::Routing: how switches choose is said "
                                    "in --fabrics, e.g. --fabrics=leaf-spine+spray");
    }
    const FabricOptions base =
        FitFabricOptions(sizes, ToCount(options.nodes, "nodes", 2, MAX_SERVERS));
    std::vector<Contender> contenders;
    if (!options.fabrics.empty())
    {
        for (const std::string& text : SplitFabrics(options.fabrics))
        {
            contenders.push_back(ParseContender(text, base, options));
        }
        return contenders;
    }
    for (const std::string& text : GetUsualFabricVariants())
    {
        const FabricVariant variant = FitSpines(ParseFabricVariant(text, base), options.cluster);
        if (KnowRouting(options, variant.routing))
        {
            contenders.push_back({variant, ""});
        }
    }
    return contenders;
}

/// @return whether --nodes says how many servers a contender has
bool
TakesNodes(const Contender& contender)
{
    const std::string& cluster = contender.cluster;
    const auto presets = GetServerPresets();
    return cluster.empty() || std::find(presets.begin(), presets.end(), cluster) != presets.end() ||
           (IsClusterText(cluster) && cluster.find("nodes=") == std::string::npos);
}

/// @return the cluster of a contender
Cluster
MakeContenderCluster(const Options& options, const Contender& contender)
{
    const uint32_t nodes = ToCount(options.nodes, "nodes", 2, MAX_SERVERS);
    return contender.cluster.empty()
               ? MakeVariantCluster(options.cluster, nodes, contender.variant)
               : LoadCluster(contender.cluster, TakesNodes(contender) ? nodes : 0);
}

/// Names contenders that are the same network, switched alike, and those with other GPUs than the
/// first one. As all are built, what cannot be is refused before the first runs.
void
WarnOfSame(const Options& options, const std::vector<Contender>& contenders)
{
    const auto getName = [](const Contender& contender) {
        return contender.cluster.empty() ? contender.variant.name : contender.cluster;
    };
    std::map<std::string, std::string> met;
    std::set<std::string> firstModels;
    for (const Contender& contender : contenders)
    {
        const Cluster cluster = MakeContenderCluster(options, contender);
        std::set<std::string> models;
        for (const VertexId gpu : cluster.GetGpus())
        {
            models.insert(cluster.GetVertices()[gpu].model);
        }
        firstModels = met.empty() ? models : firstModels;
        if (models != firstModels)
        {
            Warn("--fabrics: " + getName(contender) + " has GPUs of " + ListNames(models) + ", " +
                 getName(contenders.front()) + " of " + ListNames(firstModels) +
                 ": their times differ by more than the network");
        }
        std::ostringstream text;
        WriteClusterJson(cluster, text);
        const std::string json = text.str();
        const auto [first, isNew] =
            met.emplace(contender.variant.routing + json.substr(json.find("\"vertices\"")),
                        getName(contender));
        if (!isNew)
        {
            Warn("--fabrics: " + getName(contender) + " is the same network as " + first->second +
                 ", switched alike");
        }
    }
}

/// Names sizes that were asked for and fitted to the servers that there are.
void
WarnOfFitted(const Options& options, const std::vector<Contender>& contenders)
{
    std::map<std::string, std::string> first; // contender, by line
    for (const Contender& contender : contenders)
    {
        const auto lines = contender.cluster.empty()
                               ? options.fabric.ListFitted(contender.variant.fabric)
                               : std::vector<std::string>();
        for (const std::string& line : lines)
        {
            first.emplace(line, contender.variant.name);
        }
    }
    for (const auto& [line, name] : first)
    {
        Warn(line + " in " + name +
             ": leaves have at most half of the servers, groups no more than there are, and there "
             "are no more spines than a leaf has cables up");
    }
}

/// @param options whose --fabrics is looked at @param takes whether a contender takes something
/// @return whether none does
bool
DoesNoneTake(const Options& options, const std::function<bool(const Contender&)>& takes)
{
    try
    {
        const auto contenders = ListContenders(options, options.fabric.GetOptions());
        return std::none_of(contenders.begin(), contenders.end(), takes);
    }
    catch (const std::invalid_argument&) // which the run reports
    {
        return false;
    }
}

/// @param sizes of fabrics @return the networks of all contenders
std::string
DescribeNetworks(const Options& options, const FabricOptions& sizes)
{
    std::string networks;
    for (const Contender& contender : ListContenders(options, sizes))
    {
        networks += DescribeNetwork(MakeContenderCluster(options, contender)) + '\n';
    }
    return networks;
}

/// @return the model and strategy that the options name, or the usual job: pairs of GPUs with a
/// replica each, which reduce their gradients over the network all at once
ModelOptions
GetModelOptions(const Options& options, const Cluster& cluster)
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

/// @param notes see ProgramOptions::FitComputation() @return the job, and the number format whose
/// peak rate utilisation refers to
std::pair<ExecutionGraph, DataType>
MakeJob(const Options& options, const Cluster& cluster, std::vector<std::string>& notes)
{
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
        return {options.FitComputation(std::move(graph), notes), DataType::BF16};
    }
    const auto [plan, framework] = options.framework.LoadPlan(
        cluster,
        options.launchInterval,
        [model = GetModelOptions(options, cluster)](const FrameworkDefaults& defaults) {
            return model.Load(defaults);
        });
    ExecutionGraph graph =
        options.FitComputation(CompileForCluster(plan, cluster, framework, ""), notes);
    options.NotePublishedErrors(framework, cluster, notes);
    NoteBalancedExperts(plan.model, graph, notes);
    return {std::move(graph), plan.tree.precision.compute};
}

/// @return the random streams that the comparison throws, at least one
std::vector<int64_t>
ListStreams(const Options& options)
{
    if (options.streams.empty())
    {
        return {options.stream};
    }
    const auto streams = ReadNamed("--streams", [&]() { return ParseNumbers(options.streams); });
    return {streams.begin(), streams.end()};
}

/// Runs the job on one fabric, once for every stream. @return the row of the median, with the
/// spread
FabricRow
RunContender(const Options& options,
             const Contender& contender,
             const Cluster& cluster,
             const std::string& executor)
{
    std::vector<std::string> notes; // those of the first fabric are shown
    const auto [graph, dataType] = MakeJob(options, cluster, notes);
    Config::SetDefault("ns3::proteus::Fabric::Routing", StringValue(contender.variant.routing));
    std::ostringstream unheard;
    std::ostream& out = options.quiet ? unheard : std::cerr;
    std::vector<FabricRow> rows;
    std::vector<double> times;
    for (const int64_t stream : ListStreams(options))
    {
        Options thrown = options;
        thrown.stream = stream;
        const RunRecord result = RunWhole(thrown, executor, cluster, graph, out);
        const RunAnalysis analysis = Analyze(graph, cluster, result, dataType);
        rows.push_back(MakeFabricRow(contender.variant, cluster, analysis.summary, analysis.links));
        times.push_back(rows.back().iterationS);
    }
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
    return row;
}

/// Prints the comparison. @param rows at least one
void
Print(const Options& options, const std::string& job, const std::vector<FabricRow>& rows)
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
MakeChart(const std::vector<FabricRow>& rows, const std::string& job, const Options& options)
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
WriteFiles(const Options& options,
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
CompareFabrics(Options& options)
{
    options.cluster = MatchName("cluster", FindClusterName(options.cluster), GetServerPresets());
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
    std::vector<FabricRow> rows;
    std::string job;
    std::vector<std::string> notes;
    for (const std::string& executor : executors)
    {
        for (const Contender& contender : contenders)
        {
            const FabricVariant& variant = contender.variant;
            const Cluster cluster = MakeContenderCluster(options, contender);
            if (job.empty())
            {
                const ExecutionGraph graph = MakeJob(options, cluster, notes).first;
                options.CheckMemory(graph, cluster);
                const std::string& name = graph.GetFacts().name;
                job = (name.empty() ? "The graph" : name) + " on " +
                      std::to_string(graph.GetNDevices()) + " GPUs";
            }
            Options named = options;
            named.runName = std::to_string(rows.size() + 1) + " of " +
                            std::to_string(contenders.size() * executors.size()) + ", " +
                            variant.name +
                            (variant.technology.empty() ? "" : ", " + variant.technology) + ", " +
                            variant.routing;
            try
            {
                ThrowIfStopped();
                rows.push_back(RunContender(named, contender, cluster, executor));
            }
            catch (const RunStopped&)
            {
                if (rows.empty())
                {
                    throw;
                }
                break;
            }
        }
    }
    Print(options, job, rows);
    for (const std::string& note : notes)
    {
        std::cout << "Note, first row: " << note << '\n';
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
            "job: GPT-3 125M, every two GPUs with a replica.");
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
            "[+cables][+rails=N], KIND one of --fabric or single-rail; presets, also "
            "with changes (dgx-a100:nic=4x); cluster files (default: the usual twelve, "
            "with packets)",
            m_options.fabrics);
        command.AddValue("cluster", "server preset, e.g. dgx-a100", m_options.cluster);
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

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeFabricsProgram(const std::string& workloads)
{
    return std::make_unique<FabricsProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
