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
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr double GBYTE = 1e9;

/// What the user asked for.
struct Options
{
    std::string model;
    std::string strategy;
    std::string gpu{"A100-SXM4-80GB"};
    std::string graph;
    std::string inventory;
    bool expand{false};
};

/// @return the path of a model: as it stands, or one of workloads/models/
std::string
FindModelFile(const std::string& name)
{
    if (std::ifstream(name).good())
    {
        return name;
    }
    const std::string path =
        std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + name + ".json";
    if (!std::ifstream(path).good())
    {
        throw std::invalid_argument("--model=" + name +
                                    ": neither a file nor the name of one in "
                                    "workloads/models/, e.g. gpt3-6.7b");
    }
    return path;
}

/// @return the strategy: a file, or the short form itself
StrategyFile
ReadStrategy(const std::string& text)
{
    if (!text.empty() && text[0] == '{')
    {
        std::istringstream input(text);
        return ReadStrategyJson(input, "--strategy");
    }
    return LoadStrategy(text);
}

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
PrintMemory(const std::vector<MemoryAccount>& accounts, const GpuDatasheet& gpu)
{
    const auto fullest = std::max_element(
        accounts.begin(),
        accounts.end(),
        [](const MemoryAccount& a, const MemoryAccount& b) { return a.peakBytes < b.peakBytes; });
    std::cout << std::fixed << std::setprecision(3) << "Memory\n  peak "
              << static_cast<double>(fullest->peakBytes) / GBYTE << " GB on device "
              << fullest - accounts.begin() << " (" << fullest->peakTask << "), "
              << static_cast<double>(fullest->persistentBytes) / GBYTE << " GB of it persistent; "
              << gpu.model << " has " << static_cast<double>(gpu.memoryBytes) / GBYTE << " GB\n";
    const std::string verdict = FindOutOfMemory(accounts, gpu.memoryBytes);
    std::cout << "  " << (verdict.empty() ? "fits" : verdict) << "\n";
}

void
Run(const Options& options)
{
    if (options.model.empty() || options.strategy.empty())
    {
        throw std::invalid_argument(
            "--model=NAME and --strategy=FILE are needed, e.g. --model=gpt3-6.7b "
            "--strategy='{\"tp\": 8, \"dp\": 2}'");
    }
    for (const std::string& file : {options.graph, options.inventory})
    {
        if (!file.empty())
        {
            CheckWritable(file);
        }
    }
    const GpuDatasheet& gpu = FindGpuDatasheet(options.gpu);
    const StrategyFile strategy = ReadStrategy(options.strategy);
    const Model model = LoadModel(FindModelFile(options.model), strategy.GetVariables());
    const StrategyTree tree = strategy.GetTree(model);
    if (options.expand)
    {
        WriteStrategyJson(tree, std::cout);
        return;
    }
    const ExecutionGraph graph = CompileModel(model, tree);
    const std::vector<InventoryRow> rows = TakeInventory(graph);
    std::cout << model.GetName() << ": " << model.CountParameters() << " parameters, "
              << graph.GetNDevices() << " devices, " << graph.GetNTasks() << " tasks\n";
    PrintInventory(rows);
    PrintMemory(AccountMemory(graph), gpu);
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
    command.AddValue("model",
                     "model: a name in workloads/models/, e.g. gpt3-6.7b, or a JSON file",
                     options.model);
    command.AddValue("strategy",
                     "strategy: a JSON file, or the short form itself, e.g. {\"tp\": 8, \"dp\": 2}",
                     options.strategy);
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
