/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPILE_TOOLS_H
#define PROTEUS_COMPILE_TOOLS_H

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Models of workloads/ compiled with strategies that tests write down.
 */

namespace ns3
{
namespace proteus
{
namespace compiletest
{

/// @param text of a strategy file @return what it says
inline StrategyFile
ReadStrategy(const std::string& text)
{
    std::istringstream input(text);
    return ReadStrategyJson(input, "s.json");
}

/// @param name of a model of workloads/ @param strategy whose variables it gets
/// @param variables others @return the model
inline Model
LoadFor(const std::string& name,
        const StrategyFile& strategy,
        std::map<std::string, int64_t> variables = {})
{
    for (const auto& [variable, value] : strategy.GetVariables())
    {
        variables[variable] = value;
    }
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + name + ".json",
                     variables);
}

/// @param model name of one of workloads/ @param strategy text of a file @param variables of the
/// model
/// @return the graph
inline ExecutionGraph
Compile(const std::string& model,
        const std::string& strategy,
        const std::map<std::string, int64_t>& variables = {})
{
    const StrategyFile file = ReadStrategy(strategy);
    const Model loaded = LoadFor(model, file, variables);
    return CompileModel(loaded, file.GetTree(loaded));
}

/// @param strategy text of a file @param dropout whether there is some @param others variables
/// @return GPT-3 125M of four blocks with fused attention
inline ExecutionGraph
CompileGpt(const std::string& strategy,
           int64_t dropout = 1,
           const std::map<std::string, int64_t>& others = {})
{
    std::map<std::string, int64_t> variables{{"layers", 4},
                                             {"fusedAttention", 1},
                                             {"dropout", dropout}};
    for (const auto& [variable, value] : others)
    {
        variables[variable] = value;
    }
    return Compile("gpt3-125m", strategy, variables);
}

/// @param graph a graph @param collective a kind @return bytes of its collectives, by phase
inline std::map<std::string, uint64_t>
CountBytes(const ExecutionGraph& graph, Collective collective)
{
    std::map<std::string, uint64_t> bytes;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        if (row.collective == collective)
        {
            bytes[row.phase] += row.bytes * row.count;
        }
    }
    return bytes;
}

/// @param graph a graph @return "phase kind size bytes" of every communication, with how often
inline std::map<std::string, uint64_t>
Count(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> counts;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        counts[row.phase + " " + ToString(row.collective) + " " + std::to_string(row.groupSize) +
               " " + std::to_string(row.bytes)] += row.count;
    }
    return counts;
}

/// @param graph a graph @return the same with all sizes of a phase and kind together
inline std::map<std::string, uint64_t>
CountKinds(const ExecutionGraph& graph)
{
    std::map<std::string, uint64_t> counts;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        counts[row.phase + " " + ToString(row.collective) + " " + std::to_string(row.groupSize)] +=
            row.count;
    }
    return counts;
}

} // namespace compiletest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMPILE_TOOLS_H
