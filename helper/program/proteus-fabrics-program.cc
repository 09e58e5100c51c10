/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-executors.h"
#include "proteus-model-options.h"
#include "proteus-name-lists.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"

#include "ns3/config.h"
#include "ns3/proteus-fabric-table.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/string.h"

#include <algorithm>
#include <iostream>
#include <memory>
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
    CommandLineText markdown;
};

/// @return the executor; a comparison has one
std::string
GetExecutor(const Options& options)
{
    const std::vector<std::string> executors =
        ParseExecutors(options.executor, options.htae, options.calibration);
    if (executors.size() > 1)
    {
        throw std::invalid_argument("--executor=" + options.executor +
                                    ": a comparison of fabrics has one executor");
    }
    return executors[0];
}

/// @return whether an executor knows how switches choose among equal ports: at flow level a flow
/// has one path
bool
KnowsRouting(const std::string& executor)
{
    return FindExecutor(executor).GetTraits().hasPackets;
}

/// @return the fabrics to compare
std::vector<FabricVariant>
ListVariants(const Options& options)
{
    const FabricOptions sizes = options.fabric.GetOptions();
    if (sizes.kind != FabricOptions().kind || sizes.oversubscription != 1)
    {
        throw std::invalid_argument("--fabric and --oversubscription: kinds and ratios of all "
                                    "fabrics are said in --fabrics, e.g. "
                                    "--fabrics=fat-tree,leaf-spine:2");
    }
    const FabricOptions base = FitFabricOptions(sizes, ToCount(options.nodes, "nodes", 2));
    std::vector<FabricVariant> variants;
    if (options.fabrics.empty())
    {
        for (const std::string& text : GetUsualFabricVariants())
        {
            variants.push_back(FitSpines(ParseFabricVariant(text, base), options.cluster));
        }
        variants.erase(std::remove_if(variants.begin(),
                                      variants.end(),
                                      [&](const FabricVariant& variant) {
                                          return !KnowsRouting(GetExecutor(options)) &&
                                                 variant.routing != "Ecmp";
                                      }),
                       variants.end());
        return variants;
    }
    std::stringstream stream(options.fabrics);
    for (std::string text; std::getline(stream, text, ',');)
    {
        variants.push_back(FitSpines(ParseFabricVariant(text, base), options.cluster));
        if (!KnowsRouting(GetExecutor(options)) && variants.back().routing != "Ecmp")
        {
            throw std::invalid_argument("--fabrics: " + text + ": the executor " +
                                        options.executor +
                                        " knows ECMP only; take --executor=packet");
        }
    }
    return variants;
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

/// @return the job, and the number format whose peak rate utilisation refers to
std::pair<ExecutionGraph, DataType>
MakeJob(const Options& options, const Cluster& cluster)
{
    if (!options.graph.empty())
    {
        if (!options.model.model.empty() || !options.model.strategy.empty())
        {
            throw std::invalid_argument("--graph and --model with --strategy are each a job; give "
                                        "one of them");
        }
        return {LoadGraph(options.graph), DataType::BF16};
    }
    const TrainingPlan plan = GetModelOptions(options, cluster).Load(options.framework.GetPlan());
    return {CompileForCluster(plan,
                              cluster,
                              options.framework.Load(plan, cluster, options.launchInterval),
                              ""),
            plan.tree.precision.compute};
}

/// Runs the job on one fabric.
FabricRow
RunVariant(const Options& options,
           const FabricVariant& variant,
           const ExecutionGraph& graph,
           DataType dataType)
{
    const Cluster cluster =
        MakeVariantCluster(options.cluster, ToCount(options.nodes, "nodes", 2), variant);
    Config::SetDefault("ns3::proteus::Fabric::Routing", StringValue(variant.routing));
    std::ostringstream unheard;
    std::ostream& out = options.quiet ? unheard : std::cerr;
    const RunRecord result = RunExecutor(options, GetExecutor(options), cluster, graph, out);
    const RunAnalysis analysis = Analyze(graph, cluster, result, dataType);
    return MakeFabricRow(variant, cluster, analysis.summary, analysis.links);
}

void
CompareFabrics(Options& options)
{
    options.cluster = FindClusterName(options.cluster);
    for (const CommandLineText* path : {&options.csv, &options.json, &options.markdown})
    {
        if (!path->empty())
        {
            CheckWritable(*path);
        }
    }
    options.Check();
    const std::vector<FabricVariant> variants = ListVariants(options);
    const uint32_t nodes = ToCount(options.nodes, "nodes", 2);
    const auto [graph, dataType] =
        MakeJob(options, MakeVariantCluster(options.cluster, nodes, variants.front()));
    std::vector<FabricRow> rows;
    for (const FabricVariant& variant : variants)
    {
        Options named = options;
        named.runName = std::to_string(rows.size() + 1) + " of " + std::to_string(variants.size()) +
                        ", " + variant.name +
                        (variant.technology.empty() ? "" : ", " + variant.technology) + ", " +
                        variant.routing;
        rows.push_back(RunVariant(named, variant, graph, dataType));
    }
    const std::string& name = graph.GetFacts().name;
    std::cout << (name.empty() ? "The graph" : name) << " on " << graph.GetNDevices() << " GPUs, "
              << nodes << " x " << options.cluster << ", executor " << GetExecutor(options)
              << "\n\n";
    WriteFabricTable(rows, FabricTableFormat::TEXT, std::cout);
    std::cout << "\nLonger: than the first row. Exposed: communication during which a GPU does not "
                 "compute, mean.\nPorts of switches and cables are counted at the rate of a NIC; "
                 "Radix: ports of the largest switch.\nCost: of performance, ports times "
                 "iteration over those of the first row; the network alone.\n"
              << (KnowsRouting(GetExecutor(options))
                      ? ""
                      : "Adaptive routing is known at packet level only: --executor=packet.\n");
    for (const auto& [path, format] :
         {std::make_pair(options.csv, FabricTableFormat::CSV),
          std::make_pair(options.json, FabricTableFormat::JSON),
          std::make_pair(options.markdown, FabricTableFormat::MARKDOWN)})
    {
        if (!path.empty())
        {
            WriteFile(path, [&rows = rows, format = format](std::ostream& out) {
                WriteFabricTable(rows, format, out);
            });
        }
    }
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
        m_options.model.AddTo(command);
        command.AddValue("graph", "execution graph to run, a .json or .pb file", m_options.graph);
        command.AddValue("fabrics",
                         "fabrics to compare, separated by commas: KIND[:RATIO][+infiniband|+roce]"
                         "[+ecmp|+adaptive|+spray|+up-down][+rails=N]; KIND is one of --fabric or "
                         "single-rail (default: the usual twelve, with packets)",
                         m_options.fabrics);
        command.AddValue("cluster", "server preset, e.g. dgx-a100", m_options.cluster);
        command.AddValue("nodes", "servers", m_options.nodes);
        m_options.fabric.AddTo(command);
        command.AddValue("stream",
                         "random stream that decides which of several equal paths a flow takes",
                         m_options.stream);
        command.AddValue(
            "launchInterval",
            "least time of a kernel (default 102.7 us): the host's pace in issuing them",
            m_options.launchInterval);
        command.AddValue("executor",
                         "how finely time is resolved, one of those of proteus-run",
                         m_options.executor);
        command.AddValue("calibration",
                         "file of proteus-calibrate with parameters of the flow network, with "
                         "--executor=flow",
                         m_options.calibration);
        command.AddOutput("csv", "write the table to this file as CSV", m_options.csv);
        command.AddOutput("json", "write the table to this file as JSON", m_options.json);
        command.AddOutput("markdown",
                          "write the table to this file as Markdown",
                          m_options.markdown);
        command.AddValue("quiet", "no progress", m_options.quiet);
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
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
