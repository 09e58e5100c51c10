/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"
#include "proteus-compile-tables.h"
#include "proteus-kernel-list.h"
#include "proteus-model-options.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"
#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/nstime.h"
#include "ns3/proteus-chakra.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph-dot.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-layout-table.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-profile-json.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-strategy-json.h"

#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Compiles a model and a strategy to an execution graph, and says what it communicates and how much
 * memory it needs.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// What the user asked for.
struct Options
{
    ModelOptions model;
    std::string gpu{"A100-SXM4-80GB"};
    LaunchInterval launchInterval;
    FrameworkOption framework;
    CommandLineText profile;
    CommandLineText graph;
    CommandLineText chakra;
    CommandLineText inventory;
    CommandLineText memory;
    CommandLineText layouts;
    CommandLineText kernels;
    TableOptions tables;
    bool isUntimed{false};
    bool expand{false};
    bool quiet{false};
};

/// Checks what can be known to be wrong before the compilation.
void
Check(const Options& options)
{
    for (const std::string& file :
         {options.graph, options.inventory, options.memory, options.layouts, options.kernels})
    {
        if (!file.empty())
        {
            CheckWritable(file);
        }
    }
    options.tables.Check();
    const bool writes = !options.graph.empty() || !options.chakra.empty() ||
                        !options.inventory.empty() || !options.memory.empty() ||
                        !options.layouts.empty() || !options.kernels.empty() ||
                        !options.tables.IsEmpty();
    if (options.expand && writes)
    {
        throw std::invalid_argument("--expand prints the strategy and compiles nothing: leave it "
                                    "out, or the files that are to be written");
    }
    if (!options.graph.empty() && !EndsWith(options.graph, ".json") &&
        !EndsWith(options.graph, ".pb") && !EndsWith(options.graph, ".dot"))
    {
        throw std::invalid_argument("--saveGraph=" + options.graph +
                                    ": the name must end in .json, .pb or .dot (Graphviz)");
    }
}

void
PrintInventory(const std::vector<InventoryRow>& rows, std::ostream& out)
{
    out << "Communication\n"
        << std::left << std::setw(21) << "  phase" << std::setw(16) << "kind" << std::right
        << std::setw(8) << "group" << std::setw(16) << "bytes" << std::setw(12) << "count"
        << "\n";
    for (const InventoryRow& row : rows)
    {
        out << "  " << std::left << std::setw(19) << row.phase << std::setw(16)
            << ToString(row.collective) << std::right << std::setw(8) << row.groupSize
            << std::setw(16) << row.bytes << std::setw(12) << row.count << "\n";
    }
    if (rows.empty())
    {
        out << "  none\n";
    }
}

/// @return the graph of a plan, with times of a GPU if they are wanted
ExecutionGraph
MakeGraph(const Options& options, const FrameworkPlan& job, const GpuDatasheet& gpu)
{
    const EndAtOnce nothingWritten;
    return options.isUntimed ? CompileModel(job.plan.model, job.plan.tree)
                             : CompileForGpu(job.plan, gpu, job.framework, options.profile);
}

/// @return the model, and how it is trained
FrameworkPlan
LoadJob(const Options& options)
{
    return options.framework.LoadPlan(
        options.gpu,
        options.launchInterval,
        [&](const FrameworkDefaults& defaults) { return options.model.Load(defaults); });
}

/// @return what --expand prints
std::string
Expand(const Options& options)
{
    std::ostringstream tree;
    WriteStrategyJson(LoadJob(options).plan.tree, tree);
    return tree.str();
}

/// @param options with --expand @param without the same without one of them
/// @return why that one does nothing, or empty
std::string
FindNotExpanded(const Options& options, const Options& without)
{
    try
    {
        return Expand(options) == Expand(without) ? "the tree of --expand is the same without it"
                                                  : "";
    }
    catch (const std::exception&) // which the run reports, or the option is needed
    {
        return "";
    }
}

/// @param options of the command line @return variables that do nothing, with the reason
std::vector<std::string>
FindIdleVariables(const Options& options)
{
    std::vector<std::string> idle;
    try
    {
        const std::string typed = options.model.variables;
        const auto all = SplitSettings("--variables=" + typed, typed, "layers=4");
        for (const auto& [name, value] : all)
        {
            Options without = options;
            without.model.variables.clear();
            for (const auto& [other, number] : all)
            {
                std::string& rest = without.model.variables;
                rest += other == name ? "" : (rest.empty() ? "" : ",") + other + "=" + number;
            }
            const std::string why = options.expand ? FindNotExpanded(options, without) : "";
            if (!why.empty())
            {
                idle.push_back(name + "=" + value + " has no effect: " + why);
            }
        }
        for (const std::string& variable :
             options.expand ? std::vector<std::string>()
                            : options.model.ListIdleVariables(options.framework, options.gpu))
        {
            idle.push_back(variable + " has no effect: the model is the same without it");
        }
    }
    catch (const std::exception&) // which the run reports
    {
    }
    return idle;
}

void
CompileAndReport(const Options& options)
{
    Check(options);
    const GpuDatasheet& gpu = FindGpuDatasheet(options.gpu);
    const FrameworkPlan job = LoadJob(options);
    const TrainingPlan& plan = job.plan;
    const Model& model = plan.model;
    if (options.expand)
    {
        WriteStrategyJson(plan.tree, std::cout);
        return;
    }
    if (!options.layouts.empty())
    {
        WriteFile(options.layouts, [&](std::ostream& stream) {
            WriteLayoutCsv(stream, PlaceModel(model, plan.tree));
        });
    }
    if (!options.kernels.empty())
    {
        const ProfileTable kernels = ListKernels(plan, gpu, job.framework);
        WriteFile(options.kernels,
                  [&](std::ostream& stream) { WriteProfileJson(kernels, stream); });
    }
    const ExecutionGraph graph = MakeGraph(options, job, gpu);
    const std::vector<InventoryRow> rows = TakeInventory(graph);
    std::ostringstream unheard;
    std::ostream& out = options.quiet ? unheard : std::cout;
    out << model.GetName() << ": " << model.CountParameters() << " parameters, "
        << graph.GetNDevices() << " devices, " << graph.GetNTasks() << " tasks\n";
    PrintInventory(rows, out);
    const std::vector<MemoryAccount> accounts = AccountMemory(graph);
    PrintMemory(accounts, gpu, out);
    if (!options.inventory.empty())
    {
        WriteFile(options.inventory,
                  [&](std::ostream& stream) { WriteInventoryCsv(stream, rows); });
    }
    if (!options.memory.empty())
    {
        WriteFile(options.memory, [&](std::ostream& stream) { WriteMemoryCsv(stream, accounts); });
    }
    std::vector<Table> tables = MakeCompileTables({model, graph, gpu, rows, accounts});
    tables.push_back(options.tables.MakeNotes());
    options.tables.Write(tables);
    if (!options.chakra.empty())
    {
        SaveChakraFolder(graph, options.chakra);
    }
    if (EndsWith(options.graph, ".dot"))
    {
        WriteFile(options.graph, [&](std::ostream& stream) { WriteGraphDot(graph, stream); });
    }
    else if (!options.graph.empty())
    {
        SaveGraph(graph, options.graph);
    }
}

/// The program.
class CompileProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-compile";
    }

    std::string FindNoSimulation() const override
    {
        return "nothing is simulated";
    }

    bool SendsPackets() const override
    {
        return false; // no communication of a graph
    }

    void AddTo(OptionList& command) override
    {
        command.Usage("Compiles a model and a strategy to an execution graph, lists what it\n"
                      "communicates, and says whether it fits into memory.");
        m_options.launchInterval.value = PicoSeconds(KernelCostParameters().hostPerKernelPs);
        m_options.model.folder = GetWorkloads() + "/models";
        m_options.model.AddTo(command, m_options.framework, [this]() { return m_options.gpu; });
        command.AddValue("gpu",
                         "GPU that kernels are timed for, and whose memory has to be enough",
                         m_options.gpu);
        command.AddNames("gpu", GetGpuModels(), NameUse::OPEN);
        command.AddCheck("gpu", [](const std::string& name) { FindGpuDatasheet(name); });
        command.AddValue(
            "profile",
            "JSON file with measured times of operators, which go before computed ones",
            m_options.profile);
        command.AddInput("profile");
        AddLaunchInterval(command,
                          "least time of a kernel: the host's pace in issuing them",
                          m_options.launchInterval);
        m_options.framework.AddTo(command);
        command.AddValue(
            "untimed",
            "leave the times of kernels to the run, which has FLOPs and bytes to go by",
            m_options.isUntimed);
        for (const char* name : {"launchInterval", "profile"})
        {
            command.AddIdle(name, [this]() {
                return m_options.isUntimed ? "kernels get no times (--untimed)" : "";
            });
        }
        for (const char* name : {"launchInterval", "profile", "untimed"})
        {
            command.AddIdle(name,
                            [this]() { return m_options.expand ? "--expand times nothing" : ""; });
            command.AddIdle(name, [this]() {
                const std::string& graph = m_options.graph;
                return m_options.chakra.empty() && (graph.empty() || EndsWith(graph, ".dot"))
                           ? "no file with times is written (--saveGraph=FILE.json or .pb, "
                             "--chakra)"
                           : "";
            });
        }
        command.AddHint("graph", "--saveGraph=FILE saves one (--graph reads one, in proteus-run)");
        for (const char* name : {"cluster", "nodes"})
        {
            command.AddHint(name,
                            "a graph is of no cluster yet: --gpu=NAME is the GPU that it is "
                            "compiled for, and proteus-run runs it on a --cluster");
        }
        command.AddHint("memory",
                        "--memoryCsv=FILE writes it (--memory is that of a GPU, in "
                        "proteus-search)");
        command.AddOutput("saveGraph",
                          "save the execution graph to this .json, .pb or .dot (Graphviz) file",
                          m_options.graph);
        command.AddFolder(
            "chakra",
            "save the execution graph as a Chakra trace: this folder gets a file per GPU",
            m_options.chakra);
        command.AddParts("chakra", R"(/trace\.\d+\.et)");
        command.AddOutput(
            "inventory",
            "write the communication to this CSV file: phase,kind,group_size,bytes,count",
            m_options.inventory,
            ".csv");
        command.AddOutput("memoryCsv",
                          "write the memory of every device at its peak to this CSV file",
                          m_options.memory,
                          ".csv");
        command.AddOutput("layouts",
                          "write how every tensor is split over the mesh axes to this CSV file",
                          m_options.layouts,
                          ".csv");
        command.AddOutput("kernels",
                          "write every kernel of the job, with its computed time, to this JSON "
                          "file, for workloads/profiles/profile.py to measure",
                          m_options.kernels,
                          ".json");
        m_options.tables.AddTo(command);
        command.AddValue("expand",
                         "print the strategy as a tree, and do nothing else",
                         m_options.expand);
        AddIdleOfExpand(command);
        command.AddValue("quiet",
                         "print nothing but errors: there is no progress line",
                         m_options.quiet);
    }

    /// Names what a model and its times are made of, where the tree alone is printed.
    void AddIdleOfExpand(OptionList& command) const
    {
        command.AddIdleParts(
            "variables",
            [this]() { return FindIdleVariables(m_options); },
            "");
        const auto add = [&](const char* name, const auto clear) {
            command.AddIdle(name, [this, clear]() -> std::string {
                if (!m_options.expand)
                {
                    return "";
                }
                Options without = m_options;
                clear(without);
                return FindNotExpanded(m_options, without);
            });
        };
        add("gpu", [](Options& options) { options.gpu = Options().gpu; });
        add("framework", [](Options& options) { options.framework.name = {}; });
    }

    void Run() override
    {
        CompileAndReport(m_options);
    }

    Options m_options;
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeCompileProgram(const std::string& workloads)
{
    return std::make_unique<CompileProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
