/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

// Parameters and gradients unit by unit, as FSDP has them.

using namespace ns3::proteus;

namespace
{

constexpr int64_t LAYERS = 4;

/// @param plan fields of a plan of two replicas @return its graph
ExecutionGraph
CompileUnits(const std::string& plan)
{
    return compiletest::Compile("gpt3-125m",
                                R"({"dp": 2, "globalBatch": 4, )" + plan + "}",
                                {{"layers", LAYERS}, {"vocabulary", 64}, {"dropout", 0}});
}

/// @param graph a graph @return bytes of its reduce-scatters by phase, and how many there are
std::map<std::string, std::pair<uint64_t, uint64_t>>
CountScatters(const ExecutionGraph& graph)
{
    std::map<std::string, std::pair<uint64_t, uint64_t>> scatters;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        if (row.collective == Collective::REDUCE_SCATTER)
        {
            scatters[row.phase].first += row.bytes * row.count;
            scatters[row.phase].second += row.count;
        }
    }
    return scatters;
}

/// @param graph a graph @return names of what gathers in its backward pass or scatters, each
/// behind the one that it waits for; fails if some wait for none or several
std::vector<std::string>
ListInTurn(const ExecutionGraph& graph)
{
    std::set<TaskId> all;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        const bool isGather = task.collective == Collective::ALL_GATHER &&
                              graph.GetPhases()[task.phase].name == "backward";
        if (task.kind == TaskKind::COMMUNICATION &&
            (isGather || task.collective == Collective::REDUCE_SCATTER))
        {
            all.insert(id);
        }
    }
    std::map<TaskId, TaskId> behind;
    std::vector<TaskId> firsts;
    for (const TaskId id : all)
    {
        std::vector<TaskId> before;
        for (const TaskId other : graph.GetDependencies(id))
        {
            if (all.count(other) > 0)
            {
                before.push_back(other);
            }
        }
        EXPECT_LE(before.size(), 1u);
        if (before.empty())
        {
            firsts.push_back(id);
        }
        else
        {
            EXPECT_TRUE(behind.emplace(before[0], id).second);
        }
    }
    EXPECT_EQ(firsts.size(), 1u);
    std::vector<std::string> names;
    for (TaskId id = firsts.at(0);; id = behind.at(id))
    {
        names.push_back(graph.GetName(graph.GetTask(id)));
        if (behind.count(id) == 0)
        {
            break;
        }
    }
    EXPECT_EQ(names.size(), all.size());
    return names;
}

} // namespace

// A scatter for each block, for what stands before the first one and behind the last one; every
// gradient once in each micro-batch.
TEST(Units, ScatterEveryGradientOnce)
{
    for (const std::string& zero : {std::string("2"), std::string("3")})
    {
        for (const uint32_t microBatch : {1, 2})
        {
            const std::string plan =
                "\"zero\": " + zero + ", \"microBatch\": " + std::to_string(microBatch);
            const auto units = CountScatters(CompileUnits(plan + R"(, "buckets": "unit")"));
            const auto buckets = CountScatters(CompileUnits(plan + R"(, "buckets": "ddp")"));
            ASSERT_EQ(units.size(), 1u);
            ASSERT_EQ(buckets.size(), 1u);
            EXPECT_EQ(units.begin()->first, buckets.begin()->first);
            EXPECT_EQ(units.begin()->second.first, buckets.begin()->second.first);
            EXPECT_EQ(units.begin()->second.second, (LAYERS + 2) * (2 / microBatch)) << plan;
        }
    }
}

// While a block is computed, the parameters of the one before it are gathered. Its gradients
// follow, and then the parameters of the one before that: one communicator does one thing at a
// time.
TEST(Units, GatherAndScatterInTurn)
{
    for (const std::string& microBatch : {std::string("1"), std::string("2")})
    {
        const ExecutionGraph graph =
            CompileUnits(R"("zero": 3, "buckets": "unit", "microBatch": )" + microBatch);
        std::vector<std::string> expected;
        for (int64_t layer = LAYERS - 1; layer >= 0; --layer)
        {
            expected.push_back("layer" + std::to_string(layer) + ".parameters.all-gather");
            expected.push_back("gradients.bucket" + std::to_string(LAYERS - 1 - layer) +
                               ".reduce-scatter");
        }
        expected.push_back("gradients.bucket" + std::to_string(LAYERS) + ".reduce-scatter");
        expected.push_back("gradients.bucket" + std::to_string(LAYERS + 1) + ".reduce-scatter");
        std::vector<std::string> found = ListInTurn(graph);
        // The first gather is of what stands behind the last block.
        ASSERT_FALSE(found.empty());
        EXPECT_NE(found[0].find(".parameters.all-gather"), std::string::npos);
        EXPECT_EQ(found[0].find("layer"), std::string::npos);
        found.erase(found.begin());
        EXPECT_EQ(found, expected);
    }
}

// Where gradients come behind kernels of other units, nothing waits for them.
TEST(Units, DoNotWaitForGradientsThatComeLater)
{
    const ExecutionGraph graph = compiletest::Compile(
        "gpt3-125m",
        R"({"dp": 2, "pp": 2, "globalBatch": 8, "zero": 3, "schedule": "zero-bubble",
            "buckets": "unit"})",
        {{"layers", LAYERS}, {"vocabulary", 64}});
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION || task.collective != Collective::ALL_GATHER)
        {
            continue;
        }
        for (const TaskId before : graph.GetDependencies(id))
        {
            const Task& other = graph.GetTask(before);
            EXPECT_FALSE(other.kind == TaskKind::COMMUNICATION &&
                         other.collective == Collective::REDUCE_SCATTER);
        }
    }
}

// Without ZeRO, units are reduced as a whole.
TEST(Units, AreReducedWithoutZero)
{
    uint64_t count = 0;
    for (const InventoryRow& row : TakeInventory(CompileUnits(R"("buckets": "unit")")))
    {
        count += row.collective == Collective::ALL_REDUCE ? row.count : 0;
    }
    EXPECT_EQ(count, static_cast<uint64_t>(LAYERS + 2));
}
