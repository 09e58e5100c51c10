/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Compiles a model and a strategy to an execution graph, and says what it communicates and how much
 * memory it needs.
 */

#include "ns3/command-line.h"
#include "ns3/nstime.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-gpu-datasheet.h"
#include "ns3/proteus-graph-dot.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-strategy-json.h"

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What the user asked for.
struct Options
{
    ModelOptions model;
    std::string gpu{"A100-SXM4-80GB"};
    std::string graph;
    std::string inventory;
    bool expand{false};
};

void
PrintInventory(const std::vector<InventoryRow>& rows)
{
    std::cout << "Communication\n"
              << std::left << std::setw(18) << "  phase" << std::setw(16) << "kind" << std::right
              << std::setw(8) << "group" << std::setw(16) << "bytes" << std::setw(12) << "count"
              << "\n";
    for (const InventoryRow& row : rows)
    {
        std::cout << "  " << std::left << std::setw(16) << row.phase << std::setw(16)
                  << ToString(row.collective) << std::right << std::setw(8) << row.groupSize
                  << std::setw(16) << row.bytes << std::setw(12) << row.count << "\n";
    }
    if (rows.empty())
    {
        std::cout << "  none\n";
    }
}

void
Run(const Options& options)
{
    for (const std::string& file : {options.graph, options.inventory})
    {
        if (!file.empty())
        {
            CheckWritable(file);
        }
    }
    const GpuDatasheet& gpu = FindGpuDatasheet(options.gpu);
    const TrainingPlan plan = options.model.Load();
    const Model& model = plan.model;
    if (options.expand)
    {
        WriteStrategyJson(plan.tree, std::cout);
        return;
    }
    const ExecutionGraph graph = CompileModel(model, plan.tree);
    const std::vector<InventoryRow> rows = TakeInventory(graph);
    std::cout << model.GetName() << ": " << model.CountParameters() << " parameters, "
              << graph.GetNDevices() << " devices, " << graph.GetNTasks() << " tasks\n";
    PrintInventory(rows);
    PrintMemory(AccountMemory(graph), gpu, std::cout);
    if (!options.inventory.empty())
    {
        WriteFile(options.inventory,
                  [&](std::ostream& stream) { WriteInventoryCsv(stream, rows); });
    }
    const std::string suffix = ".dot";
    const bool isDot =
        options.graph.size() > suffix.size() &&
        options.graph.compare(options.graph.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (isDot)
    {
        WriteFile(options.graph, [&](std::ostream& stream) { WriteGraphDot(graph, stream); });
    }
    else if (!options.graph.empty())
    {
        SaveGraph(graph, options.graph);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Options options;
    CommandLine command(__FILE__);
    command.Usage("Compiles a model and a strategy to an execution graph, lists what it\n"
                  "communicates, and says whether it fits into memory.");
    options.model.folder = PROTEUS_SOURCE_DIR "/workloads/models";
    options.model.AddTo(command);
    command.AddValue("gpu", "GPU whose memory has to be enough", options.gpu);
    command.AddValue("graph",
                     "save the execution graph to this .json, .pb or .dot (Graphviz) file",
                     options.graph);
    command.AddValue("inventory",
                     "write the communication to this CSV file: phase,kind,group_size,bytes,count",
                     options.inventory);
    command.AddValue("expand", "print the strategy as a tree, and do nothing else", options.expand);
    command.Parse(argc, argv);
    return RunProgram("proteus-compile", [&]() { Run(options); });
}
